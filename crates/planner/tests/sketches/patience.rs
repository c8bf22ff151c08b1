//! Waiting for a faster device.

use fleet::policy::{Objective, Pick};
use fleet::{Milli, Policy};

use crate::check;
use crate::rules::by;

/// The fast device is held; the job would take 100 s on the slow one and 20 s on the fast one.
const FLEET: &str = "
    class epyc cpu
    class t4 gpu
    class a100 gpu
    node slow cores=8 mem=8Gi dev=t4
    node fast cores=8 mem=8Gi dev=a100
    job before cores=1 gpu=1
    run before/0.0 fast dev=0
";

const JOB: &str = "job a at=10s work=100 cores=1 gpu=1 rate.t4=1 rate.a100=5";

fn at(time: &str, job: &str) -> String {
    format!("at {time}\n{FLEET}{job}")
}

fn patient(times: u32) -> Policy {
    Policy { patience: Milli(times), ..by(Objective::Completion) }
}

#[test]
fn a_patient_job_waits_for_the_faster_device_and_then_takes_the_slower() {
    check(
        &patient(1000),
        &at("10s", JOB),
        "
        wake 1m30s
        wait a x1 patience for a100 20s over t4 1m40s until 1m30s
    ",
    );
    check(
        &patient(1000),
        &at("89s", JOB),
        "
        wake 1m30s
        wait a x1 patience for a100 20s over t4 1m40s until 1m30s
    ",
    );
    check(&patient(1000), &at("90s", JOB), "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=1m40s");
}

#[test]
fn patience_is_a_multiple_of_the_time_lost() {
    check(&patient(0), &at("10s", JOB), "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=1m40s");
    check(
        &patient(500),
        &at("10s", JOB),
        "
        wake 50s
        wait a x1 patience for a100 20s over t4 1m40s until 50s
    ",
    );
}

#[test]
fn patience_begins_at_arrival() {
    check(
        &patient(1000),
        &at("10s", &JOB.replace("at=10s", "at=4s")),
        "
        wake 1m24s
        wait a x1 patience for a100 20s over t4 1m40s until 1m24s
    ",
    );
}

#[test]
fn a_job_of_unknown_work_does_not_wait() {
    check(
        &patient(1000),
        &at("10s", &JOB.replace("work=100 ", "")),
        "start a/0.0 slow alt=0 t4 cores=1 dev=0",
    );
}

#[test]
fn lists_do_not_wait() {
    let policy = Policy { pick: Pick::Spread, ..patient(1000) };
    check(&policy, &at("10s", JOB), "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=1m40s");
}

#[test]
fn a_device_of_a_lost_node_is_not_waited_for() {
    let lost = FLEET.replace("dev=a100", "dev=a100 down");
    check(
        &patient(1000),
        &format!("at 10s\n{lost}{JOB}"),
        "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=1m40s",
    );
}

#[test]
fn an_alternative_can_be_the_faster_one() {
    let job = "job a at=10s work=100 cores=1 rate.epyc=1\n or cores=1 gpu=1 rate.a100=10";
    check(
        &patient(1000),
        &at("10s", job),
        "
        wake 1m40s
        wait a x1 patience for a100 10s over epyc 1m40s until 1m40s
    ",
    );
}
