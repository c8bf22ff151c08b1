//! Groups of equal nodes.
//!
//! Nodes of equal make and equal state are interchangeable, so a choice is
//! judged once per group and the lowest id of the group is taken. A group
//! keeps its slot while it has nodes; a slot that is used again gets a new
//! stamp, by which whoever remembers something about it knows that it is
//! another group now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::device::Power;
use fleet::{
    Bytes, ClassId, Classes, Free, Grant, MilliCores, Node, NodeEntry, NodeId, Serial, Snapshot,
};

/// The position of a group among all groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct GroupId(u32);

impl GroupId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The position of a make among all makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct MakeId(u32);

/// Nodes that are equal in everything that a decision can depend on, but for their id.
#[derive(Debug)]
pub(crate) struct Group {
    /// Distinguishes this group from an earlier one in the same slot. Never zero.
    pub(crate) stamp: u64,
    /// Any one of the equal nodes, for what does not change.
    pub(crate) node: Arc<Node>,
    pub(crate) up: bool,
    pub(crate) free: Free,
    pub(crate) nodes: BTreeSet<NodeId>,
    key: (MakeId, bool, Free),
}

impl Group {
    /// The node that is taken when the group is chosen.
    pub(crate) fn first(&self) -> NodeId {
        *self.nodes.first().expect("a group has a node")
    }

    /// How many nodes it has.
    pub(crate) fn count(&self) -> u32 {
        u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes")
    }
}

/// What makes two nodes the same make: all but id and name.
type MakeKey = (ClassId, MilliCores, Bytes, Vec<ClassId>, BTreeMap<String, String>, Power);

/// All groups of a fleet.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    serial: Option<Serial>,
    classes: Arc<Classes>,
    makes: BTreeMap<MakeKey, MakeId>,
    /// For each make any one node of it, and how many nodes of it are up.
    make_nodes: Vec<(Arc<Node>, u32)>,
    /// Grows when the set of makes that are up changes.
    pub(crate) makes_version: u64,
    make_of: Vec<(Arc<Node>, MakeId)>,
    slots: Vec<Option<Group>>,
    vacant: BTreeSet<GroupId>,
    by_key: BTreeMap<(MakeId, bool, Free), GroupId>,
    group_of: Vec<GroupId>,
    live: BTreeSet<GroupId>,
    stamps: u64,
    /// Nodes that the last plan changed here and the world may not have.
    planned: BTreeSet<NodeId>,
}

impl Groups {
    /// Makes the groups those of the snapshot, looking only at what changed where that is known.
    pub(crate) fn sync(&mut self, snapshot: &Snapshot) {
        let follows = self.serial.is_some() && snapshot.changes.since == self.serial;
        let same_fleet = self.group_of.len() == snapshot.nodes.len()
            && (Arc::ptr_eq(&self.classes, &snapshot.classes) || self.classes == snapshot.classes);
        if follows && same_fleet {
            let planned = std::mem::take(&mut self.planned);
            for id in planned.iter().chain(&snapshot.changes.nodes) {
                self.put(*id, snapshot.node(*id));
            }
        } else {
            let stamps = self.stamps;
            let makes_version = self.makes_version + 1;
            *self = Self { stamps, makes_version, ..Self::default() };
            self.classes = Arc::clone(&snapshot.classes);
            for entry in snapshot.nodes.iter() {
                self.put(entry.node.id, entry);
            }
        }
        self.serial = Some(snapshot.serial);
        assert_eq!(self.group_of.len(), snapshot.nodes.len(), "every node is in a group");
    }

