//! What the ledger makes of observations, through whole turns.

mod world;
mod bodies;
mod drifts;
mod standing;
mod datasets;

use std::sync::Arc;

use controller::{Drift, Request, TaskTally, Turn};
use fleet::{
    Action, Decision, Explanation, Extent, Job, JobId, NodeId, Outcome, Plan, Policy, Receipt,
    Refusal, RunId, RunState, Snapshot, Stage, StopCause,
};
use planner::Effort;

use world::{LOST_A, LOST_B, World, attempt, restarted};

#[test]
fn a_job_that_is_submitted_runs_and_ends() {
    let (mut world, run) = World::with_train();
    assert_eq!((world.tally(0), world.stage(run)), ((0, 1, 0), Some(Stage::Ordered)));
    let running = world.sight(run, 0, RunState::Running);
    assert!(world.see(Vec::new(), vec![running]).drifts.is_empty());
    assert_eq!(world.stage(run), Some(Stage::Running));
    let done = world.sight(run, 0, RunState::Done);
    world.see(Vec::new(), vec![done]);
    assert_eq!((world.tally(0), world.stage(run)), ((0, 0, 1), None));
    let idle = world.sealed.expect("a turn seals");
    assert_eq!(idle.held, fleet::snapshot::Amounts::default());
    assert!(idle.tenants.is_empty() && idle.backlog.is_empty());
}

#[test]
fn submitting_twice_is_submitting_once() {
    let (mut world, _) = World::with_train();
    assert!(world.submit(0).orders.is_empty());
    assert_eq!(world.tally(0), (0, 1, 0));
    assert_eq!(world.ledger.jobs().count(), 1);
    assert_eq!(world.ledger.tally(JobId(7)), None);
}

#[test]
fn a_task_on_a_lost_node_waits_for_its_next_attempt() {
    let (mut world, run) = World::with_train();
    let turn = world.see(vec![LOST_A, LOST_B], Vec::new());
    assert!(turn.orders.is_empty());
    assert_eq!(world.tally(0), (1, 0, 0));
    let sealed = world.sealed.as_ref().expect("a turn seals");
    let next: Vec<_> = sealed.backlog[&JobId(0)].tasks().collect();
    assert_eq!(next, [(run.task, fleet::Attempt(1))]);
    assert_eq!(sealed.capacity, fleet::snapshot::Amounts::default());
}

#[test]
fn a_run_that_comes_back_while_its_task_waits_is_taken_back() {
    let (mut world, run) = World::with_train();
    world.see(vec![LOST_A, LOST_B], Vec::new());
    let (up, running) = (world.up(0), world.sight(run, 0, RunState::Running));
    let turn = world.see(vec![up], vec![running]);
    assert_eq!(turn.drifts, [Drift::Recovered(run, NodeId(0))]);
    assert!(turn.orders.is_empty());
    assert_eq!((world.tally(0), world.stage(run)), ((0, 1, 0), Some(Stage::Running)));
}

#[test]
fn a_run_that_comes_back_after_its_task_went_on_is_stopped() {
    let (mut world, first, second) = restarted();
    let (up, running) = (world.up(0), world.sight(first, 0, RunState::Running));
    let turn = world.see(vec![up], vec![running]);
    assert_eq!(turn.drifts, [Drift::Stray(first, NodeId(0))]);
    assert_eq!(turn.orders.len(), 1);
    assert_eq!(turn.orders[0].run, first);
    assert_eq!(world.stage(first), Some(Stage::Stopping));
    assert_eq!(world.tally(0), (0, 1, 0));
    let stopped = world.sight(first, 0, RunState::Stopped);
    world.see(Vec::new(), vec![stopped]);
    assert_eq!((world.stage(first), world.stage(second)), (None, Some(Stage::Ordered)));
    assert_eq!(world.tally(0), (0, 1, 0));
}

#[test]
fn a_node_that_comes_back_without_its_run_leaves_the_task_waiting() {
    let (mut world, run) = World::with_train();
    world.see(vec![LOST_A, LOST_B], Vec::new());
    let up = world.up(0);
    let turn = world.see(vec![up], Vec::new());
    assert!(turn.drifts.is_empty());
    assert_eq!(turn.orders[0].run, attempt(run, 1));
}

