//! What a node must have inside: one memory domain with all of it, where a task may not reach over
//! several; and room on the channels over which it states that it moves data.
//!
//! Both are asked twice: of the node as if nothing ran there, and of what is left of it.

use fleet::explanation::Constraint;
use fleet::node::{self, Bounds};
use fleet::{
    Alternative, ChannelIndex, ClassId, DeviceIndex, DomainFree, Free, Node, Reach, Request,
    Topology,
};

use super::{Devices, Misfit, Rules, Way, Ways, has_place, list, refused, short};

/// Whether one memory domain of the node must have all of a request.
pub(super) fn must_be_in_one(request: &Request, node: &Node) -> bool {
    let domains = node.topology.as_ref().map_or(0, |topology| topology.domains.len());
    request.reach == Reach::Single && domains > 0
}

/// Whether more counts than what is free of the node in all.
pub(super) fn must_look(request: &Request, node: &Node) -> bool {
    node.topology.is_some() && request.looks_inside()
}

/// What the node lacks inside even if nothing runs.
pub(super) fn lasting_misfit(
    alternative: &Alternative,
    class: ClassId,
    node: &Node,
    rules: Rules<'_>,
) -> Option<Misfit> {
    let request = &alternative.request;
    let topology = node.topology.as_deref().filter(|_| request.looks_inside())?;
    let empty = node.capacity(rules.classes);
    let constraints = [
        Constraint::Domain,
        Constraint::MemoryBandwidth,
        Constraint::PcieBandwidth,
        Constraint::NetworkBandwidth,
    ];
    // Any device of the class would do on an empty node, whatever is asked of it.
    let suits = |device: DeviceIndex| node.devices[device.index()] == class;
    let look = Look { topology, node, free: &empty, request, oversubscribe: rules.oversubscribe };
    look.misfit(constraints, &suits)
}

/// What the node lacks inside as it is.
pub(super) fn free_misfit(
    alternative: &Alternative,
    class: ClassId,
    (node, free): (&Node, &Free),
    rules: Rules<'_>,
) -> Option<Misfit> {
    let request = &alternative.request;
    let topology = node.topology.as_deref().filter(|_| request.looks_inside())?;
    let constraints = [
        Constraint::FreeDomain,
        Constraint::FreeMemoryBandwidth,
        Constraint::FreePcieBandwidth,
        Constraint::FreeNetworkBandwidth,
    ];
    let suits = |device: DeviceIndex| {
        let left = free.devices[device.index()];
        let asked = request.devices.as_ref();
        let model = rules.classes.get(class);
        node.devices[device.index()] == class
            && asked.is_some_and(|asked| {
                left.share >= asked.share
                    && left.memory >= asked.memory
                    && has_place(asked, model, &left)
            })
    };
    let look = Look { topology, node, free, request, oversubscribe: rules.oversubscribe };
    look.misfit(constraints, &suits)
}

/// A look at a node in one of its states.
struct Look<'a> {
    topology: &'a Topology,
    node: &'a Node,
    free: &'a Free,
    request: &'a Request,
    oversubscribe: fleet::Milli,
}

/// Whether a device would do, channels aside.
type Suits<'a> = dyn Fn(DeviceIndex) -> bool + 'a;

