//! What it is worth to a policy that a job runs on something for a while.
//!
//! For a job with the work `left`, which runs at `rate` on an alternative and
//! at `best` on the alternative where it is fastest, which arrived an `age` ago
//! and was `served` what it has done would have taken at the best rate:
//!
//! `worth = fit^fitness × brief^brevity × lack^lack × slow^slowdown × stay`
//!
//! - `fit = rate ÷ best`: how much of its best the job gets;
//! - `brief = hour ÷ (left ÷ best)`: it is soon done;
//! - `lack = (age + hour) ÷ (served + hour)`: it has got little of its time, where the
//!   hour keeps what has just arrived from going before all;
//! - `slow = (age + left ÷ best) ÷ (served + left ÷ best)`: how many times longer it takes
//!   than it would have taken alone, if it had the best from now on.
//!
//! The powers are the policy's. It is the worth of all devices of a gang together: a gang
//! of four must gain as much as four others that could run in its place. `stay`
//! is what moving costs, as a part of the time for which the job is expected to
//! be where it is moved to: what goes on where it runs gains by it, and what ran
//! elsewhere loses it.

use fleet::{Powers, Rate, Span, Work};

use super::{Bid, Claim, Lot, WORTH_MAX};

/// What a policy wants of a division, as data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Aim {
    /// The powers of what makes a share worth something.
    pub powers: Powers,
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
    /// What it has done.
    pub done: Work,
    /// How long ago it arrived.
    pub age: Span,
    /// What could be given to it.
    pub offers: Vec<Offer>,
    /// The position of the offer that it has now.
    pub held: Option<usize>,
    /// For how long it is expected to stay where it is put, unless it ends sooner.
    pub ahead: Span,
}

/// The worth of an hour's work at the best rate: far from zero and from the largest worth.
const HOUR_WORTH: f64 = 1e8;
/// The unit in which times are measured.
const HOUR_SECONDS: f64 = 3600.0;
/// Less than that is left of no job that is not done.
const LEAST_SECONDS: f64 = 1e-6;

impl Aim {
    /// What a job would take, with the worth of each; offers on which it cannot run are worth
    /// nothing. Bids are in the order of the offers.
    #[must_use]
    pub fn claim(&self, prospect: &Prospect) -> Claim {
        let best = prospect.offers.iter().map(|offer| offer.rate).max().unwrap_or_default();
        let want = self.want(prospect, best);
        let bid = |(place, offer): (usize, &Offer)| {
            let worth = match offer.rate.is_zero() || prospect.remaining.is_zero() {
                true => 0,
                false => whole(want * self.fit(offer, best) * self.stay(place, prospect)),
            };
            Bid { lot: offer.lot, devices: offer.devices, worth }
        };
        Claim { bids: prospect.offers.iter().enumerate().map(bid).collect() }
    }

    /// What it is worth that the job runs at all.
    fn want(&self, prospect: &Prospect, best: Rate) -> f64 {
        let Powers { brevity, lack, slowdown, .. } = self.powers;
        let seconds = |work: Work| work.duration(best).map_or(0.0, Span::as_seconds);
        let left = f64::max(seconds(prospect.remaining), LEAST_SECONDS);
        let (served, age) = (seconds(prospect.done), prospect.age.as_seconds());
        let lacks = (age + HOUR_SECONDS) / (served + HOUR_SECONDS);
        // What is reckoned by rates that are too high may have got more than its age allows.
        let slow = f64::max((age + left) / (served + left), LEAST_SECONDS);
        raised(HOUR_SECONDS / left, brevity) * raised(lacks, lack) * raised(slow, slowdown)
    }

    fn fit(&self, offer: &Offer, best: Rate) -> f64 {
        raised(offer.rate.0 as f64 / best.0 as f64, self.powers.fitness)
    }

    fn stay(&self, place: usize, prospect: &Prospect) -> f64 {
        let left = prospect.remaining.duration(prospect.offers[place].rate).unwrap_or_default();
        let ahead = f64::min(left.as_seconds(), prospect.ahead.as_seconds());
        let moving = self.moving.as_seconds();
        let lost = if moving > 0.0 { moving / (moving + ahead) } else { 0.0 };
        match prospect.held {
            Some(held) if held == place => 1.0 + lost,
            Some(_) => 1.0 - lost,
            None => 1.0,
        }
    }
}

/// A number above zero to a power in thousandths; exactly one where the power is zero.
fn raised(base: f64, thousandths: i32) -> f64 {
    if thousandths == 0 {
        return 1.0;
    }
    libm::pow(base, f64::from(thousandths.clamp(-Powers::MAX, Powers::MAX)) / 1e3)
}

