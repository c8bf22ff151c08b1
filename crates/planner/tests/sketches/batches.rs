//! Arrivals that are planned together.

use fleet::policy::{Batch, Objective};
use fleet::{Policy, Span, Time, sketch};
use planner::{Effort, Scratch, plan};

use crate::check;
use crate::rules::by;

const FLEET: &str = "
    class epyc cpu
    class a100 gpu share=milli
    node n cores=8 mem=8Gi dev=a100*2
";

fn batches(max_jobs: u32, seconds: u64) -> Policy {
    let batch = Batch { max_jobs, max_delay: Span::seconds(seconds) };
    Policy { batch: Some(batch), ..by(Objective::Fragmentation) }
}

fn at(time: &str, jobs: &str) -> String {
    format!("at {time}\n{FLEET}{jobs}")
}

#[test]
fn arrivals_wait_until_the_batch_is_full_or_the_first_has_waited_long_enough() {
    let one = "job a at=10s cores=1";
    check(&batches(2, 30), &at("20s", one), "wake 40s\nwait a x1 batch until 40s");
    check(&batches(2, 30), &at("40s", one), "start a/0.0 n alt=0 epyc cores=1");
    check(&batches(2, 5), &at("20s", one), "start a/0.0 n alt=0 epyc cores=1");
    let two = "job a at=10s cores=1\njob b at=20s cores=1";
    check(
        &batches(2, 30),
        &at("20s", two),
        "start a/0.0 n alt=0 epyc cores=1\nstart b/0.0 n alt=0 epyc cores=1",
    );
    check(
        &batches(3, 30),
        &at("20s", two),
        "wake 40s\nwait a x1 batch until 40s\nwait b x1 batch until 40s",
    );
    check(&batches(2, 30), &at("20s", "job a at=10s tasks=2 cores=1"), {
        "start a/0.0 n alt=0 epyc cores=1\nstart a/1.0 n alt=0 epyc cores=1"
    });
}

#[test]
fn jobs_of_an_earlier_batch_are_not_held_back_again() {
    let mut snapshot = sketch::snapshot(&at("40s", "job a at=10s cores=9\njob b at=35s cores=1"))
        .expect("a sketch");
    snapshot.memory.released = Some(Time::seconds(10));
    let decision = plan(&snapshot, &batches(2, 30), Effort::DEFAULT, &mut Scratch::default());
    let reasons = sketch::reasons_text(&snapshot, &decision.explanation);
    assert!(reasons.contains("wait a x1 alt0: 1 cores 9/8"), "{reasons}");
    assert!(reasons.contains("wait b x1 batch until 1m5s"), "{reasons}");
    assert_eq!(decision.plan.memory.released, Some(Time::seconds(10)));
}

#[test]
fn a_batch_is_placed_in_the_order_that_holds_most() {
    // One by one the small task takes the device that the whole one needs.
    let jobs = "
        job before cores=1 gpu=1
        job small at=1s cores=1 gpu=1 share=0.1
        job whole at=1s cores=1 gpu=1
        run before/0.0 n dev=0
    ";
    check(
        &batches(2, 30),
        &at("1s", jobs),
        "start whole/0.0 n alt=0 a100 cores=1 dev=1
         wait small x1 alt0: 1 free-share 0.1/0",
    );
}

#[test]
fn priority_goes_before_what_a_batch_would_hold() {
    let jobs = "
        job before cores=1 gpu=1
        job small at=1s prio=1 cores=1 gpu=1 share=0.1
        job whole at=1s cores=1 gpu=1
        run before/0.0 n dev=0
    ";
    let policy = Policy {
        order: vec![fleet::policy::OrderKey::Priority, fleet::policy::OrderKey::FirstIn],
        ..batches(2, 30)
    };
    let snapshot = sketch::snapshot(&at("1s", jobs)).expect("a sketch");
    let decision = plan(&snapshot, &policy, Effort::DEFAULT, &mut Scratch::default());
    let plan = sketch::plan_text(&snapshot, &decision.plan);
    assert!(plan.starts_with("start small/0.0"), "{plan}");
}
