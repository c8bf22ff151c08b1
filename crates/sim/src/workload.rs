//! What a simulation is made of: an inventory, jobs, and the truth about both.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{Classes, Job, JobId, Milli, Node, NodeId, Rate, Span, Time, Work};

/// A fleet as a file describes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// The device classes.
    pub classes: Classes,
    /// The nodes; the one with id `i` at position `i`.
    pub nodes: Vec<Node>,
}

/// Jobs, and what the world knows that the planner does not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// The jobs, by arrival, then id.
    pub jobs: Vec<Arc<Job>>,
    /// How fast they really run, and how much they have to do.
    pub truth: Truth,
    /// When nodes are lost and come back.
    pub outages: Vec<Outage>,
}

/// How fast jobs really run, and how much they really have to do. Known to the world alone; what
/// is declared is all that a planner sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Truth {
    /// Each declared rate is wrong by a factor drawn from 1 − e … 1 + e, by seed, job name, place
    /// among the jobs of that name, and model.
    pub rate_error: Milli,
    /// True rates by job name, then model; they replace the declared one, and are exact.
    pub rates: BTreeMap<String, BTreeMap<String, Rate>>,
    /// True work of one task, of the jobs that declare another amount.
    pub work: BTreeMap<JobId, Work>,
    /// How strongly runs hold each other up on links that they share, and wait for what they send
    /// each other: one is as the bandwidths say, zero is not at all.
    pub contention: Milli,
    /// How many of a thousand runs come to their end without having done their work; one in four of
    /// those is lost, the others fail by themselves.
    pub failing: Milli,
    /// What it costs a task to go on from where it was when it was stopped. Where this is nothing
    /// it begins anew.
    pub restart: Option<Span>,
    /// By which factor true work is more or less than what is declared at the most, drawn by seed
    /// and job; at least one.
    pub work_error: Milli,
    /// How strongly memory that is not near slows a task that moves data, against what the model of
    /// the world says.
    pub remote_memory: Milli,
}

impl Default for Truth {
    fn default() -> Self {
        Self {
            rate_error: Milli::ZERO,
            rates: BTreeMap::new(),
            work: BTreeMap::new(),
            contention: Milli::WHOLE,
            failing: Milli::ZERO,
            restart: None,
            work_error: Milli::WHOLE,
            remote_memory: Milli::WHOLE,
        }
    }
}

/// A node that is lost for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Outage {
    /// When it begins.
    pub at: Time,
    /// Which node.
    pub node: NodeId,
    /// How long it lasts.
    pub lasts: Span,
    /// What happens to the runs there.
    pub kind: OutageKind,
}

/// What happens to runs on a node that is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OutageKind {
    /// They are gone.
    Crash,
    /// They go on, and cannot be seen until the node is back.
    Partition,
}
