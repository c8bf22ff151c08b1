//! How jobs stand: what of them waits, may not run yet, ended, failed.
//!
//! Jobs that may be planned are in the backlog; those that are held, or that
//! begin after others, are parked beside it, where no plan sees them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::snapshot::Waiting;
use fleet::{
    Attempt, Dependency, Ending, Failure, Job, JobId, Run, RunId, Stage, TaskIndex, Time, Usage,
};

use super::image::JobImage;
use super::{Ledger, is_active};

/// Of how many tasks of a job that failed is kept how.
pub const FAILURES_MAX: usize = 16;

/// So many unlike requests are remembered to be shared; past it they are forgotten.
const REQUESTS_MAX: usize = 1_000;

/// A job and how many of its tasks have ended, one way or the other.
#[derive(Debug)]
pub(super) struct Record {
    pub(super) job: Arc<Job>,
    pub(super) done: u32,
    pub(super) failed: u32,
    pub(super) cancelled: u32,
    /// Whether a user holds it back.
    held: bool,
    /// The jobs that it still waits for.
    unmet: BTreeSet<JobId>,
    /// Tasks that failed and run again, with how often they did.
    failures: BTreeMap<TaskIndex, u32>,
    /// The latest attempt at tasks that did not end with their first.
    attempts: BTreeMap<TaskIndex, Attempt>,
    /// The first tasks that failed for good.
    failed_tasks: Vec<(TaskIndex, Failure)>,
    /// When its last task ended.
    ended: Option<Time>,
    /// What its runs used that have ended.
    pub(super) used: Usage,
}

/// How the tasks of one job stand. The five add up to the job's count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TaskTally {
    /// Tasks that wait.
    pub waiting: u32,
    /// Tasks of which an attempt is ordered or runs.
    pub running: u32,
    /// Tasks that did their work.
    pub done: u32,
    /// Tasks that failed and do not run again.
    pub failed: u32,
    /// Tasks that were cancelled before they ended.
    pub cancelled: u32,
}

/// How one job stands.
#[derive(Clone, Copy, Debug)]
pub struct Standing<'a> {
    /// The job.
    pub job: &'a Arc<Job>,
    /// Its tasks, counted.
    pub tally: TaskTally,
    /// Whether a user holds it back.
    pub held: bool,
    /// The jobs that it still waits for.
    pub unmet: &'a BTreeSet<JobId>,
    /// The first [`FAILURES_MAX`] tasks that failed for good, in the order in which they did.
    pub failed_tasks: &'a [(TaskIndex, Failure)],
    /// When its last task ended; `None` while some wait or run.
    pub ended: Option<Time>,
    /// What its runs used that have ended.
    pub used: Usage,
}

impl Record {
    fn new(job: Arc<Job>) -> Self {
        Self {
            job,
            done: 0,
            failed: 0,
            cancelled: 0,
            held: false,
            unmet: BTreeSet::new(),
            failures: BTreeMap::new(),
            attempts: BTreeMap::new(),
            failed_tasks: Vec::new(),
            ended: None,
            used: Usage::default(),
        }
    }

    pub(super) fn image(&self, waiting: Option<&Arc<Waiting>>) -> JobImage {
        let again = |waiting: &Waiting| waiting.again.iter().map(|(t, a)| (*t, *a)).collect();
        JobImage {
            job: Arc::clone(&self.job),
            done: self.done,
            failed: self.failed,
            cancelled: self.cancelled,
            held: self.held,
            unmet: self.unmet.iter().copied().collect(),
            failures: self.failures.iter().map(|(task, times)| (*task, *times)).collect(),
            attempts: self.attempts.iter().map(|(task, latest)| (*task, *latest)).collect(),
            failed_tasks: self.failed_tasks.clone(),
            ended: self.ended,
            used: self.used,
            waiting: waiting.map(|waiting| (waiting.fresh.clone(), again(waiting))),
        }
    }

    pub(super) fn of_image(stored: JobImage) -> Self {
        Self {
            job: stored.job,
            done: stored.done,
            failed: stored.failed,
            cancelled: stored.cancelled,
            held: stored.held,
            unmet: stored.unmet.into_iter().collect(),
            failures: stored.failures.into_iter().collect(),
            attempts: stored.attempts.into_iter().collect(),
            failed_tasks: stored.failed_tasks,
            ended: stored.ended,
            used: stored.used,
        }
    }

    fn is_over(&self) -> bool {
        let ended = u64::from(self.done) + u64::from(self.failed) + u64::from(self.cancelled);
        ended == u64::from(self.job.tasks)
    }

    /// Whether it ended as a job that follows it asks.
    fn meets(&self, ending: Ending) -> bool {
        match ending {
            Ending::Any => true,
            Ending::Done => self.done == self.job.tasks,
            Ending::NotDone => self.done < self.job.tasks,
        }
    }
}

impl Ledger {
    /// How the tasks of a job stand; `None` for a job that is not known.
    #[must_use]
    pub fn tally(&self, id: JobId) -> Option<TaskTally> {
        Some(self.standing(id)?.tally)
    }

