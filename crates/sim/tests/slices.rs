//! Slices in the world: its own account of slots, and what the lowest free slot would cost.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::sync::Arc;

use controller::policy_file::shipped;
use fleet::{
    Action, Body, Generation, Grant, Node, Order, Outcome, Refusal, Slots, Snapshot, Time, sketch,
};
use sim::checkers::Checks;
use sim::scenario::{self, Options, motley};
use sim::world::{TrueRates, World};
use sim::{Inventory, Truth, Workload};

/// An A100 of 40 GB, cut into slices.
const FLEET: &str = "
    class epyc cpu
    class mig gpu mem=40Gi share=slices profiles=1g:0.142:5Gi:1:0+1+2+3+4+5+6,\
3g:0.428:20Gi:4:0+4,4g:0.571:20Gi:4:0
    node n cores=8 mem=8Gi dev=mig
    job small tasks=8 cores=1 gpu=1 profile=1g
    job large tasks=2 cores=1 gpu=1 profile=3g
    job whole cores=1 gpu=1
    job plain cores=1
";

fn world(snapshot: &Snapshot) -> World {
    let nodes: Vec<Node> = snapshot.nodes.iter().map(|entry| Node::clone(&entry.node)).collect();
    let inventory = Inventory { classes: (*snapshot.classes).clone(), nodes };
    World::new(&inventory, TrueRates::new(Truth::default(), &[], 0), &[], 0)
}

fn order(snapshot: &Snapshot, start: &str, change: impl FnOnce(&mut Grant)) -> Order {
    let mut placement = sketch::placement(snapshot, start).unwrap();
    change(&mut placement.grant);
    let job = Arc::clone(&snapshot.backlog[&placement.run.job].job);
    let run = placement.run;
    Order { run, generation: Generation(1), action: Action::Start { job, placement } }
}

/// Whether each of these is accepted, one after the other.
fn accepted(starts: &[&str]) -> Vec<bool> {
    let snapshot = sketch::snapshot(FLEET).unwrap();
    let mut world = world(&snapshot);
    let orders: Vec<_> = starts.iter().map(|start| order(&snapshot, start, |_| {})).collect();
    world.carry_out(&orders).unwrap();
    let receipts = world.observe().unwrap().receipts;
    receipts.into_iter().map(|receipt| receipt.outcome == Outcome::Accepted).collect()
}

#[test]
fn the_world_refuses_a_slice_whose_slots_are_taken() {
    assert_eq!(accepted(&["small/0.0 n dev=0@2", "large/0.0 n dev=0@0"]), [true, false]);
    assert_eq!(accepted(&["small/0.0 n dev=0@2", "large/0.0 n dev=0@4"]), [true, true]);
    assert_eq!(accepted(&["small/0.0 n dev=0@2", "small/1.0 n dev=0@2"]), [true, false]);
}

#[test]
fn the_world_refuses_a_place_that_no_profile_has() {
    assert_eq!(accepted(&["large/0.0 n dev=0@1"]), [false]);
    assert_eq!(accepted(&["small/0.0 n dev=0@7"]), [false]);
    let snapshot = sketch::snapshot(FLEET).unwrap();
    let mut world = world(&snapshot);
    // A slice that does not say where it is.
    let lost = |grant: &mut Grant| grant.devices[0].slots = Slots::default();
    world.carry_out(&[order(&snapshot, "small/0.0 n dev=0@0", lost)]).unwrap();
    let receipt = world.observe().unwrap().receipts.remove(0);
    assert_eq!(receipt.outcome, Outcome::Refused(Refusal::NoRoom));
}

#[test]
fn the_world_gives_a_whole_device_only_where_nothing_is_cut() {
    assert_eq!(accepted(&["small/0.0 n dev=0@2", "whole/0.0 n dev=0"]), [true, false]);
    assert_eq!(accepted(&["whole/0.0 n dev=0", "small/0.0 n dev=0@2"]), [true, false]);
    assert_eq!(accepted(&["whole/0.0 n dev=0", "plain/0.0 n"]), [true, true]);
}

#[test]
fn the_lowest_free_slot_leaves_a_large_slice_no_place_and_motleys_does() {
    // A large slice came first and left; a small one came while it ran, another one after. By the
    // lowest free slot they lie at 4 and 0, and five sevenths of the device are of no use.
    let lowest = ["small/0.0 n dev=0@4", "small/1.0 n dev=0@0"];
    for place in ["large/0.0 n dev=0@0", "large/0.0 n dev=0@4"] {
        assert_eq!(accepted(&[lowest[0], lowest[1], place]), [true, true, false]);
    }
    // The same arrivals under Motley: the second large one starts when it comes.
    let text = FLEET.split("    job").next().unwrap().to_owned()
        + "
        job first work=3600 cores=1 gpu=1 profile=3g
        job early at=10m cores=1 gpu=1 profile=1g
        job late at=70m cores=1 gpu=1 profile=1g
        job second at=80m work=3600 cores=1 gpu=1 profile=3g
    ";
    let snapshot = sketch::snapshot(&text).unwrap();
    let nodes = snapshot.nodes.iter().map(|entry| Node::clone(&entry.node)).collect();
    let inventory = Inventory { classes: (*snapshot.classes).clone(), nodes };
    let jobs = snapshot.backlog.values().map(|waiting| Arc::clone(&waiting.job)).collect();
    let workload = Workload { jobs, ..Workload::default() };
    let policy = shipped("default").unwrap();
    let options = Options { checks: Checks::Thorough, ..Options::default() };
    let outcome = scenario::run(&inventory, &workload, &policy, options, &mut motley());
    assert_eq!(outcome.violations, []);
    // The small ones run on without end; the last to end is the second large one.
    assert_eq!(outcome.log.last().unwrap().at, Time::seconds(80 * 60 + 3600));
}
