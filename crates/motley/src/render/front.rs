//! A front in words, as JSON and as a drawing.
//!
//! In comes what [`sim::front`] found, out go a table of the outcomes that no
//! other dominates, or every point with its policy in the form of a file. The
//! knee and the policy itself are marked.

mod plot;

use std::collections::BTreeMap;

use controller::policy_file;
use fleet::Policy;
use fleet::policy::Objective;
use serde::Serialize;
use server::api::{FrontView, PointView};
use sim::front::{Front, Origin, Others, Point};

use super::simulation::{Input, span};
use super::{lines_of, plain_table};

pub use plot::plot;

/// The front as text.
#[must_use]
pub fn text(input: &Input, front: &Front, base: &str) -> String {
    let mut text = input.text();
    let objectives = names(front).join(", ");
    let (kept, all) = (front.front.len(), front.points.len());
    text.push_str(&format!(
        "\n{kept} of {all} variants of {base} trade {objectives}; no other is "
    ));
    text.push_str("as good in all and better in one:\n\n");
    text.push_str(&table(front, base));
    let own = &front.points[0];
    if own.costs.is_none() {
        text.push_str(&format!("\n{base} itself cannot be compared: it did fewer tasks.\n"));
    }
    if front.knee.is_none() {
        text.push_str("\nThere is no knee: every outcome is the worst of these in some figure.\n");
    }
    let left_out = front.points.iter().filter(|point| point.costs.is_none()).count();
    if left_out > 0 {
        let verb = if left_out == 1 { "is" } else { "are" };
        text.push_str(&format!(
            "\n{left_out} of {all} {verb} left out: fewer tasks done, or nothing to measure.\n"
        ));
    }
    if let Some(volume) = front.hypervolume {
        text.push_str(&format!("\nHypervolume {volume:.4} of the range of outcomes"));
        match front.hypervolume_by_weights {
            Some(weights) => text.push_str(&format!("; by weights alone {weights:.4}.\n")),
            None => text.push_str(".\n"),
        }
    }
    text
}

/// The front as a daemon shows it, of so many jobs.
#[must_use]
pub fn live(front: &Front, base: &str, (jobs, notes): (usize, Vec<String>)) -> FrontView {
    let point = |(position, point): (usize, &Point)| {
        let values: Option<Vec<f64>> = point.values.iter().copied().collect();
        Some(PointView {
            label: how(front, point, base),
            values: values?,
            is_policy: position == 0,
            is_knee: front.knee == Some(position),
            is_on_front: front.front.contains(&position),
        })
    };
    FrontView {
        objectives: names(front).into_iter().map(str::to_owned).collect(),
        figures: front.objectives.iter().map(|(one, _)| heading(*one).to_owned()).collect(),
        points: front.points.iter().enumerate().filter_map(point).collect(),
        jobs,
        notes,
    }
}

fn table(front: &Front, base: &str) -> String {
    let mut table = plain_table();
    let figures = front.objectives.iter().map(|(one, _)| heading(*one).to_owned());
    table.set_header(["point".to_owned(), "how".to_owned()].into_iter().chain(figures));
    let mut add = |mark: &str, position: usize| {
        let point = &front.points[position];
        let cells = front.objectives.iter().zip(&point.values).map(|((objective, _), value)| {
            value.map_or_else(|| "-".to_owned(), |value| written(*objective, value))
        });
        let how = how(front, point, base);
        table.add_row([mark.to_owned(), how].into_iter().chain(cells));
    };
    for position in &front.front {
        add(mark(front, *position), *position);
    }
    if !front.front.contains(&0) {
        add("policy", 0);
    }
    let text = lines_of(&table);
    match front.dominating(0).and_then(|one| front.front.iter().position(|other| *other == one)) {
        Some(row) => format!("{text}\n{base} is dominated, first by row {}.\n", row + 1),
        None => text,
    }
}

fn mark(front: &Front, position: usize) -> &'static str {
    match (position == 0, front.knee == Some(position)) {
        (true, true) => "policy, knee",
        (true, false) => "policy",
        (false, true) => "knee",
        (false, false) => "·",
    }
}

/// How a point was come by: `weights completion 3, energy 1`.
fn how(front: &Front, point: &Point, base: &str) -> String {
    match &point.origin {
        Origin::Policy => base.to_owned(),
        Origin::Knee => "pick knee".to_owned(),
        Origin::Weights { others, weights } => {
            let pairs = names(front).into_iter().zip(weights).filter(|(_, weight)| **weight > 0);
            let weights: Vec<_> = pairs.map(|(name, weight)| format!("{name} {weight}")).collect();
            format!("weights {}{}", weights.join(", "), beside(*others))
        }
        Origin::Patience(patience) => format!("patience {patience}"),
        Origin::Limits { others, first, limits } => {
            let limit = |(one, limit): (&Objective, &fleet::Milli)| {
                format!(", {} at least {limit}", one.name())
            };
            let limits: String = limits.iter().map(limit).collect();
            format!("{} first{}{limits}", first.name(), beside(*others))
        }
    }
}

