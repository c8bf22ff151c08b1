//! Which whole devices of a node go together best.
//!
//! Every set is looked at where there are few, otherwise the sets that grow
//! from each device by the one that is linked best. The set with the shortest
//! step wins; of equal sets the one that leaves the best linked devices free;
//! then the one of the lowest devices. So a pair that talks takes a double
//! link, and breaks up no ring of four that is better left whole.

use super::{Free, Node, index_of, suited};
use crate::communication::Communication;
use crate::id::{ClassId, DeviceIndex};
use crate::job::DeviceRequest;
use crate::topology::Topology;

/// The most sets of which every one is looked at: more than the 70 fours among eight.
const SETS_MAX: u64 = 1000;

/// Devices of one node, as many as 64.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceSet(u64);

impl DeviceSet {
    /// These devices.
    fn of(devices: &[usize]) -> Self {
        Self(devices.iter().fold(0, |set, device| set | 1 << device))
    }

    /// Whether a device is in it.
    #[must_use]
    pub fn has(self, device: DeviceIndex) -> bool {
        device.index() < 64 && self.0 >> device.index() & 1 == 1
    }

    /// The devices, ascending.
    pub fn devices(self) -> impl Iterator<Item = DeviceIndex> {
        (0..64).map(DeviceIndex).filter(move |device| self.has(*device))
    }
}

/// What a set is worth: its step, then what it leaves free of links. The less the better.
type Worth = (u64, u64);

/// Sets of devices of a node.
struct Sets<'a> {
    topology: &'a Topology,
    communication: &'a Communication,
    /// The devices that would do, ascending.
    suited: Vec<usize>,
    best: Option<(Worth, Vec<usize>)>,
}

/// The devices of class `class` that do `request` best for this communication. `None` where too few
/// are wholly free, and where nothing is known that would make one set better than another.
#[must_use]
pub fn connected_devices(
    (node, free): (&Node, &Free),
    request: &DeviceRequest,
    class: ClassId,
    communication: &Communication,
) -> Option<DeviceSet> {
    let topology = node.topology.as_deref().filter(|topology| !topology.links.is_empty())?;
    let suited: Vec<usize> = suited(node, free, request, class).collect();
    let count = request.count as usize;
    if count < 2 || suited.len() < count || node.devices.len() > 64 {
        return None;
    }
    let all = combinations(suited.len() as u64, count as u64);
    let mut sets = Sets { topology, communication, suited, best: None };
    if all <= SETS_MAX {
        sets.try_all(&mut Vec::with_capacity(count), 0, count);
    } else {
        sets.try_grown(count);
    }
    sets.best.map(|(_, devices)| DeviceSet::of(&devices))
}

impl Sets<'_> {
    fn try_all(&mut self, chosen: &mut Vec<usize>, from: usize, count: usize) {
        if chosen.len() == count {
            self.consider(chosen);
            return;
        }
        let missing = count - chosen.len();
        for position in from..=self.suited.len() - missing {
            chosen.push(self.suited[position]);
            self.try_all(chosen, position + 1, count);
            chosen.pop();
        }
    }

    fn try_grown(&mut self, count: usize) {
        for start in self.suited.clone() {
            let mut chosen = vec![start];
            while chosen.len() < count {
                let left = self.suited.iter().copied().filter(|device| !chosen.contains(device));
                let next = left.max_by_key(|device| {
                    (self.linked(&chosen, *device), std::cmp::Reverse(*device))
                });
                chosen.push(next.expect("more suit than are chosen"));
            }
            chosen.sort_unstable();
            self.consider(&chosen);
        }
    }

    /// The bandwidth of all links between a device and others.
    fn linked(&self, others: &[usize], device: usize) -> u64 {
        let joins = |one: usize, other: usize| one == device && others.contains(&other);
        let links = self.topology.links.iter().filter(|link| {
            let (one, other) = (link.ends.0.index(), link.ends.1.index());
            joins(one, other) || joins(other, one)
        });
        links.map(|link| link.bandwidth.0).sum()
    }

    fn consider(&mut self, devices: &[usize]) {
        let members: Vec<DeviceIndex> = devices.iter().map(|one| index_of(*one)).collect();
        let step = self.topology.fabric(&members).step(self.communication);
        if self.best.as_ref().is_some_and(|((least, _), _)| step > *least) {
            return;
        }
        let worth = (step, u64::MAX - self.left(devices));
        let is_better =
            |(best, known): &(Worth, Vec<usize>)| (worth, devices) < (*best, known.as_slice());
        if self.best.as_ref().is_none_or(is_better) {
            self.best = Some((worth, devices.to_vec()));
        }
    }

    /// The bandwidth of all links between devices that would stay free.
    fn left(&self, devices: &[usize]) -> u64 {
        let stays = |end: DeviceIndex| {
            let end = end.index();
            self.suited.contains(&end) && !devices.contains(&end)
        };
        let links = self.topology.links.iter();
        let left = links.filter(|link| stays(link.ends.0) && stays(link.ends.1));
        left.map(|link| link.bandwidth.0).sum()
    }
}

/// How many sets of `count` there are among so many, or at least [`SETS_MAX`] and one more.
fn combinations(among: u64, count: u64) -> u64 {
    let mut found: u64 = 1;
    for taken in 0..count.min(among - count) {
        found = found * (among - taken) / (taken + 1);
        if found > SETS_MAX {
            return found;
        }
    }
    found
}

#[cfg(test)]
mod tests;
