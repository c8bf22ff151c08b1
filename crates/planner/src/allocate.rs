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
//! (`clearing`), and who needs it is placed before them (`first`); or it is given
//! back. Before anybody is stopped it is looked ahead for room (`foresight`).

mod clearing;
mod division;
mod entrants;
mod first;
mod foresight;
mod lots;
mod view;

use std::collections::BTreeSet;
use std::sync::Arc;

use fleet::explanation::TierInForce;
use fleet::policy::Allocate;
use fleet::snapshot::{Allotment, Way};
use fleet::{
    Decision, JobId, Mark, Policy, Run, Serial, Snapshot, Span, Stage, Stop, StopCause, TaskIndex,
    Time,
};

use crate::feasible::Rules;
use crate::{Effort, Scratch};
use division::{ROOM_TIME, Round};
use entrants::{Entrant, Field, field};
use first::First;
use lots::Lots;
use view::View;

/// How often devices are divided anew without what would find no room.
const DIVISIONS_MAX: u32 = 4;
/// With fewer steps than that nothing is foreseen.
const FORESIGHT_LEAST: u64 = 64;

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
    let mut round = Round::new((snapshot, allocate, &lots), effort.steps / 2);
    let mut allotment = round.renew(&entrants);
    let mut stops = stops_of(&entrants, &allotment);
    let context = (policy, tiers, effort);
    foresee(&mut round, context, (&entrants, &mut allotment, &mut stops));
    let first = First::of(&allotment, (&entrants, &lots), snapshot);
    let rest = Effort { steps: effort.steps.saturating_sub(round.steps), ..effort };
    let (view, decision) = {
        let told = (&entrants[..], &hopeless, first.as_ref());
        place(snapshot, &mut allotment, told, (policy, tiers, rest), (scratch, mark))
    };
    let spent = round.steps + decision.explanation.steps;
    // What stops makes room only once that is confirmed, if that does not take too long.
    let has_stops = !stops.is_empty() || !decision.plan.stops.is_empty();
    allotment.leaving_since = leaving_since(snapshot, has_stops);
    let long_enough = allotment.leaving_since.map(|since| since.after(ROOM_TIME));
    let is_settled = stops.is_empty() && long_enough.is_none_or(|end| end <= snapshot.at);
    let mut unplaced = view.unplaced(&decision);
    if let Some(first) = &first {
        let stay = if is_settled { BTreeSet::new() } else { view.wait(&decision) };
        allotment.is_unfinished |= first.seat(&mut allotment, &stay);
        unplaced.retain(|(job, _)| first.jobs.contains(job));
    }
    let settles = long_enough.filter(|end| *end > snapshot.at && !unplaced.is_empty());
    if is_settled && !decision.plan.placements.is_empty() {
        // What is placed now is not in the snapshot yet.
        allotment.is_unfinished |= !unplaced.is_empty();
    } else if is_settled {
        round.steps = spent;
        if first.is_none() {
            let rules = Rules { classes: &snapshot.classes, oversubscribe: policy.oversubscribe };
            round.steps_max = effort.steps.saturating_sub(spent);
            stops = round.make_room((&mut allotment, &entrants), rules, &mut unplaced);
        }
        give_back(&mut allotment, unplaced, snapshot.serial);
    }
    let steps = spent.max(round.steps);
    let until = allocate.rounds.map(|rounds| allotment.began.after(rounds));
    let boundary = until.filter(|_| could_be_otherwise(&allotment, &entrants));
    let mut decision = view.widen(snapshot, decision, (&allotment, boundary, first.as_ref()));
    decision.plan.stops.append(&mut stops);
    decision.plan.stops.sort_unstable_by_key(|stop| stop.run);
    let wakes = [decision.plan.wake, boundary, settles, wake(&allotment, snapshot.at)];
    decision.plan.wake = wakes.into_iter().flatten().min();
    decision.plan.memory.allotment = Some(Arc::new(allotment));
    decision.explanation.steps = steps;
    decision
}

/// When the next plan is due within a division: at once where there is more to do, or when others
/// have waited for long enough for the room of a job.
fn wake(allotment: &Allotment, now: Time) -> Option<Time> {
    let at_once = allotment.is_unfinished.then(|| now.after(Span(1)));
    let others = allotment.nominated.values().map(|nomination| nomination.until).min();
    at_once.into_iter().chain(others).min()
}

