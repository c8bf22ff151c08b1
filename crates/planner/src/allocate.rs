//! Allocate: who runs now, on what, and who waits, where a policy divides devices over time.
//!
//! In comes the snapshot; out goes a plan as the other passes make it, of what
//! was granted. First everything that could run is gathered (`entrants`), and
//! the devices, by model (`lots`). Devices are divided when a round is over, or
//! a node came or went ([`crate::apportion`]); in between what is free is given
//! to those who have nothing. Then the other passes see of the jobs that wait
//! only what was granted, each on that model alone (`view`), and place it.
//!
//! Who runs on what was not granted to it is stopped, and what was granted in
//! its place starts once the body has confirmed that. The division is in the
//! plan's memory, so that the plan after the stops goes by the same one.
//! Where the nodes have no room for what was granted others are moved to make it
//! (`clearing`), or it is given back.

mod clearing;
mod division;
mod entrants;
mod lots;
mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use fleet::explanation::TierInForce;
use fleet::policy::Allocate;
use fleet::snapshot::{Allotment, Way};
use fleet::{Decision, JobId, Mark, Policy, Serial, Snapshot, Span, Stop, StopCause};

use crate::feasible::Rules;
use crate::{Effort, Scratch};
use division::Round;
use entrants::{Entrant, Field, field};
use lots::Lots;
use view::View;

/// Decides where devices are divided over time.
pub(crate) fn plan(
    snapshot: &Snapshot,
    (policy, tiers, allocate): (&Policy, &[TierInForce], &Allocate),
    effort: Effort,
    scratch: &mut Scratch,
    mark: &mut Mark<'_>,
) -> Decision {
    let lots = Lots::of(snapshot);
    let Field { entrants, hopeless } = field(snapshot, &policy.order, &lots, scratch);
    let mut round =
        Round { snapshot, allocate, lots: &lots, steps_max: effort.steps / 2, steps: 0 };
    let mut allotment = round.renew(&entrants);
    let steps = round.steps;
    let rest = Effort { steps: effort.steps.saturating_sub(steps), ..effort };
    let (view, decision) = {
        let told = (&entrants[..], &hopeless, tiers);
        place(snapshot, &mut allotment, told, (policy, rest), (scratch, mark))
    };
    let mut stops = stops_of(&entrants, &allotment);
    // What is stopped makes room only once that is confirmed.
    let is_settled = stops.is_empty() && !entrants.iter().any(|entrant| entrant.is_leaving);
    let are_placed = seat_nominated(&mut allotment, &decision, is_settled);
    let mut room_steps = 0;
    if is_settled {
        let mut unplaced = view.unplaced(&decision);
        if !are_placed {
            let rules = Rules { classes: &snapshot.classes, oversubscribe: policy.oversubscribe };
            round.steps_max = rest.steps - decision.explanation.steps;
            round.steps = 0;
            stops = round.make_room((&mut allotment, &entrants), rules, &mut unplaced);
            room_steps = round.steps;
        }
        give_back(&mut allotment, unplaced, snapshot.serial);
    }
    let until = allocate.rounds.map(|rounds| allotment.began.after(rounds));
    let boundary = until.filter(|_| could_be_otherwise(&allotment, &entrants));
    let mut decision = view.widen(snapshot, decision, (&allotment, boundary));
    decision.plan.stops.append(&mut stops);
    decision.plan.stops.sort_unstable_by_key(|stop| stop.run);
    let at_once = allotment.is_unfinished.then(|| snapshot.at.after(Span(1)));
    let others_next = allotment.nominated.values().min().copied();
    let wakes = [decision.plan.wake, boundary, at_once, others_next];
    decision.plan.wake = wakes.into_iter().flatten().min();
    decision.plan.memory.allotment = Some(Arc::new(allotment));
    decision.explanation.steps += steps + room_steps;
    decision
}

/// Who has been placed before all others needs that no more, and neither does who found no room
/// though nobody is about to stop. Whether that was the last: then the others are next.
fn seat_nominated(allotment: &mut Allotment, decision: &Decision, is_settled: bool) -> bool {
    if allotment.nominated.is_empty() {
        return false;
    }
    for placement in &decision.plan.placements {
        allotment.nominated.remove(&placement.run.job);
    }
    if is_settled {
        allotment.nominated.clear();
    }
    let are_placed = allotment.nominated.is_empty();
    allotment.is_unfinished |= are_placed;
    are_placed
}

