//! Sketch tests: a few lines of fleet in, plan and reasons out, one boundary at a time.

mod rules;
mod channels;
mod clearing;
mod devices;
mod slices;
mod inside;
mod interference;
mod queue;
mod picks;
mod objectives;
mod tiers;
mod concave;
mod patience;
mod locality;
mod external;
mod batches;
mod ahead;
mod allocate;
mod gangs;
mod jobs;
mod links;
mod waiting;
mod inquiries;
mod expected;

use fleet::{Decision, Policy, Snapshot, sketch};
use planner::{Effort, Scratch, plan};

fn decide(policy: &Policy, input: &str, effort: Effort) -> (Snapshot, Decision) {
    let snapshot = sketch::snapshot(input).expect("a sketch");
    let decision = plan(&snapshot, policy, effort, &mut Scratch::default());
    (snapshot, decision)
}

/// What is planned, and why the rest waits.
#[track_caller]
fn check(policy: &Policy, input: &str, expected: &str) {
    check_with(policy, Effort::DEFAULT, input, expected);
}

#[track_caller]
fn check_with(policy: &Policy, effort: Effort, input: &str, expected: &str) {
    let (snapshot, Decision { plan, explanation }) = decide(policy, input, effort);
    let found =
        sketch::plan_text(&snapshot, &plan) + &sketch::reasons_text(&snapshot, &explanation);
    same(&found, expected);
}

/// What each choice scored, and what came next.
#[track_caller]
fn check_choices(policy: &Policy, input: &str, expected: &str) {
    let (snapshot, decision) = decide(policy, input, Effort::DEFAULT);
    same(&sketch::choices_text(&snapshot, &decision.explanation), expected);
}

/// Compares line by line; how far a line is set in does not matter.
#[track_caller]
fn same(found: &str, expected: &str) {
    let lines = |text: &str| {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(lines(found), lines(expected));
}
