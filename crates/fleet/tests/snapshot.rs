//! Laws of snapshots and of what is free, on small random fleets.

use fleet::snapshot::Parts;
use fleet::{
    Bytes, DeviceFree, DeviceGrant, DeviceIndex, Free, Grant, JobId, Milli, MilliCores, Snapshot,
    sketch,
};
use proptest::prelude::*;
use proptest::sample::subsequence;
use proptest::test_runner::RngSeed;

/// The same cases on every machine.
fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// A job as tasks, started tasks, cores, and share in tenths of a device (none at zero).
type RandomJob = (u32, u32, u64, u32);

/// A fleet of a few nodes and jobs with runs on them, which may hold more than there is.
fn parts(nodes: usize, jobs: &[RandomJob]) -> Parts {
    let mut text = format!(
        "class epyc cpu\nclass a100 gpu mem=40Gi share=milli\n\
         node n cores=16 mem=64Gi dev=a100*2 x{nodes}\nnode lost cores=8 mem=8Gi down\n"
    );
    for (index, (tasks, started, cores, tenths)) in jobs.iter().enumerate() {
        let device = if *tenths == 0 { "" } else { &format!("gpu=1 share=0.{tenths} devmem=1Gi") };
        text += &format!(
            "job job-{index} tasks={tasks} tenant=t{} cores={cores} {device}\n",
            index % 2
        );
        for task in 0..*started.min(tasks) {
            let node = (index + task as usize) % nodes;
            let device = if *tenths == 0 { "" } else { "dev=1" };
            text += &format!("run job-{index}/{task}.0 n-{node} {device}\n");
        }
    }
    sketch::parts(&text).expect("every line is of the notation")
}

/// The same parts, in another order.
fn shuffled(parts: Parts) -> impl Strategy<Value = Parts> {
    let nodes = Just(parts.nodes.clone()).prop_shuffle();
    let backlog = Just(parts.backlog.clone()).prop_shuffle();
    let runs = Just(parts.runs.clone()).prop_shuffle();
    (nodes, backlog, runs).prop_map(move |(nodes, backlog, runs)| Parts {
        nodes,
        backlog,
        runs,
        ..parts.clone()
    })
}

fn two_orders() -> impl Strategy<Value = (Parts, Parts)> {
    let job = (1..4_u32, 0..4_u32, 1..5_u64, 0..10_u32);
    (1..5_usize, prop::collection::vec(job, 1..8)).prop_flat_map(|(nodes, jobs)| {
        let parts = parts(nodes, &jobs);
        (Just(parts.clone()), shuffled(parts))
    })
}

fn grant() -> impl Strategy<Value = Grant> {
    let device = (1..=1000_u32, 0..40_u64);
    let devices = (subsequence(vec![0_u16, 1, 2], 0..=3), prop::collection::vec(device, 3));
    (0..4000_u64, 0..16_u64, devices).prop_map(|(cores, memory, (indices, amounts))| {
        let held = |(index, (share, memory)): (u16, (u32, u64))| DeviceGrant {
            device: DeviceIndex(index),
            share: Milli(share),
            memory: Bytes(memory),
            ..DeviceGrant::default()
        };
        Grant {
            cores: MilliCores(cores),
            memory: Bytes(memory),
            devices: indices.into_iter().zip(amounts).map(held).collect(),
            ..Grant::default()
        }
    })
}

fn whole_node() -> Free {
    let device = DeviceFree { share: Milli::WHOLE, memory: Bytes(80), ..DeviceFree::default() };
    Free {
        cores: MilliCores(16_000),
        memory: Bytes(64),
        devices: vec![device; 3],
        ..Free::default()
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn shuffled_parts_give_an_equal_snapshot((parts, other) in two_orders()) {
        prop_assert_eq!(Snapshot::build(parts), Snapshot::build(other));
    }

    #[test]
    fn a_snapshot_counts_what_is_held_once((parts, _) in two_orders()) {
        if let Ok(snapshot) = Snapshot::build(parts) {
            let cores: MilliCores =
                snapshot.runs.values().map(|run| run.placement.grant.cores).sum();
            let of_tenants: MilliCores =
                snapshot.tenants.values().map(|amounts| amounts.cores).sum();
            let free: MilliCores =
                snapshot.nodes.iter().filter(|entry| entry.up).map(|entry| entry.free.cores).sum();
            prop_assert_eq!(cores, snapshot.held.cores);
            prop_assert_eq!(cores, of_tenants);
            prop_assert_eq!(cores + free, snapshot.capacity.cores);
        }
    }

    #[test]
    fn what_is_taken_and_given_back_leaves_no_trace(
        (grants, keys) in prop::collection::vec(grant(), 0..12)
            .prop_flat_map(|grants| (Just(grants.clone()), Just(grants).prop_shuffle()))
    ) {
        let whole = whole_node();
        let mut free = whole.clone();
        let mut held: Vec<Grant> = Vec::new();
        for grant in grants {
            if free.has_room_for(&grant) {
                free.take(&grant);
                held.push(grant);
            }
        }
        let position = |grant: &Grant| keys.iter().position(|key| key == grant);
        held.sort_by_key(position);
        for grant in &held {
            free.give_back(grant);
        }
        prop_assert_eq!(free, whole);
    }
}

#[test]
fn a_grant_that_names_a_device_twice_has_no_room() {
    let device = |index| DeviceGrant {
        device: DeviceIndex(index),
        share: Milli(100),
        memory: Bytes(1),
        ..DeviceGrant::default()
    };
    let has_room = |indices: &[u16]| {
        let devices = indices.iter().copied().map(device).collect();
        whole_node().has_room_for(&Grant { devices, ..Grant::default() })
    };
    assert!(has_room(&[0, 2]) && has_room(&[2, 0]));
    assert!(!has_room(&[1, 1]) && !has_room(&[0, 1, 0]) && !has_room(&[3]));
}

#[test]
fn a_snapshot_is_written_as_json_and_read_back() {
    let text = "
        at 10s
        class epyc cpu
        class a100 gpu mem=40Gi share=milli
        node n cores=8 mem=64Gi label.zone=a dev=a100*2 x2
        job train tenant=ml tasks=12 work=3 cores=1 gpu=1 share=0.5 devmem=1Gi rate.a100=2
          or cores=4
        run train/0.0 n-0 dev=1 stage=stray
        run train/1.2 n-1 dev=0 stage=cancelled
        run train/2.0 n-1 dev=0
        again train/0.1
        rotation n-1
        regimes above
    ";
    let mut snapshot = sketch::snapshot(text).expect("the sketch can be read");
    snapshot.memory.unseen.push(JobId(0));
    assert_eq!(snapshot.unwanted.len(), 2);
    let json = serde_json::to_string(&snapshot).expect("a snapshot can be written");
    assert!(json.contains("\"j0/1.2\":{"), "{json}");
    let read: Snapshot = serde_json::from_str(&json).expect("what was written can be read");
    assert_eq!(read, snapshot);
    let wrong = json.replace("j0/1.2", "j0/1");
    let error = serde_json::from_str::<Snapshot>(&wrong).expect_err("not the name of a run");
    assert!(error.to_string().contains("is not the name of a run"), "{error}");
}
