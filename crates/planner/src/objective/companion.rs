//! Companion: devices left without the cores and memory that arrive with jobs here.
//!
//! Jobs of the mix bring so many cores and so much memory for each device that
//! they ask for, on the mean. What is free of a node accompanies as many
//! devices as it has free, or fewer where cores or memory run short: then the
//! other devices are stranded. Cost: devices that are accompanied before the
//! choice minus those after it, in thousandths of a device. It is large where
//! many cores are taken beside free devices, and nothing where they are taken
//! beside devices that are held already. Bound: zero.

use super::{Ask, Choice};

pub(super) fn cost(_ask: &Ask, choice: &Choice<'_>) -> f64 {
    choice.effects.companions_lost
}

pub(super) fn bound(_ask: &Ask) -> f64 {
    0.0
}
