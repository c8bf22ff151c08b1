//! The inside of nodes in the world: its own account, and its own idea of what remote memory costs.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

mod world_fixtures;

use std::sync::Arc;

use controller::policy_file::shipped;
use fleet::policy::{Objective, Weighting};
use fleet::{
    Action, Bandwidth, Body, Bytes, ChannelGrant, ChannelIndex, ClassId, DeviceClass, DeviceIndex,
    Domain, DomainGrant, DomainIndex, Generation, Grant, Job, Milli, MilliCores, Nic, NodeId,
    Order, Outcome, PcieSwitch, Placement, Policy, Rate, Refusal, RunId, Span, Time, Topology,
    Work,
};
use sim::checkers::Checks;
use sim::scenario::{self, Options, motley};
use sim::world::{TrueRates, World};
use sim::{Inventory, Truth, Workload};
use world_fixtures::{inventory, job};

const GIB: u64 = 1 << 30;

/// Nodes of two domains with 2 cores and 8 GiB each, 21 apart, that move 20 GB/s each.
fn sockets(nodes: u32) -> Inventory {
    let mut fleet = inventory(nodes);
    let domain = || Domain {
        cores: MilliCores(2000),
        memory: Bytes(8 * GIB),
        bandwidth: Bandwidth(20_000_000_000),
        ..Domain::default()
    };
    let distances = vec![vec![10, 21], vec![21, 10]];
    let topology = Topology { domains: vec![domain(), domain()], distances, ..Topology::default() };
    let topology = Arc::new(topology);
    for node in &mut fleet.nodes {
        node.topology = Some(Arc::clone(&topology));
    }
    fleet
}

/// A job of two cores and 4 GiB that takes so many seconds and moves so much.
fn moving(id: u64, seconds: u64, bandwidth: u64) -> Job {
    let mut job = job(id, 0, seconds);
    let request = &mut Arc::make_mut(&mut job.alternatives)[0].request;
    (request.cores, request.memory) = (MilliCores(2000), Bytes(4 * GIB));
    request.traffic.memory = Bandwidth(bandwidth);
    job
}

/// An order to start the job with so many thousandths of a core and so many GiB of each domain.
fn start(job: &Job, domains: &[(u16, u64, u64)]) -> Order {
    let request = &job.alternatives[0].request;
    let held = |(domain, cores, memory): &(u16, u64, u64)| DomainGrant {
        domain: DomainIndex(*domain),
        cores: MilliCores(*cores),
        memory: Bytes(memory * GIB),
        // What it moves is shared out like its memory.
        load: Bandwidth(request.traffic.memory.0 / (request.memory.0 / GIB).max(1) * memory),
    };
    let run = RunId { job: job.id, ..RunId::default() };
    let placement = Placement {
        run,
        alternative: 0,
        node: NodeId(0),
        class: ClassId(0),
        grant: Grant {
            cores: request.cores,
            memory: request.memory,
            domains: domains.iter().map(held).collect(),
            ..Grant::default()
        },
        rate: Rate(1_000_000),
        duration: None,
    };
    let action = Action::Start { job: Arc::new(job.clone()), placement };
    Order { run, generation: Generation(1), action }
}

fn outcomes(world: &mut World, orders: &[Order]) -> Vec<Outcome> {
    world.carry_out(orders).unwrap();
    world.observe().unwrap().receipts.into_iter().map(|receipt| receipt.outcome).collect()
}

#[test]
fn the_world_refuses_what_a_domain_does_not_have_left() {
    let mut world = World::new(&sockets(1), TrueRates::default(), &[], 0);
    let orders = [
        start(&moving(1, 10, 0), &[(0, 2000, 4)]),
        start(&moving(2, 10, 0), &[(0, 2000, 4)]),
        start(&moving(3, 10, 0), &[(1, 2000, 4)]),
    ];
    let refused = Outcome::Refused(Refusal::NoRoom);
    assert_eq!(outcomes(&mut world, &orders), [Outcome::Accepted, refused, Outcome::Accepted]);
}

#[test]
fn the_world_refuses_a_grant_that_does_not_say_where_all_of_it_is() {
    for domains in [&[][..], &[(0, 1000, 4)], &[(0, 2000, 3)], &[(2, 2000, 4)]] {
        let mut world = World::new(&sockets(1), TrueRates::default(), &[], 0);
        let found = outcomes(&mut world, &[start(&moving(1, 10, 0), domains)]);
        assert_eq!(found, [Outcome::Refused(Refusal::NoRoom)], "{domains:?}");
    }
    let mut world = World::new(&inventory(1), TrueRates::default(), &[], 0);
    let found = outcomes(&mut world, &[start(&moving(1, 10, 0), &[(0, 2000, 4)])]);
    assert_eq!(found, [Outcome::Refused(Refusal::NoRoom)], "a node without domains");
}

