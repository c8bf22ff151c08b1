//! A node, made of what was found.
//!
//! The node has what this process may use: a core for each core with a usable
//! thread, the memory of the domains that it may have memory in, narrowed to
//! what its control group allows. A domain with neither is left out, and so is
//! memory of a device, which belongs to the device. Beside the node stand the
//! numbers that the system has for its parts, in the node's order.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::topology::DOMAINS_MAX;
use fleet::{
    Bytes, ClassId, Classes, DeviceClass, DeviceIndex, DeviceKind, MemoryKind, MilliCores, Node,
    NodeId, Power, ShareRule,
};

use crate::devices::Device;
use crate::error::ProbeError;
use crate::topology::{DomainKind, Topology};

/// A node and what its parts are called by the system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Survey {
    /// The node, with the id 0.
    pub node: Node,
    /// The classes of its cores and devices, by model.
    pub classes: Classes,
    /// The number of each domain of the node, in its order.
    pub domains: Vec<u32>,
    /// The devices of the node, in its order.
    pub devices: Vec<Device>,
}

/// As many as a fleet file may give a node.
const DEVICES_MAX: usize = 1024;

/// The model of cores of which nobody says what they are.
const UNNAMED: &str = "cpu";

impl Survey {
    /// Makes a node of this name. The devices are numbered in the order in which they are given.
    ///
    /// # Errors
    /// If there is no core or no memory that this process may use, or more of something than a node
    /// can have.
    pub fn new(name: &str, topology: &Topology, devices: Vec<Device>) -> Result<Self, ProbeError> {
        bound("devices", devices.len(), DEVICES_MAX)?;
        let classes = classes(topology, &devices);
        let all = 0..topology.domains.len();
        let mut domains: Vec<_> = all.map(|one| domain(topology, one, &devices)).collect();
        narrow(topology, &mut domains)?;
        let has_any = |one: &fleet::Domain| !one.cores.is_zero() || !one.memory.is_zero();
        let (kept, domains): (Vec<_>, Vec<_>) =
            domains.into_iter().enumerate().filter(|(_, one)| has_any(one)).unzip();
        bound("memory domains", kept.len(), DOMAINS_MAX)?;
        let class_of = |model: &str| classes.find(model).unwrap_or(ClassId(0));
        let node = Node {
            id: NodeId(0),
            name: name.to_owned(),
            cpu: class_of(cpu_model(topology)),
            cores: domains.iter().map(|domain| domain.cores).sum(),
            memory: domains.iter().map(|domain| domain.memory).sum(),
            devices: devices.iter().map(|device| class_of(&device.model)).collect(),
            labels: BTreeMap::new(),
            power: Power::default(),
            socket: MilliCores::ZERO,
            network: fleet::Bandwidth::ZERO,
            topology: Some(Arc::new(fleet::Topology {
                domains,
                distances: distances(topology, &kept),
                ..fleet::Topology::default()
            })),
            attachment: None,
        };
        let domains = kept.iter().map(|position| topology.domains[*position].number).collect();
        Ok(Self { node, classes, domains, devices })
    }
}

fn bound(what: &'static str, found: usize, most: usize) -> Result<(), ProbeError> {
    if found > most { Err(ProbeError::TooMany { what, found, most }) } else { Ok(()) }
}

fn cpu_model(topology: &Topology) -> &str {
    if topology.model.is_empty() { UNNAMED } else { &topology.model }
}

/// What this process may use of a domain.
fn domain(topology: &Topology, position: usize, devices: &[Device]) -> fleet::Domain {
    let found = &topology.domains[position];
    let cores = topology.usable().filter(|core| core.domain == found.number).count();
    let attached = (0..=u16::MAX).zip(devices).filter(|(_, one)| one.domain == Some(found.number));
    fleet::Domain {
        cores: MilliCores(cores as u64 * 1000),
        memory: if found.is_usable { found.memory } else { Bytes::ZERO },
        devices: attached.map(|(index, _)| DeviceIndex(index)).collect(),
        kind: memory_kind(found.kind),
        bandwidth: found.bandwidth,
        latency_nanos: found.latency_nanos,
    }
}

