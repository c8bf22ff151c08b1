//! What it is worth to a policy that a job runs on something for a round.
//!
//! For a job with the work `left`, which runs at `rate` on an alternative and
//! at `best` on the alternative where it is fastest:
//!
//! `worth = (rate / best)^fitness × (hour / (left / best))^brevity × stay`
//!
//! The first factor is how much of its best the job gets; the second prefers
//! jobs that are soon done where `brevity` is above zero, and jobs that are not
//! where it is below. It is the worth of all devices of a gang together: a gang
//! of four must gain as much as four others that could run in its place. `stay`
//! is what moving costs, as a part of the time for which the job is expected to
//! be where it is moved to: what goes on where it runs gains by it, and what ran
//! elsewhere loses it.

use fleet::{Milli, Rate, Span, Work};

use super::{Bid, Claim, Lot, WORTH_MAX};

/// What a policy wants of the rounds, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    /// The power to which the part of the best rate counts.
    pub fitness: Milli,
    /// The power to which being soon done counts, in thousandths; below zero, being long.
    pub brevity: i32,
    /// What a job loses each time it is moved to another class, or begins again.
    pub moving: Span,
}

/// What could be given to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The class.
    pub lot: Lot,
    /// How many devices of it.
    pub devices: u32,
    /// How fast the whole job runs on them; zero where it cannot.
    pub rate: Rate,
}

/// A job whose share of the fleet is in question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prospect {
    /// What is left to do.
    pub remaining: Work,
    /// What could be given to it.
    pub offers: Vec<Offer>,
    /// The class and devices that it holds now.
    pub held: Option<(Lot, u32)>,
    /// For how long is decided.
    pub round: Span,
}

/// The worth of an hour's work at the best rate: far from zero and from the largest worth.
const HOUR_WORTH: f64 = 1e8;
/// The unit in which what is left is measured.
const HOUR_SECONDS: f64 = 3600.0;
/// For how many rounds a job is expected to stay where it is put, unless it ends sooner: moves that
/// take most of a round still pay where they bring hours on a better class. Between 3 and 30 little
/// depends on it.
const ROUNDS_AHEAD: f64 = 10.0;
/// No power of a policy is beyond this; larger ones would leave only the extremes in order.
const POWER_MAX: f64 = 4.0;

impl Aim {
    /// The mean completion time is small. Tuned on two of four traces: both powers matter little
    /// between a quarter and a half.
    pub const MEAN: Self = Self { fitness: Milli(1000), brevity: 400, moving: Span::ZERO };
    /// The mean is small, and long jobs are held back less.
    pub const MEAN_FAIR: Self = Self { fitness: Milli(1000), brevity: 250, moving: Span::ZERO };
    /// The last job ends early: what has most to do goes first, where it fits best.
    pub const MAKESPAN: Self = Self { fitness: Milli(2000), brevity: -1000, moving: Span::ZERO };
    /// As much of the best rates as can be had at each moment.
    pub const THROUGHPUT: Self = Self { fitness: Milli(1000), brevity: 0, moving: Span::ZERO };

    /// The same where moving costs so much.
    #[must_use]
    pub fn with_moving(self, moving: Span) -> Self {
        Self { moving, ..self }
    }

    /// What a job would take, with the worth of each; offers on which it cannot run are worth
    /// nothing. Bids are in the order of the offers.
    #[must_use]
    pub fn claim(&self, prospect: &Prospect) -> Claim {
        let best = prospect.offers.iter().map(|offer| offer.rate).max().unwrap_or_default();
        let left = prospect.remaining.duration(best).map_or(0.0, Span::as_seconds);
        let power = (f64::from(self.brevity) / 1e3).clamp(-POWER_MAX, POWER_MAX);
        // Less than a microsecond is left of no job that is not done.
        let urgency = libm::pow(HOUR_SECONDS / f64::max(left, 1e-6), power);
        let bid = |offer: &Offer| {
            let worth = match offer.rate.is_zero() || prospect.remaining.is_zero() {
                true => 0,
                false => whole(urgency * self.fit(offer, best) * self.stay(offer, prospect)),
            };
            Bid { lot: offer.lot, devices: offer.devices, worth }
        };
        Claim { bids: prospect.offers.iter().map(bid).collect() }
    }

    fn fit(&self, offer: &Offer, best: Rate) -> f64 {
        let power = f64::min(f64::from(self.fitness.0) / 1e3, POWER_MAX);
        libm::pow(offer.rate.0 as f64 / best.0 as f64, power)
    }

