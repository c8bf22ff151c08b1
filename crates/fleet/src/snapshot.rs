//! Snapshots: everything a plan is made from, at one moment.
//!
//! The controller's ledger seals one each turn. Structure is shared: sealing
//! costs a few reference counts, and the ledger copies a part only while
//! somebody still holds an older snapshot of it. [`Changes`] says what may
//! differ from the snapshot before, so that a planner with a warm cache looks
//! only there.
//!
//! A snapshot is valid once it is built: [`Snapshot::build`] refuses what does
//! not fit together, and nothing later needs to.

mod amounts;
mod by_name;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::dataset::Catalogue;
use crate::device::Classes;
use crate::explanation::Outbid;
use crate::id::{Attempt, ClassId, JobId, NodeId, RunId, Serial, TaskIndex, Tenant};
use crate::job::{Alternative, Job};
use crate::node::{Free, Node};
use crate::policy::Regime;
use crate::run::{Run, Stage};
use crate::signal::Signals;
use crate::topology::TopologyFault;
use crate::units::{Time, Work};

pub use amounts::Amounts;

/// The whole input of a plan but for policy and effort.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Its number.
    pub serial: Serial,
    /// The time for which it holds.
    pub at: Time,
    /// The device classes of the fleet.
    pub classes: Arc<Classes>,
    /// The nodes; the one with id `i` at position `i`.
    pub nodes: Arc<Vec<Arc<NodeEntry>>>,
    /// The jobs that have tasks waiting.
    pub backlog: Arc<BTreeMap<JobId, Arc<Waiting>>>,
    /// The runs that hold something. Written as a map from their names.
    #[serde(with = "by_name")]
    pub runs: Arc<BTreeMap<RunId, Arc<Run>>>,
    /// The runs that a plan must stop; see [`is_unwanted`].
    pub unwanted: Arc<BTreeSet<RunId>>,
    /// What each tenant with runs holds.
    pub tenants: Arc<BTreeMap<Tenant, Amounts>>,
    /// The shapes of what has arrived so far.
    pub mix: Arc<Mix>,
    /// Which datasets are where.
    pub catalogue: Arc<Catalogue>,
    /// What is known from outside about nodes and classes.
    pub signals: Arc<Signals>,
    /// The jobs that are known of which runs hold something.
    #[serde(default)]
    pub jobs: Arc<BTreeMap<JobId, Arc<Job>>>,
    /// How far tasks have got whose work is kept when they are stopped.
    #[serde(default)]
    pub progress: Arc<BTreeMap<JobId, BTreeMap<TaskIndex, Progress>>>,
    /// What the nodes that are up have, together.
    pub capacity: Amounts,
    /// What is held of the nodes that are up, together.
    pub held: Amounts,
    /// What the last plan wanted remembered.
    pub memory: Memory,
    /// What may differ from the snapshot before.
    pub changes: Changes,
    /// The serial of the latest snapshot in which anything but time and memory was new.
    pub changed: Serial,
}

/// A node as it is at the moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeEntry {
    /// What does not change.
    pub node: Arc<Node>,
    /// Whether it can be seen and takes work.
    pub up: bool,
    /// What of it nobody holds.
    pub free: Free,
}

/// A job with tasks that wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waiting {
    /// The job.
    pub job: Arc<Job>,
    /// Tasks that were never started.
    pub fresh: Range<u32>,
    /// Tasks that were started and must be started again, with the attempt that is next.
    pub again: BTreeMap<TaskIndex, Attempt>,
}

impl Snapshot {
    /// How far a task has got, where its work is kept when it is stopped.
    #[must_use]
    pub fn progress_of(&self, job: JobId, task: TaskIndex) -> Option<Progress> {
        self.progress.get(&job)?.get(&task).copied()
    }
}

impl Waiting {
    /// A job of which every task waits for its first start.
    #[must_use]
    pub fn all_of(job: Arc<Job>) -> Self {
        let fresh = 0..job.tasks;
        Self { job, fresh, again: BTreeMap::new() }
    }

    /// How many tasks wait.
    #[must_use]
    pub fn count(&self) -> u32 {
        u32::try_from(self.again.len()).unwrap_or(u32::MAX).saturating_add(self.fresh_count())
    }