#[test]
fn a_task_counts_once_when_its_stray_ends_first() {
    let (mut world, first, second) = restarted();
    let (up, running) = (world.up(0), world.sight(first, 0, RunState::Running));
    world.see(vec![up], vec![running]);
    let done = world.sight(first, 0, RunState::Done);
    let turn = world.see(Vec::new(), vec![done]);
    assert_eq!(world.tally(0), (0, 0, 1));
    assert_eq!(turn.orders[0].run, second);
    let done = world.sight(second, 1, RunState::Done);
    world.see(Vec::new(), vec![done]);
    assert_eq!((world.tally(0), world.ledger.runs().count()), ((0, 0, 1), 0));
}

#[test]
fn a_task_counts_once_when_an_attempt_given_up_ends_after_the_next_one() {
    let (mut world, first, second) = restarted();
    let done = world.sight(second, 1, RunState::Done);
    world.see(Vec::new(), vec![done]);
    assert_eq!(world.tally(0), (0, 0, 1));
    let (up, done) = (world.up(0), world.sight(first, 0, RunState::Done));
    world.see(vec![up], vec![done]);
    assert_eq!(world.tally(0), (0, 0, 1));
}

#[test]
fn an_attempt_given_up_that_ends_spares_the_one_that_waits() {
    let (mut world, run) = World::with_train();
    world.see(vec![LOST_A, LOST_B], Vec::new());
    let (up, done) = (world.up(0), world.sight(run, 0, RunState::Done));
    let turn = world.see(vec![up], vec![done]);
    assert!(turn.orders.is_empty());
    assert_eq!(world.tally(0), (0, 0, 1));
}

#[test]
fn a_task_counts_once_though_its_end_is_seen_twice() {
    let (mut world, run) = World::with_train();
    let done = world.sight(run, 0, RunState::Done);
    world.see(Vec::new(), vec![done.clone(), done.clone()]);
    world.see(Vec::new(), vec![done]);
    assert_eq!(world.tally(0), (0, 0, 1));
}

#[test]
fn a_refused_start_waits_for_its_next_attempt() {
    let (mut world, run) = World::with_train();
    let turn = world.refuse(run, Refusal::Engine);
    assert_eq!(turn.orders[0].run, attempt(run, 1));
    assert_eq!((world.stage(run), world.tally(0)), (None, (0, 1, 0)));
}

#[test]
fn a_refusal_of_an_older_order_changes_nothing() {
    let (mut world, run) = World::with_train();
    let outcome = Outcome::Refused(Refusal::NoRoom);
    let stale = Receipt { run, generation: fleet::Generation(0), outcome };
    world.turn(Extent::Changes, Vec::new(), Vec::new(), vec![stale], Vec::new());
    assert_eq!(world.stage(run), Some(Stage::Ordered));
}

#[test]
fn a_refused_stop_is_ordered_again_unless_there_is_nothing_to_stop() {
    let (mut world, first, _) = restarted();
    let (up, running) = (world.up(0), world.sight(first, 0, RunState::Running));
    world.see(vec![up], vec![running]);
    let turn = world.refuse(first, Refusal::Engine);
    assert_eq!((turn.orders.len(), turn.orders[0].run), (1, first));
    assert!(world.refuse(first, Refusal::UnknownRun).orders.is_empty());
    assert_eq!(world.stage(first), None);
}

#[test]
fn a_run_that_a_full_observation_does_not_name_has_vanished() {
    let (mut world, run) = World::with_train();
    let running = world.sight(run, 0, RunState::Running);
    world.see(Vec::new(), vec![running]);
    let up = vec![world.up(0), world.up(1)];
    let turn = world.turn(Extent::Full, up, Vec::new(), Vec::new(), Vec::new());
    assert_eq!(turn.drifts, [Drift::Vanished(run, NodeId(0))]);
    assert_eq!(turn.orders[0].run, attempt(run, 1));
}

