//! Whether what is started waits, suits its node and has room there.

use std::collections::{BTreeMap, BTreeSet};

use super::{Fault, Part, channels, inside, slices};
use crate::device::{DeviceClass, ShareRule};
use crate::id::{Attempt, JobId, NodeId, TaskIndex};
use crate::job::{Alternative, DeviceRequest, Job};
use crate::node::{Free, Node};
use crate::plan::Placement;
use crate::snapshot::Snapshot;
use crate::units::{Milli, Rate, Span, Work};

/// Checks every placement. Returns how many waiting tasks of each job they start.
pub(super) fn check(
    snapshot: &Snapshot,
    (placements, oversubscribe): (&[Placement], Milli),
    faults: &mut Vec<Fault>,
) -> BTreeMap<JobId, u32> {
    let mut started: BTreeSet<(JobId, TaskIndex)> = BTreeSet::new();
    let mut counts: BTreeMap<JobId, u32> = BTreeMap::new();
    let mut left: BTreeMap<NodeId, Free> = BTreeMap::new();
    for placement in placements {
        let run = placement.run;
        let waits = check_task(snapshot, placement, faults);
        if !started.insert((run.job, run.task)) {
            faults.push(Fault::TaskTwice { job: run.job, task: run.task });
        } else if waits {
            *counts.entry(run.job).or_default() += 1;
        }
        let Some(entry) = snapshot.nodes.get(placement.node.index()) else {
            faults.push(Fault::NodeUnknown { run, node: placement.node });
            continue;
        };
        if !entry.up {
            faults.push(Fault::NodeNotUp { run, node: placement.node });
        }
        check_devices(placement, &entry.node, faults);
        let free = left.entry(placement.node).or_insert_with(|| entry.free.clone());
        take(placement, free, faults);
        let most = channels::Most { node: &entry.node, oversubscribe };
        channels::take(placement, free, &most, faults);
        if let Some(waiting) = snapshot.backlog.get(&run.job) {
            check_choice(snapshot, placement, (&waiting.job, &entry.node), faults);
        }
    }
    counts
}

/// Whether the task of the placement waits.
fn check_task(snapshot: &Snapshot, placement: &Placement, faults: &mut Vec<Fault>) -> bool {
    let run = placement.run;
    let Some(waiting) = snapshot.backlog.get(&run.job) else {
        faults.push(Fault::JobDoesNotWait { run });
        return false;
    };
    let next = match waiting.again.get(&run.task) {
        Some(attempt) => *attempt,
        None if waiting.fresh.contains(&run.task.0) => Attempt(0),
        None => {
            faults.push(Fault::TaskDoesNotWait { run });
            return false;
        }
    };
    if run.attempt != next {
        faults.push(Fault::WrongAttempt { run, next });
    }
    true
}

/// Whether the granted devices are of the node, each once and in order.
fn check_devices(placement: &Placement, node: &Node, faults: &mut Vec<Fault>) {
    let Placement { run, node: id, ref grant, .. } = *placement;
    let mut last = None;
    for device in grant.devices.iter().map(|held| held.device) {
        if device.index() >= node.devices.len() {
            faults.push(Fault::DeviceUnknown { run, node: id, device });
        }
        if last == Some(device) {
            faults.push(Fault::DeviceTwice { run, node: id, device });
        } else if last > Some(device) {
            faults.push(Fault::DeviceOutOfOrder { run, node: id, device });
        }
        last = Some(device);
    }
}

/// Takes the grant from what is left of the node.
fn take(placement: &Placement, left: &mut Free, faults: &mut Vec<Fault>) {
    let Placement { run, node, ref grant, .. } = *placement;
    let mut amount = |part: Part, asked: u64, left: u64| {
        if asked > left {
            faults.push(Fault::Over { run, node, part, asked, left });
        }
    };
    amount(Part::Cores, grant.cores.0, left.cores.0);
    left.cores = left.cores.saturating_sub(grant.cores);
    amount(Part::Memory, grant.memory.0, left.memory.0);
    left.memory = left.memory.saturating_sub(grant.memory);
    for held in &grant.devices {
        let Some(left) = left.devices.get_mut(held.device.index()) else { continue };
        amount(Part::Share(held.device), held.share.0.into(), left.share.0.into());
        left.share = left.share.saturating_sub(held.share);
        amount(Part::DeviceMemory(held.device), held.memory.0, left.memory.0);
        left.memory = left.memory.saturating_sub(held.memory);
    }
    slices::take(placement, left, faults);
    inside::take(placement, left, faults);
}

/// Whether the chosen alternative may run on the node and is granted what it asks.
fn check_choice(
    snapshot: &Snapshot,
    placement: &Placement,
    (job, node): (&Job, &Node),
    faults: &mut Vec<Fault>,
) {
    let Placement { run, alternative, node: id, class, .. } = *placement;
    let alternatives = job.alternatives.len();
    let Some(chosen) = job.alternatives.get(usize::from(alternative)) else {
        faults.push(Fault::AlternativeUnknown { run, alternative, alternatives });
        return;
    };
    for (label, asked) in &chosen.labels {
        let found = node.labels.get(label);
        if found != Some(asked) {
            let (label, asked, found) = (label.clone(), asked.clone(), found.cloned());
            faults.push(Fault::LabelUnmet { run, node: id, label, asked, found });
        }
    }
    check_grant(placement, chosen, faults);
    inside::check(placement, (&chosen.request, node), faults);
    channels::check(placement, (&chosen.request, node), faults);
    let Some(model) = snapshot.classes.0.get(class.index()) else {
        faults.push(Fault::ClassUnknown { run, class });
        return;
    };
    match &chosen.request.devices {
        None if class != node.cpu => {
            faults.push(Fault::ClassNotCores { run, class, cores: node.cpu });
        }
        None => {}
        Some(request) => {
            check_class(placement, request, model, faults);
            check_class_of_devices(placement, node, model, faults);
            slices::check(placement, request, model, faults);
        }
    }
    let has_begun = snapshot.progress_of(run.job, run.task).is_some();
    check_rate(placement, (job, chosen, has_begun), (model, node), faults);
}