/// What else counts.
fn beside(others: Others) -> &'static str {
    match others {
        Others::Dropped => "",
        Others::Kept => " beside the rest",
    }
}

fn names(front: &Front) -> Vec<&'static str> {
    front.objectives.iter().map(|(objective, _)| objective.name()).collect()
}

/// What the figure of an objective is called in a table.
fn heading(objective: Objective) -> &'static str {
    match objective {
        Objective::Completion => "completion, mean",
        Objective::Utilisation => "device utilisation",
        Objective::Fragmentation => "GPUs held at end",
        Objective::Energy => "energy",
        Objective::Deadline => "deadline misses",
        other => other.name(),
    }
}

fn written(objective: Objective, value: f64) -> String {
    match objective {
        Objective::Completion => span(value),
        Objective::Utilisation | Objective::Fragmentation => format!("{:.2} %", 100.0 * value),
        Objective::Energy => format!("{:.3} kWh", value / 3.6e6),
        _ => value.to_string(),
    }
}

/// A front as a JSON document with stable names.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// The version of this document's form.
    format: u32,
    input: &'a Input,
    policy: &'a str,
    objectives: Vec<Traded>,
    /// The part of the range of outcomes that is better than nothing on the front.
    hypervolume: Option<f64>,
    hypervolume_by_weights: Option<f64>,
    /// In the order simulated; the policy itself is the first.
    points: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Traded {
    objective: &'static str,
    figure: &'static str,
    better: sim::report::Better,
}

#[derive(Debug, Serialize)]
struct Row {
    name: String,
    by: &'static str,
    /// Whether what the policy weighs beside the objectives still counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    keeps_others: Option<bool>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    weights: BTreeMap<&'static str, u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    patience: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<&'static str>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    limits: BTreeMap<&'static str, f64>,
    values: BTreeMap<&'static str, Option<f64>>,
    tasks_done: u64,
    /// Whether it did as many tasks as any, and has all figures.
    is_compared: bool,
    is_on_front: bool,
    is_knee: bool,
    /// How far before the line between the extremes, as part of the range of a figure.
    #[serde(skip_serializing_if = "Option::is_none")]
    knee_distance: Option<f64>,
    /// The name of the first point of the front that dominates it.
    dominated_by: Option<String>,
    /// The variant in the form of a policy file.
    policy: String,
}

/// The front as a JSON document.
#[must_use]
pub fn json<'a>(input: &'a Input, front: &Front, base: &'a str) -> Document<'a> {
    let objectives = front.objectives.iter().map(|(objective, figure)| Traded {
        objective: objective.name(),
        figure: figure.name,
        better: figure.better,
    });
    Document {
        format: 1,
        input,
        policy: base,
        objectives: objectives.collect(),
        hypervolume: front.hypervolume,
        hypervolume_by_weights: front.hypervolume_by_weights,
        points: (0..front.points.len()).map(|position| row(front, position, base)).collect(),
    }
}

fn row(front: &Front, position: usize, base: &str) -> Row {
    let point = &front.points[position];
    let (mut weights, mut limits, mut first) = (BTreeMap::new(), BTreeMap::new(), None);
    let (mut keeps_others, mut patience) = (None, None);
    let by = match &point.origin {
        Origin::Policy => "policy",
        Origin::Knee => "knee",
        Origin::Weights { weights: shares, others } => {
            keeps_others = Some(*others == Others::Kept);
            weights = names(front).into_iter().zip(shares.iter().copied()).collect();
            "weights"
        }
        Origin::Patience(tried) => {
            patience = Some(f64::from(tried.0) / 1000.0);
            "patience"
        }
        Origin::Limits { others, first: objective, limits: least } => {
            keeps_others = Some(*others == Others::Kept);
            first = Some(objective.name());
            let pair = |(one, limit): (&Objective, &fleet::Milli)| {
                (one.name(), f64::from(limit.0) / 1000.0)
            };
            limits = least.iter().map(pair).collect();
            "limits"
        }
    };
    let is_knee = front.knee == Some(position);
    let distance = front.knee_distance.filter(|_| is_knee);
    let description = match position {
        0 => point.policy.description.clone(),
        _ => format!("A variant of {base}: {}", how(front, point, base)),
    };
    Row {
        name: point.policy.name.clone(),
        by,
        keeps_others,
        weights,
        patience,
        first,
        limits,
        values: names(front).into_iter().zip(point.values.iter().copied()).collect(),
        tasks_done: point.tasks_done,
        is_compared: point.costs.is_some(),
        is_on_front: front.front.contains(&position),
        is_knee,
        knee_distance: distance.map(|distance| distance as f64 / 1e6),
        dominated_by: front.dominating(position).map(|one| front.points[one].policy.name.clone()),
        policy: policy_file::text(&Policy { description, ..point.policy.clone() }),
    }
}