    /// How a job stands; `None` for one that is not known.
    #[must_use]
    pub fn standing(&self, id: JobId) -> Option<Standing<'_>> {
        let record = self.jobs.get(&id)?;
        let active = self.runs_of(id).filter(|run| is_active(run)).count();
        let tally = TaskTally {
            waiting: self.waiting(id).map_or(0, |waiting| waiting.count()),
            running: u32::try_from(active).unwrap_or(u32::MAX),
            done: record.done,
            failed: record.failed,
            cancelled: record.cancelled,
        };
        Some(Standing {
            job: &record.job,
            tally,
            held: record.held,
            unmet: &record.unmet,
            failed_tasks: &record.failed_tasks,
            ended: record.ended,
            used: record.used,
        })
    }

    /// The latest attempt at a task of a job, that which waits, runs or has ended; `None` for a job
    /// that is not known.
    #[must_use]
    pub fn latest_attempt(&self, job: JobId, task: TaskIndex) -> Option<Attempt> {
        let record = self.jobs.get(&job)?;
        Some(record.attempts.get(&task).copied().unwrap_or_default())
    }

    /// The runs of a job that hold something, ascending.
    pub fn runs_of(&self, id: JobId) -> impl Iterator<Item = &Run> {
        let first = RunId { job: id, ..RunId::default() };
        let last = RunId { job: id, task: TaskIndex(u32::MAX), attempt: Attempt(u32::MAX) };
        self.runs.range(first..=last).map(|(_, run)| run.as_ref())
    }

    /// Takes a job in. A job that is known already is left as it is, so that asking twice is the
    /// same as asking once.
    pub(crate) fn submit(&mut self, mut job: Arc<Job>) {
        if self.jobs.contains_key(&job.id) {
            return;
        }
        assert!(job.tasks > 0 && !job.alternatives.is_empty(), "a job asks for something");
        self.arrivals.count(&job);
        self.share_request(&mut job);
        let id = job.id;
        self.newest = self.newest.max(Some(id));
        self.parked.insert(id, Arc::new(Waiting::all_of(Arc::clone(&job))));
        let mut record = Record::new(Arc::clone(&job));
        let mut can_begin = true;
        for Dependency { job: other, ending } in &job.after {
            match self.jobs.get(other) {
                Some(other) if other.ended.is_some() => can_begin &= other.meets(*ending),
                Some(_) => {
                    record.unmet.insert(*other);
                    self.followers.entry(*other).or_default().insert(id);
                }
                // Nothing is known of it any more, so that nobody can say how it ended.
                None => can_begin &= *ending == Ending::Any,
            }
        }
        self.jobs.insert(id, record);
        if can_begin {
            self.unpark(id);
        } else {
            self.cancel(id);
        }
    }

    /// Jobs that ask for the same hold it once: it is the larger part of what a job takes.
    pub(super) fn share_request(&mut self, job: &mut Arc<Job>) {
        match self.requests.get(&job.alternatives) {
            Some(known) if Arc::ptr_eq(known, &job.alternatives) => {}
            Some(known) => Arc::make_mut(job).alternatives = Arc::clone(known),
            None => {
                if self.requests.len() >= REQUESTS_MAX {
                    self.requests.clear();
                }
                self.requests.insert(Arc::clone(&job.alternatives));
            }
        }
    }

    /// Lets none of a job's tasks run any more.
    pub(crate) fn cancel(&mut self, id: JobId) {
        let mut jobs = vec![id];
        while let Some(id) = jobs.pop() {
            if !self.jobs.contains_key(&id) {
                continue;
            }
            let mut cancelled = self.waiting(id).map_or(0, |waiting| waiting.count());
            if self.parked.remove(&id).is_none() && cancelled > 0 {
                self.backlog_mut().remove(&id);
            }
            let active = self.runs_of(id).filter(|run| is_active(run));
            let active: Vec<_> = active.map(Run::id).collect();
            for run in active {
                self.set_stage(run, Stage::Cancelled);
                cancelled += 1;
            }
            let record = self.jobs.get_mut(&id).expect("just asked");
            record.cancelled += cancelled;
            let unmet = std::mem::take(&mut record.unmet);
            for other in unmet {
                if let Some(followers) = self.followers.get_mut(&other) {
                    followers.remove(&id);
                }
            }
            jobs.extend(self.end_if_over(id));
        }
    }

    /// Keeps the tasks of a job that wait from being started; what runs goes on.
    pub(crate) fn hold(&mut self, id: JobId) {
        let Some(record) = self.jobs.get_mut(&id) else { return };
        record.held = true;
        if self.backlog.contains_key(&id)
            && let Some(waiting) = self.backlog_mut().remove(&id)
        {
            self.parked.insert(id, waiting);
        }
    }

    /// Lets a job that was held run.
    pub(crate) fn let_go(&mut self, id: JobId) {
        let Some(record) = self.jobs.get_mut(&id) else { return };
        record.held = false;
        self.unpark(id);
    }

    /// What of a job waits.
    pub(super) fn waiting(&self, id: JobId) -> Option<&Arc<Waiting>> {
        self.backlog.get(&id).or_else(|| self.parked.get(&id))
    }

    pub(super) fn is_waiting(&self, job: JobId, task: TaskIndex) -> bool {
        self.waiting(job).is_some_and(|waiting| {
            waiting.fresh.contains(&task.0) || waiting.again.contains_key(&task)
        })
    }

    /// Lets the task of a run that came to nothing wait for its next attempt.
    pub(super) fn wait_again(&mut self, id: RunId) {
        let next = Attempt(id.attempt.0 + 1);
        let record = self.jobs.get_mut(&id.job).expect("a job that is known");
        let latest = record.attempts.entry(id.task).or_insert(next);
        *latest = next.max(*latest);
        let (job, is_parked) = (Arc::clone(&record.job), record.held);
        let new = || {
            let nothing = job.tasks..job.tasks;
            Arc::new(Waiting { job, fresh: nothing, again: BTreeMap::new() })
        };
        let place = if is_parked { &mut self.parked } else { self.backlog_mut() };
        let waiting = place.entry(id.job).or_insert_with(new);
        Arc::make_mut(waiting).again.insert(id.task, next);
    }

    /// Takes a task out of those that wait.
    pub(super) fn remove_waiting(&mut self, job: JobId, task: TaskIndex) {
        if !self.is_waiting(job, task) {
            return;
        }
        let is_parked = self.parked.contains_key(&job);
        let place = if is_parked { &mut self.parked } else { self.backlog_mut() };
        let Some(waiting) = place.get_mut(&job) else { return };
        let waiting = Arc::make_mut(waiting);
        if waiting.again.remove(&task).is_none() && waiting.fresh.contains(&task.0) {
            // Tasks are placed in ascending order, so what lies before this one in the range was
            // placed by the same plan or waits: it is kept as an attempt of its own.
            for earlier in waiting.fresh.start..task.0 {
                waiting.again.insert(TaskIndex(earlier), Attempt(0));
            }
            waiting.fresh.start = task.0 + 1;
        }
        if waiting.count() == 0 {
            place.remove(&job);
        }
    }

    /// A task of a job did its work.
    pub(super) fn count_done(&mut self, id: JobId) {
        self.jobs.get_mut(&id).expect("a job that is known").done += 1;
        self.settle(id);
    }

    /// The run that worked on a task failed: the task runs again, or has failed for good.
    pub(super) fn count_failed(&mut self, id: RunId, failure: Failure) {
        let record = self.jobs.get_mut(&id.job).expect("a job that is known");
        let runs_again = if failure == Failure::Lost {
            record.job.restart.requeue
        } else {
            let failures = record.failures.entry(id.task).or_insert(0);
            *failures += 1;
            *failures <= record.job.restart.retries
        };
        if runs_again {
            self.wait_again(id);
            return;
        }
        record.failures.remove(&id.task);
        record.failed += 1;
        if record.failed_tasks.len() < FAILURES_MAX {
            record.failed_tasks.push((id.task, failure));
        }
        self.settle(id.job);
    }

    /// Lets what follows a job go on, or cancels it, if that job has ended.
    fn settle(&mut self, id: JobId) {
        for follower in self.end_if_over(id) {
            self.cancel(follower);
        }
    }

    /// Takes note of the end of a job whose tasks have all ended, and lets those that follow it
    /// begin. Those that never can are returned.
    fn end_if_over(&mut self, id: JobId) -> Vec<JobId> {
        let record = self.jobs.get_mut(&id).expect("a job that is known");
        if !record.is_over() || record.ended.is_some() {
            return Vec::new();
        }
        record.ended = Some(self.at);
        record.failures = BTreeMap::new();
        self.ended.push_back(id);
        self.forget_progress(id);
        let mut never = Vec::new();
        for follower in self.followers.remove(&id).unwrap_or_default() {
            let Some(ended) = self.jobs.get(&id) else { continue };
            let Some(waits) = self.jobs.get(&follower) else { continue };
            let of_this = waits.job.after.iter().filter(|after| after.job == id);
            let is_met = of_this.clone().all(|after| ended.meets(after.ending));
            if !is_met {
                never.push(follower);
            } else if let Some(waits) = self.jobs.get_mut(&follower) {
                waits.unmet.remove(&id);
                self.unpark(follower);
            }
        }
        self.forget_ended();
        never
    }

    /// Forgets the oldest of the jobs that have ended, if there are too many of them. A job of
    /// which a run is still there waits for its turn to be forgotten.
    fn forget_ended(&mut self) {
        let Some(most) = self.ended_max else { return };
        while self.ended.len() > most.max(1)
            && let Some(oldest) = self.ended.pop_front()
        {
            if self.runs_of(oldest).next().is_some() {
                self.ended.push_back(oldest);
                return;
            }
            self.jobs.remove(&oldest);
        }
    }

    /// Lets a job be planned, if nothing keeps it back.
    fn unpark(&mut self, id: JobId) {
        let Some(record) = self.jobs.get(&id) else { return };
        if record.held || !record.unmet.is_empty() {
            return;
        }
        if let Some(waiting) = self.parked.remove(&id) {
            self.backlog_mut().insert(id, waiting);
        }
    }
}
