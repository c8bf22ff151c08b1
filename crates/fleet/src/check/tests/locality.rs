//! Waiting for a node that holds inputs: true, and untrue in one way each.

use super::*;
use crate::explanation::Locality;
use crate::id::NodeId;
use crate::units::{Span, Time};

/// A job that would take 400 s to fetch its input to `far`, and 100 s then; `near` is full until
/// 60 s.
const FLEET: &str = "
    at 10s
    class epyc cpu
    node far cores=8 mem=1Gi net=10Gbit/s
    node near cores=8 mem=1Gi net=10Gbit/s
    node slow cores=8 mem=1Gi net=1Gbit/s
    data images 500GB near
    job before work=60 cores=8
    job new work=100 cores=8 in=images:500GB
    run before/0.0 near
";

const TRUE: Locality = Locality {
    node: NodeId(1),
    until: Time::seconds(60),
    end: Time::seconds(160),
    elsewhere: NodeId(0),
    end_elsewhere: Time::seconds(510),
};

fn faults(fleet: &str, starts: &[&str], told: Locality) -> Vec<String> {
    let snapshot = sketch::snapshot(fleet).unwrap();
    let mut decision = decide(&snapshot, starts);
    decision.explanation.waiting.last_mut().unwrap().reason = Arc::new(Reason::Locality(told));
    decision.plan.wake = Some(told.until);
    check_reasons(&snapshot, &decision).iter().map(ToString::to_string).collect()
}

#[track_caller]
fn named(change: impl FnOnce(&mut Locality), expected: &[&str]) {
    let mut told = TRUE;
    change(&mut told);
    assert_eq!(faults(FLEET, &[], told), expected);
}

#[test]
fn a_wait_that_is_true_passes() {
    named(|_| (), &[]);
    // It may count on less than there will be.
    named(|told| (told.until, told.end) = (Time::seconds(70), Time::seconds(170)), &[]);
}

#[test]
fn a_wait_until_a_time_that_has_come() {
    named(
        |told| told.until = Time::seconds(10),
        &[
            "job j1 waits for a node until 10000000 µs, and it is 10000000 µs",
            "job j1 is said to end on node n1 at 160000000 µs, and does at None",
        ],
    );
}

#[test]
fn a_wait_for_a_node_without_the_inputs() {
    named(
        |told| told.node = NodeId(2),
        &["job j1 waits for node n2, which holds none of its inputs"],
    );
}

#[test]
fn a_wait_for_a_node_with_room() {
    let free = FLEET.replace("run before/0.0 near", "run before/0.0 slow");
    assert_eq!(
        faults(&free, &[], TRUE),
        [
            "job j1 waits for node n1, which has room",
            "job j1 is said to end elsewhere at 510000000 µs, and would at 110000000 µs on node n1",
        ]
    );
}

#[test]
fn a_wait_that_ends_sooner_than_it_can() {
    named(
        |told| told.end = Time::seconds(159),
        &["job j1 is said to end on node n1 at 159000000 µs, and does at \
           Some(Time(160000000))"],
    );
    let no_room_then = "job j1 is said to end on node n1 at 160000000 µs, and does at None";
    named(|told| told.until = Time::seconds(59), &[no_room_then]);
    let late = FLEET.replace("work=60", "work=9");
    assert_eq!(faults(&late, &[], TRUE), [no_room_then]);
}

#[test]
fn a_wait_that_makes_elsewhere_out_to_be_later() {
    let fault =
        |node, at| format!("job j1 is said to end on node {node} at {at}000000 µs, and does not");
    named(|told| told.end_elsewhere = Time::seconds(511), &[&fault("n0", 511)]);
    named(|told| told.elsewhere = NodeId(2), &[&fault("n2", 510)]);
    named(|told| told.elsewhere = NodeId(9), &[&fault("n9", 510)]);
    named(
        |told| (told.elsewhere, told.end_elsewhere) = (NodeId(2), Time::seconds(4110)),
        &["job j1 is said to end elsewhere at 4110000000 µs, and would at 510000000 µs on node n0"],
    );
}

#[test]
fn a_wait_that_gains_nothing() {
    let long = FLEET.replace("work=60", "work=410");
    let told = Locality { until: Time::seconds(410), end: Time::seconds(510), ..TRUE };
    let expected = ["job j1 waits to end at 510000000 µs, and would end at 510000000 µs elsewhere"];
    assert_eq!(faults(&long, &[], told), expected);
}

#[test]
fn the_plan_itself_counts_in_what_there_will_be() {
    // What the plan starts near takes the place of what ends there.
    let fleet =
        FLEET.replace("work=60 cores=8", "work=60 cores=6") + "job beside work=500 cores=2\n";
    let snapshot = sketch::snapshot(&fleet).unwrap();
    let mut decision = decide(&snapshot, &["beside/0.0 near"]);
    decision.explanation.waiting[0].reason = Arc::new(Reason::Locality(TRUE));
    let found: Vec<_> =
        check_reasons(&snapshot, &decision).iter().map(ToString::to_string).collect();
    assert_eq!(found, ["job j1 is said to end on node n1 at 160000000 µs, and does at None"]);
}

#[test]
fn the_plan_must_wake_when_the_wait_ends() {
    let snapshot = sketch::snapshot(FLEET).unwrap();
    let mut decision = decide(&snapshot, &[]);
    decision.explanation.waiting[0].reason = Arc::new(Reason::Locality(TRUE));
    decision.plan.wake = Some(Time::seconds(61));
    let found: Vec<_> = check(&snapshot, &decision).iter().map(ToString::to_string).collect();
    let expected = "plan asks to be woken at Some(61000000) µs, and the wait of job j1 ends at \
                    60000000 µs";
    assert_eq!(found, [expected]);
}

#[test]
fn only_a_job_that_reads_something_may_take_longer_than_its_rate_says() {
    let found = |fleet: &str| {
        let snapshot = sketch::snapshot(fleet).unwrap();
        let mut decision = decide(&snapshot, &["new/0.0 far"]);
        decision.plan.placements[0].duration = Some(Span::seconds(500));
        check(&snapshot, &decision).len()
    };
    assert_eq!((found(FLEET), found(&FLEET.replace("in=images:500GB", ""))), (0, 1));
}
