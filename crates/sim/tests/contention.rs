//! Runs that talk, in the world's own account: what they wait for, and what they take from others.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{Action, Body, Generation, Milli, Node, Order, RunState, sketch};
use sim::world::{TrueRates, World};
use sim::{Inventory, Truth};

/// When runs end, by name, in whole seconds: all are started at once, where they are told.
fn ends(text: &str, starts: &[&str], contention: u32) -> BTreeMap<String, u64> {
    let snapshot = sketch::snapshot(text).unwrap();
    let nodes: Vec<Node> = snapshot.nodes.iter().map(|entry| Node::clone(&entry.node)).collect();
    let inventory = Inventory { classes: (*snapshot.classes).clone(), nodes };
    let truth = Truth { contention: Milli(contention), ..Truth::default() };
    let mut world = World::new(&inventory, TrueRates::new(truth, &[], 0), &[], 0);
    let order = |start: &&str| {
        let placement = sketch::placement(&snapshot, start).unwrap();
        let job = Arc::clone(&snapshot.backlog[&placement.run.job].job);
        let (run, generation) = (placement.run, Generation(1));
        Order { run, generation, action: Action::Start { job, placement } }
    };
    let orders: Vec<Order> = starts.iter().map(order).collect();
    world.carry_out(&orders).unwrap();
    let mut ends = BTreeMap::new();
    while ends.len() < starts.len() {
        for sight in world.observe().unwrap().runs {
            if let RunState::Done(at) = sight.state {
                let job = &snapshot.backlog[&sight.run.job].job;
                ends.insert(format!("{}/{}", job.name, sight.run.task.0), at.0 / 1_000_000);
            }
        }
        world.wait(None).unwrap();
    }
    ends
}

#[track_caller]
fn check(text: &str, starts: &[&str], contention: u32, expected: &[(&str, u64)]) {
    let found = ends(text, starts, contention);
    let expected: BTreeMap<String, u64> =
        expected.iter().map(|(name, at)| ((*name).to_owned(), *at)).collect();
    assert_eq!(found, expected);
}

/// Eight V100 in a hybrid mesh.
const MESH: &str = "
    class xeon cpu
    class v100 gpu
    node mesh cores=40 mem=512Gi dev=v100*8 host=12GB/s \
        links=0-1:25GB/s,0-2:25GB/s,0-3:50GB/s,0-4:50GB/s,1-2:50GB/s,1-3:25GB/s,1-5:50GB/s,\
2-3:50GB/s,2-6:25GB/s,3-7:25GB/s,4-5:25GB/s,4-6:25GB/s,4-7:50GB/s,5-6:50GB/s,5-7:25GB/s,\
6-7:50GB/s
    job train work=1000 cores=4 gpu=4 rate.v100=10 talk=ring*200MB
    job other work=1000 cores=4 gpu=4 rate.v100=10 talk=ring*200MB
";

#[test]
fn ring_on_the_wrong_four_of_eight_takes_a_third_longer() {
    check(MESH, &["train/0.0 mesh dev=0,1,2,3"], 1000, &[("train/0", 112)]);
    // Two hops go through the host: 600 MB at 12 GB/s are 50 ms a unit of work.
    check(MESH, &["train/0.0 mesh dev=0,2,5,7"], 1000, &[("train/0", 150)]);
    check(MESH, &["train/0.0 mesh dev=0,2,5,7"], 500, &[("train/0", 125)]);
    check(MESH, &["train/0.0 mesh dev=0,2,5,7"], 2000, &[("train/0", 200)]);
    check(MESH, &["train/0.0 mesh dev=0,2,5,7"], 0, &[("train/0", 100)]);
}

#[test]
fn jobs_that_share_the_host_slow_each_other_while_both_run() {
    // Each alone would wait 50 ms a unit, together 100 ms.
    let both = ["train/0.0 mesh dev=0,2,5,7", "other/0.0 mesh dev=1,3,4,6"];
    check(MESH, &both, 1000, &[("train/0", 200), ("other/0", 200)]);
    let shorter = MESH.replace("job other work=1000", "job other work=500");
    // The shorter one ends after 100 s, when the other has done 500 units and has 75 s to go.
    check(&shorter, &both, 1000, &[("train/0", 175), ("other/0", 100)]);
    // On the two quads they share nothing.
    let apart = ["train/0.0 mesh dev=0,1,2,3", "other/0.0 mesh dev=4,5,6,7"];
    check(MESH, &apart, 1000, &[("train/0", 112), ("other/0", 112)]);
}

