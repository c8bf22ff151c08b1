//! The post room: the few orders that lead from a snapshot to a plan.
//!
//! Stops first, so that what they hold is on its way back before something new
//! is started. Nothing is improved here: every choice was made by the plan.

use std::sync::Arc;

use fleet::{Action, Generation, Order, Placement, Plan, Snapshot, Stop};

/// The orders that carry out `plan`, all of one generation.
#[must_use]
pub fn orders(snapshot: &Snapshot, plan: &Plan, generation: Generation) -> Vec<Order> {
    let stop = |stop: &Stop| Order { run: stop.run, generation, action: Action::Stop(stop.cause) };
    let start = |placement: &Placement| {
        let waiting = &snapshot.backlog[&placement.run.job];
        let (job, placement) = (Arc::clone(&waiting.job), placement.clone());
        Order { run: placement.run, generation, action: Action::Start { job, placement } }
    };
    let stops = plan.stops.iter().map(stop);
    stops.chain(plan.placements.iter().map(start)).collect()
}
