//! Why tasks went where they went.

use std::collections::BTreeMap;

use fleet::explanation::Choice;
use fleet::policy::Objective;
use fleet::{Micro, Placement, Span, Time};
use serde::Serialize;
use sim::scenario::What;

use super::Asked;
use crate::render::{Placed, placed, words};

/// One placement, and what explains it.
#[derive(Debug, Serialize)]
pub(super) struct PlacedPart {
    at_seconds: f64,
    task: u32,
    attempt: u32,
    alternative: u16,
    node: String,
    model: String,
    cores: f64,
    memory_bytes: u64,
    devices: Vec<DevicePart>,
    /// None where it runs without end.
    duration_seconds: Option<f64>,
    score: ScorePart,
    /// How many nodes could have taken it.
    nodes: u32,
    runner_up: Option<RunnerUpPart>,
    text: String,
    #[serde(skip)]
    at: Time,
}

#[derive(Debug, Serialize)]
struct DevicePart {
    index: u16,
    share: f64,
    memory_bytes: u64,
    /// Of a slice: the first of the slots that it covers.
    first_slot: Option<u32>,
}

/// A score: by tier, and by objective where one is weighed.
#[derive(Debug, Serialize)]
struct ScorePart {
    tiers: Vec<f64>,
    objectives: BTreeMap<String, f64>,
}

#[derive(Debug, Serialize)]
struct RunnerUpPart {
    alternative: u16,
    node: String,
    model: String,
    score: ScorePart,
}

/// The placements of the job.
pub(super) fn parts(asked: &Asked<'_>) -> Vec<PlacedPart> {
    let told = asked.visit.placed.iter().filter_map(|told| match &told.what {
        What::Placed(placement, choice, tiers) => Some((told.at, placement, choice, tiers)),
        What::Waits(_) => None,
    });
    told.map(|(at, placement, choice, tiers)| {
        let job = &asked.visit.job;
        let text = placed(&asked.names(), Placed { job, placement, choice, tiers });
        let is_weighed = |position: usize| tiers.iter().any(|one| !one.weights[position].is_zero());
        part(asked, at, (placement, choice), &is_weighed, text)
    })
    .collect()
}

fn part(
    asked: &Asked<'_>,
    at: Time,
    (placement, choice): (&Placement, &Choice),
    is_weighed: &dyn Fn(usize) -> bool,
    text: String,
) -> PlacedPart {
    let names = asked.names();
    let score = |score: &fleet::explanation::Score| {
        let objectives = Objective::ALL.into_iter().zip(score.parts).enumerate();
        let weighed = objectives.filter(|(position, _)| is_weighed(*position));
        let name = |objective| asked.policy.objective_name(objective);
        ScorePart {
            tiers: score.tiers.iter().map(|tier| fraction(*tier)).collect(),
            objectives: weighed.map(|(_, (one, part))| (name(one), fraction(part))).collect(),
        }
    };
    let grant = &placement.grant;
    let device = |held: &fleet::DeviceGrant| DevicePart {
        index: held.device.0,
        share: f64::from(held.share.0) / 1000.0,
        memory_bytes: held.memory.0,
        first_slot: (!held.slots.is_none()).then(|| held.slots.first()),
    };
    PlacedPart {
        at_seconds: at.as_seconds(),
        task: asked.task(placement.run),
        attempt: placement.run.attempt.0,
        alternative: placement.alternative,
        node: names.node(placement.node),
        model: names.model(placement.class),
        cores: grant.cores.0 as f64 / 1000.0,
        memory_bytes: grant.memory.0,
        devices: grant.devices.iter().map(device).collect(),
        duration_seconds: placement.duration.map(Span::as_seconds),
        score: score(&choice.score),
        nodes: choice.nodes,
        runner_up: choice.runner_up.as_ref().map(|other| RunnerUpPart {
            alternative: other.alternative,
            node: names.node(other.node),
            model: names.model(other.class),
            score: score(&other.score),
        }),
        text,
        at,
    }
}

fn fraction(score: Micro) -> f64 {
    f64::from(score.0) / 1e6
}

/// Adds a paragraph.
pub(super) fn add(text: &mut String, count: u64, placed: &[PlacedPart]) {
    if placed.is_empty() {
        return;
    }
    text.push_str("\nWhy it went there\n");
    for part in placed {
        let at = Span(part.at.0);
        text.push_str(&format!("  task {} at {at}: {}\n", part.task, part.text));
    }
    if let earlier @ 1.. = count.saturating_sub(placed.len() as u64) {
        let earlier = words::count(earlier, "placement");
        text.push_str(&format!("  {earlier} before these; ask with an earlier --at\n"));
    }
}
