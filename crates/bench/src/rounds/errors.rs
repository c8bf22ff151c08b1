//! What Motley is told wrongly: rates and work that are not the true ones.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::case::Entry;
use crate::dice::below;

/// How wrong what is declared may be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Each declared rate is the true one by a factor drawn evenly from one less to one more than
    /// this part.
    pub rates: f64,
    /// Declared work is the true one by a factor of which the logarithm is drawn evenly, at most
    /// this and at least one divided by it.
    pub work: f64,
    /// Decides the draws.
    pub seed: u64,
}

impl Errors {
    /// Everything is as declared.
    pub const NONE: Self = Self { rates: 0.0, work: 1.0, seed: 0 };

    /// A job as it is declared.
    #[must_use]
    pub fn declared(&self, place: usize, entry: &Entry) -> Entry {
        if self.rates <= 0.0 && self.work <= 1.0 {
            return entry.clone();
        }
        let mut dice = ChaCha8Rng::seed_from_u64(self.seed);
        dice.set_stream(place as u64);
        // From minus one to one.
        let mut draw = || below(&mut dice, 2_000_001) as f64 / 1e6 - 1.0;
        let steps = entry.steps as f64 * libm::pow(f64::max(self.work, 1.0), draw());
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "above zero")]
        let steps = steps.round().max(1.0) as u64;
        let rates = entry.rates.iter().map(|rate| rate * (1.0 + self.rates * draw())).collect();
        Entry { steps, rates, ..entry.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_stay_within_their_bounds_and_reach_far() {
        let entry = Entry { arrival: 0.0, steps: 1_000_000, devices: 1, rates: vec![2.0, 0.0] };
        let errors = Errors { rates: 0.3, work: 2.0, seed: 1 };
        let drawn: Vec<Entry> = (0..500).map(|place| errors.declared(place, &entry)).collect();
        assert!(drawn.iter().all(|one| (500_000..=2_000_000).contains(&one.steps)));
        assert!(drawn.iter().all(|one| (1.4..=2.6).contains(&one.rates[0]) && one.rates[1] == 0.0));
        assert!(drawn.iter().any(|one| one.steps < 600_000));
        assert!(drawn.iter().any(|one| one.steps > 1_800_000));
        assert!(drawn.iter().any(|one| one.rates[0] < 1.5));
        assert_eq!(Errors::NONE.declared(7, &entry), entry);
    }
}