/// Lets jobs that found no nodes for what they were granted have nothing for now.
fn give_back(allotment: &mut Allotment, unplaced: BTreeSet<JobId>, now: Serial) {
    allotment.is_unfinished |= !unplaced.is_empty();
    if !unplaced.is_empty() {
        allotment.scattered_at = now;
    }
    for job in unplaced {
        let ways = allotment.granted.remove(&job).unwrap_or_default().into_values();
        allotment.scattered.entry(job).or_default().extend(ways);
        allotment.outbid.entry(job).or_default();
    }
}

/// Whether there is no room on the nodes for this way to run a job.
fn is_scattered(allotment: &Allotment, entrant: &Entrant<'_>, way: Way) -> bool {
    allotment.scattered.get(&entrant.job.id).is_some_and(|ways| ways.contains(&way))
}

/// What the other passes make of what was granted, and what they saw.
fn place(
    snapshot: &Snapshot,
    allotment: &mut Allotment,
    (entrants, hopeless, tiers): (&[Entrant<'_>], &BTreeSet<JobId>, &[TierInForce]),
    (policy, effort): (&Policy, Effort),
    (scratch, mark): (&mut Scratch, &mut Mark<'_>),
) -> (View, Decision) {
    // Who has no nodes for anything is told what it lacks, as it would be without a division.
    let mut told = kept_out(allotment, entrants);
    told.extend(hopeless);
    let view = View::of(snapshot, allotment, (entrants, &told));
    let decision = crate::plan_what_waits(&view.snapshot, (policy, tiers), effort, scratch, mark);
    let found = view.started_ungranted(&decision);
    if found.is_empty() {
        return (view, decision);
    }
    // There is room by now, which is not theirs before it is granted: that is for the next plan.
    for job in found {
        allotment.scattered.remove(&job);
        allotment.is_unfinished = true;
    }
    let view = View::of(snapshot, allotment, (entrants, hopeless));
    // What was placed is in the scratch, and is not going to be true.
    *scratch = Scratch::default();
    scratch.sync(&view.snapshot, policy, tiers);
    let steps = Effort { steps: effort.steps - decision.explanation.steps, ..effort };
    let mut again = crate::plan_what_waits(&view.snapshot, (policy, tiers), steps, scratch, mark);
    again.explanation.steps += decision.explanation.steps;
    (view, again)
}

/// The jobs that found no nodes for any way to run them.
fn kept_out(allotment: &Allotment, entrants: &[Entrant<'_>]) -> BTreeSet<JobId> {
    let is_kept_out = |entrant: &&Entrant<'_>| {
        let mut ways = entrant.offers.iter().map(|offer| offer.way);
        entrant.held.is_none() && ways.all(|way| is_scattered(allotment, entrant, way))
    };
    entrants.iter().filter(is_kept_out).map(|entrant| entrant.job.id).collect()
}

/// Whether another division could differ from this one though nobody comes or goes: somebody has
/// not what is best for it, and is not kept from it by the nodes alone.
fn could_be_otherwise(allotment: &Allotment, entrants: &[Entrant<'_>]) -> bool {
    let somebody_runs = entrants.iter().any(|entrant| entrant.held.is_some());
    let kept_out = kept_out(allotment, entrants);
    entrants.iter().any(|entrant| {
        !entrant.has_its_best() && (somebody_runs || !kept_out.contains(&entrant.job.id))
    })
}

/// The runs that have to make way.
fn stops_of(entrants: &[Entrant<'_>], allotment: &Allotment) -> Vec<Stop> {
    let goes_on = |entrant: &&Entrant<'_>| {
        let granted = granted(allotment, entrant);
        entrant.held.is_none_or(|held| granted == Some(held))
    };
    let over = entrants.iter().filter(|entrant| !goes_on(entrant));
    let stop = |run: &fleet::RunId| Stop { run: *run, cause: StopCause::Round };
    over.flat_map(|entrant| entrant.runs.iter().map(stop)).collect()
}

fn granted(allotment: &Allotment, entrant: &Entrant<'_>) -> Option<Way> {
    allotment.granted.get(&entrant.job.id)?.get(&entrant.task).copied()
}
