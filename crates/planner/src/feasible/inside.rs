//! What a node must have inside: one memory domain with all of it, where a task may not reach over
//! several.

use fleet::explanation::Constraint;
use fleet::node;
use fleet::{Alternative, ClassId, Classes, DeviceIndex, Domain, Free, Node, Reach, Request};

use super::{Devices, Misfit, Way, Ways, list, refused};

/// Whether one memory domain of the node must have all of a request.
pub(super) fn must_be_in_one(request: &Request, node: &Node) -> bool {
    request.reach == Reach::Single && !domains(node).is_empty()
}

/// Whether more counts than what is free of the node in all.
pub(super) fn must_look(request: &Request, node: &Node) -> bool {
    node.topology.is_some() && request.looks_inside()
}

/// Whether no domain could ever have all of it.
pub(super) fn domain_misfit(
    alternative: &Alternative,
    class: ClassId,
    node: &Node,
) -> Option<Misfit> {
    let request = &alternative.request;
    let could = |domain: &Domain| {
        domain.cores >= request.cores
            && domain.memory >= request.memory
            && has_devices(alternative, domain, |device| node.devices[device.index()] == class)
    };
    let fits = !must_be_in_one(request, node) || domains(node).iter().any(could);
    (!fits).then(|| refused(Constraint::Domain))
}

/// Whether no domain has all of it free.
pub(super) fn free_domain_misfit(
    alternative: &Alternative,
    class: ClassId,
    (node, free): (&Node, &Free),
) -> Option<Misfit> {
    let request = &alternative.request;
    let suits = |device: DeviceIndex| {
        let left = free.devices[device.index()];
        let asked = request.devices.as_ref();
        node.devices[device.index()] == class
            && asked.is_some_and(|asked| left.share >= asked.share && left.memory >= asked.memory)
    };
    let mut all = domains(node).iter().zip(&free.domains);
    let fits = !must_be_in_one(request, node)
        || all.any(|(domain, left)| {
            left.cores >= request.cores
                && left.memory >= request.memory
                && has_devices(alternative, domain, suits)
        });
    (!fits).then(|| refused(Constraint::FreeDomain))
}

/// Whether enough devices of a domain are such as is asked for.
fn has_devices(
    alternative: &Alternative,
    domain: &Domain,
    suits: impl Fn(DeviceIndex) -> bool,
) -> bool {
    let wanted = alternative.request.devices.as_ref().map_or(0, |devices| devices.count as usize);
    wanted == 0 || domain.devices.iter().filter(|device| suits(**device)).count() >= wanted
}

/// Adds the ways to take an alternative in one domain: by the local rule in the best domain, or by
/// every choice in each.
pub(super) fn choose(
    alternative: &Alternative,
    class: ClassId,
    (node, free): (&Node, &Free),
    classes: &Classes,
    devices: Devices,
    ways: &mut Ways,
) {
    let request = &alternative.request;
    let choices = node::single_choices(node, free, classes, request, class);
    assert!(!choices.is_empty(), "one domain has room for all");
    let many = match devices {
        Devices::ByRule => 1,
        Devices::Every => choices.len(),
    };
    for (domain, _) in choices.into_iter().take(many) {
        let way = |devices| Way { class, devices, domain: Some(domain) };
        if request.devices.is_none() {
            ways.found.push(way(None));
            continue;
        }
        let inside = node::within(node, free, domain);
        list(alternative, class, (node, &inside), classes, devices, &mut ways.choices);
        ways.found.extend(ways.choices.drain(..).map(|devices| way(Some(devices))));
    }
}

fn domains(node: &Node) -> &[Domain] {
    node.topology.as_deref().map_or(&[], |topology| &topology.domains)
}
