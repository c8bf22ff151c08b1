//! Nodes, what of them is free, and the rules for choosing inside one.
//!
//! A [`Node`] is what a machine has; a [`Free`] is what of it nobody holds; a
//! [`Grant`] is what one run holds. [`choose_devices`] is the local rule: given
//! what a run asks of one device class, which devices of the node it gets. The
//! planner uses it to judge and a body may use it to act. [`crate::check`] does not.

mod connected;
mod channels;
mod domains;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::attachment::Attachment;
use crate::device::{Classes, Power, ShareRule, Slots};
use crate::id::{ChannelIndex, ClassId, DeviceIndex, DomainIndex, NodeId};
use crate::job::DeviceRequest;
use crate::topology::Topology;
use crate::units::{Bandwidth, Bytes, Milli, MilliCores, Milliwatts};

pub use channels::{Bounds, channel_grants, most, usable};
pub use connected::{DeviceSet, connected_devices};
pub use domains::{domain_grants, single_choices};

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
    /// Power of everything but its devices.
    pub power: Power,
    /// How many cores wake together: a socket draws all it can as soon as one of its cores is held.
    /// Zero: power grows in proportion to the held cores.
    pub socket: MilliCores,
    /// How fast its own network is, in each direction; zero where nobody says.
    pub network: Bandwidth,
    /// What it is like inside, where that is known.
    pub topology: Option<Arc<Topology>>,
    /// How it hangs in the network, where that is known.
    pub attachment: Option<Arc<Attachment>>,
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
    /// What is free of each memory domain, in the topology's order; empty where the node has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<DomainFree>,
    /// What runs hold of each channel of the topology: of the PCIe switches, then of the NICs;
    /// empty where the node has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<Bandwidth>,
}

/// What nobody holds of a memory domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DomainFree {
    /// Free cores.
    pub cores: MilliCores,
    /// Free memory.
    pub memory: Bytes,
    /// What runs hold of what its memory can move.
    pub load: Bandwidth,
}

/// What nobody holds of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceFree {
    /// Free share: 0..=1000.
    pub share: Milli,
    /// Free device memory.
    pub memory: Bytes,
    /// The slots that slices have taken.
    #[serde(default, skip_serializing_if = "Slots::is_none")]
    pub slots: Slots,
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
    /// In which memory domains the cores and the memory are, ascending, each at most once; empty
    /// where the node has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub domains: Vec<DomainGrant>,
    /// What it moves over which channels, ascending, each at most once; empty where nothing is
    /// stated or the node has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub channels: Vec<ChannelGrant>,
}

/// What one run moves over one channel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ChannelGrant {
    /// Which channel.
    pub channel: ChannelIndex,
    /// Held bandwidth.
    pub bandwidth: Bandwidth,
}

/// What one run holds of one memory domain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DomainGrant {
    /// Which domain.
    pub domain: DomainIndex,
    /// Held cores.
    pub cores: MilliCores,
    /// Held memory.
    pub memory: Bytes,
    /// Held of what its memory can move.
    pub load: Bandwidth,
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
    /// The slots that it covers, where it is a slice.
    #[serde(default, skip_serializing_if = "Slots::is_none")]
    pub slots: Slots,
}

impl Node {
    /// What is free when nothing runs.
    #[must_use]
    pub fn capacity(&self, classes: &Classes) -> Free {
        let device = |class: &ClassId| DeviceFree {
            share: Milli::WHOLE,
            memory: classes.get(*class).memory,
            slots: Slots::default(),
        };
        Free {
            cores: self.cores,
            memory: self.memory,
            devices: self.devices.iter().map(device).collect(),
            domains: self.topology.as_deref().map_or_else(Vec::new, domains::capacity),
            loads: vec![Bandwidth::ZERO; self.topology.as_deref().map_or(0, Topology::channels)],
        }
    }

    /// Power drawn when this much is free: the node's own, in proportion to the held cores or to
    /// the sockets awake, plus each device at `busy` as soon as any share of it is held and at
    /// `idle` otherwise.
    #[must_use]
    pub fn draw(&self, free: &Free, classes: &Classes) -> Milliwatts {
        let held = self.cores.saturating_sub(free.cores);
        let own = self.power.idle + self.core_power(held);
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
        self.added_core_draw(free.cores, grant.cores) + devices.map(extra).sum()
    }

    /// What holding so many more cores adds to the power of the node, where so many are free.
    #[must_use]
    pub fn added_core_draw(&self, free: MilliCores, cores: MilliCores) -> Milliwatts {
        let held = self.cores.saturating_sub(free);
        self.core_power(held + cores).saturating_sub(self.core_power(held))
    }

