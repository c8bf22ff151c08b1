//! Motley's planner in the rounds: it is asked at the start of each who runs on what.
//!
//! It knows of each job how much is left, how fast it runs on each class, and
//! where it runs now. With the lag of the reference it hears of arrivals only
//! when the reference would reckon its shares anew.

use std::time::Instant;

use fleet::{Rate, Span, Work};
use planner::apportion::worth::{Aim, Offer, Prospect};
use planner::apportion::{Claim, Lot, divide};

use super::case::Entry;
use super::clock::{Active, Placed, ROUND_SECONDS, Scene};

/// How many bids are looked at in a round in any case: enough to search what prices leave open of a
/// hundred jobs.
const STEPS_LEAST: u64 = 200_000;
/// How often each bid is looked at where there are more: the prices of thousands of jobs are then
/// found to a few hundredths of a per cent.
const LOOKS: u64 = 100;

/// How many bids are looked at in a round at most.
#[must_use]
pub fn steps_max(claims: &[Claim]) -> u64 {
    let bids: usize = claims.iter().map(|claim| claim.bids.len()).sum();
    STEPS_LEAST.max(LOOKS * bids as u64)
}

/// The planner, and what it has cost.
#[derive(Clone, Debug)]
pub struct Apportioner {
    aim: Aim,
    lag_seconds: f64,
    heard_at: f64,
    is_due: bool,
    /// The jobs from this one on it has not heard of.
    unheard: usize,
    /// What its rounds cost.
    pub toll: Toll,
}

/// What rounds cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Toll {
    /// How many rounds there were.
    pub rounds: u64,
    /// Bids looked at, over all rounds.
    pub steps: u64,
    /// Seconds, over all rounds.
    pub seconds: f64,
    /// The largest gap to the dual bound in a round, as a part of the bound.
    pub gap_max: f64,
    /// The sum of the gaps.
    pub gap_sum: f64,
}

impl Apportioner {
    /// A new one.
    #[must_use]
    pub fn new(aim: Aim, lag_seconds: f64) -> Self {
        let toll = Toll::default();
        Self { aim, lag_seconds, heard_at: 0.0, is_due: false, unheard: 0, toll }
    }

    /// Who runs in this round.
    pub fn choose(&mut self, scene: &Scene<'_>) -> Vec<Placed> {
        self.is_due |= scene.has_changed;
        if self.is_due && (self.heard_at == 0.0 || scene.now >= self.heard_at + self.lag_seconds) {
            self.heard_at = scene.now;
            self.is_due = false;
            self.unheard = scene.active.last().map_or(self.unheard, |one| one.job + 1);
        }
        let started = Instant::now();
        let known = scene.active.iter().take_while(|one| one.job < self.unheard);
        let prospects = known.map(|one| prospect(one, &scene.case.jobs[one.job]));
        let claims: Vec<_> = prospects.map(|one| self.aim.claim(&one)).collect();
        let division = divide(&claims, &scene.case.capacity, steps_max(&claims));
        self.toll.rounds += 1;
        self.toll.steps += division.steps;
        self.toll.seconds += started.elapsed().as_secs_f64();
        self.toll.gap_max = f64::max(self.toll.gap_max, division.gap());
        self.toll.gap_sum += division.gap();
        let granted = division.granted.iter().enumerate();
        let placed = granted.filter_map(|(active, place)| {
            let Lot(class) = claims[active].bids[(*place)?].lot;
            Some(Placed { active, class })
        });
        placed.collect()
    }

    /// Nothing runs and nothing will arrive: it hears of everything.
    pub fn force(&mut self) {
        self.heard_at = 0.0;
    }
}

/// A job as the planner sees it.
fn prospect(active: &Active, job: &Entry) -> Prospect {
    let micros = |rate: f64| Rate(micros(rate));
    let rates = job.rates.iter().enumerate();
    let offers = rates.map(|(class, rate)| Offer {
        lot: Lot(class),
        devices: job.devices,
        rate: micros(*rate),
    });
    let held = active.held.map(|class| (Lot(class), job.devices));
    let remaining = Work(active.steps.saturating_mul(1_000_000));
    Prospect { remaining, offers: offers.collect(), held, round: Span(micros_of_round()) }
}

fn micros_of_round() -> u64 {
    micros(ROUND_SECONDS)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
fn micros(number: f64) -> u64 {
    (number * 1e6).round() as u64
}
