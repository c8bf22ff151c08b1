//! What a job says of itself, what runs already, and how much effort there is.

use fleet::policy::{Objective, OrderKey};
use planner::Effort;

use crate::rules::{by, ordered, spread};
use crate::{check, check_with};

const FLEET: &str = "
    class epyc cpu
    node n cores=4 mem=8Gi x2
";

fn fleet(lines: &str) -> String {
    format!("{FLEET}{lines}")
}

#[test]
fn every_task_of_an_array_is_started() {
    check(&spread(), &fleet("job a cores=2"), "start a/0.0 n-0 alt=0 epyc cores=2");
    check(
        &spread(),
        &fleet("job a tasks=5 cores=2"),
        "
        start a/0.0 n-0 alt=0 epyc cores=2
        start a/1.0 n-1 alt=0 epyc cores=2
        start a/2.0 n-0 alt=0 epyc cores=2
        start a/3.0 n-1 alt=0 epyc cores=2
        wait a x1 alt0: 2 free-cores 2/0
    ",
    );
}

#[test]
fn work_over_rate_is_how_long_it_runs() {
    check(
        &spread(),
        &fleet("job a work=100 cores=1"),
        "start a/0.0 n-0 alt=0 epyc cores=1 for=1m40s",
    );
    check(
        &spread(),
        &fleet("job a work=100 cores=1 rate.epyc=0.5"),
        "start a/0.0 n-0 alt=0 epyc cores=1 for=3m20s",
    );
}

#[test]
fn a_task_that_was_lost_starts_first_as_its_next_attempt() {
    let lines = "
        job a tasks=4 cores=4
        run a/0.0 n-0
        again a/1.3
    ";
    check(
        &spread(),
        &fleet(lines),
        "
        start a/1.3 n-1 alt=0 epyc cores=4
        wait a x2 alt0: 2 free-cores 4/0
    ",
    );
}

#[test]
fn only_strays_are_stopped_and_hold_their_room_until_then() {
    let lines = "
        job a tasks=2 cores=4
        job b cores=4
        run a/0.0 n-0 stage=stray
        run a/1.0 n-1 stage=stopping
    ";
    check(
        &spread(),
        &fleet(lines),
        "
        stop j0/0.0 stray
        wait b x1 alt0: 2 free-cores 4/0
    ",
    );
    check(
        &spread(),
        &fleet(&lines.replace("stage=stray", "stage=ordered")),
        "wait b x1 alt0: 2 free-cores 4/0",
    );
}

#[test]
fn effort_that_runs_out_leaves_the_rest_waiting() {
    let lines = "
        job a tasks=2 cores=1
        job b cores=1
          or cores=2
        job c cores=1
    ";
    let a0 = "start a/0.0 n-0 alt=0 epyc cores=1";
    let a1 = "start a/1.0 n-1 alt=0 epyc cores=1";
    let b = "start b/0.0 n-0 alt=0 epyc cores=1";
    let c = "start c/0.0 n-1 alt=0 epyc cores=1";
    let (b_waits, c_waits) = ("wait b x1 effort", "wait c x1 effort");
    // What is left is looked at a microsecond later.
    let wake = "wake 1us";
    // One step for the first task, on nodes that are still equal, two for the second, two for b, on
    // nodes that are equal again, and two for c.
    for (steps, expected) in [
        (0, &["wait a x2 effort", b_waits, c_waits][..]),
        (1, &[a0, wake, "wait a x1 effort", b_waits, c_waits]),
        (6, &[a0, a1, b, wake, c_waits]),
        (7, &[a0, a1, b, c]),
        // One step is left, which would do for c, but b is before it.
        (4, &[a0, a1, wake, b_waits, c_waits]),
    ] {
        let order = ordered(&[OrderKey::FirstIn]);
        check_with(
            &order,
            Effort { steps, ..Effort::DEFAULT },
            &fleet(lines),
            &expected.join("\n"),
        );
    }
}

#[test]
fn a_fleet_without_nodes_makes_everything_wait() {
    check(&by(Objective::Energy), "class epyc cpu\njob a cores=1", "wait a x1 alt0:");
}

#[test]
fn nothing_to_do_is_an_empty_plan() {
    check(&spread(), &fleet(""), "");
}
