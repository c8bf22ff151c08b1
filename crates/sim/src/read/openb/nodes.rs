//! openb nodes into an inventory.

use std::collections::BTreeMap;

use fleet::{
    Bandwidth, Bytes, ClassId, DeviceClass, DeviceKind, MilliCores, Milliwatts, Node, NodeId,
    Power, ShareRule,
};

use super::super::error::{ReadError, Wrong, list};
use super::super::fault::Fault;
use super::super::nodes::{CLASSES_MAX, DEVICES_MAX, NODES_MAX, Nodes};
use super::super::notebook::Notebook;
use super::super::raw::check_name;
use super::super::source::Source;
use super::columns::{Row, Rows};
use crate::workload::Inventory;

const COLUMNS: [&str; 5] = ["sn", "cpu_milli", "memory_mib", "gpu", "model"];

/// The model that all processors count as: the trace names none, and the power figures of
/// [`GPU_WATTS`] go with this one.
const CPU_MODEL: &str = "Xeon-E5-2682v4";
/// Its idle and busy watts a socket, and its cores, each of two virtual ones.
const CPU_WATTS: (u64, u64) = (15, 120);
const CPU_CORES: u64 = 16;

/// Idle and busy watts by model, from the authors of the PWR plug-in (CCGrid 2025). The trace does
/// not say what G2 and G3 are: taking them for an A10 and an A100 is a guess of those authors.
const GPU_WATTS: [(&str, u64, u64); 8] = [
    ("A10", 30, 150),
    ("A100", 50, 400),
    ("G2", 30, 150),
    ("G3", 50, 400),
    ("P100", 25, 250),
    ("T4", 10, 70),
    ("V100M16", 30, 300),
    ("V100M32", 30, 300),
];

/// A node as its row says.
struct Listed {
    name: String,
    cores: MilliCores,
    memory: Bytes,
    gpus: usize,
    model: String,
    line: u64,
}

/// Reads a list of nodes. Its classes are the processor, then the GPU models by name.
pub(in super::super) fn read_nodes(
    source: Source<'_>,
    notebook: &mut Notebook,
) -> Result<Inventory, ReadError> {
    let mut rows = Rows::open(source, &COLUMNS, &[], notebook)?;
    let mut listed: Vec<Listed> = Vec::new();
    let mut models: BTreeMap<String, ClassId> = BTreeMap::new();
    while let Some(row) = rows.next()? {
        match row.and_then(|row| read_row(&row).map_err(|wrong| wrong.on_line(row.line))) {
            Ok(node) if listed.len() as u64 == NODES_MAX => {
                return Err(notebook.too_many(node.line, "nodes", NODES_MAX));
            }
            Ok(node) => {
                if node.gpus > 0 && !models.contains_key(&node.model) {
                    // The processor is a class too.
                    if models.len() + 1 == CLASSES_MAX {
                        let most = CLASSES_MAX as u64;
                        return Err(notebook.too_many(node.line, "device models", most));
                    }
                    models.insert(node.model.clone(), ClassId(0));
                }
                listed.push(node);
            }
            Err(bad) => notebook.skip(bad)?,
        }
    }
    for (class, id) in models.values_mut().zip(1_u16..) {
        *class = ClassId(id);
    }
    note_powerless(&models, notebook);
    let mut nodes = Nodes::new(classes(&models), "sn");
    for node in listed {
        let class = models.get(&node.model).copied();
        let line = node.line;
        let (name, make) = (node.name.clone(), make(&node, class));
        if let Err(wrong) = nodes.add(&make, vec![name], line) {
            notebook.skip(wrong.on_line(line))?;
        }
    }
    nodes.finish(notebook)
}

fn read_row(row: &Row<'_>) -> Result<Listed, Wrong> {
    let name = row.text("sn")?;
    check_name(name).map_err(|wrong| wrong.inside("sn"))?;
    let cores = row.number("cpu_milli", 1_000_000_000, "milli-cores, up to 1000000000")?;
    let memory = row.number("memory_mib", u64::MAX >> 20, "a whole number of MiB")?;
    for (column, amount) in [("cpu_milli", cores), ("memory_mib", memory)] {
        if amount == 0 {
            let wanted = "a whole number above zero";
            return Err(Wrong::at(column, Fault::Range { given: "0".to_owned(), wanted }));
        }
    }
    let gpus = row.number("gpu", DEVICES_MAX as u64, "a whole number from 0 to 1024")?;
    let model = row.text("model")?;
    match (gpus, model) {
        (1.., "") => {
            let advice = "a node with GPUs names their model";
            return Err(Wrong::at("model", Fault::Missing { advice }));
        }
        (0, "") => {}
        (0, _) => {
            let reason = "the node has no GPU";
            return Err(Wrong::at("model", Fault::Idle { reason }));
        }
        (_, CPU_MODEL) => {
            let advice = "it is what all processors of this trace count as";
            let (model, kind) = (model.to_owned(), DeviceKind::Cpu);
            return Err(Wrong::at("model", Fault::KindWrong { model, kind, advice }));
        }
        _ => check_name(model).map_err(|wrong| wrong.inside("model"))?,
    }
    Ok(Listed {
        name: name.to_owned(),
        cores: MilliCores(cores),
        memory: Bytes(memory << 20),
        gpus: usize::try_from(gpus).expect("at most 1024"),
        model: model.to_owned(),
        line: row.line,
    })
}

fn classes(models: &BTreeMap<String, ClassId>) -> Vec<DeviceClass> {
    let class = |model: &str, kind, share| DeviceClass {
        profiles: Vec::new(),
        model: model.to_owned(),
        kind,
        memory: Bytes::ZERO,
        compute_units: 0,
        capabilities: std::collections::BTreeSet::new(),
        share,
        power: gpu_power(model).unwrap_or_default(),
    };
    let gpus = models.keys().map(|model| class(model, DeviceKind::Gpu, ShareRule::Milli));
    [class(CPU_MODEL, DeviceKind::Cpu, ShareRule::Exclusive)].into_iter().chain(gpus).collect()
}

fn gpu_power(model: &str) -> Option<Power> {
    let (_, idle, busy) = GPU_WATTS.iter().find(|(known, ..)| *known == model)?;
    Some(watts(*idle, *busy))
}

fn watts(idle: u64, busy: u64) -> Power {
    Power { idle: Milliwatts(idle * 1000), busy: Milliwatts(busy * 1000) }
}

fn make(node: &Listed, class: Option<ClassId>) -> Node {
    // Two virtual cores are one real core.
    let sockets = node.cores.0.div_ceil(2000).div_ceil(CPU_CORES);
    Node {
        id: NodeId::default(),
        name: String::new(),
        cpu: ClassId(0),
        cores: node.cores,
        memory: node.memory,
        devices: class.map_or_else(Vec::new, |class| vec![class; node.gpus]),
        labels: BTreeMap::new(),
        power: watts(CPU_WATTS.0 * sockets, CPU_WATTS.1 * sockets),
        socket: MilliCores(2000 * CPU_CORES),
        network: Bandwidth::ZERO,
        topology: None,
        attachment: None,
    }
}

fn note_powerless(models: &BTreeMap<String, ClassId>, notebook: &mut Notebook) {
    let powerless: Vec<_> =
        models.keys().map(String::as_str).filter(|model| gpu_power(model).is_none()).collect();
    if !powerless.is_empty() {
        let names = list(powerless.iter().copied());
        notebook.note(format!("no power is known of these models, so it counts as zero: {names}"));
    }
}
