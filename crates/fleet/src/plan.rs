//! Plans: everything that should be different, decided completely.

use serde::{Deserialize, Serialize};

use crate::explanation::Explanation;
use crate::id::{ClassId, NodeId, RunId, Serial};
use crate::node::Grant;
use crate::snapshot::Memory;
use crate::units::{Rate, Span, Time};

/// What the planner returns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decision {
    /// What should be done.
    pub plan: Plan,
    /// Why.
    pub explanation: Explanation,
}

/// What should change. What is not named goes on as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plan {
    /// The snapshot it was made from.
    pub serial: Serial,
    /// Runs to start, in the order in which they were decided.
    pub placements: Vec<Placement>,
    /// Runs to stop, in ascending order.
    pub stops: Vec<Stop>,
    /// The earliest time at which another plan could differ though nothing happened.
    pub wake: Option<Time>,
    /// What the next turn must remember.
    pub memory: Memory,
}

/// One run, with everything that is needed to start it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Placement {
    /// What to start.
    pub run: RunId,
    /// Which of the job's alternatives.
    pub alternative: u16,
    /// Where.
    pub node: NodeId,
    /// The class that decides the rate: that of the granted devices, or of the node's cores.
    pub class: ClassId,
    /// With what.
    pub grant: Grant,
    /// The declared rate that was reckoned with.
    pub rate: Rate,
    /// How long it is expected to run; `None` where the work is not known.
    pub duration: Option<Span>,
}

/// One run to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stop {
    /// What to stop.
    pub run: RunId,
    /// Why.
    pub cause: StopCause,
}

/// Why a run is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StopCause {
    /// It was given up for lost and came back; another attempt has taken its place.
    Stray,
    /// Its job was cancelled.
    Cancelled,
    /// Others of its gang do not run; all of it starts again together.
    Gang,
    /// What it holds was given to others, or its job to something else, until devices are divided
    /// again; its task waits, and goes on from where it was.
    Round,
}
