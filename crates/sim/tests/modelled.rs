//! Modelled nodes, one behaviour at a time, at times that the test says.

mod world_fixtures;

use std::sync::Arc;

use fleet::{
    Action, Attempt, Bytes, Extent, Failure, Generation, Grant, Job, JobId, MilliCores, NodeId,
    Order, Outcome, Placement, Program, Rate, Refusal, Run, RunId, RunState, Span, Stage,
    StopCause, TaskIndex, Tenant, Time,
};
use sim::modelled::{ModelledNodes, Sights, UNSAID};
use world_fixtures::{inventory, job};

const SECOND: Span = Span(1_000_000);

fn nodes(count: u32) -> ModelledNodes {
    let inventory = inventory(count);
    let nodes = inventory.nodes.into_iter().map(Arc::new);
    let mut nodes = ModelledNodes::new(nodes, &inventory.classes);
    nodes.pass(Time::seconds(100));
    nodes
}

fn run(id: u64) -> RunId {
    RunId { job: JobId(id), task: TaskIndex(0), attempt: Attempt(0) }
}

/// One core for so long.
fn placement(id: u64, node: u32, duration: Option<Span>) -> Placement {
    let (cores, memory) = (MilliCores(1000), Bytes(1 << 30));
    let grant = Grant { cores, memory, ..Grant::default() };
    let (run, node, rate) = (run(id), NodeId(node), Rate(1_000_000));
    Placement { run, node, grant, rate, duration, alternative: 0, class: fleet::ClassId(0) }
}

fn start_with(job: Job, placement: Placement) -> Order {
    let (run, job) = (placement.run, Arc::new(job));
    Order { run, generation: Generation(3), action: Action::Start { job, placement } }
}

fn start(id: u64, node: u32, seconds: u64) -> Order {
    start_with(job(id, 0, seconds), placement(id, node, Some(Span::seconds(seconds))))
}

fn stop(id: u64) -> Order {
    Order { run: run(id), generation: Generation(3), action: Action::Stop(StopCause::Cancelled) }
}

fn limited(id: u64, limit: Span) -> Job {
    let program = Program { time_limit: Some(limit), ..Program::default() };
    Job { program: Some(Arc::new(program)), ..job(id, 0, 1) }
}

fn states(sights: &Sights) -> Vec<(u64, RunState)> {
    sights.runs.iter().map(|sight| (sight.run.job.0, sight.state)).collect()
}

fn outcomes(sights: &Sights) -> Vec<Outcome> {
    sights.receipts.iter().map(|receipt| receipt.outcome).collect()
}

#[test]
fn a_task_takes_as_long_as_its_placement_is_expected_to() {
    let mut nodes = nodes(1);
    nodes.carry_out(&start(1, 0, 10));
    let seen = nodes.observe(Extent::Changes);
    assert_eq!(states(&seen), [(1, RunState::Running(Time::seconds(100)))]);
    assert_eq!((outcomes(&seen), nodes.due()), (vec![Outcome::Accepted], Some(Time::seconds(110))));
    nodes.pass(Time(109_999_999));
    assert_eq!(nodes.observe(Extent::Changes), Sights::default());
    // Whoever looks too late is told when it was.
    nodes.pass(Time::seconds(200));
    assert_eq!(nodes.due(), Some(Time::ZERO), "somebody should look");
    let seen = nodes.observe(Extent::Changes);
    assert_eq!(states(&seen), [(1, RunState::Done(Time::seconds(110)))]);
    assert_eq!(nodes.due(), None);
}

#[test]
fn a_task_of_which_nobody_says_how_long_takes_a_minute() {
    let mut nodes = nodes(1);
    nodes.carry_out(&start_with(job(1, 0, 1), placement(1, 0, None)));
    nodes.observe(Extent::Changes);
    assert_eq!(nodes.due(), Some(Time::seconds(100).after(UNSAID)));
    assert_eq!(UNSAID, Span::seconds(60));
}

#[test]
fn a_task_that_takes_longer_than_it_may_is_stopped_at_its_limit() {
    let mut nodes = nodes(1);
    nodes.carry_out(&start_with(limited(1, SECOND), placement(1, 0, Some(Span::seconds(2)))));
    nodes.carry_out(&start_with(limited(2, SECOND), placement(2, 0, Some(SECOND))));
    nodes.observe(Extent::Changes);
    nodes.pass(Time::seconds(300));
    let (failed, done) = (RunState::Failed, RunState::Done(Time::seconds(101)));
    let failed = failed(Time::seconds(101), Failure::TimeLimit);
    assert_eq!(states(&nodes.observe(Extent::Changes)), [(1, failed), (2, done)]);
}

#[test]
fn what_has_no_room_is_refused_until_something_ends() {
    let mut nodes = nodes(1);
    (1..=5).for_each(|id| nodes.carry_out(&start(id, 0, 10)));
    let outcomes = outcomes(&nodes.observe(Extent::Changes));
    assert_eq!(outcomes[3..], [Outcome::Accepted, Outcome::Refused(Refusal::NoRoom)]);
    nodes.carry_out(&stop(2));
    nodes.carry_out(&start(6, 0, 10));
    let seen = nodes.observe(Extent::Changes);
    assert_eq!(self::outcomes(&seen), [Outcome::Accepted, Outcome::Accepted]);
    let (stopped, running) = (RunState::Stopped, RunState::Running);
    let at = Time::seconds(100);
    assert_eq!(states(&seen), [(2, stopped(at)), (6, running(at))]);
}

