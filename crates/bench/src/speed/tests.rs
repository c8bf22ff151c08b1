//! The treadmill on a fleet of a few nodes, and the real lists where the data are there.

use std::collections::BTreeSet;
use std::sync::Arc;

use fleet::{Bytes, Node, NodeId, Order};

use super::measure::{Counts, fill, measure};
use super::treadmill::{Coming, Treadmill};
use super::*;
use crate::reference::site::tests::{classes, pod, site};

/// Twelve nodes of four GPUs and 16 cores, and four shapes.
fn tiny() -> Input {
    let make = Node::clone(&site(16_000, 16_000, &[1000; 4]).node);
    let node = |id| Node { id: NodeId(id), name: format!("node-{id}"), ..make.clone() };
    Input {
        classes: Arc::new(classes()),
        nodes: (0..12).map(|id| Arc::new(node(id))).collect(),
        shapes: vec![pod(1000, 1, 500), pod(2000, 1, 1000), pod(500, 0, 0), pod(4000, 2, 1000)],
    }
}

fn setting(arrivals: u32, contender: Contender) -> Setting {
    Setting { nodes: 12, shapes: 4, arrivals, contender }
}

fn take(treadmill: &mut Treadmill<'_>, coming: Coming) -> Vec<Order> {
    let turn = treadmill.turn(&coming.observation, coming.requests);
    let orders = turn.orders.clone();
    treadmill.settle(turn).unwrap();
    orders
}

#[test]
fn two_runs_of_a_setting_count_the_same() {
    let input = tiny();
    for contender in Contender::ALL {
        for arrivals in [1, 5] {
            let counts = || measure(&input, setting(arrivals, contender), 60).unwrap().counts;
            let Counts { placements, arrivals, no_room, steps, allocated_milli } = counts();
            assert_eq!(counts(), counts());
            assert!((60..65).contains(&placements) && steps > 0, "{contender:?}");
            assert_eq!(placements + no_room, arrivals);
            assert!((700..=900).contains(&allocated_milli), "{allocated_milli}");
        }
    }
}

/// Work is counted, not timed: a plan that costs more steps than it did shows here.
#[test]
fn a_placement_costs_the_steps_that_it_did() {
    let input = tiny();
    let steps = |contender, arrivals| {
        let counts = measure(&input, setting(arrivals, contender), 60).unwrap().counts;
        (counts.placements, counts.steps)
    };
    assert_eq!(steps(Contender::Plain, 1), (60, 673));
    assert_eq!(steps(Contender::Plain, 5), (62, 566));
    assert_eq!(steps(Contender::Frag, 1), (60, 519));
    assert_eq!(steps(Contender::Frag, 5), (60, 426));
}

#[test]
fn two_runs_of_a_treadmill_order_the_same() {
    let input = tiny();
    let orders = || {
        let mut treadmill = Treadmill::new(&input, Contender::Frag).unwrap();
        let level = fill(&mut treadmill).unwrap();
        let mut orders = Vec::new();
        for _ in 0..30 {
            let coming = treadmill.hold(2, level);
            orders.extend(take(&mut treadmill, coming));
        }
        orders
    };
    let first = orders();
    assert!(first.len() > 30);
    assert_eq!(first, orders());
}

#[test]
fn fleet_is_filled_to_the_level_and_held_there() {
    let input = tiny();
    let mut treadmill = Treadmill::new(&input, Contender::Plain).unwrap();
    let level = fill(&mut treadmill).unwrap();
    assert_eq!((treadmill.capacity(), level), (48_000, 43_200));
    assert!(treadmill.allocated() >= level);
    for _ in 0..50 {
        let coming = treadmill.hold(3, level);
        take(&mut treadmill, coming);
        assert!(treadmill.allocated() <= level, "{}", treadmill.allocated());
        // Three jobs ask for six devices at most, and at most one run too many has ended.
        assert!(treadmill.allocated() >= level - 8000, "{}", treadmill.allocated());
    }
}

