//! What only we know.

use fleet::{NodeId, RunId};

/// The ledger.
#[derive(Debug, Default)]
pub struct Ledger {}

/// A named difference between the ledger and the world, with what was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Drift {
    /// A run that should be there is not: its task waits again.
    Vanished(RunId, NodeId),
    /// A run that was given up for lost is there: it is stopped.
    Stray(RunId, NodeId),
    /// A run that nobody ordered is there: it is adopted as a stray and stopped.
    Unknown(RunId, NodeId),
}
