//! Visits: the turn that was asked for, and forecasts there held against what then happens.

mod world_fixtures;

use std::sync::Arc;

use controller::policy_file::shipped;
use fleet::{Job, JobId, Milli, Policy, Span, Time};
use planner::Effort;
use planner::inquiry::timeline::{Expected, forecast};
use planner::inquiry::{Inquiry, answer};
use sim::scenario::{Ending, Options, What, motley, run};
use sim::visit::{Itinerary, PLACED_MAX, Tasks, Visit, VisitError, visit};
use sim::world::Event;
use sim::{Truth, Workload};
use world_fixtures::{inventory, job};

fn policy(name: &str) -> Policy {
    shipped(name).expect("a shipped policy")
}

fn workload(jobs: Vec<Job>) -> Workload {
    Workload { jobs: jobs.into_iter().map(Arc::new).collect(), ..Workload::default() }
}

fn at(id: u64, seconds: u64) -> Itinerary {
    Itinerary { at: Some(Time::seconds(seconds)), ..first(id) }
}

fn first(id: u64) -> Itinerary {
    Itinerary { job: JobId(id), ..Itinerary::default() }
}

fn go(workload: &Workload, itinerary: &Itinerary) -> Visit {
    visit(&inventory(1), workload, &policy("default"), itinerary).expect("a turn")
}

/// One node with two devices: the third job waits for ten seconds.
fn queue() -> Workload {
    workload(vec![job(0, 1000, 10), job(1, 1000, 20), job(2, 1000, 5)])
}

#[test]
fn without_a_time_it_is_the_turn_in_which_the_job_is_first_placed() {
    let visit = go(&queue(), &first(2));
    assert_eq!(visit.snapshot.at, Time::seconds(10));
    assert_eq!(visit.tasks, Tasks { waiting: 0, running: 1, done: 0 });
    assert!(matches!(&visit.placed[..], [told] if matches!(told.what, What::Placed(..))));
    assert_eq!(visit.ending, None);
}

#[test]
fn without_a_time_a_job_that_is_never_placed_is_seen_at_the_end() {
    let jobs = vec![job(0, 1000, 10), job(1, 3000, 5)];
    let visit = go(&workload(jobs), &first(1));
    assert_eq!(visit.snapshot.at, Time::seconds(10));
    assert_eq!(visit.tasks, Tasks { waiting: 1, running: 0, done: 0 });
    assert_eq!(visit.ending, Some(Ending::Standstill));
}

#[test]
fn a_time_between_events_has_a_turn_of_its_own() {
    let visit = go(&queue(), &at(2, 7));
    assert_eq!(visit.snapshot.at, Time::seconds(7));
    assert_eq!(visit.tasks, Tasks { waiting: 1, running: 0, done: 0 });
}

#[test]
fn a_time_after_the_end_is_the_end() {
    let visit = go(&queue(), &at(2, 99));
    assert_eq!(visit.snapshot.at, Time::seconds(20));
    assert_eq!(visit.tasks, Tasks { waiting: 0, running: 0, done: 1 });
    assert_eq!((visit.ending, visit.placed_count), (Some(Ending::Finished), 1));
}

#[test]
fn only_the_latest_placements_of_a_job_are_kept() {
    let array = Job { tasks: 20, ..job(0, 1000, 1) };
    let visit = go(&workload(vec![array]), &at(0, 99));
    assert_eq!((visit.placed.len(), visit.placed_count), (PLACED_MAX, 20));
    assert_eq!(visit.placed[PLACED_MAX - 1].at, Time::seconds(9));
}

#[test]
fn a_job_is_not_seen_before_it_arrives() {
    let late = Job { arrival: Time::seconds(9), ..job(0, 1000, 10) };
    let found = visit(&inventory(1), &workload(vec![late]), &policy("default"), &at(0, 5));
    let Err(VisitError::NotArrived { at, arrives, .. }) = found else { panic!("{found:?}") };
    assert_eq!((at, arrives), (Span::seconds(5), Span::seconds(9)));
}

#[test]
fn a_job_that_is_not_there_is_named() {
    let found = visit(&inventory(1), &queue(), &policy("default"), &first(9));
    assert!(matches!(found, Err(VisitError::NoJob(JobId(9)))));
}

#[test]
fn what_runs_took_is_known_of_those_that_have_ended_and_of_no_other() {
    let true_rates = |rate: u64| [("A100".to_owned(), fleet::Rate(rate))].into();
    let mut workload = queue();
    // Twice as long as declared, and half as long.
    let rates =
        [("job0".to_owned(), true_rates(500_000)), ("job1".to_owned(), true_rates(2_000_000))];
    workload.truth = Truth { rates: rates.into(), ..Truth::default() };
    let ended = |seconds| go(&workload, &at(2, seconds)).ended;
    let span = Span::seconds;
    assert_eq!(ended(9), []);
    assert_eq!(ended(10), [(span(10), span(20))]);
    assert_eq!(ended(20), [(span(10), span(20)), (span(5), span(5)), (span(20), span(10))]);
}

#[test]
fn the_seed_alone_changes_what_is_seen() {
    let mut workload = queue();
    workload.truth.rate_error = Milli(500);
    let ended = |seed| go(&workload, &Itinerary { seed, ..at(2, 60) }).ended;
    assert_eq!(ended(1), ended(1));
    assert_ne!(ended(1), ended(2));
}

/// When a task of the job is first started after this time.
fn start_after(workload: &Workload, policy: &Policy, id: JobId, at: Time) -> Option<Time> {
    let outcome = run(&inventory(2), workload, policy, Options::default(), &mut motley());
    let starts = outcome.log.iter().filter(|entry| {
        matches!(&entry.event, Event::Started(start) if start.run.job == id) && entry.at > at
    });
    starts.map(|entry| entry.at).min()
}

/// Numbers that look like chance and are the same every time.
fn draw(seed: &mut u64, below: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % below
}

#[test]
fn forecasts_come_true_where_durations_are_and_nobody_else_arrives() {
    let mut held = 0;
    let policies = ["default", "round-robin", "fair-share"].into_iter().cycle();
    for (seed, name) in (0..60).zip(policies) {
        let mut dice = seed;
        let drawn = |id| {
            let share = [1000, 2000, 500, 300, 0][usize::try_from(draw(&mut dice, 5)).unwrap()];
            let drawn = job(id, share, 1 + draw(&mut dice, 50));
            let arrival = Time::seconds(draw(&mut dice, 10));
            Job { arrival, tasks: 1 + u32::try_from(draw(&mut dice, 3)).unwrap(), ..drawn }
        };
        let mut jobs: Vec<Job> = (0..12).map(drawn).collect();
        jobs.sort_by_key(|job| job.arrival);
        let workload = workload(jobs);
        let policy = policy(name);
        for id in 0..12 {
            let visit = visit(&inventory(2), &workload, &policy, &at(id, 10)).unwrap();
            let (snapshot, decision) = (&visit.snapshot, &visit.decision);
            let effort = Effort::DEFAULT;
            let inquiry =
                Inquiry { snapshot, decision, policy: &policy, effort, job: visit.job.id };
            if answer(&inquiry, None).is_none() {
                continue;
            }
            let expected = forecast(&inquiry, None).declared;
            let then = start_after(&workload, &policy, visit.job.id, snapshot.at);
            assert_eq!(Some(expected), then.map(Expected::At), "seed {seed}, job {id}");
            held += 1;
        }
    }
    assert!(held > 100, "only {held} forecasts");
}
