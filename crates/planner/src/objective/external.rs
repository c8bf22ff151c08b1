//! External: what a number from outside says about the choice.
//!
//! Cost: the number of a signal for the node, else for the class that decides
//! the rate, else the signal's default; nothing where there is no such signal.
//! Bound: nothing. Each signal that a policy weighs has a slot with a scale of
//! its own.

use fleet::Micro;
use fleet::policy::{ExternalSlot, Scale};

use super::Choice;

/// The score of a choice by the signal in a slot.
pub(super) fn score(slot: ExternalSlot, choice: &Choice<'_>, scale: &Scale) -> Micro {
    let cost = choice.levels.get(slot.index()).copied().unwrap_or(0.0);
    let sigma = scale.externals[slot.index()].as_f64();
    Micro::score(sigma / (cost + sigma))
}