#[test]
fn fleet_that_cannot_be_filled_is_held_where_it_got_to() {
    let mut input = tiny();
    // All cores are gone when a quarter of the devices is.
    input.shapes = vec![pod(16_000, 1, 1000)];
    let mut treadmill = Treadmill::new(&input, Contender::Plain).unwrap();
    assert_eq!(fill(&mut treadmill).unwrap(), 12_000);
    let counts = measure(&input, setting(1, Contender::Plain), 20).unwrap().counts;
    assert_eq!((counts.placements, counts.no_room, counts.allocated_milli), (20, 0, 250));
}

#[test]
fn job_that_finds_no_room_is_withdrawn_by_the_next_turn() {
    let mut input = tiny();
    input.shapes = vec![pod(99_000, 1, 1000)];
    let mut treadmill = Treadmill::new(&input, Contender::Plain).unwrap();
    for _ in 0..3 {
        let coming = treadmill.hold(1, 40_000);
        let turn = treadmill.turn(&coming.observation, coming.requests);
        assert_eq!(treadmill.settle(turn).unwrap().waiting, 1);
    }
    let error = measure(&input, setting(1, Contender::Plain), 1).err().unwrap();
    assert_eq!(error.to_string(), "place anything: nothing found room");
}

#[test]
fn parked_jobs_are_unlike_each_other_and_wait() {
    let input = tiny();
    let mut treadmill = Treadmill::new(&input, Contender::Plain).unwrap();
    fill(&mut treadmill).unwrap();
    let coming = treadmill.park(20);
    let shapes: BTreeSet<_> = coming.requests.iter().filter_map(shape).collect();
    assert_eq!(shapes.len(), 20);
    assert_eq!(take(&mut treadmill, coming), []);
    for _ in 0..2 {
        let coming = treadmill.rest();
        assert!(coming.requests.is_empty());
        let turn = treadmill.turn(&coming.observation, coming.requests);
        assert_eq!(treadmill.settle(turn).unwrap().waiting, 20);
    }
}

fn shape(request: &controller::Request) -> Option<fleet::Alternative> {
    match request {
        controller::Request::Submit(job) => Some(job.alternatives[0].clone()),
        _ => None,
    }
}

#[test]
fn settings_are_those_asked_for_and_the_reference_has_one_a_size() {
    let count = |asked: &Speed| settings(asked).len();
    assert_eq!(count(&Speed::default()), 3 * (2 * 2 * 2 + 1));
    let quick = Speed { quick: true, ..Speed::default() };
    assert_eq!(count(&quick), 2 * 2 + 1);
    assert!(settings(&quick).iter().all(|setting| (setting.nodes, setting.shapes) == (1000, 100)));
    let asked = Speed {
        nodes: vec![7],
        shapes: vec![4, 3, 4],
        arrivals: vec![2],
        policies: vec![Contender::Frag],
        ..quick
    };
    let of_shapes = |shapes| Setting { nodes: 7, shapes, arrivals: 2, contender: Contender::Frag };
    assert_eq!(settings(&asked), [of_shapes(3), of_shapes(4)]);
}

#[test]
fn real_lists_have_as_many_shapes_as_are_asked_for() {
    let Some(folder) = crate::place::at_hand(crate::openb::trace::LISTS) else {
        println!("skipped: there are no lists of nodes and pods; set MOTLEY_DATA");
        return;
    };
    let setting = Setting { nodes: 50, shapes: 200, arrivals: 1, contender: Contender::Plain };
    let input = Input::read(&folder, setting).unwrap();
    assert_eq!(input.nodes.len(), 50);
    assert_eq!(input.shapes.iter().collect::<BTreeSet<_>>().len(), 200);
    let first = &input.shapes[0].request;
    assert_eq!((first.cores.0, first.memory), (3152, Bytes(5600 << 20)));
    let fewer = Input::read(&folder, Setting { shapes: 100, ..setting }).unwrap();
    assert!(input.shapes.starts_with(&fewer.shapes));
    let counts = measure(&fewer, setting, 20).unwrap().counts;
    assert_eq!(counts.placements, 20);
}