#[test]
fn the_world_refuses_what_no_channel_passes_unless_it_may_be_filled_further() {
    let mut fleet = sockets(1);
    let mut topology = Topology::clone(fleet.nodes[0].topology.as_ref().unwrap());
    topology.nics = vec![Nic { bandwidth: Bandwidth(10), domain: None }];
    fleet.nodes[0].topology = Some(Arc::new(topology));
    let over = |id, bandwidth, domain| {
        let mut order = start(&moving(id, 10, 0), &[(domain, 2000, 4)]);
        if let Action::Start { placement, .. } = &mut order.action {
            let bandwidth = Bandwidth(bandwidth);
            placement.grant.channels.push(ChannelGrant { channel: ChannelIndex(0), bandwidth });
        }
        order
    };
    let (accepted, refused) = (Outcome::Accepted, Outcome::Refused(Refusal::NoRoom));
    let mut world = World::new(&fleet, TrueRates::default(), &[], 0);
    assert_eq!(outcomes(&mut world, &[over(1, 6, 0), over(2, 5, 1)]), [accepted, refused]);
    let mut world = World::new(&fleet, TrueRates::default(), &[], 0);
    world.oversubscribe(Milli(1100));
    assert_eq!(outcomes(&mut world, &[over(1, 6, 0), over(2, 5, 1)]), [accepted, accepted]);
    // The memory of one domain moves 20 GB/s.
    let small = |id, bandwidth| {
        let mut job = moving(id, 10, bandwidth);
        let request = &mut Arc::make_mut(&mut job.alternatives)[0].request;
        (request.cores, request.memory) = (MilliCores(1000), Bytes(2 * GIB));
        start(&job, &[(0, 1000, 2)])
    };
    let mut world = World::new(&fleet, TrueRates::default(), &[], 0);
    let orders = [small(1, 12_000_000_000), small(2, 9_000_000_000)];
    assert_eq!(outcomes(&mut world, &orders), [accepted, refused]);
}

#[test]
fn staging_jobs_on_one_switch_come_one_after_another_or_slow_each_other_where_they_may_fill_it() {
    let mut fleet = inventory(1);
    let devices = vec![DeviceIndex(0), DeviceIndex(1)];
    let switch = PcieSwitch { devices, above: None, bandwidth: Bandwidth(16_000_000_000) };
    let topology = Topology { pcie: vec![switch], ..Topology::default() };
    fleet.nodes[0].topology = Some(Arc::new(topology));
    let staging = |id| {
        let mut job = job(id, 1000, 100);
        let way = &mut Arc::make_mut(&mut job.alternatives)[0];
        way.request.traffic.pcie = Bandwidth(10_000_000_000);
        job
    };
    let jobs = [staging(1), staging(2)];
    let policy = |part| Policy { oversubscribe: Milli(part), ..weighing(1000) };
    assert_eq!(ends(&fleet, &jobs, &policy(1000)), 200);
    // Together they ask for 20 GB/s of 16.
    assert_eq!(ends(&fleet, &jobs, &policy(1250)), 125);
    // The second one goes on alone once the first has ended: it has half of its work left then.
    let longer = Job { work: Some(Work(200_000_000)), ..staging(2) };
    assert_eq!(ends(&fleet, &[staging(1), longer], &policy(1250)), 225);
}

#[test]
fn a_memory_that_is_asked_for_more_than_it_moves_slows_all_who_ask_by_as_much_as_the_world_says() {
    let fleet = sockets(1);
    let small = |id| {
        let mut job = moving(id, 100, 15_000_000_000);
        let request = &mut Arc::make_mut(&mut job.alternatives)[0].request;
        (request.cores, request.memory) = (MilliCores(1000), Bytes(2 * GIB));
        start(&job, &[(0, 1000, 2)])
    };
    let ends = |contention| {
        let truth = Truth { contention: Milli(contention), ..Truth::default() };
        let mut world = World::new(&fleet, TrueRates::new(truth, &[], 0), &[], 0);
        world.oversubscribe(Milli(1500));
        assert_eq!(outcomes(&mut world, &[small(1), small(2)]), [Outcome::Accepted; 2]);
        world.wait(None).unwrap();
        world.at().0 / 1_000_000
    };
    // 30 GB/s of 20.
    assert_eq!([0, 500, 1000, 2000].map(ends), [100, 125, 150, 200]);
}