/// Since when some run or other holds what it is about to give back, those of this plan included.
fn leaving_since(snapshot: &Snapshot, has_stops: bool) -> Option<Time> {
    let leaves = |run: &Arc<Run>| !matches!(run.stage, Stage::Ordered | Stage::Running);
    let is_up = |run: &Arc<Run>| snapshot.node(run.placement.node).up;
    let is_leaving = has_stops || snapshot.runs.values().any(|run| leaves(run) && is_up(run));
    let before = snapshot.memory.allotment.as_ref().and_then(|before| before.leaving_since);
    is_leaving.then(|| before.unwrap_or(snapshot.at))
}

/// Divides again, without what would find no room though others stop for it.
fn foresee(
    round: &mut Round<'_>,
    (policy, tiers, effort): (&Policy, &[TierInForce], Effort),
    (entrants, allotment, stops): (&[Entrant<'_>], &mut Allotment, &mut Vec<Stop>),
) {
    for _ in 0..DIVISIONS_MAX {
        let left = effort.steps.saturating_sub(round.steps) / 4;
        let is_new = allotment.began == round.snapshot.at;
        if stops.is_empty() || !is_new || left < FORESIGHT_LEAST {
            return;
        }
        let context = (policy, tiers, round.allocate);
        let effort = Effort { steps: left, ..effort };
        let (unplaced, steps) = foresight::without_room(
            round.snapshot,
            (allotment, stops),
            context,
            round.lots,
            effort,
        );
        round.steps += steps;
        if unplaced.is_empty() {
            return;
        }
        for (job, task) in unplaced {
            let way = allotment.granted.get(&job).and_then(|tasks| tasks.get(&task));
            round.barred.extend(way.map(|way| (job, task, *way)));
        }
        round.steps_max = left;
        *allotment = round.divide_anew(entrants);
        *stops = stops_of(entrants, allotment);
    }
}

/// Lets tasks that found no nodes for what they were granted have nothing for now.
fn give_back(allotment: &mut Allotment, unplaced: BTreeSet<(JobId, TaskIndex)>, now: Serial) {
    allotment.is_unfinished |= !unplaced.is_empty();
    if !unplaced.is_empty() {
        allotment.scattered_at = now;
    }
    for (job, task) in unplaced {
        let Some(granted) = allotment.granted.get_mut(&job) else { continue };
        allotment.scattered.entry(job).or_default().extend(granted.remove(&task));
        if granted.is_empty() {
            allotment.granted.remove(&job);
        }
        allotment.outbid.entry(job).or_default();
    }
}

/// Whether there is no room on the nodes for this way to run a job: what runs so has its room.
fn is_scattered(allotment: &Allotment, entrant: &Entrant<'_>, way: Way) -> bool {
    let ways = allotment.scattered.get(&entrant.job.id).filter(|_| entrant.held != Some(way));
    ways.is_some_and(|ways| ways.contains(&way))
}

/// What the other passes make of what was granted, and what they saw.
fn place(
    snapshot: &Snapshot,
    allotment: &mut Allotment,
    (entrants, hopeless, first): (&[Entrant<'_>], &BTreeSet<JobId>, Option<&First<'_>>),
    (policy, tiers, effort): (&Policy, &[TierInForce], Effort),
    (scratch, mark): (&mut Scratch, &mut Mark<'_>),
) -> (View, Decision) {
    // Who has no nodes for anything is told what it lacks, as it would be without a division.
    let mut told = kept_out(allotment, entrants);
    told.extend(hopeless);
    let view = View::of(snapshot, allotment, (entrants, &told), first);
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
    let view = View::of(snapshot, allotment, (entrants, hopeless), first);
    // What was placed is in the scratch, and is not going to be true.
    *scratch = Scratch::default();
    scratch.sync(&view.snapshot, policy, tiers);
    let steps = Effort { steps: effort.steps - decision.explanation.steps, ..effort };
    let mut again = crate::plan_what_waits(&view.snapshot, (policy, tiers), steps, scratch, mark);
    again.explanation.steps += decision.explanation.steps;
    (view, again)
}

/// The jobs of which no task that waits found nodes for any way to run it.
fn kept_out(allotment: &Allotment, entrants: &[Entrant<'_>]) -> BTreeSet<JobId> {
    let mut kept_out = BTreeSet::new();
    let mut open = BTreeSet::new();
    for entrant in entrants.iter().filter(|entrant| entrant.held.is_none()) {
        let mut ways = entrant.offers.iter().map(|offer| offer.way);
        let is_kept_out = granted(allotment, entrant).is_none()
            && ways.all(|way| is_scattered(allotment, entrant, way));
        if is_kept_out { &mut kept_out } else { &mut open }.insert(entrant.job.id);
    }
    &kept_out - &open
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
