//! Whole simulations with Motley's planner: small ones whose course is known.

mod world_fixtures;

use std::sync::Arc;

use controller::policy_file::shipped;
use fleet::{Job, JobId, Milli, NodeId, Policy, Span, Time};
use sim::checkers::Checks;
use sim::faults::{FaultKind, Faults};
use sim::scenario::{Ending, Options, Outcome, motley, run};
use sim::world::Event;
use sim::{Outage, OutageKind, Workload};
use world_fixtures::{inventory, job};

#[test]
fn three_jobs_on_two_nodes_end_when_expected() {
    let jobs = [job(1, 2000, 10), job(2, 2000, 20), job(3, 2000, 5)];
    let outcome = simulate(2, &workload(&jobs, &[]));
    assert_eq!(outcome.ending, Ending::Finished);
    assert_eq!(done(&outcome), [(1, 0, 10), (3, 0, 15), (2, 0, 20)]);
}

#[test]
fn job_starts_no_earlier_than_it_arrives() {
    let late = Job { arrival: Time::seconds(100), ..job(2, 0, 1) };
    let outcome = simulate(1, &workload(&[job(1, 0, 1), late], &[]));
    assert_eq!(done(&outcome), [(1, 0, 1), (2, 0, 101)]);
}

#[test]
fn job_on_a_crashed_node_is_started_again_and_done_once() {
    let crash = outage(4, 100, OutageKind::Crash);
    let outcome = simulate(2, &workload(&[job(1, 2000, 10)], &[crash]));
    assert_eq!(outcome.ending, Ending::Finished);
    assert_eq!(done(&outcome), [(1, 1, 14)]);
}

#[test]
fn job_waits_for_the_only_node_to_come_back() {
    let crash = outage(4, 100, OutageKind::Crash);
    let outcome = simulate(1, &workload(&[job(1, 2000, 10)], &[crash]));
    assert_eq!(done(&outcome), [(1, 1, 114)]);
}

#[test]
fn stray_on_a_node_that_was_cut_off_is_stopped_and_one_completion_counts() {
    let parted = outage(4, 10, OutageKind::Partition);
    let outcome = simulate(2, &workload(&[job(1, 2000, 30)], &[parted]));
    assert_eq!(outcome.ending, Ending::Finished);
    assert_eq!(done(&outcome), [(1, 1, 34)]);
    let stops = outcome.log.iter().filter(|entry| matches!(entry.event, Event::Stopped { .. }));
    assert_eq!(stops.map(|entry| entry.at).collect::<Vec<_>>(), [Time::seconds(14)]);
}

#[test]
fn run_that_nobody_replaced_goes_on_after_a_partition() {
    let parted = outage(4, 10, OutageKind::Partition);
    let outcome = simulate(1, &workload(&[job(1, 2000, 30)], &[parted]));
    assert_eq!(done(&outcome), [(1, 0, 30)]);
}

#[test]
fn both_attempts_may_end_out_of_sight_of_each_other_and_one_counts() {
    let parted = outage(4, 100, OutageKind::Partition);
    let outcome = simulate(2, &workload(&[job(1, 2000, 30), job(2, 0, 200)], &[parted]));
    assert_eq!(outcome.ending, Ending::Finished);
    assert_eq!(done(&outcome)[..2], [(1, 0, 30), (1, 1, 34)]);
}

#[test]
fn job_that_fits_nowhere_ends_the_simulation_with_its_reason() {
    let outcome = simulate(2, &workload(&[job(1, 3000, 10), job(2, 0, 10)], &[]));
    assert_eq!(outcome.ending, Ending::Standstill);
    assert_eq!(outcome.waiting.len(), 1);
    assert_eq!((outcome.waiting[0].job, outcome.waiting[0].tasks), (JobId(1), 1));
}

#[test]
fn simulation_ends_at_the_time_given() {
    let (fleet, workload) = (inventory(1), workload(&[job(1, 0, 100)], &[]));
    let until = Some(Time::seconds(40));
    let outcome = run(&fleet, &workload, &policy(), Options { until, ..watched() }, &mut motley());
    assert_eq!((outcome.ending, outcome.at), (Ending::Until, Time::seconds(40)));
}

#[test]
fn explanations_are_kept_for_the_jobs_asked_for() {
    let (fleet, workload) = (inventory(1), workload(&[job(1, 2000, 9), job(2, 2000, 9)], &[]));
    let options = Options { explain_max: 2, ..watched() };
    let outcome = run(&fleet, &workload, &policy(), options, &mut motley());
    let told: Vec<_> = outcome.told.iter().map(|told| (told.job, told.at)).collect();
    let (first, second) = (JobId(1), JobId(2));
    assert_eq!(told, [(first, Time::ZERO), (second, Time::ZERO), (second, Time::seconds(9))]);
}

