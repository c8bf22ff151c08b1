//! What nodes are like inside, what tasks ask of that, and what runs hold of it.

use fleet::{
    Alternative, Bandwidth, Bytes, DeviceIndex, Domain, DomainGrant, DomainIndex, Free, MemoryKind,
    MilliCores, Node, Topology, Traffic,
};

use crate::dice::Dice;

const GB_PER_SECOND: u64 = 1_000_000_000;

/// One to four domains that share out the cores and the memory of the node, evenly or not, with
/// some of its devices attached.
pub(crate) fn topology(node: &Node, dice: &mut Dice) -> Topology {
    let mut domains: Vec<Domain> = Vec::new();
    let (mut cores, mut memory) = (node.cores.0, node.memory.0);
    let parts = dice.pick(&[2_u64, 2, 1, 3, 4]);
    for left in (1..=parts).rev() {
        let share = |all: u64, dice: &mut Dice| match (left, dice.below(4)) {
            (1, _) => all,
            (_, 0) => 0,
            _ => all / left,
        };
        let taken = (share(cores, dice), share(memory, dice));
        cores -= taken.0;
        memory -= taken.1;
        if taken == (0, 0) {
            continue;
        }
        domains.push(Domain {
            cores: MilliCores(taken.0),
            memory: Bytes(taken.1),
            devices: Vec::new(),
            kind: dice.pick(&[
                MemoryKind::Dram,
                MemoryKind::Dram,
                MemoryKind::Hbm,
                MemoryKind::Cxl,
            ]),
            bandwidth: Bandwidth(dice.pick(&[0, 20, 40, 20]) * GB_PER_SECOND),
            latency_nanos: dice.pick(&[0, 100, 250]),
        });
    }
    for device in (0..).map(DeviceIndex).take(node.devices.len()) {
        if !dice.percent(15) {
            let at = dice.index(domains.len());
            domains[at].devices.push(device);
        }
    }
    let count = domains.len();
    let far = dice.pick(&[12, 21, 32]);
    let distance = |from, to| if from == to { 10 } else { far + u8::from(from < to) };
    let row = |from| (0..count).map(|to| distance(from, to)).collect();
    let distances = if dice.percent(25) { Vec::new() } else { (0..count).map(row).collect() };
    Topology { domains, distances, ..Topology::default() }
}

/// What a task moves in a second; mostly it does not say.
pub(crate) fn traffic(dice: &mut Dice) -> Traffic {
    Traffic { memory: Bandwidth(dice.pick(&[0, 0, 0, 5, 15, 30]) * GB_PER_SECOND) }
}

/// Any domains that would hold what is asked; a body may have chosen them.
pub(crate) fn some_domains(
    alternative: &Alternative,
    node: &Node,
    free: &Free,
) -> Option<Vec<DomainGrant>> {
    let domains = node.topology.as_ref().map_or(0, |topology| topology.domains.len());
    if domains == 0 {
        return Some(Vec::new());
    }
    let request = &alternative.request;
    let (mut cores, mut memory) = (request.cores, request.memory);
    let mut grants = Vec::new();
    for (domain, left) in (0..).map(DomainIndex).zip(&free.domains) {
        let held =
            DomainGrant { domain, cores: cores.min(left.cores), memory: memory.min(left.memory) };
        cores -= held.cores;
        memory -= held.memory;
        if !held.cores.is_zero() || !held.memory.is_zero() {
            grants.push(held);
        }
    }
    (cores.is_zero() && memory.is_zero()).then_some(grants)
}
