//! Interference: seconds by which those end later who move data over the same channels.
//!
//! A channel (the memory of a domain, a PCIe switch, a NIC) over which more is stated to move than
//! passes is crowded by that ratio, and all that move data over it take as many times longer. What
//! the choice adds to the crowding of a channel over which others move data already is what they
//! lose in each second; cost: the sum of this over its channels × the seconds that the task takes.
//! Others are taken to run at least as long as the task. Bound: zero, a node of its own.
//!
//! The task itself is as slow as its most crowded channel lets it be; that is part of its time.
//! Both are zero unless the policy's `oversubscribe` lets channels be crowded at all. The model is
//! the fair sharing of a saturated link (Bertsekas and Gallager, *Data Networks*, 6.5.2), with what
//! is stated as the demand.

use fleet::{Bandwidth, Free, Grant, Node};

use super::{Ask, Choice};

pub(super) fn cost(_ask: &Ask, choice: &Choice<'_>) -> f64 {
    choice.effects.imposed * choice.seconds
}

pub(super) fn bound(_ask: &Ask) -> f64 {
    0.0
}

/// What a choice means on the channels of its node.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crowding {
    /// By what part the task itself takes longer.
    pub own: f64,
    /// What others lose in each second that the task runs, in seconds.
    pub imposed: f64,
}

/// The crowding by a grant that is taken from what is free.
#[must_use]
pub fn crowding(node: &Node, free: &Free, grant: &Grant) -> Crowding {
    let Some(topology) = node.topology.as_deref() else { return Crowding::default() };
    let memory = grant.domains.iter().map(|held| {
        let at = held.domain.index();
        (topology.domains[at].bandwidth, free.domains[at].load, held.load)
    });
    let channels = grant.channels.iter().map(|held| {
        (topology.bandwidth(held.channel), free.loads[held.channel.index()], held.bandwidth)
    });
    let mut found = Crowding::default();
    for (passes, before, added) in memory.chain(channels) {
        if passes.is_zero() || added.is_zero() {
            continue;
        }
        let after = beyond(before.saturating_add(added), passes);
        found.own = found.own.max(after);
        if !before.is_zero() {
            found.imposed += after - beyond(before, passes);
        }
    }
    found
}

/// By what part more is moved than passes.
fn beyond(load: Bandwidth, passes: Bandwidth) -> f64 {
    (load.0 as f64 / passes.0 as f64 - 1.0).max(0.0)
}
