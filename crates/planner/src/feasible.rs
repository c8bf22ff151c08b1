//! Feasible: whether a node in a given state can take one task, and if not, what it lacks.
//!
//! Hard rules only. Constraints are asked in the order of
//! [`Constraint`]; the first that is not met is the reason. Where a node has
//! devices of several classes, each class is asked by itself: those that meet
//! everything are options, and if none does, the one that got furthest speaks
//! for the node.

mod inside;

use std::cmp::Reverse;

use fleet::explanation::Constraint;
use fleet::node::{self, Bounds, DeviceChoice};
use fleet::{
    Alternative, ClassId, Classes, DeviceClass, DeviceFree, DeviceRequest, Free, Grant, Milli,
    Node, ShareRule,
};

use crate::groups::Summary;

/// What is known of all nodes alike.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) classes: &'a Classes,
    /// See [`fleet::Policy::oversubscribe`].
    pub(crate) oversubscribe: Milli,
}

/// One way to take a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Way {
    /// The class that decides the rate.
    pub(crate) class: ClassId,
    /// The devices, where some are asked for.
    pub(crate) devices: Option<DeviceChoice>,
    /// Within which bounds of the node.
    pub(crate) bounds: Bounds,
}

impl Way {
    /// What the task gets.
    pub(crate) fn grant(self, alternative: &Alternative, node: &Node, free: &Free) -> Grant {
        let request = &alternative.request;
        let devices = match (self.devices, &request.devices) {
            (Some(choice), Some(wanted)) => {
                let usable = node::usable(node, free, (request, self.class), self.bounds);
                choice.grants(node, &usable, wanted, self.class)
            }
            _ => Vec::new(),
        };
        let domains = node::domain_grants(node, free, request, &devices, self.bounds);
        let held = (&devices[..], &domains[..]);
        let channels = node::channel_grants(node, free, request, held, self.bounds);
        Grant { cores: request.cores, memory: request.memory, devices, domains, channels }
    }
}

/// Ways to take a task, and room to find them; to be used again.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    /// Ascending by class: one for each class of devices that would do or, where that is asked for,
    /// for each choice of devices that differs.
    pub(crate) found: Vec<Way>,
    choices: Vec<DeviceChoice>,
}

impl Ways {
    /// No ways.
    pub(crate) fn clear(&mut self) {
        self.found.clear();
    }

    fn extend(&mut self, class: ClassId, bounds: Bounds) {
        let way = |devices| Way { class, devices: Some(devices), bounds };
        self.found.extend(self.choices.drain(..).map(way));
    }
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

/// Judges one alternative on a node of which this much is free: adds the ways in which it can be
/// taken, or returns what is missing.
pub(crate) fn judge(
    alternative: &Alternative,
    node: &Node,
    up: bool,
    free: &Free,
    rules: Rules<'_>,
    devices: Devices,
    ways: &mut Ways,
) -> Option<Misfit> {
    let classes = rules.classes;
    if !up {
        return Some(refused(Constraint::Up));
    }
    let has = |(key, value): (&String, &String)| node.labels.get(key) == Some(value);
    if !alternative.labels.iter().all(has) {
        return Some(refused(Constraint::Labels));
    }
    let Some(request) = &alternative.request.devices else {
        let misfit = cores_misfit(alternative, node, free, rules);
        if misfit.is_none() {
            take(alternative, node.cpu, (node, free), rules, devices, ways);
        }
        return misfit;
    };
    let mut misfits = Vec::new();
    for class in alternative.classes_on(node, classes) {
        let misfit = class_misfit(request, class, classes)
            .or_else(|| rate_misfit(alternative, class, classes))
            .or_else(|| size_misfit(alternative, node))
            .or_else(|| count_misfit(request, class, node))
            .or_else(|| inside::lasting_misfit(alternative, class, node, rules))
            .or_else(|| free_misfit(alternative, free))
            .or_else(|| device_misfit(request, (class, rules), node, free))
            .or_else(|| inside::free_misfit(alternative, class, (node, free), rules));
        match misfit {
            Some(misfit) => misfits.push((class, misfit)),
            None => take(alternative, class, (node, free), rules, devices, ways),
        }
    }
    if !ways.found.is_empty() {
        return None;
    }
    let furthest = misfits
        .into_iter()
        .max_by_key(|(class, misfit)| (misfit.constraint, misfit.best, Reverse(*class)))
        .map(|(_, misfit)| misfit);
    Some(furthest.unwrap_or_else(|| refused(Constraint::Kind(request.kind))))
}

/// The ways to take an alternative on a node that is known to have room for it, where all that is
/// asked can be answered by a [`Summary`].
pub(crate) fn ways_by_summary(
    alternative: &Alternative,
    (node, free): (&Node, &Free),
    rules: Rules<'_>,
    devices: Devices,
    ways: &mut Ways,
) {
    let bounds = Bounds::default();
    match &alternative.request.devices {
        None => ways.found.push(Way { class: node.cpu, devices: None, bounds }),
        Some(_) => {
            let of = (node.devices[0], bounds);
            choose(alternative, of, (node, free), rules, devices, ways);
        }
    }
}

/// Adds the ways in which an alternative can be taken that meets every constraint.
fn take(
    alternative: &Alternative,
    class: ClassId,
    (node, free): (&Node, &Free),
    rules: Rules<'_>,
    devices: Devices,
    ways: &mut Ways,
) {
    let request = &alternative.request;
    if inside::must_be_in_one(request, node) {
        inside::choose(alternative, class, (node, free), rules, devices, ways);
        return;
    }
    let bounds = Bounds { single: None, oversubscribe: rules.oversubscribe };
    match &request.devices {
        None => ways.found.push(Way { class, devices: None, bounds }),
        Some(_) => choose(alternative, (class, bounds), (node, free), rules, devices, ways),
    }
}

fn choose(
    alternative: &Alternative,
    (class, bounds): (ClassId, Bounds),
    (node, free): (&Node, &Free),
    rules: Rules<'_>,
    devices: Devices,
    ways: &mut Ways,
) {
    let usable = node::usable(node, free, (&alternative.request, class), bounds);
    list(alternative, class, (node, &usable), rules.classes, devices, &mut ways.choices);
    assert!(!ways.choices.is_empty(), "every device constraint of the class is met");
    ways.extend(class, bounds);
}

/// Adds the choices of devices of a class: those that go together best where they talk.
fn list(
    alternative: &Alternative,
    class: ClassId,
    (node, free): (&Node, &Free),
    classes: &Classes,
    devices: Devices,
    choices: &mut Vec<DeviceChoice>,
) {
    let Some(request) = &alternative.request.devices else { return };
    let connected = alternative
        .communication
        .and_then(|what| node::connected_devices((node, free), request, class, &what));
    match (connected, devices) {
        (Some(set), _) => choices.push(DeviceChoice::These(set)),
        (None, Devices::ByRule) => {
            choices.extend(node::choose_devices(node, free, classes, request, class));
        }
        (None, Devices::Every) => {
            node::device_choices(node, free, classes, request, class, choices);
        }
    }
}

fn cores_misfit(
    alternative: &Alternative,
    node: &Node,
    free: &Free,
    rules: Rules<'_>,
) -> Option<Misfit> {
    rate_misfit(alternative, node.cpu, rules.classes)
        .or_else(|| size_misfit(alternative, node))
        .or_else(|| inside::lasting_misfit(alternative, node.cpu, node, rules))
        .or_else(|| free_misfit(alternative, free))
        .or_else(|| inside::free_misfit(alternative, node.cpu, (node, free), rules))
}

/// What is known about an alternative on a make whatever is free there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It could not run even on an empty node.
    Never(Misfit),
    /// It has room where cores, memory and devices suffice by the [`Summary`] of the group.
    BySummary,
    /// It takes a full look.
    ByLook,
}

