//! What a sketch says of the inside of nodes: memory domains, their distances, and what runs hold
//! of them.

use std::sync::Arc;

use super::line::Line;
use super::{SketchError, WordFault};
use crate::id::{DeviceIndex, DomainIndex};
use crate::job::Request;
use crate::node::{Bounds, ChannelGrant, DeviceGrant, DomainGrant, Free, Node, channel_grants};
use crate::topology::{Domain, MemoryKind, Nic, PcieSwitch};
use crate::units::{Bandwidth, Milli};

/// Takes the words of a line about the inside of nodes, and adds it to what is known of them.
pub(super) fn read(line: &mut Line<'_>, nodes: &mut [(Node, bool)]) -> Result<(), SketchError> {
    let Some((first, _)) = nodes.first() else {
        return Err(line.fault(line.item(), WordFault::WithoutNode));
    };
    let mut topology = first.topology.as_deref().cloned().unwrap_or_default();
    match line.item() {
        "domain" => topology.domains.push(domain(line)?),
        "pcie" => topology.pcie.push(pcie(line)?),
        "nic" => topology.nics.push(nic(line)?),
        _ => topology.distances = distances(line)?,
    }
    let topology = Arc::new(topology);
    for (node, _) in nodes {
        node.topology = Some(Arc::clone(&topology));
    }
    Ok(())
}

fn domain(line: &mut Line<'_>) -> Result<Domain, SketchError> {
    let kind = line.value("kind")?.unwrap_or("dram");
    let fault = WordFault::Malformed { what: "a kind of memory", example: "kind=hbm" };
    let kind = MemoryKind::from_name(kind).ok_or_else(|| line.fault(kind, fault))?;
    let devices = devices(line)?;
    Ok(Domain {
        cores: line.quantity("cores")?.unwrap_or_default(),
        memory: line.quantity("mem")?.unwrap_or_default(),
        devices,
        kind,
        bandwidth: line.quantity("bw")?.unwrap_or_default(),
        latency_nanos: line.number("latency_nanos")?.unwrap_or_default(),
    })
}

fn pcie(line: &mut Line<'_>) -> Result<PcieSwitch, SketchError> {
    let bandwidth = line.quantity("bw")?;
    let missing = || line.fault("pcie", WordFault::Missing { what: "bw=" });
    let bandwidth = bandwidth.ok_or_else(missing)?;
    Ok(PcieSwitch { devices: devices(line)?, above: line.number("above")?, bandwidth })
}

fn nic(line: &mut Line<'_>) -> Result<Nic, SketchError> {
    let bandwidth = line.quantity("bw")?;
    let missing = || line.fault("nic", WordFault::Missing { what: "bw=" });
    let bandwidth = bandwidth.ok_or_else(missing)?;
    Ok(Nic { bandwidth, domain: line.number("in")?.map(DomainIndex) })
}

fn devices(line: &mut Line<'_>) -> Result<Vec<DeviceIndex>, SketchError> {
    let mut devices = Vec::new();
    for word in line.value("dev")?.into_iter().flat_map(|word| word.split(',')) {
        devices.push(DeviceIndex(line.whole(word)?));
    }
    devices.sort_unstable();
    Ok(devices)
}

/// One word a row, numbers with commas.
fn distances(line: &mut Line<'_>) -> Result<Vec<Vec<u8>>, SketchError> {
    let rows = line.rest();
    rows.iter().map(|row| row.split(',').map(|word| line.whole(word)).collect()).collect()
}

/// Takes `in=`, and says what a run holds inside its node: all of it in the domain that is named,
/// else in that of its first device, else in the first; and of channels what it states.
pub(super) fn granted(
    line: &mut Line<'_>,
    request: &Request,
    devices: &[DeviceGrant],
    node: &Node,
) -> Result<(Vec<DomainGrant>, Vec<ChannelGrant>), SketchError> {
    let named = line.value("in")?;
    let Some(topology) = node.topology.as_deref() else {
        let none = WordFault::DomainUnknown { domains: 0 };
        let found = (Vec::new(), Vec::new());
        return named.map_or(Ok(found), |word| Err(line.fault(word, none)));
    };
    let domain = match named {
        Some(word) => DomainIndex(line.whole(word)?),
        None => {
            devices.first().and_then(|held| topology.domain_of(held.device)).unwrap_or_default()
        }
    };
    let domains = topology.domains.len();
    if domain.index() >= domains && (named.is_some() || domains > 0) {
        let word = named.unwrap_or(line.item());
        return Err(line.fault(word, WordFault::DomainUnknown { domains }));
    }
    let Request { cores, memory, traffic, .. } = *request;
    let load = if memory.is_zero() { Bandwidth::ZERO } else { traffic.memory };
    let held = DomainGrant { domain, cores, memory, load };
    let held = if domains == 0 { Vec::new() } else { vec![held] };
    let free = Free { loads: vec![Bandwidth::ZERO; topology.channels()], ..Free::default() };
    let bounds = Bounds { single: Some(domain), oversubscribe: Milli(u32::MAX) };
    let channels = channel_grants(node, &free, request, (devices, &held), bounds);
    Ok((held, channels))
}