#[test]
fn an_order_is_given_again_where_everything_is_seen_without_its_effect() {
    let mut world = World::empty();
    let first = world.submit(0).orders;
    let run = first[0].run;
    assert!(world.see(Vec::new(), Vec::new()).orders.is_empty());
    let up = vec![world.up(0), world.up(1)];
    let turn = world.turn(Extent::Full, up, Vec::new(), Vec::new(), Vec::new());
    assert_eq!((turn.drifts, turn.orders), (Vec::new(), first));
    assert_eq!(world.stage(run), Some(Stage::Ordered));
}

#[test]
fn an_order_is_not_given_again_to_a_job_that_was_cancelled() {
    let (mut world, run) = World::with_train();
    let (up, cancel) = (vec![world.up(0), world.up(1)], vec![Request::Cancel(JobId(0))]);
    let turn = world.turn(Extent::Full, up, Vec::new(), Vec::new(), cancel);
    let about: Vec<_> = turn.orders.iter().map(|order| (order.run, &order.action)).collect();
    assert_eq!(about, [(run, &Action::Stop(StopCause::Cancelled))]);
}

#[test]
fn a_node_that_a_full_observation_does_not_name_is_lost() {
    let (mut world, run) = World::with_train();
    let up = vec![world.up(1)];
    let turn = world.turn(Extent::Full, up, Vec::new(), Vec::new(), Vec::new());
    assert_eq!(turn.orders[0].run, attempt(run, 1));
    assert!(!world.ledger.nodes().next().expect("two nodes").up);
}

#[test]
fn a_run_that_nobody_ordered_is_stopped() {
    let (mut world, _) = World::with_train();
    let unknown = RunId { job: JobId(77), ..RunId::default() };
    let running = world.sight(unknown, 1, RunState::Running);
    let turn = world.see(Vec::new(), vec![running]);
    assert_eq!(turn.drifts, [Drift::Unknown(unknown, NodeId(1))]);
    assert_eq!(turn.orders[0].run, unknown);
    let stopped = world.sight(unknown, 1, RunState::Stopped);
    world.see(Vec::new(), vec![stopped]);
    assert_eq!(world.stage(unknown), None);
}

#[test]
fn a_run_for_which_there_is_no_room_is_named_and_left_alone() {
    let (mut world, _) = World::with_train();
    let unknown = RunId { job: JobId(77), ..RunId::default() };
    let running = world.sight(unknown, 0, RunState::Running);
    let turn = world.see(Vec::new(), vec![running]);
    assert_eq!(turn.drifts, [Drift::Overfull(unknown, NodeId(0))]);
    assert!(turn.orders.is_empty());
}

#[test]
fn a_faulty_plan_gives_no_orders_and_changes_nothing() {
    let mut world = World::empty();
    let up = vec![world.up(0), world.up(1)];
    let submit = vec![Request::Submit(world.job(0))];
    let forgets = |snapshot: &Snapshot, _: &Policy, _: Effort| Decision {
        plan: Plan { serial: snapshot.serial, ..Plan::default() },
        explanation: Explanation::default(),
    };
    let sights = (up, Vec::new(), Vec::new());
    let turn = world.turn_with(Extent::Full, sights, submit, forgets);
    assert!(!turn.faults.is_empty() && turn.orders.is_empty());
    assert_eq!(turn.snapshot, world.sealed);
    assert_eq!((world.tally(0), world.ledger.generation().0), ((1, 0, 0), 0));
    assert_eq!(world.see(Vec::new(), Vec::new()).orders.len(), 1);
}

#[test]
fn the_generation_rises_only_with_orders() {
    let (mut world, run) = World::with_train();
    assert_eq!(world.ledger.generation().0, 1);
    world.see(Vec::new(), Vec::new());
    assert_eq!(world.ledger.generation().0, 1);
    let turn = world.refuse(run, Refusal::Engine);
    assert_eq!((turn.orders[0].generation.0, world.ledger.generation().0), (2, 2));
}

#[test]
fn tasks_of_an_array_are_started_one_by_one_and_add_up() {
    let mut world = World::empty();
    let turn = world.submit(1);
    assert_eq!((turn.orders.len(), world.tally(1)), (2, (1, 2, 0)));
    let done = world.sight(turn.orders[0].run, 0, RunState::Done);
    world.see(Vec::new(), vec![done]);
    assert_eq!(world.tally(1), (0, 2, 1));
}

