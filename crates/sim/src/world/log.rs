//! What really happened in a model world, in order.
//!
//! Reports are made from it, and checkers hold the ledger against it. Nobody
//! who plans ever reads it.

use fleet::{ClassId, Failure, Generation, Grant, NodeId, Refusal, RunId, Span, Time};
use serde::{Deserialize, Serialize};

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// When.
    pub at: Time,
    /// What.
    pub event: Event,
}

/// What can happen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A run was started by an order.
    Started(Start),
    /// A run did its work to the end.
    Done {
        /// Which run.
        run: RunId,
        /// Whether its node was cut off at some time while it ran.
        unseen: bool,
    },
    /// A run ended by itself and did not do its work.
    Failed {
        /// Which run.
        run: RunId,
        /// Why.
        failure: Failure,
        /// Whether its node was cut off at some time while it ran.
        unseen: bool,
    },
    /// A run was stopped by an order.
    Stopped {
        /// Which run.
        run: RunId,
        /// The generation of the order.
        generation: Generation,
    },
    /// A run died with its node.
    Killed {
        /// Which run.
        run: RunId,
    },
    /// An order was refused.
    Refused {
        /// What the order was about.
        run: RunId,
        /// Its generation.
        generation: Generation,
        /// Why.
        refusal: Refusal,
    },
    /// A node was lost with everything on it.
    Crashed(NodeId),
    /// A node was cut off; what runs there goes on.
    Parted(NodeId),
    /// A node that was lost can be reached again.
    Back(NodeId),
}

/// How a run was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Which run.
    pub run: RunId,
    /// Where.
    pub node: NodeId,
    /// The class that decides how fast it runs.
    pub class: ClassId,
    /// With what.
    pub grant: Grant,
    /// How long it really fetches inputs before it begins.
    pub staging: Span,
    /// How long it would really take if it never waited for others, fetching counted in; `None`
    /// where it has no end.
    pub duration: Option<Span>,
    /// The generation of the order.
    pub generation: Generation,
}
