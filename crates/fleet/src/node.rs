//! Nodes, what of them is free, and the rules for choosing inside one.
//!
//! A [`Node`] is what a machine has; a [`Free`] is what of it nobody holds; a
//! [`Grant`] is what one run holds. [`choose_devices`] is the local rule: given
//! what a run asks of one device class, which devices of the node it gets. The
//! planner uses it to judge and a body may use it to act. [`crate::check`] does not.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::device::{Classes, Power, ShareRule};
use crate::id::{ClassId, DeviceIndex, NodeId};
use crate::job::DeviceRequest;
use crate::units::{Bytes, Milli, MilliCores, Milliwatts};

/// One machine: everything about it that does not change from turn to turn.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Its name, unique in the fleet.
    pub name: String,
    /// The class of its cores.
    pub cpu: ClassId,
    /// Its cores.
    pub cores: MilliCores,
    /// Its memory.
    pub memory: Bytes,
    /// The class of each device other than its cores.
    pub devices: Vec<ClassId>,
    /// What its owner says about it: `zone = a`.
    pub labels: BTreeMap<String, String>,
    /// Power of everything but its devices; grows linearly with the allocated cores.
    pub power: Power,
}

/// What nobody holds of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Free {
    /// Free cores.
    pub cores: MilliCores,
    /// Free memory.
    pub memory: Bytes,
    /// What is free of each device, in the node's order.
    pub devices: Vec<DeviceFree>,
}

/// What nobody holds of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceFree {
    /// Free share: 0..=1000.
    pub share: Milli,
    /// Free device memory.
    pub memory: Bytes,
}

/// What one run holds of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Grant {
    /// Held cores.
    pub cores: MilliCores,
    /// Held memory.
    pub memory: Bytes,
    /// Held devices, in ascending order of index, each at most once.
    pub devices: Vec<DeviceGrant>,
}

/// What one run holds of one device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceGrant {
    /// Which device.
    pub device: DeviceIndex,
    /// Held share: 1..=1000.
    pub share: Milli,
    /// Held device memory.
    pub memory: Bytes,
}

impl Node {
    /// What is free when nothing runs.
    #[must_use]
    pub fn capacity(&self, classes: &Classes) -> Free {
        let device = |class: &ClassId| DeviceFree {
            share: Milli::WHOLE,
            memory: classes.get(*class).memory,
        };
        Free {
            cores: self.cores,
            memory: self.memory,
            devices: self.devices.iter().map(device).collect(),
        }
    }

    /// Power drawn when this much is free: the node's own, linear in allocated cores, plus each
    /// device at `busy` as soon as any share of it is held and at `idle` otherwise.
    #[must_use]
    pub fn draw(&self, free: &Free, classes: &Classes) -> Milliwatts {
        let held = self.cores.saturating_sub(free.cores);
        let own = self.power.idle + core_power(self, held);
        let device = |(class, left): (&ClassId, &DeviceFree)| {
            let power = classes.get(*class).power;
            if left.share < Milli::WHOLE { power.busy } else { power.idle }
        };
        own + self.devices.iter().zip(&free.devices).map(device).sum()
    }

    /// What `grant` adds to the power of the node when this much is free before it.
    #[must_use]
    pub fn added_draw(&self, free: &Free, grant: &Grant, classes: &Classes) -> Milliwatts {
        let woken = |held: &&DeviceGrant| {
            free.devices[held.device.index()].share == Milli::WHOLE && !held.share.is_zero()
        };
        let devices = grant.devices.iter().filter(woken);
        let extra =
            |held: &DeviceGrant| classes.get(self.devices[held.device.index()]).power.extra();
        core_power(self, grant.cores) + devices.map(extra).sum()
    }
}

/// The part of a node's extra power that belongs to this many of its cores.
fn core_power(node: &Node, cores: MilliCores) -> Milliwatts {
    if node.cores.is_zero() {
        return Milliwatts::ZERO;
    }
    let extra = u128::from(node.power.extra().0) * u128::from(cores.0) / u128::from(node.cores.0);
    Milliwatts(u64::try_from(extra).unwrap_or(u64::MAX))
}

impl Free {
    /// Takes what a run gets.
    ///
    /// # Panics
    /// If less than that is free: the plan was not checked.
    pub fn take(&mut self, grant: &Grant) {
        self.cores -= grant.cores;
        self.memory -= grant.memory;
        for held in &grant.devices {
            let left = &mut self.devices[held.device.index()];
            left.share -= held.share;
            left.memory -= held.memory;
        }
    }

    /// Gives back what a run held.
    pub fn give_back(&mut self, grant: &Grant) {
        self.cores += grant.cores;
        self.memory += grant.memory;
        for held in &grant.devices {
            let left = &mut self.devices[held.device.index()];
            left.share += held.share;
            left.memory += held.memory;
        }
    }

    /// Whether `grant` could be taken. One that names a device twice cannot.
    #[must_use]
    pub fn has_room_for(&self, grant: &Grant) -> bool {
        let has_device = |(position, held): (usize, &DeviceGrant)| {
            let is_new = grant.devices[..position].iter().all(|other| other.device != held.device);
            let left = self.devices.get(held.device.index());
            is_new
                && left.is_some_and(|left| held.share <= left.share && held.memory <= left.memory)
        };
        grant.cores <= self.cores
            && grant.memory <= self.memory
            && grant.devices.iter().enumerate().all(has_device)
    }
}

/// Chooses devices of class `class` for `request`, or nothing where they do not suffice.
///
/// A share goes to the device with the least free share that suffices (so that
/// whole devices stay whole), then the least free memory, then the lowest
/// index. Whole devices must be wholly free and are taken in order of index.
/// A device whose rule is exclusive is only ever given whole.
#[must_use]
pub fn choose_devices(
    node: &Node,
    free: &Free,
    classes: &Classes,
    request: &DeviceRequest,
    class: ClassId,
) -> Option<Vec<DeviceGrant>> {
    if request.share < Milli::WHOLE && classes.get(class).share == ShareRule::Exclusive {
        return None;
    }
    let suits = |index: usize, left: &DeviceFree| {
        node.devices[index] == class && left.share >= request.share && left.memory >= request.memory
    };
    let candidates = free.devices.iter().enumerate().filter(|(index, left)| suits(*index, left));
    let wanted = request.count as usize;
    let chosen: Vec<usize> = if request.share < Milli::WHOLE {
        let mut by_fit: Vec<_> =
            candidates.map(|(index, left)| (left.share, left.memory, index)).collect();
        by_fit.sort_unstable();
        by_fit.into_iter().map(|(_, _, index)| index).take(wanted).collect()
    } else {
        candidates.map(|(index, _)| index).take(wanted).collect()
    };
    if chosen.len() < wanted {
        return None;
    }
    let mut grants: Vec<_> = chosen.into_iter().map(|index| grant_of(index, request)).collect();
    grants.sort_unstable();
    Some(grants)
}

fn grant_of(index: usize, request: &DeviceRequest) -> DeviceGrant {
    let device = DeviceIndex(u16::try_from(index).expect("a node has fewer than 65,536 devices"));
    DeviceGrant { device, share: request.share, memory: request.memory }
}
