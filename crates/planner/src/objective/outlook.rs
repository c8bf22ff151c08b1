//! Outlook: the arriving mix, laid out for the question what a node is still good for.

use std::collections::BTreeMap;

use fleet::snapshot::{Amounts, Mix, MixShape};
use fleet::{Alternative, Bytes, Classes, DeviceFree, Milli, MilliCores, Node, ShareRule};

/// How many shapes of the mix are looked at, most frequent first. Public traces have some 90
/// distinct shapes of which 35 make up 95 % of arrivals.
const SHAPES_MAX: usize = 64;

/// The arriving mix, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct Outlook {
    rows: Vec<Row>,
    /// Sum of all counts.
    total: u64,
    /// Cores, in thousandths, and bytes that arrive per thousandth of a device; zero where no
    /// devices are asked for.
    cores_per_share: f64,
    memory_per_share: f64,
}

/// One shape of the mix.
#[derive(Clone, Debug)]
struct Row {
    count: u64,
    cores: MilliCores,
    memory: Bytes,
    labels: BTreeMap<String, String>,
    devices: Option<DeviceRow>,
}

/// What a shape asks of devices.
#[derive(Clone, Debug)]
struct DeviceRow {
    count: u64,
    share: Milli,
    memory: Bytes,
    /// For every class of the fleet, whether its devices would do, however much of them is free.
    accepted: Vec<bool>,
}

impl Outlook {
    /// Lays out the mix.
    #[must_use]
    pub fn new(mix: &Mix, classes: &Classes) -> Self {
        let shapes = &mix.shapes[..mix.shapes.len().min(SHAPES_MAX)];
        let (mut cores, mut memory, mut share) = (0.0, 0.0, 0.0);
        for MixShape { count, shape } in shapes {
            let times = *count as f64;
            cores += times * shape.request.cores.0 as f64;
            memory += times * shape.request.memory.0 as f64;
            let devices = shape.request.devices.as_ref();
            share +=
                times * devices.map_or(0.0, |one| f64::from(one.count) * f64::from(one.share.0));
        }
        let per_share = |amount: f64| if share > 0.0 { amount / share } else { 0.0 };
        Self {
            rows: shapes.iter().map(|shape| row(shape, classes)).collect(),
            total: shapes.iter().map(|shape| shape.count).sum(),
            cores_per_share: per_share(cores),
            memory_per_share: per_share(memory),
        }
    }

    /// Expected unusable thousandths of a device of a node of which this much is free.
    #[must_use]
    pub fn unusable(&self, node: &Node, free: Amounts, devices: &[DeviceFree]) -> f64 {
        if self.total == 0 || node.devices.is_empty() {
            return 0.0;
        }
        let usable: u128 = self
            .rows
            .iter()
            .map(|row| u128::from(row.count) * u128::from(usable(row, node, free, devices)))
            .sum();
        (u128::from(self.total) * u128::from(free.share) - usable) as f64 / self.total as f64
    }

    /// Thousandths of a device for which the cores and memory are free that arrive with them.
    #[must_use]
    pub fn accompanied(&self, node: &Node, free: Amounts) -> f64 {
        if node.devices.is_empty() {
            return 0.0;
        }
        let within = |amount: u64, per_share: f64| {
            if per_share > 0.0 { amount as f64 / per_share } else { f64::INFINITY }
        };
        (free.share as f64)
            .min(within(free.cores.0, self.cores_per_share))
            .min(within(free.memory.0, self.memory_per_share))
    }
}

fn row(shape: &MixShape, classes: &Classes) -> Row {
    let MixShape { count, shape } = shape;
    let request = &shape.request;
    let devices = request.devices.as_ref().map(|wanted| DeviceRow {
        count: u64::from(wanted.count),
        share: wanted.share,
        memory: wanted.memory,
        accepted: classes.0.iter().map(|class| could_run(shape, class)).collect(),
    });
    Row {
        count: *count,
        cores: request.cores,
        memory: request.memory,
        labels: shape.labels.clone(),
        devices,
    }
}

/// Whether devices of this class would do, however much of them is free.
fn could_run(shape: &Alternative, class: &fleet::DeviceClass) -> bool {
    shape.request.devices.as_ref().is_some_and(|wanted| {
        let divides = wanted.share == Milli::WHOLE || class.share == ShareRule::Milli;
        divides && wanted.accepts(class) && shape.rate(&class.model).is_some()
    })
}

/// Free thousandths of a device that one shape can use; none where it does not fit.
fn usable(row: &Row, node: &Node, free: Amounts, devices: &[DeviceFree]) -> u64 {
    let Some(wanted) = &row.devices else { return 0 };
    if row.cores > free.cores || row.memory > free.memory {
        return 0;
    }
    if !row.labels.iter().all(|(key, value)| node.labels.get(key) == Some(value)) {
        return 0;
    }
    // One task has devices of one class only: each class must suffice by itself.
    let mut usable = 0;
    for (position, class) in node.devices.iter().enumerate() {
        let is_known = position > 0 && node.devices[position - 1] == *class;
        if is_known || node.devices[..position].contains(class) {
            continue;
        }
        if !wanted.accepted[class.index()] {
            continue;
        }
        let (mut count, mut share) = (0, 0);
        for (other, left) in node.devices.iter().zip(devices) {
            if other == class && left.share >= wanted.share && left.memory >= wanted.memory {
                count += 1;
                share += u64::from(left.share.0);
            }
        }
        usable += if count >= wanted.count { share } else { 0 };
    }
    usable
}