#[test]
fn tasks_that_are_no_gang_talk_each_by_itself() {
    let array = MESH.replace("job train work", "job train tasks=2 work");
    let both = ["train/0.0 mesh dev=0,1,2,3", "train/1.0 mesh dev=4,5,6,7"];
    check(&array, &both, 1000, &[("train/0", 112), ("train/1", 112)]);
    // One that waits for the host does not hold up one that does not.
    let three = array.replace("gpu=4 rate.v100=10 talk=ring*200MB\n    job other", "gpu=4 rate.v100=10 talk=ring*200MB\n      or cores=4 gpu=3 rate.v100=5 talk=ring*200MB\n    job other");
    let unlike = ["train/0.0 mesh dev=0,1,2,3", "train/1.0 mesh alt=1 dev=4,5,6"];
    check(&three, &unlike, 1000, &[("train/0", 112), ("train/1", 210)]);
}

/// Two racks of two nodes, with up-links that pass as much as one node sends.
const RACKS: &str = "
    class xeon cpu
    node a cores=8 mem=64Gi nic=10GB/s switch=left:10GB/s x2
    node b cores=8 mem=64Gi nic=10GB/s switch=right:10GB/s x2
    job one tasks=2 gang work=100 cores=1 talk=ring*2GB
    job two tasks=2 gang work=100 cores=1 talk=ring*2GB
";

#[test]
fn gangs_across_racks_share_the_up_links() {
    // A ring of two sends 2 GB each way: 200 ms a unit of work alone.
    let near = ["one/0.0 a-0", "one/1.0 a-1"];
    check(RACKS, &near, 1000, &[("one/0", 120), ("one/1", 120)]);
    let across = ["one/0.0 a-0", "one/1.0 b-0", "two/0.0 a-1", "two/1.0 b-1"];
    let expected = [("one/0", 140), ("one/1", 140), ("two/0", 140), ("two/1", 140)];
    check(RACKS, &across, 1000, &expected);
    // Each in its own rack they share nothing.
    let apart = ["one/0.0 a-0", "one/1.0 a-1", "two/0.0 b-0", "two/1.0 b-1"];
    let expected = [("one/0", 120), ("one/1", 120), ("two/0", 120), ("two/1", 120)];
    check(RACKS, &apart, 1000, &expected);
}

#[test]
fn parameter_server_is_held_up_by_its_own_interface() {
    let text = "
        class xeon cpu
        node n cores=4 mem=64Gi nic=10GB/s x4
        job train tasks=4 gang work=100 cores=1 talk=parameter-server*1GB
        job slow tasks=4 gang work=100 cores=1 talk=pipeline*1GB";
    let incast = ["train/0.0 n-0", "train/1.0 n-1", "train/2.0 n-2", "train/3.0 n-3"];
    // Three send 1 GB to one node: 300 ms a unit of work.
    let expected = [("train/0", 130), ("train/1", 130), ("train/2", 130), ("train/3", 130)];
    check(text, &incast, 1000, &expected);
    let line = ["slow/0.0 n-0", "slow/1.0 n-1", "slow/2.0 n-2", "slow/3.0 n-3"];
    let expected = [("slow/0", 110), ("slow/1", 110), ("slow/2", 110), ("slow/3", 110)];
    check(text, &line, 1000, &expected);
}

#[test]
fn gang_goes_at_the_pace_of_its_slowest_member() {
    let text = "
        class xeon cpu
        class old cpu
        node a cores=4 mem=64Gi cpu=xeon
        node b cores=4 mem=64Gi cpu=old
        job train tasks=2 gang work=100 cores=1 rate.xeon=2 rate.old=1 talk=ring*1GB";
    check(text, &["train/0.0 a", "train/1.0 b"], 1000, &[("train/0", 100), ("train/1", 100)]);
}
