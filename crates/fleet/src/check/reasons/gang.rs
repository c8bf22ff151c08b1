//! How many tasks of a gang fit at the same time, by filling every node again.

use std::collections::BTreeMap;

use super::{Place, channels, inside, slices, walk_amounts, walk_class, walk_node};
use crate::id::{ClassId, DeviceIndex};
use crate::job::{Alternative, Job};
use crate::node::Free;
use crate::snapshot::Snapshot;
use crate::units::Milli;

/// The most tasks that fit in one way, with what is left of every node, under the limits of the
/// gang.
pub(super) fn most(snapshot: &Snapshot, (left, oversubscribe): (&[Free], Milli), job: &Job) -> u64 {
    let mut most = 0;
    for alternative in job.alternatives.iter() {
        for (class, _) in snapshot.classes.iter() {
            most = most.max(in_one_way(snapshot, (left, oversubscribe), job, (alternative, class)));
        }
    }
    most
}

fn in_one_way(
    snapshot: &Snapshot,
    (left, oversubscribe): (&[Free], Milli),
    job: &Job,
    (alternative, class): (&Alternative, ClassId),
) -> u64 {
    let gang = job.gang.unwrap_or_default();
    let limit = gang.tasks_per_node.unwrap_or(u32::MAX).min(job.tasks);
    let mut under: BTreeMap<Option<&str>, u64> = BTreeMap::new();
    for (entry, free) in snapshot.nodes.iter().zip(left) {
        let lowest = entry.node.attachment.as_ref().and_then(|one| one.switches.first());
        let tasks = match entry.up {
            true => {
                let place = Place { node: &entry.node, free, up: true, oversubscribe };
                on_node(snapshot, &place, (alternative, class, limit))
            }
            false => 0,
        };
        *under.entry(lowest.map(|uplink| uplink.switch.as_str())).or_default() += tasks;
    }
    let mut counts: Vec<u64> = under.into_values().collect();
    counts.sort_unstable_by_key(|count| std::cmp::Reverse(*count));
    counts.iter().take(gang.switches.map_or(usize::MAX, |most| most as usize)).sum()
}

/// How many tasks one node takes, one after the other.
fn on_node(
    snapshot: &Snapshot,
    start: &Place<'_>,
    (alternative, class, limit): (&Alternative, ClassId, u32),
) -> u64 {
    let node = start.node;
    let is_there = match alternative.request.devices {
        None => node.cpu == class,
        Some(_) => node.devices.contains(&class),
    };
    let of = (class, snapshot.classes.get(class));
    let mut free = start.free.clone();
    let mut tasks = 0;
    while is_there && tasks < u64::from(limit) {
        let place = Place { free: &free, ..*start };
        let fits = walk_node(alternative, &place)
            .and_then(|()| walk_class(alternative, of.1))
            .and_then(|()| walk_amounts(alternative, of, &place));
        if fits.is_err() {
            break;
        }
        take(&mut free, start, alternative, of);
        tasks += 1;
    }
    tasks
}

/// Takes what a task asks for; of devices those that suffice and have the least left.
fn take(
    free: &mut Free,
    start: &Place<'_>,
    alternative: &Alternative,
    (class, model): inside::Of<'_>,
) {
    let (request, node) = (&alternative.request, start.node);
    let most = channels::Most { node, oversubscribe: start.oversubscribe };
    free.cores = free.cores.saturating_sub(request.cores);
    free.memory = free.memory.saturating_sub(request.memory);
    // Tasks that must be in one domain have nothing to do with those in others, so that any domain
    // with room will do.
    let room = channels::Room { most: &most, free: Some(&*free), request, class: (class, model) };
    let domain = room.domain();
    if let Some(domain) = domain {
        let left = &mut free.domains[domain];
        left.cores = left.cores.saturating_sub(request.cores);
        left.memory = left.memory.saturating_sub(request.memory);
    }
    // What one more task moves is the same wherever it is moved: any channels with room will do.
    channels::fill(free, &most, request, domain);
    let topology = node.topology.as_deref();
    let attached = topology.zip(domain).map(|(topology, at)| &topology.domains[at].devices);
    let Some(asked) = &request.devices else { return };
    for _ in 0..asked.count {
        let loads = free.loads.clone();
        let devices =
            (0..=u16::MAX).map(DeviceIndex).zip(free.devices.iter_mut().zip(&node.devices));
        let suits = devices.filter(|(device, (left, of))| {
            **of == class
                && left.share >= asked.share
                && left.memory >= asked.memory
                && slices::one_has_place(asked, model, &[&**left])
                && channels::has_way(&loads, &most, request, *device)
                && attached.is_none_or(|attached| attached.contains(device))
        });
        let least = suits.map(|(device, (left, _))| (device, left));
        let least = least.min_by_key(|(_, left)| (left.share, left.memory));
        let Some((device, left)) = least else {
            return;
        };
        left.share = left.share.saturating_sub(asked.share.min(Milli::WHOLE));
        left.memory = left.memory.saturating_sub(asked.memory);
        left.slots.0 |= slices::best_place(asked, model, left.slots.0);
        channels::go(&mut free.loads, node, request, device);
    }
}
