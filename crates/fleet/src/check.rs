//! The inspector: finds the faults in a decision, knowing only the law.
//!
//! In come a snapshot and what was decided from it; out go the [`Fault`]s, none
//! where the decision keeps the law. The inspector shares no code with the
//! planner and does its own arithmetic, so that a mistake must be made twice
//! to go unseen. It repairs nothing.
//!
//! [`check`] runs every turn: its cost grows with the plan, the backlog and
//! the explanation, not with the nodes. [`check_reasons`] also counts every
//! reason again on every node, for tests and simulations.

mod channels;
mod fault;
mod inside;
mod placements;
mod explanation;
mod reasons;
mod slices;
mod gangs;
mod rounds;
mod locality;

use std::collections::BTreeSet;

use crate::explanation::{Explanation, Reason, StillWaiting};
use crate::id::RunId;
use crate::plan::{Decision, Plan, StopCause};
use crate::run::Stage;
use crate::snapshot::Snapshot;

pub use fault::{Fault, Part};

/// Every fault of the decision, cheaply enough for every turn.
#[must_use]
pub fn check(snapshot: &Snapshot, decision: &Decision) -> Vec<Fault> {
    let Decision { plan, explanation } = decision;
    let mut faults = Vec::new();
    if plan.serial != snapshot.serial {
        faults.push(Fault::OtherSnapshot { plan: plan.serial, snapshot: snapshot.serial });
    }
    if let Some(wake) = plan.wake.filter(|wake| *wake <= snapshot.at) {
        faults.push(Fault::WakeInThePast { wake, at: snapshot.at });
    }
    check_patience(plan, explanation, &mut faults);
    let started = {
        let started = (&plan.placements[..], explanation.oversubscribe);
        placements::check(snapshot, started, &mut faults)
    };
    check_stops(snapshot, plan, &mut faults);
    gangs::check(snapshot, decision, &mut faults);
    rounds::check(snapshot, decision, &mut faults);
    explanation::check_choices(snapshot, &plan.placements, &explanation.choices, &mut faults);
    explanation::check_waiting(snapshot, &started, &explanation.waiting, &mut faults);
    faults
}

/// Every reason for waiting that is not true, by counting again on every node.
#[must_use]
pub fn check_reasons(snapshot: &Snapshot, decision: &Decision) -> Vec<Fault> {
    reasons::check(snapshot, decision)
}

/// Whether the plan is woken no later than when the first patience, batch or wait for a node ends.
fn check_patience(plan: &Plan, explanation: &Explanation, faults: &mut Vec<Fault>) {
    let until = |waiting: &StillWaiting| match *waiting.reason {
        Reason::Patience(ref patience) => Some((patience.until, waiting.job)),
        Reason::Batch(until) => Some((until, waiting.job)),
        Reason::Locality(ref locality) => Some((locality.until, waiting.job)),
        Reason::Round(round) => round.until.map(|until| (until, waiting.job)),
        Reason::NoRoom(_) | Reason::Effort | Reason::Gang(_) | Reason::Recalled => None,
    };
    let Some((until, job)) = explanation.waiting.iter().filter_map(until).min() else { return };
    if plan.wake.is_none_or(|wake| wake > until) {
        faults.push(Fault::WakeAfterPatience { wake: plan.wake, job, until });
    }
}

/// Whether what is stopped may be, and what must be stopped is.
fn check_stops(snapshot: &Snapshot, plan: &Plan, faults: &mut Vec<Fault>) {
    let mut stopped: BTreeSet<RunId> = BTreeSet::new();
    for stop in &plan.stops {
        let run = stop.run;
        if stopped.contains(&run) {
            faults.push(Fault::StopTwice { run });
        } else if stopped.last().is_some_and(|last| *last > run) {
            faults.push(Fault::StopOutOfOrder { run });
        }
        stopped.insert(run);
        match (snapshot.runs.get(&run).map(|found| found.stage), stop.cause) {
            (None, _) => faults.push(Fault::StopOfNoRun { run }),
            (Some(Stage::Stray), StopCause::Stray)
            | (Some(Stage::Cancelled), StopCause::Cancelled) => {}
            (Some(Stage::Ordered | Stage::Running), StopCause::Gang)
                if gangs::is_broken(snapshot, run.job) => {}
            (Some(Stage::Running), StopCause::Round)
                if rounds::is_over(snapshot, plan.memory.allotment.as_deref(), run) => {}
            (Some(stage), cause) => faults.push(Fault::StopWithoutCause { run, stage, cause }),
        }
    }
    for run in snapshot.unwanted.difference(&stopped) {
        if let Some(found) = snapshot.runs.get(run) {
            faults.push(Fault::StopMissing { run: *run, stage: found.stage });
        }
    }
}

#[cfg(test)]
mod tests;
