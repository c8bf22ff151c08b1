//! Locality: data that the choice moves.
//!
//! Cost: gigabytes of the task's inputs that its node does not hold. How long
//! they take to fetch is in `completion` already; this is what the network is
//! spared. Bound: nothing, since some node may hold everything.

use super::{Ask, Choice};

pub(super) fn cost(_ask: &Ask, choice: &Choice<'_>) -> f64 {
    choice.effects.moved
}

pub(super) fn bound(_ask: &Ask) -> f64 {
    0.0
}
