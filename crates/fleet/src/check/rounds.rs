//! Whether what is stopped and started where devices are divided is what was granted.

use std::collections::BTreeMap;

use super::Fault;
use crate::device::DeviceKind;
use crate::explanation::Reason;
use crate::id::{Attempt, ClassId, JobId, RunId, TaskIndex};
use crate::job::{Alternative, Job};
use crate::plan::{Decision, StopCause};
use crate::run::{Run, Stage};
use crate::snapshot::{Allotment, Snapshot, Way};

/// Checks what a plan does with the devices that it divided.
pub(super) fn check(snapshot: &Snapshot, decision: &Decision, faults: &mut Vec<Fault>) {
    let allotment = decision.plan.memory.allotment.as_deref();
    check_gangs(snapshot, decision, faults);
    for told in &decision.explanation.waiting {
        let Reason::Round(round) = &*told.reason else { continue };
        let is_true = |allotment: &Allotment| {
            let has = allotment.granted.contains_key(&told.job);
            let is_first = |job: &JobId| has && allotment.nominated.contains_key(job);
            (has || round.granted.is_none()) && round.nominated.as_ref().is_none_or(is_first)
        };
        if !allotment.is_some_and(is_true) {
            faults.push(Fault::RoundReason { job: told.job });
        }
    }
    let Some(allotment) = allotment else { return };
    for placement in &decision.plan.placements {
        let (run, class) = (placement.run, placement.class);
        let way = Way { alternative: placement.alternative, class };
        if !is_granted(snapshot, allotment, run, way) {
            faults.push(Fault::RoundNotGranted { run, class });
        }
    }
    check_capacity(snapshot, allotment, faults);
}

/// Whether a run is not what its task was granted, or makes room for others.
pub(super) fn is_over(snapshot: &Snapshot, allotment: Option<&Allotment>, run: RunId) -> bool {
    let placed = snapshot.runs.get(&run).map(|found| &found.placement);
    allotment.zip(placed).is_some_and(|(allotment, placed)| {
        let way = Way { alternative: placed.alternative, class: placed.class };
        let makes_room = !allotment.nominated.is_empty() && allotment.displaced.contains(&run);
        makes_room || !is_granted(snapshot, allotment, run, way)
    })
}

fn is_granted(snapshot: &Snapshot, allotment: &Allotment, run: RunId, way: Way) -> bool {
    let job = job(snapshot, run.job);
    let is_gang = job.is_some_and(|job| job.gang.is_some());
    let task = if is_gang { TaskIndex(0) } else { run.task };
    let granted = allotment.granted.get(&run.job).and_then(|tasks| tasks.get(&task));
    granted.is_some_and(|granted| {
        granted.alternative == way.alternative
            && kind_of(snapshot, granted.class) == kind_of(snapshot, way.class)
    })
}

fn job(snapshot: &Snapshot, id: JobId) -> Option<&Job> {
    let waits = snapshot.backlog.get(&id).map(|waiting| &*waiting.job);
    waits.or_else(|| snapshot.jobs.get(&id).map(|job| &**job))
}

/// How many tasks of a gang wait or run.
fn members(snapshot: &Snapshot, id: JobId) -> u64 {
    let waits = snapshot.backlog.get(&id).map_or(0, |waiting| waiting.tasks().count() as u64);
    let is_active =
        |run: &&Run| matches!(run.stage, Stage::Ordered | Stage::Running | Stage::Recalled);
    waits + runs_of(snapshot, id).filter(is_active).count() as u64
}

fn runs_of(snapshot: &Snapshot, job: JobId) -> impl Iterator<Item = &Run> {
    let first = RunId { job, ..RunId::default() };
    let last = RunId { job, task: TaskIndex(u32::MAX), attempt: Attempt(u32::MAX) };
    snapshot.runs.range(first..=last).map(|(_, run)| run.as_ref())
}

/// How much a task takes of what is divided: thousandths of devices, or of cores where it asks for
/// no device.
fn amount_of(way: &Alternative) -> u64 {
    match &way.request.devices {
        Some(devices) => u64::from(devices.count) * u64::from(devices.share.0),
        None => way.request.cores.0,
    }
}

/// What tells classes apart where devices are divided.
fn kind_of(snapshot: &Snapshot, class: ClassId) -> Option<(DeviceKind, &str)> {
    let found = snapshot.classes.0.get(class.index())?;
    Some((found.kind, &found.model))
}

/// A gang that has to make way does so as a whole.
fn check_gangs(snapshot: &Snapshot, decision: &Decision, faults: &mut Vec<Fault>) {
    let stops = &decision.plan.stops;
    let is_stopped = |id: RunId| stops.binary_search_by_key(&id, |stop| stop.run).is_ok();
    let rounds = stops.iter().filter(|stop| stop.cause == StopCause::Round);
    for stop in rounds {
        if job(snapshot, stop.run.job).is_none_or(|job| job.gang.is_none()) {
            continue;
        }
        let goes_on = |run: &&Run| run.stage == Stage::Running && !is_stopped(run.id());
        if let Some(other) = runs_of(snapshot, stop.run.job).find(goes_on) {
            faults.push(Fault::RoundOfGang { run: stop.run, other: other.id() });
        }
    }
}

/// What is granted of each model against what the nodes that are up have.
fn check_capacity(snapshot: &Snapshot, allotment: &Allotment, faults: &mut Vec<Fault>) {
    let mut capacity: BTreeMap<(DeviceKind, &str), u64> = BTreeMap::new();
    for entry in snapshot.nodes.iter().filter(|entry| entry.up) {
        let node = &entry.node;
        if let Some(cpu) = kind_of(snapshot, node.cpu) {
            *capacity.entry(cpu).or_default() += node.cores.0;
        }
        for device in node.devices.iter().filter_map(|class| kind_of(snapshot, *class)) {
            *capacity.entry(device).or_default() += 1000;
        }
    }
    let mut granted: BTreeMap<(DeviceKind, &str), u64> = BTreeMap::new();
    for (id, tasks) in &allotment.granted {
        let Some(job) = job(snapshot, *id) else { continue };
        let times = if job.gang.is_some() { members(snapshot, *id) } else { 1 };
        for way in tasks.values() {
            let chosen = job.alternatives.get(usize::from(way.alternative));
            let (Some(chosen), Some(kind)) = (chosen, kind_of(snapshot, way.class)) else {
                continue;
            };
            let amount = granted.entry(kind).or_default();
            *amount = amount.saturating_add(amount_of(chosen).saturating_mul(times));
        }
    }
    for ((kind, model), granted) in granted {
        let capacity = capacity.get(&(kind, model)).copied().unwrap_or(0);
        if granted > capacity {
            let model = model.to_owned();
            faults.push(Fault::RoundOverGranted { model, granted, capacity });
        }
    }
}
