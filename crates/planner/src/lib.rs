//! The decision: a snapshot and a policy in, a plan and an explanation out.

#![warn(missing_docs)]

use fleet::{Decision, Policy, Snapshot};

/// How much work one plan may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Most steps; see [`fleet::Explanation::steps`].
    pub steps: u64,
}

/// A cache that makes plans cheaper and never different.
#[derive(Debug, Default)]
pub struct Scratch {}

/// Plans.
#[must_use]
pub fn plan(snapshot: &Snapshot, policy: &Policy, effort: Effort, scratch: &mut Scratch) -> Decision {
    let _ = (snapshot, policy, effort, scratch);
    unreachable!("being written")
}
