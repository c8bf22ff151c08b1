//! What is really stored on the nodes of the world, and how long fetching takes.
//!
//! The world's own account, apart from what a ledger believes: a partition can
//! hide from the ledger what ended, and never from the world.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::dataset::{COPIES_MAX, DATASETS_MAX};
use fleet::{Catalogue, Job, NodeId, Span, TaskIndex};

use super::Station;

/// Everything that is stored.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    stored: BTreeMap<Arc<str>, Stored>,
    /// By node, what was fetched there, by number.
    fetched: BTreeMap<NodeId, BTreeMap<u64, Arc<str>>>,
    /// The number of the latest copy.
    latest: u64,
}

/// One dataset.
#[derive(Clone, Debug, Default)]
struct Stored {
    bytes: u64,
    /// Where it was put or written.
    kept: BTreeSet<NodeId>,
    /// Where it was fetched to, with the number of the copy.
    copies: BTreeMap<NodeId, u64>,
}

impl Stored {
    fn is_on(&self, node: NodeId) -> bool {
        self.kept.contains(&node) || self.copies.contains_key(&node)
    }
}

impl Store {
    pub(super) fn new(catalogue: &Catalogue) -> Self {
        let stored = catalogue.holdings.iter().map(|(name, holding)| {
            let (bytes, kept) = (holding.size.0, holding.nodes.clone());
            (Arc::clone(name), Stored { bytes, kept, copies: BTreeMap::new() })
        });
        Self { stored: stored.collect(), ..Self::default() }
    }

    /// How long a task spends fetching before it can begin on this node.
    pub(super) fn staging(&self, job: &Job, node: NodeId, stations: &[Station]) -> Span {
        let network = |id: NodeId| stations.get(id.index()).map_or(0, |it| it.node.network.0);
        let is_up = |id: &NodeId| stations.get(id.index()).is_some_and(Station::is_up);
        let mut total = Span::ZERO;
        for input in job.inputs() {
            let stored = self.stored.get(&input.name);
            if stored.is_some_and(|stored| stored.is_on(node)) {
                continue;
            }
            let bytes = stored.map_or(input.size.0, |stored| stored.bytes.min(input.size.0));
            let holders = stored.into_iter().flat_map(|it| it.kept.iter().chain(it.copies.keys()));
            let sources: Vec<u64> = holders.copied().filter(is_up).map(network).collect();
            let own = network(node);
            let spans = sources.into_iter().map(|source| transfer(bytes, own, source));
            // With nobody to fetch it from it comes from outside.
            total = total.saturating_add(spans.min().unwrap_or_else(|| transfer(bytes, own, 0)));
        }
        total
    }

    /// Stores what a task leaves behind when it ends.
    pub(super) fn keep(&mut self, job: &Job, task: TaskIndex, node: NodeId) {
        for input in job.inputs() {
            let Some(stored) = self.stored.get_mut(&input.name) else { continue };
            if input.size.0 >= stored.bytes && !stored.is_on(node) {
                self.latest += 1;
                stored.copies.insert(node, self.latest);
                let fetched = self.fetched.entry(node).or_default();
                fetched.insert(self.latest, Arc::clone(&input.name));
                self.make_room(node);
            }
        }
        for output in job.outputs() {
            let name = job.output_name(output, task);
            if self.stored.len() < DATASETS_MAX || self.stored.contains_key(&name) {
                let (bytes, kept) = (output.size.0, BTreeSet::from([node]));
                let anew = Stored { bytes, kept, copies: BTreeMap::new() };
                let old = self.stored.insert(name, anew).unwrap_or_default();
                for (node, number) in old.copies {
                    self.fetched.entry(node).or_default().remove(&number);
                }
            }
        }
    }

    /// Lets go of the oldest copy on a node that has too many.
    fn make_room(&mut self, node: NodeId) {
        let fetched = self.fetched.entry(node).or_default();
        if fetched.len() > COPIES_MAX
            && let Some((_, name)) = fetched.pop_first()
            && let Some(stored) = self.stored.get_mut(&name)
        {
            stored.copies.remove(&node);
        }
    }
}

/// How long so many bytes take between two networks, of which zero is not known.
fn transfer(bytes: u64, own: u64, source: u64) -> Span {
    let speed = match (own, source) {
        (0, 0) => return Span::ZERO,
        (0, speed) | (speed, 0) => speed,
        (one, other) => one.min(other),
    };
    let micros = (u128::from(bytes) * 1_000_000).div_ceil(u128::from(speed));
    Span(u64::try_from(micros).unwrap_or(u64::MAX))
}
