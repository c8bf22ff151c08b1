//! The model world, one behaviour at a time.

mod world_fixtures;

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{
    Action, Attempt, Body, Bytes, ClassId, DeviceGrant, DeviceIndex, Extent, Generation, Grant,
    Job, JobId, MilliCores, NodeId, NodeSight, Observation, Order, Outcome, Placement, Rate,
    Refusal, RunId, RunState, Span, StopCause, TaskIndex, Time, Work,
};
use sim::world::{TrueRates, World};
use sim::{Outage, OutageKind, Truth};
use world_fixtures::{inventory, job};

#[test]
fn first_observation_is_full_and_the_next_names_only_changes() {
    let mut world = world(2, &[]);
    let first = world.observe().unwrap();
    assert_eq!((first.extent, first.nodes.len()), (Extent::Full, 2));
    world.carry_out(&[start(&job(1, 0, 10), 0, 0, 1)]).unwrap();
    let second = world.observe().unwrap();
    assert_eq!((second.extent, second.nodes.len()), (Extent::Changes, 0));
    assert_eq!(states(&second), [(run(1, 0), RunState::Running(Time::ZERO))]);
    assert_eq!(outcomes(&second), [Outcome::Accepted]);
    let third = world.observe().unwrap();
    assert_eq!((third.runs.len(), third.receipts.len()), (0, 0));
}

#[test]
fn observations_are_full_again_on_a_schedule() {
    let mut world = World::new(&inventory(1), TrueRates::default(), &[], 3);
    let extents: Vec<_> = (0..7).map(|_| world.observe().unwrap().extent).collect();
    let (full, changes) = (Extent::Full, Extent::Changes);
    assert_eq!(extents, [full, changes, changes, full, changes, changes, full]);
}

#[test]
fn run_ends_when_its_true_rate_says_so() {
    let given = BTreeMap::from([("A100".to_owned(), Rate(500_000))]);
    let rates = BTreeMap::from([("job1".to_owned(), given)]);
    let truth = Truth { rates, ..Truth::default() };
    let mut world = World::new(&inventory(1), TrueRates::new(truth, &[], 0), &[], 0);
    world.carry_out(&[start(&job(1, 1000, 10), 0, 0, 1)]).unwrap();
    world.observe().unwrap();
    world.wait(None).unwrap();
    assert_eq!(states(&world.observe().unwrap()), [(run(1, 0), RunState::Done(Time::seconds(20)))]);
}

#[test]
fn run_ends_when_its_true_work_is_done_whatever_is_declared() {
    let truth = Truth { work: BTreeMap::from([(JobId(1), Work(7_000_000))]), ..Truth::default() };
    let mut world = World::new(&inventory(2), TrueRates::new(truth, &[], 0), &[], 0);
    let orders = [start(&job(1, 1000, 10), 0, 0, 1), start(&job(2, 1000, 10), 0, 1, 1)];
    world.carry_out(&orders).unwrap();
    world.observe().unwrap();
    assert_eq!(world.next_event(), Some(Time::seconds(7)));
    world.wait(None).unwrap();
    world.observe().unwrap();
    assert_eq!(world.next_event(), Some(Time::seconds(10)), "another job is as it declares");
}

#[test]
fn wait_returns_at_the_time_given_or_at_the_next_event() {
    let mut world = world(1, &[]);
    world.carry_out(&[start(&job(1, 0, 10), 0, 0, 1)]).unwrap();
    world.observe().unwrap();
    world.wait(Some(Time::seconds(4))).unwrap();
    assert_eq!(world.at(), Time::seconds(4));
    world.wait(Some(Time::seconds(40))).unwrap();
    assert_eq!(world.at(), Time::seconds(10));
    world.wait(Some(Time::seconds(40))).unwrap();
    assert_eq!(world.at(), Time::seconds(10), "the end has not been observed yet");
    world.observe().unwrap();
    world.wait(None).unwrap();
    assert_eq!(world.at(), Time::seconds(10), "nothing will ever happen");
}

#[test]
fn run_without_work_never_ends() {
    let mut world = world(1, &[]);
    let service = Job { work: None, ..job(1, 0, 0) };
    world.carry_out(&[start(&service, 0, 0, 1)]).unwrap();
    assert_eq!(world.next_event(), None);
}

