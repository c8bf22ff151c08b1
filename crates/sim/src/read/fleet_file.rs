//! Motley's fleet file: TOML into an inventory.
//!
//! The text types say what may be written; `docs/files.md` says what it means.
//! Classes are numbered by model, and the devices of a node stand in the same
//! order, so that the order of lines in the file decides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::units::Milliwatts;
use fleet::{
    Bandwidth, Bytes, ClassId, DeviceClass, DeviceKind, MilliCores, Node, NodeId, Power, Topology,
};
use serde::Deserialize;

use super::document::{Document, Entry, decode};
use super::error::{BadLine, ReadError, Within, Wrong, list};
use super::fault::Fault;
use super::links::{LinkText, topology as topology_of};
use super::nodes::{CLASSES_MAX, DEVICES_MAX, NODES_MAX, Nodes};
use super::notebook::Notebook;
use super::profiles::{self, ProfileText};
use super::raw::{
    Raw, Strict, Table, check_name, labels, name, names, optional, quantity, required_name, whole,
};
use super::switches::Switches;
use super::topology_file::{TopologyText, topology};
use crate::workload::Inventory;

/// The most cores of one node, so that a fleet's total stays within its integer.
const CORES_MAX: MilliCores = MilliCores(1_000_000_000);

/// `[device.MODEL]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DeviceText {
    kind: Option<Raw>,
    memory: Option<Raw>,
    compute_units: Option<Raw>,
    capabilities: Option<Vec<Raw>>,
    share: Option<Raw>,
    profile: Option<Vec<Strict<ProfileText>>>,
    power: Option<Strict<PowerText>>,
}

/// `[[node]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NodeText {
    name: Option<Raw>,
    count: Option<Raw>,
    cpu: Option<Raw>,
    cores: Option<Raw>,
    memory: Option<Raw>,
    devices: Option<Table<Raw>>,
    labels: Option<Table<Raw>>,
    power: Option<Strict<PowerText>>,
    socket: Option<Raw>,
    network: Option<Raw>,
    links: Option<Vec<Strict<LinkText>>>,
    host_bandwidth: Option<Raw>,
    interface: Option<Raw>,
    switch: Option<Raw>,
    topology: Option<Strict<TopologyText>>,
}

/// `power = { … }`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PowerText {
    idle: Option<Raw>,
    busy: Option<Raw>,
}

/// Reads a fleet file.
pub(super) fn read(bytes: Vec<u8>, notebook: &mut Notebook) -> Result<Inventory, ReadError> {
    let whole_file = |bad| notebook.refuse(bad);
    let text = decode(bytes).map_err(whole_file)?;
    let document = Document::parse(&text, &["device", "switch", "node"]).map_err(whole_file)?;
    let devices = document.tables("device").map_err(whole_file)?;
    let switches = document.tables("switch").map_err(whole_file)?;
    let entries = document.list("node").map_err(whole_file)?;
    let classes = read_classes(&devices, notebook)?;
    let switches = Switches::read(&switches, notebook)?;
    let mut nodes = Nodes::new(classes, "name");
    for entry in &entries {
        if let Err(bad) = read_node(entry, &switches, &mut nodes, notebook)? {
            notebook.skip(bad)?;
        }
    }
    note_idle_classes(&nodes, notebook);
    nodes.finish(notebook)
}

fn read_classes(
    devices: &[(&str, Entry<'_, '_>)],
    notebook: &mut Notebook,
) -> Result<Vec<DeviceClass>, ReadError> {
    let mut classes = Vec::new();
    for (model, entry) in devices {
        if classes.len() == CLASSES_MAX {
            return Err(notebook.too_many(entry.line(), "device models", CLASSES_MAX as u64));
        }
        let read = |text| class(model, &text).map_err(|wrong| entry.locate(wrong));
        match entry.read().and_then(read) {
            Ok(class) => classes.push(class),
            Err(bad) => notebook.skip(bad)?,
        }
    }
    Ok(classes)
}

fn class(model: &str, text: &DeviceText) -> Result<DeviceClass, Wrong> {
    check_name(model)?;
    let kind = kind(text.kind.as_ref())?;
    if kind == DeviceKind::Cpu {
        refuse_for_cpu(text)?;
    }
    let units = text.compute_units.as_ref();
    let units = units.map(|raw| whole(raw, 0_u32, "a whole number from 0 to 4294967295"));
    let memory: Bytes = optional(text.memory.as_ref(), "memory")?.unwrap_or_default();
    let capabilities = names(text.capabilities.as_ref(), "capabilities")?;
    let division = profiles::Division { model, memory, profiles: text.profile.as_deref() };
    let (share, profiles) = division.read(text.share.as_ref())?;
    Ok(DeviceClass {
        model: model.to_owned(),
        kind,
        memory,
        compute_units: units.transpose().within("compute_units")?.unwrap_or(0),
        capabilities: capabilities.into_iter().collect(),
        share,
        profiles,
        power: power(text.power.as_ref()).within("power")?,
    })
}

