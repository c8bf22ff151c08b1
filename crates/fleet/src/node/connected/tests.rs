use std::sync::Arc;

use super::*;
use crate::communication::Pattern;
use crate::sketch;
use crate::topology::Link;
use crate::units::{Bandwidth, Bytes};

/// A link of NVLink 2 in each direction.
const NVLINK2: u64 = 25_000_000_000;

/// How many NVLinks join each two of the eight V100 of a DGX-1, as `nvidia-smi topo -m` shows it.
const DGX1: [(u16, u16, u64); 16] = [
    (0, 1, 1),
    (0, 2, 1),
    (0, 3, 2),
    (0, 4, 2),
    (1, 2, 2),
    (1, 3, 1),
    (1, 5, 2),
    (2, 3, 2),
    (2, 6, 1),
    (3, 7, 1),
    (4, 5, 1),
    (4, 6, 1),
    (4, 7, 2),
    (5, 6, 2),
    (5, 7, 1),
    (6, 7, 2),
];

/// Two pairs, as on a POWER9 with four V100, or on a POWER8 with four P100 and two links a pair.
fn two_pairs(lanes: u64) -> Vec<(u16, u16, u64)> {
    vec![(0, 1, lanes), (2, 3, lanes)]
}

/// Sixteen V100 on switches, as in a DGX-2: each reaches each other with all its six links.
fn dgx2() -> Vec<(u16, u16, u64)> {
    (0..16).flat_map(|one| (one + 1..16).map(move |other| (one, other, 6))).collect()
}

/// Two groups of four with PCIe switches, of which one pair has a bridge.
fn bridged() -> Vec<(u16, u16, u64)> {
    vec![(4, 6, 4)]
}

fn machine(devices: u16, links: &[(u16, u16, u64)]) -> (Node, Free) {
    let text = format!("class x cpu\nclass v gpu\nnode n cores=8 mem=64Gi cpu=x dev=v*{devices}");
    let snapshot = sketch::snapshot(&text).expect("a sketch");
    let entry = snapshot.node(crate::NodeId(0));
    let mut node = Node::clone(&entry.node);
    let link = |(one, other, lanes): &(u16, u16, u64)| Link {
        ends: (DeviceIndex(*one), DeviceIndex(*other)),
        bandwidth: Bandwidth(lanes * NVLINK2),
    };
    let links = links.iter().map(link).collect();
    let host = Bandwidth(12_000_000_000);
    node.topology = Some(Arc::new(Topology { links, host, ..Topology::default() }));
    (node, entry.free.clone())
}

fn request(count: u32) -> DeviceRequest {
    DeviceRequest {
        kind: crate::DeviceKind::Gpu,
        count,
        share: crate::Milli::WHOLE,
        memory: Bytes::ZERO,
        models: Vec::new(),
        compute_units: 0,
        capability: None,
        profile: None,
    }
}

/// The devices that are chosen for this pattern while these are held.
fn chosen(links: &[(u16, u16, u64)], pattern: Pattern, count: u32, held: &[usize]) -> Vec<u16> {
    let devices = if links.len() == 120 { 16 } else { 8 };
    let (node, mut free) = machine(devices, links);
    held.iter().for_each(|device| free.devices[*device].share = crate::Milli::ZERO);
    let communication = Communication { pattern, bytes: Bytes(100_000_000) };
    let class = ClassId(1);
    let set = connected_devices((&node, &free), &request(count), class, &communication);
    set.expect("enough devices are free").devices().map(|device| device.0).collect()
}

#[test]
fn ring_of_four_on_a_hybrid_mesh_takes_one_of_its_two_quads() {
    assert_eq!(chosen(&DGX1, Pattern::Ring, 4, &[]), [0, 1, 2, 3]);
    assert_eq!(chosen(&DGX1, Pattern::Ring, 4, &[1]), [4, 5, 6, 7]);
    // One of each quad is held: four that stand on both sides still make a ring of links.
    assert_eq!(chosen(&DGX1, Pattern::Ring, 4, &[0, 5]), [2, 3, 6, 7]);
}

#[test]
fn pipeline_of_four_on_a_hybrid_mesh_takes_double_links() {
    // 0-3-2-1 are double links, and so are 7-4-0-3 and others; this one leaves a quad whole.
    assert_eq!(chosen(&DGX1, Pattern::Pipeline, 4, &[]), [0, 1, 2, 3]);
    assert_eq!(chosen(&DGX1, Pattern::Pipeline, 4, &[2, 6]), [0, 3, 4, 7]);
}