    /// The groups, in no order that a decision may depend on.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (GroupId, &Group)> {
        self.live.iter().map(|id| (*id, self.get(*id)))
    }

    pub(crate) fn get(&self, id: GroupId) -> &Group {
        self.slots[id.index()].as_ref().expect("a live group")
    }

    /// How many groups there are.
    pub(crate) fn count(&self) -> u64 {
        self.live.len() as u64
    }

    /// How many slots there are or were: one more than the largest position of a group.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// One node of each make of which at least one is up.
    pub(crate) fn makes_up(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.make_nodes.iter().filter(|(_, up)| *up > 0).map(|(node, _)| node)
    }

    /// Takes what a planned run gets.
    pub(crate) fn take(&mut self, id: NodeId, grant: &Grant) {
        let group = self.get(self.group_of[id.index()]);
        let mut free = group.free.clone();
        let (make, up, _) = group.key;
        free.take(grant);
        self.planned.insert(id);
        self.move_to(id, (make, up, free));
    }

    fn put(&mut self, id: NodeId, entry: &NodeEntry) {
        let make = self.make(id, &entry.node);
        let old = self.group_of.get(id.index()).map(|group| self.get(*group).key.clone());
        let key = (make, entry.up, entry.free.clone());
        if old.as_ref() == Some(&key) {
            return;
        }
        let was_up = old.filter(|(_, up, _)| *up).map(|(make, ..)| make);
        let is_up = entry.up.then_some(make);
        if was_up != is_up {
            if let Some(make) = is_up {
                self.count_up(make, true);
            }
            if let Some(make) = was_up {
                self.count_up(make, false);
            }
        }
        self.move_to(id, key);
    }

    fn count_up(&mut self, make: MakeId, more: bool) {
        let up = &mut self.make_nodes[make.0 as usize].1;
        let before = *up;
        *up = if more { before + 1 } else { before - 1 };
        if (before == 0) != (*up == 0) {
            self.makes_version += 1;
        }
    }

    fn make(&mut self, id: NodeId, node: &Arc<Node>) -> MakeId {
        if let Some((known, make)) = self.make_of.get(id.index())
            && Arc::ptr_eq(known, node)
        {
            return *make;
        }
        let key = (
            node.cpu,
            node.cores,
            node.memory,
            node.devices.clone(),
            node.labels.clone(),
            node.power,
        );
        let next = MakeId(u32::try_from(self.make_nodes.len()).expect("fewer than 2^32 makes"));
        let make = *self.makes.entry(key).or_insert(next);
        if make == next {
            self.make_nodes.push((Arc::clone(node), 0));
        }
        let entry = (Arc::clone(node), make);
        match self.make_of.get_mut(id.index()) {
            Some(known) => *known = entry,
            None => self.make_of.push(entry),
        }
        make
    }

    fn move_to(&mut self, id: NodeId, key: (MakeId, bool, Free)) {
        if let Some(old) = self.group_of.get(id.index()).copied() {
            self.leave(id, old);
        }
        let group = self.group_for(key);
        self.slots[group.index()].as_mut().expect("just made sure of").nodes.insert(id);
        match self.group_of.get_mut(id.index()) {
            Some(known) => *known = group,
            None => self.group_of.push(group),
        }
    }

    fn leave(&mut self, id: NodeId, old: GroupId) {
        let slot = &mut self.slots[old.index()];
        let group = slot.as_mut().expect("a node's group is live");
        group.nodes.remove(&id);
        if group.nodes.is_empty() {
            self.by_key.remove(&group.key);
            *slot = None;
            self.live.remove(&old);
            self.vacant.insert(old);
        }
    }

    fn group_for(&mut self, key: (MakeId, bool, Free)) -> GroupId {
        if let Some(id) = self.by_key.get(&key) {
            return *id;
        }
        self.stamps += 1;
        let group = Group {
            stamp: self.stamps,
            node: Arc::clone(&self.make_nodes[key.0.0 as usize].0),
            up: key.1,
            free: key.2.clone(),
            nodes: BTreeSet::new(),
            key: key.clone(),
        };
        let id = match self.vacant.pop_first() {
            Some(id) => {
                self.slots[id.index()] = Some(group);
                id
            }
            None => {
                self.slots.push(Some(group));
                GroupId(u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 groups"))
            }
        };
        self.by_key.insert(key, id);
        self.live.insert(id);
        id
    }
}
