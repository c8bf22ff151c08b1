//! Orders, and what came of them.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::{Generation, RunId};
use crate::job::Job;
use crate::plan::{Placement, StopCause};

/// One thing for a body to do. Doing it twice is the same as doing it once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// What it is about.
    pub run: RunId,
    /// Its age. A body remembers the newest generation that it has carried out and refuses an older
    /// one.
    pub generation: Generation,
    /// What to do.
    pub action: Action,
}

/// What an order says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Start the run as placed.
    Start {
        /// The job that the run is a task of.
        job: Arc<Job>,
        /// Where and with what.
        placement: Placement,
    },
    /// Stop the run.
    Stop(StopCause),
}

/// What came of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    /// What the order was about.
    pub run: RunId,
    /// The generation of the order.
    pub generation: Generation,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is done, or under way. A run whose start was accepted is named by every full observation
    /// from this receipt on, until it has ended.
    Accepted,
    /// It was not done, and will not be.
    Refused(Refusal),
}

/// Why an order was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Refusal {
    /// The node cannot be reached.
    NodeLost,
    /// The grant is not free on the node.
    NoRoom,
    /// A newer order was carried out before.
    StaleGeneration,
    /// There is no such run to stop.
    UnknownRun,
    /// The engine gave no reason.
    Engine,
}
