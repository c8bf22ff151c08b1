//! Runs that are not where they should be, or not what they should be.

use std::sync::Arc;

use controller::{Drift, Turn};
use fleet::{
    Action, DeviceGrant, Extent, JobId, Milli, MilliCores, NodeId, Outcome, Receipt, RunId,
    RunSight, RunState, Stage, StopCause,
};

use crate::world::{LOST_A, LOST_B, World, attempt};

#[test]
fn a_run_on_another_node_than_ordered_is_stopped_and_its_task_waits_again() {
    let (mut world, run) = World::with_train();
    let running = world.sight(run, 1, RunState::Running);
    let turn = world.see(Vec::new(), vec![running]);
    assert_eq!(turn.drifts, vec![Drift::Elsewhere(run, NodeId(1))]);
    let stops = turn.orders.iter().filter(|order| order.action == Action::Stop(StopCause::Stray));
    assert_eq!(stops.map(|order| order.run).collect::<Vec<_>>(), vec![run]);
    assert_eq!(turn.orders.len(), 2, "the task is started again: {:?}", turn.orders);
}

#[test]
fn a_run_that_was_accepted_and_is_not_in_full_sight_is_gone() {
    let (mut world, run) = World::with_train();
    let generation = world.ledger.generation();
    let receipt = Receipt { run, generation, outcome: Outcome::Accepted };
    let up = vec![world.up(0), world.up(1)];
    let turn = world.turn(Extent::Full, up, Vec::new(), vec![receipt], Vec::new());
    assert_eq!(turn.drifts, vec![Drift::Vanished(run, NodeId(0))]);
    assert_eq!(turn.orders.len(), 1);
}

#[test]
fn a_run_that_is_gone_does_not_run_again_where_its_job_says_so() {
    let mut world = World::empty();
    Arc::make_mut(&mut world.parts.backlog[0].job).restart.requeue = false;
    let run = world.submit(0).orders[0].run;
    let generation = world.ledger.generation();
    let receipt = Receipt { run, generation, outcome: Outcome::Accepted };
    let up = vec![world.up(0), world.up(1)];
    let turn = world.turn(Extent::Full, up, Vec::new(), vec![receipt], Vec::new());
    assert_eq!(turn.drifts, vec![Drift::Vanished(run, NodeId(0))]);
    assert_eq!(turn.orders, vec![]);
    assert_eq!(world.ledger.tally(run.job).unwrap().failed, 1);
}

/// The run, seen on a node with so many cores.
fn sight_with(world: &World, run: RunId, node: u32, cores: u64) -> RunSight {
    let mut sight = world.sight(run, node, RunState::Running);
    sight.grant.cores = MilliCores(cores * 1000);
    sight
}

/// What the ledger holds for a run: its node, cores and stage.
fn held(world: &World, run: RunId) -> Option<(NodeId, MilliCores, Stage)> {
    let run = world.ledger.runs().find(|held| held.id() == run)?;
    Some((run.placement.node, run.placement.grant.cores, run.stage))
}

/// The runs that a turn stops as strays.
fn stopped(turn: &Turn) -> Vec<RunId> {
    let stops = turn.orders.iter().filter(|order| order.action == Action::Stop(StopCause::Stray));
    stops.map(|order| order.run).collect()
}

#[test]
fn a_run_that_holds_something_else_than_it_was_granted_is_booked_as_seen_and_stopped() {
    let (mut world, run) = World::with_train();
    let other = sight_with(&world, run, 0, 2);
    let turn = world.see(Vec::new(), vec![other]);
    assert_eq!(turn.drifts, [Drift::Elsewhere(run, NodeId(0))]);
    assert_eq!(stopped(&turn), [run]);
    assert_eq!(held(&world, run), Some((NodeId(0), MilliCores(2000), Stage::Stopping)));
    assert_eq!(held(&world, attempt(run, 1)).map(|held| held.0), Some(NodeId(1)));
}

#[test]
fn a_run_that_holds_more_than_its_node_has_is_overfull_and_its_task_waits_again() {
    let (mut world, run) = World::with_train();
    let more = sight_with(&world, run, 0, 5);
    let turn = world.see(Vec::new(), vec![more]);
    assert_eq!(turn.drifts, [Drift::Overfull(run, NodeId(0))]);
    assert_eq!((held(&world, run), stopped(&turn)), (None, Vec::new()));
    assert_eq!(turn.orders[0].run, attempt(run, 1));
}

#[test]
fn a_run_that_comes_back_on_another_node_or_with_another_grant_is_not_taken_back() {
    for (node, cores) in [(0, 2), (1, 3)] {
        let (mut world, run) = World::with_train();
        world.see(vec![LOST_A, LOST_B], Vec::new());
        let (up, other) = (world.up(node as usize), sight_with(&world, run, node, cores));
        let turn = world.see(vec![up], vec![other]);
        assert_eq!(turn.drifts, [Drift::Elsewhere(run, NodeId(node))]);
        assert_eq!(stopped(&turn), [run]);
        let booked = (NodeId(node), MilliCores(cores * 1000), Stage::Stopping);
        assert_eq!(held(&world, run), Some(booked));
        assert_eq!(world.tally(0), (1, 0, 0));
    }
}

#[test]
fn a_stray_that_is_lost_and_comes_back_is_still_a_stray() {
    let (mut world, run) = World::with_train();
    let elsewhere = world.sight(run, 1, RunState::Running);
    world.see(vec![LOST_A], vec![elsewhere.clone()]);
    world.see(vec![LOST_B], Vec::new());
    assert_eq!((world.stage(run), world.tally(0)), (None, (1, 0, 0)));
    let up = world.up(1);
    let turn = world.see(vec![up], vec![elsewhere]);
    assert_eq!(turn.drifts, [Drift::Stray(run, NodeId(1))]);
    assert_eq!((stopped(&turn), world.tally(0)), (vec![run], (1, 0, 0)));
}

#[test]
fn a_run_that_is_said_to_hold_a_device_twice_has_no_room() {
    let (mut world, _) = World::with_train();
    let unknown = RunId { job: JobId(77), ..RunId::default() };
    let mut sight = sight_with(&world, unknown, 1, 1);
    let device = DeviceGrant { share: Milli(600), ..DeviceGrant::default() };
    sight.grant.devices = vec![device; 2];
    let turn = world.see(Vec::new(), vec![sight]);
    assert_eq!(turn.drifts, [Drift::Overfull(unknown, NodeId(1))]);
}

#[test]
fn an_observation_from_before_the_last_one_holds_for_the_time_of_the_last_one() {
    let (mut world, run) = World::with_train();
    let at = world.sealed.as_ref().expect("a turn seals").at;
    world.now = 0;
    let running = world.sight(run, 0, RunState::Running);
    world.see(Vec::new(), vec![running.clone()]);
    assert_eq!(world.sealed.as_ref().expect("a turn seals").at, at);
    world.now = 0;
    world.see(Vec::new(), vec![running]);
    assert_eq!((world.stage(run), world.tally(0)), (Some(Stage::Running), (0, 1, 0)));
}
