//! `[node.topology]` of a fleet file: what nodes are like inside.

use std::sync::Arc;

use fleet::topology::{CHANNELS_MAX, DOMAINS_MAX, pcie_bandwidth};
use fleet::{
    Bandwidth, DeviceIndex, Domain, DomainIndex, MemoryKind, Nic, Node, PcieSwitch, Topology,
    TopologyFault,
};
use serde::Deserialize;

use super::error::{Within, Wrong, list};
use super::fault::Fault;
use super::raw::{Raw, Strict, optional, quantity, text, whole};

/// `[node.topology]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TopologyText {
    domain: Option<Vec<Strict<DomainText>>>,
    distances: Option<Vec<Vec<Raw>>>,
    pcie: Option<Vec<Strict<PcieText>>>,
    nic: Option<Vec<Strict<NicText>>>,
}

/// `[[node.topology.pcie]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PcieText {
    devices: Option<Vec<Raw>>,
    above: Option<Raw>,
    generation: Option<Raw>,
    width: Option<Raw>,
    bandwidth: Option<Raw>,
}

/// `[[node.topology.nic]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NicText {
    bandwidth: Option<Raw>,
    domain: Option<Raw>,
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
    let most = (DOMAINS_MAX, "at most 256 of them");
    let domains = each(told.domain.as_deref(), most, domain).within("domain")?;
    let most = (CHANNELS_MAX, "at most 1024 of them");
    let wiring = node.topology.as_deref().cloned().unwrap_or_default();
    let topology = Topology {
        domains,
        distances: distances(told.distances.as_deref()).within("distances")?,
        pcie: each(told.pcie.as_deref(), most, pcie).within("pcie")?,
        nics: each(told.nic.as_deref(), most, nic).within("nic")?,
        ..wiring
    };
    match topology.fault(node) {
        Some(fault) => Err(locate(fault)),
        None => Ok(Some(Arc::new(topology))),
    }
}

/// Each of a list of tables, of which there are not too many.
fn each<T, U>(
    told: Option<&[Strict<T>]>,
    (most, wanted): (usize, &'static str),
    read: impl Fn(&T) -> Result<U, Wrong>,
) -> Result<Vec<U>, Wrong> {
    let texts = told.unwrap_or_default();
    if texts.len() > most {
        return Err(Wrong::here(Fault::Range { given: texts.len().to_string(), wanted }));
    }
    texts.iter().enumerate().map(|(at, Strict(text))| read(text).within_item(at)).collect()
}

fn pcie(told: &PcieText) -> Result<PcieSwitch, Wrong> {
    let wanted = "the number of a switch, counted from 0";
    let above = told.above.as_ref().map(|raw| whole(raw, 0, wanted));
    Ok(PcieSwitch {
        devices: devices(told.devices.as_ref())?,
        above: above.transpose().within("above")?,
        bandwidth: passes(told)?,
    })
}

/// What passes a PCIe link: as it is given, or by its generation and width.
fn passes(told: &PcieText) -> Result<Bandwidth, Wrong> {
    let advice =
        "give both generation and width, like generation = 4 and width = 16, or a bandwidth";
    match (&told.generation, &told.width, &told.bandwidth) {
        (None, None, Some(raw)) => quantity(raw).within("bandwidth"),
        (Some(generation), Some(width), None) => {
            let lanes = whole(width, 1, LANES).within("width")?;
            let given = whole(generation, 1, GENERATIONS).within("generation")?;
            pcie_bandwidth(given, lanes).ok_or_else(|| match given {
                1..=6 => Wrong::at("width", out_of(width, LANES)),
                _ => Wrong::at("generation", out_of(generation, GENERATIONS)),
            })
        }
        (.., Some(_)) => {
            let reason = "generation and width say what passes";
            Err(Wrong::at("bandwidth", Fault::Idle { reason }))
        }
        (None, ..) => Err(Wrong::at("generation", Fault::Missing { advice })),
        (_, None, _) => Err(Wrong::at("width", Fault::Missing { advice })),
    }
}

const GENERATIONS: &str = "a PCIe generation from 1 to 6";
const LANES: &str = "a number of lanes: 1, 2, 4, 8, 12, 16 or 32";

fn out_of(raw: &Raw, wanted: &'static str) -> Fault {
    Fault::Range { given: raw.to_string(), wanted }
}

fn nic(told: &NicText) -> Result<Nic, Wrong> {
    let advice = "say what passes, like \"100Gbit/s\"";
    let missing = || Wrong::at("bandwidth", Fault::Missing { advice });
    let bandwidth = optional(told.bandwidth.as_ref(), "bandwidth")?.ok_or_else(missing)?;
    let wanted = "the number of a domain, counted from 0";
    let domain = told.domain.as_ref().map(|raw| whole(raw, 0, wanted).map(DomainIndex));
    Ok(Nic { bandwidth, domain: domain.transpose().within("domain")? })
}

fn devices(told: Option<&Vec<Raw>>) -> Result<Vec<DeviceIndex>, Wrong> {
    let wanted = "the number of a device of the node, counted from 0";
    let devices = told.into_iter().flatten().enumerate();
    let devices = devices.map(|(at, raw)| whole(raw, 0, wanted).map(DeviceIndex).within_item(at));
    let mut devices: Vec<DeviceIndex> = devices.collect::<Result<_, _>>().within("devices")?;
    devices.sort_unstable();
    Ok(devices)
}

fn domain(told: &DomainText) -> Result<Domain, Wrong> {
    let kind = told.kind.as_ref().map(memory_kind).transpose().within("kind")?;
    let wanted = "a whole number of nanoseconds from 1 to 4294967295";
    let latency = told.latency_nanos.as_ref().map(|raw| whole(raw, 1, wanted));
    Ok(Domain {
        cores: optional(told.cores.as_ref(), "cores")?.unwrap_or_default(),
        memory: optional(told.memory.as_ref(), "memory")?.unwrap_or_default(),
        devices: devices(told.devices.as_ref())?,
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
        TopologyFault::SwitchAbove { switch, .. }
        | TopologyFault::SwitchIdle { switch }
        | TopologyFault::SwitchDevice { switch, .. }
        | TopologyFault::SwitchDeviceTwice { switch, .. } => wrong(Some(switch), "pcie"),
        TopologyFault::NicDomain { nic, .. } | TopologyFault::NicIdle { nic } => {
            wrong(Some(nic), "nic")
        }
    }
}
