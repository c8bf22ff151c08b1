//! Who won, by how much.
//!
//! [`compare`] puts policies side by side on one workload; [`paired`] does so
//! over several seeds, each seed against itself.

use serde::Serialize;

use super::{Summary, mean};

/// Which end of a figure is good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Better {
    /// Smaller values win.
    Less,
    /// Larger values win.
    More,
}

/// A figure by which policies are compared.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its name, with the unit at its end.
    pub name: &'static str,
    /// Which end is good.
    pub better: Better,
    /// Its value.
    pub value: fn(&Summary) -> f64,
}

/// The figures by which policies are compared, in the order of reports.
pub const FIGURES: [Figure; 18] = [
    less("completion_seconds_mean", |it| it.completion_seconds.mean),
    less("completion_seconds_p50", |it| it.completion_seconds.p50),
    less("completion_seconds_p95", |it| it.completion_seconds.p95),
    less("completion_seconds_max", |it| it.completion_seconds.max),
    less("wait_seconds_mean", |it| it.wait_seconds.mean),
    less("wait_seconds_p95", |it| it.wait_seconds.p95),
    less("slowdown_mean", |it| it.slowdown_mean),
    less("makespan_seconds", |it| it.makespan_seconds),
    more("gpu_utilisation", |it| it.gpu_utilisation),
    more("device_utilisation", |it| it.device_utilisation),
    more("core_utilisation", |it| it.core_utilisation),
    less("energy_joules", |it| it.energy_joules),
    more("work_per_joule", |it| it.work_per_joule),
    less("deadline_misses", |it| it.deadline_misses as f64),
    more("fairness", |it| it.fairness),
    more("fairness_jain", |it| it.fairness_jain),
    less("tasks_misplaced", |it| it.tasks_misplaced as f64),
    more("tasks_done", |it| it.tasks_done as f64),
];

const fn less(name: &'static str, value: fn(&Summary) -> f64) -> Figure {
    Figure { name, better: Better::Less, value }
}

const fn more(name: &'static str, value: fn(&Summary) -> f64) -> Figure {
    Figure { name, better: Better::More, value }
}

/// One figure of several policies on one workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The figure's name.
    pub figure: &'static str,
    /// Which end is good.
    pub better: Better,
    /// The value of each policy, in the order given.
    pub values: Vec<f64>,
    /// Each value ÷ the best one; none where that is zero.
    pub of_best: Vec<Option<f64>>,
    /// Each value ÷ the first policy's; none where that is zero.
    pub of_first: Vec<Option<f64>>,
    /// The policy with the best value; the first of equals.
    pub best: usize,
    /// Whether another policy has the same value.
    pub is_tied: bool,
}

/// Compares policies, figure by figure. Nothing to compare gives nothing.
#[must_use]
pub fn compare(summaries: &[Summary]) -> Vec<Comparison> {
    if summaries.is_empty() {
        return Vec::new();
    }
    FIGURES.iter().map(|figure| comparison(figure, summaries)).collect()
}

fn comparison(figure: &Figure, summaries: &[Summary]) -> Comparison {
    let values: Vec<f64> = summaries.iter().map(figure.value).collect();
    let mut best = 0;
    for (index, value) in values.iter().enumerate() {
        if figure.better.wins(*value, values[best]) {
            best = index;
        }
    }
    let of = |whole: f64| {
        let part = |value: &f64| (whole != 0.0).then(|| value / whole);
        values.iter().map(part).collect::<Vec<_>>()
    };
    let equals = values.iter().filter(|value| **value == values[best]).count();
    Comparison {
        figure: figure.name,
        better: figure.better,
        of_best: of(values[best]),
        of_first: of(values[0]),
        best,
        is_tied: equals > 1,
        values,
    }
}

impl Better {
    /// Whether `one` is better than `other`.
    #[must_use]
    pub fn wins(self, one: f64, other: f64) -> bool {
        match self {
            Self::Less => one < other,
            Self::More => one > other,
        }
    }
}

/// One figure of two policies over several seeds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Paired {
    /// The figure's name.
    pub figure: &'static str,
    /// Which end is good.
    pub better: Better,
    /// The first policy's mean over the seeds.
    pub first_mean: f64,
    /// The other policy's mean over the seeds.
    pub other_mean: f64,
    /// First less other, seed by seed: the mean.
    pub difference_mean: f64,
    /// The least difference.
    pub difference_min: f64,
    /// The largest difference.
    pub difference_max: f64,
    /// How many seeds there are.
    pub seeds: usize,
    /// On how many the first policy is better.
    pub seeds_won: usize,
    /// On how many both are equal.
    pub seeds_tied: usize,
}

/// Compares two policies over seeds, seed by seed.
///
/// # Panics
/// If the two were not run with the same seeds in the same order.
#[must_use]
pub fn paired(first: &[Summary], other: &[Summary]) -> Vec<Paired> {
    let seeds = |side: &[Summary]| side.iter().map(|it| it.seed).collect::<Vec<_>>();
    assert_eq!(seeds(first), seeds(other), "pairs are of one seed");
    if first.is_empty() {
        return Vec::new();
    }
    FIGURES.iter().map(|figure| pair(figure, first, other)).collect()
}

fn pair(figure: &Figure, first: &[Summary], other: &[Summary]) -> Paired {
    let ones: Vec<f64> = first.iter().map(figure.value).collect();
    let others: Vec<f64> = other.iter().map(figure.value).collect();
    let differences: Vec<f64> = ones.iter().zip(&others).map(|(a, b)| a - b).collect();
    let won = ones.iter().zip(&others).filter(|(a, b)| figure.better.wins(**a, **b)).count();
    let tied = ones.iter().zip(&others).filter(|(a, b)| a == b).count();
    Paired {
        figure: figure.name,
        better: figure.better,
        first_mean: mean(&ones),
        other_mean: mean(&others),
        difference_mean: mean(&differences),
        difference_min: differences.iter().copied().fold(f64::INFINITY, f64::min),
        difference_max: differences.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        seeds: ones.len(),
        seeds_won: won,
        seeds_tied: tied,
    }
}
