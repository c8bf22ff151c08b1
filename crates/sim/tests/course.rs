//! What the course of a simulation says where that is known.

mod world_fixtures;

use std::sync::Arc;

use controller::policy_file::shipped;
use fleet::{Job, NodeId, Span, Time};
use sim::report::{BINS, BarEnd, Course, Why, Witness};
use sim::scenario::{Options, motley, run};
use sim::{Outage, OutageKind, Workload};
use world_fixtures::{inventory, job};

/// The course of these jobs on one node with two GPUs.
fn course(jobs: &[Job], outages: &[Outage]) -> Course {
    let jobs = jobs.iter().cloned().map(Arc::new).collect();
    let workload = Workload { jobs, outages: outages.to_vec(), ..Workload::default() };
    let (inventory, policy) = (inventory(1), shipped("default").expect("it is shipped"));
    let (mut witness, mut planning) = (Witness::default(), motley());
    let outcome = run(&inventory, &workload, &policy, Options::default(), &mut |at, by, effort| {
        witness.see((at, by, effort), &mut planning)
    });
    Course::of(&inventory, &workload, &outcome, &witness)
}

fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 1e-9
}

/// Two GPUs for ten seconds, then one of two for ten.
fn two_jobs() -> [Job; 2] {
    [job(1, 2000, 10), job(2, 1000, 10)]
}

#[test]
fn allocation_queue_and_power_are_those_of_the_time() {
    let course = course(&two_jobs(), &[]);
    assert!(near(course.seconds, 20.0), "{}", course.seconds);
    let gpu = &course.classes[0];
    assert_eq!((gpu.kind, gpu.count), ("gpu", 2.0));
    let (first, last) = (BINS / 4, 3 * BINS / 4);
    assert!(near(gpu.allocated[first], 1.0) && near(gpu.allocated[last], 0.5));
    assert!(near(gpu.waiting[first], 1.0) && near(gpu.waiting[last], 0.0));
    // 100 W idle and 50 W for one of four cores; GPUs at 400 W allocated and 50 W idle.
    assert!(near(course.watts[first], 950.0) && near(course.watts[last], 600.0));
    let energy: f64 = course.watts.iter().map(|watts| watts * 20.0 / BINS as f64).sum();
    assert!((energy - 15_500.0).abs() < 1e-6, "{energy}");
}

#[test]
fn waits_and_their_reasons_add_up() {
    let course = course(&two_jobs(), &[]);
    let waited: Vec<_> = course.waits.iter().filter(|bin| bin.tasks > 0).collect();
    assert_eq!(waited.len(), 2);
    assert_eq!((waited[0].from_seconds, waited[0].to_seconds, waited[0].tasks), (0, Some(1), 1));
    assert_eq!((waited[1].from_seconds, waited[1].to_seconds, waited[1].tasks), (10, Some(60), 1));
    let [reason] = &course.reasons[..] else { panic!("{:?}", course.reasons) };
    assert!(matches!(reason.why, Why::NoRoom(_)), "{reason:?}");
    assert!(near(reason.task_seconds, 10.0) && reason.tasks_max == 1, "{reason:?}");
}

#[test]
fn a_task_that_never_starts_is_told_and_waits_for_no_model() {
    let course = course(&[job(1, 1000, 10), job(2, 3000, 10)], &[]);
    assert_eq!(course.tasks_never_started, 1);
    assert!(near(course.waiting_for_none[BINS / 2], 1.0));
    assert_eq!(course.waits.iter().map(|bin| bin.tasks).sum::<u64>(), 1);
}

#[test]
fn fleet_is_shown_at_its_busiest() {
    let map = course(&two_jobs(), &[]).map;
    assert!(map.is_of_devices && near(map.at_seconds, 0.0) && near(map.held, 1.0), "{map:?}");
    let node = &map.nodes[0];
    assert!(node.is_up && near(node.cores_held, 0.25), "{node:?}");
    assert!(node.devices.iter().all(|device| near(device.held, 1.0) && device.runs == 1));
    assert_eq!((map.nodes.len(), map.nodes_left_out), (1, 0));
}

#[test]
fn lanes_hold_every_run_on_each_of_its_devices() {
    let lanes = course(&two_jobs(), &[]).lanes;
    assert_eq!((lanes.lanes.len(), lanes.bars.len(), lanes.bars_left_out), (2, 3, 0));
    let last = &lanes.bars[1];
    assert_eq!((last.lane, last.slot, last.end), (0, 0, BarEnd::Done));
    assert!(near(last.from_seconds, 10.0) && near(last.to_seconds, 20.0), "{last:?}");
    assert!(!last.is_misplaced);
}

#[test]
fn a_node_that_crashes_draws_nothing_and_its_task_waits_again() {
    let outage = Outage {
        at: Time::seconds(5),
        node: NodeId(0),
        lasts: Span::seconds(5),
        kind: OutageKind::Crash,
    };
    let course = course(&[job(1, 2000, 10)], &[outage]);
    assert!(near(course.seconds, 20.0));
    let lost = 3 * BINS / 8;
    assert!(near(course.watts[lost], 0.0) && near(course.classes[0].waiting[lost], 1.0));
    assert!(near(course.classes[0].allocated[lost], 0.0));
    let ends: Vec<_> = course.lanes.bars.iter().map(|bar| bar.end).collect();
    assert_eq!(ends, [BarEnd::Killed, BarEnd::Done, BarEnd::Killed, BarEnd::Done]);
}

#[test]
fn free_capacity_that_no_arriving_job_can_use_is_fragmentation() {
    // Jobs that need both GPUs leave one unusable beside a job that has the other.
    let jobs = [job(1, 1000, 10), Job { tasks: 9, ..job(2, 2000, 10) }];
    let course = course(&jobs, &[]);
    let early = course.fragmentation[BINS / 200].expect("something has arrived");
    assert!(near(early, 0.9 * 0.5), "{early}");
    assert!(near(course.fragmentation[BINS / 2].expect("known"), 0.0));
}

#[test]
fn a_course_of_many_runs_stays_bounded_and_counts_what_it_leaves_out() {
    let jobs = [Job { tasks: 2000, ..job(1, 1000, 10) }];
    let course = course(&jobs, &[]);
    assert_eq!(course.lanes.bars.len() + course.lanes.bars_left_out, 2000);
    assert!(course.lanes.bars.len() <= 600, "{}", course.lanes.bars.len());
    let size = serde_json::to_string(&course).expect("it can be written").len();
    assert!(size < 200_000, "{size}");
}