/// The kind, which must be given.
pub(super) fn kind(raw: Option<&Raw>) -> Result<DeviceKind, Wrong> {
    let advice = "give one of cpu, gpu, tpu, fpga, npu, qpu";
    let raw = raw.ok_or_else(|| Wrong::at("kind", Fault::Missing { advice }))?;
    let given = name(raw).within("kind")?;
    DeviceKind::from_name(given).ok_or_else(|| {
        let words = list(DeviceKind::ALL.iter().map(|kind| kind.name()));
        Wrong::at("kind", Fault::Word { given: given.to_owned(), words })
    })
}

fn refuse_for_cpu(text: &DeviceText) -> Result<(), Wrong> {
    let given = [
        ("memory", text.memory.is_some(), "memory belongs to the node"),
        ("compute_units", text.compute_units.is_some(), "jobs ask for cores"),
        ("capabilities", text.capabilities.is_some(), "use labels of the node"),
        ("share", text.share.is_some(), "cores are always shared"),
        ("profile", text.profile.is_some(), "cores are not cut into slices"),
        ("power", text.power.is_some(), "a processor's power belongs to the node"),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        Some((field, _, reason)) => Err(Wrong::at(field, Fault::Idle { reason })),
        None => Ok(()),
    }
}

fn power(text: Option<&Strict<PowerText>>) -> Result<Power, Wrong> {
    let Some(Strict(text)) = text else { return Ok(Power::default()) };
    let part = |raw: Option<&Raw>, field: &str| {
        let advice = "give both idle and busy, like { idle = \"50W\", busy = \"400W\" }";
        let raw = raw.ok_or_else(|| Wrong::at(field, Fault::Missing { advice }))?;
        quantity::<Milliwatts>(raw).within(field)
    };
    let (idle, busy) = (part(text.idle.as_ref(), "idle")?, part(text.busy.as_ref(), "busy")?);
    if busy < idle {
        return Err(Wrong::here(Fault::PowerFalls));
    }
    Ok(Power { idle, busy })
}

/// Adds the nodes of one entry. The outer error ends the reading, the inner one is of the entry.
fn read_node(
    entry: &Entry<'_, '_>,
    switches: &Switches,
    nodes: &mut Nodes,
    notebook: &Notebook,
) -> Result<Result<(), BadLine>, ReadError> {
    let text: NodeText = match entry.read() {
        Ok(text) => text,
        Err(bad) => return Ok(Err(bad)),
    };
    let read =
        node(&text, switches, nodes).and_then(|node| Ok((node, node_count(text.count.as_ref())?)));
    let (node, count) = match read {
        Ok(read) => read,
        Err(wrong) => return Ok(Err(entry.locate(wrong))),
    };
    if nodes.len() + u64::from(count) > NODES_MAX {
        return Err(notebook.too_many(entry.line(), "nodes", NODES_MAX));
    }
    let names = match count {
        1 => vec![node.name.clone()],
        _ => (0..count).map(|index| format!("{}-{index}", node.name)).collect(),
    };
    Ok(nodes.add(&node, names, entry.line()).map_err(|wrong| entry.locate(wrong)))
}

fn node_count(raw: Option<&Raw>) -> Result<u32, Wrong> {
    let count = raw.map(|raw| whole(raw, 1, "a whole number from 1"));
    Ok(count.transpose().within("count")?.unwrap_or(1))
}

