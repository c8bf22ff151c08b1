//! Defective planners: each breaks one law, and only that the law notices is asserted.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::policy::EXTERNALS_MAX;
use fleet::policy::Scale;
use fleet::snapshot::{Parts, Waiting};
use fleet::{
    Attempt, Bytes, Changes, Job, JobId, Level, Micro, Milli, Millijoules, Policy, Reason, Serial,
    Snapshot, Span, Stage,
};
use planner::{Effort, plan};

use crate::law::{Planning, build};

/// Wakes at another time every time that it is asked.
pub(crate) fn depends_on_a_counter() -> Box<Planning<'static>> {
    let mut count = 0;
    Box::new(move |snapshot, policy, effort, scratch| {
        let mut decision = plan(snapshot, policy, effort, scratch);
        count += 1;
        decision.plan.wake = Some(snapshot.at.after(Span(count)));
        decision
    })
}

/// Remembers the last node of the list, not that with the largest id.
pub(crate) fn builds_by_position(parts: Parts) -> Snapshot {
    let last = parts.nodes.last().map(|(node, _)| node.id);
    let mut snapshot = build(parts);
    snapshot.memory.rotation = last;
    snapshot
}

/// Remembers jobs, and takes what was ordered and not yet seen for still waiting.
pub(crate) fn places_again_what_was_ordered() -> Box<Planning<'static>> {
    let mut jobs: BTreeMap<JobId, Arc<Job>> = BTreeMap::new();
    Box::new(move |snapshot, policy, effort, scratch| {
        let seen = snapshot.backlog.values().map(|waiting| Arc::clone(&waiting.job));
        jobs.extend(seen.map(|job| (job.id, job)));
        let mut wrong = snapshot.clone();
        let backlog = Arc::make_mut(&mut wrong.backlog);
        for run in snapshot.runs.values().filter(|run| run.stage == Stage::Ordered) {
            let id = run.id();
            let Some(job) = jobs.get(&id.job) else { continue };
            let waiting = backlog.entry(id.job).or_insert_with(|| {
                let (job, fresh) = (Arc::clone(job), job.tasks..job.tasks);
                Arc::new(Waiting { job, fresh, again: BTreeMap::new() })
            });
            Arc::make_mut(waiting).again.insert(id.task, Attempt(id.attempt.0 + 1));
        }
        plan(&wrong, policy, effort, scratch)
    })
}

/// Believes that nothing runs.
pub(crate) fn oversubscribes() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, effort, scratch| {
        let mut wrong = snapshot.clone();
        for entry in Arc::make_mut(&mut wrong.nodes) {
            let free = entry.node.capacity(&snapshot.classes);
            Arc::make_mut(entry).free = free;
        }
        plan(&wrong, policy, effort, scratch)
    })
}

/// Says of one node more than there is that it fell out.
pub(crate) fn gives_a_false_reason() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, effort, scratch| {
        let mut decision = plan(snapshot, policy, effort, scratch);
        for waiting in &mut decision.explanation.waiting {
            if let Reason::NoRoom(tallies) = Arc::make_mut(&mut waiting.reason) {
                let fell_out = tallies.iter_mut().flat_map(|tally| tally.fell_out.iter_mut());
                for one in fell_out.filter(|one| one.best > 0) {
                    one.best -= 1;
                }
            }
        }
        decision
    })
}

/// Says nothing of the last job that waits.
pub(crate) fn forgets_a_waiting_job() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, effort, scratch| {
        let mut decision = plan(snapshot, policy, effort, scratch);
        decision.explanation.waiting.pop();
        decision
    })
}

/// Works for as long as it likes.
pub(crate) fn ignores_effort() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, _, scratch| plan(snapshot, policy, Effort::DEFAULT, scratch))
}

/// Where effort is short, looks at the last jobs only.
pub(crate) fn starts_at_the_end_when_effort_is_short() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, effort, scratch| {
        let mut wrong = snapshot.clone();
        if effort.steps < 100 {
            Arc::make_mut(&mut wrong.backlog).pop_first();
        }
        plan(&wrong, policy, effort, scratch)
    })
}

/// Believes that every snapshot follows the last one and that nothing has changed since.
pub(crate) fn keeps_a_stale_cache() -> Box<Planning<'static>> {
    let mut last: Option<Serial> = None;
    Box::new(move |snapshot, policy, effort, scratch| {
        let mut wrong = snapshot.clone();
        wrong.changes = Changes { since: last, nodes: Vec::new() };
        last = Some(snapshot.serial);
        plan(&wrong, policy, effort, scratch)
    })
}

/// Takes as small what is small in seconds, whatever the policy says.
pub(crate) fn thinks_in_seconds() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, effort, scratch| {
        let scale = Scale {
            completion: Span::seconds(60),
            utilisation: Milli(100),
            fragmentation: Milli(1000),
            companion: Milli(1000),
            rarity: Milli(10_000),
            energy: Millijoules(100_000_000),
            deadline: Micro(50_000),
            locality: Bytes(10_000_000_000),
            interference: Span::seconds(60),
            externals: [Level(1_000_000); EXTERNALS_MAX],
        };
        plan(snapshot, &Policy { scale, ..policy.clone() }, effort, scratch)
    })
}
