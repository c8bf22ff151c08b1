//! The nodes of an inventory as they are put together.
//!
//! Gives ids in the order in which nodes come, keeps names unique, and refuses
//! a fleet whose totals would pass the largest integer: later sums need no
//! check.

use std::collections::{BTreeMap, BTreeSet};

use fleet::{ClassId, Classes, DeviceClass, DeviceKind, Node, NodeId};

use super::error::{ReadError, Wrong};
use super::fault::Fault;
use super::notebook::Notebook;
use crate::workload::Inventory;

/// The most device classes: as many as there are ids.
pub(super) const CLASSES_MAX: usize = 65_535;
/// The most nodes.
pub(super) const NODES_MAX: u64 = 1_000_000;
/// The most devices of one node.
pub(super) const DEVICES_MAX: usize = 1024;

/// Nodes so far.
pub(super) struct Nodes {
    /// The field that names a node.
    name_field: &'static str,
    classes: Vec<DeviceClass>,
    ids: BTreeMap<String, ClassId>,
    nodes: Vec<Node>,
    /// The line on which each name was given.
    lines: BTreeMap<String, u64>,
    totals: Totals,
}

#[derive(Clone, Copy, Default)]
struct Totals {
    cores: u64,
    memory: u64,
    milliwatts: u64,
}

impl Nodes {
    /// No nodes yet, of these classes; `name_field` is the field that names a node.
    pub(super) fn new(classes: Vec<DeviceClass>, name_field: &'static str) -> Self {
        let ids = classes.iter().zip(0_u16..).map(|(class, id)| (class.model.clone(), ClassId(id)));
        Self {
            name_field,
            ids: ids.collect(),
            classes,
            nodes: Vec::new(),
            lines: BTreeMap::new(),
            totals: Totals::default(),
        }
    }

    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.nodes.len() as u64
    }

    /// The classes.
    pub(super) fn classes(&self) -> &[DeviceClass] {
        &self.classes
    }

    /// The class of a model.
    pub(super) fn class(&self, model: &str) -> Option<(ClassId, DeviceKind)> {
        let id = *self.ids.get(model)?;
        Some((id, self.classes[id.index()].kind))
    }

    /// The classes that nodes have.
    pub(super) fn used_classes(&self) -> BTreeSet<ClassId> {
        self.nodes.iter().flat_map(|node| node.devices.iter().chain([&node.cpu])).copied().collect()
    }

    /// Adds one node of this make for each name; all or none.
    pub(super) fn add(&mut self, make: &Node, names: Vec<String>, line: u64) -> Result<(), Wrong> {
        for name in &names {
            if let Some(first) = self.lines.get(name) {
                let fault = Fault::Twice { name: name.clone(), first: *first };
                return Err(Wrong::at(self.name_field, fault));
            }
        }
        self.totals = self.totals.with(make, names.len() as u64, &self.classes)?;
        for name in names {
            let id = NodeId(u32::try_from(self.nodes.len()).expect("at most NODES_MAX nodes"));
            self.lines.insert(name.clone(), line);
            self.nodes.push(Node { id, name, ..make.clone() });
        }
        Ok(())
    }

    /// The inventory.
    pub(super) fn finish(self, notebook: &Notebook) -> Result<Inventory, ReadError> {
        if self.nodes.is_empty() {
            return Err(notebook.empty("node"));
        }
        Ok(Inventory { classes: Classes(self.classes), nodes: self.nodes })
    }
}

impl Totals {
    fn with(self, node: &Node, count: u64, classes: &[DeviceClass]) -> Result<Self, Wrong> {
        let sum = |total: u64, each: Option<u64>, what| {
            let more = each.and_then(|each| each.checked_mul(count));
            let total = more.and_then(|more| total.checked_add(more));
            total.ok_or_else(|| Wrong::here(Fault::Total { what }))
        };
        let mut devices = node.devices.iter().map(|class| classes[class.index()].power.busy.0);
        let busy = devices.try_fold(node.power.busy.0, u64::checked_add);
        Ok(Self {
            cores: sum(self.cores, Some(node.cores.0), "cores")?,
            memory: sum(self.memory, Some(node.memory.0), "memory")?,
            milliwatts: sum(self.milliwatts, busy, "power")?,
        })
    }
}
