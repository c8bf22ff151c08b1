//! Whether everything that must be explained is, once and in good form.

use std::collections::BTreeMap;

use super::Fault;
use crate::explanation::{
    Choice, Constraint, FellOut, Reason, RunnerUp, Score, StillWaiting, Tally,
};
use crate::id::{JobId, RunId};
use crate::job::Job;
use crate::plan::Placement;
use crate::snapshot::{Snapshot, Waiting};
use crate::units::Micro;

/// Checks that the choices are one to one with the placements, with scores in range and sound
/// runners-up.
pub(super) fn check_choices(
    snapshot: &Snapshot,
    placements: &[Placement],
    choices: &[Choice],
    faults: &mut Vec<Fault>,
) {
    for (placement, choice) in placements.iter().zip(choices) {
        let (placed, explained) = (placement.run, choice.run);
        if placed != explained {
            faults.push(Fault::ChoiceOfOther { placed, explained });
        }
    }
    for placement in placements.iter().skip(choices.len()) {
        faults.push(Fault::ChoiceMissing { run: placement.run });
    }
    for choice in choices.iter().skip(placements.len()) {
        faults.push(Fault::ChoiceOfNone { run: choice.run });
    }
    for choice in choices {
        check_score(choice.run, &choice.score, faults);
        if let Some(next) = &choice.runner_up {
            check_score(choice.run, &next.score, faults);
            check_runner_up(snapshot, choice, next, faults);
        }
    }
}

/// Whether the runner-up could have been chosen, and scored no more than what was.
fn check_runner_up(snapshot: &Snapshot, choice: &Choice, next: &RunnerUp, faults: &mut Vec<Fault>) {
    let (run, node, alternative) = (choice.run, next.node, next.alternative);
    if node.index() >= snapshot.nodes.len() {
        faults.push(Fault::RunnerUpNode { run, node });
    }
    if let Some(waiting) = snapshot.backlog.get(&run.job) {
        let alternatives = waiting.job.alternatives.len();
        if usize::from(alternative) >= alternatives {
            faults.push(Fault::RunnerUpAlternative { run, alternative, alternatives });
        }
    }
    if next.score.tiers > choice.score.tiers {
        let (chosen, runner_up) = (choice.score.tiers.clone(), next.score.tiers.clone());
        faults.push(Fault::RunnerUpBetter { run, chosen, runner_up });
    }
}

fn check_score(run: RunId, score: &Score, faults: &mut Vec<Fault>) {
    for score in score.tiers.iter().chain(&score.parts) {
        if score.is_zero() || *score > Micro::ONE {
            faults.push(Fault::ScoreOutOfRange { run, score: *score });
        }
    }
}

/// Checks that every job that still waits once `started` tasks of it are started, and no other, has
/// one reason, in order, with the right count.
pub(super) fn check_waiting(
    snapshot: &Snapshot,
    started: &BTreeMap<JobId, u32>,
    told: &[StillWaiting],
    faults: &mut Vec<Fault>,
) {
    let mut last = None;
    let in_order = told.iter().filter(|waiting| {
        let job = waiting.job;
        let ascends = last < Some(job);
        if ascends {
            last = Some(job);
        } else {
            faults.push(Fault::ReasonOutOfOrder { job });
        }
        ascends
    });
    let mut told = in_order.collect::<Vec<_>>().into_iter().peekable();
    for (job, waiting) in snapshot.backlog.iter() {
        let tasks = count(waiting).saturating_sub(started.get(job).copied().unwrap_or(0));
        while let Some(other) = told.next_if(|other| other.job < *job) {
            faults.push(Fault::ReasonOfNone { job: other.job });
        }
        match (tasks, told.next_if(|other| other.job == *job)) {
            (0, None) => {}
            (0, Some(_)) => faults.push(Fault::ReasonOfNone { job: *job }),
            (_, None) => faults.push(Fault::ReasonMissing { job: *job, tasks }),
            (_, Some(found)) => check_reason(snapshot, &waiting.job, (found, tasks), faults),
        }
    }
    faults.extend(told.map(|other| Fault::ReasonOfNone { job: other.job }));
}

fn count(waiting: &Waiting) -> u32 {
    let again = u32::try_from(waiting.again.len()).unwrap_or(u32::MAX);
    again.saturating_add(waiting.fresh.end.saturating_sub(waiting.fresh.start))
}

fn check_reason(
    snapshot: &Snapshot,
    job: &Job,
    (told, waiting): (&StillWaiting, u32),
    faults: &mut Vec<Fault>,
) {
    if told.tasks != waiting {
        faults.push(Fault::ReasonCount { job: job.id, told: told.tasks, waiting });
    }
    let Reason::NoRoom(tallies) = &*told.reason else { return };
    let alternatives = job.alternatives.len();
    let in_order = (0..alternatives).eq(tallies.iter().map(|tally| usize::from(tally.alternative)));
    if !in_order {
        let told = tallies.iter().map(|tally| tally.alternative).collect();
        faults.push(Fault::TallyOfOther { job: job.id, alternatives, told });
    }
    for tally in tallies {
        check_tally(job.id, tally, snapshot.nodes.len() as u64, faults);
    }
}

fn check_tally(job: JobId, tally: &Tally, nodes: u64, faults: &mut Vec<Fault>) {
    let alternative = tally.alternative;
    let told = tally.fell_out.iter().map(|fell_out| u64::from(fell_out.nodes)).sum();
    if told != nodes {
        faults.push(Fault::TallySum { job, alternative, told, nodes });
    }
    let mut last = None;
    for fell_out in &tally.fell_out {
        let constraint = fell_out.constraint;
        if last >= Some(constraint) {
            faults.push(Fault::TallyOutOfOrder { job, alternative, constraint });
        }
        last = Some(constraint);
        if !is_sound(fell_out) {
            faults.push(Fault::TallyIdle { job, alternative, told: *fell_out });
        }
    }
}

/// Whether nodes fell out, and what they offer is less than what was asked.
fn is_sound(fell_out: &FellOut) -> bool {
    let FellOut { nodes, asked, best, .. } = *fell_out;
    let short = if is_amount(fell_out.constraint) { best < asked } else { (asked, best) == (1, 0) };
    nodes > 0 && short
}

fn is_amount(constraint: Constraint) -> bool {
    match constraint {
        Constraint::Up
        | Constraint::Labels
        | Constraint::Kind(_)
        | Constraint::Model
        | Constraint::Capability
        | Constraint::Sharing
        | Constraint::Profile
        | Constraint::FreeSlots
        | Constraint::Rate
        | Constraint::Domain
        | Constraint::FreeDomain => false,
        Constraint::DeviceMemory
        | Constraint::ComputeUnits
        | Constraint::Cores
        | Constraint::Memory
        | Constraint::Devices
        | Constraint::FreeCores
        | Constraint::FreeMemory
        | Constraint::FreeDevices
        | Constraint::FreeShare
        | Constraint::MemoryBandwidth
        | Constraint::PcieBandwidth
        | Constraint::NetworkBandwidth
        | Constraint::FreeDeviceMemory
        | Constraint::FreeMemoryBandwidth
        | Constraint::FreePcieBandwidth
        | Constraint::FreeNetworkBandwidth => true,
    }
}
