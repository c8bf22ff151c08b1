//! Effects: the ways in which a group takes a task, and what each does to the node.
//!
//! What no tier weighs is not worked out. What a node is good for before the
//! choice is kept for each group; the rest is kept only where jobs of one shape
//! and unlike work ask for it again and again.

use std::sync::Arc;

use fleet::explanation::TierInForce;
use fleet::node::DeviceChoice;
use fleet::policy::Objective;
use fleet::snapshot::{Amounts, Mix};
use fleet::{
    Alternative, ClassId, Classes, DeviceFree, DeviceGrant, Free, Grant, Milli, Policy, Snapshot,
};

use crate::communication;
use crate::feasible::{self, Devices, Rules, Standing, Way, Ways};
use crate::groups::{Group, GroupId, Groups};
use crate::objective::outlook::Outlook;
use crate::objective::{Effects, fragmentation, interference, remote, utilisation};
use crate::shapes::{ShapeId, Shapes, watts};

/// The most groups of which options are kept, over all shapes; at some 100 bytes each. Past it they
/// are forgotten.
const KEPT_MAX: usize = 1_000_000;

/// One way to take a task, with what it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choosable {
    pub(crate) way: Way,
    pub(crate) effects: Effects,
}

/// Works out effects.
#[derive(Debug, Default)]
pub(crate) struct Appraiser {
    classes: Arc<Classes>,
    oversubscribe: Milli,
    mix: Arc<Mix>,
    outlook: Outlook,
    shapes_epoch: u64,
    makes_version: u64,
    rarities: Vec<f64>,
    weighs: Weighs,
    /// Grows when effects of equal choices may have become others.
    pub(crate) version: u64,
    /// By slot, what the node is good for as it is.
    before: Vec<Before>,
    /// By shape and slot.
    kept: Vec<Vec<Option<Kept>>>,
    kept_count: usize,
    /// How often effects were worked out.
    pub(crate) worked_out: u64,
    ways: Ways,
    options: Vec<Choosable>,
    /// What is free of the devices of a node, while choices are tried on it.
    devices: Vec<DeviceFree>,
}

/// The stamp of a group, and what it offers.
type Kept = (u64, Box<[Choosable]>);

/// Which objectives some tier weighs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Weighs {
    utilisation: bool,
    fragmentation: bool,
    companion: bool,
    rarity: bool,
    energy: bool,
}

/// What a node is good for before a choice.
#[derive(Clone, Copy, Debug, Default)]
struct Before {
    stamp: u64,
    version: u64,
    /// Free thousandths of a device.
    share: u64,
    /// Whether it has devices, all of them wholly free.
    is_whole: bool,
    unusable: f64,
    accompanied: f64,
}

impl Appraiser {
    /// Takes in what effects depend on, and forgets what no longer holds.
    pub(crate) fn sync(
        &mut self,
        snapshot: &Snapshot,
        groups: &Groups,
        shapes: &Shapes,
        tiers: &[TierInForce],
        policy: &Policy,
    ) {
        let (weighs, looks_ahead) = (Weighs::of(tiers), policy.batch.is_some());
        let mut is_new = weighs != self.weighs || shapes.epoch != self.shapes_epoch;
        self.oversubscribe = policy.oversubscribe;
        self.shapes_epoch = shapes.epoch;
        self.weighs = weighs;
        if !Arc::ptr_eq(&self.classes, &snapshot.classes) {
            self.classes = Arc::clone(&snapshot.classes);
            self.mix = Arc::default();
            self.outlook = Outlook::default();
            is_new = true;
        }
        if (weighs.fragmentation || weighs.companion || looks_ahead)
            && !Arc::ptr_eq(&self.mix, &snapshot.mix)
            && self.mix != snapshot.mix
        {
            self.mix = Arc::clone(&snapshot.mix);
            self.outlook = Outlook::new(&self.mix, &self.classes);
            is_new = true;
        }
        if self.makes_version != groups.makes_version {
            self.makes_version = groups.makes_version;
            self.rarities = groups.rarities();
            is_new = true;
        }
        if is_new {
            self.version += 1;
        }
        if is_new || self.kept_count > KEPT_MAX {
            self.kept.clear();
            self.kept_count = 0;
        }
    }