impl Look<'_> {
    fn misfit(&self, constraints: [Constraint; 4], suits: &Suits<'_>) -> Option<Misfit> {
        let [domain, memory, pcie, network] = constraints;
        let traffic = self.request.traffic;
        let one = must_be_in_one(self.request, self.node).then(|| self.domains(suits));
        if one.as_ref().is_some_and(Vec::is_empty) {
            return Some(refused(domain));
        }
        let (moved, best) = (traffic.memory.0, self.memory(one.as_deref()));
        short(memory, moved, best).or_else(|| {
            let (wanted, best) = (self.wanted(), self.devices(one.as_deref(), suits));
            short(pcie, wanted, best).or_else(|| short(network, traffic.network.0, self.network()))
        })
    }

    fn wanted(&self) -> u64 {
        self.request.devices.as_ref().map_or(0, |devices| devices.count.into())
    }

    /// The domains that have all that is asked.
    fn domains(&self, suits: &Suits<'_>) -> Vec<usize> {
        let has = |(at, left): &(usize, &DomainFree)| {
            let devices = &self.topology.domains[*at].devices;
            left.cores >= self.request.cores
                && left.memory >= self.request.memory
                && devices.iter().filter(|device| suits(**device)).count() as u64 >= self.wanted()
        };
        self.free.domains.iter().enumerate().filter(has).map(|(at, _)| at).collect()
    }

    /// What the memory of a domain can still move; all there is where that is not known.
    fn room(&self, at: usize) -> u64 {
        let bandwidth = self.topology.domains[at].bandwidth;
        if bandwidth.is_zero() {
            return u64::MAX;
        }
        node::most(bandwidth, self.oversubscribe).saturating_sub(self.free.domains[at].load).0
    }

    /// What it could move from and to memory, at most what it states.
    fn memory(&self, one: Option<&[usize]>) -> u64 {
        let (moved, memory) = (self.request.traffic.memory.0, self.request.memory);
        if moved == 0 || memory.is_zero() || self.free.domains.is_empty() {
            return moved;
        }
        if let Some(one) = one {
            return one.iter().map(|at| self.room(*at)).max().unwrap_or(0).min(moved);
        }
        let reach = |(at, left): (usize, &DomainFree)| {
            let reach = u128::from(self.room(at)) * u128::from(memory.0) / u128::from(moved);
            u128::from(left.memory.0).min(reach)
        };
        let all: u128 = self.free.domains.iter().enumerate().map(reach).sum();
        let part = all.min(u128::from(memory.0)) * u128::from(moved) / u128::from(memory.0);
        u64::try_from(part).expect("at most what it moves")
    }

    /// How many devices it could have with what it moves, at most as many as it wants.
    fn devices(&self, one: Option<&[usize]>, suits: &Suits<'_>) -> u64 {
        let wanted = self.wanted();
        if self.request.traffic.pcie.is_zero() || self.topology.pcie.is_empty() {
            return wanted;
        }
        let Some(one) = one else { return self.reachable(suits).min(wanted) };
        let moved = self.request.traffic.memory.0;
        let can_move = |at: &&usize| self.request.memory.is_zero() || self.room(**at) >= moved;
        let in_domain = |at: &usize| {
            let attached = &self.topology.domains[*at].devices;
            self.reachable(&|device| suits(device) && attached.binary_search(&device).is_ok())
        };
        one.iter().filter(can_move).map(in_domain).max().unwrap_or(0).min(wanted)
    }

    /// The most devices that can be had together: one by one, each that still has room on its way.
    /// No other order finds more, since the ways are a tree.
    fn reachable(&self, suits: &Suits<'_>) -> u64 {
        let moved = self.request.traffic.pcie;
        let mut loads = self.free.loads.clone();
        let mut count = 0;
        for device in (0..=u16::MAX).map(DeviceIndex).take(self.node.devices.len()) {
            let fits = |channel: ChannelIndex| {
                let most = node::most(self.topology.bandwidth(channel), self.oversubscribe);
                loads[channel.index()].saturating_add(moved) <= most
            };
            if suits(device) && self.topology.path(device).all(fits) {
                self.topology.path(device).for_each(|channel| loads[channel.index()] += moved);
                count += 1;
            }
        }
        count
    }

    /// What it could move over one NIC, at most what it states.
    fn network(&self) -> u64 {
        let moved = self.request.traffic.network.0;
        if self.topology.nics.is_empty() {
            return moved;
        }
        let room = self.topology.nic_channels().map(|(channel, nic)| {
            let most = node::most(nic.bandwidth, self.oversubscribe);
            most.saturating_sub(self.free.loads[channel.index()]).0
        });
        room.max().unwrap_or(0).min(moved)
    }
}

/// Adds the ways to take an alternative in one domain: by the local rule in the best domain, or by
/// every choice in each.
pub(super) fn choose(
    alternative: &Alternative,
    class: ClassId,
    (node, free): (&Node, &Free),
    rules: Rules<'_>,
    devices: Devices,
    ways: &mut Ways,
) {
    let (request, classes) = (&alternative.request, rules.classes);
    let oversubscribe = rules.oversubscribe;
    let choices = node::single_choices(node, free, classes, (request, class), oversubscribe);
    assert!(!choices.is_empty(), "one domain has room for all");
    let many = match devices {
        Devices::ByRule => 1,
        Devices::Every => choices.len(),
    };
    for (domain, _) in choices.into_iter().take(many) {
        let bounds = Bounds { single: Some(domain), oversubscribe };
        if request.devices.is_none() {
            ways.found.push(Way { class, devices: None, bounds });
            continue;
        }
        let usable = node::usable(node, free, (request, class), bounds);
        list(alternative, class, (node, &usable), classes, devices, &mut ways.choices);
        ways.extend(class, bounds);
    }
}
