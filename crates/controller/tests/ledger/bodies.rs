//! Whole steps, with bodies that fail.

use std::sync::Arc;

use controller::{Drift, Request, Turn, step};
use fleet::{
    Body, BodyError, Extent, NodeId, Observation, Order, Policy, RunId, RunState, Snapshot, Time,
};
use planner::{Effort, Scratch};

use crate::world::{World, attempt, policy};

/// A body that does not take orders.
struct Deaf(Observation);

impl Body for Deaf {
    fn observe(&mut self) -> Result<Observation, BodyError> {
        Ok(self.0.clone())
    }

    fn carry_out(&mut self, _orders: &[Order]) -> Result<(), BodyError> {
        let detail = "nobody listens".to_owned();
        Err(BodyError::Garbled { what: "the answer", detail })
    }

    fn wait(&mut self, _until: Option<Time>) -> Result<(), BodyError> {
        Ok(())
    }
}

/// A body that sees only every other time.
struct Blinking(Observation, bool);

impl Body for Blinking {
    fn observe(&mut self) -> Result<Observation, BodyError> {
        self.1 = !self.1;
        let detail = "all is dark".to_owned();
        let dark = BodyError::Garbled { what: "the view", detail };
        if self.1 { Err(dark) } else { Ok(self.0.clone()) }
    }

    fn carry_out(&mut self, _orders: &[Order]) -> Result<(), BodyError> {
        Ok(())
    }

    fn wait(&mut self, _until: Option<Time>) -> Result<(), BodyError> {
        Ok(())
    }
}

fn take_step(
    body: &mut dyn Body,
    world: &mut World,
    requests: &mut Vec<Request>,
) -> Result<Turn, BodyError> {
    let mut planning = |snapshot: &Snapshot, policy: &Policy, effort| {
        planner::plan(snapshot, policy, effort, &mut Scratch::default())
    };
    step(body, &mut world.ledger, requests, &policy(), Effort::DEFAULT, &mut planning)
}

fn first_sight(world: &World) -> Observation {
    let nodes = vec![world.up(0), world.up(1)];
    let classes = Arc::new(world.parts.classes.clone());
    let (at, extent) = (Time::ZERO, Extent::Changes);
    Observation { at, extent, classes, nodes, runs: Vec::new(), receipts: Vec::new() }
}

#[test]
fn what_was_asked_while_a_body_did_not_see_is_taken_in_once_it_does() {
    let mut world = World::empty();
    let mut body = Blinking(first_sight(&world), false);
    let mut requests = vec![Request::Submit(world.job(0))];
    assert!(take_step(&mut body, &mut world, &mut requests).is_err());
    assert_eq!((requests.len(), world.ledger.jobs().count()), (1, 0));
    let turn = take_step(&mut body, &mut world, &mut requests).expect("it sees");
    assert_eq!((requests.len(), turn.orders.len()), (0, 1));
}

#[test]
fn what_a_body_did_not_take_is_forgotten_once_everything_was_seen_without_it() {
    let mut world = World::empty();
    let sight = first_sight(&world);
    let mut requests = vec![Request::Submit(world.job(0))];
    assert!(take_step(&mut Deaf(sight), &mut world, &mut requests).is_err());
    let (run, up) = (RunId::default(), vec![world.up(0), world.up(1)]);
    let turn = world.turn(Extent::Full, up, Vec::new(), Vec::new(), Vec::new());
    assert_eq!(turn.orders[0].run, attempt(run, 1));
    let running = world.sight(run, 1, RunState::Running);
    let turn = world.see(Vec::new(), vec![running]);
    assert_eq!(turn.drifts, [Drift::Unknown(run, NodeId(1))]);
}

#[test]
fn what_a_body_did_not_take_waits_again_and_is_recovered_where_it_runs_after_all() {
    let mut world = World::empty();
    let observation = first_sight(&world);
    let mut requests = vec![Request::Submit(world.job(0))];
    assert!(take_step(&mut Deaf(observation), &mut world, &mut requests).is_err());
    assert!(requests.is_empty(), "the ledger has them");
    assert_eq!(world.tally(0), (1, 0, 0));
    let run = RunId::default();
    let running = world.sight(run, 0, RunState::Running);
    let turn = world.see(Vec::new(), vec![running]);
    assert_eq!(turn.drifts, vec![Drift::Recovered(run, NodeId(0))]);
    assert!(turn.orders.is_empty());
    assert_eq!(world.tally(0), (0, 1, 0));
}
