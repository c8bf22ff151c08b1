//! The inspector: finds the faults in a decision, knowing only the law.

use thiserror::Error;

use crate::plan::Decision;
use crate::snapshot::Snapshot;

/// One way in which a decision breaks the law.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {}

/// Every fault of the decision, cheaply enough for every turn.
#[must_use]
pub fn check(snapshot: &Snapshot, decision: &Decision) -> Vec<Fault> {
    let _ = (snapshot, decision);
    Vec::new()
}
