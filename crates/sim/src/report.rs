//! What a simulation came to, in figures.
//!
//! In come an inventory, a workload and the [`Outcome`] of running it; out
//! comes a [`Summary`] with stable names, units at their end. Figures are
//! measured from the world's log alone, by true rates, so that a planner
//! cannot flatter itself. A figure of which there is nothing to measure is
//! `None`, and never a zero that would look good.

mod compare;
mod course;
mod interval;
mod measure;
mod reasons;
mod tallies;
mod witness;

use std::collections::BTreeSet;

use serde::Serialize;

use crate::scenario::{self, Ending, Outcome};
use crate::workload::{Inventory, Workload};
use crate::world::Makes;
use measure::Measures;
use tallies::Tallies;

pub use compare::{Better, Comparison, Difference, FIGURES, Figure, Paired, compare, paired};
pub use course::{
    BINS, Bar, BarEnd, ClassCourse, Course, Lane, Lanes, Map, MapDevice, MapNode, WaitBin,
    WaitReason,
};
pub use interval::{CONFIDENCE, Interval};
pub use reasons::{NeverPlaced, Why, is_lasting};
pub use witness::Witness;

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
    /// From the first arrival to the last end of a task; none where no task was done.
    pub makespan_seconds: Option<f64>,
    /// From the arrival of a job to the first start of each of its tasks, over tasks. A task that
    /// was never started counts with its wait until the end of the simulation, so that starving is
    /// not rewarded.
    pub wait_seconds: Option<Spread>,
    /// From the arrival of a job to the end of its last task, over jobs that were done.
    pub completion_seconds: Option<Spread>,
    /// Arrival to end ÷ duration on the best device of the fleet, mean over tasks done.
    pub slowdown_mean: Option<f64>,
    /// Allocated ÷ total GPU time, whether or not the nodes were up.
    pub gpu_utilisation: Option<f64>,
    /// Allocated ÷ available time of devices other than cores, while nodes were up.
    pub device_utilisation: Option<f64>,
    /// Allocated ÷ available core time, while nodes were up.
    pub core_utilisation: Option<f64>,
    /// Allocated ÷ total GPUs at the end.
    pub gpu_allocated_at_end: Option<f64>,
    /// Allocated ÷ total cores at the end.
    pub core_allocated_at_end: Option<f64>,
    /// Drawn by nodes that were up, to the last end; zero where no power is known.
    pub energy_joules: f64,
    /// Work of the tasks that were done ÷ time ÷ watts, in the jobs' own units: compares policies
    /// on one workload and nothing else.
    pub work_per_joule: Option<f64>,
    /// Jobs with a deadline.
    pub deadlines: u64,
    /// Jobs whose last task ended after the deadline, or that were not done though the deadline had
    /// passed or nothing more would ever happen: service-level violations.
    pub deadline_misses: u64,
    /// 1 − (max − min) ÷ max over tenants, each by the best-device durations of its tasks that were
    /// done ÷ their times from arrival to end. A tenant without such tasks counts as zero, and one
    /// none of whose jobs could end in this fleet is left out. None where no task was done.
    pub fairness: Option<f64>,
    /// Jain's index of the same.
    pub fairness_jain: Option<f64>,
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
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
    /// Allocated ÷ available time, while nodes were up; zero where there was none.
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
    let rates = scenario::rates(workload, outcome.seed);
    let makes = Makes::of(inventory);
    let mut tallies = Tallies::until(outcome);
    for job in workload.jobs.iter().filter(|job| job.arrival <= outcome.at) {
        let truly = (rates.work(job), rates.best_duration(job, &makes));
        tallies.add(job, truly, &measures);
    }
    let energy_joules = measures.energy.as_joules();
    let fairness = tallies.fairness();
    Summary {
        policy: outcome.policy.clone(),
        seed: outcome.seed,
        ending: outcome.ending,
        jobs_submitted: tallies.jobs,
        jobs_done: tallies.jobs_done(),
        tasks_submitted: tallies.tasks,
        tasks_done: tallies.tasks_done,
        tasks_misplaced: tallies.tasks_misplaced,
        never_placed: reasons::group(&outcome.waiting),
        makespan_seconds: tallies.makespan(),
        wait_seconds: Spread::of(&mut tallies.wait),
        completion_seconds: Spread::of(&mut tallies.completion),
        slowdown_mean: tallies.slowdown_mean(),
        gpu_utilisation: measures.gpu_utilisation(inventory),
        device_utilisation: measures.device_utilisation(inventory),
        core_utilisation: measures.core_utilisation(inventory),
        gpu_allocated_at_end: measures.gpu_allocated_at_end,
        core_allocated_at_end: measures.core_allocated_at_end,
        energy_joules,
        work_per_joule: tallies.work_per_joule(energy_joules),
        deadlines: tallies.deadlines,
        deadline_misses: tallies.deadline_misses,
        fairness: fairness.map(|(max_min, _)| max_min),
        fairness_jain: fairness.map(|(_, jain)| jain),
        runs_restarted: measures.runs_restarted,
        nodes_lost: measures.nodes_lost,
        turns: outcome.turns,
        steps: outcome.steps,
        classes: class_rows(inventory, &measures, &tallies),
    }
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
            utilisation: meter.utilisation().unwrap_or(0.0),
            tasks_done: tally.tasks,
            wait_seconds_mean: ratio(tally.wait_seconds, tally.tasks as f64),
            work_done: tally.work,
        })
    };
    inventory.classes.iter().filter_map(row).collect()
}

impl Summary {
    /// Jobs with tasks that still waited at the end.
    #[must_use]
    pub fn jobs_never_placed(&self) -> u64 {
        self.never_placed.iter().map(|group| group.jobs).sum()
    }
}

impl Spread {
    /// The spread of these values, each with how often it is there; sorts them. None where there
    /// are none.
    #[must_use]
    pub fn of(values: &mut [(f64, u64)]) -> Option<Self> {
        values.sort_unstable_by(|(one, _), (other, _)| one.total_cmp(other));
        let count: u64 = values.iter().map(|(_, times)| times).sum();
        let (max, _) = values.last()?;
        let rank = |percent: u64| {
            let rank = (u128::from(count) * u128::from(percent)).div_ceil(100).max(1);
            let mut reached = 0;
            let at_rank = values.iter().find(|(_, times)| {
                reached += u128::from(*times);
                reached >= rank
            });
            at_rank.map_or(*max, |(value, _)| *value)
        };
        let sum: f64 = values.iter().map(|(value, times)| value * *times as f64).sum();
        Some(Self { mean: ratio(sum, count as f64), p50: rank(50), p95: rank(95), max: *max })
    }
}

fn mean(values: &[f64]) -> f64 {
    ratio(values.iter().sum(), values.len() as f64)
}

/// The quotient; zero where there is nothing to divide by.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
