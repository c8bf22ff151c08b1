//! Datasets: what jobs read and write, and where it is.
//!
//! A job names its inputs and outputs with their sizes. The [`Catalogue`] says
//! which nodes hold what: from a file, and from where runs that ended wrote
//! their outputs. Here are the nouns only; how long it takes to fetch what a
//! node does not hold is reckoned by planner, check and world, each by itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{NodeId, TaskIndex};
use crate::job::Job;
use crate::units::Bytes;

/// The most datasets that a catalogue may hold. What is written beyond them is not taken note of.
pub const DATASETS_MAX: usize = 1_000_000;

/// The most copies that are kept on one node of what was fetched there; the oldest goes first. What
/// a file names, and outputs, are not counted: they stay.
pub const COPIES_MAX: usize = 16;

/// Something that a job reads or writes, as the job declares it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dataset {
    /// Its name.
    pub name: Arc<str>,
    /// How much of it is read or written.
    pub size: Bytes,
}

/// Everything that each task of a job reads and writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Datasets {
    /// Read before the task begins, one after the other; no name twice.
    pub inputs: Vec<Dataset>,
    /// Written when the task ends, on its node; no name twice.
    pub outputs: Vec<Dataset>,
}

/// Where a dataset is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holding {
    /// How large it is; a job reads no more of it than that.
    pub size: Bytes,
    /// The nodes that hold all of it.
    pub nodes: BTreeSet<NodeId>,
}

/// Which datasets are where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// By name.
    pub holdings: BTreeMap<Arc<str>, Arc<Holding>>,
}

impl Catalogue {
    /// Where a dataset is; nothing where nobody says.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Holding> {
        self.holdings.get(name).map(AsRef::as_ref)
    }

    /// The dataset was written anew, here: what others hold under its name is no longer it.
    pub fn write(&mut self, name: Arc<str>, size: Bytes, node: NodeId) {
        if self.holdings.len() < DATASETS_MAX || self.holdings.contains_key(&name) {
            let nodes = BTreeSet::from([node]);
            self.holdings.insert(name, Arc::new(Holding { size, nodes }));
        }
    }

    /// The dataset is on this node as well. Whether that is news.
    pub fn copy(&mut self, name: &str, node: NodeId) -> bool {
        let holding = self.holdings.get_mut(name);
        holding.is_some_and(|holding| {
            !holding.nodes.contains(&node) && Arc::make_mut(holding).nodes.insert(node)
        })
    }

    /// The dataset is not on this node any more.
    pub fn drop_copy(&mut self, name: &str, node: NodeId) {
        if let Some(holding) = self.holdings.get_mut(name)
            && holding.nodes.contains(&node)
        {
            Arc::make_mut(holding).nodes.remove(&node);
        }
    }
}

impl Job {
    /// What its tasks read, in order.
    #[must_use]
    pub fn inputs(&self) -> &[Dataset] {
        self.datasets.as_ref().map_or(&[], |datasets| &datasets.inputs)
    }

    /// What its tasks write.
    #[must_use]
    pub fn outputs(&self) -> &[Dataset] {
        self.datasets.as_ref().map_or(&[], |datasets| &datasets.outputs)
    }

    /// What an output of one of its tasks is called: of several tasks each writes its own,
    /// `NAME.TASK`.
    #[must_use]
    pub fn output_name(&self, output: &Dataset, task: TaskIndex) -> Arc<str> {
        match self.tasks {
            1 => Arc::clone(&output.name),
            _ => format!("{}.{task}", output.name).into(),
        }
    }
}
