//! Whether what is granted of channels is what is stated, and is there; and what channels have room
//! for.

use super::inside::{must_be_in_one, this_can, this_could};
use super::{Fault, Part, inside, slices};
use crate::id::{ChannelIndex, DeviceIndex};
use crate::job::Request;
use crate::node::{DomainGrant, Free, Grant, Node};
use crate::plan::Placement;
use crate::topology::Topology;
use crate::units::{Bandwidth, Milli};

/// Checks that a grant holds of every channel what its devices and its statement ask.
pub(super) fn check(
    placement: &Placement,
    (request, node): (&Request, &Node),
    faults: &mut Vec<Fault>,
) {
    let Placement { run, node: id, ref grant, .. } = *placement;
    let empty = Topology::default();
    let topology = node.topology.as_deref().unwrap_or(&empty);
    let (switches, all) = (topology.pcie.len(), topology.pcie.len() + topology.nics.len());
    let mut last = None;
    for channel in grant.channels.iter().map(|held| held.channel) {
        if usize::from(channel.0) >= all || last >= Some(channel) {
            faults.push(Fault::ChannelOutOfOrder { run, node: id, channel });
        }
        last = last.max(Some(channel));
    }
    for (channel, asked) in (0..=u16::MAX).zip(over_switches(request, grant, topology)) {
        let channel = ChannelIndex(channel);
        let held = grant.channels.iter().find(|held| held.channel == channel);
        let granted = held.map_or(Bandwidth::ZERO, |held| held.bandwidth);
        if asked != granted {
            faults.push(Fault::ChannelDiffers { run, node: id, channel, asked, granted });
        }
    }
    let nics = || grant.channels.iter().filter(|held| usize::from(held.channel.0) >= switches);
    let granted =
        nics().map(|held| held.bandwidth).fold(Bandwidth::ZERO, Bandwidth::saturating_add);
    let wanted = !request.traffic.network.is_zero() && !topology.nics.is_empty();
    let asked = if wanted { request.traffic.network } else { Bandwidth::ZERO };
    if granted != asked || nics().count() != usize::from(wanted) {
        let nics = nics().count();
        faults.push(Fault::NicsDiffer { run, asked, granted, nics });
    }
    for held in &grant.domains {
        check_load(placement, request, held, faults);
    }
}

/// What the devices of a grant move over each PCIe switch.
fn over_switches(request: &Request, grant: &Grant, topology: &Topology) -> Vec<Bandwidth> {
    let mut moved = vec![Bandwidth::ZERO; topology.pcie.len()];
    // Those below come after those above, so that from the back each is complete when it is
    // passed on.
    for switch in (0..topology.pcie.len()).rev() {
        let below = &topology.pcie[switch].devices;
        for _ in grant.devices.iter().filter(|held| below.contains(&held.device)) {
            moved[switch] = moved[switch].saturating_add(request.traffic.pcie);
        }
        if let Some(above) = topology.pcie[switch].above {
            let passed = moved[switch];
            let above = &mut moved[usize::from(above)];
            *above = above.saturating_add(passed);
        }
    }
    moved
}

/// Whether a domain moves the part of what is stated that it has of the memory, rounded up.
fn check_load(
    placement: &Placement,
    request: &Request,
    held: &DomainGrant,
    faults: &mut Vec<Fault>,
) {
    let (stated, memory) = (u128::from(request.traffic.memory.0), u128::from(request.memory.0));
    let (granted, wanted) = (u128::from(held.load.0), stated * u128::from(held.memory.0));
    let covers = granted * memory >= wanted;
    let is_least = granted == 0 || (granted - 1) * memory < wanted;
    let nothing = memory == 0 && granted == 0;
    if !(nothing || (covers && is_least && memory > 0)) {
        let asked = u64::try_from(wanted.div_ceil(memory.max(1))).unwrap_or(u64::MAX);
        faults.push(Fault::GrantDiffers {
            run: placement.run,
            part: Part::DomainLoad(held.domain),
            asked,
            granted: held.load.0,
        });
    }
}

