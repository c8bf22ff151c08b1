//! Whether the reasons for waiting are true, by counting again on every node.
//!
//! The recount follows the definitions of [`crate::explanation`] literally: it
//! walks the constraints in their order for every class on every node, once
//! for each distinct list of alternatives.

mod gang;

use std::collections::{BTreeMap, BTreeSet};

use super::locality::{self, Prospect};
use super::placements::{declared_rate, time_for};
use super::{Fault, channels, inside, slices};
use crate::device::{DeviceClass, ShareRule};
use crate::explanation::{Constraint, FellOut, Patience, Reason, Tally};
use crate::id::{ClassId, NodeId};
use crate::job::{Alternative, DeviceRequest, Job, Request};
use crate::node::{DeviceFree, Free, Node};
use crate::plan::{Decision, Placement};
use crate::snapshot::Snapshot;
use crate::units::{Milli, Rate, Span};

/// Every reason that is not true.
pub(super) fn check(snapshot: &Snapshot, decision: &Decision) -> Vec<Fault> {
    let left = left_after(snapshot, &decision.plan.placements);
    let mut counts: BTreeMap<&[Alternative], Vec<Count>> = BTreeMap::new();
    let mut faults = Vec::new();
    for told in &decision.explanation.waiting {
        let Some(waiting) = snapshot.backlog.get(&told.job) else { continue };
        let job = &*waiting.job;
        let most = decision.explanation.oversubscribe;
        let counts = counts.entry(&job.alternatives).or_insert_with(|| {
            let ways = job.alternatives.iter();
            ways.map(|alternative| count(snapshot, (&left, most), alternative)).collect()
        });
        match &*told.reason {
            Reason::NoRoom(tallies) => check_no_room(job, tallies, counts, &mut faults),
            Reason::Patience(patience) => {
                check_patience(snapshot, (job, patience), counts, &mut faults);
            }
            // Whether it is true is looked at every turn.
            Reason::Effort | Reason::Recalled | Reason::Round(_) => {}
            Reason::Gang(_) => {
                let fit = gang::most(snapshot, (&left, decision.explanation.oversubscribe), job);
                let asked = u32::try_from(waiting.tasks().count()).unwrap_or(u32::MAX);
                if fit >= u64::from(asked) {
                    faults.push(Fault::GangRoom { job: job.id, asked, fit });
                }
            }
            Reason::Locality(told) => {
                let placements = &decision.plan.placements;
                let oversubscribe = decision.explanation.oversubscribe;
                let prospect = Prospect { snapshot, placements, left: &left, oversubscribe };
                locality::check(&prospect, job, told, &mut faults);
            }
            Reason::Batch(until) => {
                // A job that was released with an earlier batch is not held back again.
                let released = snapshot.memory.released.filter(|then| job.arrival <= *then);
                let until = released.unwrap_or(*until);
                if released.is_some() || until <= snapshot.at {
                    faults.push(Fault::BatchOver { job: job.id, until, at: snapshot.at });
                }
            }
        }
    }
    faults
}

/// What is free of every node once the plan is carried out. Runs that are told to stop still hold
/// what they hold.
fn left_after(snapshot: &Snapshot, placements: &[Placement]) -> Vec<Free> {
    let mut left: Vec<Free> = snapshot.nodes.iter().map(|entry| entry.free.clone()).collect();
    for placement in placements {
        let Some(left) = left.get_mut(placement.node.index()) else { continue };
        let grant = &placement.grant;
        left.cores = left.cores.saturating_sub(grant.cores);
        left.memory = left.memory.saturating_sub(grant.memory);
        for held in &grant.devices {
            if let Some(left) = left.devices.get_mut(held.device.index()) {
                left.share = left.share.saturating_sub(held.share);
                left.memory = left.memory.saturating_sub(held.memory);
            }
        }
        inside::leave(left, grant);
        channels::leave(left, grant);
        slices::leave(left, grant);
    }
    left
}

/// What counting again came to for one alternative.
#[derive(Default)]
struct Count {
    fell_out: BTreeMap<Constraint, FellOut>,
    /// The classes with room, and the first node where.
    room: BTreeMap<ClassId, NodeId>,
    /// The classes that would have room if nothing ran, on nodes that are up.
    prospects: BTreeSet<ClassId>,
}

