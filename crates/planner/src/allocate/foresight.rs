//! Foresight: which of what was granted would find no room once all has stopped that has to.
//!
//! Where a division stops nobody, what finds no room is given back and nothing is
//! lost. Where it does, those who stop would have done so in vain, and again with
//! every division. So the stops are supposed to have ended, and what was granted is
//! placed as it will be then, with others moved to make room. With little effort
//! less is foreseen.

use std::collections::BTreeSet;

use fleet::explanation::TierInForce;
use fleet::policy::Allocate;
use fleet::snapshot::Allotment;
use fleet::{JobId, Policy, Snapshot, Stop, TaskIndex};

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
    for stop in stops {
        suppose::stop(&mut next, stop);
        suppose::end(&mut next, stop.run);
    }
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
