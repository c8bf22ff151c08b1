//! The course of a simulation: what was going on, over its time.
//!
//! In come an inventory, a workload, the [`Outcome`] of running it and the
//! [`Witness`] who saw its turns; out comes a [`Course`] of bounded size,
//! however long the simulation was and however large its fleet. Times are cut
//! into [`BINS`] equal bins, and a value is the mean over its bin, so that no
//! peak is lost between two looks. Whatever is left out is counted.

mod lanes;
mod map;
mod queue;
mod replay;
mod track;

use fleet::{ClassId, JobId, Reason, Time};
use serde::Serialize;

use super::reasons::Why;
use super::witness::{Look, Witness};
use super::{measure, ratio};
use crate::scenario::Outcome;
use crate::workload::{Inventory, Workload};
use replay::Replay;
use track::Track;

pub use lanes::{Bar, BarEnd, Lane, Lanes};
pub use map::{Map, MapDevice, MapNode};
pub use queue::WaitBin;

/// Into how many bins the time is cut.
pub const BINS: usize = 240;

/// The most device models of which allocation and queue are told: the largest.
const CLASSES_MAX: usize = 12;

/// What was going on over the time of one simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Course {
    /// The name of the policy.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// From the start to the last end, or as long as anything ran.
    pub seconds: f64,
    /// By device model, those with most devices or cores first.
    pub classes: Vec<ClassCourse>,
    /// How many models of the fleet are not among them.
    pub classes_left_out: usize,
    /// Tasks waiting of jobs that could run on no model of the fleet: mean of each bin.
    pub waiting_for_none: Vec<f64>,
    /// Drawn by nodes that were up: mean of each bin.
    pub watts: Vec<f64>,
    /// Expected unusable ÷ all device capacity of nodes that were up: mean of each bin. None where
    /// it is not known yet, and empty where the fleet has no devices.
    pub fragmentation: Vec<Option<f64>>,
    /// How long tasks waited for their first start.
    pub waits: Vec<WaitBin>,
    /// Tasks that were never started.
    pub tasks_never_started: u64,
    /// Why tasks waited, over all turns; the reason with most waiting first.
    pub reasons: Vec<WaitReason>,
    /// The fleet at its busiest.
    pub map: Map,
    /// What ran where and when.
    pub lanes: Lanes,
}

/// One device model over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassCourse {
    /// The model.
    pub model: String,
    /// The kind: `cpu`, `gpu`, …
    pub kind: &'static str,
    /// How many there are: devices, or cores.
    pub count: f64,
    /// Allocated ÷ all, whether or not the nodes were up: mean of each bin.
    pub allocated: Vec<f64>,
    /// Tasks waiting that are declared to run fastest on this model: mean of each bin.
    pub waiting: Vec<f64>,
}

/// For how long tasks waited for one reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WaitReason {
    /// Why.
    pub why: Why,
    /// Summed over tasks.
    pub task_seconds: f64,
    /// The most tasks that waited so at once.
    pub tasks_max: u64,
    /// The first job that did.
    pub example: JobId,
    /// Its reason in full.
    pub reason: Reason,
}

impl Course {
    /// What was going on in a simulation.
    #[must_use]
    pub fn of(
        inventory: &Inventory,
        workload: &Workload,
        outcome: &Outcome,
        witness: &Witness,
    ) -> Self {
        let horizon = measure::horizon(outcome);
        let drawn = Drawn::of(inventory, outcome, horizon);
        let queue = queue::Queue::of(inventory, workload, outcome, horizon);
        let (shown, left_out) = shown(inventory);
        let class = |id: &ClassId| {
            let (class, thousandths) = (inventory.classes.get(*id), drawn.thousandths[id.index()]);
            let allocated = drawn.allocated[id.index()].means();
            ClassCourse {
                model: class.model.clone(),
                kind: class.kind.name(),
                count: thousandths / 1000.0,
                allocated: allocated.iter().map(|held| ratio(*held, thousandths)).collect(),
                waiting: queue.by_class[id.index()].means(),
            }
        };
        let reasons = witness.waited(outcome.at).into_iter().map(|waited| WaitReason {
            why: waited.why,
            task_seconds: waited.task_micros as f64 / 1e6,
            tasks_max: waited.tasks_max,
            example: waited.example,
            reason: Reason::clone(&waited.reason),
        });
        Self {
            policy: outcome.policy.clone(),
            seed: outcome.seed,
            seconds: horizon.as_seconds(),
            classes: shown.iter().map(class).collect(),
            classes_left_out: left_out,
            waiting_for_none: queue.for_none.means(),
            watts: drawn.milliwatts.means().iter().map(|milli| milli / 1000.0).collect(),
            fragmentation: fragmentation(&witness.looks, horizon),
            waits: queue.waits(),
            tasks_never_started: queue.never_started,
            reasons: reasons.collect(),
            map: Map::at_busiest(inventory, outcome),
            lanes: Lanes::of(inventory, workload, outcome, horizon),
        }
    }
}

/// The models that are told of, and how many are not.
fn shown(inventory: &Inventory) -> (Vec<ClassId>, usize) {
    let thousandths = replay::thousandths(inventory);
    let mut used: Vec<ClassId> = inventory
        .classes
        .iter()
        .map(|(id, _)| id)
        .filter(|id| thousandths[id.index()] > 0)
        .collect();
    // Cores would always be most: devices are told first, then cores.
    let is_cpu = |id: &ClassId| inventory.classes.get(*id).kind == fleet::DeviceKind::Cpu;
    used.sort_by_key(|id| (is_cpu(id), std::cmp::Reverse(thousandths[id.index()]), *id));
    let left_out = used.len().saturating_sub(CLASSES_MAX);
    used.truncate(CLASSES_MAX);
    (used, left_out)
}

/// What was held and drawn over time.
struct Drawn {
    thousandths: Vec<f64>,
    /// By class, in thousandths.
    allocated: Vec<Track>,
    milliwatts: Track,
}

impl Drawn {
    fn of(inventory: &Inventory, outcome: &Outcome, horizon: Time) -> Self {
        let mut replay = Replay::new(inventory);
        let thousandths = replay::thousandths(inventory);
        let mut drawn = Self {
            allocated: thousandths.iter().map(|_| Track::until(horizon)).collect(),
            thousandths: thousandths.iter().map(|count| *count as f64).collect(),
            milliwatts: Track::until(horizon),
        };
        let mut draws: Vec<f64> = replay.nodes().map(|node| replay.draw(node)).collect();
        drawn.milliwatts.add(Time::ZERO, draws.iter().sum());
        for entry in &outcome.log {
            let Some(change) = replay.read(entry) else { continue };
            let draw = replay.draw(change.node);
            let before = std::mem::replace(&mut draws[change.node.index()], draw);
            drawn.milliwatts.add(entry.at, draw - before);
            for (class, thousandths) in change.held(&replay) {
                drawn.allocated[class.index()].add(entry.at, thousandths);
            }
        }
        drawn
    }
}

/// Looks hold until the next one.
fn fragmentation(looks: &[Look], horizon: Time) -> Vec<Option<f64>> {
    let Some(first) = looks.first() else { return Vec::new() };
    let mut track = Track::until(horizon);
    let mut value = 0.0;
    for look in looks {
        track.add(look.at, look.unusable - value);
        value = look.unusable;
    }
    let known = track.bin_of(first.at);
    let means = track.means().into_iter().enumerate();
    means.map(|(bin, mean)| (bin >= known).then_some(mean)).collect()
}
