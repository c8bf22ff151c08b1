//! Figures of one contender over several seeds.

use std::time::Duration;

use super::account::{Curves, Failures};
use super::contender::Contender;
use super::curve::{Curve, mean};
use super::protocol::Outcome;

/// What one contender came to.
#[derive(Clone, Debug)]
pub struct Figures {
    /// The contender.
    pub contender: Contender,
    /// What each seed came to.
    pub by_seed: Vec<(u64, Outcome)>,
}

impl Figures {
    /// One curve of every seed.
    pub fn curves(&self, which: fn(&Curves) -> &Curve) -> Vec<&Curve> {
        self.by_seed.iter().map(|(_, outcome)| which(&outcome.curves)).collect()
    }

    /// The mean of one curve at one load.
    #[must_use]
    pub fn at(&self, load: usize, which: fn(&Curves) -> &Curve) -> Option<f64> {
        mean(self.curves(which).into_iter().map(|curve| curve.at(load)))
    }

    /// The mean number of failures of one kind.
    #[must_use]
    pub fn failures(&self, which: fn(&Failures) -> u32) -> f64 {
        let count = |(_, outcome): &(u64, Outcome)| Some(f64::from(which(&outcome.failures)));
        mean(self.by_seed.iter().map(count)).unwrap_or(0.0)
    }

    /// The mean load at the first failure; nothing where some seed has none.
    #[must_use]
    pub fn first_failure(&self) -> Option<f64> {
        mean(self.by_seed.iter().map(|(_, outcome)| outcome.first_failure))
    }

    /// The mean load at the first failure of a pod with eight GPUs; nothing where some seed has
    /// none.
    #[must_use]
    pub fn first_failure_of_eight(&self) -> Option<f64> {
        mean(self.by_seed.iter().map(|(_, outcome)| outcome.first_failure_of_eight))
    }

    /// The same of the seed where it is least; nothing where no seed has one.
    #[must_use]
    pub fn least_failure_of_eight(&self) -> Option<f64> {
        let loads = self.by_seed.iter().filter_map(|(_, outcome)| outcome.first_failure_of_eight);
        loads.reduce(f64::min)
    }

    /// Microseconds an arrival, through the whole turn.
    #[must_use]
    pub fn micros(&self) -> f64 {
        let turns = self.by_seed.iter().flat_map(|(_, outcome)| &outcome.turns);
        let seconds: f64 = turns.map(Duration::as_secs_f64).sum();
        1e6 * seconds / self.arrivals() as f64
    }

    /// Milliseconds that 99 of 100 turns do not exceed.
    #[must_use]
    pub fn turn_p99(&self) -> f64 {
        let mut turns: Vec<Duration> =
            self.by_seed.iter().flat_map(|(_, outcome)| outcome.turns.iter().copied()).collect();
        turns.sort_unstable();
        let position = (turns.len() * 99).div_ceil(100).saturating_sub(1);
        turns.get(position).map_or(0.0, |turn| 1e3 * turn.as_secs_f64())
    }

    /// Microseconds of processor time an arrival, with bookkeeping, where the system tells.
    ///
    /// Steadier than [`Self::micros`] on a machine that does other things too.
    #[must_use]
    pub fn processor_micros(&self) -> Option<f64> {
        let seconds: Option<f64> =
            self.by_seed.iter().map(|(_, outcome)| outcome.processor_seconds).sum();
        Some(1e6 * seconds? / self.arrivals() as f64)
    }

    /// Steps a decision, as the planner counts them.
    #[must_use]
    pub fn steps(&self) -> f64 {
        let steps: u64 = self.by_seed.iter().map(|(_, outcome)| outcome.steps).sum();
        steps as f64 / self.arrivals() as f64
    }

    fn arrivals(&self) -> usize {
        self.by_seed.iter().map(|(_, outcome)| outcome.arrivals).sum::<usize>().max(1)
    }
}
