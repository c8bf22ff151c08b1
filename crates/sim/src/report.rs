//! What a simulation came to, in figures.
//!
//! In come an inventory, a workload and the [`Outcome`] of running it; out
//! comes a [`Summary`] with stable names, units at their end. Figures are
//! measured from the world's log alone, by true rates, so that a planner
//! cannot flatter itself.

mod compare;
mod measure;
mod reasons;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::{Job, JobId, Span, TaskIndex, Tenant, Time};
use serde::Serialize;

use crate::scenario::{self, Ending, Outcome};
use crate::workload::{Inventory, Workload};
use measure::{Measures, Story};

pub use compare::{Better, Comparison, FIGURES, Figure, Paired, compare, paired};
pub use reasons::{NeverPlaced, Why};

/// The figures of one simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// The name of the policy.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// Why the simulation ended.
    pub ending: Ending,
    /// Jobs that arrived.
    pub jobs_submitted: u64,
    /// Jobs of which every task was done.
    pub jobs_done: u64,
    /// Tasks that arrived.
    pub tasks_submitted: u64,
    /// Tasks that were done.
    pub tasks_done: u64,
    /// Tasks that were done and ran more than twice as long as on the best device of the fleet.
    pub tasks_misplaced: u64,
    /// Jobs with tasks that still waited at the end, grouped by why.
    pub never_placed: Vec<NeverPlaced>,
    /// From the first arrival to the last end.
    pub makespan_seconds: f64,
    /// From the arrival of a job to the first start of each of its tasks, over tasks.
    pub wait_seconds: Spread,
    /// From the arrival of a job to the end of its last task, over jobs that were done.
    pub completion_seconds: Spread,
    /// Arrival to end ÷ duration on the best device of the fleet, mean over tasks done.
    pub slowdown_mean: f64,
    /// Allocated ÷ total GPU time, whether or not the nodes were up.
    pub gpu_utilisation: f64,
    /// Allocated ÷ available time of devices other than cores, while nodes were up.
    pub device_utilisation: f64,
    /// Allocated ÷ available core time, while nodes were up.
    pub core_utilisation: f64,
    /// Allocated ÷ total GPUs at the end.
    pub gpu_allocated_at_end: f64,
    /// Allocated ÷ total cores at the end.
    pub core_allocated_at_end: f64,
    /// Drawn by nodes that were up, to the last end.
    pub energy_joules: f64,
    /// Work of the tasks that were done ÷ time ÷ watts, in the jobs' own units: compares policies on
    /// one workload and nothing else.
    pub work_per_joule: f64,
    /// Jobs with a deadline.
    pub deadlines: u64,
    /// Jobs whose last task ended after the deadline, or never: service-level violations.
    pub deadline_misses: u64,
    /// 1 − (max − min) ÷ max over tenants, each by the best-device durations of its tasks that were
    /// done ÷ their times from arrival to end. A tenant without such tasks counts as zero.
    pub fairness: f64,
    /// Jain's index of the same.
    pub fairness_jain: f64,
    /// Runs that were not the first attempt at their task.
    pub runs_restarted: u64,
    /// How often a node was lost.
    pub nodes_lost: u64,
    /// Turns taken.
    pub turns: u64,
    /// Steps of all plans together.
    pub steps: u64,
    /// By device model, in the order of the classes.
    pub classes: Vec<ClassRow>,
}

/// How a figure is spread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Spread {
    /// The mean; zero where there is nothing.
    pub mean: f64,
    /// The median, by nearest rank.
    pub p50: f64,
    /// The 95th percentile, by nearest rank.
    pub p95: f64,
    /// The largest.
    pub max: f64,
}

/// The figures of one device model.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassRow {
    /// The model.
    pub model: String,
    /// The kind: `cpu`, `gpu`, …
    pub kind: &'static str,
    /// How many there are: devices, or whole cores.
    pub count: u64,
    /// Allocated ÷ available time, while nodes were up.
    pub utilisation: f64,
    /// Tasks that were done on this model: those whose rate it decided.
    pub tasks_done: u64,
    /// From arrival to first start of those tasks, mean.
    pub wait_seconds_mean: f64,
    /// Their work, in the jobs' own units.
    pub work_done: f64,
}

/// Measures a simulation.
#[must_use]
pub fn summarise(inventory: &Inventory, workload: &Workload, outcome: &Outcome) -> Summary {
    let measures = Measures::of(inventory, outcome);
    let jobs = workload.jobs.iter().filter(|job| job.arrival <= outcome.at);
    let rates = scenario::rates(workload, outcome.seed);
    let mut tallies = Tallies::default();
    for job in jobs {
        let best = rates.best_duration(job, inventory);
        tallies.add(job, best, &measures);
    }
    let energy_joules = measures.energy.as_joules();
    let fairness = tallies.fairness();
    Summary {
        policy: outcome.policy.clone(),
        seed: outcome.seed,
        ending: outcome.ending,
        jobs_submitted: tallies.jobs,
        jobs_done: tallies.completion.len() as u64,
        tasks_submitted: tallies.tasks,
        tasks_done: tallies.tasks_done,
        tasks_misplaced: tallies.tasks_misplaced,
        never_placed: reasons::group(&outcome.waiting),
        makespan_seconds: tallies.makespan(),
        wait_seconds: Spread::of(&mut tallies.wait),
        completion_seconds: Spread::of(&mut tallies.completion),
        slowdown_mean: mean(&tallies.slowdown),
        gpu_utilisation: measures.gpu_utilisation(inventory),
        device_utilisation: measures.device_utilisation(inventory),
        core_utilisation: measures.core_utilisation(inventory),
        gpu_allocated_at_end: measures.gpu_allocated_at_end,
        core_allocated_at_end: measures.core_allocated_at_end,
        energy_joules,
        work_per_joule: ratio(tallies.work, energy_joules),
        deadlines: tallies.deadlines,
        deadline_misses: tallies.deadline_misses,
        fairness: fairness.0,
        fairness_jain: fairness.1,
        runs_restarted: measures.runs_restarted,
        nodes_lost: measures.nodes_lost,
        turns: outcome.turns,
        steps: outcome.steps,
        classes: class_rows(inventory, &measures, &tallies),
    }
}

