//! Groups of equal nodes.
//!
//! Nodes of equal make and equal state are interchangeable, so a choice is
//! judged once per group and the lowest id of the group is taken. A group
//! keeps its slot while it has nodes. Whenever the state in a slot changes it
//! gets a new stamp, by which whoever remembers something about it knows that
//! it is another group now, and the slot is written to a log, by which whoever
//! remembers something about all groups looks only at what changed.

mod log;
mod summary;

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash as _, Hasher as _};
use std::sync::Arc;

use fleet::device::Power;
use fleet::{
    Attachment, Bandwidth, Bytes, ClassId, Classes, Free, Grant, Level, MilliCores, Node,
    NodeEntry, NodeId, Serial, Signals, Snapshot, Topology,
};
use hashbrown::HashTable;
use rustc_hash::FxHasher;

pub(crate) use log::Change;
use log::Log;
pub(crate) use summary::Summary;

/// The position of a group among all groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupId(pub(crate) u32);

impl GroupId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The position of a make among all makes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct MakeId(pub(crate) u32);

/// Nodes that are equal in everything that a decision can depend on, but for their id.
#[derive(Debug)]
pub(crate) struct Group {
    /// Distinguishes this state from every other that is or was in the slot. Zero where it is in
    /// none.
    pub(crate) stamp: u64,
    pub(crate) make: MakeId,
    /// Any one of the equal nodes, for what does not change.
    pub(crate) node: Arc<Node>,
    pub(crate) up: bool,
    pub(crate) free: Free,
    pub(crate) nodes: BTreeSet<NodeId>,
}

impl Group {
    /// The node that is taken when the group is chosen.
    pub(crate) fn first(&self) -> NodeId {
        *self.nodes.first().expect("a group has a node")
    }

    /// A group of one of its nodes alone, that is in no slot.
    pub(crate) fn alone(&self, node: NodeId) -> Self {
        Self {
            stamp: 0,
            make: self.make,
            node: Arc::clone(&self.node),
            up: self.up,
            free: self.free.clone(),
            nodes: BTreeSet::from([node]),
        }
    }

    /// How many nodes it has.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes")
    }
}

/// What makes two nodes the same make: all but id and name, and the numbers of the signals that are
/// weighed.
type MakeKey = (
    (ClassId, MilliCores, Bytes),
    Vec<ClassId>,
    BTreeMap<String, String>,
    (Power, MilliCores),
    (Bandwidth, Option<Arc<Topology>>, Option<Arc<Attachment>>),
    Vec<Option<Level>>,
);

/// The signals of a snapshot where some are weighed, else none: others may change and make no
/// difference.
pub(crate) fn weighed_signals(snapshot: &Snapshot, externals: &[String]) -> Arc<Signals> {
    if externals.is_empty() { Arc::default() } else { Arc::clone(&snapshot.signals) }
}

/// Nodes of one make.
#[derive(Debug)]
struct Make {
    /// Any one of them.
    node: Arc<Node>,
    /// Whether their devices are all of one class.
    is_uniform: bool,
    /// How many are up.
    up: u32,
}

/// All groups of a fleet.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    serial: Option<Serial>,
    classes: Arc<Classes>,
    /// The signals that are weighed, and their numbers.
    externals: Vec<String>,
    signals: Arc<Signals>,
    make_ids: BTreeMap<MakeKey, MakeId>,
    makes: Vec<Make>,
    /// Grows when the number of nodes of a make that are up changes.
    pub(crate) makes_version: u64,
    make_of: Vec<(Arc<Node>, MakeId)>,
    slots: Vec<Option<Group>>,
    /// By slot, the groups in short, so that a look at many of them stays in near memory.
    summaries: Vec<Summary>,
    vacant: BTreeSet<GroupId>,
    /// Slots by the hash of make and state; only ever asked, never walked through.
    by_state: HashTable<GroupId>,
    group_of: Vec<GroupId>,
    stamps: u64,
    /// Grows when makes are numbered anew.
    pub(crate) epoch: u64,
    pub(crate) log: Log,
    /// Nodes that the last plan changed here and the world may not have.
    planned: Vec<NodeId>,
    /// Room for one state, to be used again.
    spare: Free,
}

impl Groups {
    /// Makes the groups those of the snapshot, looking only at what changed where that is known.
    /// The signals named are those that the policy weighs.
    pub(crate) fn sync(&mut self, snapshot: &Snapshot, externals: &[String]) {
        let signals = weighed_signals(snapshot, externals);
        let follows = self.serial.is_some() && snapshot.changes.since == self.serial;
        let same_fleet = self.group_of.len() == snapshot.nodes.len()
            && (Arc::ptr_eq(&self.classes, &snapshot.classes) || self.classes == snapshot.classes);
        let same_signals = self.externals == externals && self.signals == signals;
        if follows && same_fleet && same_signals {
            let mut planned = std::mem::take(&mut self.planned);
            for id in planned.iter().chain(&snapshot.changes.nodes) {
                self.put(*id, snapshot.node(*id));
            }
            planned.clear();
            self.planned = planned;
        } else {
            let mut log = std::mem::take(&mut self.log);
            log.forget();
            let (stamps, makes_version, epoch) =
                (self.stamps, self.makes_version + 1, self.epoch + 1);
            *self = Self { stamps, makes_version, epoch, log, ..Self::default() };
            self.classes = Arc::clone(&snapshot.classes);
            self.externals = externals.to_vec();
            self.signals = signals;
            for entry in snapshot.nodes.iter() {
                self.put(entry.node.id, entry);
            }
        }
        self.serial = Some(snapshot.serial);
        assert_eq!(self.group_of.len(), snapshot.nodes.len(), "every node is in a group");
    }