/// The first constraint that is not met, with what was asked and what is offered.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Unmet {
    constraint: Constraint,
    best: u64,
    asked: u64,
}

fn count(
    snapshot: &Snapshot,
    (left, oversubscribe): (&[Free], Milli),
    alternative: &Alternative,
) -> Count {
    let mut count = Count::default();
    for (entry, free) in snapshot.nodes.iter().zip(left) {
        let place = Place { node: &entry.node, free, up: entry.up, oversubscribe };
        let Some(unmet) = speak(snapshot, alternative, &place, &mut count) else { continue };
        let Unmet { constraint, asked, best } = unmet;
        let counted = count.fell_out.entry(constraint).or_insert(FellOut {
            constraint,
            nodes: 0,
            asked,
            best,
        });
        counted.nodes += 1;
        counted.best = counted.best.max(best);
    }
    count
}

/// A node with what is left of it.
pub(super) struct Place<'a> {
    pub(super) node: &'a Node,
    pub(super) free: &'a Free,
    pub(super) up: bool,
    /// How much of a channel may be held.
    pub(super) oversubscribe: Milli,
}

/// The classes of a node that have room, each with the rate declared for it.
pub(super) fn rooms(
    snapshot: &Snapshot,
    alternative: &Alternative,
    place: &Place<'_>,
) -> Vec<(ClassId, Rate)> {
    let mut count = Count::default();
    let _ = speak(snapshot, alternative, place, &mut count);
    let rate = |class: ClassId| {
        let rate = declared_rate(alternative, &snapshot.classes.get(class).model);
        (class, rate.expect("what has room has a rate"))
    };
    count.room.into_keys().map(rate).collect()
}

/// Where the node falls out, by the class that speaks for it; nothing where some class has room.
fn speak(
    snapshot: &Snapshot,
    alternative: &Alternative,
    place: &Place<'_>,
    count: &mut Count,
) -> Option<Unmet> {
    let node = place.node;
    let empty = Place { free: &node.capacity(&snapshot.classes), ..*place };
    let classes: BTreeSet<ClassId> = match &alternative.request.devices {
        None => BTreeSet::from([node.cpu]),
        Some(_) => node.devices.iter().copied().collect(),
    };
    let mut furthest: Option<Unmet> = None;
    let mut has_room = false;
    for id in classes {
        let class = snapshot.classes.get(id);
        let walk = |place: &Place<'_>| {
            walk_node(alternative, place)
                .and_then(|()| walk_class(alternative, class))
                .and_then(|()| walk_amounts(alternative, (id, class), place))
        };
        if walk(&empty).is_ok() {
            count.prospects.insert(id);
        }
        match walk(place) {
            Err(unmet) => furthest = furthest.max(Some(unmet)),
            Ok(()) => {
                count.room.entry(id).or_insert(node.id);
                has_room = true;
            }
        }
    }
    if has_room { None } else { furthest.or_else(|| walk_bare(alternative, place).err()) }
}

/// A node that has no devices at all.
fn walk_bare(alternative: &Alternative, place: &Place<'_>) -> Result<(), Unmet> {
    walk_node(alternative, place)?;
    match &alternative.request.devices {
        Some(request) => met(Constraint::Kind(request.kind), false),
        None => Ok(()),
    }
}

fn walk_node(alternative: &Alternative, place: &Place<'_>) -> Result<(), Unmet> {
    met(Constraint::Up, place.up)?;
    let labels = &place.node.labels;
    let carried = alternative.labels.iter().all(|(key, value)| labels.get(key) == Some(value));
    met(Constraint::Labels, carried)
}

