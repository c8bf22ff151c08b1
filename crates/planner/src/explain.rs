//! Explain: why the plan is as it is, and why what waits waits.
//!
//! Reasons hold for the fleet as it will be once the plan is carried out. Jobs
//! of one shape that find no room share one reason.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::explanation::{
    Constraint, Explanation, FellOut, Reason, StillWaiting, Tally, TierInForce,
};
use fleet::{Snapshot, Time};

use crate::Scratch;
use crate::search::{Found, Left};
use crate::shapes::{JobShape, Options};

pub(crate) fn explain(
    snapshot: &Snapshot,
    tiers: &[TierInForce],
    found: &Found<'_>,
    scratch: &mut Scratch,
) -> Explanation {
    let effort = Arc::new(Reason::Effort);
    let mut full: BTreeMap<JobShape, Arc<Reason>> = BTreeMap::new();
    let mut waiting = Vec::with_capacity(found.left.len());
    for left in &found.left {
        let reason =
            if left.unseen { Arc::clone(&effort) } else { reason(left, found, &mut full, scratch) };
        waiting.push(StillWaiting { job: left.waiting.job.id, tasks: left.tasks, reason });
    }
    assert!(waiting.is_sorted_by(|one, next| one.job < next.job), "each job has one reason");
    Explanation {
        busy: snapshot.held.busy(&snapshot.capacity),
        tiers: tiers.to_vec(),
        choices: found.choices.clone(),
        waiting,
        steps: found.steps,
    }
}

/// The earliest time at which a job's patience ends.
pub(crate) fn wake(explanation: &Explanation) -> Option<Time> {
    let until = |waiting: &StillWaiting| match *waiting.reason {
        Reason::Patience(patience) => Some(patience.until),
        Reason::NoRoom(_) | Reason::Effort => None,
    };
    explanation.waiting.iter().filter_map(until).min()
}

fn reason(
    left: &Left<'_>,
    found: &Found<'_>,
    full: &mut BTreeMap<JobShape, Arc<Reason>>,
    scratch: &mut Scratch,
) -> Arc<Reason> {
    let job = &left.waiting.job;
    let shape = scratch.shapes.of(job);
    if let Some(known) = full.get(&shape) {
        return Arc::clone(known);
    }
    let weighed = found.weigher.weigh(job, &shape, found.rotation, scratch);
    assert!(weighed.best.is_none(), "a job that could start does not wait");
    match weighed.patience {
        Some(patience) => Arc::new(Reason::Patience(patience)),
        None => {
            let reason = Arc::new(Reason::NoRoom(tallies(&shape, scratch)));
            full.insert(shape, Arc::clone(&reason));
            reason
        }
    }
}

fn tallies(shape: &JobShape, scratch: &mut Scratch) -> Vec<Tally> {
    let Scratch { groups, shapes } = scratch;
    let mut tallies = Vec::with_capacity(shape.len());
    for (alternative, one) in shape.iter().enumerate() {
        let mut fell_out: BTreeMap<Constraint, FellOut> = BTreeMap::new();
        for (id, group) in groups.iter() {
            let Options::Lacks(misfit) = shapes.options(*one, id, group) else {
                unreachable!("a job for which there is no room fits nowhere")
            };
            let tally = fell_out.entry(misfit.constraint).or_insert(FellOut {
                constraint: misfit.constraint,
                nodes: 0,
                asked: misfit.asked,
                best: 0,
            });
            tally.nodes += group.count();
            tally.best = tally.best.max(misfit.best);
        }
        let alternative = u16::try_from(alternative).expect("a job has few alternatives");
        tallies.push(Tally { alternative, fell_out: fell_out.into_values().collect() });
    }
    tallies
}
