//! Rankings: for one kind of demand the best choice on every group, and the best of all at hand.
//!
//! A ranking is a heap of choices. When a group changes its new best choice is
//! put in; the old one stays until it comes to the top and is seen to be of a
//! group that is no more. So a decision costs what changed since the last one,
//! not what there is. Jobs have one ranking together where everything that a
//! score depends on is the same.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use fleet::explanation::TierInForce;
use fleet::policy::Scale;
use fleet::{ClassId, NodeId, Signals, Work};

use crate::groups::{Change, GroupId, Groups, Summary};
use crate::score::Tiers;
use crate::shapes::{JobShape, Shapes};

/// The most entries kept, over all rankings; of 40 bytes each. Past it the rankings that were not
/// used for longest are forgotten.
const ENTRIES_MAX: usize = 12_000_000;

/// How many entries a ranking may have before it is cleaned, where few of them hold.
const SPARE_ENTRIES: usize = 4096;

/// The most demands that are remembered without a ranking.
const ONCE_MAX: usize = 4096;

/// What the scores of a job's choices depend on, beside groups, weights and mix.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key {
    pub(crate) shape: JobShape,
    pub(crate) work: Option<Work>,
    /// Alternatives and classes that the job does not take yet.
    pub(crate) spared: Vec<(usize, ClassId)>,
}

/// One choice, as far as it takes to compare it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Weight {
    pub(crate) tiers: Tiers,
    pub(crate) node: NodeId,
    pub(crate) alternative: u16,
    pub(crate) class: ClassId,
    /// Which of the group's options.
    pub(crate) option: u16,
}

impl Weight {
    /// The same choice on another of the equal nodes.
    pub(crate) fn on(self, node: NodeId) -> Self {
        Self { node, ..self }
    }

    /// Whether it goes before another one: the larger score, then the lower alternative, node,
    /// class, option.
    pub(crate) fn beats(&self, other: &Self) -> bool {
        self.order(other) == Ordering::Less
    }

    /// The one that goes first is the lesser.
    pub(crate) fn order(&self, other: &Self) -> Ordering {
        let names = |one: &Self| (one.alternative, one.node, one.class, one.option);
        other.tiers.cmp(&self.tiers).then_with(|| names(self).cmp(&names(other)))
    }

    /// Whether only the name of the node is between them.
    pub(crate) fn ties(&self, other: &Self) -> bool {
        (self.tiers, self.alternative) == (other.tiers, other.alternative)
    }
}

/// What all scores depend on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Basis {
    pub(crate) tiers: Vec<TierInForce>,
    pub(crate) scale: Scale,
    /// The signals that are weighed, by slot, and their numbers.
    pub(crate) externals: Vec<String>,
    pub(crate) signals: Arc<Signals>,
    /// Versions of effects and of shapes.
    pub(crate) effects: u64,
    pub(crate) shapes: u64,
}

/// The rankings that are kept.
#[derive(Debug, Default)]
pub(crate) struct Rankings {
    basis: Option<Basis>,
    by_key: BTreeMap<Key, Ranking>,
    once: BTreeMap<Key, ()>,
    uses: u64,
}

/// One ranking.
#[derive(Debug, Default)]
pub(crate) struct Ranking {
    /// How many changes of groups it has seen; `None` before the first look.
    cursor: Option<u64>,
    heap: BinaryHeap<Entry>,
    used: u64,
}

/// The best choice on a group in one of its states. Of two the one that goes first is larger.
#[derive(Clone, Copy, Debug)]
struct Entry {
    weight: Weight,
    slot: GroupId,
    stamp: u64,
}