/// When a job that takes 100 seconds really ends, in milliseconds.
fn end(domains: &[(u16, u64, u64)], bandwidth: u64, truth: Truth) -> u64 {
    let mut world = World::new(&sockets(1), TrueRates::new(truth, &[], 0), &[], 0);
    world.carry_out(&[start(&moving(1, 100, bandwidth), domains)]).unwrap();
    world.observe().unwrap();
    world.wait(None).unwrap();
    world.at().0 / 1000
}

#[test]
fn memory_that_is_far_slows_a_run_that_moves_data_by_as_much_as_the_world_says() {
    let (near, far, even) =
        (&[(0, 2000, 4)][..], &[(0, 2000, 0), (1, 0, 4)][..], &[(0, 1000, 2), (1, 1000, 2)]);
    let strength = |thousandths| Truth { remote_memory: Milli(thousandths), ..Truth::default() };
    let twenty = 20_000_000_000;
    assert_eq!(end(near, twenty, strength(1000)), 100_000);
    assert_eq!(end(far, 0, strength(1000)), 100_000);
    // All of it is 11 away, and half of the time it moves data.
    assert_eq!(end(far, twenty, strength(1000)), 155_000);
    assert_eq!(end(far, twenty, strength(2000)), 210_000);
    assert_eq!(end(far, twenty, strength(0)), 100_000);
    // Each core finds its part of the memory where it is.
    assert_eq!(end(even, twenty, strength(1000)), 100_000);
}

/// A policy that weighs completion so much and nothing else.
fn weighing(weight: u32) -> Policy {
    let mut weights = [Milli::ZERO; Objective::COUNT];
    weights[Objective::Completion.position()] = Milli(weight);
    let shipped = shipped("default").expect("it is shipped");
    let tiers = vec![Weighting::Fixed(weights)];
    Policy { tiers, patience: Milli::ZERO, batch: None, ..shipped }
}

/// When everything is done, in seconds.
fn ends(fleet: &Inventory, jobs: &[Job], policy: &Policy) -> u64 {
    let jobs = jobs.iter().cloned().map(Arc::new).collect();
    let workload = Workload { jobs, ..Workload::default() };
    let options = Options { checks: Checks::Thorough, ..Options::default() };
    let outcome = scenario::run(fleet, &workload, policy, options, &mut motley());
    assert_eq!(outcome.violations, []);
    outcome.log.last().map_or(Time::ZERO, |entry| entry.at).0 / Span::seconds(1).0
}

#[test]
fn a_task_bound_by_memory_ends_sooner_on_a_slower_node_and_is_late_where_that_is_not_weighed() {
    let mut fleet = sockets(2);
    let old = DeviceClass { model: "OLD".to_owned(), ..fleet.classes.0[0].clone() };
    fleet.classes.0.push(old);
    fleet.nodes[1].cpu = ClassId(2);
    let asking = |job: Job, cores: u64, memory: u64, rates: &[(&str, u64)]| {
        let mut job = job;
        let way = &mut Arc::make_mut(&mut job.alternatives)[0];
        (way.request.cores, way.request.memory) = (MilliCores(cores), Bytes(memory * GIB));
        let rate = |(model, rate): &(&str, u64)| ((*model).to_owned(), Rate(*rate));
        way.rates = rates.iter().map(rate).collect();
        job
    };
    // They leave the first node the cores of one domain and the memory of the other.
    let fast = [("EPYC", 1_000_000)];
    let cores = asking(moving(1, 100, 0), 2000, 0, &fast);
    let memory = asking(moving(2, 100, 0), 1, 8, &fast);
    let both = [("EPYC", 1_000_000), ("OLD", 900_000)];
    let bound = asking(moving(3, 500, 20_000_000_000), 1900, 4, &both);
    let bound = Job { arrival: Time::seconds(1), ..bound };
    let jobs = [cores, memory, bound];
    // 500 ÷ 0.9, and 500 × 1.55.
    assert_eq!(ends(&fleet, &jobs, &weighing(1000)), 556);
    assert_eq!(ends(&fleet, &jobs, &weighing(0)), 776);
}
