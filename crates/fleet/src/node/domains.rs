//! Inside a node: in which memory domains the cores and the memory of a run lie.
//!
//! In come a node, what is free of it, what is asked and the devices that were
//! chosen; out comes how much of each domain the run holds. The cores go where
//! they are nearest to the devices, then the memory where it is nearest to the
//! cores; of what is equally near the fewest domains, then the tightest fit,
//! then the lowest index. A run that may reach over one domain only gets the
//! one that its devices fit most tightly, then its cores and memory.
//!
//! Where one domain has room for all, and where there are two, no other
//! arrangement is nearer; of three and more, the best is taken of those that
//! begin at one domain and go outwards from there.

use std::cmp::Reverse;

use super::channels::{Bounds, most, usable};
use super::{
    DeviceChoice, DeviceFree, DeviceGrant, DomainFree, DomainGrant, Free, Grant, Node,
    choose_devices,
};
use crate::device::Classes;
use crate::id::{ClassId, DomainIndex};
use crate::job::{DeviceRequest, Request};
use crate::topology::{MemoryKind, Topology};
use crate::units::{Bandwidth, Bytes, Milli, MilliCores};

/// What is free of the domains when nothing runs.
pub(super) fn capacity(topology: &Topology) -> Vec<DomainFree> {
    let whole = |domain: &crate::topology::Domain| DomainFree {
        cores: domain.cores,
        memory: domain.memory,
        load: Bandwidth::ZERO,
    };
    topology.domains.iter().map(whole).collect()
}

/// Takes what a run gets.
pub(super) fn take(free: &mut [DomainFree], grants: &[DomainGrant]) {
    for held in grants {
        let left = &mut free[held.domain.index()];
        left.cores -= held.cores;
        left.memory -= held.memory;
        left.load += held.load;
    }
}

/// Gives back what a run held.
pub(super) fn give_back(free: &mut [DomainFree], grants: &[DomainGrant]) {
    for held in grants {
        let left = &mut free[held.domain.index()];
        left.cores += held.cores;
        left.memory += held.memory;
        left.load -= held.load;
    }
}

/// Whether this could be taken. A grant that names a domain twice cannot, nor one that holds more
/// in domains than in all.
pub(super) fn have_room(free: &[DomainFree], grant: &Grant) -> bool {
    let grants = &grant.domains;
    let sum = |part: fn(&DomainGrant) -> u64| grants.iter().map(part).fold(0, u64::saturating_add);
    if sum(|held| held.cores.0) > grant.cores.0 || sum(|held| held.memory.0) > grant.memory.0 {
        return false;
    }
    let fits = |(position, held): (usize, &DomainGrant)| {
        let is_new = grants[..position].iter().all(|other| other.domain != held.domain);
        let left = free.get(held.domain.index());
        is_new && left.is_some_and(|left| held.cores <= left.cores && held.memory <= left.memory)
    };
    grants.iter().enumerate().all(fits)
}

/// The domains that alone have all that is asked, devices of class `class` among it, with the
/// devices that a run would get there by [`choose_devices`]; the tightest fit first.
#[must_use]
pub fn single_choices(
    node: &Node,
    free: &Free,
    classes: &Classes,
    (request, class): (&Request, ClassId),
    oversubscribe: Milli,
) -> Vec<(DomainIndex, Option<DeviceChoice>)> {
    let Some(topology) = node.topology.as_deref() else { return Vec::new() };
    let mut found = Vec::new();
    for (domain, left) in (0..=u16::MAX).map(DomainIndex).zip(&free.domains) {
        let reach = reachable(topology, (domain, left), request, oversubscribe);
        if left.cores < request.cores || reach < request.memory {
            continue;
        }
        let fit = (left.cores, left.memory, domain);
        match &request.devices {
            None => found.push(((Milli::ZERO, Bytes::ZERO, 0), fit, None)),
            Some(devices) => {
                let bounds = Bounds { single: Some(domain), oversubscribe };
                let inside = usable(node, free, (request, class), bounds);
                if let Some(choice) = choose_devices(node, &inside, classes, devices, class) {
                    let grants = choice.grants(node, &inside, devices, class);
                    let device_fit = device_fit(node, &inside, (devices, class), &grants);
                    found.push((device_fit, fit, Some(choice)));
                }
            }
        }
    }
    found.sort_unstable_by_key(|(device_fit, fit, _)| (*device_fit, *fit));
    found.into_iter().map(|(_, (.., domain), choice)| (domain, choice)).collect()
}

