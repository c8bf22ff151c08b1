//! One turn: observe, remember, plan, check, order.
//!
//! [`turn`] is pure: an observation and requests in, orders out, the ledger
//! changed on the way. [`step`] puts a body at both ends. A plan that breaks
//! the law changes nothing: no order is given, what runs goes on, and the
//! snapshot is kept so that the fault can be looked into.

use std::sync::Arc;

use fleet::check::{Fault, check};
use fleet::{
    Body, BodyError, Decision, Extent, Job, JobId, NodeId, Observation, Order, Policy, Snapshot,
};
use planner::Effort;
use serde::{Deserialize, Serialize};

use crate::journal::TurnEntry;
use crate::ledger::{Drift, Ledger};
use crate::orders::orders;

/// What users ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Request {
    /// Run this job.
    Submit(Arc<Job>),
    /// Do not run this job any more: its waiting tasks leave the backlog, its runs are stopped.
    /// Cancelling a job that is not known, has ended or was cancelled changes nothing.
    Cancel(JobId),
    /// Start no more tasks of this job; what runs goes on.
    Hold(JobId),
    /// Let a job that was held run.
    Release(JobId),
    /// Start nothing more on this node; what runs goes on.
    Drain(NodeId),
    /// Let a node that was drained take work.
    Resume(NodeId),
}

/// The planning function of a turn: the planner with its scratch, or a reference planner in its
/// place.
pub type Planning<'a> = dyn FnMut(&Snapshot, &Policy, Effort) -> Decision + 'a;

/// What one turn came to.
#[derive(Debug)]
pub struct Turn {
    /// What was decided, and why.
    pub decision: Decision,
    /// What is wrong with the decision; where there is anything, no orders were given.
    pub faults: Vec<Fault>,
    /// What was planned from; kept only where there are faults.
    pub snapshot: Option<Snapshot>,
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
    let drifts = ledger.observe(observation);
    requests.into_iter().for_each(|request| take(ledger, request));
    let snapshot = ledger.seal();
    let decision = planning(&snapshot, policy, effort);
    let faults = check(&snapshot, &decision);
    if !faults.is_empty() {
        return Turn { decision, faults, snapshot: Some(snapshot), drifts, orders: Vec::new() };
    }
    let generation = ledger.generation_for(&decision.plan);
    // Where everything was seen, an order whose effect was not may have been lost on its way, with
    // the program that gave it or with its receipt. To give it again costs nothing where it was
    // not.
    let mut given = match observation.extent {
        Extent::Full => ledger.unconfirmed(),
        Extent::Changes => Vec::new(),
    };
    // What this plan stops is not started first.
    let stops = &decision.plan.stops;
    given.retain(|order| stops.binary_search_by_key(&order.run, |stop| stop.run).is_err());
    given.extend(orders(&snapshot, &decision.plan, generation));
    let orders = given;
    // The ledger changes in place, without a copy, what no snapshot shares any more.
    drop(snapshot);
    ledger.accept(&decision.plan, generation);
    Turn { decision, faults, snapshot: None, drifts, orders }
}

fn take(ledger: &mut Ledger, request: Request) {
    match request {
        Request::Submit(job) => ledger.submit(job),
        Request::Cancel(id) => ledger.cancel(id),
        Request::Hold(id) => ledger.hold(id),
        Request::Release(id) => ledger.let_go(id),
        Request::Drain(id) => ledger.drain(id),
        Request::Resume(id) => ledger.resume(id),
    }
}

/// Takes a ledger once more through a turn that was written down.
pub(crate) fn again(ledger: &mut Ledger, mut turn: TurnEntry, requests: Vec<Request>) {
    if turn.observation.classes.0.is_empty() {
        turn.observation.classes = ledger.known_classes();
    }
    ledger.observe(&turn.observation);
    requests.into_iter().for_each(|request| take(ledger, request));
    ledger.seal_as(turn.serial);
    if let Some(plan) = &turn.plan {
        ledger.accept(plan, turn.generation);
    }
}

/// One turn with a body at both ends: observe, [`turn`], carry out.
///
/// The requests are taken out once the world was seen: where it cannot be, they stay for the next
/// step. From then on the ledger has them, whether or not the body takes the orders.
///
/// Where the body does not take the orders nobody knows whether it took some of them. The ledger
/// then gives the runs up: their tasks wait again, and a run that was started after all is
/// recovered or stopped when it is seen.
///
/// # Errors
/// If the body fails.
pub fn step(
    body: &mut dyn Body,
    ledger: &mut Ledger,
    requests: &mut Vec<Request>,
    policy: &Policy,
    effort: Effort,
    planning: &mut Planning<'_>,
) -> Result<Turn, BodyError> {
    let observation = body.observe()?;
    let requests = std::mem::take(requests);
    let turn = turn(ledger, &observation, requests, policy, effort, planning);
    if !turn.orders.is_empty()
        && let Err(error) = body.carry_out(&turn.orders)
    {
        ledger.take_back(&turn.orders);
        return Err(error);
    }
    Ok(turn)
}
