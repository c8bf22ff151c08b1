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

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::device::Classes;
use crate::id::{Attempt, JobId, NodeId, RunId, Serial, TaskIndex, Tenant};
use crate::job::{Alternative, Job};
use crate::node::{Free, Grant, Node};
use crate::policy::Regime;
use crate::run::Run;
use crate::units::{Bytes, Milli, MilliCores, Time};

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
    /// The runs that hold something.
    pub runs: Arc<BTreeMap<RunId, Arc<Run>>>,
    /// What each tenant with runs holds.
    pub tenants: Arc<BTreeMap<Tenant, Amounts>>,
    /// The shapes of what has arrived so far.
    pub mix: Arc<Mix>,
    /// What the nodes that are up have, together.
    pub capacity: Amounts,
    /// What is held of the nodes that are up, together.
    pub held: Amounts,
    /// What the last plan wanted remembered.
    pub memory: Memory,
    /// What may differ from the snapshot before.
    pub changes: Changes,
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

/// Amounts that add up over nodes, runs or tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Amounts {
    /// Cores.
    pub cores: MilliCores,
    /// Memory.
    pub memory: Bytes,
    /// Shares of devices other than cores, in thousandths of a device.
    pub share: u64,
}

impl Amounts {
    /// What a grant holds.
    #[must_use]
    pub fn of_grant(grant: &Grant) -> Self {
        let share = grant.devices.iter().map(|held| u64::from(held.share.0)).sum();
        Self { cores: grant.cores, memory: grant.memory, share }
    }

    /// What a node has.
    #[must_use]
    pub fn of_node(node: &Node) -> Self {
        Self { cores: node.cores, memory: node.memory, share: node.devices.len() as u64 * 1000 }
    }

    /// Adds another amount.
    pub fn add(&mut self, other: Self) {
        self.cores += other.cores;
        self.memory += other.memory;
        self.share += other.share;
    }

    /// Takes another amount away.
    ///
    /// # Panics
    /// If it is more than there is.
    pub fn subtract(&mut self, other: Self) {
        self.cores -= other.cores;
        self.memory -= other.memory;
        self.share = self.share.checked_sub(other.share).expect("less than no share");
    }

    /// The largest of the three fractions of `capacity`, in millionths; what the capacity has none
    /// of does not count. May exceed one million.
    #[must_use]
    pub fn dominant_of(&self, capacity: &Self) -> u64 {
        let fraction = |part: u64, whole: u64| {
            let scaled = (u128::from(part) * 1_000_000).checked_div(u128::from(whole)).unwrap_or(0);
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        fraction(self.cores.0, capacity.cores.0)
            .max(fraction(self.memory.0, capacity.memory.0))
            .max(fraction(self.share, capacity.share))
    }

    /// How busy a fleet is: the larger of the fractions of cores and of devices.
    #[must_use]
    pub fn busy(&self, capacity: &Self) -> Milli {
        let without_memory = Self { memory: Bytes::ZERO, ..*self };
        let millionths = without_memory.dominant_of(capacity).min(1_000_000);
        Milli(u32::try_from(millionths / 1000).expect("at most 1000"))
    }
}

/// The shapes of what has arrived, with how often: what the fleet should stay fit for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mix {
    /// Grows whenever the shapes or counts change.
    pub version: u64,
    /// Distinct shapes, most frequent first, ties by shape.
    pub shapes: Vec<MixShape>,
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
    /// Puts a snapshot together from parts in any order. It compares with no earlier one.
    ///
    /// # Errors
    /// If the parts do not fit together; see [`SnapshotError`].
    pub fn build(parts: Parts) -> Result<Self, SnapshotError> {
        let Parts { serial, at, classes, mut nodes, backlog, runs, mix, memory } = parts;
        nodes.sort_by_key(|(node, _)| node.id);
        let mut entries = Vec::with_capacity(nodes.len());
        for (position, (node, up)) in nodes.into_iter().enumerate() {
            entries.push(node_entry(position, node, up, &classes)?);
        }
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
            runs: Arc::new(runs),
            tenants: Arc::new(tenants),
            mix: Arc::new(mix),
            capacity,
            held,
            memory,
            changes: Changes::default(),
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

fn hold(entries: &mut [NodeEntry], run: &Run) -> Option<()> {
    let entry = entries.get_mut(run.placement.node.index())?;
    let grant = &run.placement.grant;
    let distinct: BTreeSet<_> = grant.devices.iter().map(|held| held.device).collect();
    if distinct.len() != grant.devices.len() || !entry.free.has_room_for(grant) {
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

impl Amounts {
    /// What is free of a node.
    #[must_use]
    pub fn of_free(free: &Free) -> Self {
        let share = free.devices.iter().map(|left| u64::from(left.share.0)).sum();
        Self { cores: free.cores, memory: free.memory, share }
    }
}
