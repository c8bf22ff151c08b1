//! In which memory domains of a node cores and memory are taken: expected places as literals, and
//! against every way there is on small nodes.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use fleet::node::{Bounds, domain_grants};
use fleet::{Bytes, DomainFree, Free, MilliCores, Node, Reach, Request, Snapshot, sketch};

/// What is written of the start of a job on a node, as `in=`.
fn domains(node: &str, job: &str) -> String {
    let text = format!("class epyc cpu\nclass gpu0 gpu\nnode n {node}\njob j {job}");
    let snapshot: Snapshot = sketch::snapshot(&text).unwrap();
    let entry = snapshot.node(fleet::NodeId(0));
    let waiting = snapshot.backlog.values().next().unwrap();
    let request = &waiting.job.alternatives[0].request;
    let device = |device| fleet::DeviceGrant { device, ..fleet::DeviceGrant::default() };
    let count = request.devices.as_ref().map_or(0, |devices| devices.count);
    let devices: Vec<_> = (0..).map(fleet::DeviceIndex).map(device).take(count as usize).collect();
    let grants = domain_grants(&entry.node, &entry.free, request, &devices, Bounds::default());
    let text =
        grants.iter().map(|held| format!("{}:{}:{}", held.domain.0, held.cores, held.memory));
    text.collect::<Vec<_>>().join(" ")
}

const TWO: &str = "cores=8 mem=32Gi dev=gpu0
    domain cores=4 mem=16Gi
    domain cores=4 mem=16Gi dev=0
    distances 10,21 21,10";

#[test]
fn cores_and_memory_go_to_the_domain_of_the_device() {
    assert_eq!(domains(TWO, "cores=2 mem=4Gi gpu=1"), "1:2:4Gi");
    assert_eq!(domains(TWO, "cores=2 mem=4Gi"), "0:2:4Gi");
}

#[test]
fn what_one_domain_does_not_have_spills_into_the_next() {
    assert_eq!(domains(TWO, "cores=6 mem=4Gi gpu=1"), "0:2:0 1:4:4Gi");
    assert_eq!(domains(TWO, "cores=2 mem=20Gi gpu=1"), "0:0:4Gi 1:2:16Gi");
}

#[test]
fn the_tightest_of_equally_near_domains_is_taken() {
    let node = "cores=12 mem=48Gi
        domain cores=6 mem=24Gi
        domain cores=2 mem=8Gi
        domain cores=4 mem=16Gi";
    assert_eq!(domains(node, "cores=2 mem=8Gi"), "1:2:8Gi");
    assert_eq!(domains(node, "cores=3 mem=8Gi"), "2:3:8Gi");
    assert_eq!(domains(node, "cores=3 mem=20Gi"), "0:3:20Gi");
}

#[test]
fn the_nearer_of_two_neighbours_takes_what_spills() {
    let node = |far: &str| {
        format!(
            "cores=4 mem=12Gi
        domain cores=4 mem=4Gi
        domain mem=4Gi
        domain mem=4Gi
        distances 10,{far} 21,10,21 21,21,10"
        )
    };
    assert_eq!(domains(&node("31,21"), "cores=1 mem=6Gi"), "0:1:4Gi 2:0:2Gi");
    assert_eq!(domains(&node("21,31"), "cores=1 mem=6Gi"), "0:1:4Gi 1:0:2Gi");
}

#[test]
fn stacked_memory_is_for_those_who_state_a_bandwidth() {
    let node = |kind: &str, bandwidth: &str| {
        format!(
            "cores=4 mem=20Gi
        domain cores=4 mem=16Gi kind=dram bw=100GB/s
        domain mem=4Gi kind={kind} bw={bandwidth}
        distances 10,12 12,10"
        )
    };
    let (moving, plain) = ("cores=1 mem=2Gi membw=50GB/s", "cores=1 mem=2Gi");
    assert_eq!(domains(&node("hbm", "400GB/s"), moving), "0:1:0 1:0:2Gi");
    assert_eq!(domains(&node("hbm", "400GB/s"), plain), "0:1:2Gi");
    assert_eq!(domains(&node("hbm", "50GB/s"), moving), "0:1:2Gi");
    let even = |kind: &str| {
        format!(
            "cores=4 mem=24Gi
        domain cores=4 mem=8Gi
        domain mem=8Gi kind=dram
        domain mem=8Gi kind={kind}
        distances 10,20,20 20,10,20 20,20,10"
        )
    };
    assert_eq!(domains(&even("hbm"), "cores=1 mem=10Gi membw=1GB/s"), "0:1:8Gi 2:0:2Gi");
    assert_eq!(domains(&even("cxl"), "cores=1 mem=10Gi membw=1GB/s"), "0:1:8Gi 1:0:2Gi");
}

#[test]
fn of_memory_equally_far_the_one_of_less_latency_is_taken() {
    let node = |one: u32, other: u32| {
        format!(
            "cores=4 mem=24Gi
        domain cores=4 mem=8Gi latency_nanos=100
        domain mem=8Gi latency_nanos={one}
        domain mem=8Gi latency_nanos={other}"
        )
    };
    assert_eq!(domains(&node(250, 150), "cores=1 mem=10Gi"), "0:1:8Gi 2:0:2Gi");
    assert_eq!(domains(&node(150, 250), "cores=1 mem=10Gi"), "0:1:8Gi 1:0:2Gi");
}

/// How far, in the order in which the rule minds it: cores from the device, memory from the cores.
type Far = (u64, u64);

