//! Whether what is granted of memory domains is there, adds up, and is what was asked; and whether
//! one domain has room for all of a request.

use super::{Fault, Part, slices};
use crate::device::DeviceClass;
use crate::id::{ClassId, DomainIndex};
use crate::job::{Reach, Request};
use crate::node::{DeviceFree, DomainFree, Free, Grant, Node};
use crate::plan::Placement;
use crate::units::{Bytes, MilliCores};

/// Checks that the domains of a grant are of the node, in order, and hold all of it; one of them
/// where the request may not reach over several.
pub(super) fn check(
    placement: &Placement,
    (request, node): (&Request, &Node),
    faults: &mut Vec<Fault>,
) {
    let Placement { run, node: id, ref grant, .. } = *placement;
    let domains = node.topology.as_ref().map_or(0, |topology| topology.domains.len());
    let mut last: Option<DomainIndex> = None;
    for held in &grant.domains {
        let domain = held.domain;
        if usize::from(domain.0) >= domains {
            faults.push(Fault::DomainUnknown { run, node: id, domain });
        }
        if last >= Some(domain) {
            faults.push(Fault::DomainOutOfOrder { run, node: id, domain });
        }
        last = last.max(Some(domain));
    }
    if domains == 0 {
        return;
    }
    let total = |part: fn(&(MilliCores, Bytes)) -> u64| {
        let parts = grant.domains.iter().map(|held| part(&(held.cores, held.memory)));
        parts.fold(0_u64, u64::saturating_add)
    };
    for (part, asked, granted) in [
        (Part::DomainCores(None), grant.cores.0, total(|(cores, _)| cores.0)),
        (Part::DomainMemory(None), grant.memory.0, total(|(_, memory)| memory.0)),
    ] {
        if asked != granted {
            faults.push(Fault::GrantDiffers { run, part, asked, granted });
        }
    }
    if request.reach == Reach::Single && !is_in_one(grant, node) {
        faults.push(Fault::DomainsSeveral { run, node: id });
    }
}

/// Whether one domain has every core, byte and device of a grant.
fn is_in_one(grant: &Grant, node: &Node) -> bool {
    let Some(topology) = &node.topology else { return true };
    let [held] = &grant.domains[..] else { return false };
    let domain = topology.domains.get(usize::from(held.domain.0));
    domain.is_some_and(|domain| {
        grant.devices.iter().all(|device| domain.devices.contains(&device.device))
    })
}

/// Takes what the grant holds of domains from what is left of them.
pub(super) fn take(placement: &Placement, left: &mut Free, faults: &mut Vec<Fault>) {
    let Placement { run, node, ref grant, .. } = *placement;
    for held in &grant.domains {
        let domain = held.domain;
        let Some(left) = left.domains.get(usize::from(domain.0)) else { continue };
        for (part, asked, left) in [
            (Part::DomainCores(Some(domain)), held.cores.0, left.cores.0),
            (Part::DomainMemory(Some(domain)), held.memory.0, left.memory.0),
        ] {
            if asked > left {
                faults.push(Fault::Over { run, node, part, asked, left });
            }
        }
    }
    leave(left, grant);
}

/// What is left once a grant is taken.
pub(super) fn leave(left: &mut Free, grant: &Grant) {
    for held in &grant.domains {
        if let Some(left) = left.domains.get_mut(usize::from(held.domain.0)) {
            left.cores = left.cores.saturating_sub(held.cores);
            left.memory = left.memory.saturating_sub(held.memory);
            left.load = left.load.saturating_add(held.load);
        }
    }
}

/// A class of devices, by its id and in full.
pub(super) type Of<'a> = (ClassId, &'a DeviceClass);

/// Whether one domain of the node would have all that is asked if nothing ran.
pub(super) fn one_could(request: &Request, class: ClassId, node: &Node) -> bool {
    must_be_in_one(request, node).is_none_or(|topology| {
        (0..topology.domains.len()).any(|domain| this_could(request, class, node, domain))
    })
}

/// Whether one domain of the node has all that is asked free.
pub(super) fn one_can(request: &Request, class: Of<'_>, (node, free): (&Node, &Free)) -> bool {
    must_be_in_one(request, node).is_none_or(|topology| {
        (0..topology.domains.len()).any(|domain| this_can(request, class, (node, free), domain))
    })
}

/// Whether this domain would have all that is asked if nothing ran.
pub(super) fn this_could(request: &Request, class: ClassId, node: &Node, at: usize) -> bool {
    let Some(topology) = &node.topology else { return false };
    let domain = &topology.domains[at];
    let devices = domain.devices.iter();
    let of_class = devices.filter(|device| node.devices[usize::from(device.0)] == class).count();
    let wanted = request.devices.as_ref().map_or(0, |devices| devices.count as usize);
    domain.cores >= request.cores && domain.memory >= request.memory && of_class >= wanted
}

/// Whether this domain has all that is asked free.
pub(super) fn this_can(
    request: &Request,
    (class, model): Of<'_>,
    (node, free): (&Node, &Free),
    at: usize,
) -> bool {
    let Some(topology) = &node.topology else { return false };
    let DomainFree { cores, memory, .. } = free.domains[at];
    let suits = |device: &DeviceFree| match &request.devices {
        Some(asked) => device.share >= asked.share && device.memory >= asked.memory,
        None => false,
    };
    let attached = topology.domains[at].devices.iter().map(|device| usize::from(device.0));
    let of_class = attached.filter(|device| node.devices[*device] == class);
    let suited = of_class.map(|device| &free.devices[device]).filter(|device| suits(device));
    let suited: Vec<&DeviceFree> = suited.collect();
    let has_devices = request.devices.as_ref().is_none_or(|asked| {
        suited.len() >= asked.count as usize && slices::one_has_place(asked, model, &suited)
    });
    cores >= request.cores && memory >= request.memory && has_devices
}

/// The domains among which one must have all; nothing where that does not matter.
pub(super) fn must_be_in_one<'a>(request: &Request, node: &'a Node) -> Option<&'a crate::Topology> {
    let topology = node.topology.as_deref()?;
    (request.reach == Reach::Single && !topology.domains.is_empty()).then_some(topology)
}
