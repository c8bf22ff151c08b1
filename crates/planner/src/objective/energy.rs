//! Energy: joules that the choice causes.
//!
//! Cost: watts that the grant adds to its node (see `fleet::Node::added_draw`:
//! cores in proportion or by sockets, devices that were idle at their full extra power) times
//! the declared duration. Bound: the least watts times duration over the
//! classes that could run the task, where a shared device may already be awake.

use super::{Ask, Choice};

pub(super) fn cost(_ask: &Ask, choice: &Choice<'_>) -> f64 {
    choice.effects.added_watts * choice.seconds
}

pub(super) fn bound(ask: &Ask) -> f64 {
    ask.best_joules
}
