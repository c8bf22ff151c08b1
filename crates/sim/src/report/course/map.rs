//! The fleet by node and device, at its busiest.

use fleet::{DeviceKind, NodeId, Time};
use serde::Serialize;

use super::ratio;
use super::replay::{self, Replay};
use crate::scenario::Outcome;
use crate::workload::Inventory;

/// The most nodes that are shown, evenly spread over the fleet.
const NODES_MAX: usize = 200;

/// The most devices shown of one node.
const DEVICES_MAX: usize = 16;

/// The fleet at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Map {
    /// When: the first moment at which most was held.
    pub at_seconds: f64,
    /// Held ÷ all of what decides the moment.
    pub held: f64,
    /// Whether devices decided the moment; cores do where the fleet has no devices.
    pub is_of_devices: bool,
    /// The nodes, in the order of the fleet.
    pub nodes: Vec<MapNode>,
    /// How many nodes are not among them.
    pub nodes_left_out: usize,
}

/// A node at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MapNode {
    /// Its name.
    pub name: String,
    /// Whether it was up.
    pub is_up: bool,
    /// Its cores.
    pub cores: f64,
    /// Held ÷ all cores.
    pub cores_held: f64,
    /// Its devices, in order.
    pub devices: Vec<MapDevice>,
    /// How many devices are not among them.
    pub devices_left_out: usize,
}

/// A device at one moment.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MapDevice {
    /// Its model.
    pub model: String,
    /// Held share: 0 to 1.
    pub held: f64,
    /// How many runs held a part of it.
    pub runs: u32,
}

impl Map {
    /// The fleet at the first moment at which most of its devices was held; of its cores where it
    /// has no devices.
    pub(super) fn at_busiest(inventory: &Inventory, outcome: &Outcome) -> Self {
        let thousandths = replay::thousandths(inventory);
        let of_devices = |is_wanted: bool| {
            let wanted = inventory.classes.iter();
            let wanted =
                wanted.filter(move |(_, class)| (class.kind != DeviceKind::Cpu) == is_wanted);
            wanted.map(|(id, _)| thousandths[id.index()] as f64).sum::<f64>()
        };
        let is_of_devices = of_devices(true) > 0.0;
        let (moment, held) = busiest(inventory, outcome, is_of_devices);
        let mut replay = Replay::new(inventory);
        for entry in outcome.log.iter().take_while(|entry| entry.at <= moment) {
            replay.read(entry);
        }
        let count = inventory.nodes.len();
        let shown = count.min(NODES_MAX);
        let runs = replay.runs_by_device();
        let node = |position: usize| {
            let devices = |device| runs.get(&device).copied().unwrap_or(0);
            map_node(inventory, &replay, position * count / shown, &devices)
        };
        Self {
            at_seconds: moment.as_seconds(),
            held: ratio(held, of_devices(is_of_devices)),
            is_of_devices,
            nodes: (0..shown).map(node).collect(),
            nodes_left_out: count - shown,
        }
    }
}

/// When most was held, once everything of that moment had happened, and how many thousandths.
fn busiest(inventory: &Inventory, outcome: &Outcome, is_of_devices: bool) -> (Time, f64) {
    let mut replay = Replay::new(inventory);
    let (mut held, mut most, mut moment) = (0.0, 0.0, Time::ZERO);
    for (position, entry) in outcome.log.iter().enumerate() {
        if let Some(change) = replay.read(entry) {
            let held_more = change.held(&replay).into_iter().filter(|(class, _)| {
                (inventory.classes.get(*class).kind != DeviceKind::Cpu) == is_of_devices
            });
            held += held_more.map(|(_, thousandths)| thousandths).sum::<f64>();
        }
        let is_last = outcome.log.get(position + 1).is_none_or(|next| next.at > entry.at);
        if is_last && held > most {
            (most, moment) = (held, entry.at);
        }
    }
    (moment, most)
}

fn map_node(
    inventory: &Inventory,
    replay: &Replay<'_>,
    position: usize,
    runs: &dyn Fn((NodeId, usize)) -> u32,
) -> MapNode {
    let node = &inventory.nodes[position];
    let (free, is_up) = replay.node(node.id);
    let device = |index: usize| MapDevice {
        model: inventory.classes.get(node.devices[index]).model.clone(),
        held: 1.0 - f64::from(free.devices[index].share.0) / 1000.0,
        runs: runs((node.id, index)),
    };
    let shown = node.devices.len().min(DEVICES_MAX);
    MapNode {
        name: node.name.clone(),
        is_up,
        cores: node.cores.0 as f64 / 1000.0,
        cores_held: 1.0 - ratio(free.cores.0 as f64, node.cores.0 as f64),
        devices: (0..shown).map(device).collect(),
        devices_left_out: node.devices.len() - shown,
    }
}
