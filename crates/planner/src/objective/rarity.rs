//! Rarity: breaking up a node of which few are as large.
//!
//! Whatever needs a whole large node can run on few of them, and on none that
//! something small has begun to use. Cost: nodes that are up ÷ those of them
//! that have at least as many cores, as much memory and as many devices, where
//! all devices of the node are wholly free before the choice and not all are
//! held after it; else zero. Bound: zero.

use super::{Ask, Choice};

pub(super) fn cost(_ask: &Ask, choice: &Choice<'_>) -> f64 {
    choice.effects.rarity
}

pub(super) fn bound(_ask: &Ask) -> f64 {
    0.0
}
