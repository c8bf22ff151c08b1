//! Bodies: the worlds that plans act on.
//!
//! A body has no opinions. It says what is there, and does what an order says,
//! once. Three verbs, blocking on purpose: a turn is sequential.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::device::Classes;
use crate::id::{NodeId, RunId};
use crate::node::{Grant, Node};
use crate::order::{Order, Receipt};
use crate::program::Failure;
use crate::units::{Bytes, Span, Time, Work};

/// A world that can be seen and acted on.
pub trait Body {
    /// What is there now. The first observation, and any after a doubt, is full; others name
    /// changes.
    ///
    /// # Errors
    /// If the world cannot be seen at all. A node that cannot be reached is an observation, not an
    /// error.
    fn observe(&mut self) -> Result<Observation, BodyError>;

    /// Takes orders. What comes of them is told by receipts in later observations.
    ///
    /// # Errors
    /// If the world cannot be reached; then none of the orders may have been taken.
    fn carry_out(&mut self, orders: &[Order]) -> Result<(), BodyError>;

    /// Returns at the time given or when something happened, whichever is first.
    ///
    /// # Errors
    /// If the world cannot be watched.
    fn wait(&mut self, until: Option<Time>) -> Result<(), BodyError>;

    /// Whether a task that was stopped goes on from where it was when it is started again. Where it
    /// does, the body says with each run that was stopped what is kept of its work.
    fn keeps_work(&self) -> bool {
        false
    }
}

/// Why a body failed.
#[derive(Debug, Error)]
pub enum BodyError {
    /// The world did not answer.
    #[error("reach {what}")]
    Unreachable {
        /// What did not answer.
        what: &'static str,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The world answered what makes no sense.
    #[error("understand {what}: {detail}")]
    Garbled {
        /// What was answered.
        what: &'static str,
        /// What is wrong with it.
        detail: String,
    },
}

/// What a body sees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Observation {
    /// When.
    pub at: Time,
    /// Whether it is everything or what changed.
    pub extent: Extent,
    /// The device classes.
    pub classes: Arc<Classes>,
    /// Nodes, ascending by id, each at most once.
    pub nodes: Vec<NodeSight>,
    /// Runs, in the order in which their states came about.
    pub runs: Vec<RunSight>,
    /// What came of earlier orders, in the order in which it became known.
    pub receipts: Vec<Receipt>,
}

/// How much an observation covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Extent {
    /// Everything: a node or run that is not named is not there.
    Full,
    /// What changed since the last observation.
    Changes,
}

/// One node as seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeSight {
    /// It is there and takes work. Runs on it that are not named by the same observation, though it
    /// was lost before, are gone.
    Up(Arc<Node>),
    /// It cannot be reached.
    Lost(NodeId),
}

impl NodeSight {
    /// Which node.
    #[must_use]
    pub fn id(&self) -> NodeId {
        match self {
            Self::Up(node) => node.id,
            Self::Lost(id) => *id,
        }
    }
}

/// One run as seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunSight {
    /// Which run.
    pub run: RunId,
    /// Where.
    pub node: NodeId,
    /// What it holds, or held.
    pub grant: Grant,
    /// How it is.
    pub state: RunState,
    /// What it used so far; of a run that has ended, in all.
    #[serde(default, skip_serializing_if = "Usage::is_unknown")]
    pub usage: Usage,
    /// How much of its task's work is done; of a run that was stopped, how much of it is kept.
    /// Nothing where that is not known, or nothing is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<Work>,
}

/// What a run used, as far as it was measured. Nothing measured is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Usage {
    /// Processor time.
    pub cpu: Span,
    /// The most memory that was seen in use.
    pub memory: Bytes,
}

impl Usage {
    /// Whether nothing was measured.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// Of this and another run together: the time of both, and the memory of the larger.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { cpu: self.cpu.saturating_add(other.cpu), memory: self.memory.max(other.memory) }
    }
}

/// How a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunState {
    /// It runs, since then.
    Running(Time),
    /// Its work was done, then.
    Done(Time),
    /// It was stopped by an order, then.
    Stopped(Time),
    /// It ended by itself, then, and did not do its work.
    Failed(Time, Failure),
}
