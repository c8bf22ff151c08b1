//! The decision: a snapshot and a policy in, a plan and an explanation out.
//!
//! [`plan`] is a function. It reads no clock, draws no dice, waits for nothing
//! and remembers nothing; [`Scratch`] may make it cheaper and never different.
//! The passes, in this order and under these names everywhere: **reconcile**
//! (keep, stop, place) → **feasible** (hard rules, with reasons) → **score**
//! (one vector per choice) → **search** → **explain**.
//!
//! Integers decide. Floats live inside one objective and are rounded to
//! millionths before they are compared or added to another.

#![warn(missing_docs)]

mod reconcile;
mod queue;
mod feasible;
mod groups;
mod shapes;
pub mod objective;
mod score;
mod demand;
mod weigh;
mod search;
mod round;
mod explain;

use fleet::snapshot::Memory;
use fleet::{Decision, Plan, Policy, Snapshot};

/// How much work one plan may cost, in steps; see [`fleet::Explanation::steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Most steps.
    pub steps: u64,
}

impl Effort {
    /// Enough for some thousand placements on some thousand unlike nodes.
    pub const DEFAULT: Self = Self { steps: 50_000_000 };
}

/// A cache that makes plans cheaper and never different: groups of equal nodes, and what is known
/// about each shape of job on each group. Give the same one to every plan for one ledger, and to no
/// other: it follows the changes that snapshots name.
#[derive(Debug, Default)]
pub struct Scratch {
    groups: groups::Groups,
    shapes: shapes::Shapes,
}

/// Decides what to start and what to stop, and says why.
#[must_use]
pub fn plan(
    snapshot: &Snapshot,
    policy: &Policy,
    effort: Effort,
    scratch: &mut Scratch,
) -> Decision {
    let agenda = reconcile::reconcile(snapshot);
    scratch.groups.sync(snapshot);
    scratch.shapes.sync(snapshot, &scratch.groups);
    let tiers = score::tiers_in_force(snapshot, policy);
    let found = search::search(&agenda, snapshot, policy, &tiers, effort, scratch);
    let explanation = explain::explain(snapshot, &tiers, &found, scratch);
    let changes = !found.placements.is_empty() || !agenda.stops.is_empty();
    let (unseen, round) = round::next(snapshot, &found, changes);
    let memory =
        Memory { regimes: score::regimes(&tiers), rotation: found.rotation, unseen, round };
    let wakes = [explain::wake(&explanation), round::wake(snapshot, &memory)];
    let plan = Plan {
        serial: snapshot.serial,
        placements: found.placements,
        stops: agenda.stops,
        wake: wakes.into_iter().flatten().min(),
        memory,
    };
    Decision { plan, explanation }
}
