//! One turn.

use std::sync::Arc;

use fleet::check::Fault;
use fleet::{Body, BodyError, Decision, Job, Observation, Order, Policy, Snapshot};
use planner::Effort;

use crate::ledger::{Drift, Ledger};

/// What users ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// Run this job.
    Submit(Arc<Job>),
}

/// The planning function of a turn: the planner with its scratch, or a reference planner in its place.
pub type Planning<'a> = dyn FnMut(&Snapshot, &Policy, Effort) -> Decision + 'a;

/// What one turn came to.
#[derive(Debug)]
pub struct Turn {
    /// What was planned from.
    pub snapshot: Snapshot,
    /// What was decided, and why.
    pub decision: Decision,
    /// What is wrong with the decision; where there is anything, no orders were given.
    pub faults: Vec<Fault>,
    /// Differences between ledger and world that this turn found.
    pub drifts: Vec<Drift>,
    /// What the body is to do.
    pub orders: Vec<Order>,
}

/// Takes an observation and requests through ledger, plan and check to orders. Pure.
pub fn turn(
    ledger: &mut Ledger,
    observation: &Observation,
    requests: Vec<Request>,
    policy: &Policy,
    effort: Effort,
    planning: &mut Planning<'_>,
) -> Turn {
    let _ = (ledger, observation, requests, policy, effort, planning);
    unreachable!("being written")
}

/// One turn with a body at both ends: observe, [`turn`], carry out.
///
/// # Errors
/// If the body fails.
pub fn step(
    body: &mut dyn Body,
    ledger: &mut Ledger,
    requests: Vec<Request>,
    policy: &Policy,
    effort: Effort,
    planning: &mut Planning<'_>,
) -> Result<Turn, BodyError> {
    let observation = body.observe()?;
    let turn = turn(ledger, &observation, requests, policy, effort, planning);
    body.carry_out(&turn.orders)?;
    Ok(turn)
}