fn cancel(world: &mut World, job: u64) -> Turn {
    let requests = vec![Request::Cancel(JobId(job))];
    world.turn(Extent::Changes, Vec::new(), Vec::new(), Vec::new(), requests)
}

#[test]
fn a_cancelled_job_leaves_the_backlog_and_its_runs_are_stopped() {
    let mut world = World::empty();
    world.submit(1);
    let turn = cancel(&mut world, 1);
    let stops = turn.orders.iter().filter(|it| it.action == Action::Stop(StopCause::Cancelled));
    assert_eq!((turn.orders.len(), stops.count()), (2, 2));
    let tally = world.ledger.tally(JobId(1)).unwrap();
    assert_eq!(tally, TaskTally { cancelled: 3, ..TaskTally::default() });
    let stopped = turn.orders.iter().zip(0_u32..);
    let stopped = stopped.map(|(it, node)| world.sight(it.run, node, RunState::Stopped)).collect();
    assert!(world.see(Vec::new(), stopped).orders.is_empty());
    assert_eq!(world.ledger.runs().count(), 0);
}

#[test]
fn cancelling_what_is_not_there_or_was_cancelled_changes_nothing() {
    let (mut world, _) = World::with_train();
    assert!(cancel(&mut world, 7).orders.is_empty());
    assert_eq!(cancel(&mut world, 0).orders.len(), 1);
    assert!(cancel(&mut world, 0).orders.is_empty());
    assert_eq!(world.ledger.tally(JobId(0)).unwrap().cancelled, 1);
}

#[test]
fn the_last_id_of_all_is_an_id_like_any_other() {
    let mut world = World::empty();
    let job = Job { id: JobId(u64::MAX), ..Job::clone(&world.job(1)) };
    let (up, submit) = (vec![world.up(0), world.up(1)], vec![Request::Submit(Arc::new(job))]);
    let turn = world.turn(Extent::Full, up, Vec::new(), Vec::new(), submit);
    assert_eq!((turn.orders.len(), world.tally(u64::MAX)), (2, (1, 2, 0)));
    let turn = cancel(&mut world, u64::MAX);
    assert_eq!((turn.orders.len(), world.tally(u64::MAX)), (2, (0, 0, 0)));
}

#[test]
fn a_snapshot_says_when_something_was_new_last() {
    let changed = |world: &World| {
        let sealed = world.sealed.as_ref().expect("a turn seals");
        (sealed.serial.0, sealed.changed.0)
    };
    let (mut world, run) = World::with_train();
    assert_eq!(changed(&world), (1, 1));
    world.see(Vec::new(), Vec::new());
    assert_eq!(changed(&world), (2, 2), "the plan of the first was accepted");
    let running = world.sight(run, 0, RunState::Running);
    world.see(Vec::new(), vec![running.clone()]);
    assert_eq!(changed(&world), (3, 3), "the run is seen");
    let up = vec![world.up(0), world.up(1)];
    world.turn(Extent::Full, up, vec![running.clone()], Vec::new(), Vec::new());
    world.submit(0);
    cancel(&mut world, 7);
    world.refuse(run, Refusal::Engine);
    let unknown = RunId { job: JobId(77), ..run };
    let overfull = world.sight(unknown, 0, RunState::Running);
    let ended = world.sight(unknown, 0, RunState::Stopped);
    world.see(Vec::new(), vec![overfull, ended, running]);
    assert_eq!(changed(&world), (8, 3), "nothing of this was new");
    world.see(vec![LOST_B], Vec::new());
    assert_eq!(changed(&world), (9, 9));
    cancel(&mut world, 0);
    assert_eq!(changed(&world), (10, 10));
    assert!(world.sealed.as_ref().expect("a turn seals").unwanted.contains(&run));
    world.see(Vec::new(), Vec::new());
    assert_eq!(changed(&world), (11, 11), "the stop was accepted");
    assert!(world.sealed.as_ref().expect("a turn seals").unwanted.is_empty());
}