    /// The waiting tasks with their next attempt: those to be started again first, then by index.
    pub fn tasks(&self) -> impl Iterator<Item = (TaskIndex, Attempt)> + '_ {
        let again = self.again.iter().map(|(task, attempt)| (*task, *attempt));
        again.chain(self.fresh.clone().map(|task| (TaskIndex(task), Attempt(0))))
    }

    fn fresh_count(&self) -> u32 {
        self.fresh.end.saturating_sub(self.fresh.start)
    }
}

/// The shapes of what arrives, with how often: what the fleet should stay fit for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mix {
    /// How it is known.
    pub source: MixSource,
    /// Distinct shapes, most frequent first, ties by shape.
    pub shapes: Vec<MixShape>,
}

/// How the mix is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MixSource {
    /// From what has arrived so far.
    #[default]
    Learnt,
    /// An operator said so.
    Declared,
}

/// One shape of the mix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MixShape {
    /// How many tasks of this shape arrived.
    pub count: u64,
    /// What they ask for: the job's first alternative.
    pub shape: Alternative,
}

/// What the planner wants to know next turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The regime of each tier, where its weights move.
    pub regimes: Vec<Regime>,
    /// The node used last, for [`crate::policy::Pick::Rotation`].
    pub rotation: Option<NodeId>,
    /// Jobs that no plan has looked at since `round`, ascending: their turn comes first.
    pub unseen: Vec<JobId>,
    /// The snapshot with which the round began: plans that together look at every job, each within
    /// its effort. A new one begins with every change.
    pub round: Serial,
    /// Where arrivals are batched: jobs that arrived by then are not held back any more.
    pub released: Option<Time>,
    /// Where devices are divided over time: who has what of them.
    #[serde(default)]
    pub allotment: Option<Arc<Allotment>>,
}

/// Who has what of the devices, until they are divided again.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allotment {
    /// When they were divided.
    pub began: Time,
    /// How much there was of each lot to divide.
    pub capacity: Vec<u64>,
    /// What tasks have; all tasks of a gang have what its first has.
    pub granted: BTreeMap<JobId, BTreeMap<TaskIndex, Way>>,
    /// The jobs of which tasks have nothing, and what they came nearest to.
    pub outbid: BTreeMap<JobId, Option<Outbid>>,
    /// What was granted to jobs that found no nodes for it: they are not granted it again while
    /// nothing is new, until devices are divided again.
    pub scattered: BTreeMap<JobId, BTreeSet<Way>>,
    /// The latest snapshot in which a job found none.
    pub scattered_at: Serial,
    /// Whether there is more to give or to place at once: what was given back, or what waited for
    /// those who are nominated.
    pub is_unfinished: bool,
    /// What a whole device or core of each lot cost when it was last divided, in
    /// hundred-millionths of an hour's work at the best rate.
    #[serde(default)]
    pub prices: Vec<u64>,
    /// The jobs for which others make room on the nodes: they are placed before all that could take
    /// it.
    #[serde(default)]
    pub nominated: BTreeMap<JobId, Nomination>,
    /// The runs that make that room, with the plan that stops them: what they have remains granted
    /// to their tasks.
    #[serde(default)]
    pub displaced: BTreeSet<RunId>,
    /// The tasks for which room was made and those that were moved, since devices were divided, of
    /// a gang the first: they are not moved again.
    #[serde(default)]
    pub settled: BTreeSet<(JobId, TaskIndex)>,
    /// Since when some run or other is about to stop.
    #[serde(default)]
    pub leaving_since: Option<Time>,
}

/// That tasks of a job are placed before all others that could take their room.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Nomination {
    /// Until when at the latest.
    pub until: Time,
    /// Which tasks, of a gang the first.
    pub tasks: BTreeSet<TaskIndex>,
    /// Where room is made.
    pub nodes: BTreeSet<NodeId>,
}

/// How a task is to run: which alternative, on what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Way {
    /// Which of the job's alternatives.
    pub alternative: u16,
    /// The class; any other of the same model will do.
    pub class: ClassId,
}

/// How far a task has got, as far as a body told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Progress {
    /// Its work that was done then.
    pub done: Work,
    /// When.
    pub at: Time,
    /// Its work that is there when what runs is lost: what was done when it was last stopped.
    pub kept: Work,
}

