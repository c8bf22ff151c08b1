//! Deadline: the chance that the task ends after it.
//!
//! Cost: with the time left `t` and the declared duration `d`, the chance that
//! a log-logistic variable with median `d` exceeds `t`: `1 ÷ (1 + (t ÷ d)^β)`.
//! β = 8 puts the 10 % and 90 % quantiles at 0.76 and 1.32 of the median, about
//! what a declared duration deserves that is wrong by up to 30 %; measured
//! errors will replace it. Bound: the same on the fastest class. Without a
//! deadline both are zero.

use super::{Ask, Choice};

const BETA: f64 = 8.0;

pub(super) fn cost(ask: &Ask, choice: &Choice<'_>) -> f64 {
    ask.slack_seconds.map_or(0.0, |slack| miss(slack, choice.seconds))
}

pub(super) fn bound(ask: &Ask) -> f64 {
    ask.slack_seconds.map_or(0.0, |slack| miss(slack, ask.best_seconds))
}

/// The chance that what is declared to take `seconds` takes longer than `slack` seconds.
fn miss(slack: f64, seconds: f64) -> f64 {
    if slack <= 0.0 {
        return 1.0;
    }
    if seconds <= 0.0 {
        return 0.0;
    }
    // `libm` is the same code on every platform, so the result has the same bits.
    1.0 / (1.0 + libm::pow(slack / seconds, BETA))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_as_long_as_the_duration_is_even_odds() {
        assert_eq!(miss(60.0, 60.0), 0.5);
        assert!(miss(80.0, 60.0) < 0.1);
        assert!(miss(45.0, 60.0) > 0.9);
        assert_eq!(miss(-1.0, 60.0), 1.0);
    }
}
