//! Fragmentation: device capacity made unusable for what arrives here.
//!
//! Free capacity of a node is unusable for a shape that could not be placed
//! with it. Weighted by how often each shape of the mix arrives, that is the
//! node's expected unusable capacity, after Weng et al., "Beware of
//! Fragmentation" (USENIX ATC 2023). Cost: the device capacity that is usable
//! before the choice minus that after it, in thousandths of a device. Bound:
//! zero.

use super::{Ask, Choice};

pub(super) fn cost(_ask: &Ask, choice: &Choice<'_>) -> f64 {
    choice.effects.capacity_lost
}

pub(super) fn bound(_ask: &Ask) -> f64 {
    0.0
}

/// Expected usable thousandths of a device that taking some of them costs; never negative.
#[must_use]
pub fn capacity_lost(unusable_before: f64, unusable_after: f64, taken: u64) -> f64 {
    (unusable_after - unusable_before + taken as f64).max(0.0)
}
