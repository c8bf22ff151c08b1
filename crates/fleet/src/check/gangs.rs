//! Whether gangs start together or not at all.

use std::collections::{BTreeMap, BTreeSet};

use super::Fault;
use crate::explanation::Reason;
use crate::id::{Attempt, JobId, NodeId, RunId, TaskIndex};
use crate::job::Gang;
use crate::plan::{Decision, Placement};
use crate::run::Stage;
use crate::snapshot::Snapshot;

/// Checks every gang of which something is started, and every reason that speaks of a gang.
pub(super) fn check(snapshot: &Snapshot, decision: &Decision, faults: &mut Vec<Fault>) {
    let mut started: BTreeMap<JobId, Vec<&Placement>> = BTreeMap::new();
    for placement in &decision.plan.placements {
        let waiting = snapshot.backlog.get(&placement.run.job);
        if waiting.is_some_and(|waiting| waiting.job.gang.is_some()) {
            started.entry(placement.run.job).or_default().push(placement);
        }
    }
    for (job, placements) in started {
        let waiting = &snapshot.backlog[&job];
        let (tasks, waits) = (placements.len(), waiting.tasks().count());
        if tasks < waits {
            faults.push(Fault::GangPartly { job, tasks, waits });
        }
        if let Some(run) = active(snapshot, job) {
            faults.push(Fault::GangRuns { job, run });
        }
        check_spread(snapshot, (job, waiting.job.gang.unwrap_or_default()), &placements, faults);
    }
    for told in &decision.explanation.waiting {
        check_reason(snapshot, told.job, &told.reason, faults);
    }
}

fn check_spread(
    snapshot: &Snapshot,
    (job, gang): (JobId, Gang),
    placements: &[&Placement],
    faults: &mut Vec<Fault>,
) {
    let mut on_node: BTreeMap<NodeId, u32> = BTreeMap::new();
    let mut under: BTreeSet<Option<&str>> = BTreeSet::new();
    let mut kinds = BTreeSet::new();
    for placement in placements {
        *on_node.entry(placement.node).or_default() += 1;
        kinds.insert((placement.alternative, placement.class));
        if let Some(entry) = snapshot.nodes.get(placement.node.index()) {
            let attachment = entry.node.attachment.as_ref();
            let lowest = attachment.and_then(|attachment| attachment.switches.first());
            under.insert(lowest.map(|uplink| uplink.switch.as_str()));
        }
    }
    if kinds.len() > 1 {
        faults.push(Fault::GangUnlike { job, ways: kinds.len() });
    }
    if let (Some(most), Some((node, tasks))) =
        (gang.tasks_per_node, on_node.iter().max_by_key(|(_, tasks)| **tasks))
        && *tasks > most
    {
        faults.push(Fault::GangOnNode { job, node: *node, tasks: *tasks, most });
    }
    if let Some(most) = gang.switches
        && under.len() > most as usize
    {
        faults.push(Fault::GangUnderSwitches { job, switches: under.len(), most });
    }
}

fn check_reason(snapshot: &Snapshot, job: JobId, reason: &Reason, faults: &mut Vec<Fault>) {
    let waiting = snapshot.backlog.get(&job);
    let gang = waiting.filter(|waiting| waiting.job.gang.is_some());
    let is_true = match reason {
        Reason::Gang(room) => gang.is_some_and(|waiting| {
            room.asked as usize == waiting.tasks().count() && (1..room.asked).contains(&room.fit)
        }),
        Reason::Recalled => gang.is_some() && active(snapshot, job).is_some(),
        _ => true,
    };
    if !is_true {
        faults.push(Fault::GangReason { job });
    }
}

/// Whether a gang has tasks that wait while others hold something.
pub(super) fn is_broken(snapshot: &Snapshot, job: JobId) -> bool {
    let waiting = snapshot.backlog.get(&job);
    waiting.is_some_and(|waiting| waiting.job.gang.is_some()) && active(snapshot, job).is_some()
}

/// A run that works on a task of the job.
fn active(snapshot: &Snapshot, job: JobId) -> Option<RunId> {
    let first = RunId { job, ..RunId::default() };
    let last = RunId { job, task: TaskIndex(u32::MAX), attempt: Attempt(u32::MAX) };
    let mut runs = snapshot.runs.range(first..=last);
    let is_active =
        |stage: Stage| matches!(stage, Stage::Ordered | Stage::Running | Stage::Recalled);
    runs.find(|(_, run)| is_active(run.stage)).map(|(id, _)| *id)
}
