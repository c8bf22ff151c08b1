//! Why a run is placed where it is, in words.

use fleet::explanation::{Choice, RunnerUp, Score, TierInForce, TierValue};
use fleet::policy::Objective;
use fleet::{Job, Micro, Milli, Placement};

use super::{Names, words};

/// One placement with what explains it.
#[derive(Clone, Copy, Debug)]
pub struct Placed<'a> {
    /// The job that is run.
    pub job: &'a Job,
    /// Where and with what.
    pub placement: &'a Placement,
    /// Why there.
    pub choice: &'a Choice,
    /// The weights in force.
    pub tiers: &'a [TierInForce],
}

/// Why the run is placed there: `train placed on a100-1 (A100, devices 0, 3) with 0.84, because
/// completion 0.92, energy 0.71; runner-up v100-2 (V100) with 0.64; 7 nodes could take it.`
#[must_use]
pub fn placed(names: &Names<'_>, placed: Placed<'_>) -> String {
    let Placed { job, placement, choice, tiers } = placed;
    let precision = precision(&choice.score, choice.runner_up.as_ref());
    let way = way(job, placement.alternative);
    let mut text = format!("{} placed{way} on {}", words::clip(&job.name), place(names, placement));
    if choice.score.tiers.is_empty() {
        text.push_str(" without weighing");
    } else {
        let tiers_text = tier_scores(&choice.score, tiers, precision);
        text.push_str(&format!(
            " with {tiers_text}, because {}",
            parts(names, &choice.score, tiers)
        ));
    }
    if let Some(runner_up) = &choice.runner_up {
        let way = match runner_up.alternative == placement.alternative {
            true => String::new(),
            false => self::way(job, runner_up.alternative),
        };
        text.push_str(&format!(
            "; runner-up{way} {} ({}) with {}",
            names.node(runner_up.node),
            names.model(runner_up.class),
            against(&choice.score, &runner_up.score, precision)
        ));
    }
    text.push_str(&format!("; {} could take it.", words::count(choice.nodes.into(), "node")));
    text
}

/// Which of the job's alternatives, where it has several.
fn way(job: &Job, alternative: u16) -> String {
    match job.alternatives.get(usize::from(alternative)) {
        Some(alternative) if job.alternatives.len() > 1 => {
            format!(" as {}", words::request(alternative))
        }
        _ => String::new(),
    }
}

/// `a100-1 (A100, devices 0, 3)`.
fn place(names: &Names<'_>, placement: &Placement) -> String {
    let (node, model) = (names.node(placement.node), names.model(placement.class));
    let held = &placement.grant.devices;
    let indices: Vec<_> = held.iter().map(|held| held.device.0.to_string()).collect();
    let what = match held.as_slice() {
        [] => format!("{} cores", placement.grant.cores),
        [one] if !one.slots.is_none() => {
            format!("the slice from slot {} of device {}", one.slots.first(), one.device.0)
        }
        [one] if one.share < Milli::WHOLE => format!("{} of device {}", one.share, one.device.0),
        [one] => format!("device {}", one.device.0),
        _ => format!("devices {}", words::list(&indices, ", ")),
    };
    format!("{node} ({model}, {what})")
}

/// The scores of what is weighed, in the order of objectives.
fn parts(names: &Names<'_>, score: &Score, tiers: &[TierInForce]) -> String {
    let weighed = |position: usize| tiers.iter().any(|tier| !tier.weights[position].is_zero());
    let parts = Objective::ALL.into_iter().zip(score.parts).enumerate();
    let told: Vec<_> = parts
        .filter(|(position, _)| weighed(*position))
        .map(|(_, (objective, part))| {
            format!("{} {}", names.objective(objective), decimal(part, 2))
        })
        .collect();
    told.join(", ")
}

/// `0.84`, `limits kept then 0.84`, `knee 0.64`.
fn tier_scores(score: &Score, tiers: &[TierInForce], precision: usize) -> String {
    let value = |(position, value): (usize, &Micro)| {
        let number = decimal(*value, precision);
        match tiers.get(position).map(|tier| tier.value) {
            Some(TierValue::Limits) if *value == Micro::ONE => "limits kept".to_owned(),
            Some(TierValue::Limits) => format!("limits kept to {number}"),
            Some(TierValue::Knee) => format!("knee {number}"),
            Some(TierValue::Mean) | None => number,
        }
    };
    score.tiers.iter().enumerate().map(value).collect::<Vec<_>>().join(" then ")
}

/// The runner-up's score, as far as it takes to see why it lost.
fn against(winner: &Score, other: &Score, precision: usize) -> String {
    match first_difference(winner, other) {
        None => "the same score".to_owned(),
        Some((0, _, tier)) => decimal(tier, precision),
        Some((position, _, tier)) => {
            format!("the same, then {} in tier {}", decimal(tier, precision), position + 1)
        }
    }
}

/// The first tier in which two scores differ: its position, and both values.
fn first_difference(one: &Score, other: &Score) -> Option<(usize, Micro, Micro)> {
    let pairs = one.tiers.iter().copied().zip(other.tiers.iter().copied()).enumerate();
    pairs.map(|(position, (left, right))| (position, left, right)).find(|(_, l, r)| l != r)
}

/// The decimals that it takes to tell the choice from the runner-up; two at least.
fn precision(score: &Score, runner_up: Option<&RunnerUp>) -> usize {
    let difference = runner_up.and_then(|runner_up| first_difference(score, &runner_up.score));
    let Some((_, left, right)) = difference else {
        return 2;
    };
    (2..6).find(|places| decimal(left, *places) != decimal(right, *places)).unwrap_or(6)
}

fn decimal(score: Micro, places: usize) -> String {
    format!("{:.places$}", f64::from(score.0) / 1e6)
}