/// A node, and how much of its channels may be held.
pub(super) struct Most<'a> {
    pub(super) node: &'a Node,
    pub(super) oversubscribe: Milli,
}

impl Most<'_> {
    fn of(&self, bandwidth: Bandwidth) -> u64 {
        let most = u128::from(bandwidth.0) * u128::from(self.oversubscribe.0) / 1000;
        u64::try_from(most).unwrap_or(u64::MAX)
    }

    /// What may be held of a channel.
    fn of_channel(&self, channel: usize) -> Option<u64> {
        let topology = self.node.topology.as_ref()?;
        let switches = topology.pcie.iter().map(|switch| switch.bandwidth);
        let mut all = switches.chain(topology.nics.iter().map(|nic| nic.bandwidth));
        Some(self.of(all.nth(channel)?))
    }

    /// What may be held of the memory of a domain; nothing where that is not bounded.
    fn of_domain(&self, domain: usize) -> Option<u64> {
        let bandwidth = self.node.topology.as_ref()?.domains.get(domain)?.bandwidth;
        (!bandwidth.is_zero()).then(|| self.of(bandwidth))
    }
}

/// Takes what the grant holds of channels from what may be held of them.
pub(super) fn take(
    placement: &Placement,
    left: &mut Free,
    most: &Most<'_>,
    faults: &mut Vec<Fault>,
) {
    let Placement { run, node, ref grant, .. } = *placement;
    let mut amount = |part: Part, asked: u64, left: u64| {
        if asked > left {
            faults.push(Fault::Over { run, node, part, asked, left });
        }
    };
    for held in &grant.domains {
        let at = usize::from(held.domain.0);
        // What is left of the domain has this grant taken off already.
        let Some((most, left)) = most.of_domain(at).zip(left.domains.get(at)) else { continue };
        let before = left.load.0.saturating_sub(held.load.0);
        amount(Part::DomainLoad(held.domain), held.load.0, most.saturating_sub(before));
    }
    for held in &grant.channels {
        let at = usize::from(held.channel.0);
        let Some((most, load)) = most.of_channel(at).zip(left.loads.get(at)) else { continue };
        amount(Part::Channel(held.channel), held.bandwidth.0, most.saturating_sub(load.0));
    }
    leave(left, grant);
}

/// What is held once a grant is taken.
pub(super) fn leave(left: &mut Free, grant: &Grant) {
    for held in &grant.channels {
        if let Some(load) = left.loads.get_mut(usize::from(held.channel.0)) {
            *load = load.saturating_add(held.bandwidth);
        }
    }
}

/// What the channels of a node have room for: as it is, or if nothing ran.
pub(super) struct Room<'a> {
    pub(super) most: &'a Most<'a>,
    pub(super) free: Option<&'a Free>,
    pub(super) request: &'a Request,
    pub(super) class: inside::Of<'a>,
}

