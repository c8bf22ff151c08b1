//! The decision: a snapshot and a policy in, a plan and an explanation out.
//!
//! [`plan`] is a function. It reads no clock, waits for nothing, remembers
//! nothing and draws only from the seed that it is given; [`Scratch`] may make
//! it cheaper and never different.
//! The passes, in this order and under these names everywhere: **reconcile**
//! (keep, stop, place) → **feasible** (hard rules, with reasons) → **score**
//! (one vector per choice) → **search** → **explain**.
//!
//! Where a policy divides devices over time, **allocate** goes before them: it says
//! who has what until devices are divided again ([`mod@apportion`]), and the others
//! place what was granted.
//!
//! Integers decide. Floats live inside one objective and are rounded to
//! millionths before they are compared or added to another.

#![warn(missing_docs)]

mod reconcile;
mod allocate;
mod queue;
mod feasible;
mod groups;
mod shapes;
pub mod objective;
mod communication;
mod effects;
mod score;
pub mod front;
mod staging;
mod expected;
mod demand;
mod ranking;
mod dice;
mod weigh;
mod gang;
mod compromise;
mod batch;
mod lookahead;
mod search;
mod round;
mod explain;
pub mod inquiry;
pub mod apportion;

use fleet::explanation::TierInForce;
use fleet::snapshot::Memory;
use fleet::{Decision, Mark, Phase, Plan, Policy, Snapshot};

/// How much work one plan may cost, in steps; see [`fleet::Explanation::steps`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Most steps.
    pub steps: u64,
    /// How one of several nodes with the best score is found: drawn from this seed and the
    /// snapshot's serial, or, where there is none, the one with the lowest id.
    pub seed: Option<u64>,
}

impl Effort {
    /// Enough for some thousand placements on some thousand unlike nodes.
    pub const DEFAULT: Self = Self { steps: 50_000_000, seed: None };
}

/// A cache that makes plans cheaper and never different: groups of equal nodes, where each shape of
/// job has room, what its choices do, and a ranking of them. Give the same one to every plan for
/// one ledger, and to no other: it follows the changes that snapshots name.
#[derive(Debug, Default)]
pub struct Scratch {
    groups: groups::Groups,
    shapes: shapes::Shapes,
    appraiser: effects::Appraiser,
    rankings: ranking::Rankings,
    reasons: explain::Reasons,
}

impl Scratch {
    /// How many pairs of a shape and a group were looked at so far, each time anew: what the plans
    /// really cost with this cache. Where a group had room for the shape the effects on it were
    /// worked out too, which is the larger part of the cost; these are counted once more.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.shapes.judged + self.appraiser.worked_out
    }

    fn sync(&mut self, snapshot: &Snapshot, policy: &Policy, tiers: &[TierInForce]) {
        self.groups.sync(snapshot, &policy.externals);
        self.shapes.sync(snapshot, policy.oversubscribe);
        self.appraiser.sync(snapshot, &self.groups, &self.shapes, tiers, policy);
        self.rankings.sync(ranking::Basis {
            tiers: tiers.to_vec(),
            scale: policy.scale,
            externals: policy.externals.clone(),
            signals: groups::weighed_signals(snapshot, &policy.externals),
            effects: self.appraiser.version,
            shapes: self.shapes.epoch,
        });
    }
}

/// Decides what to start and what to stop, and says why.
#[must_use]
pub fn plan(
    snapshot: &Snapshot,
    policy: &Policy,
    effort: Effort,
    scratch: &mut Scratch,
) -> Decision {
    plan_marked(snapshot, policy, effort, scratch, &mut |_| {})
}

/// The same decision as [`plan`] makes, with a mark wherever one phase is over.
///
/// [`Phase::Match`] is reconcile, bringing the scratch up to date, and the weighing of one task on
/// all that would do for it. [`Phase::Decide`] is all else: the order of the queue, look-ahead,
/// finding nodes for a gang (which scores the few that it looks at), waiting for inputs, placing,
/// and the explanation. A weighing has a mark before and after it, and the plan one at its end.
#[must_use]
pub fn plan_marked(
    snapshot: &Snapshot,
    policy: &Policy,
    effort: Effort,
    scratch: &mut Scratch,
    mark: &mut Mark<'_>,
) -> Decision {
    let tiers = score::tiers_in_force(snapshot, policy);
    scratch.sync(snapshot, policy, &tiers);
    match &policy.allocate {
        None => plan_what_waits(snapshot, (policy, &tiers), effort, scratch, mark),
        Some(allocate) => {
            allocate::plan(snapshot, (policy, &tiers, allocate), effort, scratch, mark)
        }
    }
}

/// The passes from reconcile to explain: what runs goes on, what waits is placed.
fn plan_what_waits(
    snapshot: &Snapshot,
    (policy, tiers): (&Policy, &[TierInForce]),
    effort: Effort,
    scratch: &mut Scratch,
    mark: &mut Mark<'_>,
) -> Decision {
    let agenda = reconcile::reconcile(snapshot);
    mark(Phase::Match);
    let found = search::search(&agenda, (snapshot, policy, tiers), effort, scratch, mark);
    let explanation = explain::explain(snapshot, tiers, &found, scratch);
    let changes = !found.placements.is_empty() || !agenda.stops.is_empty();
    let (unseen, round) = round::next(snapshot, &found, changes);
    let released = found.released;
    let memory = Memory {
        regimes: score::regimes(tiers),
        rotation: found.rotation,
        unseen,
        round,
        released,
        allotment: None,
    };
    let wakes = [explain::wake(&explanation), round::wake(snapshot, &memory)];
    let plan = Plan {
        serial: snapshot.serial,
        placements: found.placements,
        stops: agenda.stops,
        wake: wakes.into_iter().flatten().min(),
        memory,
    };
    mark(Phase::Decide);
    Decision { plan, explanation }
}