#[test]
fn order_given_twice_is_carried_out_once() {
    let mut world = world(1, &[]);
    let (begin, end) = (start(&job(1, 0, 10), 0, 0, 1), stop(1, 0, 2));
    world.carry_out(&[begin.clone(), begin.clone()]).unwrap();
    assert_eq!(outcomes(&world.observe().unwrap()), [Outcome::Accepted; 2]);
    world.carry_out(&[end.clone(), end]).unwrap();
    assert_eq!(outcomes(&world.observe().unwrap()), [Outcome::Accepted; 2]);
    world.carry_out(&[begin]).unwrap();
    assert_eq!(outcomes(&world.observe().unwrap()), [refused(Refusal::StaleGeneration)]);
    assert!(world.truth_view().runs.is_empty());
}

#[test]
fn older_generation_than_was_carried_out_is_refused() {
    let mut world = world(2, &[]);
    world.carry_out(&[start(&job(1, 0, 10), 0, 0, 5)]).unwrap();
    world.carry_out(&[start(&job(2, 0, 10), 0, 0, 4), stop(1, 0, 4)]).unwrap();
    let stale = refused(Refusal::StaleGeneration);
    assert_eq!(outcomes(&world.observe().unwrap()), [Outcome::Accepted, stale, stale]);
}

#[test]
fn attempt_overtaken_by_a_later_one_is_refused() {
    let mut world = world(2, &[]);
    world.carry_out(&[start(&job(1, 0, 10), 1, 0, 5), start(&job(1, 0, 10), 0, 1, 5)]).unwrap();
    let stale = refused(Refusal::StaleGeneration);
    assert_eq!(outcomes(&world.observe().unwrap()), [Outcome::Accepted, stale]);
}

#[test]
fn what_is_not_free_is_refused_and_a_newer_order_may_try_again() {
    let mut world = world(1, &[]);
    world.carry_out(&[start(&job(1, 600, 10), 0, 0, 1), start(&job(2, 600, 10), 0, 0, 1)]).unwrap();
    let no_room = refused(Refusal::NoRoom);
    assert_eq!(outcomes(&world.observe().unwrap()), [Outcome::Accepted, no_room]);
    world.wait(None).unwrap();
    let (again, newer) = (start(&job(2, 600, 10), 0, 0, 1), start(&job(2, 600, 10), 0, 0, 2));
    world.carry_out(&[again, newer]).unwrap();
    assert_eq!(outcomes(&world.observe().unwrap()), [no_room, Outcome::Accepted]);
}

#[test]
fn device_named_twice_is_refused() {
    let mut world = world(1, &[]);
    let mut order = start(&job(1, 400, 10), 0, 0, 1);
    let Action::Start { placement, .. } = &mut order.action else { unreachable!("it starts") };
    placement.grant.devices.push(placement.grant.devices[0]);
    world.carry_out(&[order]).unwrap();
    assert_eq!(outcomes(&world.observe().unwrap()), [refused(Refusal::NoRoom)]);
}

#[test]
fn stop_of_what_does_not_run_is_refused() {
    let mut world = world(1, &[]);
    world.carry_out(&[stop(1, 0, 1)]).unwrap();
    assert_eq!(outcomes(&world.observe().unwrap()), [refused(Refusal::UnknownRun)]);
}

#[test]
fn stopped_run_gives_back_what_it_held() {
    let mut world = world(1, &[]);
    world.carry_out(&[start(&job(1, 2000, 10), 0, 0, 1)]).unwrap();
    world.carry_out(&[stop(1, 0, 2), start(&job(2, 2000, 10), 0, 0, 2)]).unwrap();
    let seen = world.observe().unwrap();
    assert_eq!(outcomes(&seen), [Outcome::Accepted; 3]);
    assert_eq!(states(&seen)[0], (run(1, 0), RunState::Stopped(Time::ZERO)));
}

#[test]
fn crash_kills_what_runs_and_the_node_comes_back_empty() {
    let mut world = world(2, &[outage(3, 4, OutageKind::Crash)]);
    world.observe().unwrap();
    world.carry_out(&[start(&job(1, 0, 10), 0, 0, 1)]).unwrap();
    world.observe().unwrap();
    world.wait(None).unwrap();
    let lost = world.observe().unwrap();
    assert_eq!(lost.nodes, [NodeSight::Lost(NodeId(0))]);
    world.carry_out(&[start(&job(2, 0, 10), 0, 0, 2), stop(1, 0, 2)]).unwrap();
    let answers = world.observe().unwrap();
    let unknown = refused(Refusal::UnknownRun);
    assert_eq!(outcomes(&answers), [refused(Refusal::NodeLost), unknown]);
    world.wait(None).unwrap();
    let back = world.observe().unwrap();
    assert_eq!((world.at(), back.runs.len()), (Time::seconds(7), 0));
    assert!(matches!(&back.nodes[..], [NodeSight::Up(node)] if node.id == NodeId(0)));
}