impl Room<'_> {
    fn topology(&self) -> Option<&Topology> {
        self.most.node.topology.as_deref()
    }

    /// What is free of the memory of a domain, and what it can still move; nothing where that is
    /// not bounded.
    fn of_domain(&self, at: usize) -> (u64, Option<u64>) {
        let domain = &self.most.node.topology.as_ref().expect("it has domains").domains[at];
        let (memory, load) = match self.free {
            Some(free) => (free.domains[at].memory.0, free.domains[at].load.0),
            None => (domain.memory.0, 0),
        };
        (memory, self.most.of_domain(at).map(|most| most.saturating_sub(load)))
    }

    /// The domains that have all but channels, where one must.
    fn candidates(&self) -> Option<Vec<usize>> {
        let (node, request) = (self.most.node, self.request);
        let topology = must_be_in_one(request, node)?;
        let has = |at: &usize| match self.free {
            Some(free) => this_can(request, self.class, (node, free), *at),
            None => this_could(request, self.class.0, node, *at),
        };
        Some((0..topology.domains.len()).filter(has).collect())
    }

    /// The most that a task could move from and to memory, up to what it states.
    pub(super) fn memory(&self) -> u64 {
        let (stated, memory) = (self.request.traffic.memory.0, self.request.memory.0);
        let domains = self.topology().map_or(0, |topology| topology.domains.len());
        if domains == 0 || memory == 0 || stated == 0 {
            return stated;
        }
        if let Some(candidates) = self.candidates() {
            let room = candidates.iter().map(|at| self.of_domain(*at).1.unwrap_or(stated));
            return room.max().unwrap_or(0).min(stated);
        }
        let had = (0..domains).map(|at| {
            let (free, room) = self.of_domain(at);
            let reach = room.map(|room| u128::from(room) * u128::from(memory) / u128::from(stated));
            reach.unwrap_or(u128::MAX).min(u128::from(free))
        });
        let had = had.sum::<u128>().min(u128::from(memory));
        u64::try_from(had * u128::from(stated) / u128::from(memory))
            .expect("at most what is stated")
    }

    /// One domain that has all of it, channels among it, where one must.
    pub(super) fn domain(&self) -> Option<usize> {
        let topology = self.topology()?;
        let (stated, request) = (self.request.traffic.memory.0, self.request);
        let wanted = request.devices.as_ref().map_or(0, |asked| u64::from(asked.count));
        let reaches = |at: &usize| {
            let attached = &topology.domains[*at].devices;
            let may = |device| attached.iter().any(|one| usize::from(one.0) == device);
            request.traffic.pcie.is_zero()
                || topology.pcie.is_empty()
                || self.devices_of(topology, may) >= wanted
        };
        let moves = |at: &usize| {
            let room = self.of_domain(*at).1;
            request.memory.is_zero() || room.is_none_or(|room| room >= stated)
        };
        self.candidates()?.into_iter().filter(moves).find(reaches)
    }

    /// The most devices that a task could have, up to what it asks for.
    pub(super) fn devices(&self) -> u64 {
        let Some(asked) = &self.request.devices else { return 0 };
        let count = u64::from(asked.count);
        let Some(topology) = self.topology() else { return count };
        if self.request.traffic.pcie.is_zero() || topology.pcie.is_empty() {
            return count;
        }
        let Some(mut candidates) = self.candidates() else {
            return self.devices_of(topology, |_| true).min(count);
        };
        let stated = self.request.traffic.memory.0;
        candidates.retain(|at| {
            let room = self.of_domain(*at).1;
            self.request.memory.is_zero() || room.is_none_or(|room| room >= stated)
        });
        let best = candidates.iter().map(|at| {
            let attached = &topology.domains[*at].devices;
            self.devices_of(topology, |device| {
                attached.iter().any(|one| usize::from(one.0) == device)
            })
        });
        best.max().unwrap_or(0).min(count)
    }

    /// The most devices for which there is room over PCIe together. For one device it is enough
    /// that there is room for each by itself, and so it is for the most of several: from below, a
    /// switch passes as many as its link has room for.
    fn devices_of(&self, topology: &Topology, may: impl Fn(usize) -> bool) -> u64 {
        let node = self.most.node;
        let Some(asked) = &self.request.devices else { return 0 };
        let suits = |device: usize| {
            let free = self.free.is_none_or(|free| {
                let left = free.devices[device];
                left.share >= asked.share && left.memory >= asked.memory
            });
            let place = self.free.is_none_or(|free| {
                slices::one_has_place(asked, self.class.1, &[&free.devices[device]])
            });
            node.devices[device] == self.class.0 && free && place && may(device)
        };
        let mut had = vec![0_u64; topology.pcie.len()];
        let mut total = 0;
        for switch in (0..topology.pcie.len()).rev() {
            let own = topology.pcie[switch].devices.iter();
            had[switch] += own.filter(|device| suits(usize::from(device.0))).count() as u64;
            let load = self.free.map_or(0, |free| free.loads[switch].0);
            let room = self.most.of_channel(switch).expect("it is there").saturating_sub(load);
            let passed = had[switch].min(room / self.request.traffic.pcie.0);
            match topology.pcie[switch].above {
                Some(above) => had[usize::from(above)] += passed,
                None => total += passed,
            }
        }
        let is_below = |device: usize| {
            let mut all = topology.pcie.iter().flat_map(|switch| &switch.devices);
            all.any(|below| usize::from(below.0) == device)
        };
        let outside = (0..node.devices.len()).filter(|device| !is_below(*device) && suits(*device));
        total + outside.count() as u64
    }

    /// The most that a task could move over one NIC, up to what it states.
    pub(super) fn network(&self) -> u64 {
        let stated = self.request.traffic.network.0;
        let Some(topology) = self.topology().filter(|topology| !topology.nics.is_empty()) else {
            return stated;
        };
        let switches = topology.pcie.len();
        let room = (switches..switches + topology.nics.len()).map(|channel| {
            let load = self.free.map_or(0, |free| free.loads[channel].0);
            self.most.of_channel(channel).unwrap_or(0).saturating_sub(load)
        });
        room.max().unwrap_or(0).min(stated)
    }
}

