//! Figures of a case that was played.

use super::case::Case;
use super::clock::Played;

/// What a policy came to on a trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Mean completion, in seconds.
    pub mean: f64,
    /// Percentiles of completion, in seconds: the 50th, 95th and 99th.
    pub percentiles: [f64; 3],
    /// When the last job was completed, in seconds since the first arrival.
    pub makespan: f64,
    /// How often a job was moved.
    pub moves: u64,
    /// The longest that a job waited at a time, in seconds.
    pub longest_wait: f64,
    /// Completion of each job, in seconds since its arrival.
    pub completions: Vec<f64>,
}

impl Figures {
    /// The figures.
    #[must_use]
    pub fn of(case: &Case, played: &Played) -> Self {
        let pairs = played.completed.iter().zip(&case.jobs);
        let completions: Vec<f64> = pairs.map(|(at, job)| at - job.arrival).collect();
        let mut sorted = completions.clone();
        sorted.sort_by(f64::total_cmp);
        Self {
            mean: completions.iter().sum::<f64>() / completions.len() as f64,
            percentiles: [0.5, 0.95, 0.99].map(|part| percentile(&sorted, part)),
            makespan: played.completed.iter().copied().fold(0.0, f64::max),
            moves: played.moves,
            longest_wait: played.longest_wait,
            completions,
        }
    }

    /// The largest ratio of a job's completion to what it is elsewhere.
    #[must_use]
    pub fn worst_against(&self, other: &Self) -> f64 {
        let pairs = self.completions.iter().zip(&other.completions);
        pairs.map(|(ours, theirs)| ours / theirs).fold(0.0, f64::max)
    }
}

/// Between the two values that are nearest, in proportion.
fn percentile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() as f64 - 1.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a place")]
    let below = place.max(0.0) as usize;
    match (sorted.get(below), sorted.get(below + 1)) {
        (Some(low), Some(high)) => low + (high - low) * (place - below as f64),
        (Some(low), None) => *low,
        _ => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_lie_between_neighbours() {
        let sorted = [1.0, 2.0, 3.0, 5.0];
        assert_eq!(percentile(&sorted, 0.5), 2.5);
        assert_eq!(percentile(&sorted, 1.0), 5.0);
        assert_eq!(percentile(&[7.0], 0.99), 7.0);
    }
}