    fn stay(&self, offer: &Offer, prospect: &Prospect) -> f64 {
        let left = prospect.remaining.duration(offer.rate).unwrap_or_default();
        let ahead = f64::min(left.as_seconds(), ROUNDS_AHEAD * prospect.round.as_seconds());
        let moving = self.moving.as_seconds();
        let lost = if moving > 0.0 { moving / (moving + ahead) } else { 0.0 };
        match prospect.held {
            Some(held) if held == (offer.lot, offer.devices) => 1.0 + lost,
            Some(_) => 1.0 - lost,
            None => 1.0,
        }
    }
}

/// What can run is worth something.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within bounds")]
fn whole(worth: f64) -> u64 {
    (worth * HOUR_WORTH).clamp(1.0, WORTH_MAX as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job with so many seconds left at its best rate, which it has on the first of two classes;
    /// on the second it runs half as fast.
    fn prospect(seconds: u64) -> Prospect {
        let offer = |lot, rate| Offer { lot: Lot(lot), devices: 1, rate: Rate(rate) };
        Prospect {
            remaining: Work(seconds * 2_000_000),
            offers: vec![offer(0, 2_000_000), offer(1, 1_000_000)],
            held: None,
            round: Span::seconds(360),
        }
    }

    fn worths(aim: Aim, prospect: &Prospect) -> Vec<u64> {
        aim.claim(prospect).bids.iter().map(|bid| bid.worth).collect()
    }

    #[test]
    fn an_hour_at_the_best_rate_is_worth_the_same_to_every_aim() {
        for aim in [Aim::MEAN, Aim::MAKESPAN, Aim::THROUGHPUT] {
            assert_eq!(worths(aim, &prospect(3600))[0], 100_000_000);
        }
    }

    #[test]
    fn the_part_of_the_best_rate_counts_by_its_power() {
        assert_eq!(worths(Aim::MEAN, &prospect(3600))[1], 50_000_000);
        assert_eq!(worths(Aim::MAKESPAN, &prospect(3600))[1], 25_000_000);
    }

    #[test]
    fn what_is_soon_done_goes_first_or_last_as_the_policy_says() {
        let (short, long) = (prospect(60), prospect(36_000));
        assert!(worths(Aim::MEAN, &short)[0] > worths(Aim::MEAN, &long)[0]);
        assert!(worths(Aim::MAKESPAN, &short)[0] < worths(Aim::MAKESPAN, &long)[0]);
        assert_eq!(worths(Aim::THROUGHPUT, &short), worths(Aim::THROUGHPUT, &long));
        // Four times as long with a power of a half is worth half as much.
        let half = Aim { brevity: 500, ..Aim::MEAN };
        assert_eq!(worths(half, &prospect(14_400))[0], 50_000_000);
    }

    #[test]
    fn moving_costs_its_part_of_the_time_ahead_and_staying_saves_it() {
        // An hour is left at the best rate and two at the other, of which ten rounds count.
        let aim = Aim::MEAN.with_moving(Span::seconds(400));
        assert_eq!(worths(aim, &prospect(3600)), [100_000_000, 50_000_000]);
        let held = Prospect { held: Some((Lot(1), 1)), ..prospect(3600) };
        assert_eq!(worths(aim, &held), [90_000_000, 55_000_000]);
        assert_eq!(worths(Aim::MEAN, &held), [100_000_000, 50_000_000]);
        // What is soon done does not pay for a move.
        let short = Prospect { held: Some((Lot(1), 1)), ..prospect(100) };
        let [moved, stayed] = worths(aim, &short)[..] else { panic!("two bids") };
        assert!(moved < stayed, "{moved} {stayed}");
    }

    #[test]
    fn what_cannot_run_or_is_done_is_worth_nothing() {
        let mut none = prospect(3600);
        none.offers[1].rate = Rate(0);
        assert_eq!(worths(Aim::MEAN, &none), [100_000_000, 0]);
        none.offers[0].rate = Rate(0);
        assert_eq!(worths(Aim::MEAN, &none), [0, 0]);
        assert_eq!(worths(Aim::MEAN, &prospect(0)), [0, 0]);
    }

    #[test]
    fn what_can_run_is_worth_something_at_every_extreme() {
        let long = Prospect { remaining: Work(u64::MAX), ..prospect(1) };
        for brevity in [i32::MIN, -4000, 4000, i32::MAX] {
            let aim = Aim { fitness: Milli(u32::MAX), brevity, moving: Span::ZERO };
            for prospect in [&long, &prospect(1)] {
                let worths = worths(aim, prospect);
                assert!(worths.iter().all(|worth| (1..=WORTH_MAX).contains(worth)), "{worths:?}");
            }
        }
    }
}