/// Judges one alternative on a make.
pub(crate) fn stand(
    alternative: &Alternative,
    node: &Node,
    is_uniform: bool,
    rules: Rules<'_>,
) -> Standing {
    let empty = node.capacity(rules.classes);
    let (by_rule, ways) = (Devices::ByRule, &mut Ways::default());
    match judge(alternative, node, true, &empty, rules, by_rule, ways) {
        Some(misfit) => Standing::Never(misfit),
        None => match &alternative.request.devices {
            _ if inside::must_look(&alternative.request, node) => Standing::ByLook,
            None => Standing::BySummary,
            Some(request) if request.profile.is_some() => Standing::ByLook,
            Some(request) if is_uniform && request.memory.is_zero() => Standing::BySummary,
            Some(_) => Standing::ByLook,
        },
    }
}

/// What is missing by a summary: the same misfit as by a full look, where the standing is
/// [`Standing::BySummary`] and the node is up.
pub(crate) fn misfit_by_summary(alternative: &Alternative, group: &Summary) -> Option<Misfit> {
    let request = &alternative.request;
    short(Constraint::FreeCores, request.cores.0, group.cores.0)
        .or_else(|| short(Constraint::FreeMemory, request.memory.0, group.memory.0))
        .or_else(|| {
            let request = request.devices.as_ref()?;
            if request.share < Milli::WHOLE {
                short(Constraint::FreeShare, u64::from(request.share.0), u64::from(group.share))
            } else {
                short(Constraint::FreeDevices, u64::from(request.count), u64::from(group.whole))
            }
        })
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
    let is_whole = request.share == Milli::WHOLE;
    let divides = match &request.profile {
        Some(_) => class.share == ShareRule::Slices,
        None => is_whole || class.share == ShareRule::Milli,
    };
    if !divides {
        return Some(refused(Constraint::Sharing));
    }
    let has = request.profile.is_none() || class.profile_of(request).is_some();
    (!has).then(|| refused(Constraint::Profile))
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
    (class, rules): (ClassId, Rules<'_>),
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
    let has_memory = || has_share().filter(|(_, left)| left.memory >= request.memory);
    if (has_memory().count() as u64) < wanted {
        return Some(Misfit {
            constraint: Constraint::FreeDeviceMemory,
            asked: request.memory.0,
            best: has_share().map(|(_, left)| left.memory.0).max().unwrap_or(0),
        });
    }
    let model = rules.classes.get(class);
    let has_place = has_memory().any(|(_, left)| has_place(request, model, left));
    (!has_place && wanted > 0).then(|| refused(Constraint::FreeSlots))
}

/// Whether a device has a place for the slice that is asked for, if one is.
fn has_place(request: &DeviceRequest, model: &DeviceClass, left: &DeviceFree) -> bool {
    let has_place = |profile| model.place(profile, left.slots).is_some();
    request.profile.is_none() || model.profile_of(request).is_some_and(has_place)
}

fn short(constraint: Constraint, asked: u64, best: u64) -> Option<Misfit> {
    (best < asked).then_some(Misfit { constraint, asked, best })
}

pub(crate) fn refused(constraint: Constraint) -> Misfit {
    Misfit { constraint, asked: 1, best: 0 }
}
