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
use fleet::{Decision, JobId, Mark, Policy, Serial, Snapshot, Span, Stop, StopCause, TaskIndex};

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
    let first = first_placed(&allotment, (&entrants, &lots));
    let (view, decision) = {
        let told = (&entrants[..], &hopeless, first.as_ref());
        place(snapshot, &mut allotment, told, (policy, tiers, rest), (scratch, mark))
    };
    let mut stops = stops_of(&entrants, &allotment);
    // What is stopped makes room only once that is confirmed.
    let is_settled = stops.is_empty() && !entrants.iter().any(|entrant| entrant.is_leaving);
    let stay = if is_settled { BTreeSet::new() } else { view.wait(&decision) };
    seat_nominated(&mut allotment, first.as_ref(), &stay);
    let mut room_steps = 0;
    let mut unplaced = view.unplaced(&decision);
    if is_settled && !decision.plan.placements.is_empty() {
        // What is placed now is not in the snapshot yet.
        allotment.is_unfinished |= !unplaced.is_empty();
    } else if is_settled {
        if first.is_none() {
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

/// Of the jobs that are placed before all others those that want most, if there are any: smaller
/// ones could take what was made free for them.
fn first_placed(
    allotment: &Allotment,
    (entrants, lots): (&[Entrant<'_>], &Lots<'_>),
) -> Option<BTreeSet<JobId>> {
    let amount = |entrant: &Entrant<'_>| {
        let way = granted(allotment, entrant).filter(|_| entrant.held.is_none());
        way.map(|way| lots.amount(entrant, way).1 / u64::from(entrant.tasks.max(1)))
    };
    let nominated =
        entrants.iter().filter(|entrant| allotment.nominated.contains_key(&entrant.job.id));
    let amounts: Vec<(u64, JobId)> =
        nominated.filter_map(|entrant| Some((amount(entrant)?, entrant.job.id))).collect();
    let most = amounts.iter().map(|(amount, _)| *amount).max()?;
    Some(amounts.into_iter().filter(|(amount, _)| *amount == most).map(|(_, job)| job).collect())
}

/// Who was placed before all others, and does not stay, needs that no more; then others are next.
fn seat_nominated(
    allotment: &mut Allotment,
    first: Option<&BTreeSet<JobId>>,
    stay: &BTreeSet<JobId>,
) {
    let Some(first) = first else { return };
    let before = allotment.nominated.len();
    allotment.nominated.retain(|job, _| !first.contains(job) || stay.contains(job));
    allotment.is_unfinished |= allotment.nominated.len() < before;
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

/// Whether there is no room on the nodes for this way to run a job.
fn is_scattered(allotment: &Allotment, entrant: &Entrant<'_>, way: Way) -> bool {
    allotment.scattered.get(&entrant.job.id).is_some_and(|ways| ways.contains(&way))
}

/// What the other passes make of what was granted, and what they saw.
fn place(
    snapshot: &Snapshot,
    allotment: &mut Allotment,
    (entrants, hopeless, first): (&[Entrant<'_>], &BTreeSet<JobId>, Option<&BTreeSet<JobId>>),
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