fn check_grant(placement: &Placement, chosen: &Alternative, faults: &mut Vec<Fault>) {
    let Placement { run, ref grant, .. } = *placement;
    let mut equal = |part: Part, asked: u64, granted: u64| {
        if asked != granted {
            faults.push(Fault::GrantDiffers { run, part, asked, granted });
        }
    };
    let request = &chosen.request;
    equal(Part::Cores, request.cores.0, grant.cores.0);
    equal(Part::Memory, request.memory.0, grant.memory.0);
    let count = request.devices.as_ref().map_or(0, |devices| devices.count);
    equal(Part::Devices, count.into(), grant.devices.len() as u64);
    let Some(asked) = &request.devices else { return };
    for held in &grant.devices {
        equal(Part::Share(held.device), asked.share.0.into(), held.share.0.into());
        equal(Part::DeviceMemory(held.device), asked.memory.0, held.memory.0);
    }
}

/// Whether the class is what the devices must be.
fn check_class(
    placement: &Placement,
    request: &DeviceRequest,
    model: &DeviceClass,
    faults: &mut Vec<Fault>,
) {
    let Placement { run, class, .. } = *placement;
    if model.kind != request.kind {
        faults.push(Fault::KindUnmet { run, class, asked: request.kind, found: model.kind });
    }
    if !request.models.is_empty() && !request.models.contains(&model.model) {
        let (asked, found) = (request.models.clone(), model.model.clone());
        faults.push(Fault::ModelUnmet { run, class, asked, found });
    }
    if model.memory < request.memory {
        let (asked, found) = (request.memory, model.memory);
        faults.push(Fault::DeviceMemoryUnmet { run, class, asked, found });
    }
    if model.compute_units < request.compute_units {
        let (asked, found) = (request.compute_units, model.compute_units);
        faults.push(Fault::ComputeUnitsUnmet { run, class, asked, found });
    }
    if let Some(asked) = &request.capability
        && !model.capabilities.contains(asked)
    {
        faults.push(Fault::CapabilityUnmet { run, class, asked: asked.clone() });
    }
}

/// Whether the granted devices are of the class, and may be divided as they are.
fn check_class_of_devices(
    placement: &Placement,
    node: &Node,
    model: &DeviceClass,
    faults: &mut Vec<Fault>,
) {
    let Placement { run, node: id, class, ref grant, .. } = *placement;
    if !node.devices.contains(&class) {
        faults.push(Fault::ClassNotOnNode { run, node: id, class });
        return;
    }
    for held in &grant.devices {
        let device = held.device;
        if let Some(found) = node.devices.get(device.index()).filter(|found| **found != class) {
            faults.push(Fault::DeviceOfOtherClass { run, node: id, device, class, found: *found });
        }
        let is_slice = model.share == ShareRule::Slices && !held.slots.is_none();
        if model.share != ShareRule::Milli && held.share < Milli::WHOLE && !is_slice {
            faults.push(Fault::ShareOfExclusive { run, node: id, device, share: held.share });
        }
    }
}

fn check_rate(
    placement: &Placement,
    (job, chosen, has_begun): (&Job, &Alternative, bool),
    (model, node): (&DeviceClass, &Node),
    faults: &mut Vec<Fault>,
) {
    let Placement { run, class, rate: planned, duration, .. } = *placement;
    let Some(declared) = declared_rate(chosen, &model.model) else {
        faults.push(Fault::RateUndeclared { run, class });
        return;
    };
    if planned != declared {
        faults.push(Fault::RateDiffers { run, planned, declared });
        return;
    }
    let reckoned = job.work.map(|work| time_for(work, declared));
    let is_exact = !may_take_longer(chosen, node) && job.inputs().is_empty();
    // What is left of a task that has got somewhere takes less.
    let is_less = duration < reckoned && !has_begun;
    if (is_exact && !has_begun && duration != reckoned) || is_less {
        faults.push(Fault::DurationDiffers { run, planned: duration, reckoned });
    }
}

/// Whether a task may be expected to take longer on this node than its rate says.
pub(super) fn may_take_longer(chosen: &Alternative, node: &Node) -> bool {
    node.topology.is_some() || chosen.communication.is_some()
}

/// The rate that an alternative declares for a model: one a second where it declares none at all.
pub(super) fn declared_rate(alternative: &Alternative, model: &str) -> Option<Rate> {
    match alternative.rates.get(model) {
        None if alternative.rates.is_empty() => Some(Rate(1_000_000)),
        Some(Rate(0)) | None => None,
        Some(rate) => Some(*rate),
    }
}

/// Work over a rate above zero, rounded up to the microsecond.
pub(super) fn time_for(work: Work, rate: Rate) -> Span {
    let (work, rate) = (u128::from(work.0) * 1_000_000, u128::from(rate.0));
    Span(u64::try_from(work.div_ceil(rate)).unwrap_or(u64::MAX))
}
