//! The protocol on a trace of a few pods, and on the real one where the data are there.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use controller::policy_file;
use fleet::check::check_reasons;
use fleet::{Job, Restart, Time};

use super::contender::{Contender, REFERENCES};
use super::protocol::{Numbering, Trial};
use super::trace::{Order, Trace};
use super::*;
use crate::args::Knowledge;
use crate::reference::site::tests::{classes, pod, site};
use crate::reference::typical::Typical;
use crate::reference::{Planner, Ties};

/// Two nodes of two GPUs and 8 cores, and these pods, arriving in this order.
fn tiny(pods: &[fleet::Alternative], order: &[usize]) -> Trace {
    let make = site(8000, 8000, &[1000, 1000]).node;
    let node = |id: u32| fleet::Node {
        id: fleet::NodeId(id),
        name: format!("node-{id}"),
        ..fleet::Node::clone(&make)
    };
    let job = |(id, pod): (u64, &fleet::Alternative)| {
        Arc::new(Job {
            id: fleet::JobId(id),
            name: format!("pod-{id}"),
            tenant: fleet::Tenant::new("openb"),
            priority: 0,
            arrival: Time::ZERO,
            tasks: 1,
            gang: None,
            work: None,
            deadline: None,
            alternatives: Arc::new(vec![pod.clone()]),
            datasets: None,
            program: None,
            restart: Restart::default(),
            after: Vec::new(),
        })
    };
    let order = Order { order: order.to_vec(), node_priority: vec![1, 0] };
    Trace {
        typical: Arc::new(Typical::of(pods.iter(), &classes())),
        classes: Arc::new(classes()),
        nodes: vec![node(0), node(1)],
        pods: (0..).zip(pods).map(job).collect(),
        orders: BTreeMap::from([(42, order)]),
    }
}

fn reference(name: &str) -> Contender {
    let found = REFERENCES.iter().find(|reference| reference.name == name);
    Contender::Reference(found.unwrap().clone())
}

#[test]
fn pod_that_does_not_fit_is_counted_and_withdrawn() {
    let pods = [pod(1000, 2, 1000), pod(1000, 1, 500), pod(1000, 0, 0)];
    // Both nodes are full after two pods; the next two fail, and one without GPU goes on.
    let trace = tiny(&pods, &[0, 0, 1, 0, 2]);
    for contender in REFERENCES.iter().map(|one| reference(one.name)) {
        let trial = Trial::new(&trace, 42, Numbering::Published).unwrap();
        let outcome = contender.run(&trial, TieRule::Published, Knowledge::Typical).unwrap();
        let failures = outcome.failures;
        assert_eq!((failures.share, failures.several, failures.all()), (1, 1, 2));
        assert_eq!(outcome.first_failure, Some(112.5));
        assert_eq!(outcome.first_failure_of_eight, None);
        assert_eq!(outcome.curves.allocated.at(50), Some(50.0));
        assert_eq!(outcome.curves.allocated.at(113), Some(100.0));
        // One socket and two GPUs of one node are busy: 120 + 2 x 300 + 15 + 2 x 30 W.
        assert_eq!(outcome.curves.kilowatts.at(50), Some(0.795));
    }
}

#[test]
fn ties_go_to_the_node_of_lowest_rank_or_first_in_the_list() {
    let trace = tiny(&[pod(1000, 1, 500)], &[0]);
    let policy = policy_file::shipped("default").unwrap();
    for (numbering, first) in [(Numbering::Published, "node-1"), (Numbering::Csv, "node-0")] {
        let trial = Trial::new(&trace, 42, numbering).unwrap();
        let Contender::Reference(reference) = reference("best-fit") else { unreachable!() };
        let typical = Arc::clone(&trace.typical);
        let mut planner = Planner::new(reference, typical, Ties::LowestId, 1);
        let mut placed = Vec::new();
        let outcome = trial.run(&policy, Knowledge::Seen, &mut |snapshot, _, _| {
            let decision = planner.plan(snapshot);
            let names = decision.plan.placements.iter().map(|one| snapshot.node(one.node));
            placed.extend(names.map(|entry| entry.node.name.clone()));
            decision
        });
        assert_eq!(outcome.unwrap().failures.all(), 0);
        assert_eq!(placed, [first]);
    }
}

#[test]
fn seed_without_an_order_is_refused_with_those_that_have_one() {
    let trace = tiny(&[pod(1000, 1, 500)], &[0]);
    let error = Trial::new(&trace, 7, Numbering::Published).err().unwrap();
    assert_eq!(error.to_string(), "find an order of seed 7: there are 42");
}

#[test]
fn reasons_of_reference_policies_are_true() {
    let pods = [pod(5000, 1, 700), pod(1000, 2, 1000), pod(9000, 1, 100), pod(2000, 0, 0)];
    let trace = tiny(&pods, &[0, 0, 0, 1, 2, 3, 3, 0]);
    let policy = policy_file::shipped("default").unwrap();
    for reference in REFERENCES {
        let typical = Arc::clone(&trace.typical);
        let mut planner = Planner::new(reference.clone(), typical, Ties::Drawn, 1);
        let trial = Trial::new(&trace, 42, Numbering::Published).unwrap();
        let outcome = trial.run(&policy, Knowledge::Seen, &mut |snapshot, _, _| {
            let decision = planner.plan(snapshot);
            assert_eq!(check_reasons(snapshot, &decision), []);
            // A planner that has seen nothing has no tables, and still the same room.
            let mut cold =
                Planner::new(reference.clone(), Arc::clone(&trace.typical), Ties::LowestId, 1);
            let other = cold.plan(snapshot);
            assert_eq!(other.explanation.waiting, decision.explanation.waiting);
            decision
        });
        assert!(outcome.unwrap().failures.all() > 0);
    }
}

fn data() -> Option<PathBuf> {
    let found = crate::place::at_hand(trace::ORDERS);
    if found.is_none() {
        println!("skipped: there are no orders of arrival; set MOTLEY_DATA");
    }
    found
}

#[test]
fn trace_is_as_described() {
    let Some(folder) = data() else { return };
    let trace = trace::read(&folder, "default").unwrap();
    assert_eq!((trace.nodes.len(), trace.pods.len()), (1213, 8152));
    assert_eq!(trace.typical.pods.len(), 35);
    let nodes: Vec<_> = trace.nodes.iter().cloned().map(Arc::new).collect();
    let account = account::Account::new(&nodes, &trace.classes, Arc::clone(&trace.typical));
    assert_eq!(format!("{:.1}", account.kilowatts()), "230.1");
}

#[test]
fn best_fit_reaches_what_was_published() {
    let Some(folder) = data() else { return };
    let asked = Openb {
        trace: "default".to_owned(),
        seeds: vec![Seeds { first: 42, last: 42 }],
        policies: vec!["best-fit".to_owned()],
        ..Openb::default()
    };
    let (text, records) = run(&folder, &asked).unwrap();
    let gate = records.iter().find(|record| record.name == "gate.max_abs_pp.seeds42").unwrap();
    assert_eq!(gate.met, Some(true), "{text}");
}
