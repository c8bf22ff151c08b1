//! Where the ledger takes datasets to be.

use std::collections::BTreeSet;
use std::sync::Arc;

use fleet::dataset::COPIES_MAX;
use fleet::{
    Bytes, Catalogue, Dataset, Datasets, Holding, Job, JobId, NodeId, NodeSight, RunId, RunState,
};

use crate::world::{LOST_A, World};

const GIGA: u64 = 1_000_000_000;

/// A world in which node b holds these datasets of 9 GB.
fn with_data(names: &[String]) -> World {
    let mut world = World::empty();
    let mut catalogue = Catalogue::default();
    for name in names {
        let nodes = BTreeSet::from([NodeId(1)]);
        let holding = Holding { size: Bytes(9 * GIGA), nodes };
        catalogue.holdings.insert(name.as_str().into(), Arc::new(holding));
    }
    world.ledger.know_datasets(catalogue);
    let up = vec![world.up(0), world.up(1)];
    world.see(up, Vec::new());
    world
}

fn dataset(name: &str, giga: u64) -> Dataset {
    Dataset { name: name.into(), size: Bytes(giga * GIGA) }
}

/// Lets a job run on node a to its end, with one task of so many.
fn run(world: &mut World, id: u64, tasks: u32, datasets: Datasets) -> RunId {
    let job = Job::clone(&world.job(0));
    let datasets = Some(Arc::new(datasets));
    let job = Job { id: JobId(100 + id), tasks, datasets, ..job };
    let request = vec![controller::Request::Submit(Arc::new(job))];
    let turn = world.turn(fleet::Extent::Changes, Vec::new(), Vec::new(), Vec::new(), request);
    let run = turn.orders[0].run;
    let done = world.sight(run, 0, RunState::Done);
    world.see(Vec::new(), vec![done]);
    run
}

fn reads(names: &[(&str, u64)]) -> Datasets {
    let inputs = names.iter().map(|(name, giga)| dataset(name, *giga)).collect();
    Datasets { inputs, outputs: Vec::new() }
}

fn writes(name: &str) -> Datasets {
    Datasets { inputs: Vec::new(), outputs: vec![dataset(name, 4)] }
}

fn holders(world: &World, name: &str) -> Vec<u32> {
    let sealed = world.sealed.as_ref().expect("a turn seals");
    let holding = sealed.catalogue.get(name);
    holding.map_or_else(Vec::new, |holding| holding.nodes.iter().map(|node| node.0).collect())
}

#[test]
fn what_a_run_wrote_is_on_its_node() {
    let mut world = with_data(&[]);
    run(&mut world, 0, 1, writes("made"));
    assert_eq!(holders(&world, "made"), [0]);
    let sealed = world.sealed.as_ref().expect("a turn seals");
    assert_eq!(sealed.catalogue.get("made").map(|holding| holding.size), Some(Bytes(4 * GIGA)));
    assert_eq!(sealed.changed, sealed.serial);
}

#[test]
fn of_several_tasks_each_writes_its_own() {
    let mut world = with_data(&[]);
    run(&mut world, 0, 2, writes("made"));
    assert_eq!((holders(&world, "made.0"), holders(&world, "made.1")), (vec![0], vec![]));
    assert!(holders(&world, "made").is_empty());
}

#[test]
fn what_is_written_anew_is_nowhere_else_any_more() {
    let mut world = with_data(&["images".to_owned()]);
    run(&mut world, 0, 1, writes("images"));
    assert_eq!(holders(&world, "images"), [0]);
}

#[test]
fn what_was_fetched_stays_if_all_of_it_was_read() {
    let mut world = with_data(&["images".to_owned(), "words".to_owned()]);
    run(&mut world, 0, 1, reads(&[("images", 9), ("words", 8), ("unknown", 9)]));
    assert_eq!((holders(&world, "images"), holders(&world, "words")), (vec![0, 1], vec![1]));
    assert!(holders(&world, "unknown").is_empty());
}

#[test]
fn a_node_keeps_the_latest_copies() {
    let names: Vec<String> = (0..=COPIES_MAX).map(|number| format!("data{number}")).collect();
    let mut world = with_data(&names);
    for (id, name) in (0..).zip(&names[..COPIES_MAX]) {
        run(&mut world, id, 1, reads(&[(name, 9)]));
    }
    assert_eq!(holders(&world, "data0"), [0, 1]);
    // Reading it again makes it no newer.
    run(&mut world, 100, 1, reads(&[("data0", 9)]));
    run(&mut world, 101, 1, reads(&[(&names[COPIES_MAX], 9)]));
    assert_eq!((holders(&world, "data0"), holders(&world, "data1")), (vec![1], vec![0, 1]));
    assert_eq!(holders(&world, &names[COPIES_MAX]), [0, 1]);
}

#[test]
fn a_copy_that_was_written_anew_there_is_no_copy_any_more() {
    let names: Vec<String> = (0..=COPIES_MAX).map(|number| format!("data{number}")).collect();
    let mut world = with_data(&names);
    run(&mut world, 0, 1, reads(&[("data0", 9)]));
    run(&mut world, 1, 1, writes("data0"));
    for (id, name) in (2..).zip(&names[1..]) {
        run(&mut world, id, 1, reads(&[(name, 9)]));
    }
    assert_eq!((holders(&world, "data0"), holders(&world, "data1")), (vec![0], vec![0, 1]));
}

#[test]
fn what_ended_out_of_sight_is_there_once_it_is_seen() {
    let mut world = with_data(&[]);
    let job = Job::clone(&world.job(0));
    let job = Job { id: JobId(100), datasets: Some(Arc::new(writes("made"))), ..job };
    let request = vec![controller::Request::Submit(Arc::new(job))];
    let turn = world.turn(fleet::Extent::Changes, Vec::new(), Vec::new(), Vec::new(), request);
    let run = turn.orders[0].run;
    world.see(vec![LOST_A, NodeSight::Lost(NodeId(1))], Vec::new());
    assert!(holders(&world, "made").is_empty());
    let (up, done) = (world.up(0), world.sight(run, 0, RunState::Done));
    world.see(vec![up], vec![done]);
    assert_eq!(holders(&world, "made"), [0]);
}
