//! What a sketch says of the inside of nodes: memory domains, their distances, and what runs hold
//! of them.

use std::sync::Arc;

use super::line::Line;
use super::{SketchError, WordFault};
use crate::id::{DeviceIndex, DomainIndex};
use crate::node::{DeviceGrant, DomainGrant, Node};
use crate::topology::{Domain, MemoryKind};
use crate::units::{Bytes, MilliCores};

/// Takes the words of a line about the inside of nodes, and adds it to what is known of them.
pub(super) fn read(line: &mut Line<'_>, nodes: &mut [(Node, bool)]) -> Result<(), SketchError> {
    let Some((first, _)) = nodes.first() else {
        return Err(line.fault(line.item(), WordFault::WithoutNode));
    };
    let mut topology = first.topology.as_deref().cloned().unwrap_or_default();
    match line.item() {
        "domain" => topology.domains.push(domain(line)?),
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
    let mut devices = Vec::new();
    for word in line.value("dev")?.into_iter().flat_map(|word| word.split(',')) {
        devices.push(DeviceIndex(line.whole(word)?));
    }
    devices.sort_unstable();
    Ok(Domain {
        cores: line.quantity("cores")?.unwrap_or_default(),
        memory: line.quantity("mem")?.unwrap_or_default(),
        devices,
        kind,
        bandwidth: line.quantity("bw")?.unwrap_or_default(),
        latency_nanos: line.number("latency_nanos")?.unwrap_or_default(),
    })
}

/// One word a row, numbers with commas.
fn distances(line: &mut Line<'_>) -> Result<Vec<Vec<u8>>, SketchError> {
    let rows = line.rest();
    rows.iter().map(|row| row.split(',').map(|word| line.whole(word)).collect()).collect()
}

/// Takes `in=`, and says what a run holds of domains: all of it in the one that is named, else in
/// that of its first device, else in the first.
pub(super) fn granted(
    line: &mut Line<'_>,
    (cores, memory): (MilliCores, Bytes),
    devices: &[DeviceGrant],
    node: &Node,
) -> Result<Vec<DomainGrant>, SketchError> {
    let named = line.value("in")?;
    let topology = node.topology.as_deref().filter(|topology| !topology.domains.is_empty());
    let Some(topology) = topology else {
        let none = WordFault::DomainUnknown { domains: 0 };
        return named.map_or(Ok(Vec::new()), |word| Err(line.fault(word, none)));
    };
    let domain = match named {
        Some(word) => DomainIndex(line.whole(word)?),
        None => {
            devices.first().and_then(|held| topology.domain_of(held.device)).unwrap_or_default()
        }
    };
    let domains = topology.domains.len();
    if domain.index() >= domains {
        let word = named.unwrap_or(line.item());
        return Err(line.fault(word, WordFault::DomainUnknown { domains }));
    }
    Ok(vec![DomainGrant { domain, cores, memory }])
}