/// A fleet knows three kinds. Lasting memory is slower than ordinary memory and no task asks for
/// it, so it is taken last, like memory behind a link.
fn memory_kind(kind: DomainKind) -> MemoryKind {
    match kind {
        DomainKind::Dram | DomainKind::Device => MemoryKind::Dram,
        DomainKind::Hbm => MemoryKind::Hbm,
        DomainKind::Cxl | DomainKind::Persistent => MemoryKind::Cxl,
    }
}

/// Narrows cores and memory to what the control group allows, from all domains in proportion,
/// since the group does not say in which it is to be used.
fn narrow(topology: &Topology, domains: &mut [fleet::Domain]) -> Result<(), ProbeError> {
    let mut cores: Vec<u64> = domains.iter().map(|domain| domain.cores.0).collect();
    let mut memory: Vec<u64> = domains.iter().map(|domain| domain.memory.0).collect();
    if let Some(MilliCores(most)) = topology.confines.cores {
        shrink(&mut cores, most);
    }
    if let Some(Bytes(most)) = topology.confines.memory {
        shrink(&mut memory, most);
    }
    for (what, parts) in [("core", &cores), ("memory", &memory)] {
        if parts.iter().all(|part| *part == 0) {
            return Err(ProbeError::Nothing { what });
        }
    }
    for (domain, (cores, memory)) in domains.iter_mut().zip(cores.into_iter().zip(memory)) {
        (domain.cores, domain.memory) = (MilliCores(cores), Bytes(memory));
    }
    Ok(())
}

/// Makes parts add up to `most` where they are more; what does not divide goes to the first ones.
fn shrink(parts: &mut [u64], most: u64) {
    let whole: u128 = parts.iter().map(|part| u128::from(*part)).sum();
    if whole <= u128::from(most) {
        return;
    }
    let share = |part: &u64| u128::from(*part) * u128::from(most) / whole;
    let shares: Vec<u64> =
        parts.iter().map(|part| u64::try_from(share(part)).unwrap_or(*part)).collect();
    let mut left = most - shares.iter().sum::<u64>();
    for (part, share) in parts.iter_mut().zip(shares) {
        let more = left.min(*part - share);
        (*part, left) = (share + more, left - more);
    }
}

/// The distances between the domains that are kept. Firmware writes 255 for what cannot be reached;
/// a fleet's farthest is 254.
fn distances(topology: &Topology, kept: &[usize]) -> Vec<Vec<u8>> {
    if topology.distances.is_empty() {
        return Vec::new();
    }
    let row = |from: &usize| {
        kept.iter().map(|to| topology.distances[*from][*to].min(u8::MAX - 1)).collect()
    };
    kept.iter().map(row).collect()
}

/// The classes, sorted by model. Devices of one model are one class, whose memory is that of the
/// one with the least, and not known where that of one is not.
fn classes(topology: &Topology, devices: &[Device]) -> Classes {
    let mut classes = BTreeMap::new();
    let cpu = cpu_model(topology).to_owned();
    classes.insert(cpu.clone(), class(cpu, DeviceKind::Cpu, Bytes::ZERO));
    for device in devices {
        let memory = device.memory.unwrap_or_default();
        let new = || class(device.model.clone(), DeviceKind::Gpu, memory);
        let known = classes.entry(device.model.clone()).or_insert_with(new);
        known.memory = known.memory.min(memory);
    }
    Classes(classes.into_values().collect())
}

fn class(model: String, kind: DeviceKind, memory: Bytes) -> DeviceClass {
    DeviceClass {
        model,
        kind,
        memory,
        compute_units: 0,
        capabilities: BTreeSet::new(),
        share: ShareRule::Exclusive,
        profiles: Vec::new(),
        power: Power::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_shrink_in_proportion_and_add_up() {
        let shrunk = |mut parts: Vec<u64>, most| {
            shrink(&mut parts, most);
            parts
        };
        assert_eq!(shrunk(vec![2000, 2000], 1500), [750, 750]);
        assert_eq!(shrunk(vec![0, 1000, 2000], 1000), [0, 334, 666]);
        assert_eq!(shrunk(vec![5, 5], 10), [5, 5]);
        assert_eq!(
            shrunk(vec![u64::MAX, u64::MAX], u64::MAX - 1).iter().sum::<u64>(),
            u64::MAX - 1
        );
        assert_eq!(shrunk(vec![3, 3], 0), [0, 0]);
        assert_eq!(shrunk(vec![1, 1, 1, 10], 12), [1, 1, 1, 9]);
    }
}
