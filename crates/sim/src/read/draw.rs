//! Dice for the reader: the same on every machine, for ever.
//!
//! Each user has dice of its own, by seed, purpose and name, so that one more
//! entry does not reshuffle the others. Only integers are used: a logarithm
//! may differ between machines in its last bit.

use fleet::{Milli, Span, Work};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::dice::fingerprint;

/// One sequence of numbers.
pub(super) struct Dice(ChaCha8Rng);

impl Dice {
    /// The dice for this purpose and name.
    pub(super) fn new(seed: u64, purpose: &str, name: &str) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(fingerprint(&[purpose, name]));
        Self(rng)
    }

    /// A span from the exponential distribution with this mean.
    ///
    /// After von Neumann (1951): draw until a number is not below the one before it. The first of
    /// them is kept where the falls before that were even in number, which has probability e^−x for
    /// a first number x; otherwise one whole mean is added and all is drawn again.
    pub(super) fn exponential(&mut self, mean: Span) -> Span {
        let mut wholes = Span::ZERO;
        loop {
            let first = self.0.next_u64();
            let (mut last, mut falls) = (first, 0_u32);
            loop {
                let next = self.0.next_u64();
                if next >= last {
                    break;
                }
                (last, falls) = (next, falls + 1);
            }
            if falls.is_multiple_of(2) {
                return wholes.saturating_add(Span(part(mean.0, first)));
            }
            wholes = wholes.saturating_add(mean);
        }
    }

    /// The work times a factor drawn evenly from 1 − spread … 1 + spread, in millionths; at least
    /// the least work there is.
    pub(super) fn spread(&mut self, work: Work, spread: Milli) -> Work {
        let spread = u64::from(spread.0) * 1000;
        let factor = 1_000_000 - spread + part(2 * spread + 1, self.0.next_u64());
        let product = u128::from(work.0) * u128::from(factor) / 1_000_000;
        Work(u64::try_from(product).unwrap_or(u64::MAX).max(1))
    }
}

/// `whole` times `fraction` ÷ 2^64, rounded down.
fn part(whole: u64, fraction: u64) -> u64 {
    let scaled = (u128::from(whole) * u128::from(fraction)) >> 64;
    u64::try_from(scaled).expect("less than `whole`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_spans_have_the_mean_and_the_tail_of_their_distribution() {
        let mut dice = Dice::new(7, "test", "mean");
        let draws: Vec<u64> = (0..100_000).map(|_| dice.exponential(Span::seconds(10)).0).collect();
        let mean = draws.iter().sum::<u64>() / 100_000;
        assert!((9_900_000..10_100_000).contains(&mean), "mean {mean}");
        let beyond_two_means = draws.iter().filter(|span| **span > 20_000_000).count();
        // e^-2 of them: 13,534 of 100,000.
        assert!((13_200..13_900).contains(&beyond_two_means), "{beyond_two_means}");
    }

    #[test]
    fn spread_stays_within_its_bounds_and_reaches_near_them() {
        let mut dice = Dice::new(7, "test", "spread");
        let draws: Vec<u64> =
            (0..10_000).map(|_| dice.spread(Work(1_000_000), Milli(500)).0).collect();
        let (least, most) = (draws.iter().min().unwrap(), draws.iter().max().unwrap());
        assert!((500_000..501_000).contains(least) && (1_499_000..=1_500_000).contains(most));
        assert_eq!(dice.spread(Work(5), Milli(0)), Work(5));
    }

    #[test]
    fn purposes_and_names_have_dice_of_their_own() {
        let first = |seed, purpose, name| Dice::new(seed, purpose, name).0.next_u64();
        let base = first(1, "a", "b");
        assert_eq!(base, first(1, "a", "b"));
        for other in
            [first(2, "a", "b"), first(1, "b", "b"), first(1, "a", "c"), first(1, "ab", "")]
        {
            assert_ne!(base, other);
        }
    }
}