/// What the class alone decides.
fn walk_class(alternative: &Alternative, class: &DeviceClass) -> Result<(), Unmet> {
    if let Some(request) = &alternative.request.devices {
        met(Constraint::Kind(request.kind), class.kind == request.kind)?;
        let models = &request.models;
        met(Constraint::Model, models.is_empty() || models.contains(&class.model))?;
        enough(Constraint::DeviceMemory, request.memory.0, class.memory.0)?;
        enough(Constraint::ComputeUnits, request.compute_units.into(), class.compute_units.into())?;
        let capable = match &request.capability {
            Some(capability) => class.capabilities.contains(capability),
            None => true,
        };
        met(Constraint::Capability, capable)?;
        let whole = request.share >= Milli::WHOLE;
        let divides = match &request.profile {
            Some(_) => class.share == ShareRule::Slices,
            None => whole || class.share == ShareRule::Milli,
        };
        met(Constraint::Sharing, divides)?;
        let known = |name: &String| {
            class.profiles.iter().any(|one| {
                (&one.name, one.share, one.memory) == (name, request.share, request.memory)
            })
        };
        met(Constraint::Profile, request.profile.as_ref().is_none_or(known))?;
    }
    met(Constraint::Rate, declared_rate(alternative, &class.model).is_some())
}

/// What the node has, and has free.
fn walk_amounts(
    alternative: &Alternative,
    (class, model): (ClassId, &DeviceClass),
    place: &Place<'_>,
) -> Result<(), Unmet> {
    let Place { node, free, .. } = place;
    let request = &alternative.request;
    enough(Constraint::Cores, request.cores.0, node.cores.0)?;
    enough(Constraint::Memory, request.memory.0, node.memory.0)?;
    let of_class: Vec<DeviceFree> = node
        .devices
        .iter()
        .zip(&free.devices)
        .filter(|(found, _)| **found == class)
        .map(|(_, left)| *left)
        .collect();
    if let Some(devices) = &request.devices {
        enough(Constraint::Devices, devices.count.into(), of_class.len() as u64)?;
    }
    met(Constraint::Domain, inside::one_could(request, class, node))?;
    let most = channels::Most { node, oversubscribe: place.oversubscribe };
    walk_channels(request, (class, model), (&most, None))?;
    enough(Constraint::FreeCores, request.cores.0, free.cores.0)?;
    enough(Constraint::FreeMemory, request.memory.0, free.memory.0)?;
    if let Some(devices) = &request.devices {
        walk_free_devices(devices, model, &of_class)?;
    }
    met(Constraint::FreeDomain, inside::one_can(request, (class, model), (node, free)))?;
    walk_channels(request, (class, model), (&most, Some(free)))
}

