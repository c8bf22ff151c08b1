//! Policies against the first one, over seeds: as text, JSON and a plot.
//!
//! In come the figures of every policy and seed ([`Outcomes`]); each policy is
//! paired with the first on the same seeds. What can be said is said with its
//! interval; what cannot be compared says why.

mod plot;
mod table;

use fleet::Policy;
use serde::Serialize;
use sim::report::{self, Better, CONFIDENCE, Figure, Interval, Paired, Summary};

use super::simulation::Input;

pub use plot::plot;

/// The figures of every policy and seed.
#[derive(Debug)]
pub struct Outcomes {
    policies: Vec<String>,
    /// By policy, then seed.
    summaries: Vec<Vec<Summary>>,
}

/// Every policy but the first, against the first.
#[derive(Debug, Serialize)]
pub struct Compared {
    /// The policy that the others are held against.
    first: String,
    others: Vec<Other>,
}

/// One policy against the first.
#[derive(Debug, Serialize)]
struct Other {
    policy: String,
    figures: Vec<Row>,
}

/// One figure of a policy and of the first.
#[derive(Debug, Serialize)]
struct Row {
    figure: &'static str,
    better: Better,
    first_mean: Option<f64>,
    mean: Option<f64>,
    /// Of how many seeds.
    seeds: usize,
    /// This policy less the first, seed by seed; none where they cannot be compared.
    difference: Option<Difference>,
    verdict: Verdict,
}

/// This policy less the first.
#[derive(Clone, Copy, Debug, Serialize)]
struct Difference {
    mean: f64,
    interval: Interval,
    /// Whether the interval excludes zero.
    excludes_zero: bool,
    min: f64,
    max: f64,
    /// On how many seeds this policy is better than the first.
    seeds_better: usize,
    seeds_equal: usize,
}

/// What can be said of a policy by a figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Verdict {
    /// Better than the first, by more than chance.
    Better,
    /// Worse than the first, by more than chance.
    Worse,
    /// The interval holds zero: chance may have made the difference.
    Open,
    /// Equal on every seed.
    Equal,
    /// The policies did not do equally many tasks, and the figure is of tasks done.
    TasksDiffer,
    /// One of the two has nothing to measure, on some seed.
    Nothing,
}

impl Outcomes {
    /// No figures yet, for these policies.
    #[must_use]
    pub fn new(policies: &[Policy]) -> Self {
        Self {
            policies: policies.iter().map(|policy| policy.name.clone()).collect(),
            summaries: vec![Vec::new(); policies.len()],
        }
    }

    /// Adds the figures of one seed for the policy at this position.
    pub fn add(&mut self, policy: usize, summary: Summary) {
        self.summaries[policy].push(summary);
    }

    /// Holds each policy against the first.
    #[must_use]
    pub fn compare(&self) -> Compared {
        let first = &self.summaries[0];
        let other = |(policy, summaries): (&String, &Vec<Summary>)| Other {
            policy: policy.clone(),
            figures: report::paired(summaries, first)
                .into_iter()
                .map(|paired| row(paired, summaries, first))
                .collect(),
        };
        Compared {
            first: self.policies[0].clone(),
            others: self.policies.iter().zip(&self.summaries).skip(1).map(other).collect(),
        }
    }
}

fn row(paired: Paired, summaries: &[Summary], first: &[Summary]) -> Row {
    let difference = paired.difference.and_then(|difference| {
        let interval = difference.interval?;
        Some(Difference {
            mean: difference.mean,
            interval,
            excludes_zero: interval.excludes_zero(),
            min: difference.min,
            max: difference.max,
            seeds_better: difference.seeds_won,
            seeds_equal: difference.seeds_tied,
        })
    });
    let can_compare = |figure: Figure| {
        summaries.iter().zip(first).all(|(one, other)| figure.can_compare(&[one, other]))
    };
    let verdict = match difference {
        Some(difference) => verdict(paired.better, &difference),
        None if Figure::named(paired.figure).is_none_or(can_compare) => Verdict::Nothing,
        None => Verdict::TasksDiffer,
    };
    let (first_mean, mean) = (paired.other_mean, paired.first_mean);
    let Paired { figure, better, seeds, .. } = paired;
    Row { figure, better, first_mean, mean, seeds, difference, verdict }
}

fn verdict(better: Better, difference: &Difference) -> Verdict {
    let is_equal = difference.min == 0.0 && difference.max == 0.0;
    match (difference.excludes_zero, better.wins(difference.mean, 0.0)) {
        _ if is_equal => Verdict::Equal,
        (false, _) => Verdict::Open,
        (true, true) => Verdict::Better,
        (true, false) => Verdict::Worse,
    }
}

impl Compared {
    /// Whether no difference of any figure differs between seeds: then chance had no part.
    fn is_without_chance(&self) -> bool {
        let rows = self.others.iter().flat_map(|other| &other.figures);
        rows.filter_map(|row| row.difference).all(|difference| difference.min == difference.max)
    }
}

/// The comparison as text: what was simulated, how it was reckoned, a table for each policy.
#[must_use]
pub fn text(input: &Input, compared: &Compared) -> String {
    let mut text = input.text();
    text.push_str(&table::method(compared));
    for other in &compared.others {
        text.push('\n');
        text.push_str(&table::table(&compared.first, other));
    }
    text
}

/// The comparison as a JSON document with stable names.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// The version of this document's form.
    format: u32,
    input: &'a Input,
    method: Method,
    #[serde(flatten)]
    compared: &'a Compared,
    /// One for each policy and seed, by policy.
    summaries: Vec<&'a Summary>,
}

/// How intervals were reckoned.
#[derive(Debug, Serialize)]
struct Method {
    interval: &'static str,
    confidence: f64,
    /// Whether intervals are wider because there are many figures: they are not.
    is_corrected_for_figures: bool,
    /// Whether every seed gave the same differences.
    is_without_chance: bool,
}

/// The comparison as a JSON document.
#[must_use]
pub fn json<'a>(input: &'a Input, compared: &'a Compared, outcomes: &'a Outcomes) -> Document<'a> {
    Document {
        format: 1,
        input,
        method: Method {
            interval: "paired-student-t",
            confidence: CONFIDENCE,
            is_corrected_for_figures: false,
            is_without_chance: compared.is_without_chance(),
        },
        compared,
        summaries: outcomes.summaries.iter().flatten().collect(),
    }
}
