//! Suppositions: a snapshot as it would be if one thing were otherwise.
//!
//! Every function keeps what a snapshot promises: what is not free of a node
//! is what its runs hold, and the sums over nodes and tenants are those sums.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::snapshot::{Amounts, Waiting, is_unwanted};
use fleet::{
    Alternative, Attempt, Generation, JobId, NodeId, Placement, Plan, Run, RunId, Snapshot, Stage,
    Stop, StopCause, TaskIndex, Tenant,
};

/// Lets a run be gone, with all that it holds given back. Its task waits if it was recalled to
/// start again. Says on which node it was.
pub fn end(snapshot: &mut Snapshot, id: RunId) -> Option<NodeId> {
    let run = Arc::make_mut(&mut snapshot.runs).remove(&id)?;
    let (node, grant) = (run.placement.node, &run.placement.grant);
    let amounts = Amounts::of_grant(grant);
    let entry = &mut Arc::make_mut(&mut snapshot.nodes)[node.index()];
    Arc::make_mut(entry).free.give_back(grant);
    if entry.up {
        snapshot.held.subtract(amounts);
    }
    let tenants = Arc::make_mut(&mut snapshot.tenants);
    if let Some(held) = tenants.get_mut(&run.tenant) {
        held.subtract(amounts);
        let has_runs = *held != Amounts::default()
            || snapshot.runs.values().any(|other| other.tenant == run.tenant);
        if !has_runs {
            tenants.remove(&run.tenant);
        }
    }
    if is_unwanted(run.stage) {
        Arc::make_mut(&mut snapshot.unwanted).remove(&id);
    }
    if run.stage == Stage::Recalled {
        wait_again(snapshot, id);
    }
    if runs_of(snapshot, id.job).next().is_none() {
        Arc::make_mut(&mut snapshot.jobs).remove(&id.job);
    }
    Some(node)
}

/// Lets the task of a run wait for its next attempt.
fn wait_again(snapshot: &mut Snapshot, RunId { job, task, attempt }: RunId) {
    let backlog = Arc::make_mut(&mut snapshot.backlog);
    if !backlog.contains_key(&job) {
        let Some(job) = snapshot.jobs.get(&job).map(Arc::clone) else { return };
        let waiting = Waiting { fresh: 0..0, again: BTreeMap::new(), job };
        backlog.insert(waiting.job.id, Arc::new(waiting));
    }
    if let Some(waiting) = backlog.get_mut(&job) {
        Arc::make_mut(waiting).again.insert(task, Attempt(attempt.0 + 1));
    }
}

/// Lets a run be told to stop.
pub fn stop(snapshot: &mut Snapshot, Stop { run, cause }: &Stop) {
    if let Some(found) = Arc::make_mut(&mut snapshot.runs).get_mut(run) {
        Arc::make_mut(found).stage = match cause {
            StopCause::Gang | StopCause::Round => Stage::Recalled,
            StopCause::Stray | StopCause::Cancelled => Stage::Stopping,
        };
        Arc::make_mut(&mut snapshot.unwanted).remove(run);
    }
}

/// Lets a plan be carried out. Says which nodes are otherwise, in the order of the placements.
pub fn carry_out(snapshot: &mut Snapshot, plan: &Plan) -> Vec<NodeId> {
    plan.stops.iter().for_each(|one| stop(snapshot, one));
    let started = plan.placements.iter().filter_map(|placement| start(snapshot, placement));
    let nodes = started.collect();
    snapshot.memory = plan.memory.clone();
    nodes
}

/// Lets the alternatives of a waiting job be others.
pub fn ask(snapshot: &mut Snapshot, job: JobId, alternatives: Vec<Alternative>) {
    if let Some(waiting) = Arc::make_mut(&mut snapshot.backlog).get_mut(&job) {
        Arc::make_mut(&mut Arc::make_mut(waiting).job).alternatives = Arc::new(alternatives);
    }
}

/// Lets only so many tasks of a waiting job wait, those that go first.
pub fn ask_for_tasks(snapshot: &mut Snapshot, job: JobId, tasks: u32) {
    let Some(waiting) = Arc::make_mut(&mut snapshot.backlog).get_mut(&job) else { return };
    let waiting = Arc::make_mut(waiting);
    while waiting.count() > tasks && !waiting.fresh.is_empty() {
        waiting.fresh.end -= 1;
    }
    while waiting.count() > tasks.max(1) {
        waiting.again.pop_last();
    }
}

fn runs_of(snapshot: &Snapshot, job: JobId) -> impl Iterator<Item = &RunId> {
    let first = RunId { job, ..RunId::default() };
    let last = RunId { job, task: TaskIndex(u32::MAX), attempt: Attempt(u32::MAX) };
    snapshot.runs.range(first..=last).map(|(id, _)| id)
}

fn start(snapshot: &mut Snapshot, placement: &Placement) -> Option<NodeId> {
    let waits = snapshot.backlog.get(&placement.run.job).map(|waiting| Arc::clone(&waiting.job));
    let tenant = take_off(snapshot, placement.run)?;
    let amounts = Amounts::of_grant(&placement.grant);
    let entry = &mut Arc::make_mut(&mut snapshot.nodes)[placement.node.index()];
    Arc::make_mut(entry).free.take(&placement.grant);
    if entry.up {
        snapshot.held.add(amounts);
    }
    Arc::make_mut(&mut snapshot.tenants).entry(tenant.clone()).or_default().add(amounts);
    let (stage, since, generation) = (Stage::Ordered, snapshot.at, Generation::default());
    let run = Run { placement: placement.clone(), tenant, stage, since, generation };
    Arc::make_mut(&mut snapshot.runs).insert(placement.run, Arc::new(run));
    if let Some(job) = waits {
        Arc::make_mut(&mut snapshot.jobs).insert(job.id, job);
    }
    Some(placement.node)
}

/// Takes the task of a run off the backlog; says whose it is. Where tasks that were never started
/// are left before it, they wait for their first attempt by themselves.
fn take_off(snapshot: &mut Snapshot, run: RunId) -> Option<Tenant> {
    let backlog = Arc::make_mut(&mut snapshot.backlog);
    let waiting = Arc::make_mut(backlog.get_mut(&run.job)?);
    if waiting.again.remove(&run.task).is_none() && waiting.fresh.contains(&run.task.0) {
        for earlier in waiting.fresh.start..run.task.0 {
            waiting.again.insert(TaskIndex(earlier), Attempt(0));
        }
        waiting.fresh.start = run.task.0 + 1;
    }
    let tenant = waiting.job.tenant.clone();
    if waiting.count() == 0 {
        backlog.remove(&run.job);
    }
    Some(tenant)
}
