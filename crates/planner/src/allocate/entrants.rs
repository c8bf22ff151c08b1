//! Who takes part in a division: every task that waits or runs, a gang as one.
//!
//! What runs on a node that takes no new work is left alone, and so is a gang
//! of which a part was lost: it is stopped to start again as a whole, and takes
//! part from then on.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::policy::OrderKey;
use fleet::snapshot::{Progress, Waiting, Way};
use fleet::{Job, JobId, Rate, Run, RunId, Snapshot, Span, Stage, TaskIndex, Time, Work};

use super::lots::{Lots, Offer};
use crate::shapes::JobShape;
use crate::{Scratch, queue};

/// The most that take part; who is behind them in the queue waits for others to end.
const ENTRANTS_MAX: usize = 20_000;
/// Work that is not known is taken to be so much time at the best rate.
const UNKNOWN: Span = Span::seconds(3600);

/// A task, or a gang.
pub(super) struct Entrant<'a> {
    pub(super) job: &'a Arc<Job>,
    /// Which task; of a gang the first.
    pub(super) task: TaskIndex,
    /// How many tasks it stands for.
    pub(super) tasks: u32,
    /// What could be given to it.
    pub(super) offers: Arc<Vec<Offer>>,
    /// What it runs on.
    pub(super) held: Option<Way>,
    /// Whether it must keep that, since not all of it has been seen running yet.
    pub(super) is_pinned: bool,
    /// Whether it was told to stop, and has not.
    pub(super) is_leaving: bool,
    /// The runs that could be stopped.
    pub(super) runs: Vec<RunId>,
    /// What it has done, as far as is known.
    pub(super) done: Work,
    /// What is left to do, as far as is known.
    pub(super) remaining: Work,
    /// Where it waits: since when.
    pub(super) idle_since: Time,
}

impl Entrant<'_> {
    /// Whether it runs where it is fastest.
    pub(super) fn has_its_best(&self) -> bool {
        let best = self.offers.iter().map(|offer| offer.rate).max();
        let held = self.held.and_then(|held| self.offer_at(held));
        held.is_some_and(|place| Some(self.offers[place].rate) == best)
    }

    /// The position of a way among what could be given to it.
    pub(super) fn offer_at(&self, way: Way) -> Option<usize> {
        self.offers.iter().position(|offer| offer.way == way)
    }
}

/// Who takes part.
pub(super) struct Field<'a> {
    /// Everybody who does, in the order of the queue.
    pub(super) entrants: Vec<Entrant<'a>>,
    /// The jobs that could run nowhere, ascending.
    pub(super) hopeless: BTreeSet<JobId>,
}

/// Everybody who takes part.
pub(super) fn field<'a>(
    snapshot: &'a Snapshot,
    order: &[OrderKey],
    lots: &Lots<'a>,
    scratch: &mut Scratch,
) -> Field<'a> {
    let mut hopeless = BTreeSet::new();
    let mut gathering =
        Gathering { snapshot, lots, scratch, working: BTreeSet::new(), known: BTreeMap::new() };
    let mut found = gathering.running();
    for waiting in snapshot.backlog.values() {
        if gathering.is_hopeless(waiting) {
            hopeless.insert(waiting.job.id);
        } else {
            found.extend(gathering.waiting(waiting));
        }
    }
    let share = |job: &Job| {
        let held = snapshot.tenants.get(&job.tenant);
        held.map_or(0, |held| held.dominant_of(&snapshot.capacity))
    };
    let by = |key: &OrderKey, one: &Job, other: &Job| match key {
        OrderKey::FairShare => share(one).cmp(&share(other)),
        _ => queue::compare_jobs(one, other, *key),
    };
    found.sort_by(|one, other| {
        let keys = order.iter().map(|key| by(key, one.job, other.job));
        let keys = keys.chain([one.job.id.cmp(&other.job.id), one.task.cmp(&other.task)]);
        keys.fold(Ordering::Equal, Ordering::then)
    });
    // What runs takes part in any case: it could not be stopped otherwise.
    let mut waiting = ENTRANTS_MAX;
    found.retain(|entrant| {
        let stays = entrant.held.is_some() || waiting > 0;
        waiting -= usize::from(stays && entrant.held.is_none());
        stays
    });
    Field { entrants: found, hopeless }
}

