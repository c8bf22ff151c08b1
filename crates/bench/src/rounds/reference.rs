//! Reference policies of Gavel's, written from their formulas: shares of time on each class.
//!
//! `thr` is the rate of a job on a class, `sf` its devices, `N` the devices of a
//! class, and `x` its share of time there, at least 0. In every policy a job's
//! shares add up to 1 at most, and what all jobs hold of a class in the mean is
//! no more than there is of it.
//!
//! | policy | shares |
//! | --- | --- |
//! | `fifo_perf` | by arrival, each job has all of its time on the class where it is fastest among those with room, until one finds no room; one that finds room only where it cannot run is passed over |
//! | `isolated` | `N / (m sf)` of `m` jobs, made smaller where they add up to more than 1 |
//! | `max_min_fairness` | the least of `sf Σ x` over the job's even part of the cluster is made as large as can be |
//! | `max_min_fairness_perf` | the same in work done: the least of `sf Σ thr x / prop`, `prop = Σ thr N / Σ N` |
//! | `max_sum_throughput_perf` | the sum of `thr x` is made as large as can be |

use super::case::Entry;
use super::program::{Program, Row};

/// For each job its share of time on each class.
pub type Shares = Vec<Vec<f64>>;

/// A reference policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reference {
    /// First come, first served, on the best class.
    FifoPerf,
    /// An equal part of the cluster for everyone.
    Isolated,
    /// Max-min fair in time.
    MaxMin,
    /// Max-min fair in work.
    MaxMinPerf,
    /// Most steps a second.
    MaxSumPerf,
}

impl Reference {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::FifoPerf, Self::Isolated, Self::MaxMin, Self::MaxMinPerf, Self::MaxSumPerf];

    /// Its published name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::FifoPerf => "fifo_perf",
            Self::Isolated => "isolated",
            Self::MaxMin => "max_min_fairness",
            Self::MaxMinPerf => "max_min_fairness_perf",
            Self::MaxSumPerf => "max_sum_throughput_perf",
        }
    }

    /// Whether classes are walked through in a drawn order: so it is for policies that know no
    /// rates.
    #[must_use]
    pub fn draws_order(self) -> bool {
        matches!(self, Self::Isolated | Self::MaxMin)
    }

    /// Whether jobs without a share run where there is room.
    #[must_use]
    pub fn fills(self) -> bool {
        self != Self::FifoPerf
    }

    /// The shares of these jobs, which are there by arrival.
    #[must_use]
    pub fn shares(self, jobs: &[&Entry], capacity: &[u32]) -> Shares {
        let ones = |job: &Entry| vec![1.0; job.rates.len()];
        match self {
            Self::FifoPerf => fifo(jobs, capacity),
            Self::Isolated => even(jobs, capacity),
            Self::MaxMin => max_min(jobs, capacity, ones),
            Self::MaxMinPerf => max_min(jobs, capacity, |job| job.rates.clone()),
            Self::MaxSumPerf => max_sum(jobs, capacity),
        }
    }
}

fn fifo(jobs: &[&Entry], capacity: &[u32]) -> Shares {
    let mut shares = vec![vec![0.0; capacity.len()]; jobs.len()];
    let mut room = capacity.to_vec();
    for (job, shares) in jobs.iter().zip(&mut shares) {
        let fits = (0..room.len()).filter(|class| room[*class] >= job.devices);
        // Of equal rates the first by name of the model wins, and the last in our order.
        let best = fits.max_by(|one, other| job.rates[*one].total_cmp(&job.rates[*other]));
        let Some(class) = best else { break };
        if job.rates[class] > 0.0 {
            room[class] -= job.devices;
            shares[class] = 1.0;
        }
    }
    shares
}

fn even(jobs: &[&Entry], capacity: &[u32]) -> Shares {
    let count = jobs.len() as f64;
    let of = |job: &&Entry| {
        let parts = capacity.iter().map(|devices| f64::from(*devices));
        let parts: Vec<_> = parts.map(|devices| devices / count / f64::from(job.devices)).collect();
        let whole = f64::max(parts.iter().sum(), 1.0);
        parts.iter().map(|part| part / whole).collect()
    };
    jobs.iter().map(of).collect()
}

