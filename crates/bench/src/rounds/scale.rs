//! What one round costs the planner, as jobs and classes grow.
//!
//! Jobs are drawn as those of the published generator are: one device in seven
//! of ten, gangs of 2, 4 and 8 in the others, and lengths over two decades. The
//! cluster has less than two thirds of what they ask for, so that the choice
//! matters.

use std::fmt::Write as _;
use std::time::Instant;

use fleet::{Powers, Rate, Span, Work};
use planner::apportion::worth::{Aim, Offer, Prospect};
use planner::apportion::{Claim, Lot, divide, steps_enough};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::case::{Case, Entry};
use super::clock::{Active, Scene};
use super::contender::policy;
use super::errors::Errors;
use super::product::Product;
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

/// The whole round as it is taken in use: the jobs arrive, devices are divided, and what was
/// granted is checked, explained and started. The gap is that of the division.
fn one(jobs: usize, classes: usize) -> Cost {
    let case = draw(jobs, classes);
    let active: Vec<Active> = (0..jobs)
        .map(|job| Active {
            job,
            steps: case.jobs[job].steps,
            held: None,
            served: 0.0,
            idle_since: 0.0,
        })
        .collect();
    let scene = Scene { case: &case, now: 0.0, active: &active, has_changed: true };
    let mut product = Product::new(policy("mean", 0.0), 0.0, Errors::NONE);
    let started = Instant::now();
    let placed = product.choose(&scene);
    let seconds = started.elapsed().as_secs_f64();
    assert!(placed.is_ok_and(|placed| !placed.is_empty()), "a round keeps the law");
    let claims: Vec<Claim> = case.jobs.iter().map(claim).collect();
    let division = divide(&claims, &case.capacity, steps_enough(&claims));
    let steps = product.toll.steps;
    Cost { jobs, classes, steps, gap_percent: 100.0 * division.gap(), seconds }
}

/// What a job would take, as the policy says.
fn claim(entry: &Entry) -> Claim {
    let offer = |(class, rate): (usize, &f64)| {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most one")]
        let rate = Rate((rate * 1e6) as u64);
        Offer { lot: Lot(class), devices: entry.devices, rate }
    };
    let allocate = policy("mean", 0.0).allocate;
    let powers = allocate.map_or(Powers::default(), |allocate| allocate.powers);
    Aim { powers, moving: Span::ZERO }.claim(&Prospect {
        remaining: Work(entry.steps.saturating_mul(1_000_000)),
        done: Work(0),
        age: Span::ZERO,
        offers: entry.rates.iter().enumerate().map(offer).collect(),
        held: None,
        ahead: Span::seconds(3600),
    })
}

/// Jobs that all arrive at once, and the devices of each class.
fn draw(jobs: usize, classes: usize) -> Case {
    let mut dice = ChaCha8Rng::seed_from_u64(SEED);
    let jobs_drawn = (0..jobs).map(|_| {
        let devices = match below(&mut dice, 20) {
            0..14 => 1,
            14..16 => 2,
            16..19 => 4,
            _ => 8,
        };
        let rate = |_| (100_000 + below(&mut dice, 900_000)) as f64 / 1e6;
        let rates: Vec<f64> = (0..classes).map(rate).collect();
        let seconds = 1800.0 * libm::pow(10.0, below(&mut dice, 2000) as f64 / 1000.0);
        let best = rates.iter().copied().fold(0.0, f64::max);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "days at most")]
        let steps = (seconds * best) as u64;
        Entry { arrival: 0.0, steps, devices, rates }
    });
    let jobs_drawn: Vec<_> = jobs_drawn.collect();
    let devices = u32::try_from(jobs * 6 / 5 / classes).unwrap_or(u32::MAX).max(8);
    Case {
        name: format!("{jobs}x{classes}"),
        models: (0..classes).map(|class| format!("model-{class}")).collect(),
        capacity: vec![devices; classes],
        jobs: jobs_drawn,
    }
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
        assert!(cost.steps < 800_000, "{cost:?}");
        let case = draw(1000, 3);
        let asked: u32 = case.jobs.iter().map(|entry| entry.devices).sum();
        assert!(asked > case.capacity.iter().sum::<u32>());
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