/// Sums over jobs and their tasks.
#[derive(Debug, Default)]
struct Tallies {
    jobs: u64,
    tasks: u64,
    tasks_done: u64,
    tasks_misplaced: u64,
    first_arrival: Option<Time>,
    last_end: Time,
    wait: Vec<f64>,
    completion: Vec<f64>,
    slowdown: Vec<f64>,
    work: f64,
    deadlines: u64,
    deadline_misses: u64,
    tenants: BTreeMap<Tenant, TenantTally>,
    classes: BTreeMap<usize, ClassTally>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TenantTally {
    best_seconds: f64,
    taken_seconds: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct ClassTally {
    tasks: u64,
    wait_seconds: f64,
    work: f64,
}

impl Tallies {
    fn add(&mut self, job: &Arc<Job>, best: Option<Span>, measures: &Measures) {
        self.jobs += 1;
        self.tasks += u64::from(job.tasks);
        self.first_arrival = Some(self.first_arrival.map_or(job.arrival, |at| at.min(job.arrival)));
        self.tenants.entry(job.tenant.clone()).or_default();
        let mut done = 0;
        let mut last_end = Time::ZERO;
        for story in stories(measures, job.id) {
            self.wait.push(story.first_start.since(job.arrival).as_seconds());
            if let Some(end) = story.done {
                done += 1;
                last_end = last_end.max(end);
                self.add_done(job, best, story, end);
            }
        }
        let is_done = done == job.tasks;
        if is_done {
            self.completion.push(last_end.since(job.arrival).as_seconds());
        }
        if let Some(deadline) = job.deadline {
            self.deadlines += 1;
            self.deadline_misses += u64::from(!is_done || last_end > deadline);
        }
        self.last_end = self.last_end.max(last_end);
    }

    fn add_done(&mut self, job: &Job, best: Option<Span>, story: &Story, end: Time) {
        let taken = end.since(job.arrival).as_seconds();
        let work = job.work.map_or(0.0, |work| work.0 as f64 / 1e6);
        self.tasks_done += 1;
        self.work += work;
        if let Some(best) = best.filter(|best| !best.is_zero()) {
            self.slowdown.push(taken / best.as_seconds());
            let ran = end.since(story.started);
            self.tasks_misplaced += u64::from(ran > best.saturating_mul(2));
            let tenant = self.tenants.entry(job.tenant.clone()).or_default();
            tenant.best_seconds += best.as_seconds();
            tenant.taken_seconds += taken;
        }
        let class = self.classes.entry(story.class.index()).or_default();
        class.tasks += 1;
        class.wait_seconds += story.first_start.since(job.arrival).as_seconds();
        class.work += work;
    }

    fn makespan(&self) -> f64 {
        self.last_end.since(self.first_arrival.unwrap_or_default()).as_seconds()
    }

    /// The article's fairness and Jain's index; one where there is nobody to be unfair to.
    fn fairness(&self) -> (f64, f64) {
        let got = |tenant: &TenantTally| ratio(tenant.best_seconds, tenant.taken_seconds);
        let got: Vec<f64> = self.tenants.values().map(got).collect();
        let max = got.iter().copied().fold(0.0, f64::max);
        let min = got.iter().copied().fold(max, f64::min);
        let (sum, squares) = got.iter().fold((0.0, 0.0), |(a, b), x| (a + x, b + x * x));
        if max > 0.0 {
            (1.0 - (max - min) / max, sum * sum / (got.len() as f64 * squares))
        } else {
            (1.0, 1.0)
        }
    }
}

/// The tasks of a job that were ever started.
fn stories(measures: &Measures, job: JobId) -> impl Iterator<Item = &Story> {
    let tasks = (job, TaskIndex(0))..=(job, TaskIndex(u32::MAX));
    measures.stories.range(tasks).map(|(_, story)| story)
}

fn class_rows(inventory: &Inventory, measures: &Measures, tallies: &Tallies) -> Vec<ClassRow> {
    let used: BTreeSet<_> =
        inventory.nodes.iter().flat_map(|node| node.devices.iter().chain([&node.cpu])).collect();
    let row = |(id, class): (fleet::ClassId, &fleet::DeviceClass)| {
        let meter = &measures.classes[id.index()];
        let tally = tallies.classes.get(&id.index()).copied().unwrap_or_default();
        used.contains(&id).then(|| ClassRow {
            model: class.model.clone(),
            kind: class.kind.name(),
            count: meter.thousandths / 1000,
            utilisation: meter.utilisation(),
            tasks_done: tally.tasks,
            wait_seconds_mean: ratio(tally.wait_seconds, tally.tasks as f64),
            work_done: tally.work,
        })
    };
    inventory.classes.iter().filter_map(row).collect()
}

impl Spread {
    /// The spread of these values; sorts them.
    #[must_use]
    pub fn of(values: &mut [f64]) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let Some(max) = values.last() else { return Self::default() };
        let rank = |percent: usize| values[(values.len() * percent).div_ceil(100).max(1) - 1];
        Self { mean: mean(values), p50: rank(50), p95: rank(95), max: *max }
    }
}

fn mean(values: &[f64]) -> f64 {
    ratio(values.iter().sum(), values.len() as f64)
}

/// The quotient; zero where there is nothing to divide by.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