#[test]
fn an_order_that_comes_again_is_carried_out_once() {
    let mut nodes = nodes(1);
    nodes.carry_out(&start(1, 0, 10));
    nodes.carry_out(&start(1, 0, 10));
    assert_eq!(nodes.observe(Extent::Changes).runs.len(), 1);
    let older = Order { generation: Generation(2), ..start(1, 0, 10) };
    nodes.carry_out(&older);
    nodes.carry_out(&Order { generation: Generation(2), ..stop(1) });
    let stale = Outcome::Refused(Refusal::StaleGeneration);
    assert_eq!(outcomes(&nodes.observe(Extent::Changes)), [stale, stale]);
    nodes.carry_out(&stop(1));
    nodes.carry_out(&stop(1));
    nodes.carry_out(&start(1, 0, 10));
    let seen = nodes.observe(Extent::Changes);
    assert_eq!((outcomes(&seen), seen.runs.len()), (vec![Outcome::Accepted; 3], 1));
    nodes.carry_out(&stop(1));
    let unknown = Outcome::Refused(Refusal::UnknownRun);
    assert_eq!(outcomes(&nodes.observe(Extent::Changes)), [unknown]);
}

#[test]
fn that_runs_have_started_can_wait_for_a_moment_and_all_else_cannot() {
    let mut nodes = nodes(1);
    assert_eq!(nodes.due(), None);
    nodes.carry_out(&start(1, 0, 10));
    assert_eq!(nodes.due(), Some(Time(100_050_000)));
    nodes.carry_out(&start(2, 7, 10));
    assert_eq!(nodes.due(), Some(Time::ZERO), "there is no such node");
    nodes.observe(Extent::Changes);
    nodes.carry_out(&stop(1));
    assert_eq!(nodes.due(), Some(Time::ZERO));
}

#[test]
fn a_full_look_names_every_node_and_run_and_what_ended_before() {
    let mut nodes = nodes(2);
    nodes.carry_out(&start(1, 0, 10));
    nodes.carry_out(&start(2, 1, 50));
    nodes.observe(Extent::Changes);
    nodes.pass(Time::seconds(120));
    nodes.carry_out(&start(3, 1, 50));
    let seen = nodes.observe(Extent::Full);
    let (done, running) = (RunState::Done(Time::seconds(110)), RunState::Running);
    let late = running(Time::seconds(120));
    assert_eq!(states(&seen), [(2, running(Time::seconds(100))), (1, done), (3, late)]);
    assert_eq!((seen.nodes.len(), seen.receipts.len()), (2, 1));
}

fn known(id: u64, stage: Stage) -> Run {
    Run {
        placement: placement(id, 0, Some(Span::seconds(30))),
        tenant: Tenant::new("ada"),
        stage,
        since: Time::seconds(80),
        generation: Generation(3),
    }
}

#[test]
fn what_ran_before_is_taken_up_and_has_ended_when_it_would_have() {
    let mut nodes = nodes(1);
    nodes.resume(&known(1, Stage::Running), None);
    nodes.resume(&known(2, Stage::Cancelled), Some(&limited(2, SECOND)));
    nodes.resume(&known(3, Stage::Ordered), None);
    nodes.pass(Time::seconds(100));
    let seen = nodes.observe(Extent::Full);
    let over = RunState::Failed(Time::seconds(81), Failure::TimeLimit);
    assert_eq!(states(&seen), [(1, RunState::Running(Time::seconds(80))), (2, over)]);
    assert_eq!(nodes.due(), Some(Time::seconds(110)));
    // What was never seen to run is ordered again, and the node has room for it.
    nodes.carry_out(&start(3, 0, 10));
    assert_eq!(outcomes(&nodes.observe(Extent::Changes)), [Outcome::Accepted]);
}

#[test]
fn all_that_runs_can_be_lost_and_what_had_ended_had_ended() {
    let mut nodes = nodes(1);
    nodes.resume(&known(1, Stage::Running), None);
    nodes.resume(&known(2, Stage::Running), Some(&limited(2, SECOND)));
    nodes.lose_all(Time::seconds(100));
    let over = RunState::Failed(Time::seconds(81), Failure::TimeLimit);
    let lost = RunState::Failed(Time::seconds(100), Failure::Lost);
    assert_eq!(states(&nodes.observe(Extent::Full)), [(2, over), (1, lost)]);
}

#[test]
fn orders_for_other_nodes_are_not_theirs() {
    let mut nodes = nodes(1);
    assert!(nodes.is_theirs(&start(1, 0, 1)) && !nodes.is_theirs(&start(1, 1, 1)));
    assert!(!nodes.is_theirs(&stop(1)));
    nodes.carry_out(&start(1, 0, 1));
    assert!(nodes.is_theirs(&stop(1)));
    nodes.pass(Time::seconds(300));
    assert!(nodes.is_theirs(&stop(1)), "it has ended, and nobody was told");
    nodes.observe(Extent::Changes);
    assert!(!nodes.is_theirs(&stop(1)));
}
