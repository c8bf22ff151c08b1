//! Feasible: whether a node in a given state can take one task, and if not, what it lacks.
//!
//! Hard rules only. Constraints are asked in the order of
//! [`Constraint`]; the first that is not met is the reason. Where a node has
//! devices of several classes, each class is asked by itself: those that meet
//! everything are options, and if none does, the one that got furthest speaks
//! for the node.

use std::cmp::Reverse;

use fleet::explanation::Constraint;
use fleet::{
    Alternative, ClassId, Classes, DeviceGrant, DeviceRequest, Free, Milli, Node, ShareRule, node,
};

use crate::groups::Glance;

/// Whether one group of equal nodes can take one task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It can, in these ways, ascending by class: one for each class of devices that would do or,
    /// where that is asked for, for each choice of devices that differs.
    Fits(Vec<Way>),
    /// It cannot.
    Lacks(Misfit),
}

/// One way to take the task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The class that decides the rate.
    pub(crate) class: ClassId,
    /// The devices.
    pub(crate) devices: Vec<DeviceGrant>,
}

/// Which ways are told of those that differ only in the devices that are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Devices {
    /// Those of the local rule, [`node::choose_devices`].
    ByRule,
    /// Every choice, that of the local rule first.
    Every,
}

/// The first constraint that is not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Misfit {
    pub(crate) constraint: Constraint,
    pub(crate) asked: u64,
    pub(crate) best: u64,
}

/// Judges one alternative on a node of which this much is free.
pub(crate) fn judge(
    alternative: &Alternative,
    node: &Node,
    up: bool,
    free: &Free,
    classes: &Classes,
    devices: Devices,
) -> Verdict {
    if !up {
        return Verdict::Lacks(refused(Constraint::Up));
    }
    let has = |(key, value): (&String, &String)| node.labels.get(key) == Some(value);
    if !alternative.labels.iter().all(has) {
        return Verdict::Lacks(refused(Constraint::Labels));
    }
    match &alternative.request.devices {
        None => judge_cores(alternative, node, free, classes),
        Some(request) => judge_devices((alternative, request), node, free, classes, devices),
    }
}

/// What is known about an alternative on a make whatever is free there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It could not run even on an empty node.
    Never(Misfit),
    /// It has room where cores, memory and a [`Glance`] at the devices suffice.
    AtAGlance,
    /// It takes a full look.
    ByLook,
}

/// Judges one alternative on a make.
pub(crate) fn stand(
    alternative: &Alternative,
    node: &Node,
    is_uniform: bool,
    classes: &Classes,
) -> Standing {
    let empty = node.capacity(classes);
    match judge(alternative, node, true, &empty, classes, Devices::ByRule) {
        Verdict::Lacks(misfit) => Standing::Never(misfit),
        Verdict::Fits(_) => match &alternative.request.devices {
            None => Standing::AtAGlance,
            Some(request) if is_uniform && request.memory.is_zero() => Standing::AtAGlance,
            Some(_) => Standing::ByLook,
        },
    }
}

/// What is missing at a glance: the same misfit as by a full look, where the standing is
/// [`Standing::AtAGlance`] and the node is up.
pub(crate) fn glance_misfit(
    alternative: &Alternative,
    free: &Free,
    glance: Glance,
) -> Option<Misfit> {
    if let Some(misfit) = free_misfit(alternative, free) {
        return Some(misfit);
    }
    let request = alternative.request.devices.as_ref()?;
    if request.share < Milli::WHOLE {
        short(Constraint::FreeShare, u64::from(request.share.0), u64::from(glance.share))
    } else {
        short(Constraint::FreeDevices, u64::from(request.count), u64::from(glance.whole))
    }
}

fn judge_cores(alternative: &Alternative, node: &Node, free: &Free, classes: &Classes) -> Verdict {
    let misfit = rate_misfit(alternative, node.cpu, classes)
        .or_else(|| size_misfit(alternative, node))
        .or_else(|| free_misfit(alternative, free));
    match misfit {
        Some(misfit) => Verdict::Lacks(misfit),
        None => Verdict::Fits(vec![Way { class: node.cpu, devices: Vec::new() }]),
    }
}