/// What can run is worth something.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within bounds")]
fn whole(worth: f64) -> u64 {
    (worth * HOUR_WORTH).clamp(1.0, WORTH_MAX as f64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEAN: Powers = Powers { fitness: 1000, brevity: 400, lack: 0, slowdown: 0 };
    const MAKESPAN: Powers = Powers { fitness: 2000, brevity: -1000, lack: 0, slowdown: 0 };
    const THROUGHPUT: Powers = Powers { fitness: 1000, brevity: 0, lack: 0, slowdown: 0 };

    /// A job with so many seconds left at its best rate, which it has on the first of two classes;
    /// on the second it runs half as fast.
    fn prospect(seconds: u64) -> Prospect {
        let offer = |lot, rate| Offer { lot: Lot(lot), devices: 1, rate: Rate(rate) };
        Prospect {
            remaining: Work(seconds * 2_000_000),
            done: Work(0),
            age: Span::ZERO,
            offers: vec![offer(0, 2_000_000), offer(1, 1_000_000)],
            held: None,
            ahead: Span::seconds(3600),
        }
    }

    fn worths(powers: Powers, prospect: &Prospect) -> Vec<u64> {
        worths_moving(powers, 0, prospect)
    }

    fn worths_moving(powers: Powers, seconds: u64, prospect: &Prospect) -> Vec<u64> {
        let aim = Aim { powers, moving: Span::seconds(seconds) };
        aim.claim(prospect).bids.iter().map(|bid| bid.worth).collect()
    }

    #[test]
    fn an_hour_at_the_best_rate_is_worth_the_same_to_every_aim() {
        for powers in [MEAN, MAKESPAN, THROUGHPUT, Powers::default()] {
            assert_eq!(worths(powers, &prospect(3600))[0], 100_000_000);
        }
    }

    #[test]
    fn the_part_of_the_best_rate_counts_by_its_power() {
        assert_eq!(worths(MEAN, &prospect(3600))[1], 50_000_000);
        assert_eq!(worths(MAKESPAN, &prospect(3600))[1], 25_000_000);
        assert_eq!(worths(Powers::default(), &prospect(3600))[1], 100_000_000);
    }

    #[test]
    fn what_is_soon_done_goes_first_or_last_as_the_policy_says() {
        let (short, long) = (prospect(60), prospect(36_000));
        assert!(worths(MEAN, &short)[0] > worths(MEAN, &long)[0]);
        assert!(worths(MAKESPAN, &short)[0] < worths(MAKESPAN, &long)[0]);
        assert_eq!(worths(THROUGHPUT, &short), worths(THROUGHPUT, &long));
        // Four times as long with a power of a half is worth half as much.
        let half = Powers { brevity: 500, ..MEAN };
        assert_eq!(worths(half, &prospect(14_400))[0], 50_000_000);
    }

    #[test]
    fn who_has_got_little_of_its_time_goes_first_where_lack_counts() {
        let lack = Powers { lack: 1000, ..THROUGHPUT };
        // Three hours after it arrived, with nothing done and with an hour at the best rate done.
        let idle = Prospect { age: Span::seconds(10_800), ..prospect(3600) };
        let served = Prospect { done: Work(3600 * 2_000_000), ..idle.clone() };
        assert_eq!(worths(lack, &idle)[0], 400_000_000);
        assert_eq!(worths(lack, &served)[0], 200_000_000);
        assert_eq!(worths(THROUGHPUT, &idle), worths(THROUGHPUT, &served));
        let against = Powers { lack: -1000, ..THROUGHPUT };
        assert_eq!(worths(against, &idle)[0], 25_000_000);
    }

    #[test]
    fn who_is_held_up_the_most_goes_first_where_slowdown_counts() {
        let slowdown = Powers { slowdown: 1000, ..THROUGHPUT };
        // An hour's work that waits for an hour takes twice as long; ten hours' work does not.
        let aged = |seconds| Prospect { age: Span::seconds(3600), ..prospect(seconds) };
        assert_eq!(worths(slowdown, &aged(3600))[0], 200_000_000);
        assert_eq!(worths(slowdown, &aged(36_000))[0], 110_000_000);
        // What has run all the time is not held up.
        let served = Prospect { done: Work(3600 * 2_000_000), ..aged(3600) };
        assert_eq!(worths(slowdown, &served)[0], 100_000_000);
    }

    #[test]
    fn moving_costs_its_part_of_the_time_ahead_and_staying_saves_it() {
        // An hour is left at the best rate and two at the other, of which one counts.
        assert_eq!(worths_moving(MEAN, 400, &prospect(3600)), [100_000_000, 50_000_000]);
        let held = Prospect { held: Some(1), ..prospect(3600) };
        assert_eq!(worths_moving(MEAN, 400, &held), [90_000_000, 55_000_000]);
        assert_eq!(worths(MEAN, &held), [100_000_000, 50_000_000]);
        // What is soon done does not pay for a move.
        let short = Prospect { held: Some(1), ..prospect(100) };
        let [moved, stayed] = worths_moving(MEAN, 400, &short)[..] else { panic!("two bids") };
        assert!(moved < stayed, "{moved} {stayed}");
        // Where it is expected to stay for longer a move costs less.
        let long = Prospect { held: Some(1), ..prospect(36_000) };
        let longer = Prospect { ahead: Span::seconds(36_000), ..long.clone() };
        assert!(worths_moving(MEAN, 400, &longer)[0] > worths_moving(MEAN, 400, &long)[0]);
    }

    #[test]
    fn what_cannot_run_or_is_done_is_worth_nothing() {
        let mut none = prospect(3600);
        none.offers[1].rate = Rate(0);
        assert_eq!(worths(MEAN, &none), [100_000_000, 0]);
        none.offers[0].rate = Rate(0);
        assert_eq!(worths(MEAN, &none), [0, 0]);
        assert_eq!(worths(MEAN, &prospect(0)), [0, 0]);
    }

    #[test]
    fn what_can_run_is_worth_something_at_every_extreme() {
        let long = Prospect { remaining: Work(u64::MAX), age: Span(u64::MAX), ..prospect(1) };
        let done = Prospect { done: Work(u64::MAX), ..prospect(1) };
        for power in [i32::MIN, -4000, 4000, i32::MAX] {
            let powers = Powers { fitness: power, brevity: power, lack: power, slowdown: power };
            for prospect in [&long, &done, &prospect(1)] {
                let worths = worths(powers, prospect);
                assert!(worths.iter().all(|worth| (1..=WORTH_MAX).contains(worth)), "{worths:?}");
            }
        }
    }
}