/// What may differ from an earlier snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// The snapshot that this one is compared with; `None`: anything may differ.
    pub since: Option<Serial>,
    /// The nodes that may differ, ascending. All others are equal.
    pub nodes: Vec<NodeId>,
}

/// Parts of a snapshot, in any order.
#[derive(Clone, Debug, Default)]
pub struct Parts {
    /// Its number.
    pub serial: Serial,
    /// The time for which it holds.
    pub at: Time,
    /// The device classes.
    pub classes: Classes,
    /// The nodes, and whether each is up.
    pub nodes: Vec<(Node, bool)>,
    /// The jobs that wait.
    pub backlog: Vec<Waiting>,
    /// The runs.
    pub runs: Vec<Run>,
    /// The arriving mix.
    pub mix: Mix,
    /// Which datasets are where.
    pub catalogue: Catalogue,
    /// What is known from outside about nodes and classes.
    pub signals: Signals,
    /// The jobs of which runs hold something; others are left out.
    pub jobs: Vec<Arc<Job>>,
    /// How far tasks have got.
    pub progress: BTreeMap<JobId, BTreeMap<TaskIndex, Progress>>,
    /// What the last plan wanted remembered.
    pub memory: Memory,
}

/// Why parts do not make a snapshot.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SnapshotError {
    /// Node ids are not 0, 1, 2, … without gap or repetition.
    #[error("node {0} is missing or given twice")]
    NodeIds(NodeId),
    /// A node, or a device of it, is of a class that is not in the table.
    #[error("node {0} is of a device class that is not in the table")]
    NodeClass(NodeId),
    /// All nodes together have more than a total can hold.
    #[error("with node {0}, the fleet's cores or memory pass the largest number there is")]
    Total(NodeId),
    /// What is said of the inside of a node does not fit the node.
    #[error("node {0} has a topology that is not its own")]
    NodeTopology(NodeId, #[source] TopologyFault),
    /// A job waits twice.
    #[error("job {0} is given twice")]
    JobTwice(JobId),
    /// A job without alternatives or tasks.
    #[error("job {0} has no alternative or no waiting task")]
    JobEmpty(JobId),
    /// A run is given twice.
    #[error("run {0} is given twice")]
    RunTwice(RunId),
    /// A run holds more than its node has, or is on a node that is not there.
    #[error("run {0} holds more than its node has left")]
    RunTooLarge(RunId),
}

impl Snapshot {
    /// Puts a snapshot together from parts in any order. It compares with no earlier one, and
    /// everything in it is new.
    ///
    /// # Errors
    /// If the parts do not fit together; see [`SnapshotError`].
    pub fn build(parts: Parts) -> Result<Self, SnapshotError> {
        let Parts {
            serial,
            at,
            classes,
            mut nodes,
            backlog,
            runs,
            mix,
            catalogue,
            signals,
            jobs,
            progress,
            memory,
        } = parts;
        nodes.sort_by_key(|(node, _)| node.id);
        let mut entries = Vec::with_capacity(nodes.len());
        for (position, (node, up)) in nodes.into_iter().enumerate() {
            entries.push(node_entry(position, node, up, &classes)?);
        }
        check_total(&entries)?;
        let runs = index_runs(runs)?;
        let mut tenants: BTreeMap<Tenant, Amounts> = BTreeMap::new();
        for (id, run) in &runs {
            hold(&mut entries, run).ok_or(SnapshotError::RunTooLarge(*id))?;
            tenants
                .entry(run.tenant.clone())
                .or_default()
                .add(Amounts::of_grant(&run.placement.grant));
        }
        let (capacity, held) = totals(&entries);
        Ok(Self {
            serial,
            at,
            classes: Arc::new(classes),
            nodes: Arc::new(entries.into_iter().map(Arc::new).collect()),
            backlog: Arc::new(index_backlog(backlog)?),
            unwanted: Arc::new(unwanted(&runs)),
            jobs: Arc::new(index_jobs(jobs, &runs)),
            progress: Arc::new(progress),
            runs: Arc::new(runs),
            tenants: Arc::new(tenants),
            mix: Arc::new(mix),
            catalogue: Arc::new(catalogue),
            signals: Arc::new(signals),
            capacity,
            held,
            memory,
            changes: Changes::default(),
            changed: serial,
        })
    }