fn judge_devices(
    (alternative, request): (&Alternative, &DeviceRequest),
    node: &Node,
    free: &Free,
    classes: &Classes,
    devices: Devices,
) -> Verdict {
    let mut ways = Vec::new();
    let mut misfits = Vec::new();
    for class in alternative.classes_on(node, classes) {
        let misfit = class_misfit(request, class, classes)
            .or_else(|| rate_misfit(alternative, class, classes))
            .or_else(|| size_misfit(alternative, node))
            .or_else(|| count_misfit(request, class, node))
            .or_else(|| free_misfit(alternative, free))
            .or_else(|| device_misfit(request, class, node, free));
        match misfit {
            Some(misfit) => misfits.push((class, misfit)),
            None => {
                let mut choices = node::device_choices(node, free, classes, request, class);
                assert!(!choices.is_empty(), "every device constraint of the class is met");
                choices.truncate(if devices == Devices::ByRule { 1 } else { usize::MAX });
                ways.extend(choices.into_iter().map(|devices| Way { class, devices }));
            }
        }
    }
    if !ways.is_empty() {
        return Verdict::Fits(ways);
    }
    let furthest = misfits
        .into_iter()
        .max_by_key(|(class, misfit)| (misfit.constraint, misfit.best, Reverse(*class)))
        .map(|(_, misfit)| misfit);
    Verdict::Lacks(furthest.unwrap_or_else(|| refused(Constraint::Kind(request.kind))))
}

fn class_misfit(request: &DeviceRequest, class: ClassId, classes: &Classes) -> Option<Misfit> {
    let class = classes.get(class);
    if !request.models.is_empty() && !request.models.contains(&class.model) {
        return Some(refused(Constraint::Model));
    }
    if let Some(misfit) = short(Constraint::DeviceMemory, request.memory.0, class.memory.0) {
        return Some(misfit);
    }
    let units = (u64::from(request.compute_units), u64::from(class.compute_units));
    if let Some(misfit) = short(Constraint::ComputeUnits, units.0, units.1) {
        return Some(misfit);
    }
    if request.capability.as_ref().is_some_and(|name| !class.capabilities.contains(name)) {
        return Some(refused(Constraint::Capability));
    }
    let divides = request.share < Milli::WHOLE;
    (divides && class.share == ShareRule::Exclusive).then(|| refused(Constraint::Sharing))
}

fn rate_misfit(alternative: &Alternative, class: ClassId, classes: &Classes) -> Option<Misfit> {
    let rate = alternative.rate(&classes.get(class).model);
    rate.is_none().then(|| refused(Constraint::Rate))
}

fn size_misfit(alternative: &Alternative, node: &Node) -> Option<Misfit> {
    let request = &alternative.request;
    short(Constraint::Cores, request.cores.0, node.cores.0)
        .or_else(|| short(Constraint::Memory, request.memory.0, node.memory.0))
}

fn count_misfit(request: &DeviceRequest, class: ClassId, node: &Node) -> Option<Misfit> {
    let count = node.devices.iter().filter(|device| **device == class).count() as u64;
    short(Constraint::Devices, u64::from(request.count), count)
}

fn free_misfit(alternative: &Alternative, free: &Free) -> Option<Misfit> {
    let request = &alternative.request;
    short(Constraint::FreeCores, request.cores.0, free.cores.0)
        .or_else(|| short(Constraint::FreeMemory, request.memory.0, free.memory.0))
}

fn device_misfit(
    request: &DeviceRequest,
    class: ClassId,
    node: &Node,
    free: &Free,
) -> Option<Misfit> {
    let of_class =
        || node.devices.iter().zip(&free.devices).filter(move |(device, _)| **device == class);
    let has_share = || of_class().filter(|(_, left)| left.share >= request.share);
    let wanted = u64::from(request.count);
    if (has_share().count() as u64) < wanted {
        return Some(if request.share < Milli::WHOLE {
            let best = of_class().map(|(_, left)| left.share.0).max().unwrap_or(0);
            Misfit {
                constraint: Constraint::FreeShare,
                asked: u64::from(request.share.0),
                best: u64::from(best),
            }
        } else {
            let best = has_share().count() as u64;
            Misfit { constraint: Constraint::FreeDevices, asked: wanted, best }
        });
    }
    let has_memory = has_share().filter(|(_, left)| left.memory >= request.memory).count() as u64;
    (has_memory < wanted).then(|| Misfit {
        constraint: Constraint::FreeDeviceMemory,
        asked: request.memory.0,
        best: has_share().map(|(_, left)| left.memory.0).max().unwrap_or(0),
    })
}

fn short(constraint: Constraint, asked: u64, best: u64) -> Option<Misfit> {
    (best < asked).then_some(Misfit { constraint, asked, best })
}

pub(crate) fn refused(constraint: Constraint) -> Misfit {
    Misfit { constraint, asked: 1, best: 0 }
}
