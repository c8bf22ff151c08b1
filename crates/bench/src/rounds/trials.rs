//! `mean` where moving costs, where what is declared is wrong, and on nodes of several devices:
//! what is lost, and who waits.

use std::fmt::Write as _;

use super::case::Case;
use super::contender::Contender;
use super::errors::Errors;
use super::figures::Figures;
use super::product::Toll;
use super::{Lag, Terms, play};
use crate::crew;
use crate::record::Record;

/// What is tried: a name, what a move costs in seconds, how wrong rates and work are, and how many
/// devices each node has.
const TRIALS: [(&str, f64, f64, f64, u32); 8] = [
    ("exact", 0.0, 0.0, 1.0, 1),
    ("moving30", 30.0, 0.0, 1.0, 1),
    ("moving300", 300.0, 0.0, 1.0, 1),
    ("rates_wrong30", 0.0, 0.3, 1.0, 1),
    ("work_wrong2", 0.0, 0.0, 2.0, 1),
    ("both_wrong", 0.0, 0.3, 2.0, 1),
    ("nodes4", 0.0, 0.0, 1.0, 4),
    ("nodes8", 0.0, 0.0, 1.0, 8),
];
/// How often errors are drawn anew.
const DRAWS: u64 = 3;
/// The traces on which it is tried.
const TRACES: [&str; 4] = ["A", "C", "E", "F"];
/// The policy.
const POLICY: &str = "mean";

/// What one trial came to on one trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    name: &'static str,
    trace: String,
    /// Mean completion in seconds, of the draws.
    mean: f64,
    /// The same of the worst draw.
    worst: f64,
    /// The longest that a job waited at a time, in seconds, in any draw.
    longest_wait: f64,
    moves: u64,
    /// How many runs were stopped to make room on their nodes.
    displaced: u64,
}

/// Tries everything on the traces that are there.
///
/// # Errors
/// If a plan breaks the law.
pub fn all(cases: &[Case]) -> anyhow::Result<Vec<Trial>> {
    let cases: Vec<&Case> =
        cases.iter().filter(|case| TRACES.contains(&case.name.as_str())).collect();
    let tasks: Vec<_> =
        cases.iter().flat_map(|case| TRIALS.iter().map(move |trial| (*case, trial))).collect();
    crew::share(&tasks, |(case, trial)| one(case, trial)).into_iter().collect()
}

fn one(
    case: &Case,
    (name, move_seconds, rates, work, node_devices): &(&'static str, f64, f64, f64, u32),
) -> anyhow::Result<Trial> {
    let is_drawn = *rates > 0.0 || *work > 1.0;
    let played: Vec<(Figures, Option<Toll>)> = (0..if is_drawn { DRAWS } else { 1 })
        .map(|seed| {
            let errors = Errors { rates: *rates, work: *work, seed };
            let (lag, move_seconds, node_devices) = (Lag::Dropped, *move_seconds, *node_devices);
            let terms = Terms { lag, move_seconds, errors, node_devices };
            play(case, Contender::Motley(POLICY), terms)
        })
        .collect::<anyhow::Result<_>>()?;
    let figures: Vec<&Figures> = played.iter().map(|(figures, _)| figures).collect();
    let displaced = played.iter().filter_map(|(_, toll)| *toll).map(|toll| toll.displaced);
    let means = figures.iter().map(|one| one.mean);
    Ok(Trial {
        name,
        trace: case.name.clone(),
        mean: means.clone().sum::<f64>() / figures.len() as f64,
        worst: means.fold(0.0, f64::max),
        longest_wait: figures.iter().map(|one| one.longest_wait).fold(0.0, f64::max),
        moves: figures.iter().map(|one| one.moves).sum::<u64>() / figures.len() as u64,
        displaced: displaced.sum::<u64>() / figures.len() as u64,
    })
}

/// The trials as text.
#[must_use]
pub fn text(trials: &[Trial]) -> String {
    let mut text = format!(
        "{POLICY} where moving costs, what is declared is wrong, or nodes are larger, seconds\n"
    );
    for trial in trials {
        let Trial { name, trace, mean, worst, longest_wait, moves, displaced } = trial;
        let loss = loss(trials, trial);
        let _ = writeln!(
            text,
            "{trace} {name:<14} mean {mean:>7.0} ({loss:+.1} %), worst draw {worst:>7.0}, longest \
             wait {longest_wait:>7.0}, {moves} moves, {displaced} to make room"
        );
    }
    text
}

/// By how much the mean is above that of the trial in which everything is exact, in percent.
fn loss(trials: &[Trial], trial: &Trial) -> f64 {
    let exact = trials.iter().find(|one| one.trace == trial.trace && one.name == TRIALS[0].0);
    exact.map_or(f64::NAN, |exact| 100.0 * (trial.mean - exact.mean) / exact.mean)
}

/// The loss of each trial, the largest of all traces, and the longest wait on each of them.
#[must_use]
pub fn records(trials: &[Trial]) -> Vec<Record> {
    let mut records = Vec::new();
    for (name, ..) in &TRIALS[1..] {
        let of_name = trials.iter().filter(|trial| trial.name == *name);
        let largest = of_name.map(|trial| loss(trials, trial)).reduce(f64::max);
        let record = |loss| Record::new(format!("{name}.loss_pct"), loss, "%", None);
        records.extend(largest.map(record));
    }
    for trial in trials {
        let name = format!("{}.longest_wait.{}", trial.name, trial.trace);
        records.push(Record::new(name, trial.longest_wait, "s", None));
    }
    records
}
