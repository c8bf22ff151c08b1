//! The fleet along the log of a world: what each node holds, and whether it is up.

use std::collections::BTreeMap;

use fleet::{ClassId, Free, Grant, NodeId, RunId};

use crate::workload::Inventory;
use crate::world::{Entry, Event};

/// A fleet at one moment of a log.
pub(super) struct Replay<'a> {
    inventory: &'a Inventory,
    nodes: Vec<(Free, bool)>,
    runs: BTreeMap<RunId, (NodeId, &'a Grant)>,
}

/// A node that changed, and what was taken or given back there.
pub(super) struct Change<'a> {
    pub(super) node: NodeId,
    grant: Option<&'a Grant>,
    /// 1 where it was taken, −1 where it was given back.
    sign: f64,
}

impl<'a> Replay<'a> {
    /// The fleet before anything happened.
    pub(super) fn new(inventory: &'a Inventory) -> Self {
        let nodes = inventory.nodes.iter().map(|node| (node.capacity(&inventory.classes), true));
        Self { inventory, nodes: nodes.collect(), runs: BTreeMap::new() }
    }

    /// Lets one thing happen.
    pub(super) fn read(&mut self, entry: &'a Entry) -> Option<Change<'a>> {
        match &entry.event {
            Event::Started(start) => {
                self.nodes[start.node.index()].0.take(&start.grant);
                self.runs.insert(start.run, (start.node, &start.grant));
                Some(Change { node: start.node, grant: Some(&start.grant), sign: 1.0 })
            }
            Event::Done { run, .. }
            | Event::Failed { run, .. }
            | Event::Stopped { run, .. }
            | Event::Killed { run } => {
                let (node, grant) = self.runs.remove(run)?;
                self.nodes[node.index()].0.give_back(grant);
                Some(Change { node, grant: Some(grant), sign: -1.0 })
            }
            Event::Crashed(node) | Event::Back(node) => {
                self.nodes[node.index()].1 = matches!(entry.event, Event::Back(_));
                Some(Change { node: *node, grant: None, sign: 0.0 })
            }
            // A node that is cut off goes on running and drawing power.
            Event::Parted(_) | Event::Refused { .. } => None,
        }
    }

    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> + use<'a> {
        self.inventory.nodes.iter().map(|node| node.id)
    }

    /// What is free of a node, and whether it is up.
    pub(super) fn node(&self, node: NodeId) -> (&Free, bool) {
        let (free, is_up) = &self.nodes[node.index()];
        (free, *is_up)
    }

    /// Milliwatts that a node draws.
    pub(super) fn draw(&self, node: NodeId) -> f64 {
        let (free, is_up) = self.node(node);
        let draw = self.inventory.nodes[node.index()].draw(free, &self.inventory.classes);
        if is_up { draw.0 as f64 } else { 0.0 }
    }

    /// How many runs hold a part of each device of each node.
    pub(super) fn runs_by_device(&self) -> BTreeMap<(NodeId, usize), u32> {
        let mut runs = BTreeMap::new();
        for (node, grant) in self.runs.values() {
            for held in &grant.devices {
                *runs.entry((*node, held.device.index())).or_default() += 1;
            }
        }
        runs
    }
}

impl Change<'_> {
    /// By class, how many thousandths more are held.
    pub(super) fn held(&self, replay: &Replay<'_>) -> Vec<(ClassId, f64)> {
        let Some(grant) = self.grant else { return Vec::new() };
        let node = &replay.inventory.nodes[self.node.index()];
        let mut held = vec![(node.cpu, self.sign * grant.cores.0 as f64)];
        for device in &grant.devices {
            let class = node.devices[device.device.index()];
            held.push((class, self.sign * f64::from(device.share.0)));
        }
        held
    }
}

/// By class, how many thousandths of devices or cores the fleet has.
pub(super) fn thousandths(inventory: &Inventory) -> Vec<u64> {
    let mut thousandths = vec![0; inventory.classes.0.len()];
    for node in &inventory.nodes {
        thousandths[node.cpu.index()] += node.cores.0;
        for device in &node.devices {
            thousandths[device.index()] += 1000;
        }
    }
    thousandths
}
