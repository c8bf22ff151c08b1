//! Effects: the ways in which a group takes a task, and what each does to the node.
//!
//! What no tier weighs is not worked out. What a node is good for before the
//! choice is kept for each group; the rest is kept only where jobs of one shape
//! and unlike work ask for it again and again.

use std::sync::Arc;

use fleet::explanation::TierInForce;
use fleet::policy::Objective;
use fleet::snapshot::Mix;
use fleet::{Alternative, ClassId, Classes, Free, Grant, Milli, Snapshot};

use crate::feasible::{self, Devices, Verdict};
use crate::groups::{Group, GroupId, Groups};
use crate::objective::outlook::Outlook;
use crate::objective::{Effects, fragmentation, utilisation};
use crate::shapes::{ShapeId, Shapes, watts};

/// The most options kept, over all shapes; at some 200 bytes each. Past it they are forgotten.
const KEPT_MAX: usize = 1_000_000;

/// One way to take a task, with what it does.
#[derive(Clone, Debug)]
pub(crate) struct Choosable {
    pub(crate) class: ClassId,
    pub(crate) grant: Grant,
    pub(crate) effects: Effects,
}

/// Works out effects.
#[derive(Debug, Default)]
pub(crate) struct Appraiser {
    classes: Arc<Classes>,
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
    /// By shape and slot: the stamp of the group and what was worked out.
    kept: Vec<Vec<Option<Kept>>>,
    kept_count: usize,
    /// How often effects were worked out.
    pub(crate) worked_out: u64,
    spare: Free,
}

/// The stamp of a group, and what it offers.
type Kept = (u64, Arc<[Choosable]>);

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
    ) {
        let weighs = Weighs::of(tiers);
        let mut is_new = weighs != self.weighs || shapes.epoch != self.shapes_epoch;
        self.shapes_epoch = shapes.epoch;
        self.weighs = weighs;
        if !Arc::ptr_eq(&self.classes, &snapshot.classes) {
            self.classes = Arc::clone(&snapshot.classes);
            self.mix = Arc::default();
            self.outlook = Outlook::default();
            is_new = true;
        }
        if (weighs.fragmentation || weighs.companion)
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
        alternative: &Alternative,
        id: GroupId,
        group: &Group,
    ) -> Arc<[Choosable]> {
        let (shape, slot) = (shape.index(), id.index());
        if let Some(Some((stamp, known))) = self.kept.get(shape).and_then(|row| row.get(slot))
            && *stamp == group.stamp
        {
            return Arc::clone(known);
        }
        let found: Arc<[Choosable]> = self.options(alternative, id, group).into();
        if self.kept.len() <= shape {
            self.kept.resize_with(shape + 1, Vec::new);
        }
        let row = &mut self.kept[shape];
        if row.len() <= slot {
            row.resize(slot + 1, None);
        }
        self.kept_count += usize::from(row[slot].is_none());
        row[slot] = Some((group.stamp, Arc::clone(&found)));
        found
    }

    /// What a group that has room offers a shape, the most wanted first.
    pub(crate) fn options(
        &mut self,
        alternative: &Alternative,
        id: GroupId,
        group: &Group,
    ) -> Vec<Choosable> {
        // Devices that differ only in what is free of them make a difference to this one only:
        // the local rule wakes no device where one that is awake will do.
        let devices = if self.weighs.fragmentation { Devices::Every } else { Devices::ByRule };
        let judged = feasible::judge(
            alternative,
            &group.node,
            group.up,
            &group.free,
            &self.classes,
            devices,
        );
        let Verdict::Fits(ways) = judged else { return Vec::new() };
        self.worked_out += 1;
        let before = self.before(id, group);
        let request = &alternative.request;
        let choosable = |way: feasible::Way| {
            let grant =
                Grant { cores: request.cores, memory: request.memory, devices: way.devices };
            Choosable { class: way.class, effects: self.effects(group, before, &grant), grant }
        };
        ways.into_iter().map(choosable).collect()
    }

    fn effects(&mut self, group: &Group, before: Before, grant: &Grant) -> Effects {
        let (node, weighs) = (&group.node, self.weighs);
        let after = &mut self.spare;
        (after.cores, after.memory) = (group.free.cores, group.free.memory);
        after.devices.clone_from(&group.free.devices);
        after.take(grant);
        let mut effects = Effects::default();
        if weighs.energy {
            effects.added_watts = watts(node.added_draw(&group.free, grant, &self.classes));
        }
        if weighs.utilisation {
            effects.stranded = utilisation::stranded(node, after);
        }
        if weighs.fragmentation {
            let unusable = self.outlook.unusable(node, after);
            effects.capacity_lost = fragmentation::capacity_lost(before.unusable, unusable, grant);
        }
        if weighs.companion {
            let accompanied = self.outlook.accompanied(node, after);
            effects.companions_lost = (before.accompanied - accompanied).max(0.0);
        }
        if weighs.rarity && breaks(&group.free, after) {
            effects.rarity = self.rarities[group.make.0 as usize];
        }
        effects
    }

    fn before(&mut self, id: GroupId, group: &Group) -> Before {
        if !self.weighs.fragmentation && !self.weighs.companion {
            return Before::default();
        }
        let slot = id.index();
        if self.before.len() <= slot {
            self.before.resize(slot + 1, Before::default());
        }
        let known = self.before[slot];
        if (known.stamp, known.version) == (group.stamp, self.version) {
            return known;
        }
        let found = Before {
            stamp: group.stamp,
            version: self.version,
            unusable: self.outlook.unusable(&group.node, &group.free),
            accompanied: self.outlook.accompanied(&group.node, &group.free),
        };
        self.before[slot] = found;
        found
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

/// Whether a node with devices was wholly free of them before and is not wholly taken after.
fn breaks(before: &Free, after: &Free) -> bool {
    let is_whole = |left: &fleet::DeviceFree| left.share == Milli::WHOLE;
    !before.devices.is_empty()
        && before.devices.iter().all(is_whole)
        && after.devices.iter().any(|left| !left.share.is_zero())
}