    /// The group in a slot.
    pub(crate) fn get(&self, id: GroupId) -> &Group {
        self.slots[id.index()].as_ref().expect("a live group")
    }

    /// The group that a node is in.
    pub(crate) fn group_of(&self, node: NodeId) -> GroupId {
        self.group_of[node.index()]
    }

    /// The groups in short, by slot; without nodes where there is none.
    pub(crate) fn summaries(&self) -> &[Summary] {
        &self.summaries
    }

    /// Any one node of a make, and whether its devices are all of one class.
    pub(crate) fn make(&self, make: MakeId) -> (&Node, bool) {
        let Make { node, is_uniform, .. } = &self.makes[make.0 as usize];
        (node, *is_uniform)
    }

    /// How many groups there are.
    pub(crate) fn count(&self) -> u64 {
        (self.slots.len() - self.vacant.len()) as u64
    }

    /// How many slots there are: one more than the largest position of a group.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// How many makes there are or were.
    pub(crate) fn makes(&self) -> usize {
        self.makes.len()
    }

    /// One node of each make of which at least one is up.
    pub(crate) fn makes_up(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.makes.iter().filter(|make| make.up > 0).map(|make| &make.node)
    }

    /// How rare nodes of each make are: nodes that are up ÷ those of them that have at least as
    /// many cores, as much memory and as many devices.
    pub(crate) fn rarities(&self) -> Vec<f64> {
        let all: u32 = self.makes.iter().map(|make| make.up).sum();
        let size = |node: &Node| (node.cores, node.memory, node.devices.len());
        let as_large = |make: &Make| {
            let (cores, memory, devices) = size(&make.node);
            let others = self.makes.iter().filter(move |other| {
                let other = size(&other.node);
                other.0 >= cores && other.1 >= memory && other.2 >= devices
            });
            others.map(|other| other.up).sum::<u32>()
        };
        self.makes.iter().map(|make| f64::from(all) / f64::from(as_large(make).max(1))).collect()
    }

    /// Takes what a planned run gets.
    pub(crate) fn take(&mut self, id: NodeId, grant: &Grant) {
        let group = self.slots[self.group_of[id.index()].index()].as_ref();
        let group = group.expect("a node's group is live");
        let (make, up) = (group.make, group.up);
        let mut free = std::mem::take(&mut self.spare);
        copy(&mut free, &group.free);
        free.take(grant);
        self.planned.push(id);
        self.move_to(id, make, up, free);
    }

    fn put(&mut self, id: NodeId, entry: &NodeEntry) {
        let make = self.make_for(id, &entry.node);
        let old = self.group_of.get(id.index()).map(|group| self.get(*group));
        if old.is_some_and(|old| (old.make, old.up) == (make, entry.up) && old.free == entry.free) {
            return;
        }
        let was_up = old.filter(|old| old.up).map(|old| old.make);
        let is_up = entry.up.then_some(make);
        if was_up != is_up {
            if let Some(make) = is_up {
                self.makes[make.0 as usize].up += 1;
            }
            if let Some(make) = was_up {
                self.makes[make.0 as usize].up -= 1;
            }
            self.makes_version += 1;
        }
        let mut free = std::mem::take(&mut self.spare);
        copy(&mut free, &entry.free);
        self.move_to(id, make, entry.up, free);
    }

    /// What the signals that are weighed say about a node itself.
    fn levels(&self, id: NodeId) -> Vec<Option<Level>> {
        let signal = |name: &String| self.signals.by_name.get(name.as_str());
        let level = |name: &String| signal(name)?.nodes.get(&id).copied();
        self.externals.iter().map(level).collect()
    }

    fn make_for(&mut self, id: NodeId, node: &Arc<Node>) -> MakeId {
        if let Some((known, make)) = self.make_of.get(id.index())
            && Arc::ptr_eq(known, node)
        {
            return *make;
        }
        let key = (
            (node.cpu, node.cores, node.memory),
            node.devices.clone(),
            node.labels.clone(),
            (node.power, node.socket),
            (node.network, node.topology.clone(), node.attachment.clone()),
            self.levels(id),
        );
        let next = MakeId(u32::try_from(self.makes.len()).expect("fewer than 2^32 makes"));
        let make = *self.make_ids.entry(key).or_insert(next);
        if make == next {
            let is_uniform = node.devices.iter().all(|class| *class == node.devices[0]);
            self.makes.push(Make { node: Arc::clone(node), is_uniform, up: 0 });
        }
        let entry = (Arc::clone(node), make);
        match self.make_of.get_mut(id.index()) {
            Some(known) => *known = entry,
            None => self.make_of.push(entry),
        }
        make
    }

