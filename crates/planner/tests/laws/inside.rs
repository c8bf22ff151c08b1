//! What nodes are like inside, what tasks ask of that, and what runs hold of it.

use fleet::{
    Alternative, Bandwidth, Bytes, ChannelGrant, ChannelIndex, DeviceIndex, Domain, DomainGrant,
    DomainIndex, Free, MemoryKind, Milli, MilliCores, Nic, Node, PcieSwitch, Profile, Topology,
    Traffic,
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
    let (pcie, nics) = (pcie(node, dice), nics(count, dice));
    Topology { domains, distances, pcie, nics, ..Topology::default() }
}

/// Now and then up to three PCIe switches, some below the first, with most devices below them.
fn pcie(node: &Node, dice: &mut Dice) -> Vec<PcieSwitch> {
    let count = dice.pick(&[2_u16, 0, 3, 1]);
    let switch = |at: u16, dice: &mut Dice| PcieSwitch {
        devices: Vec::new(),
        above: (at > 0 && dice.percent(60)).then_some(0),
        bandwidth: Bandwidth(dice.pick(&[16, 8, 32]) * GB_PER_SECOND),
    };
    let mut switches: Vec<_> = (0..count).map(|at| switch(at, dice)).collect();
    for device in (0..).map(DeviceIndex).take(node.devices.len()) {
        if !switches.is_empty() && !dice.percent(15) {
            let at = dice.index(switches.len());
            switches[at].devices.push(device);
        }
    }
    switches
}

fn nics(domains: usize, dice: &mut Dice) -> Vec<Nic> {
    let nic = |dice: &mut Dice| Nic {
        bandwidth: Bandwidth(dice.pick(&[12, 25]) * GB_PER_SECOND),
        domain: dice
            .percent(50)
            .then(|| DomainIndex(u16::try_from(dice.index(domains)).expect("few domains"))),
    };
    (0..dice.pick(&[1, 0, 2])).map(|_| nic(dice)).collect()
}

/// What a task moves in a second; mostly it does not say.
pub(crate) fn traffic(dice: &mut Dice) -> Traffic {
    let mut some = |amounts: &[u64]| Bandwidth(dice.pick(amounts) * GB_PER_SECOND);
    Traffic {
        memory: some(&[0, 0, 0, 5, 15, 30, 50]),
        pcie: some(&[0, 0, 0, 3, 7, 12]),
        network: some(&[0, 0, 0, 5, 10, 20]),
    }
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
        let held = DomainGrant {
            domain,
            cores: cores.min(left.cores),
            memory: memory.min(left.memory),
            load: Bandwidth::ZERO,
        };
        cores -= held.cores;
        memory -= held.memory;
        if !held.cores.is_zero() || !held.memory.is_zero() {
            grants.push(held);
        }
    }
    (cores.is_zero() && memory.is_zero()).then_some(grants)
}

/// Some load on every channel; a body may have put more on them than we would.
pub(crate) fn some_channels(node: &Node, load: u32) -> Vec<ChannelGrant> {
    let channels = node.topology.as_ref().map_or(0, |topology| topology.channels());
    let bandwidth = Bandwidth(u64::from(load) * GB_PER_SECOND);
    let grant = |channel| ChannelGrant { channel, bandwidth };
    let all = (0..).map(ChannelIndex).take(channels).map(grant);
    all.filter(|held| !held.bandwidth.is_zero()).collect()
}

/// A few sizes of slices, as on an A100 of 40 GB.
pub(crate) fn profiles() -> Vec<Profile> {
    let profile = |name: &str, sevenths: u32, gib: u64, slots, places: &[u8]| Profile {
        name: name.to_owned(),
        share: Milli(1000 * sevenths / 7),
        memory: Bytes(gib << 30),
        slots,
        places: places.to_vec(),
    };
    vec![
        profile("1g", 1, 5, 1, &[0, 1, 2, 3, 4, 5, 6]),
        profile("2g", 2, 10, 2, &[0, 2, 4]),
        profile("3g", 3, 20, 4, &[0, 4]),
        profile("7g", 7, 40, 8, &[0]),
    ]
}
