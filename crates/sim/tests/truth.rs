//! How fast jobs really run, and could have run at best.

mod world_fixtures;

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{
    Alternative, ClassId, DeviceRequest, Job, JobId, Milli, MilliCores, Rate, Request, ShareRule,
    Span, Work,
};
use sim::world::{Makes, TrueRates};
use sim::{Inventory, Truth};
use world_fixtures::{inventory, job};

/// The true rate of each job on A100s, in the order given.
fn rates(jobs: &[Job], seed: u64) -> Vec<u64> {
    let truth = Truth { rate_error: Milli(300), ..Truth::default() };
    let jobs: Vec<Arc<Job>> = jobs.iter().cloned().map(Arc::new).collect();
    let rates = TrueRates::new(truth, &jobs, seed);
    let classes = inventory(1).classes;
    let rate = |job: &Arc<Job>| rates.rate(job, &job.alternatives[0], ClassId(1), &classes);
    jobs.iter().map(|job| rate(job).expect("it has a rate").0).collect()
}

fn named(name: &str, id: u64) -> Job {
    Job { name: name.to_owned(), ..job(id, 1000, 1) }
}

#[test]
fn errors_of_declared_rates_are_bounded_and_seeded() {
    let jobs: Vec<Job> = (0..200).map(|id| named("batch", id)).collect();
    let drawn = rates(&jobs, 7);
    assert!(drawn.iter().all(|rate| (700_000..=1_300_000).contains(rate)));
    assert!(drawn.iter().min() < Some(&720_000) && drawn.iter().max() > Some(&1_280_000));
    assert_eq!(rates(&jobs, 7), drawn);
    assert_ne!(rates(&jobs, 8), drawn);
    // These numbers are part of what is published: they change with the dice alone.
    assert_eq!(drawn[..2], [913_254, 1_273_081]);
}

#[test]
fn one_job_more_changes_no_error_of_another_though_all_ids_move() {
    let before = rates(&[named("train", 0), named("batch", 1), named("batch", 2)], 7);
    let more = [named("new", 0), named("train", 1), named("new", 2), named("batch", 3)];
    let after = rates(&[&more[..], &[named("batch", 4), named("batch", 5)]].concat(), 7);
    assert_eq!([after[1], after[3], after[4]], before[..]);
}

/// How long the job could take at best on a fleet of one node with two A100s and one with one.
fn best(job: &Job, change: fn(&mut Inventory)) -> Option<u64> {
    let mut fleet = inventory(2);
    fleet.nodes[0].devices = vec![ClassId(1)];
    change(&mut fleet);
    let best = TrueRates::default().best_duration(job, &Makes::of(&fleet));
    best.map(|span| span.0 / Span::seconds(1).0)
}

/// A job that takes ten seconds in one of two ways: fast on devices, or slow on cores.
fn two_ways(change: fn(&mut Alternative)) -> Job {
    let job = job(1, 2000, 10);
    let mut fast = job.alternatives[0].clone();
    let slow =
        Alternative { request: Request { devices: None, ..fast.request.clone() }, ..fast.clone() };
    fast.rates = BTreeMap::from([("A100".to_owned(), Rate(5_000_000))]);
    change(&mut fast);
    Job { alternatives: Arc::new(vec![fast, slow]), ..job }
}

fn devices(way: &mut Alternative) -> &mut DeviceRequest {
    way.request.devices.as_mut().expect("the way has devices")
}

#[test]
fn best_is_on_a_node_that_would_do_if_it_were_empty() {
    assert_eq!(best(&two_ways(|_| {}), |_| {}), Some(2));
    let too_much: [fn(&mut Alternative); 5] = [
        |way| _ = way.labels.insert("zone".to_owned(), "a".to_owned()),
        |way| way.request.cores = MilliCores(4001),
        |way| way.request.memory.0 *= 17,
        |way| devices(way).count = 3,
        |way| devices(way).models = vec!["H100".to_owned()],
    ];
    for change in too_much {
        assert_eq!(best(&two_ways(change), |_| {}), Some(10));
    }
    let pair_is_split: fn(&mut Inventory) = |fleet| fleet.nodes[1].devices.truncate(1);
    assert_eq!(best(&two_ways(|_| {}), pair_is_split), Some(10));
    let exclusive: fn(&mut Inventory) = |fleet| fleet.classes.0[1].share = ShareRule::Exclusive;
    let shared = two_ways(|way| (devices(way).count, devices(way).share) = (1, Milli(500)));
    assert_eq!((best(&shared, |_| {}), best(&shared, exclusive)), (Some(2), Some(10)));
}

#[test]
fn best_is_reckoned_with_the_true_work() {
    let truth = Truth { work: BTreeMap::from([(JobId(1), Work(4_000_000))]), ..Truth::default() };
    let (rates, fleet) = (TrueRates::new(truth, &[], 0), inventory(1));
    let best = |job: &Job| rates.best_duration(job, &Makes::of(&fleet));
    assert_eq!(best(&job(1, 1000, 10)), Some(Span::seconds(4)));
    assert_eq!(best(&job(2, 1000, 10)), Some(Span::seconds(10)));
    assert_eq!(rates.work(&Job { work: None, ..job(2, 1000, 0) }), None);
}

#[test]
fn what_can_run_nowhere_or_has_no_end_has_no_best() {
    assert_eq!(best(&job(1, 3000, 10), |_| {}), None);
    assert_eq!(best(&Job { work: None, ..job(1, 0, 0) }, |_| {}), None);
    assert_eq!(best(&Job { id: JobId(9), ..job(1, 0, 3) }, |_| {}), Some(3));
}