    fn move_to(&mut self, id: NodeId, make: MakeId, up: bool, free: Free) {
        let old = self.group_of.get(id.index()).copied();
        let hash = hash(make, up, &free);
        let known = self.by_state.find(hash, |slot| {
            let group = self.get(*slot);
            group.make == make && group.up == up && group.free == free
        });
        let known = known.copied();
        let alone = old.filter(|old| self.get(*old).nodes.len() == 1);
        let group = match (known, alone) {
            // Who takes nothing stays where it is.
            (Some(known), _) if old == Some(known) => {
                self.spare = free;
                return;
            }
            (Some(known), _) => {
                self.spare = free;
                self.leave(id, old);
                known
            }
            (None, Some(alone)) => {
                self.change(alone, hash, (make, up, free));
                return;
            }
            (None, None) => {
                self.leave(id, old);
                self.open(hash, (make, up, free))
            }
        };
        self.slots[group.index()].as_mut().expect("just made sure of").nodes.insert(id);
        let after = self.summarise(group);
        self.log.push(group, after - 1, after);
        match self.group_of.get_mut(id.index()) {
            Some(known) => *known = group,
            None => self.group_of.push(group),
        }
    }

    /// Takes a node out of its group, and the group away with its last node.
    fn leave(&mut self, id: NodeId, old: Option<GroupId>) {
        let Some(old) = old else { return };
        let group = self.slots[old.index()].as_mut().expect("a node's group is live");
        let before = group.count();
        group.nodes.remove(&id);
        self.log.push(old, before, before - 1);
        if group.nodes.is_empty() {
            let hash = hash(group.make, group.up, &group.free);
            if let Ok(entry) = self.by_state.find_entry(hash, |slot| *slot == old) {
                entry.remove();
            }
            self.slots[old.index()] = None;
            self.summaries[old.index()] = Summary::default();
            self.vacant.insert(old);
        } else {
            self.summarise(old);
        }
    }

    /// Gives a group of one node another state, in its slot.
    fn change(&mut self, id: GroupId, new_hash: u64, (make, up, free): (MakeId, bool, Free)) {
        self.stamps += 1;
        let group = self.slots[id.index()].as_mut().expect("a live group");
        let old_hash = hash(group.make, group.up, &group.free);
        if let Ok(entry) = self.by_state.find_entry(old_hash, |slot| *slot == id) {
            entry.remove();
        }
        if group.make != make {
            group.node = Arc::clone(&self.makes[make.0 as usize].node);
        }
        group.stamp = self.stamps;
        (group.make, group.up) = (make, up);
        self.spare = std::mem::replace(&mut group.free, free);
        self.summarise(id);
        self.log.push(id, 1, 1);
        self.insert_hash(new_hash, id);
    }

    /// Opens a group without nodes.
    fn open(&mut self, hash: u64, (make, up, free): (MakeId, bool, Free)) -> GroupId {
        self.stamps += 1;
        let known = &self.makes[make.0 as usize];
        let group = Group {
            stamp: self.stamps,
            make,
            node: Arc::clone(&known.node),
            up,
            free,
            nodes: BTreeSet::new(),
        };
        let id = match self.vacant.pop_first() {
            Some(id) => {
                self.slots[id.index()] = Some(group);
                id
            }
            None => {
                self.slots.push(Some(group));
                self.summaries.push(Summary::default());
                GroupId(u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 groups"))
            }
        };
        self.insert_hash(hash, id);
        id
    }

    /// Sums a group up again, and returns how many nodes it has.
    fn summarise(&mut self, id: GroupId) -> u32 {
        let summary = Summary::of(self.get(id));
        self.summaries[id.index()] = summary;
        summary.nodes
    }

    fn insert_hash(&mut self, new_hash: u64, id: GroupId) {
        let slots = &self.slots;
        self.by_state.insert_unique(new_hash, id, |slot| {
            let group = slots[slot.index()].as_ref().expect("a live group");
            hash(group.make, group.up, &group.free)
        });
    }
}

fn copy(to: &mut Free, from: &Free) {
    (to.cores, to.memory) = (from.cores, from.memory);
    to.devices.clone_from(&from.devices);
    to.domains.clone_from(&from.domains);
    to.loads.clone_from(&from.loads);
}

fn hash(make: MakeId, up: bool, free: &Free) -> u64 {
    let mut hasher = FxHasher::default();
    make.hash(&mut hasher);
    up.hash(&mut hasher);
    hasher.write_u64(free.cores.0);
    hasher.write_u64(free.memory.0);
    for left in &free.devices {
        hasher.write_u64(u64::from(left.share.0) | u64::from(left.slots.0) << 32);
        hasher.write_u64(left.memory.0);
    }
    for left in &free.domains {
        hasher.write_u64(left.cores.0);
        hasher.write_u64(left.memory.0);
        hasher.write_u64(left.load.0);
    }
    for load in &free.loads {
        hasher.write_u64(load.0);
    }
    hasher.finish()
}