/// How tightly devices fit: what is free of the first of them, and how many others would do.
fn device_fit(
    node: &Node,
    free: &Free,
    (request, class): (&DeviceRequest, ClassId),
    grants: &[DeviceGrant],
) -> (Milli, Bytes, usize) {
    let first =
        grants.first().map_or(DeviceFree::default(), |held| free.devices[held.device.index()]);
    (first.share, first.memory, super::suited(node, free, request, class).count())
}

/// How much of the free memory of a domain a run can have, so that what it moves from and to it
/// does not pass what may be held: it moves as much of what it moves in all as it has of its
/// memory there.
fn reachable(
    topology: &Topology,
    (domain, free): (DomainIndex, &DomainFree),
    request: &Request,
    oversubscribe: Milli,
) -> Bytes {
    let (bandwidth, moved) = (topology.domains[domain.index()].bandwidth, request.traffic.memory);
    if bandwidth.is_zero() || moved.is_zero() {
        return free.memory;
    }
    let room = most(bandwidth, oversubscribe).saturating_sub(free.load);
    let reach = u128::from(room.0) * u128::from(request.memory.0) / u128::from(moved.0);
    free.memory.min(Bytes(u64::try_from(reach).unwrap_or(u64::MAX)))
}

/// What a run moves from and to so much of its memory, rounded up.
fn load(request: &Request, memory: Bytes) -> Bandwidth {
    let moved = u128::from(request.traffic.memory.0) * u128::from(memory.0);
    let all = u128::from(request.memory.0.max(1));
    Bandwidth(u64::try_from(moved.div_ceil(all)).expect("a part of what is moved in all"))
}

/// How much of each domain a run with these devices holds: all of it in one, or as much of
/// each as is nearest. Nothing where the node has no domains.
///
/// # Panics
/// If the domains have less free, or can move less, than is asked.
#[must_use]
pub fn domain_grants(
    node: &Node,
    free: &Free,
    request: &Request,
    devices: &[DeviceGrant],
    bounds: Bounds,
) -> Vec<DomainGrant> {
    let Some(topology) = node.topology.as_deref().filter(|found| !found.domains.is_empty()) else {
        return Vec::new();
    };
    let (cores, memory) = (request.cores, request.memory);
    if let Some(domain) = bounds.single {
        return vec![DomainGrant { domain, cores, memory, load: load(request, memory) }];
    }
    let ground = Ground::new(topology, free, (request, devices), bounds.oversubscribe);
    let starts = (0..=u16::MAX).map(DomainIndex).take(free.domains.len());
    let layouts = starts.map(|start| ground.layout(start));
    let best = layouts.min_by_key(|layout| ground.rank(layout));
    best.expect("there is a domain").grants(request)
}

/// How much of each domain: cores and memory.
struct Layout {
    cores: Vec<u64>,
    memory: Vec<u64>,
}

/// What is compared, the least best: how far the cores are from the devices, the memory from the
/// cores, the memory from the devices; how many domains; what stays free in them; which they are.
type Rank = (u128, u128, u128, usize, (u64, u64), Vec<usize>);

/// What an arrangement depends on.
struct Ground<'a> {
    topology: &'a Topology,
    free: &'a [DomainFree],
    request: &'a Request,
    /// By domain, how much of its memory can be had.
    reachable: Vec<u64>,
    /// By domain, how far it is from all devices together.
    from_devices: Vec<u64>,
}