#[test]
fn pair_takes_a_double_link_and_leaves_the_most_links() {
    for pattern in Pattern::ALL {
        let pair = chosen(&DGX1, pattern, 2, &[]);
        let is_double = |link: &&(u16, u16, u64)| (link.0, link.1) == (pair[0], pair[1]);
        assert_eq!(DGX1.iter().find(is_double).map(|link| link.2), Some(2), "{pair:?}");
    }
    assert_eq!(chosen(&two_pairs(3), Pattern::Ring, 2, &[0]), [2, 3]);
    assert_eq!(chosen(&bridged(), Pattern::Ring, 2, &[]), [4, 6]);
}

#[test]
fn nothing_is_chosen_where_nothing_is_known_or_too_few_are_free() {
    let communication = Communication { pattern: Pattern::Ring, bytes: Bytes(1) };
    let class = ClassId(1);
    let ask = |node: &Node, free: &Free, count| {
        connected_devices((node, free), &request(count), class, &communication)
    };
    let (mut node, free) = machine(4, &two_pairs(1));
    assert_eq!(ask(&node, &free, 5), None);
    assert_eq!(ask(&node, &free, 1), None);
    node.topology = None;
    assert_eq!(ask(&node, &free, 2), None);
}

/// Every set of `count` of these.
fn sets(of: &[usize], count: usize) -> Vec<Vec<usize>> {
    match of {
        _ if count == 0 => vec![Vec::new()],
        [] => Vec::new(),
        [first, rest @ ..] => {
            let mut with = sets(rest, count - 1);
            with.iter_mut().for_each(|set| set.insert(0, *first));
            with.extend(sets(rest, count));
            with
        }
    }
}

/// Every order of these that begins with the first.
fn rings(of: &[usize]) -> Vec<Vec<usize>> {
    fn orders(of: &[usize]) -> Vec<Vec<usize>> {
        if of.is_empty() {
            return vec![Vec::new()];
        }
        let mut all = Vec::new();
        for (position, first) in of.iter().enumerate() {
            let rest: Vec<usize> = [&of[..position], &of[position + 1..]].concat();
            all.extend(orders(&rest).into_iter().map(|mut order| {
                order.insert(0, *first);
                order
            }));
        }
        all
    }
    let with_first = |mut order: Vec<usize>| {
        order.insert(0, of[0]);
        order
    };
    orders(&of[1..]).into_iter().map(with_first).collect()
}

/// The seconds of a ring of 100 MB, by adding up what passes where, for the best order.
fn ring_seconds(links: &[(u16, u16, u64)], set: &[usize]) -> f64 {
    let lanes = |one: usize, other: usize| {
        let joins = |link: &&(u16, u16, u64)| {
            let (low, high) = (one.min(other), one.max(other));
            (usize::from(link.0), usize::from(link.1)) == (low, high)
        };
        links.iter().find(joins).map_or(0, |link| link.2)
    };
    let bytes = 2.0 * (set.len() as f64 - 1.0) / set.len() as f64 * 1e8;
    let time = |order: &Vec<usize>| {
        let (mut host, mut slowest) = (0.0, 0.0_f64);
        for (position, one) in order.iter().enumerate() {
            match lanes(*one, order[(position + 1) % order.len()]) {
                0 => host += bytes / 12e9,
                lanes => slowest = slowest.max(bytes / (lanes * NVLINK2) as f64),
            }
        }
        slowest.max(host)
    };
    rings(set).iter().map(time).fold(f64::INFINITY, f64::min)
}

#[test]
fn ring_is_on_a_set_that_no_other_beats() {
    let machines = [(8, DGX1.to_vec()), (4, two_pairs(2)), (8, bridged()), (16, dgx2())];
    for (devices, links) in machines {
        let all: Vec<usize> = (0..devices).collect();
        let counts = if devices == 16 { 2..4 } else { 2..devices + 1 };
        for count in counts {
            let held: Vec<usize> = if devices == 4 { Vec::from([4, 5, 6, 7]) } else { Vec::new() };
            let found = chosen(&links, Pattern::Ring, u32::try_from(count).unwrap(), &held);
            let found: Vec<usize> = found.into_iter().map(usize::from).collect();
            let best = sets(&all, count)
                .iter()
                .map(|set| ring_seconds(&links, set))
                .fold(f64::INFINITY, f64::min);
            let taken = ring_seconds(&links, &found);
            assert!((taken - best).abs() < 1e-9, "{devices} {count} {found:?}: {taken} {best}");
        }
    }
}

#[test]
fn eight_of_sixteen_on_switches_run_at_the_speed_of_their_links() {
    let (node, _) = machine(16, &dgx2());
    let found = chosen(&dgx2(), Pattern::Ring, 8, &[3]);
    let members: Vec<DeviceIndex> = found.into_iter().map(DeviceIndex).collect();
    let communication = Communication { pattern: Pattern::Ring, bytes: Bytes(100_000_000) };
    let step = node.topology.unwrap().fabric(&members).step(&communication);
    // 175 MB over six links.
    assert_eq!(step, 1_166_667);
}
