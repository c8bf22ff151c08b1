//! What one round costs the planner, as jobs and classes grow.
//!
//! Jobs are drawn as those of the published generator are: one device in seven
//! of ten, gangs of 2, 4 and 8 in the others, and lengths over two decades. The
//! cluster has less than two thirds of what they ask for, so that the choice
//! matters.

use std::fmt::Write as _;
use std::time::Instant;

use fleet::{Rate, Span, Work};
use planner::apportion::worth::{Aim, Offer, Prospect};
use planner::apportion::{Claim, Lot, divide};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::apportioner::steps_max;
use crate::dice::below;
use crate::record::{Aim as Goal, Record};

/// How many jobs.
const JOBS: [usize; 4] = [100, 1000, 2000, 5000];
/// How many classes.
const CLASSES: [usize; 2] = [3, 8];
/// Seconds that a round of 2,000 jobs may take on one core.
const SECONDS_MOST: (usize, f64) = (2000, 1.0);
/// Draws the jobs; any other would do.
const SEED: u64 = 7;

/// What one round cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    jobs: usize,
    classes: usize,
    steps: u64,
    gap_percent: f64,
    seconds: f64,
}

/// Measures every size.
#[must_use]
pub fn measure() -> Vec<Cost> {
    let sizes = CLASSES.iter().flat_map(|classes| JOBS.iter().map(move |jobs| (*jobs, *classes)));
    sizes.map(|(jobs, classes)| one(jobs, classes)).collect()
}

fn one(jobs: usize, classes: usize) -> Cost {
    let (claims, capacity) = draw(jobs, classes);
    let started = Instant::now();
    let division = divide(&claims, &capacity, steps_max(&claims));
    let seconds = started.elapsed().as_secs_f64();
    Cost { jobs, classes, steps: division.steps, gap_percent: 100.0 * division.gap(), seconds }
}

/// Claims, and the devices of each class.
fn draw(jobs: usize, classes: usize) -> (Vec<Claim>, Vec<u32>) {
    let mut dice = ChaCha8Rng::seed_from_u64(SEED);
    let claims = (0..jobs).map(|_| {
        let devices = match below(&mut dice, 20) {
            0..14 => 1,
            14..16 => 2,
            16..19 => 4,
            _ => 8,
        };
        let mut offer = |class| {
            let rate = Rate(100_000 + below(&mut dice, 900_000) as u64);
            Offer { lot: Lot(class), devices, rate }
        };
        let offers: Vec<_> = (0..classes).map(&mut offer).collect();
        let seconds = 1800.0 * libm::pow(10.0, below(&mut dice, 2000) as f64 / 1000.0);
        let best = offers.iter().map(|offer| offer.rate.0).max().unwrap_or_default();
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "days at most")]
        let remaining = Work((seconds * best as f64) as u64);
        Aim::MEAN.claim(&Prospect { remaining, offers, held: None, round: Span::seconds(360) })
    });
    let claims: Vec<_> = claims.collect();
    let devices = u32::try_from(jobs * 6 / 5 / classes).unwrap_or(u32::MAX).max(8);
    (claims, vec![devices; classes])
}

/// The costs as text.
#[must_use]
pub fn text(costs: &[Cost]) -> String {
    let mut text = "one round of mean, on one thread\n".to_owned();
    for cost in costs {
        let _ = writeln!(
            text,
            "{:>6} jobs on {} classes: {:>8} steps, {:.3} % to the dual bound, {:.3} s",
            cost.jobs, cost.classes, cost.steps, cost.gap_percent, cost.seconds
        );
    }
    text
}

/// The costs as records, by the number of jobs; of eight classes with their number.
#[must_use]
pub fn records(costs: &[Cost]) -> Vec<Record> {
    let of = |cost: &Cost| {
        let size = match cost.classes {
            3 => cost.jobs.to_string(),
            classes => format!("{}x{classes}", cost.jobs),
        };
        let (jobs, most) = SECONDS_MOST;
        let goal = (cost.jobs == jobs).then_some(Goal::Most(most));
        [
            Record::new(format!("seconds_per_round.{size}"), cost.seconds, "s", goal),
            Record::new(format!("dual_gap_pct.{size}"), cost.gap_percent, "%", None),
            Record::new(format!("steps_per_round.{size}"), cost.steps as f64, "steps", None),
        ]
    };
    costs.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_jobs_are_divided_near_the_bound() {
        let cost = one(1000, 3);
        assert!(cost.gap_percent < 0.5, "{cost:?}");
        assert!(cost.steps < 400_000, "{cost:?}");
        let (claims, capacity) = draw(1000, 3);
        let asked: u32 = claims.iter().map(|claim| claim.bids[0].devices).sum();
        assert!(asked > capacity.iter().sum::<u32>());
    }

    #[test]
    fn records_are_named_by_size_and_only_one_has_an_aim() {
        let cost = Cost { jobs: 2000, classes: 3, steps: 9, gap_percent: 0.5, seconds: 0.25 };
        let wide = Cost { jobs: 100, classes: 8, ..cost };
        let records = records(&[cost, wide]);
        let names: Vec<_> = records.iter().map(|record| record.name.as_str()).collect();
        assert_eq!(names[..2], ["seconds_per_round.2000", "dual_gap_pct.2000"]);
        assert_eq!(names[3], "seconds_per_round.100x8");
        assert_eq!((records[0].met, records[3].met), (Some(true), None));
    }
}