const UNIT: u64 = 1000;

/// The nearest of all ways to take so many cores and so much memory.
fn nearest(distances: &[Vec<u64>], free: &[(u64, u64)], asked: (u64, u64), device: usize) -> Far {
    let ways = |wanted: u64, free: Vec<u64>| {
        let mut found: Vec<Vec<u64>> = vec![Vec::new()];
        for most in free {
            let longer = |way: &Vec<u64>| {
                let way = way.clone();
                (0..=most).map(move |next| way.iter().copied().chain([next]).collect())
            };
            found = found.iter().flat_map(longer).collect();
        }
        found.retain(|way: &Vec<u64>| way.iter().sum::<u64>() == wanted);
        found
    };
    let cores = ways(asked.0, free.iter().map(|free| free.0).collect());
    let memory = ways(asked.1, free.iter().map(|free| free.1).collect());
    let mut best = (u64::MAX, u64::MAX);
    for cores in &cores {
        for memory in &memory {
            best = best.min(far(distances, cores, memory, device));
        }
    }
    best
}

fn far(distances: &[Vec<u64>], cores: &[u64], memory: &[u64], device: usize) -> Far {
    let from_device = cores.iter().zip(distances).map(|(held, row)| held * row[device]).sum();
    let apart = cores.iter().zip(distances).map(|(held, row)| {
        memory.iter().zip(row).map(|(bytes, distance)| held * bytes * distance).sum::<u64>()
    });
    (from_device, apart.sum())
}

/// Of all small nodes of so many domains, with device 0 in domain `device`: how many there are, and
/// on how many the rule is as near as can be.
fn compare(count: usize, device: usize) -> (u32, u32) {
    let distances: Vec<Vec<u64>> =
        [[10, 21, 32], [21, 10, 16], [32, 16, 10]].map(Vec::from).into_iter().take(count).collect();
    let row =
        |row: &Vec<u64>| row[..count].iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let rows = distances.iter().map(row).collect::<Vec<_>>().join(" ");
    let (mut all, mut as_near) = (0, 0);
    for number in 0..9_usize.pow(u32::try_from(count).unwrap()) {
        let digit = |at: usize| number / 9_usize.pow(u32::try_from(at).unwrap()) % 9;
        let free: Vec<(u64, u64)> =
            (0..count).map(|at| ((digit(at) % 3) as u64, (digit(at) / 3) as u64)).collect();
        let (cores, memory) =
            free.iter().fold((0, 0), |sum, free| (sum.0 + free.0, sum.1 + free.1));
        let node = node(count, device, &rows);
        for (cores, memory) in (1..=cores).flat_map(|cores| (0..=memory).map(move |it| (cores, it)))
        {
            let (all_free, request) = (free_of(&free), request(cores, memory));
            let devices = [fleet::DeviceGrant::default()];
            let grants = domain_grants(&node, &all_free, &request, &devices, Bounds::default());
            let held = |part: fn(&fleet::DomainGrant) -> u64| {
                let mut held = vec![0; count];
                grants.iter().for_each(|grant| held[grant.domain.index()] = part(grant) / UNIT);
                held
            };
            let found =
                far(&distances, &held(|held| held.cores.0), &held(|held| held.memory.0), device);
            let best = nearest(&distances, &free, (cores, memory), device);
            assert!(found >= best, "nothing is nearer than the nearest");
            all += 1;
            as_near += u32::from(found == best);
        }
    }
    (all, as_near)
}

fn node(count: usize, device: usize, rows: &str) -> Node {
    let domain = |at| {
        let attached = if at == device { "dev=0" } else { "" };
        format!("domain cores=2 mem=2Gi {attached}\n")
    };
    let domains: String = (0..count).map(domain).collect();
    let (cores, memory) = (2 * count, 2 * count);
    let text = format!(
        "class epyc cpu\nclass gpu0 gpu\nnode n cores={cores} mem={memory}Gi dev=gpu0\n{domains}\
         distances {rows}"
    );
    Node::clone(&sketch::snapshot(&text).unwrap().node(fleet::NodeId(0)).node)
}

fn free_of(free: &[(u64, u64)]) -> Free {
    let domain = |(cores, memory): &(u64, u64)| DomainFree {
        cores: MilliCores(cores * UNIT),
        memory: Bytes(memory * UNIT),
        ..DomainFree::default()
    };
    let domains: Vec<DomainFree> = free.iter().map(domain).collect();
    let cores = domains.iter().map(|free| free.cores).sum();
    let memory = domains.iter().map(|free| free.memory).sum();
    Free { cores, memory, domains, ..Free::default() }
}

fn request(cores: u64, memory: u64) -> Request {
    Request {
        cores: MilliCores(cores * UNIT),
        memory: Bytes(memory * UNIT),
        reach: Reach::Any,
        ..Request::default()
    }
}

#[test]
fn of_two_domains_the_rule_takes_the_nearest_way_there_is() {
    for device in [0, 1] {
        let (all, as_near) = compare(2, device);
        assert_eq!(all, as_near);
        assert!(all > 300);
    }
}

#[test]
fn of_three_domains_the_rule_seldom_takes_a_way_that_is_not_the_nearest() {
    for device in [0, 1] {
        let (all, as_near) = compare(3, device);
        println!("as near as can be on {as_near} of {all}");
        assert!(all > 5000 && u64::from(as_near) * 1000 >= u64::from(all) * 999);
    }
}