fn max_min(jobs: &[&Entry], capacity: &[u32], rates: impl Fn(&Entry) -> Vec<f64>) -> Shares {
    let (classes, level) = (capacity.len(), jobs.len() * capacity.len());
    let mut program = lawful(jobs, capacity, level + 1);
    program.gains[level] = 1.0;
    let all: f64 = capacity.iter().map(|devices| f64::from(*devices)).sum();
    for (place, job) in jobs.iter().enumerate() {
        let rates = rates(job);
        let fleet = rates.iter().zip(capacity).map(|(rate, devices)| rate * f64::from(*devices));
        let due = fleet.sum::<f64>() / all;
        let mut row = Row { terms: vec![(level, 1.0)], most: 0.0 };
        for (class, rate) in rates.iter().enumerate() {
            row.terms.push((place * classes + class, -rate * f64::from(job.devices) / due));
        }
        program.rows.push(row);
    }
    shares_of(&program.solve(), jobs.len(), classes)
}

fn max_sum(jobs: &[&Entry], capacity: &[u32]) -> Shares {
    let classes = capacity.len();
    let mut program = lawful(jobs, capacity, jobs.len() * classes);
    for (place, job) in jobs.iter().enumerate() {
        program.gains[place * classes..][..classes].copy_from_slice(&job.rates);
    }
    shares_of(&program.solve(), jobs.len(), classes)
}

/// What holds in every policy: nobody has more than all of its time, no class is over full.
fn lawful(jobs: &[&Entry], capacity: &[u32], variables: usize) -> Program {
    let classes = capacity.len();
    let mut program = Program { gains: vec![0.0; variables], rows: Vec::new() };
    for (class, devices) in capacity.iter().enumerate() {
        let terms = jobs.iter().enumerate();
        let terms = terms.map(|(place, job)| (place * classes + class, f64::from(job.devices)));
        program.rows.push(Row { terms: terms.collect(), most: f64::from(*devices) });
    }
    for place in 0..jobs.len() {
        let terms = (0..classes).map(|class| (place * classes + class, 1.0)).collect();
        program.rows.push(Row { terms, most: 1.0 });
    }
    program
}

fn shares_of(values: &[f64], jobs: usize, classes: usize) -> Shares {
    let rows = values[..jobs * classes].chunks(classes);
    rows.map(|row| row.iter().map(|value| value.clamp(0.0, 1.0)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(devices: u32, rates: [f64; 2]) -> Entry {
        Entry { arrival: 0.0, steps: 1, devices, rates: rates.to_vec() }
    }

    fn shares(reference: Reference, jobs: &[Entry], capacity: [u32; 2]) -> Shares {
        let shares = reference.shares(&jobs.iter().collect::<Vec<_>>(), &capacity);
        let rounded = |share: &f64| (share * 1e3).round() / 1e3;
        shares.iter().map(|row| row.iter().map(rounded).collect()).collect()
    }

    #[test]
    fn first_come_takes_the_best_class_with_room_until_one_finds_none() {
        let jobs = [job(1, [1.0, 3.0]), job(1, [1.0, 3.0]), job(2, [9.0, 9.0]), job(1, [1.0, 1.0])];
        let found = shares(Reference::FifoPerf, &jobs, [2, 1]);
        assert_eq!(found, [[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]);
        // One that could only have what it cannot use keeps nobody waiting.
        let jobs = [job(1, [1.0, 0.0]), job(1, [1.0, 0.0]), job(1, [1.0, 1.0])];
        let found = shares(Reference::FifoPerf, &jobs, [1, 1]);
        assert_eq!(found, [[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]]);
    }

    #[test]
    fn an_equal_part_is_of_devices_and_at_most_all_of_the_time() {
        let jobs = [job(1, [1.0, 1.0]), job(2, [1.0, 1.0])];
        assert_eq!(shares(Reference::Isolated, &jobs, [2, 4]), [[0.333, 0.667], [0.333, 0.667]]);
        assert_eq!(shares(Reference::Isolated, &jobs, [1, 1]), [[0.5, 0.5], [0.25, 0.25]]);
    }

    #[test]
    fn the_least_work_done_is_made_as_large_as_can_be() {
        // Each is four times as fast on a class of its own.
        let jobs = [job(1, [4.0, 1.0]), job(1, [1.0, 4.0])];
        assert_eq!(shares(Reference::MaxMinPerf, &jobs, [1, 1]), [[1.0, 0.0], [0.0, 1.0]]);
        assert_eq!(shares(Reference::MaxMin, &jobs, [1, 1]), [[0.5, 0.5], [0.5, 0.5]]);
    }

    #[test]
    fn the_most_steps_are_taken_by_those_whose_steps_are_small() {
        let jobs = [job(1, [10.0, 9.0]), job(1, [2.0, 0.5])];
        assert_eq!(shares(Reference::MaxSumPerf, &jobs, [1, 1]), [[0.0, 1.0], [1.0, 0.0]]);
    }
}