    /// The least that this many cores can add to the power of the node, whatever else is held.
    #[must_use]
    pub fn least_core_power(&self, cores: MilliCores) -> Milliwatts {
        match cores.0.checked_div(self.socket.0) {
            None => self.core_power(cores),
            Some(sockets) => self.socket_power(sockets),
        }
    }

    /// The part of the node's extra power that goes with this many held cores.
    fn core_power(&self, held: MilliCores) -> Milliwatts {
        if self.socket.is_zero() {
            return part(self.power.extra(), held.0, self.cores.0);
        }
        self.socket_power(held.0.div_ceil(self.socket.0))
    }

    fn socket_power(&self, awake: u64) -> Milliwatts {
        part(self.power.extra(), awake, self.cores.0.div_ceil(self.socket.0))
    }
}

/// A part of a power, rounded down; nothing of nothing.
fn part(power: Milliwatts, parts: u64, of: u64) -> Milliwatts {
    let scaled = u128::from(power.0) * u128::from(parts);
    let part = scaled.checked_div(u128::from(of)).unwrap_or(0);
    Milliwatts(u64::try_from(part).unwrap_or(u64::MAX))
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
            assert!(!held.slots.overlap(left.slots), "the slots are free");
            left.slots = left.slots.with(held.slots);
        }
        domains::take(&mut self.domains, &grant.domains);
        channels::take(&mut self.loads, &grant.channels);
    }

    /// Gives back what a run held.
    pub fn give_back(&mut self, grant: &Grant) {
        self.cores += grant.cores;
        self.memory += grant.memory;
        for held in &grant.devices {
            let left = &mut self.devices[held.device.index()];
            left.share += held.share;
            left.memory += held.memory;
            left.slots = left.slots.without(held.slots);
        }
        domains::give_back(&mut self.domains, &grant.domains);
        channels::give_back(&mut self.loads, &grant.channels);
    }

    /// Whether `grant` could be taken. One that names a device or a domain twice cannot, nor one
    /// that holds more in domains than in all. What channels have left is for policies to say.
    #[must_use]
    pub fn has_room_for(&self, grant: &Grant) -> bool {
        let has_device = |(position, held): (usize, &DeviceGrant)| {
            let is_new = grant.devices[..position].iter().all(|other| other.device != held.device);
            let left = self.devices.get(held.device.index());
            is_new
                && left.is_some_and(|left| {
                    held.share <= left.share
                        && held.memory <= left.memory
                        && !held.slots.overlap(left.slots)
                })
        };
        grant.cores <= self.cores
            && grant.memory <= self.memory
            && grant.devices.iter().enumerate().all(has_device)
            && domains::have_room(&self.domains, grant)
            && grant.channels.iter().all(|held| held.channel.index() < self.loads.len())
    }
}

/// Which devices of one class a run gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DeviceChoice {
    /// A share of this one.
    Share(DeviceIndex),
    /// A slice of this one, at these slots.
    Slice(DeviceIndex, Slots),
    /// As many as are asked for of those that are wholly free, in order of index.
    Whole,
    /// All of these.
    These(DeviceSet),
}

impl DeviceChoice {
    /// What a run gets of the devices of class `class`, ascending by index.
    #[must_use]
    pub fn grants(
        self,
        node: &Node,
        free: &Free,
        request: &DeviceRequest,
        class: ClassId,
    ) -> Vec<DeviceGrant> {
        match self {
            Self::Share(device) => vec![grant_of(device.index(), request)],
            Self::Slice(device, slots) => {
                vec![DeviceGrant { slots, ..grant_of(device.index(), request) }]
            }
            Self::Whole => {
                let suited = suited(node, free, request, class);
                suited.take(request.count as usize).map(|one| grant_of(one, request)).collect()
            }
            Self::These(set) => {
                set.devices().map(|device| grant_of(device.index(), request)).collect()
            }
        }
    }
}

