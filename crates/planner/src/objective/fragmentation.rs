//! Fragmentation: device capacity made unusable for what arrives here.
//!
//! Free capacity of a node is unusable for a shape that could not be placed
//! with it. Weighted by how often each shape arrived so far, that is the
//! node's expected unusable capacity, after Weng et al., "Beware of
//! Fragmentation" (USENIX ATC 2023). Cost: the device capacity that stays
//! usable before the choice minus that after it, in thousandths of a device.
//! Bound: zero.

use fleet::snapshot::Mix;
use fleet::{
    Alternative, ClassId, Classes, DeviceClass, DeviceFree, DeviceRequest, Free, Grant, Milli,
    Node, ShareRule,
};

use super::{Ask, Choice};

/// How many shapes of the mix are looked at, most frequent first. Public traces have some 90
/// distinct shapes of which 35 make up 95 % of arrivals.
const SHAPES_MAX: usize = 64;

pub(super) fn cost(_ask: &Ask, choice: &Choice) -> f64 {
    choice.capacity_lost
}

pub(super) fn bound(_ask: &Ask) -> f64 {
    0.0
}

/// Expected usable thousandths of a device that the grant takes away; never negative.
#[must_use]
pub fn capacity_lost(unusable_before: f64, unusable_after: f64, grant: &Grant) -> f64 {
    let taken: u32 = grant.devices.iter().map(|held| held.share.0).sum();
    (unusable_after - unusable_before + f64::from(taken)).max(0.0)
}

/// Expected unusable thousandths of a device of a node of which this much is free.
#[must_use]
pub fn unusable(node: &Node, free: &Free, mix: &Mix, classes: &Classes) -> f64 {
    let shapes = &mix.shapes[..mix.shapes.len().min(SHAPES_MAX)];
    let total: u64 = shapes.iter().map(|shape| shape.count).sum();
    if total == 0 || node.devices.is_empty() {
        return 0.0;
    }
    let all: u64 = free.devices.iter().map(|left| u64::from(left.share.0)).sum();
    let weighted: u128 = shapes
        .iter()
        .map(|shape| {
            let lost = unusable_for(&shape.shape, node, free, all, classes);
            u128::from(shape.count) * u128::from(lost)
        })
        .sum();
    weighted as f64 / total as f64
}

/// Free thousandths of a device that one shape cannot use; `all` where it does not fit at all.
fn unusable_for(shape: &Alternative, node: &Node, free: &Free, all: u64, classes: &Classes) -> u64 {
    let request = &shape.request;
    let Some(wanted) = &request.devices else { return all };
    let carries = |(key, value): (&String, &String)| node.labels.get(key) == Some(value);
    if request.cores > free.cores
        || request.memory > free.memory
        || !shape.labels.iter().all(carries)
    {
        return all;
    }
    let suits = |(class, left): &(&ClassId, &DeviceFree)| {
        let class = classes.get(**class);
        let divides = wanted.share == Milli::WHOLE || class.share == ShareRule::Milli;
        left.share >= wanted.share
            && divides
            && left.memory >= wanted.memory
            && could_run(shape, wanted, class)
    };
    let suiting = || node.devices.iter().zip(&free.devices).filter(suits);
    // One task has devices of one class only.
    let suffices = |class: &ClassId| {
        wanted.count == 1
            || suiting().filter(|(other, _)| *other == class).count() >= wanted.count as usize
    };
    let usable = suiting().filter(|(class, _)| suffices(class));
    all - usable.map(|(_, left)| u64::from(left.share.0)).sum::<u64>()
}

/// Whether devices of this class would do, however much of them is free.
fn could_run(shape: &Alternative, wanted: &DeviceRequest, class: &DeviceClass) -> bool {
    wanted.accepts(class) && shape.rate(&class.model).is_some()
}
