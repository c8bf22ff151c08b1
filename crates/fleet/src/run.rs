//! Runs: attempts that were ordered and have not ended.

use serde::{Deserialize, Serialize};

use crate::id::{Generation, RunId, Tenant};
use crate::plan::Placement;
use crate::units::Time;

/// One attempt at one task, holding what its placement grants.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Where and with what.
    pub placement: Placement,
    /// Who it is accounted to.
    pub tenant: Tenant,
    /// How far it has got.
    pub stage: Stage,
    /// Since when it holds its grant.
    pub since: Time,
    /// The generation of the order that started it.
    pub generation: Generation,
}

impl Run {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> RunId {
        self.placement.run
    }
}

/// How far a run has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Ordered; the world has not shown it yet.
    Ordered,
    /// Seen running.
    Running,
    /// Seen running, but given up for lost before: another attempt has taken its place, or its job
    /// has ended. It holds its grant until the world confirms that it stopped.
    Stray,
    /// Its job was cancelled. It holds its grant until the world confirms that it stopped.
    Cancelled,
    /// Told to stop because others of its gang do not run, or because what it holds was given to
    /// others; its task waits again once the world confirms it, and until then it holds its grant.
    Recalled,
    /// Told to stop; it holds its grant until the world confirms it.
    Stopping,
}
