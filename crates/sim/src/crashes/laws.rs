//! What must hold whenever a turn was taken, whatever happened before.
//!
//! In come the world as it really is, what the controller shows, and what users
//! were told; out go breaches. The laws of [`crate::checkers`] are part of it;
//! those here are about failures, about what users asked, and about programs
//! that go on where others died.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use controller::{Ledger, Request};
use fleet::{
    Ending, Failure, Generation, Job, JobId, Milli, NodeId, Order, RunId, Stage, TaskIndex,
};
use thiserror::Error;

use crate::checkers::{self, Checkers};
use crate::world::{Event, Running, Start, TruthView};

/// What can be broken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Breach {
    /// A law of every simulation.
    #[error(transparent)]
    Law(#[from] checkers::Breach),
    /// The controller found a fault in its own plan.
    #[error("the plan is at fault: {0}")]
    Plan(String),
    /// A task runs again that was done, in sight.
    #[error("run {0} was started though its task was done before")]
    DoneRunsAgain(RunId),
    /// A task runs more often than its job says.
    #[error("run {0} was started though its task had failed for good")]
    FailedRunsAgain(RunId),
    /// A job was started that was held, or cancelled, before it was decided.
    #[error("run {0} was started though its job was kept from starting before")]
    KeptStarts(RunId),
    /// A run was started on a node that was drained before it was decided.
    #[error("run {0} was started on node {1}, which was drained before")]
    DrainedTakes(RunId, NodeId),
    /// A job began before the one that it waits for was done.
    #[error("run {0} was started before job {1} was done")]
    Early(RunId, JobId),
    /// The ledger that the next program reads is not the one that the last one had.
    #[error("the next program does not know what the last one knew, at {0}")]
    Forgotten(&'static str),
    /// The journal cannot be read, or is damaged.
    #[error("the journal is damaged: {0}")]
    Journal(String),
    /// A job has not ended though nothing goes wrong any more.
    #[error("job {0} has not ended, and nothing happens any more")]
    NotEnded(JobId),
}

/// What a controller shows after a turn.
pub(super) struct Shown<'a> {
    pub(super) truth: TruthView<'a>,
    pub(super) ledger: &'a Ledger,
    /// What ran when the controller last looked.
    pub(super) seen: &'a BTreeMap<RunId, Running>,
    /// Whether it was told of everything then, and the runs that it was ever told of.
    pub(super) was_full: bool,
    pub(super) told_of: &'a BTreeSet<RunId>,
    pub(super) oversubscribe: Milli,
}

/// What is remembered from turn to turn.
pub(super) struct Laws {
    checkers: Checkers,
    jobs: BTreeMap<JobId, Arc<Job>>,
    read: usize,
    tasks: BTreeMap<(JobId, TaskIndex), Fate>,
    /// Jobs that must not start by orders that are newer than this, and nodes that must not take.
    kept: BTreeMap<JobId, Generation>,
    cancelled: BTreeMap<JobId, Generation>,
    drained: BTreeMap<NodeId, Generation>,
}

/// What became of the attempts at one task.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    done: bool,
    done_in_sight: bool,
    /// Failures in sight, and whether it was lost in sight.
    failures: u32,
    lost: bool,
}

impl Laws {
    pub(super) fn new(seed: u64, jobs: &[Arc<Job>]) -> Self {
        Self {
            checkers: Checkers::new(seed, String::new()),
            jobs: jobs.iter().map(|job| (job.id, Arc::clone(job))).collect(),
            read: 0,
            tasks: BTreeMap::new(),
            kept: BTreeMap::new(),
            cancelled: BTreeMap::new(),
            drained: BTreeMap::new(),
        }
    }

    /// Notes what is about to be asked: what it lets go may start from now on.
    pub(super) fn sent(&mut self, request: &Request) {
        match request {
            Request::Release(job) => drop(self.kept.remove(job)),
            Request::Resume(node) => drop(self.drained.remove(node)),
            _ => {}
        }
    }

    /// Notes what was acknowledged, with the generation of the latest orders.
    pub(super) fn acknowledged(&mut self, request: &Request, generation: Generation) {
        match request {
            Request::Submit(job) => self.checkers.submit(job),
            Request::Hold(job) => drop(self.kept.insert(*job, generation)),
            Request::Cancel(job) => drop(self.cancelled.insert(*job, generation)),
            Request::Drain(node) => drop(self.drained.insert(*node, generation)),
            Request::Release(_) | Request::Resume(_) => self.sent(request),
        }
    }

    /// What is broken at any time, in the middle of a turn too.
    pub(super) fn look(&mut self, shown: &Shown<'_>, given: &[Order]) -> Vec<Breach> {
        let mut breaches = Vec::new();
        let log = &shown.truth.log[self.read..];
        self.read = shown.truth.log.len();
        for entry in log {
            match &entry.event {
                Event::Started(start) => breaches.extend(self.started(start)),
                Event::Done { run, unseen } => {
                    let fate = self.tasks.entry((run.job, run.task)).or_default();
                    fate.done = true;
                    fate.done_in_sight |= !unseen;
                }
                Event::Failed { run, failure, unseen } => {
                    let fate = self.tasks.entry((run.job, run.task)).or_default();
                    match failure {
                        _ if *unseen => {}
                        Failure::Lost => fate.lost = true,
                        _ => fate.failures += 1,
                    }
                }
                _ => {}
            }
        }
        let (truth, ledger) = (&shown.truth, shown.ledger);
        let found = self.checkers.look_between(truth, (ledger, given), shown.oversubscribe);
        breaches.extend(found.into_iter().map(Breach::Law));
        breaches
    }