/// The node of an entry, with no id yet.
fn node(text: &NodeText, switches: &Switches, nodes: &Nodes) -> Result<Node, Wrong> {
    let name = required_name(text.name.as_ref(), "name", "give each node a name")?;
    let cpu = required_name(text.cpu.as_ref(), "cpu", "name the model of its processor")?;
    let cpu = model(cpu, nodes, true).within("cpu")?;
    let cores: Option<MilliCores> = optional(text.cores.as_ref(), "cores")?;
    let memory: Option<Bytes> = optional(text.memory.as_ref(), "memory")?;
    let missing = |field, advice| Wrong::at(field, Fault::Missing { advice });
    let cores = cores.ok_or_else(|| missing("cores", "give the number of cores"))?;
    let memory = memory.ok_or_else(|| missing("memory", "give a size like \"64GiB\""))?;
    if cores.is_zero() || cores > CORES_MAX {
        let wanted = "a number of cores above 0 and up to 1000000";
        return Err(Wrong::at("cores", Fault::Range { given: cores.to_string(), wanted }));
    }
    if memory.is_zero() {
        let wanted = "a size above zero";
        return Err(Wrong::at("memory", Fault::Range { given: memory.to_string(), wanted }));
    }
    let devices = devices(text.devices.as_ref(), nodes).within("devices")?;
    let device_count = devices.len();
    let node = Node {
        id: NodeId::default(),
        name: name.to_owned(),
        cpu,
        cores,
        memory,
        devices,
        labels: labels(text.labels.as_ref())?,
        power: power(text.power.as_ref()).within("power")?,
        socket: socket(text.socket.as_ref(), cores)?,
        network: network(text.network.as_ref())?,
        topology: wiring(text, device_count)?,
        attachment: switches.attachment(text.interface.as_ref(), text.switch.as_ref())?,
    };
    let topology = topology(text.topology.as_ref(), &node).within("topology")?;
    Ok(Node { topology, ..node })
}

/// What is said of the links of a node with so many devices.
fn wiring(text: &NodeText, devices: usize) -> Result<Option<Arc<Topology>>, Wrong> {
    topology_of(text.links.as_deref(), text.host_bandwidth.as_ref(), devices)
}

/// The cores of one socket: some, and no more than the node has.
fn socket(raw: Option<&Raw>, cores: MilliCores) -> Result<MilliCores, Wrong> {
    let given: Option<MilliCores> = optional(raw, "socket")?;
    let Some(socket) = given else { return Ok(MilliCores::ZERO) };
    if socket == MilliCores::ZERO || socket > cores {
        let wanted = "a number of cores above 0 and at most those of the node";
        return Err(Wrong::at("socket", Fault::Range { given: socket.to_string(), wanted }));
    }
    Ok(socket)
}

/// How fast its network is: something, where it says so.
fn network(raw: Option<&Raw>) -> Result<Bandwidth, Wrong> {
    let given: Option<Bandwidth> = optional(raw, "network")?;
    if given.is_some_and(Bandwidth::is_zero) {
        let wanted = "a bandwidth above zero, or leave it out where it is not known";
        return Err(Wrong::at("network", Fault::Range { given: "0".to_owned(), wanted }));
    }
    Ok(given.unwrap_or_default())
}

fn devices(table: Option<&Table<Raw>>, nodes: &Nodes) -> Result<Vec<ClassId>, Wrong> {
    let mut devices = BTreeMap::new();
    let wanted = "a whole number from 1 to 1024, all devices of a node together";
    for (name, raw) in table.iter().flat_map(|table| &table.0) {
        let class = model(name, nodes, false).within(name)?;
        let count = whole(raw, 1_u16, wanted).within(name)?;
        devices.insert(class, usize::from(count));
    }
    let total: usize = devices.values().sum();
    if total > DEVICES_MAX {
        return Err(Wrong::here(Fault::Range { given: total.to_string(), wanted }));
    }
    Ok(devices.into_iter().flat_map(|(class, count)| vec![class; count]).collect())
}

/// The class of a model, which must be a processor or must not.
fn model(name: &str, nodes: &Nodes, as_cpu: bool) -> Result<ClassId, Wrong> {
    let Some((id, kind)) = nodes.class(name) else {
        let known = list(nodes.classes().iter().map(|class| class.model.as_str()));
        return Err(Wrong::here(Fault::ModelUnknown { model: name.to_owned(), known }));
    };
    let advice = match (as_cpu, kind == DeviceKind::Cpu) {
        (true, false) => "name a device of kind cpu here, and put this one in `devices`",
        (false, true) => "processors are named by `cpu`, not in `devices`",
        _ => return Ok(id),
    };
    Err(Wrong::here(Fault::KindWrong { model: name.to_owned(), kind, advice }))
}

fn note_idle_classes(nodes: &Nodes, notebook: &mut Notebook) {
    let used: BTreeSet<ClassId> = nodes.used_classes();
    let idle: Vec<_> = nodes
        .classes()
        .iter()
        .filter(|class| nodes.class(&class.model).is_none_or(|(id, _)| !used.contains(&id)))
        .map(|class| class.model.as_str())
        .collect();
    if !idle.is_empty() {
        let names = list(idle.iter().copied());
        notebook.note(format!("{} device models are in no node: {names}", idle.len()));
    }
}
