//! `mean` where moving costs, and where what is declared is wrong: what is lost, and who waits.

use std::fmt::Write as _;

use super::case::Case;
use super::contender::Contender;
use super::errors::Errors;
use super::figures::Figures;
use super::{Lag, Terms, play};
use crate::crew;
use crate::record::Record;

/// What is tried: a name, what a move costs in seconds, and how wrong rates and work are.
const TRIALS: [(&str, f64, f64, f64); 6] = [
    ("exact", 0.0, 0.0, 1.0),
    ("moving30", 30.0, 0.0, 1.0),
    ("moving300", 300.0, 0.0, 1.0),
    ("rates_wrong30", 0.0, 0.3, 1.0),
    ("work_wrong2", 0.0, 0.0, 2.0),
    ("both_wrong", 0.0, 0.3, 2.0),
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
    (name, move_seconds, rates, work): &(&'static str, f64, f64, f64),
) -> anyhow::Result<Trial> {
    let is_drawn = *rates > 0.0 || *work > 1.0;
    let figures: Vec<Figures> = (0..if is_drawn { DRAWS } else { 1 })
        .map(|seed| {
            let errors = Errors { rates: *rates, work: *work, seed };
            let terms = Terms { lag: Lag::Dropped, move_seconds: *move_seconds, errors };
            play(case, Contender::Motley(POLICY), terms).map(|(figures, _)| figures)
        })
        .collect::<anyhow::Result<_>>()?;
    let means = figures.iter().map(|one| one.mean);
    Ok(Trial {
        name,
        trace: case.name.clone(),
        mean: means.clone().sum::<f64>() / figures.len() as f64,
        worst: means.fold(0.0, f64::max),
        longest_wait: figures.iter().map(|one| one.longest_wait).fold(0.0, f64::max),
        moves: figures.iter().map(|one| one.moves).sum::<u64>() / figures.len() as u64,
    })
}

/// The trials as text.
#[must_use]
pub fn text(trials: &[Trial]) -> String {
    let mut text = format!("{POLICY} where moving costs or what is declared is wrong, seconds\n");
    for trial in trials {
        let Trial { name, trace, mean, worst, longest_wait, moves } = trial;
        let loss = loss(trials, trial);
        let _ = writeln!(
            text,
            "{trace} {name:<14} mean {mean:>7.0} ({loss:+.1} %), worst draw {worst:>7.0}, longest \
             wait {longest_wait:>7.0}, {moves} moves"
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