#[test]
fn partition_hides_runs_that_go_on_or_end_meanwhile() {
    let mut world = world(1, &[outage(3, 4, OutageKind::Partition)]);
    let (short, long) = (job(1, 0, 5), job(2, 0, 10));
    world.carry_out(&[start(&short, 0, 0, 1), start(&long, 0, 0, 1)]).unwrap();
    world.observe().unwrap();
    world.wait(None).unwrap();
    assert_eq!(world.observe().unwrap().nodes, [NodeSight::Lost(NodeId(0))]);
    world.carry_out(&[stop(2, 0, 2)]).unwrap();
    assert_eq!(outcomes(&world.observe().unwrap()), [refused(Refusal::NodeLost)]);
    world.wait(None).unwrap();
    assert_eq!(world.at(), Time::seconds(7), "an end out of sight wakes nobody");
    let ended = (run(1, 0), RunState::Done(Time::seconds(5)));
    let going_on = (run(2, 0), RunState::Running(Time::ZERO));
    assert_eq!(states(&world.observe().unwrap()), [ended, going_on]);
}

#[test]
fn node_lost_and_back_before_anybody_looks_is_a_doubt() {
    let mut world = world(1, &[outage(3, 0, OutageKind::Crash)]);
    world.carry_out(&[start(&job(1, 0, 10), 0, 0, 1)]).unwrap();
    world.observe().unwrap();
    world.wait(None).unwrap();
    let seen = world.observe().unwrap();
    assert_eq!((seen.extent, seen.runs.len()), (Extent::Full, 0));
}

#[test]
fn node_in_two_outages_is_back_after_both() {
    let parted = outage(1, 10, OutageKind::Partition);
    let mut world = world(1, &[parted, outage(2, 3, OutageKind::Crash)]);
    world.observe().unwrap();
    let mut back = None;
    for _ in 0..4 {
        world.wait(None).unwrap();
        if matches!(world.observe().unwrap().nodes[..], [NodeSight::Up(_)]) {
            back = back.or(Some(world.at()));
        }
    }
    assert_eq!(back, Some(Time::seconds(11)));
}

fn world(nodes: u32, outages: &[Outage]) -> World {
    World::new(&inventory(nodes), TrueRates::default(), outages, 0)
}

fn outage(at: u64, lasts: u64, kind: OutageKind) -> Outage {
    Outage { at: Time::seconds(at), node: NodeId(0), lasts: Span::seconds(lasts), kind }
}

fn run(job: u64, attempt: u32) -> RunId {
    RunId { job: JobId(job), task: TaskIndex(0), attempt: Attempt(attempt) }
}

/// Starts the only task of a job, on the first devices of the node.
fn start(job: &Job, attempt: u32, node: u32, generation: u64) -> Order {
    let request = &job.alternatives[0].request;
    let devices = request.devices.iter().flat_map(|devices| {
        (0..u16::try_from(devices.count).expect("a few")).map(|index| DeviceGrant {
            device: DeviceIndex(index),
            share: devices.share,
            memory: devices.memory,
            ..DeviceGrant::default()
        })
    });
    let placement = Placement {
        run: run(job.id.0, attempt),
        alternative: 0,
        node: NodeId(node),
        class: ClassId(u16::from(request.devices.is_some())),
        grant: Grant {
            cores: MilliCores(1000),
            memory: Bytes(1 << 30),
            devices: devices.collect(),
            ..Grant::default()
        },
        rate: Rate(1_000_000),
        duration: None,
    };
    Order {
        run: placement.run,
        generation: Generation(generation),
        action: Action::Start { job: Arc::new(job.clone()), placement },
    }
}

fn stop(job: u64, attempt: u32, generation: u64) -> Order {
    Order {
        run: run(job, attempt),
        generation: Generation(generation),
        action: Action::Stop(StopCause::Stray),
    }
}

fn refused(refusal: Refusal) -> Outcome {
    Outcome::Refused(refusal)
}

fn states(observation: &Observation) -> Vec<(RunId, RunState)> {
    observation.runs.iter().map(|sight| (sight.run, sight.state)).collect()
}

fn outcomes(observation: &Observation) -> Vec<Outcome> {
    observation.receipts.iter().map(|receipt| receipt.outcome).collect()
}
