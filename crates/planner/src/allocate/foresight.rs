//! Foresight: which of what was granted would find no room once all has stopped that has to.
//!
//! Where a division stops nobody, what finds no room is given back and nothing is
//! lost. Where it does, those who stop would have done so in vain, and again with
//! every division. So the stops are supposed to have ended, and what was granted is
//! placed as it will be then, with others moved to make room.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::explanation::TierInForce;
use fleet::policy::Allocate;
use fleet::snapshot::{Allotment, Waiting};
use fleet::{Attempt, JobId, Policy, RunId, Snapshot, Stop, TaskIndex};

use super::division::Round;
use super::entrants::{Field, field};
use super::lots::Lots;
use super::place;
use crate::feasible::Rules;
use crate::inquiry::suppose;
use crate::{Effort, Scratch};

/// The tasks that would find no room, of a gang the first; and the steps that it took to find out.
pub(super) fn without_room(
    snapshot: &Snapshot,
    (allotment, stops): (&Allotment, &[Stop]),
    (policy, tiers, allocate): (&Policy, &[TierInForce], &Allocate),
    lots: &Lots<'_>,
    effort: Effort,
) -> (BTreeSet<(JobId, TaskIndex)>, u64) {
    let mut next = snapshot.clone();
    stops.iter().for_each(|stop| stopped(&mut next, stop.run));
    let mut allotment = allotment.clone();
    let mut scratch = Scratch::default();
    scratch.sync(&next, policy, tiers);
    let Field { entrants, hopeless } = field(&next, &policy.order, lots, &mut scratch);
    let told = (&entrants[..], &hopeless, None);
    let context = (policy, tiers, effort);
    let (view, decision) = place(&next, &mut allotment, told, context, (&mut scratch, &mut |_| {}));
    let mut unplaced = view.unplaced(&decision);
    let steps = decision.explanation.steps;
    if unplaced.is_empty() {
        return (unplaced, steps);
    }
    let decision = view.widen(&next, decision, (&allotment, None, None));
    suppose::carry_out(&mut next, &decision.plan);
    let Field { entrants, .. } = field(&next, &policy.order, lots, &mut scratch);
    let mut round = Round::new((&next, allocate, lots), effort.steps - steps);
    let rules = Rules { classes: &next.classes, oversubscribe: policy.oversubscribe };
    round.make_room((&mut allotment, &entrants), rules, &mut unplaced);
    (unplaced, steps + round.steps)
}

/// Lets a run have stopped, and its task wait.
fn stopped(snapshot: &mut Snapshot, run: RunId) {
    let RunId { job, task, attempt } = run;
    let Some(known) = snapshot.jobs.get(&job).map(Arc::clone) else { return };
    suppose::end(snapshot, run);
    let nobody = || Arc::new(Waiting { job: known, fresh: 0..0, again: BTreeMap::new() });
    let waiting = Arc::make_mut(&mut snapshot.backlog).entry(job).or_insert_with(nobody);
    Arc::make_mut(waiting).again.insert(task, Attempt(attempt.0.saturating_add(1)));
}
