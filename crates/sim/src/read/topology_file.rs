//! `[node.topology]` of a fleet file: what nodes are like inside.

use std::sync::Arc;

use fleet::topology::DOMAINS_MAX;
use fleet::{DeviceIndex, Domain, MemoryKind, Node, Topology, TopologyFault};
use serde::Deserialize;

use super::error::{Within, Wrong, list};
use super::fault::Fault;
use super::raw::{Raw, Strict, optional, text, whole};

/// `[node.topology]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TopologyText {
    domain: Option<Vec<Strict<DomainText>>>,
    distances: Option<Vec<Vec<Raw>>>,
}

/// `[[node.topology.domain]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainText {
    cores: Option<Raw>,
    memory: Option<Raw>,
    devices: Option<Vec<Raw>>,
    kind: Option<Raw>,
    bandwidth: Option<Raw>,
    latency_nanos: Option<Raw>,
}

/// The topology of a node with what is told of its domains, which must be its own. What the node
/// has already, such as its links, stays.
pub(super) fn topology(
    told: Option<&Strict<TopologyText>>,
    node: &Node,
) -> Result<Option<Arc<Topology>>, Wrong> {
    let Some(Strict(told)) = told else { return Ok(node.topology.clone()) };
    let texts = told.domain.as_deref().unwrap_or_default();
    if texts.len() > DOMAINS_MAX {
        let given = texts.len().to_string();
        return Err(Wrong::at("domain", Fault::Range { given, wanted: "at most 256 of them" }));
    }
    let numbered = texts.iter().enumerate();
    let domains = numbered.map(|(at, Strict(text))| domain(text).within_item(at));
    let domains = domains.collect::<Result<_, _>>().within("domain")?;
    let distances = distances(told.distances.as_deref()).within("distances")?;
    let wiring = node.topology.as_deref().cloned().unwrap_or_default();
    let topology = Topology { domains, distances, ..wiring };
    match topology.fault(node) {
        Some(fault) => Err(locate(fault)),
        None => Ok(Some(Arc::new(topology))),
    }
}

fn domain(told: &DomainText) -> Result<Domain, Wrong> {
    let kind = told.kind.as_ref().map(memory_kind).transpose().within("kind")?;
    let wanted = "the number of a device of the node, counted from 0";
    let devices = told.devices.iter().flatten().enumerate();
    let devices = devices.map(|(at, raw)| whole(raw, 0, wanted).map(DeviceIndex).within_item(at));
    let mut devices: Vec<DeviceIndex> = devices.collect::<Result<_, _>>().within("devices")?;
    devices.sort_unstable();
    let wanted = "a whole number of nanoseconds from 1 to 4294967295";
    let latency = told.latency_nanos.as_ref().map(|raw| whole(raw, 1, wanted));
    Ok(Domain {
        cores: optional(told.cores.as_ref(), "cores")?.unwrap_or_default(),
        memory: optional(told.memory.as_ref(), "memory")?.unwrap_or_default(),
        devices,
        kind: kind.unwrap_or_default(),
        bandwidth: optional(told.bandwidth.as_ref(), "bandwidth")?.unwrap_or_default(),
        latency_nanos: latency.transpose().within("latency_nanos")?.unwrap_or(0),
    })
}

fn memory_kind(raw: &Raw) -> Result<MemoryKind, Wrong> {
    let given = text(raw, "a kind of memory in quotes")?;
    MemoryKind::from_name(given).ok_or_else(|| {
        let words = list(MemoryKind::ALL.iter().map(|kind| kind.name()));
        Wrong::here(Fault::Word { given: given.to_owned(), words })
    })
}

fn distances(rows: Option<&[Vec<Raw>]>) -> Result<Vec<Vec<u8>>, Wrong> {
    let distance =
        |(at, raw): (usize, &Raw)| whole(raw, 10, "a whole number from 10 to 254").within_item(at);
    let row = |(at, row): (usize, &Vec<Raw>)| {
        row.iter().enumerate().map(distance).collect::<Result<_, _>>().within_item(at)
    };
    rows.unwrap_or_default().iter().enumerate().map(row).collect()
}

/// The fault with the path to where it is.
fn locate(fault: TopologyFault) -> Wrong {
    let wrong = |item: Option<usize>, field: &str| {
        let found: Result<(), Wrong> = Err(Wrong::here(Fault::Topology(fault.clone())));
        let found = match item {
            Some(item) => found.within_item(item),
            None => found,
        };
        found.within(field).expect_err("it is wrong")
    };
    match fault {
        TopologyFault::Cores { .. }
        | TopologyFault::Memory { .. }
        | TopologyFault::DeviceTwice { .. } => wrong(None, "domain"),
        TopologyFault::Nothing { domain } | TopologyFault::DeviceUnknown { domain, .. } => {
            wrong(Some(domain), "domain")
        }
        TopologyFault::NotSquare { row, .. } | TopologyFault::Distance { from: row, .. } => {
            wrong(Some(row), "distances")
        }
    }
}