impl Entry {
    /// Whether its group is as it was weighed.
    fn holds(&self, groups: &Groups) -> bool {
        let Summary { stamp, nodes, first, .. } = groups.summaries()[self.slot.index()];
        nodes > 0 && stamp == self.stamp && first == self.weight.node
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        let state = |one: &Self| (one.slot, one.stamp);
        other.weight.order(&self.weight).then_with(|| state(other).cmp(&state(self)))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Entry {}

impl Rankings {
    /// Forgets everything where scores may have become others.
    pub(crate) fn sync(&mut self, basis: Basis) {
        if self.basis.as_ref() != Some(&basis) {
            *self = Self { basis: Some(basis), uses: self.uses, ..Self::default() };
        }
    }

    /// The ranking of a demand; `None` where it is asked for the first time and may be the last.
    pub(crate) fn get(&mut self, key: &Key, is_lasting: bool) -> Option<&mut Ranking> {
        self.uses += 1;
        if !self.by_key.contains_key(key) {
            if !is_lasting && self.once.remove(key).is_none() {
                if self.once.len() == ONCE_MAX {
                    self.once.clear();
                }
                self.once.insert(key.clone(), ());
                return None;
            }
            self.make_room();
            self.by_key.insert(key.clone(), Ranking::default());
        }
        let ranking = self.by_key.get_mut(key).expect("just made sure of");
        ranking.used = self.uses;
        Some(ranking)
    }

    fn make_room(&mut self) {
        let mut entries: usize = self.by_key.values().map(|ranking| ranking.heap.capacity()).sum();
        while entries > ENTRIES_MAX {
            let oldest = self.by_key.iter().min_by_key(|(_, ranking)| ranking.used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { return };
            let forgotten = self.by_key.remove(&key);
            entries -= forgotten.map_or(0, |ranking| ranking.heap.capacity());
        }
    }
}

impl Ranking {
    /// Weighs every group that changed since the last time and has room.
    pub(crate) fn refresh(
        &mut self,
        groups: &Groups,
        shapes: &Shapes,
        shape: &JobShape,
        mut best_on: impl FnMut(GroupId) -> Option<Weight>,
    ) {
        let changes = self.cursor.and_then(|cursor| groups.log.since(cursor));
        let changes = changes.filter(|changes| changes.len() < groups.slots());
        // What is of no more use is let go once it may be the larger part.
        let live = shapes.count_with_room(shape);
        let most = (2 * live).max(SPARE_ENTRIES.min(8 * live)) + 256;
        let has_space =
            |heap: &BinaryHeap<Entry>, changes: &[Change]| heap.len() + changes.len() <= most;
        if changes.is_some_and(|changes| !has_space(&self.heap, changes)) {
            self.heap.retain(|entry| entry.holds(groups));
        }
        match changes.filter(|changes| has_space(&self.heap, changes)) {
            Some(changes) => {
                for Change { slot, .. } in changes {
                    if shape.iter().any(|one| shapes.has_room(*one, *slot))
                        && let Some(entry) = entry(*slot, groups, &mut best_on)
                    {
                        self.heap.push(entry);
                    }
                }
            }
            None => {
                let mut entries = std::mem::take(&mut self.heap).into_vec();
                entries.clear();
                let live = shapes.with_room(shape);
                entries.extend(live.filter_map(|slot| entry(slot, groups, &mut best_on)));
                self.heap = entries.into();
            }
        }
        self.cursor = Some(groups.log.end());
    }

    /// The best choice of all, and its group.
    pub(crate) fn first(&mut self, groups: &Groups) -> Option<(GroupId, Weight)> {
        let entry = self.clean(groups)?;
        Some((entry.slot, entry.weight))
    }

    /// The best choice on another group than this one.
    pub(crate) fn best_but(&mut self, but: GroupId, groups: &Groups) -> Option<(GroupId, Weight)> {
        let mut aside = Vec::new();
        while self.clean(groups).is_some_and(|entry| entry.slot == but) {
            aside.extend(self.heap.pop());
        }
        let found = self.first(groups);
        self.heap.extend(aside);
        found
    }

    /// The best choices of groups while `wants` says so of the next one, the best first.
    pub(crate) fn while_wanted(
        &mut self,
        groups: &Groups,
        mut wants: impl FnMut(&Weight) -> bool,
    ) -> Vec<(GroupId, Weight)> {
        let mut found: Vec<Entry> = Vec::new();
        while let Some(entry) = self.clean(groups) {
            if found.last() == Some(&entry) {
                self.heap.pop();
                continue;
            }
            if !wants(&entry.weight) {
                break;
            }
            self.heap.pop();
            found.push(entry);
        }
        self.heap.extend(found.iter().copied());
        found.into_iter().map(|entry| (entry.slot, entry.weight)).collect()
    }

    /// The largest entry whose group is as it was weighed.
    fn clean(&mut self, groups: &Groups) -> Option<Entry> {
        while let Some(entry) = self.heap.peek() {
            if entry.holds(groups) {
                return Some(*entry);
            }
            self.heap.pop();
        }
        None
    }
}

fn entry(
    slot: GroupId,
    groups: &Groups,
    best_on: &mut impl FnMut(GroupId) -> Option<Weight>,
) -> Option<Entry> {
    let stamp = groups.summaries()[slot.index()].stamp;
    best_on(slot).map(|weight| Entry { weight, slot, stamp })
}
