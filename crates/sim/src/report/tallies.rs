//! Sums over jobs and their tasks.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{Job, JobId, Span, TaskIndex, Tenant, Time, Work};

use super::measure::{Done, Measures, Story};
use super::{mean, ratio};
use crate::scenario::{Ending, Outcome};

/// What the jobs that arrived came to.
#[derive(Debug)]
pub(super) struct Tallies {
    pub(super) jobs: u64,
    pub(super) tasks: u64,
    pub(super) tasks_done: u64,
    pub(super) tasks_misplaced: u64,
    /// Seconds, each with the number of tasks that waited so long.
    pub(super) wait: Vec<(f64, u64)>,
    /// Seconds of each job that was done.
    pub(super) completion: Vec<(f64, u64)>,
    pub(super) deadlines: u64,
    pub(super) deadline_misses: u64,
    /// By class.
    pub(super) classes: BTreeMap<usize, ClassTally>,
    end: Time,
    is_standstill: bool,
    first_arrival: Option<Time>,
    last_end: Time,
    slowdown: Vec<f64>,
    work: f64,
    tenants: BTreeMap<Tenant, TenantTally>,
}

/// What one tenant's tasks came to.
#[derive(Clone, Copy, Debug, Default)]
struct TenantTally {
    best_seconds: f64,
    taken_seconds: f64,
}

/// The tasks that one class ran.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ClassTally {
    pub(super) tasks: u64,
    pub(super) wait_seconds: f64,
    pub(super) work: f64,
}

impl Tallies {
    /// Nothing yet, of a simulation that ended so.
    pub(super) fn until(outcome: &Outcome) -> Self {
        Self {
            jobs: 0,
            tasks: 0,
            tasks_done: 0,
            tasks_misplaced: 0,
            wait: Vec::new(),
            completion: Vec::new(),
            deadlines: 0,
            deadline_misses: 0,
            classes: BTreeMap::new(),
            end: outcome.at,
            is_standstill: outcome.ending == Ending::Standstill,
            first_arrival: None,
            last_end: Time::ZERO,
            slowdown: Vec::new(),
            work: 0.0,
            tenants: BTreeMap::new(),
        }
    }

    /// Adds a job; `truly` is the work of a task of it and how long that could have taken, where it
    /// could have ended.
    pub(super) fn add(
        &mut self,
        job: &Arc<Job>,
        truly: (Option<Work>, Option<Span>),
        measures: &Measures,
    ) {
        let (work, best) = truly;
        self.jobs += 1;
        self.tasks += u64::from(job.tasks);
        self.first_arrival = Some(self.first_arrival.map_or(job.arrival, |at| at.min(job.arrival)));
        if best.is_some() {
            self.tenants.entry(job.tenant.clone()).or_default();
        }
        let (mut started, mut done) = (0, 0);
        let mut last_end = Time::ZERO;
        for story in stories(measures, job.id) {
            started += 1;
            self.wait.push((story.first_start.since(job.arrival).as_seconds(), 1));
            if let Some(end) = story.done {
                done += 1;
                last_end = last_end.max(end.at);
                self.add_done(job, (work, best), story, end);
            }
        }
        if let never @ 1.. = u64::from(job.tasks).saturating_sub(started) {
            self.wait.push((self.end.since(job.arrival).as_seconds(), never));
        }
        let is_done = done == job.tasks;
        if is_done {
            self.completion.push((last_end.since(job.arrival).as_seconds(), 1));
        }
        if let Some(deadline) = job.deadline {
            // What is not done may still be done in time, unless time is up or stands still.
            let is_lost = self.is_standstill || deadline <= self.end;
            let is_missed = if is_done { last_end > deadline } else { is_lost };
            self.deadlines += 1;
            self.deadline_misses += u64::from(is_missed);
        }
        self.last_end = self.last_end.max(last_end);
    }

    fn add_done(
        &mut self,
        job: &Job,
        (work, best): (Option<Work>, Option<Span>),
        story: &Story,
        done: Done,
    ) {
        let taken = done.at.since(job.arrival).as_seconds();
        let work = work.map_or(0.0, |work| work.0 as f64 / 1e6);
        self.tasks_done += 1;
        self.work += work;
        if let Some(best) = best.filter(|best| !best.is_zero()) {
            self.slowdown.push(taken / best.as_seconds());
            let ran = done.at.since(done.started);
            self.tasks_misplaced += u64::from(ran > best.saturating_mul(2));
            let tenant = self.tenants.entry(job.tenant.clone()).or_default();
            tenant.best_seconds += best.as_seconds();
            tenant.taken_seconds += taken;
        }
        let class = self.classes.entry(done.class.index()).or_default();
        class.tasks += 1;
        class.wait_seconds += story.first_start.since(job.arrival).as_seconds();
        class.work += work;
    }

    /// Jobs of which every task was done.
    pub(super) fn jobs_done(&self) -> u64 {
        self.completion.len() as u64
    }

    /// From the first arrival to the last end of a task.
    pub(super) fn makespan(&self) -> Option<f64> {
        let first = self.first_arrival.filter(|_| self.tasks_done > 0)?;
        Some(self.last_end.since(first).as_seconds())
    }

    /// How much longer tasks took than they could have, on average.
    pub(super) fn slowdown_mean(&self) -> Option<f64> {
        (!self.slowdown.is_empty()).then(|| mean(&self.slowdown))
    }

    /// Work done with each joule of these.
    pub(super) fn work_per_joule(&self, joules: f64) -> Option<f64> {
        (self.tasks_done > 0 && joules > 0.0).then(|| self.work / joules)
    }

    /// 1 − (max − min) ÷ max and Jain's index over the tenants; none where nobody got anything.
    pub(super) fn fairness(&self) -> Option<(f64, f64)> {
        let got = |tenant: &TenantTally| ratio(tenant.best_seconds, tenant.taken_seconds);
        let got: Vec<f64> = self.tenants.values().map(got).collect();
        let max = got.iter().copied().fold(0.0, f64::max);
        let min = got.iter().copied().fold(max, f64::min);
        let (sum, squares) = got.iter().fold((0.0, 0.0), |(a, b), x| (a + x, b + x * x));
        (max > 0.0).then(|| (1.0 - (max - min) / max, sum * sum / (got.len() as f64 * squares)))
    }
}

/// The tasks of a job that were ever started.
fn stories(measures: &Measures, job: JobId) -> impl Iterator<Item = &Story> {
    let tasks = (job, TaskIndex(0))..=(job, TaskIndex(u32::MAX));
    measures.stories.range(tasks).map(|(_, story)| story)
}