impl<'a> Ground<'a> {
    fn new(
        topology: &'a Topology,
        free: &'a Free,
        (request, devices): (&'a Request, &[DeviceGrant]),
        oversubscribe: Milli,
    ) -> Self {
        let at: Vec<DomainIndex> =
            devices.iter().filter_map(|held| topology.domain_of(held.device)).collect();
        let far = |domain: DomainIndex| {
            at.iter().map(|device| u64::from(topology.distance(domain, *device))).sum()
        };
        let from_devices = topology.indexed().map(|(domain, _)| far(domain)).collect();
        let indexed = (0..=u16::MAX).map(DomainIndex).zip(&free.domains);
        let reachable = indexed.map(|one| reachable(topology, one, request, oversubscribe).0);
        let reachable = reachable.collect();
        Self { topology, free: &free.domains, request, reachable, from_devices }
    }

    /// What an arrangement that begins at this domain comes to.
    fn layout(&self, start: DomainIndex) -> Layout {
        let (cores, memory) = (self.request.cores.0, self.request.memory.0);
        let free = |domain: DomainIndex| self.free[domain.index()].cores.0;
        let near = |domain: DomainIndex| {
            let far = self.from_devices[domain.index()];
            (u128::from(far), self.topology.distance(start, domain))
        };
        let cores = self.fill(cores, free, near);
        let free = |domain: DomainIndex| self.reachable[domain.index()];
        let near = |domain: DomainIndex| {
            (self.distance_from(&cores, domain, start), self.preference(domain))
        };
        let memory = self.fill(memory, free, near);
        Layout { cores, memory }
    }

    /// Takes so much, domain by domain, the nearest first; of those that are equally near, the
    /// tightest that has all of it, else the largest.
    fn fill<K: Ord>(
        &self,
        wanted: u64,
        free: impl Fn(DomainIndex) -> u64,
        near: impl Fn(DomainIndex) -> K,
    ) -> Vec<u64> {
        let mut order: Vec<DomainIndex> =
            self.topology.indexed().map(|(domain, _)| domain).collect();
        order.sort_by_cached_key(|domain| {
            let free = free(*domain);
            let fit =
                if free < wanted { (true, Reverse(free), 0) } else { (false, Reverse(0), free) };
            (near(*domain), fit, *domain)
        });
        let mut taken = vec![0; self.free.len()];
        let mut left = wanted;
        for domain in order {
            let part = left.min(free(domain));
            taken[domain.index()] = part;
            left -= part;
        }
        assert_eq!(left, 0, "the domains have what is asked");
        taken
    }

    /// How far the memory of a domain is from these cores; from the devices, or where it begins,
    /// where there are none.
    fn distance_from(&self, cores: &[u64], memory: DomainIndex, start: DomainIndex) -> u128 {
        if self.request.cores.is_zero() {
            let start = u128::from(self.topology.distance(start, memory));
            return (u128::from(self.from_devices[memory.index()]) << 8) + start;
        }
        self.topology
            .indexed()
            .zip(cores)
            .filter(|(_, held)| **held > 0)
            .map(|((domain, _), held)| u128::from(*held) * u128::from(self.factor(domain, memory)))
            .sum()
    }

    fn factor(&self, from: DomainIndex, to: DomainIndex) -> u64 {
        match self.request.traffic.memory.is_zero() {
            true => self.topology.latency_factor(from, to),
            false => self.topology.bandwidth_factor(from, to),
        }
    }

    /// The kinds of memory in the order in which they are wanted: stacked memory is for those who
    /// state a bandwidth.
    fn preference(&self, domain: DomainIndex) -> u8 {
        let states = !self.request.traffic.memory.is_zero();
        match (self.topology.domains[domain.index()].kind, states) {
            (MemoryKind::Hbm, true) => 0,
            (MemoryKind::Dram, _) => 1,
            (MemoryKind::Cxl, _) => 2,
            (MemoryKind::Hbm, false) => 3,
        }
    }

    fn rank(&self, layout: &Layout) -> Rank {
        let from_devices = |taken: &[u64]| {
            let far = taken.iter().zip(&self.from_devices);
            far.map(|(held, far)| u128::from(*held) * u128::from(*far)).sum::<u128>()
        };
        let apart = |(memory, held): (usize, &u64)| {
            let memory = DomainIndex(u16::try_from(memory).expect("few domains"));
            let far = self.distance_from(&layout.cores, memory, memory);
            u128::from(*held).saturating_mul(far)
        };
        let held = layout.memory.iter().enumerate().filter(|(_, held)| **held > 0);
        let apart = held.map(apart).fold(0, u128::saturating_add);
        let used: Vec<usize> = (0..self.free.len()).filter(|at| layout.uses(*at)).collect();
        let left = |(cores, memory): (u64, u64), at: &usize| {
            let free = self.free[*at];
            let used = (layout.cores[*at], layout.memory[*at]);
            (
                cores.saturating_add(free.cores.0 - used.0),
                memory.saturating_add(free.memory.0 - used.1),
            )
        };
        let left = used.iter().fold((0, 0), left);
        let cores_far = from_devices(&layout.cores);
        (cores_far, apart, from_devices(&layout.memory), used.len(), left, used)
    }
}

impl Layout {
    fn uses(&self, domain: usize) -> bool {
        self.cores[domain] > 0 || self.memory[domain] > 0
    }

    fn grants(&self, request: &Request) -> Vec<DomainGrant> {
        let used = (0..=u16::MAX).zip(self.cores.iter().zip(&self.memory));
        let grant = |(domain, (cores, memory)): (u16, (&u64, &u64))| DomainGrant {
            domain: DomainIndex(domain),
            cores: MilliCores(*cores),
            memory: Bytes(*memory),
            load: load(request, Bytes(*memory)),
        };
        used.filter(|(_, (cores, memory))| **cores > 0 || **memory > 0).map(grant).collect()
    }
}