/// What channels pass in all, or have left.
fn walk_channels(
    request: &Request,
    class: inside::Of<'_>,
    (most, free): (&channels::Most<'_>, Option<&Free>),
) -> Result<(), Unmet> {
    use Constraint::{
        FreeMemoryBandwidth, FreeNetworkBandwidth, FreePcieBandwidth, MemoryBandwidth,
        NetworkBandwidth, PcieBandwidth,
    };
    let of = |lasting, passing| if free.is_some() { passing } else { lasting };
    let room = channels::Room { most, free, request, class };
    let asked = request.traffic.memory.0;
    enough(of(MemoryBandwidth, FreeMemoryBandwidth), asked, room.memory())?;
    let asked = request.devices.as_ref().map_or(0, |devices| devices.count.into());
    enough(of(PcieBandwidth, FreePcieBandwidth), asked, room.devices())?;
    let asked = request.traffic.network.0;
    enough(of(NetworkBandwidth, FreeNetworkBandwidth), asked, room.network())
}

fn walk_free_devices(
    request: &DeviceRequest,
    model: &DeviceClass,
    of_class: &[DeviceFree],
) -> Result<(), Unmet> {
    let wanted = u64::from(request.count);
    let with_share: Vec<_> = of_class.iter().filter(|left| left.share >= request.share).collect();
    if request.share >= Milli::WHOLE {
        enough(Constraint::FreeDevices, wanted, with_share.len() as u64)?;
    } else if (with_share.len() as u64) < wanted {
        let best = of_class.iter().map(|left| u64::from(left.share.0)).max().unwrap_or(0);
        let asked = request.share.0.into();
        return Err(Unmet { constraint: Constraint::FreeShare, best, asked });
    }
    let with_memory: Vec<&DeviceFree> =
        with_share.iter().copied().filter(|left| left.memory >= request.memory).collect();
    if (with_memory.len() as u64) < wanted {
        let best = with_share.iter().map(|left| left.memory.0).max().unwrap_or(0);
        let asked = request.memory.0;
        return Err(Unmet { constraint: Constraint::FreeDeviceMemory, best, asked });
    }
    met(Constraint::FreeSlots, slices::one_has_place(request, model, &with_memory))
}

fn met(constraint: Constraint, is_met: bool) -> Result<(), Unmet> {
    if is_met { Ok(()) } else { Err(Unmet { constraint, best: 0, asked: 1 }) }
}

fn enough(constraint: Constraint, asked: u64, best: u64) -> Result<(), Unmet> {
    if best >= asked { Ok(()) } else { Err(Unmet { constraint, best, asked }) }
}

fn check_no_room(job: &Job, tallies: &[Tally], counts: &[Count], faults: &mut Vec<Fault>) {
    for (alternative, count) in (0..=u16::MAX).zip(counts) {
        let job = job.id;
        if let Some((class, node)) = count.room.first_key_value() {
            let (class, node) = (*class, *node);
            faults.push(Fault::RoomUnused { job, alternative, node, class });
        }
        let told: BTreeMap<Constraint, FellOut> = tallies
            .iter()
            .filter(|tally| tally.alternative == alternative)
            .flat_map(|tally| tally.fell_out.iter().map(|told| (told.constraint, *told)))
            .collect();
        let constraints: BTreeSet<_> = told.keys().chain(count.fell_out.keys()).collect();
        for constraint in constraints {
            let nothing = FellOut { constraint: *constraint, nodes: 0, asked: 0, best: 0 };
            let told = *told.get(constraint).unwrap_or(&nothing);
            let counted = *count.fell_out.get(constraint).unwrap_or(&nothing);
            if told != counted {
                faults.push(Fault::TallyDiffers { job, alternative, told, counted });
            }
        }
    }
}

fn check_patience(
    snapshot: &Snapshot,
    (job, patience): (&Job, &Patience),
    counts: &[Count],
    faults: &mut Vec<Fault>,
) {
    let id = job.id;
    let Patience { best, best_duration, offered, offered_duration, until } = *patience;
    if until <= snapshot.at {
        faults.push(Fault::PatienceOver { job: id, until, at: snapshot.at });
    }
    if best_duration >= offered_duration {
        let (best, offered) = (best_duration, offered_duration);
        faults.push(Fault::PatienceForNoFaster { job: id, best, offered });
    }
    let prospects = durations(snapshot, job, counts, |count| count.prospects.iter().copied());
    if !prospects.contains(&(best_duration, best)) {
        let (class, told) = (best, best_duration);
        faults.push(Fault::PatienceDuration { job: id, class, told });
    } else if let Some((found, class)) =
        prospects.first().filter(|(found, _)| *found < best_duration)
    {
        let (told, class, found) = (best_duration, *class, *found);
        faults.push(Fault::PatienceForSlower { job: id, best, told, class, found });
    }
    let offers = durations(snapshot, job, counts, |count| count.room.keys().copied());
    if !offers.iter().any(|(_, class)| *class == offered) {
        faults.push(Fault::PatienceWithoutRoom { job: id, class: offered });
    } else if !offers.contains(&(offered_duration, offered)) {
        let (class, told) = (offered, offered_duration);
        faults.push(Fault::PatienceDuration { job: id, class, told });
    } else if let Some((found, class)) =
        offers.first().filter(|(found, _)| *found < offered_duration)
    {
        let (class, told, found) = (*class, offered_duration, *found);
        faults.push(Fault::PatienceOfferedFaster { job: id, class, told, found });
    }
}

/// How long a task of the job takes, by each alternative on each of these classes.
fn durations<'a, I: Iterator<Item = ClassId>>(
    snapshot: &Snapshot,
    job: &Job,
    counts: &'a [Count],
    classes: impl Fn(&'a Count) -> I,
) -> BTreeSet<(Span, ClassId)> {
    let mut durations = BTreeSet::new();
    for (alternative, count) in job.alternatives.iter().zip(counts) {
        for class in classes(count) {
            let rate = declared_rate(alternative, &snapshot.classes.get(class).model);
            if let (Some(work), Some(rate)) = (job.work, rate) {
                durations.insert((time_for(work, rate), class));
            }
        }
    }
    durations
}