    /// What a group that has room offers a shape, kept for the next time.
    pub(crate) fn kept(
        &mut self,
        shape: ShapeId,
        shapes: &Shapes,
        id: GroupId,
        group: &Group,
    ) -> &[Choosable] {
        let (position, slot) = (shape.index(), id.index());
        let known = self.kept.get(position).and_then(|row| row.get(slot)?.as_ref());
        if known.is_none_or(|(stamp, _)| *stamp != group.stamp) {
            let found: Box<[Choosable]> = self.options(shape, shapes, id, group).into();
            if self.kept.len() <= position {
                self.kept.resize_with(position + 1, Vec::new);
            }
            let row = &mut self.kept[position];
            if row.len() <= slot {
                row.resize_with(slot + 1, || None);
            }
            self.kept_count += usize::from(row[slot].is_none());
            row[slot] = Some((group.stamp, found));
        }
        let known = self.kept[position][slot].as_ref();
        &known.expect("just made sure of").1
    }

    /// What a group that has room offers a shape, the most wanted first.
    pub(crate) fn options(
        &mut self,
        shape: ShapeId,
        shapes: &Shapes,
        id: GroupId,
        group: &Group,
    ) -> &[Choosable] {
        // Devices that differ only in what is free of them make a difference to this one only:
        // the local rule wakes no device where one that is awake will do.
        let devices = if self.weighs.fragmentation { Devices::Every } else { Devices::ByRule };
        let alternative = shapes.alternative(shape);
        let Group { node, up, free, .. } = group;
        self.ways.clear();
        let rules = Rules { classes: &self.classes, oversubscribe: self.oversubscribe };
        if shapes.standing(shape, group.make) == Some(Standing::BySummary) {
            feasible::ways_by_summary(alternative, (node, free), rules, devices, &mut self.ways);
        } else {
            feasible::judge(alternative, node, *up, free, rules, devices, &mut self.ways);
        }
        self.worked_out += 1;
        let before = self.before(id, group);
        self.devices.clone_from(&free.devices);
        self.options.clear();
        for position in 0..self.ways.found.len() {
            let way = self.ways.found[position];
            let effects = self.effects(alternative, group, before, way);
            self.options.push(Choosable { way, effects });
        }
        &self.options
    }

    /// What the unusable capacity of a node grows by when a task takes this, in millionths of a
    /// device.
    pub(crate) fn growth(&self, group: &Group, grant: &Grant) -> i64 {
        let unusable = |free: &Free| {
            let amounts = Amounts::of_free(free);
            1000.0 * self.outlook.unusable(&group.node, amounts, &free.devices)
        };
        let mut after = group.free.clone();
        after.take(grant);
        #[expect(clippy::cast_possible_truncation, reason = "a node has far fewer devices")]
        let growth = (unusable(&after) - unusable(&group.free)).round() as i64;
        growth
    }

    fn effects(
        &mut self,
        alternative: &Alternative,
        group: &Group,
        before: Before,
        way: Way,
    ) -> Effects {
        let (node, weighs, request) = (&group.node, self.weighs, &alternative.request);
        let taken = Taken::new(alternative, way);
        let after = Amounts {
            cores: group.free.cores - request.cores,
            memory: group.free.memory - request.memory,
            share: before.share - taken.share(),
        };
        let mut effects = Effects::default();
        let mut grant = None;
        if node.topology.is_some() && request.looks_inside() {
            let found = way.grant(alternative, node, &group.free);
            let crowding = interference::crowding(node, &group.free, &found);
            effects.stretch += remote::stretch(node, request, &found) + crowding.own;
            effects.imposed = crowding.imposed;
            grant = Some(found);
        }
        if weighs.energy {
            let cores = node.added_core_draw(group.free.cores, request.cores);
            let extra = self.classes.get(way.class).power.extra();
            effects.added_watts = watts(cores) + watts(extra) * f64::from(taken.woken(group));
        }
        if weighs.utilisation {
            effects.stranded = utilisation::stranded(node, after);
        }
        if weighs.fragmentation {
            match &grant {
                Some(grant) => take(&mut self.devices, &grant.devices),
                None => taken.apply(&mut self.devices, &node.devices, way.class),
            }
            let unusable = self.outlook.unusable(node, after, &self.devices);
            effects.capacity_lost =
                fragmentation::capacity_lost(before.unusable, unusable, taken.share());
            self.devices.clone_from(&group.free.devices);
        }
        if weighs.companion {
            let accompanied = self.outlook.accompanied(node, after);
            effects.companions_lost = (before.accompanied - accompanied).max(0.0);
        }
        if weighs.rarity && before.is_whole && after.share > 0 {
            effects.rarity = self.rarities[group.make.0 as usize];
        }
        if alternative.communication.is_some() {
            let rate = alternative.rate(&self.classes.get(way.class).model);
            let rate = rate.map_or(0.0, |rate| rate.0 as f64 / 1e6);
            effects.stretch += communication::stretch(alternative, group, way, rate);
        }
        effects
    }

