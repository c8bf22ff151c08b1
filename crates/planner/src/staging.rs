//! Staging: what a task must fetch before it can begin, node by node.
//!
//! Inputs are fetched one after the other, each from the fastest node that is
//! up and holds it, or else from outside the fleet. The slower of the two ends
//! decides; of an end that nobody knows, the other one; where nothing is known
//! it takes no time. Reckoned in whole bytes and microseconds, so that the
//! check can come to the same.
//!
//! Nodes that hold an input are unlike all others to such a job: each is a kind
//! of its own. The rest of a group is one kind still.

use std::collections::BTreeMap;

use fleet::{Bandwidth, Bytes, Job, Node, NodeId, Snapshot, Span};

use crate::groups::Group;
use crate::objective::Effects;

/// What the tasks of a job read, and from where.
#[derive(Debug)]
pub(crate) struct Staging {
    inputs: Vec<Input>,
    /// The nodes that are up and hold at least one of the inputs, with what the others take there.
    holders: BTreeMap<NodeId, Fetch>,
}

/// One input.
#[derive(Debug)]
struct Input {
    size: Bytes,
    /// The fastest network of a node that holds it; no bound where it comes from outside, or where
    /// nobody says how fast that is.
    source: Bandwidth,
}

/// What is fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fetch {
    pub(crate) bytes: Bytes,
    pub(crate) span: Span,
}

const UNBOUNDED: Bandwidth = Bandwidth(u64::MAX);

impl Staging {
    /// What a job reads; nothing where it reads nothing.
    pub(crate) fn new(job: &Job, snapshot: &Snapshot) -> Option<Self> {
        if job.inputs().is_empty() {
            return None;
        }
        let entry = |id: &NodeId| snapshot.nodes.get(id.index()).filter(|entry| entry.up);
        let mut held: BTreeMap<NodeId, Vec<usize>> = BTreeMap::new();
        let mut inputs = Vec::with_capacity(job.inputs().len());
        for (position, dataset) in job.inputs().iter().enumerate() {
            let mut input = Input { size: dataset.size, source: UNBOUNDED };
            if let Some(holding) = snapshot.catalogue.get(&dataset.name) {
                input.size = input.size.min(holding.size);
                let up = holding.nodes.iter().filter_map(entry);
                let speeds = up.map(|entry| {
                    held.entry(entry.node.id).or_default().push(position);
                    if entry.node.network.is_zero() { UNBOUNDED } else { entry.node.network }
                });
                input.source = speeds.max().unwrap_or(UNBOUNDED);
            }
            inputs.push(input);
        }
        let mut staging = Self { inputs, holders: BTreeMap::new() };
        for (id, held) in held {
            let missing = (0..staging.inputs.len()).filter(|position| !held.contains(position));
            let fetch = staging.fetch_of(missing, snapshot.node(id).node.network);
            staging.holders.insert(id, fetch);
        }
        Some(staging)
    }

    /// The nodes that hold an input, ascending.
    pub(crate) fn holders(&self) -> impl Iterator<Item = NodeId> {
        self.holders.keys().copied()
    }

    /// Whether two nodes of one group are the same to the job.
    pub(crate) fn are_alike(&self, one: NodeId, other: NodeId) -> bool {
        one == other || !(self.holders.contains_key(&one) || self.holders.contains_key(&other))
    }

    /// The nodes of a group that are the same to the job as this one of them.
    pub(crate) fn alike<'a>(
        &'a self,
        group: &'a Group,
        node: NodeId,
    ) -> impl Iterator<Item = NodeId> + 'a {
        let nodes = group.nodes.iter().copied();
        nodes.filter(move |other| self.are_alike(node, *other))
    }

    /// The first node of a group that holds none of the inputs.
    pub(crate) fn first_without(&self, group: &Group) -> Option<NodeId> {
        group.nodes.iter().copied().find(|node| !self.holders.contains_key(node))
    }

    /// What a task fetches on a node; `make` is any node of the same make.
    pub(crate) fn fetch(&self, node: NodeId, make: &Node) -> Fetch {
        match self.holders.get(&node) {
            Some(fetch) => *fetch,
            None => self.fetch_of(0..self.inputs.len(), make.network),
        }
    }

    /// The effects of a choice on a node, with what is fetched there.
    pub(crate) fn with_fetch(&self, effects: Effects, node: NodeId, make: &Node) -> Effects {
        let Fetch { bytes, span } = self.fetch(node, make);
        Effects { delay: effects.delay + span.as_seconds(), moved: bytes.0 as f64 / 1e9, ..effects }
    }

    fn fetch_of(&self, inputs: impl Iterator<Item = usize>, network: Bandwidth) -> Fetch {
        let mut fetch = Fetch::default();
        for Input { size, source } in inputs.map(|position| &self.inputs[position]) {
            fetch.bytes = fetch.bytes.saturating_add(*size);
            let speed = if network.is_zero() { *source } else { network.min(*source) };
            fetch.span = fetch.span.saturating_add(time_for(*size, speed));
        }
        fetch
    }
}

/// How long so much takes at a speed, rounded up to the microsecond; no time without a bound.
fn time_for(size: Bytes, speed: Bandwidth) -> Span {
    if speed == UNBOUNDED {
        return Span::ZERO;
    }
    let micros = (u128::from(size.0) * 1_000_000).div_ceil(u128::from(speed.0));
    Span(u64::try_from(micros).unwrap_or(u64::MAX))
}
