//! Who won, by how much.
//!
//! [`compare`] puts policies side by side on one workload; [`paired`] does so
//! over several seeds, each seed against itself. A policy of which a figure has
//! nothing to measure never wins by it, and nobody wins by a figure that says
//! something of the tasks done alone where the policies did not do equally many.

use serde::Serialize;

use super::{Interval, Summary, mean};

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
    /// Its value; `None` where there is nothing to measure.
    pub value: fn(&Summary) -> Option<f64>,
    /// Whether a policy that does fewer tasks looks better by it.
    pub of_tasks_done: bool,
}

/// The figures by which policies are compared, in the order of reports.
pub const FIGURES: [Figure; 19] = [
    less_of_done("completion_seconds_mean", |it| Some(it.completion_seconds?.mean)),
    less_of_done("completion_seconds_p50", |it| Some(it.completion_seconds?.p50)),
    less_of_done("completion_seconds_p95", |it| Some(it.completion_seconds?.p95)),
    less_of_done("completion_seconds_max", |it| Some(it.completion_seconds?.max)),
    less("wait_seconds_mean", |it| Some(it.wait_seconds?.mean)),
    less("wait_seconds_p95", |it| Some(it.wait_seconds?.p95)),
    less_of_done("slowdown_mean", |it| it.slowdown_mean),
    less_of_done("makespan_seconds", |it| it.makespan_seconds),
    more("gpu_utilisation", |it| it.gpu_utilisation),
    more("device_utilisation", |it| it.device_utilisation),
    more("core_utilisation", |it| it.core_utilisation),
    less_of_done("energy_joules", |it| Some(it.energy_joules).filter(|joules| *joules > 0.0)),
    more("work_per_joule", |it| it.work_per_joule),
    less("deadline_misses", |it| (it.deadlines > 0).then_some(it.deadline_misses as f64)),
    more("fairness", |it| it.fairness),
    more("fairness_jain", |it| it.fairness_jain),
    less_of_done("tasks_misplaced", |it| (it.tasks_done > 0).then_some(it.tasks_misplaced as f64)),
    more("tasks_done", |it| Some(it.tasks_done as f64)),
    less("jobs_never_placed", |it| Some(it.jobs_never_placed() as f64)),
];

const fn less(name: &'static str, value: fn(&Summary) -> Option<f64>) -> Figure {
    Figure { name, better: Better::Less, value, of_tasks_done: false }
}

const fn less_of_done(name: &'static str, value: fn(&Summary) -> Option<f64>) -> Figure {
    Figure { name, better: Better::Less, value, of_tasks_done: true }
}

const fn more(name: &'static str, value: fn(&Summary) -> Option<f64>) -> Figure {
    Figure { name, better: Better::More, value, of_tasks_done: false }
}

impl Figure {
    /// The figure of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        FIGURES.into_iter().find(|figure| figure.name == name)
    }

    /// Whether these summaries, of one workload and seed, may be compared by it.
    #[must_use]
    pub fn can_compare(&self, summaries: &[&Summary]) -> bool {
        let mut done = summaries.iter().map(|summary| summary.tasks_done);
        let first = done.next();
        !self.of_tasks_done || done.all(|other| Some(other) == first)
    }

    /// The mean over those seeds on which there is something to measure.
    #[must_use]
    pub fn mean(&self, seeds: &[Summary]) -> Option<f64> {
        let values: Vec<f64> = seeds.iter().filter_map(self.value).collect();
        (!values.is_empty()).then(|| mean(&values))
    }

    /// Whether `one` has a better value than `other`, or a value where `other` has none.
    #[must_use]
    pub fn wins(&self, one: &Summary, other: &Summary) -> bool {
        match ((self.value)(one), (self.value)(other)) {
            (Some(one), Some(other)) => self.better.wins(one, other),
            (one, _) => one.is_some(),
        }
    }
}

/// One figure of several policies on one workload.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The figure's name.
    pub figure: &'static str,
    /// Which end is good.
    pub better: Better,
    /// The value of each policy, in the order given; none where there is nothing to measure.
    pub values: Vec<Option<f64>>,
    /// Whether the figure says who is better: not where it is of the tasks done alone, and the
    /// policies did not do equally many. Then nobody is best, and nothing is divided.
    pub can_compare: bool,
    /// Each value ÷ the best one; none where that is zero.
    pub of_best: Vec<Option<f64>>,
    /// Each value ÷ the first policy's; none where that is zero.
    pub of_first: Vec<Option<f64>>,
    /// The policy with the best value; the first of equals, and none where nobody has a value.
    pub best: Option<usize>,
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
    let values: Vec<Option<f64>> = summaries.iter().map(figure.value).collect();
    let can_compare = figure.can_compare(&summaries.iter().collect::<Vec<_>>());
    let best = if can_compare { best(figure.better, &values) } else { None };
    let of = |whole: Option<f64>| {
        let whole = whole.filter(|whole| can_compare && *whole != 0.0);
        values.iter().map(|value| Some((*value)? / whole?)).collect::<Vec<_>>()
    };
    let best_value = best.and_then(|best| values[best]);
    let equals = values.iter().filter(|value| best.is_some() && **value == best_value).count();
    Comparison {
        figure: figure.name,
        better: figure.better,
        can_compare,
        of_best: of(best_value),
        of_first: of(values[0]),
        best,
        is_tied: equals > 1,
        values,
    }
}

/// Where the best of those values stands that there are; the first of equals.
fn best(better: Better, values: &[Option<f64>]) -> Option<usize> {
    let mut best: Option<(usize, f64)> = None;
    for (index, value) in values.iter().enumerate() {
        let Some(value) = *value else { continue };
        if best.is_none_or(|(_, so_far)| better.wins(value, so_far)) {
            best = Some((index, value));
        }
    }
    best.map(|(index, _)| index)
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
    /// The first policy's mean, over the seeds on which it has something to measure.
    pub first_mean: Option<f64>,
    /// The other policy's mean, likewise.
    pub other_mean: Option<f64>,
    /// How many seeds there are.
    pub seeds: usize,
    /// Seed by seed; none unless the figure can be compared on every seed.
    pub difference: Option<Difference>,
}

/// First less other, seed by seed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// The mean.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// Where the mean over all seeds that there could be is likely to lie; none for one seed.
    pub interval: Option<Interval>,
    /// On how many seeds the first policy is better.
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
    let pair = |figure: &Figure| Paired {
        figure: figure.name,
        better: figure.better,
        first_mean: figure.mean(first),
        other_mean: figure.mean(other),
        seeds: first.len(),
        difference: difference(figure, first, other),
    };
    FIGURES.iter().map(pair).collect()
}

fn difference(figure: &Figure, first: &[Summary], other: &[Summary]) -> Option<Difference> {
    let pair = |(one, other): (&Summary, &Summary)| {
        let values = ((figure.value)(one)?, (figure.value)(other)?);
        figure.can_compare(&[one, other]).then_some(values)
    };
    let pairs: Vec<(f64, f64)> = first.iter().zip(other).map(pair).collect::<Option<_>>()?;
    let differences: Vec<f64> = pairs.iter().map(|(one, other)| one - other).collect();
    Some(Difference {
        mean: mean(&differences),
        min: differences.iter().copied().fold(f64::INFINITY, f64::min),
        max: differences.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        interval: Interval::of_mean(&differences),
        seeds_won: pairs.iter().filter(|(one, other)| figure.better.wins(*one, *other)).count(),
        seeds_tied: pairs.iter().filter(|(one, other)| one == other).count(),
    })
}