/// Chooses devices of class `class` for `request`, or nothing where they do not suffice.
///
/// A share goes to the device with the least free share that suffices (so that
/// whole devices stay whole), then the least free memory, then the lowest
/// index. Whole devices must be wholly free and are taken in order of index.
/// A device whose rule is exclusive is only ever given whole. A slice goes to the device with the
/// least free share that has a place for it, and there to the place that leaves the most open.
#[must_use]
pub fn choose_devices(
    node: &Node,
    free: &Free,
    classes: &Classes,
    request: &DeviceRequest,
    class: ClassId,
) -> Option<DeviceChoice> {
    if request.profile.is_some() {
        return slices(node, free, classes, (request, class)).min().map(Fit::choice);
    }
    if request.share == Milli::WHOLE {
        let suited = suited(node, free, request, class).take(request.count as usize);
        return (suited.count() == request.count as usize).then_some(DeviceChoice::Whole);
    }
    if classes.get(class).share != ShareRule::Milli {
        return None;
    }
    let best = suited(node, free, request, class).min_by_key(|one| fit(free, *one))?;
    Some(DeviceChoice::Share(index_of(best)))
}

/// Adds every choice of devices of class `class` for `request` that differs in more than the index
/// of equal devices, the one of [`choose_devices`] first: for a share one device of each free share
/// and memory that suffice, the least free first; for whole devices at most one choice.
pub fn device_choices(
    node: &Node,
    free: &Free,
    classes: &Classes,
    request: &DeviceRequest,
    class: ClassId,
    choices: &mut Vec<DeviceChoice>,
) {
    if request.profile.is_some() {
        let mut found: Vec<Fit> = slices(node, free, classes, (request, class)).collect();
        found.sort_unstable();
        found.dedup_by_key(|fit| (fit.left, fit.taken));
        choices.extend(found.into_iter().map(Fit::choice));
        return;
    }
    let divides = classes.get(class).share == ShareRule::Milli;
    if request.share == Milli::WHOLE || !divides {
        choices.extend(choose_devices(node, free, classes, request, class));
        return;
    }
    let start = choices.len();
    let suited = suited(node, free, request, class);
    choices.extend(suited.map(|one| DeviceChoice::Share(index_of(one))));
    let fit = |choice: &DeviceChoice| match choice {
        DeviceChoice::Share(device) => fit(free, device.index()),
        DeviceChoice::Whole | DeviceChoice::These(_) | DeviceChoice::Slice(..) => {
            unreachable!("shares were asked for")
        }
    };
    choices[start..].sort_unstable_by_key(fit);
    let mut last = None;
    let mut position = 0;
    choices.retain(|choice| {
        position += 1;
        if position <= start {
            return true;
        }
        let (share, memory, _) = fit(choice);
        let is_new = last != Some((share, memory));
        last = Some((share, memory));
        is_new
    });
}

/// A slice of a device; the least fits best.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Fit {
    /// What is free of the device.
    left: (Milli, Bytes),
    /// Which of its slots are taken.
    taken: Slots,
    device: DeviceIndex,
    placed: Slots,
}

impl Fit {
    fn choice(self) -> DeviceChoice {
        DeviceChoice::Slice(self.device, self.placed)
    }
}

/// The devices of a class that have a place for the slice that is asked for.
fn slices<'a>(
    node: &'a Node,
    free: &'a Free,
    classes: &'a Classes,
    (request, class): (&'a DeviceRequest, ClassId),
) -> impl Iterator<Item = Fit> + 'a {
    let of = classes.get(class);
    let profile = of.profile_of(request);
    suited(node, free, request, class).filter_map(move |index| {
        let left = free.devices[index];
        let placed = of.place(profile?, left.slots)?;
        let left_over = (left.share, left.memory);
        Some(Fit { left: left_over, taken: left.slots, device: index_of(index), placed })
    })
}

/// The devices of a class of which the share and memory asked for are free.
fn suited<'a>(
    node: &'a Node,
    free: &'a Free,
    request: &'a DeviceRequest,
    class: ClassId,
) -> impl Iterator<Item = usize> + 'a {
    let devices = node.devices.iter().zip(&free.devices).enumerate();
    let suits = move |(_, (of, left)): &(usize, (&ClassId, &DeviceFree))| {
        **of == class && left.share >= request.share && left.memory >= request.memory
    };
    devices.filter(suits).map(|(index, _)| index)
}

/// How tightly a share fits on a device; the least fits best.
fn fit(free: &Free, device: usize) -> (Milli, Bytes, usize) {
    let left = free.devices[device];
    (left.share, left.memory, device)
}

fn index_of(device: usize) -> DeviceIndex {
    DeviceIndex(u16::try_from(device).expect("a node has fewer than 65,536 devices"))
}

fn grant_of(index: usize, request: &DeviceRequest) -> DeviceGrant {
    let (share, memory) = (request.share, request.memory);
    DeviceGrant { device: index_of(index), share, memory, slots: Slots::default() }
}
