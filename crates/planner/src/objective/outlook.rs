//! Outlook: the arriving mix, laid out for the question what a node is still good for.

mod sums;

use std::collections::BTreeMap;

use fleet::snapshot::{Amounts, Mix, MixShape};
use fleet::{
    Alternative, Bytes, Classes, DeviceFree, Milli, MilliCores, Node, Profile, ShareRule, Slots,
};

use sums::Sums;

/// How many shapes of the mix are looked at, most frequent first. Public traces have some 90
/// distinct shapes of which 35 make up 95 % of arrivals.
const SHAPES_MAX: usize = 64;

/// The arriving mix, ready to be asked.
#[derive(Clone, Debug, Default)]
pub struct Outlook {
    rows: Vec<Row>,
    /// By class, where that can be.
    sums: Vec<Option<Sums>>,
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
    /// For every class of the fleet the places of the slice that is asked for, if one is.
    places: Option<Vec<Vec<Slots>>>,
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
        let rows: Vec<Row> = shapes.iter().map(|shape| row(shape, classes)).collect();
        Self {
            sums: classes.iter().map(|(class, _)| Sums::new(&rows, class)).collect(),
            rows,
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
        let usable = self.by_sums(node, free, devices).unwrap_or_else(|| {
            let of_row =
                |row: &Row| u128::from(row.count) * u128::from(usable(row, node, free, devices));
            self.rows.iter().map(of_row).sum()
        });
        (u128::from(self.total) * u128::from(free.share) - usable) as f64 / self.total as f64
    }

    fn by_sums(&self, node: &Node, free: Amounts, devices: &[DeviceFree]) -> Option<u128> {
        let class = node.devices[0];
        let sums = self.sums.get(class.index())?.as_ref()?;
        let is_uniform = node.devices.iter().all(|other| *other == class);
        is_uniform.then(|| sums.usable(free, devices))
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
        places: wanted.profile.is_some().then(|| {
            let profiles = classes.0.iter().map(|class| class.profile_of(wanted));
            profiles.map(|one| one.into_iter().flat_map(Profile::placements).collect()).collect()
        }),
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
        let divides = wanted.share == Milli::WHOLE
            || class.share == ShareRule::Milli
            || wanted.profile.is_some();
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
        let has_place = |left: &DeviceFree| {
            wanted.places.as_ref().is_none_or(|places| {
                places[class.index()].iter().any(|place| !place.overlap(left.slots))
            })
        };
        let (mut count, mut share) = (0, 0);
        for (other, left) in node.devices.iter().zip(devices) {
            let suits = left.share >= wanted.share && left.memory >= wanted.memory;
            if other == class && suits && has_place(left) {
                count += 1;
                share += u64::from(left.share.0);
            }
        }
        usable += if count >= wanted.count { share } else { 0 };
    }
    usable
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet::sketch;

    /// Sums give what a walk through the rows gives, on every state of a node.
    #[test]
    fn sums_are_what_the_rows_add_up_to() {
        let snapshot = sketch::snapshot(
            "
            class epyc cpu
            class a100 gpu share=milli
            class t4 gpu
            node n cores=16 mem=64Gi dev=a100*4
            mix 7 cores=1 mem=1Gi gpu=1 share=0.3
            mix 5 cores=4 mem=2Gi gpu=1 share=0.7
            mix 11 cores=4 gpu=1
            mix 3 cores=8 mem=32Gi gpu=2
            mix 2 cores=2 gpu=4
            mix 9 cores=2
            mix 4 cores=1 gpu=1 model=t4
            ",
        )
        .expect("a sketch");
        let node = &snapshot.nodes[0].node;
        let outlook = Outlook::new(&snapshot.mix, &snapshot.classes);
        let by_rows = Outlook { sums: Vec::new(), ..outlook.clone() };
        let mut by_sums = 0;
        for state in 0..4096_u64 {
            let share = |device: u64| {
                [0, 299, 300, 650, 700, 999, 1000][(state / (device + 1) % 7) as usize]
            };
            let devices: Vec<DeviceFree> = (0..4)
                .map(|device| DeviceFree { share: Milli(share(device)), ..DeviceFree::default() })
                .collect();
            let free = Amounts {
                cores: MilliCores(state % 17 * 1000),
                memory: Bytes((1 << 30) * (state % 5 * 16)),
                share: devices.iter().map(|left| u64::from(left.share.0)).sum(),
            };
            let expected = by_rows.unusable(node, free, &devices);
            assert_eq!(outlook.unusable(node, free, &devices), expected, "{free:?} {devices:?}");
            by_sums += u32::from(outlook.by_sums(node, free, &devices).is_some());
        }
        assert!(by_sums > 1000, "{by_sums}");
    }
}
