//! What the other passes see of a fleet whose devices are divided, and the way back.
//!
//! Of the jobs that wait they see the tasks to which something was granted, each with the one
//! alternative and model that it was given, and with what is left of its work. Tasks of one job
//! that were granted unlike things are as many jobs, under ids that no job has.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::explanation::{Reason, RoundWait, StillWaiting};
use fleet::snapshot::{Allotment, Waiting, Way};
use fleet::{Alternative, Attempt, Decision, Job, JobId, Rate, Snapshot, TaskIndex, Time};

use super::entrants::{Entrant, remaining};
use super::first::First;

/// Ids from here on stand for parts of jobs. Jobs are numbered upwards, and never get so far.
const PARTS_FROM: u64 = 1 << 63;

/// A fleet as the other passes see it.
pub(super) struct View {
    pub(super) snapshot: Snapshot,
    /// What stands under each id.
    parts: BTreeMap<JobId, Part>,
}

/// The tasks of a job that were granted the same.
#[derive(Clone, Copy)]
struct Part {
    job: JobId,
    way: Way,
}

impl View {
    /// Of the jobs that were granted something all are seen, or those alone that are placed first.
    pub(super) fn of(
        snapshot: &Snapshot,
        allotment: &Allotment,
        (entrants, hopeless): (&[Entrant<'_>], &BTreeSet<JobId>),
        first: Option<&First<'_>>,
    ) -> Self {
        let mut backlog: BTreeMap<JobId, Arc<Waiting>> = BTreeMap::new();
        let mut parts = BTreeMap::new();
        let mut next = PARTS_FROM;
        let entrants: BTreeSet<JobId> = entrants.iter().map(|entrant| entrant.job.id).collect();
        for (id, waiting) in snapshot.backlog.iter() {
            // A gang of which a part was lost; who is behind too many others takes no part either.
            let is_broken = waiting.job.gang.is_some()
                && snapshot.jobs.contains_key(id)
                && !entrants.contains(id);
            if is_broken || hopeless.contains(id) {
                // It is stopped and waits for that, or is told what it lacks.
                backlog.insert(*id, Arc::clone(waiting));
                continue;
            }
            let waits = |way: &Way| first.is_some_and(|first| first.holds_up(*id, *way));
            let mut ways = by_way(waiting, allotment);
            ways.retain(|way, tasks| {
                if let Some(one) = first.and_then(|first| first.nomination(allotment, *id))
                    && waiting.job.gang.is_none()
                {
                    tasks.retain(|task, _| one.tasks.contains(task));
                }
                !waits(way) && !tasks.is_empty()
            });
            for (number, (way, tasks)) in ways.into_iter().enumerate() {
                let part = if number == 0 { *id } else { JobId(next) };
                next += u64::from(number > 0);
                let job = as_granted(snapshot, &waiting.job, (part, way), &tasks);
                let end = waiting.fresh.end;
                let waits = Waiting { job: Arc::new(job), fresh: end..end, again: tasks };
                backlog.insert(part, Arc::new(waits));
                parts.insert(part, Part { job: *id, way });
            }
        }
        let snapshot = Snapshot { backlog: Arc::new(backlog), ..snapshot.clone() };
        Self { snapshot, parts }
    }

    /// The jobs of which a plan starts tasks though they were only to be told what they lack.
    pub(super) fn started_ungranted(&self, decision: &Decision) -> BTreeSet<JobId> {
        let placed = decision.plan.placements.iter().map(|placement| placement.run.job);
        placed.filter(|job| !self.parts.contains_key(job)).collect()
    }

    /// The tasks that found no room for what they were granted though they were looked at, of a
    /// gang the first.
    pub(super) fn unplaced(&self, decision: &Decision) -> BTreeSet<(JobId, TaskIndex)> {
        let placed = decision.plan.placements.iter();
        let placed: BTreeSet<(JobId, TaskIndex)> =
            placed.map(|placement| (placement.run.job, placement.run.task)).collect();
        let waiting = decision.explanation.waiting.iter();
        // Who waits for a node with its inputs keeps what it has.
        let looked_at =
            waiting.filter(|told| !matches!(*told.reason, Reason::Effort | Reason::Locality(_)));
        let mut found = BTreeSet::new();
        for told in looked_at {
            let Some(part) = self.parts.get(&told.job) else { continue };
            let waiting = &self.snapshot.backlog[&told.job];
            if waiting.job.gang.is_some() {
                found.insert((part.job, TaskIndex(0)));
                continue;
            }
            let tasks = waiting.tasks().map(|(task, _)| task);
            let unplaced = tasks.filter(|task| !placed.contains(&(told.job, *task)));
            found.extend(unplaced.map(|task| (part.job, task)));
        }
        found
    }

    /// The jobs of which a task that was granted something still waits.
    pub(super) fn wait(&self, decision: &Decision) -> BTreeSet<JobId> {
        let waiting = decision.explanation.waiting.iter();
        waiting.filter_map(|told| self.parts.get(&told.job)).map(|part| part.job).collect()
    }

    /// What was decided, of the jobs as they are. `until` is when devices are divided anew.
    pub(super) fn widen(
        &self,
        snapshot: &Snapshot,
        decision: Decision,
        (allotment, until, first): (&Allotment, Option<Time>, Option<&First<'_>>),
    ) -> Decision {
        let Decision { mut plan, mut explanation } = decision;
        let whole = |id: JobId| self.parts.get(&id).map_or(id, |part| part.job);
        let mut placed: BTreeMap<JobId, u32> = BTreeMap::new();
        for placement in &mut plan.placements {
            if let Some(part) = self.parts.get(&placement.run.job) {
                placement.run.job = part.job;
                placement.alternative = part.way.alternative;
            }
            *placed.entry(placement.run.job).or_default() += 1;
        }
        for choice in &mut explanation.choices {
            let way = self.parts.get(&choice.run.job).map(|part| part.way);
            choice.run.job = whole(choice.run.job);
            if let (Some(next), Some(way)) = (&mut choice.runner_up, way) {
                next.alternative = way.alternative;
            }
        }
        let told: BTreeMap<JobId, Arc<Reason>> = explanation
            .waiting
            .iter()
            .rev()
            .map(|told| (whole(told.job), Arc::clone(&told.reason)))
            .collect();
        let waiting = snapshot.backlog.iter().filter_map(|(id, waiting)| {
            let tasks = waiting.count() - placed.get(id).copied().unwrap_or(0);
            let told = told.get(id);
            let reason = || match told {
                Some(told) if !self.parts.contains_key(id) => Arc::clone(told),
                _ => why(waiting, (allotment, until, first), told),
            };
            (tasks > 0).then(|| StillWaiting { job: *id, tasks, reason: reason() })
        });
        explanation.waiting = waiting.collect();
        let unseen: BTreeSet<JobId> = plan.memory.unseen.iter().map(|id| whole(*id)).collect();
        plan.memory.unseen = unseen.into_iter().collect();
        Decision { plan, explanation }
    }
}

/// The waiting tasks of a job to which something was granted, by what it is.
fn by_way(waiting: &Waiting, allotment: &Allotment) -> BTreeMap<Way, BTreeMap<TaskIndex, Attempt>> {
    let mut by_way: BTreeMap<Way, BTreeMap<TaskIndex, Attempt>> = BTreeMap::new();
    let Some(granted) = allotment.granted.get(&waiting.job.id) else { return by_way };
    if waiting.job.gang.is_some() {
        by_way.extend(granted.values().next().map(|way| (*way, waiting.tasks().collect())));
        return by_way;
    }
    for (task, way) in granted {
        let again = waiting.again.get(task).copied();
        let fresh = waiting.fresh.contains(&task.0).then_some(Attempt(0));
        if let Some(attempt) = again.or(fresh) {
            by_way.entry(*way).or_default().insert(*task, attempt);
        }
    }
    by_way
}

/// A job of which there is only what was granted.
fn as_granted(
    snapshot: &Snapshot,
    job: &Job,
    (id, way): (JobId, Way),
    tasks: &BTreeMap<TaskIndex, Attempt>,
) -> Job {
    let model = &snapshot.classes.get(way.class).model;
    let given = &job.alternatives[usize::from(way.alternative)];
    let rate = given.rate(model).unwrap_or(Rate::ZERO);
    let done = |task: &TaskIndex| snapshot.progress_of(job.id, *task).unwrap_or_default().done;
    let left = tasks.keys().map(|task| remaining(job, done(task), rate)).max();
    Job {
        id,
        work: job.work.and(left),
        alternatives: Arc::new(vec![on_model(given, model)]),
        ..job.clone()
    }
}

/// An alternative on one model alone.
pub(super) fn on_model(given: &Alternative, model: &str) -> Alternative {
    let mut given = given.clone();
    match &mut given.request.devices {
        Some(devices) => devices.models = vec![model.to_owned()],
        None => {
            // What asks for no device runs on cores of any model for which it has a rate.
            let rate = given.rate(model);
            given.rates = rate.map(|rate| (model.to_owned(), rate)).into_iter().collect();
        }
    }
    given
}

/// Why a job waits where devices are divided.
fn why(
    waiting: &Waiting,
    (allotment, until, first): (&Allotment, Option<Time>, Option<&First<'_>>),
    told: Option<&Arc<Reason>>,
) -> Arc<Reason> {
    let id = waiting.job.id;
    if let Some(told) = told.filter(|told| matches!(***told, Reason::Effort)) {
        return Arc::clone(told);
    }
    let way = by_way(waiting, allotment).into_keys().next();
    let granted = way.map(|way| way.class);
    let outbid = allotment.outbid.get(&id).copied().flatten().filter(|_| granted.is_none());
    let is_held_up = |first: &&First<'_>| way.is_some_and(|way| first.holds_up(id, way));
    let others = first.filter(is_held_up).and_then(|first| first.jobs.first().copied());
    let is_nominated = |job: &JobId| allotment.nominated.contains_key(job);
    let itself = Some(id).filter(is_nominated);
    let nominated = itself.or(others.filter(is_nominated)).filter(|_| granted.is_some());
    Arc::new(Reason::Round(RoundWait { until, granted, nominated, outbid }))
}