struct Gathering<'a, 'l> {
    snapshot: &'a Snapshot,
    lots: &'l Lots<'a>,
    scratch: &'l mut Scratch,
    /// The jobs of which runs work on tasks.
    working: BTreeSet<JobId>,
    /// What could be given to so many tasks of a shape.
    known: BTreeMap<(JobShape, u32), Arc<Vec<Offer>>>,
}

impl<'a> Gathering<'a, '_> {
    /// What runs, was ordered, or is about to stop and will wait.
    fn running(&mut self) -> Vec<Entrant<'a>> {
        let mut by_key: BTreeMap<(JobId, TaskIndex), Vec<&'a Run>> = BTreeMap::new();
        for run in self.snapshot.runs.values().map(AsRef::as_ref) {
            let is_active = matches!(run.stage, Stage::Ordered | Stage::Running | Stage::Recalled);
            let Some(job) = self.snapshot.jobs.get(&run.id().job).filter(|_| is_active) else {
                continue;
            };
            let task = if job.gang.is_some() { TaskIndex(0) } else { run.id().task };
            self.working.insert(job.id);
            by_key.entry((job.id, task)).or_default().push(run);
        }
        let mut found = Vec::with_capacity(by_key.len());
        for ((job, task), runs) in by_key {
            let job = &self.snapshot.jobs[&job];
            let is_broken = job.gang.is_some() && self.snapshot.backlog.contains_key(&job.id);
            let is_up = |run: &&Run| self.snapshot.node(run.placement.node).up;
            if !is_broken && runs.iter().all(is_up) {
                found.push(self.active(job, task, &runs));
            }
        }
        found
    }

    fn active(&mut self, job: &'a Arc<Job>, task: TaskIndex, runs: &[&'a Run]) -> Entrant<'a> {
        let is_leaving = runs.iter().any(|run| run.stage == Stage::Recalled);
        let first = &runs[0].placement;
        let held = Way { alternative: first.alternative, class: first.class };
        let held = self.lots.canonical(held);
        let can_stop = runs.iter().filter(|run| run.stage == Stage::Running);
        let least = runs.iter().map(|run| self.done_by(run)).min().unwrap_or_default();
        let tasks = u32::try_from(runs.len()).unwrap_or(u32::MAX);
        Entrant {
            held: (!is_leaving).then_some(held),
            is_pinned: runs.iter().any(|run| run.stage == Stage::Ordered),
            is_leaving,
            runs: can_stop.map(|run| run.id()).collect(),
            idle_since: self.snapshot.at,
            ..self.entrant(job, (task, tasks), least)
        }
    }

    /// Whether no node that is up could take a task of a job, or not all of a gang at once.
    fn is_hopeless(&mut self, waiting: &Waiting) -> bool {
        let tasks = if waiting.job.gang.is_some() { waiting.count() } else { 1 };
        self.offers(&waiting.job, tasks).is_empty()
    }

    /// What of a job waits: a gang as a whole, or as many tasks as could run at the same time.
    fn waiting(&mut self, waiting: &'a Waiting) -> Vec<Entrant<'a>> {
        let job = &waiting.job;
        if job.gang.is_some() {
            if self.working.contains(&job.id) {
                return Vec::new();
            }
            let done = waiting.tasks().map(|(task, _)| self.progress(job, task).done).min();
            let key = (TaskIndex(0), waiting.count());
            return vec![self.idle(waiting, key, done.unwrap_or_default())];
        }
        let offers = self.offers(job, 1);
        let at_once = |offer: &Offer| self.lots.capacity[offer.lot] / offer.amount.max(1);
        let most: u64 = offers.iter().map(at_once).fold(0, u64::saturating_add);
        let most = usize::try_from(most).unwrap_or(usize::MAX).min(ENTRANTS_MAX);
        let mut tasks = self.longest_idle(waiting, most);
        tasks.truncate(most);
        let idle = |task| self.idle(waiting, (task, 1), self.progress(job, task).done);
        tasks.into_iter().map(idle).collect()
    }

    /// The tasks of an array that have something first, then those that have waited for longest; at
    /// least so many, if there are.
    fn longest_idle(&self, waiting: &Waiting, most: usize) -> Vec<TaskIndex> {
        let before = self.snapshot.memory.allotment.as_deref();
        let granted = before.and_then(|before| before.granted.get(&waiting.job.id));
        let has = |task: &TaskIndex| granted.is_some_and(|tasks| tasks.contains_key(task));
        let again = waiting.again.keys().copied();
        // Those that never ran have waited since the job arrived, all alike.
        let fresh = waiting.fresh.clone().map(TaskIndex).take(most);
        let mut tasks: Vec<TaskIndex> = again.chain(fresh).collect();
        tasks.sort_by_cached_key(|task| {
            let told = self.progress(&waiting.job, *task);
            (!has(task), told.at.max(waiting.job.arrival), *task)
        });
        tasks
    }

    fn idle(&mut self, waiting: &'a Waiting, key: (TaskIndex, u32), done: Work) -> Entrant<'a> {
        let job = &waiting.job;
        // A gang stands for all of its tasks that wait, of which the first may be done.
        let told = match job.gang {
            Some(_) => waiting.tasks().map(|(task, _)| self.progress(job, task).at).max(),
            None => Some(self.progress(job, key.0).at),
        };
        Entrant {
            idle_since: told.unwrap_or_default().max(job.arrival),
            ..self.entrant(job, key, done)
        }
    }

    fn entrant(
        &mut self,
        job: &'a Arc<Job>,
        (task, tasks): (TaskIndex, u32),
        done: Work,
    ) -> Entrant<'a> {
        let offers = self.offers(job, tasks);
        let best = offers.iter().map(|offer| offer.rate).max().unwrap_or_default();
        Entrant {
            remaining: remaining(job, done, best).max(Work(1)),
            job,
            task,
            tasks,
            offers,
            held: None,
            is_pinned: false,
            is_leaving: false,
            runs: Vec::new(),
            done,
            idle_since: self.snapshot.at,
        }
    }

    fn offers(&mut self, job: &Job, tasks: u32) -> Arc<Vec<Offer>> {
        let key = (self.scratch.shapes.of(job), tasks);
        let known = self.known.entry(key);
        let found = known.or_insert_with(|| Arc::new(self.lots.offers((job, tasks), self.scratch)));
        Arc::clone(found)
    }

    fn progress(&self, job: &Job, task: TaskIndex) -> Progress {
        self.snapshot.progress_of(job.id, task).unwrap_or_default()
    }

    /// What the task of a run has done by now: what was told, and the rest by the rate that was
    /// reckoned with.
    fn done_by(&self, run: &Run) -> Work {
        let id = run.id();
        let told = self.snapshot.progress_of(id.job, id.task).unwrap_or_default();
        let since = told.at.max(run.since);
        told.done.saturating_add(work_in(self.snapshot.at.since(since), run.placement.rate))
    }
}

/// What is left of a task. One that has outrun what was declared is taken to have an eighth of what
/// it did before it.
pub(super) fn remaining(job: &Job, done: Work, best: Rate) -> Work {
    let Some(work) = job.work else { return work_in(UNKNOWN, best) };
    match work.saturating_sub(done) {
        Work(0) => Work(done.0 / 8),
        left => left,
    }
}

/// What is done in a time at a rate.
fn work_in(span: Span, rate: Rate) -> Work {
    let work = u128::from(span.0) * u128::from(rate.0) / 1_000_000;
    Work(u64::try_from(work).unwrap_or(u64::MAX))
}