    fn before(&mut self, id: GroupId, group: &Group) -> Before {
        if group.stamp == 0 {
            return self.work_out_before(group);
        }
        let slot = id.index();
        if self.before.len() <= slot {
            self.before.resize(slot + 1, Before::default());
        }
        let known = self.before[slot];
        if (known.stamp, known.version) == (group.stamp, self.version) {
            return known;
        }
        let found = self.work_out_before(group);
        self.before[slot] = found;
        found
    }

    fn work_out_before(&self, group: &Group) -> Before {
        let (node, free) = (&group.node, Amounts::of_free(&group.free));
        let mut found = Before {
            stamp: group.stamp,
            version: self.version,
            share: free.share,
            is_whole: !node.devices.is_empty()
                && group.free.devices.iter().all(|left| left.share == Milli::WHOLE),
            ..Before::default()
        };
        if self.weighs.fragmentation {
            found.unusable = self.outlook.unusable(node, free, &group.free.devices);
        }
        if self.weighs.companion {
            found.accompanied = self.outlook.accompanied(node, free);
        }
        found
    }
}

/// Takes what is granted from what is free.
fn take(free: &mut [DeviceFree], grants: &[DeviceGrant]) {
    for held in grants {
        let left = &mut free[held.device.index()];
        left.share -= held.share;
        left.memory -= held.memory;
        left.slots = left.slots.with(held.slots);
    }
}

/// What a way takes of the devices of a node.
#[derive(Clone, Copy)]
struct Taken {
    choice: Option<DeviceChoice>,
    count: u32,
    held: DeviceFree,
}

impl Taken {
    fn new(alternative: &Alternative, way: Way) -> Self {
        match &alternative.request.devices {
            None => Self { choice: None, count: 0, held: DeviceFree::default() },
            Some(wanted) => Self {
                choice: way.devices,
                count: wanted.count,
                held: DeviceFree {
                    share: wanted.share,
                    memory: wanted.memory,
                    ..DeviceFree::default()
                },
            },
        }
    }

    /// In thousandths of a device.
    fn share(self) -> u64 {
        u64::from(self.count) * u64::from(self.held.share.0)
    }

    /// How many devices were idle before.
    fn woken(self, group: &Group) -> u32 {
        match self.choice {
            None => 0,
            Some(DeviceChoice::Whole | DeviceChoice::These(_)) => self.count,
            Some(DeviceChoice::Share(device) | DeviceChoice::Slice(device, _)) => {
                u32::from(group.free.devices[device.index()].share == Milli::WHOLE)
            }
        }
    }

    fn apply(self, free: &mut [DeviceFree], of: &[ClassId], class: ClassId) {
        let take = |left: &mut DeviceFree| {
            left.share -= self.held.share;
            left.memory -= self.held.memory;
        };
        match self.choice {
            None => {}
            Some(DeviceChoice::Share(device)) => take(&mut free[device.index()]),
            Some(DeviceChoice::Slice(device, slots)) => {
                let left = &mut free[device.index()];
                take(left);
                left.slots = left.slots.with(slots);
            }
            Some(DeviceChoice::Whole) => {
                let suits = |(left, of): &(&mut DeviceFree, &ClassId)| {
                    **of == class && left.share == Milli::WHOLE && left.memory >= self.held.memory
                };
                let suited = free.iter_mut().zip(of).filter(suits).take(self.count as usize);
                suited.for_each(|(left, _)| take(left));
            }
            Some(DeviceChoice::These(set)) => {
                set.devices().for_each(|device| take(&mut free[device.index()]));
            }
        }
    }
}

impl Weighs {
    fn of(tiers: &[TierInForce]) -> Self {
        let weighs = |objective: Objective| {
            tiers.iter().any(|tier| !tier.weights[objective.position()].is_zero())
        };
        Self {
            utilisation: weighs(Objective::Utilisation),
            fragmentation: weighs(Objective::Fragmentation),
            companion: weighs(Objective::Companion),
            rarity: weighs(Objective::Rarity),
            energy: weighs(Objective::Energy),
        }
    }
}