#[test]
fn progress_is_told_after_every_turn() {
    let (fleet, workload) = (inventory(1), workload(&[job(1, 0, 9)], &[]));
    let mut told = Vec::new();
    let mut progress = |progress: sim::scenario::Progress| told.push(progress);
    let options = Options { progress: Some(&mut progress), ..watched() };
    let outcome = run(&fleet, &workload, &policy(), options, &mut motley());
    assert_eq!(told.len() as u64, outcome.turns);
    let last = told.last().unwrap();
    assert_eq!((last.jobs_done, last.jobs, last.at), (1, 1, Time::seconds(9)));
}

#[test]
fn same_seed_gives_the_same_log_byte_for_byte() {
    let jobs: Vec<Job> = (0..40)
        .zip([300, 500, 700, 350, 900].into_iter().cycle())
        .map(|(id, share)| job(id, share, 3 + id))
        .collect();
    let outages = [outage(9, 7, OutageKind::Partition), outage(30, 9, OutageKind::Crash)];
    let mut workload = workload(&jobs, &outages);
    workload.truth.rate_error = Milli(300);
    let log = |seed: u64| {
        let options = Options { seed, ..watched() };
        let outcome = run(&inventory(3), &workload, &policy(), options, &mut motley());
        serde_json::to_string(&outcome.log).unwrap()
    };
    assert_eq!(log(1), log(1));
    assert_ne!(log(1), log(2));
}

#[test]
fn a_cancelled_job_is_stopped_and_what_waited_behind_it_starts() {
    let (fleet, workload) = (inventory(1), workload(&[job(1, 2000, 100), job(2, 2000, 10)], &[]));
    // The third is not there, and the second has ended by then.
    let cancels = [(9, 3), (7, 1), (50, 2)];
    let cancels = cancels.map(|(at, job)| (Time::seconds(at), JobId(job))).to_vec();
    let outcome =
        run(&fleet, &workload, &policy(), Options { cancels, ..watched() }, &mut motley());
    assert_eq!(outcome.violations, []);
    assert_eq!(outcome.ending, Ending::Finished);
    assert_eq!(done(&outcome), [(2, 0, 17)]);
    let stops = outcome.log.iter().filter(|entry| matches!(entry.event, Event::Stopped { .. }));
    assert_eq!(stops.map(|entry| entry.at).collect::<Vec<_>>(), [Time::seconds(7)]);
}

#[test]
fn turns_go_on_after_the_body_was_deaf_to_orders() {
    let (fleet, workload) = (inventory(2), workload(&[job(1, 2000, 10), job(2, 0, 5)], &[]));
    let (mut deaf, mut seeds) = (0, 0);
    for seed in 0..40 {
        let until = Time::seconds(60);
        let faults = Faults { seed, until, deaf: Milli(700), ..Faults::default() };
        let outcome =
            run(&fleet, &workload, &policy(), Options { faults, ..watched() }, &mut motley());
        assert_eq!((outcome.violations, outcome.ending), (vec![], Ending::Finished));
        let times = outcome.hits.get(&FaultKind::Deaf).copied().unwrap_or(0);
        (deaf, seeds) = (deaf + times, seeds + u64::from(times > 0));
    }
    assert!(seeds > 20 && deaf > seeds, "deaf {deaf} times, on {seeds} seeds");
}

fn simulate(nodes: u32, workload: &Workload) -> Outcome {
    let outcome = run(&inventory(nodes), workload, &policy(), watched(), &mut motley());
    assert_eq!(outcome.violations, []);
    outcome
}

fn watched<'a>() -> Options<'a> {
    Options {
        checks: Checks::Thorough,
        resync_every: 5,
        repeat: "cargo test -p sim --test scenario".to_owned(),
        ..Options::default()
    }
}

fn policy() -> Policy {
    shipped("default").expect("it is shipped")
}

fn workload(jobs: &[Job], outages: &[Outage]) -> Workload {
    let jobs = jobs.iter().cloned().map(Arc::new).collect();
    Workload { jobs, outages: outages.to_vec(), ..Workload::default() }
}

fn outage(at: u64, lasts: u64, kind: OutageKind) -> Outage {
    Outage { at: Time::seconds(at), node: NodeId(0), lasts: Span::seconds(lasts), kind }
}

/// Runs that were done: job, attempt, second.
fn done(outcome: &Outcome) -> Vec<(u64, u32, u64)> {
    let done = outcome.log.iter().filter_map(|entry| match entry.event {
        Event::Done { run, .. } => Some((run.job.0, run.attempt.0, entry.at.0 / 1_000_000)),
        _ => None,
    });
    done.collect()
}
