//! Explain: why the plan is as it is, and why what waits waits.
//!
//! Reasons hold for the fleet as it will be once the plan is carried out. Jobs
//! of one shape that find no room share one reason.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::explanation::{Explanation, GangRoom, Reason, StillWaiting, Tally, TierInForce};
use fleet::{Gang, Snapshot, Time};

use crate::Scratch;
use crate::dice::Dice;
use crate::gang;
use crate::groups::Groups;
use crate::search::{Found, Left};
use crate::shapes::{JobShape, ShapeId, Shapes};

pub(crate) fn explain(
    snapshot: &Snapshot,
    tiers: &[TierInForce],
    found: &Found<'_>,
    scratch: &mut Scratch,
) -> Explanation {
    let effort = Arc::new(Reason::Effort);
    let until = found.held_back.as_ref().map_or(snapshot.at, |gate| gate.until);
    let batch = Arc::new(Reason::Batch(until));
    let recalled = Arc::new(Reason::Recalled);
    let Scratch { groups, shapes, reasons, .. } = &mut *scratch;
    reasons.sync(groups, shapes);
    let mut waiting = Vec::with_capacity(found.left.len());
    for left in &found.left {
        let is_recalled = found.recalled.contains(&left.waiting.job.id);
        let wait = found.waits.get(&left.waiting.job.id);
        let reason = match (left.unseen, &found.held_back) {
            _ if is_recalled => Arc::clone(&recalled),
            (true, _) => Arc::clone(&effort),
            (false, Some(gate)) if gate.holds(&left.waiting.job) => Arc::clone(&batch),
            (false, _) => match wait {
                Some(wait) => Arc::new(Reason::Locality(*wait)),
                None => reason(left, found, scratch),
            },
        };
        waiting.push(StillWaiting { job: left.waiting.job.id, tasks: left.tasks, reason });
    }
    assert!(waiting.is_sorted_by(|one, next| one.job < next.job), "each job has one reason");
    Explanation {
        busy: snapshot.held.busy(&snapshot.capacity),
        tiers: tiers.to_vec(),
        oversubscribe: found.weigher.policy.oversubscribe,
        choices: found.choices.clone(),
        waiting,
        steps: found.steps,
    }
}

/// The earliest time at which a job's patience, its batch or its wait for a node ends.
pub(crate) fn wake(explanation: &Explanation) -> Option<Time> {
    let until = |waiting: &StillWaiting| match *waiting.reason {
        Reason::Patience(patience) => Some(patience.until),
        Reason::Batch(until) => Some(until),
        Reason::Locality(wait) => Some(wait.until),
        Reason::Round(round) => round.until,
        Reason::NoRoom(_) | Reason::Effort | Reason::Gang(_) | Reason::Recalled => None,
    };
    explanation.waiting.iter().filter_map(until).min()
}

/// Reasons for want of room, by shape of job; kept while no group changes.
#[derive(Debug, Default)]
pub(crate) struct Reasons {
    /// Changes of groups and numbering of shapes that they hold for.
    holds_for: (u64, u64),
    no_room: BTreeMap<JobShape, Arc<Reason>>,
    gangs: BTreeMap<(JobShape, u32, Gang), Arc<Reason>>,
}

impl Reasons {
    /// Forgets what no longer holds.
    pub(crate) fn sync(&mut self, groups: &Groups, shapes: &Shapes) {
        let now = (groups.log.end(), shapes.epoch);
        if self.holds_for != now {
            self.holds_for = now;
            self.no_room.clear();
            self.gangs.clear();
        }
    }
}

fn reason(left: &Left<'_>, found: &Found<'_>, scratch: &mut Scratch) -> Arc<Reason> {
    let job = &left.waiting.job;
    let shape = scratch.shapes.of(job);
    if let Some(known) = scratch.reasons.no_room.get(&shape) {
        return Arc::clone(known);
    }
    if let Some(gang) = job.gang
        && let Some(reason) = reason_of_gang(left, found, (&shape, gang), scratch)
    {
        return reason;
    }
    let dice = &mut Dice::none();
    let weighed = found.weigher.weigh(left.waiting, &shape, found.rotation, dice, scratch);
    assert!(weighed.best.is_none(), "a job that could start does not wait");
    match weighed.patience {
        Some(patience) => Arc::new(Reason::Patience(patience)),
        None => {
            let reason = Arc::new(Reason::NoRoom(tallies(&shape, scratch)));
            scratch.reasons.no_room.insert(shape, Arc::clone(&reason));
            reason
        }
    }
}

/// Why a gang waits, where some of its tasks would find room.
fn reason_of_gang(
    left: &Left<'_>,
    found: &Found<'_>,
    (shape, gang): (&JobShape, Gang),
    scratch: &mut Scratch,
) -> Option<Arc<Reason>> {
    let asked = left.waiting.count();
    let key = (JobShape::clone(shape), asked, gang);
    if let Some(known) = scratch.reasons.gangs.get(&key) {
        return Some(Arc::clone(known));
    }
    shape.iter().for_each(|one| scratch.shapes.refresh(*one, &scratch.groups));
    let gathered = gang::gather(&found.weigher, left.waiting, (shape, gang), scratch);
    assert!(gathered.members.is_empty(), "a gang that could start does not wait");
    if gathered.fit == 0 {
        return None;
    }
    let reason = Arc::new(Reason::Gang(GangRoom { asked, fit: gathered.fit }));
    scratch.reasons.gangs.insert(key, Arc::clone(&reason));
    Some(reason)
}

fn tallies(shape: &JobShape, scratch: &Scratch) -> Vec<Tally> {
    let Scratch { groups, shapes, .. } = scratch;
    let tally = |(alternative, one): (u16, &ShapeId)| {
        let fell_out = shapes.fell_out(*one, groups);
        Tally { alternative, fell_out }
    };
    (0..=u16::MAX).zip(shape.iter()).map(tally).collect()
}