/// Loads the memory of domains and a NIC with what one more task moves: of the domain given where
/// it is in one, else of one after the other as far as they have memory that they can move.
pub(super) fn fill(free: &mut Free, most: &Most<'_>, request: &Request, one: Option<usize>) {
    let (stated, memory) = (u128::from(request.traffic.memory.0), u128::from(request.memory.0));
    if stated > 0 && memory > 0 {
        let mut left = memory;
        for at in 0..free.domains.len() {
            let domain = &mut free.domains[at];
            let room = most.of_domain(at).map(|most| most.saturating_sub(domain.load.0));
            let reach = room.map_or(u128::MAX, |room| u128::from(room) * memory / stated);
            let part = match one {
                Some(one) if one == at => left,
                Some(_) => 0,
                None => left.min(reach).min(u128::from(domain.memory.0)),
            };
            left -= part;
            let load = (stated * part).div_ceil(memory);
            let load = Bandwidth(u64::try_from(load).unwrap_or(u64::MAX));
            domain.load = domain.load.saturating_add(load);
            if one.is_none() {
                let part = u64::try_from(part).unwrap_or(u64::MAX);
                domain.memory.0 = domain.memory.0.saturating_sub(part);
            }
        }
    }
    let switches = most.node.topology.as_ref().map_or(0, |topology| topology.pcie.len());
    let moved = request.traffic.network;
    let has_room = |channel: &usize| {
        let most = most.of_channel(*channel).unwrap_or(0);
        most.saturating_sub(free.loads[*channel].0) >= moved.0
    };
    if let Some(nic) = (switches..free.loads.len()).find(has_room) {
        free.loads[nic] = free.loads[nic].saturating_add(moved);
    }
}

/// Whether a device can still be reached with what a task moves.
pub(super) fn has_way(
    loads: &[Bandwidth],
    most: &Most<'_>,
    request: &Request,
    device: DeviceIndex,
) -> bool {
    let moved = request.traffic.pcie.0;
    way(most.node, device).into_iter().all(|at| {
        let most = most.of_channel(at).unwrap_or(0);
        most.saturating_sub(loads[at].0) >= moved
    })
}

/// Loads the switches above a device with what a task moves.
pub(super) fn go(loads: &mut [Bandwidth], node: &Node, request: &Request, device: DeviceIndex) {
    for at in way(node, device) {
        loads[at] = loads[at].saturating_add(request.traffic.pcie);
    }
}

/// The switches above a device.
fn way(node: &Node, device: DeviceIndex) -> Vec<usize> {
    let Some(topology) = &node.topology else { return Vec::new() };
    let mut found = Vec::new();
    let mut at = topology.pcie.iter().position(|switch| switch.devices.contains(&device));
    while let Some(switch) = at {
        found.push(switch);
        at = topology.pcie[switch].above.map(usize::from);
    }
    found
}
