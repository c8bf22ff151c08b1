//! When a job is expected to start, and how wrong that may be.

use fleet::{Milli, Policy, Span, Time};
use planner::Effort;
use planner::inquiry::Inquiry;
use planner::inquiry::timeline::{Expected, Forecast, MOMENTS_MAX, PastError, forecast};

use crate::decide;
use crate::inquiries::ask;
use crate::rules::spread;

fn forecast_of(input: &str, past: Option<&PastError>) -> Forecast {
    let policy: Policy = spread();
    let (snapshot, decision) = decide(&policy, input, Effort::DEFAULT);
    let job = *snapshot.backlog.keys().next_back().expect("a job waits");
    let (snapshot, decision, policy) = (&snapshot, &decision, &policy);
    forecast(&Inquiry { snapshot, decision, policy, effort: Effort::DEFAULT, job }, past)
}

#[track_caller]
fn check(lines: &str, expected: Expected) {
    let input = format!("class epyc cpu\nnode n cores=4 mem=8Gi\n{lines}");
    assert_eq!(forecast_of(&input, None).declared, expected);
}

const fn at(seconds: u64) -> Expected {
    Expected::At(Time::seconds(seconds))
}

#[test]
fn a_job_starts_when_the_run_before_it_ends_by_its_declared_duration() {
    let lines = "at 5s\njob before work=60 cores=3\nrun before/0.0 n since=2s\njob a cores=2";
    check(lines, at(62));
}

#[test]
fn jobs_before_it_in_the_queue_are_placed_first() {
    let lines = "
        job before work=60 cores=3
        run before/0.0 n
        job first work=30 cores=4
        job a cores=2
    ";
    check(lines, at(90));
}

#[test]
fn a_job_that_passes_by_a_larger_one_is_expected_to() {
    let lines = "
        job before tasks=2 work=60 cores=2
        run before/0.0 n
        run before/1.0 n since=0s
        job first work=30 cores=5
        job a cores=2
    ";
    check(lines, at(60));
}

#[test]
fn what_starts_now_is_waited_for_too() {
    check("job first work=30 cores=4\njob a cores=2", at(30));
}

#[test]
fn the_next_task_of_an_array_is_expected() {
    check("job a tasks=6 work=30 cores=2", at(30));
}

#[test]
fn runs_without_end_make_no_room() {
    let lines = "job before cores=3\nrun before/0.0 n\njob a cores=2";
    check(lines, Expected::Never);
    let input = format!("class epyc cpu\nnode n cores=4 mem=8Gi\n{lines}");
    let Forecast { endless, overdue, .. } = forecast_of(&input, None);
    assert_eq!((endless, overdue), (1, 0));
    let starts = "class epyc cpu\nnode n cores=4 mem=8Gi\njob first cores=3\njob a cores=2";
    assert_eq!(forecast_of(starts, None).endless, 1);
}

#[test]
fn a_run_past_its_declared_end_is_taken_to_end_at_once() {
    let lines = "at 99s\njob before work=60 cores=3\nrun before/0.0 n\njob a cores=2";
    check(lines, at(99));
    let input = format!("class epyc cpu\nnode n cores=4 mem=8Gi\n{lines}");
    assert_eq!(forecast_of(&input, None).overdue, 1);
}

#[test]
fn a_job_too_large_for_every_node_never_starts() {
    check("job before work=60 cores=3\nrun before/0.0 n\njob a cores=5", Expected::Never);
}

#[test]
fn the_end_of_patience_is_a_moment_too() {
    let lines = "
        class epyc cpu
        class t4 gpu
        class h100 gpu
        node slow cores=8 mem=8Gi dev=t4
        node fast cores=8 mem=8Gi dev=h100
        job before gpu=1
        run before/0.0 fast dev=0
        job a work=100 gpu=1 rate.t4=1 rate.h100=10
    ";
    let patient =
        Policy { patience: Milli::WHOLE, ..crate::rules::by(fleet::policy::Objective::Completion) };
    let (_, answer) = ask(&patient, lines);
    // A hundred seconds on the slow one, ten on the fast one.
    assert_eq!(answer.expect("it waits").forecast.declared, at(90));
}

#[test]
fn the_bound_on_moments_says_later_than() {
    // One run ends each second, and each time one of the many jobs before it starts.
    let lines = "job first tasks=500 work=1 cores=4\njob a cores=2";
    check(lines, Expected::After(Time::seconds(u64::from(MOMENTS_MAX))));
}

#[test]
fn the_range_scales_durations_by_what_past_ones_were_wrong() {
    let input = "class epyc cpu\nnode n cores=4 mem=8Gi\n
        at 10s\njob before work=60 cores=3\nrun before/0.0 n since=0s\njob a cores=2";
    let span = Span::seconds;
    let past = PastError::of([(span(5), span(10)), (span(10), span(10)), (span(20), span(10))]);
    let forecast = forecast_of(input, past.as_ref());
    assert_eq!(forecast.declared, at(60));
    assert_eq!(forecast.range, Some((at(30), at(120))));
}

#[test]
fn past_error_is_told_by_nearest_rank() {
    let runs = (1..=20).map(|tenths| (Span::seconds(tenths), Span::seconds(10)));
    let past = PastError::of(runs.chain([(Span::seconds(3), Span::ZERO)])).expect("runs ended");
    let expected = PastError { runs: 20, low: Milli(200), median: Milli(1000), high: Milli(1800) };
    assert_eq!(past, expected);
    assert_eq!(PastError::of([]), None);
}