    /// The node with this id.
    ///
    /// # Panics
    /// If the fleet has no such node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &NodeEntry {
        &self.nodes[id.index()]
    }
}

/// Whether a run of this stage must be stopped, and was not told to.
#[must_use]
pub fn is_unwanted(stage: Stage) -> bool {
    match stage {
        Stage::Stray | Stage::Cancelled => true,
        Stage::Ordered | Stage::Running | Stage::Recalled | Stage::Stopping => false,
    }
}

fn unwanted(runs: &BTreeMap<RunId, Arc<Run>>) -> BTreeSet<RunId> {
    runs.iter().filter(|(_, run)| is_unwanted(run.stage)).map(|(id, _)| *id).collect()
}

fn node_entry(
    position: usize,
    node: Node,
    up: bool,
    classes: &Classes,
) -> Result<NodeEntry, SnapshotError> {
    if node.id.index() != position {
        let expected = NodeId(u32::try_from(position).expect("fewer than 2^32 nodes"));
        return Err(SnapshotError::NodeIds(node.id.min(expected)));
    }
    let known = classes.0.len();
    if node.devices.iter().chain([&node.cpu]).any(|class| class.index() >= known) {
        return Err(SnapshotError::NodeClass(node.id));
    }
    if let Some(fault) = node.topology.as_deref().and_then(|topology| topology.fault(&node)) {
        return Err(SnapshotError::NodeTopology(node.id, fault));
    }
    let free = node.capacity(classes);
    Ok(NodeEntry { node: Arc::new(node), up, free })
}

fn index_runs(runs: Vec<Run>) -> Result<BTreeMap<RunId, Arc<Run>>, SnapshotError> {
    let mut by_id = BTreeMap::new();
    for run in runs {
        let id = run.id();
        if by_id.insert(id, Arc::new(run)).is_some() {
            return Err(SnapshotError::RunTwice(id));
        }
    }
    Ok(by_id)
}

fn index_jobs(jobs: Vec<Arc<Job>>, runs: &BTreeMap<RunId, Arc<Run>>) -> BTreeMap<JobId, Arc<Job>> {
    let with_runs: BTreeSet<JobId> = runs.keys().map(|run| run.job).collect();
    let jobs = jobs.into_iter().filter(|job| with_runs.contains(&job.id));
    jobs.map(|job| (job.id, job)).collect()
}

fn hold(entries: &mut [NodeEntry], run: &Run) -> Option<()> {
    let entry = entries.get_mut(run.placement.node.index())?;
    let grant = &run.placement.grant;
    if !entry.free.has_room_for(grant) {
        return None;
    }
    entry.free.take(grant);
    Some(())
}

fn index_backlog(backlog: Vec<Waiting>) -> Result<BTreeMap<JobId, Arc<Waiting>>, SnapshotError> {
    let mut by_id = BTreeMap::new();
    for waiting in backlog {
        let id = waiting.job.id;
        if waiting.count() == 0 || waiting.job.alternatives.is_empty() {
            return Err(SnapshotError::JobEmpty(id));
        }
        if by_id.insert(id, Arc::new(waiting)).is_some() {
            return Err(SnapshotError::JobTwice(id));
        }
    }
    Ok(by_id)
}

/// Refuses nodes whose sums overflow, those that are down included: they may come up.
fn check_total(entries: &[NodeEntry]) -> Result<(), SnapshotError> {
    let (mut cores, mut memory) = (0_u64, 0_u64);
    for NodeEntry { node, .. } in entries {
        let sums = cores.checked_add(node.cores.0).zip(memory.checked_add(node.memory.0));
        (cores, memory) = sums.ok_or(SnapshotError::Total(node.id))?;
    }
    Ok(())
}

fn totals(entries: &[NodeEntry]) -> (Amounts, Amounts) {
    let (mut capacity, mut held) = (Amounts::default(), Amounts::default());
    for entry in entries.iter().filter(|entry| entry.up) {
        let whole = Amounts::of_node(&entry.node);
        capacity.add(whole);
        let mut used = whole;
        used.subtract(Amounts::of_free(&entry.free));
        held.add(used);
    }
    (capacity, held)
}
