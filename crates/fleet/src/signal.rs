//! Signals: numbers about nodes or device classes that come from outside.
//!
//! How loud a node's queue is, how far it is from its users, what its owner
//! charges: whatever a site knows and Motley does not. A policy weighs them by
//! name, and lower is better. Numbers are exact, so that a snapshot can be
//! compared and written.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{ClassId, NodeId};
use crate::units::Level;

/// The most signals there may be.
pub const SIGNALS_MAX: usize = 1000;

/// One signal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Signal {
    /// The unit of its numbers, for people.
    pub unit: String,
    /// The number of what has none of its own.
    pub default: Level,
    /// Numbers of nodes.
    pub nodes: BTreeMap<NodeId, Level>,
    /// Numbers of device classes.
    pub classes: BTreeMap<ClassId, Level>,
}

impl Signal {
    /// The number of a choice: that of the node, else that of the class that decides the rate, else
    /// the default.
    #[must_use]
    pub fn level(&self, node: NodeId, class: ClassId) -> Level {
        let own = self.nodes.get(&node).or_else(|| self.classes.get(&class));
        own.copied().unwrap_or(self.default)
    }
}

/// All signals, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Signals {
    /// By name.
    pub by_name: BTreeMap<Arc<str>, Signal>,
}