    fn started(&self, start: &Start) -> Option<Breach> {
        let run = start.run;
        let job = self.jobs.get(&run.job)?;
        let fate = self.tasks.get(&(run.job, run.task)).copied().unwrap_or_default();
        let is_newer = |than: Option<&Generation>| than.is_some_and(|it| start.generation > *it);
        let is_early = |after: &&fleet::Dependency| {
            let other = &self.jobs[&after.job];
            let is_done =
                |task| self.tasks.get(&(other.id, TaskIndex(task))).is_some_and(|it| it.done);
            after.ending == Ending::Done && !(0..other.tasks).all(is_done)
        };
        if fate.done_in_sight {
            Some(Breach::DoneRunsAgain(run))
        } else if fate.failures > job.restart.retries || fate.lost && !job.restart.requeue {
            Some(Breach::FailedRunsAgain(run))
        } else if is_newer(self.kept.get(&run.job)) || is_newer(self.cancelled.get(&run.job)) {
            Some(Breach::KeptStarts(run))
        } else if is_newer(self.drained.get(&start.node)) {
            Some(Breach::DrainedTakes(run, start.node))
        } else {
            job.after.iter().find(is_early).map(|after| Breach::Early(run, after.job))
        }
    }

    /// What is broken after a whole turn, in which everything asked was taken in.
    pub(super) fn look_after_turn(&self, shown: &Shown<'_>) -> Vec<Breach> {
        let mut found = self.checkers.tallies_of(shown.ledger);
        agree(shown, &mut found);
        attempts(shown, &mut found);
        found.into_iter().map(Breach::Law).collect()
    }

    /// What has not ended.
    pub(super) fn not_ended(&self, ledger: &Ledger) -> Vec<Breach> {
        let has_ended =
            |id: &&JobId| ledger.standing(**id).is_some_and(|standing| standing.ended.is_some());
        self.jobs.keys().filter(|id| !has_ended(id)).map(|id| Breach::NotEnded(*id)).collect()
    }
}

/// On nodes that can be reached the ledger holds what ran when it was looked at, and what was
/// ordered since.
fn agree(shown: &Shown<'_>, found: &mut Vec<checkers::Breach>) {
    let is_up = |node: NodeId| shown.truth.stations[node.index()].is_up();
    let held: BTreeMap<RunId, _> = shown.ledger.runs().map(|run| (run.id(), run)).collect();
    for (id, running) in shown.seen.iter().filter(|(_, running)| is_up(running.node)) {
        let node = running.node;
        match held.get(id).map(|run| &run.placement) {
            None => found.push(checkers::Breach::Unheld { run: *id, node }),
            Some(placement) if (placement.node, &placement.grant) != (node, &running.grant) => {
                let held_on = placement.node;
                found.push(checkers::Breach::Misplaced { run: *id, node, held_on });
            }
            Some(_) => {}
        }
    }
    for (id, run) in held {
        let node = run.placement.node;
        let was_told_of = shown.told_of.contains(&id);
        let must_be_there = match run.stage {
            // The order may be on its way.
            Stage::Ordered => false,
            // A run of which only a receipt told may have died with its node before the receipt
            // came: that shows when everything is told.
            Stage::Running | Stage::Stray | Stage::Cancelled => was_told_of || shown.was_full,
            // It may have been stopped while the order to start it was on its way.
            Stage::Recalled | Stage::Stopping => was_told_of,
        };
        if must_be_there && is_up(node) && !shown.seen.contains_key(&id) {
            found.push(checkers::Breach::Missing { run: id, node });
        }
    }
}

/// At most one attempt of a task goes on in sight, and what is unwanted was told to stop.
fn attempts(shown: &Shown<'_>, found: &mut Vec<checkers::Breach>) {
    let in_sight = |node: NodeId| shown.truth.stations[node.index()].is_up();
    let of_stage = |stages: &[Stage]| -> BTreeSet<RunId> {
        let runs = shown.ledger.runs().filter(|run| stages.contains(&run.stage));
        runs.map(fleet::Run::id).collect()
    };
    let stopping = of_stage(&[Stage::Stopping, Stage::Recalled]);
    let mut before: Option<RunId> = None;
    for (run, running) in shown.truth.runs {
        if !in_sight(running.node) || stopping.contains(run) {
            continue;
        }
        if let Some(other) = before
            && (other.job, other.task) == (run.job, run.task)
        {
            found.push(checkers::Breach::TwoAttempts { run: *run, other: other.attempt.0 });
        }
        before = Some(*run);
    }
    for run in of_stage(&[Stage::Stray, Stage::Cancelled]) {
        if shown.truth.runs.get(&run).is_some_and(|running| in_sight(running.node)) {
            found.push(checkers::Breach::UnwantedGoesOn { run });
        }
    }
}
