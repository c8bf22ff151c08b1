//! Which datasets are where, as runs end.
//!
//! What a run wrote is on its node, and nowhere else any more. What it fetched
//! stays there as a copy, if all of it was read; of copies a node keeps the
//! latest few.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use fleet::dataset::COPIES_MAX;
use fleet::{Catalogue, Job, NodeId, TaskIndex};

/// Datasets, and which of them are copies that were fetched.
#[derive(Debug, Default)]
pub(super) struct Shelves {
    pub(super) catalogue: Arc<Catalogue>,
    /// By node, the oldest first.
    pub(super) copies: BTreeMap<NodeId, VecDeque<Arc<str>>>,
}

impl Shelves {
    /// These datasets, and nothing fetched yet.
    pub(super) fn new(catalogue: Catalogue) -> Self {
        Self { catalogue: Arc::new(catalogue), copies: BTreeMap::new() }
    }

    /// Takes note of what a task left on its node when it ended.
    pub(super) fn note(&mut self, job: &Job, task: TaskIndex, node: NodeId) {
        for input in job.inputs() {
            let holding = self.catalogue.get(&input.name);
            if holding.is_some_and(|holding| input.size >= holding.size) {
                self.copy(&input.name, node);
            }
        }
        for output in job.outputs() {
            let name = job.output_name(output, task);
            let old = self.catalogue.get(&name).map(|holding| &holding.nodes);
            for holder in old.into_iter().flatten() {
                if let Some(copies) = self.copies.get_mut(holder) {
                    copies.retain(|other| *other != name);
                }
            }
            Arc::make_mut(&mut self.catalogue).write(name, output.size, node);
        }
    }

    fn copy(&mut self, name: &Arc<str>, node: NodeId) {
        let is_there = |name| self.catalogue.get(name).is_some_and(|it| it.nodes.contains(&node));
        if is_there(name) {
            return;
        }
        let catalogue = Arc::make_mut(&mut self.catalogue);
        catalogue.copy(name, node);
        let copies = self.copies.entry(node).or_default();
        copies.push_back(Arc::clone(name));
        if copies.len() > COPIES_MAX
            && let Some(oldest) = copies.pop_front()
        {
            catalogue.drop_copy(&oldest, node);
        }
    }
}
