//! Completion: seconds until the task has ended.
//!
//! Cost: work ÷ declared rate on the chosen class. The time waited so far is
//! the same for every choice and is left out; staging, contention and
//! communication are not modelled yet. Bound: the same on the fastest class of
//! the fleet. Where the work is not known it is taken to be what the fastest
//! class does in one σ, so that only the ratio of rates counts.

use super::{Ask, Choice};

pub(super) fn cost(_ask: &Ask, choice: &Choice<'_>) -> f64 {
    choice.seconds
}

pub(super) fn bound(ask: &Ask) -> f64 {
    ask.best_seconds
}
