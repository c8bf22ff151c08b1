//! Rankings: for one kind of demand the best choice on every group, and the best of all at hand.
//!
//! A ranking is a tournament: each inner node of a binary tree names the better
//! of the two groups below it. When a group changes, its own best choice is
//! worked out again and the games on its way to the root are played again, so
//! that a decision costs the number of changes times the logarithm of the
//! number of groups. Jobs have one ranking together where everything that a
//! score depends on is the same.

use std::collections::BTreeMap;

use fleet::explanation::TierInForce;
use fleet::policy::Scale;
use fleet::{ClassId, NodeId, Work};

use crate::groups::{Group, GroupId, Groups};
use crate::score::Tiers;
use crate::shapes::JobShape;

/// The most leaves kept, over all rankings; at some 70 bytes each. Past it the rankings that were
/// not used for longest are forgotten.
const LEAVES_MAX: usize = 12_000_000;

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
    /// Whether it goes before another one: the larger score, then the lower alternative, node,
    /// class, option.
    pub(crate) fn beats(&self, other: &Self) -> bool {
        let names = |one: &Self| (one.alternative, one.node, one.class, one.option);
        self.tiers > other.tiers || (self.tiers == other.tiers && names(self) < names(other))
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
    /// Versions of effects and of shapes.
    pub(crate) effects: u64,
    pub(crate) shapes: u64,
}

/// What one group came to.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Appraisal {
    pub(crate) has_room: bool,
    pub(crate) best: Option<Weight>,
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
    cursor: u64,
    leaves: Vec<Leaf>,
    /// The winner below each inner node; the root is at 1. As many as there are leaves, rounded up
    /// to a power of two.
    tree: Vec<u32>,
    roomy: u32,
    used: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Leaf {
    stamp: u64,
    /// How many nodes have room.
    roomy: u32,
    best: Option<Weight>,
}

/// No group below this node has a choice.
const NOBODY: u32 = u32::MAX;

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
        let mut leaves: usize = self.by_key.values().map(|ranking| ranking.leaves.len()).sum();
        while leaves > LEAVES_MAX {
            let oldest = self.by_key.iter().min_by_key(|(_, ranking)| ranking.used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { return };
            let forgotten = self.by_key.remove(&key);
            leaves -= forgotten.map_or(0, |ranking| ranking.leaves.len());
        }
    }
}

impl Ranking {
    /// Appraises every group that changed since the last time.
    pub(crate) fn refresh(
        &mut self,
        groups: &Groups,
        mut appraise: impl FnMut(GroupId, &Group) -> Appraisal,
    ) {
        let slots = groups.slots();
        let changes = groups.log.since(self.cursor);
        let changes = changes.filter(|changes| changes.len() < slots && !self.leaves.is_empty());
        match changes {
            Some(changes) => {
                self.grow(slots);
                for slot in changes {
                    if self.look(*slot, groups, &mut appraise) {
                        self.play(*slot);
                    }
                }
            }
            None => {
                self.grow(slots);
                for slot in (0..).map(GroupId).take(slots) {
                    self.look(slot, groups, &mut appraise);
                }
                self.play_all();
            }
        }
        self.cursor = groups.log.end();
    }

    /// How many nodes have room.
    pub(crate) fn roomy(&self) -> u32 {
        self.roomy
    }

    /// The best choice of all, and its group.
    pub(crate) fn first(&self) -> Option<(GroupId, Weight)> {
        if self.leaves.is_empty() { None } else { self.named(self.winner(1)) }
    }

    /// The best choice on another group than this one.
    pub(crate) fn best_but(&self, but: GroupId) -> Option<(GroupId, Weight)> {
        let mut at = self.tree.len() + but.index();
        let mut best = NOBODY;
        while at > 1 {
            best = self.better(best, self.winner(at ^ 1));
            at /= 2;
        }
        self.named(best)
    }

    /// Every group whose best choice ties with the best of all, with that choice.
    pub(crate) fn tied(&self) -> Vec<(GroupId, Weight)> {
        let Some((_, first)) = self.first() else { return Vec::new() };
        let mut tied = Vec::new();
        let mut open = vec![1];
        while let Some(at) = open.pop() {
            let Some((group, weight)) = self.named(self.winner(at)) else { continue };
            if !weight.ties(&first) {
                continue;
            }
            if at >= self.tree.len() {
                tied.push((group, weight));
            } else {
                open.extend([2 * at, 2 * at + 1]);
            }
        }
        tied
    }

    fn grow(&mut self, slots: usize) {
        if self.leaves.len() == slots {
            return;
        }
        self.leaves.reserve_exact(slots.saturating_sub(self.leaves.len()));
        self.leaves.resize(slots, Leaf::default());
        let size = slots.next_power_of_two();
        if self.tree.len() != size {
            self.tree = vec![NOBODY; size];
            self.play_all();
        }
    }

    /// Looks again at a slot, and says whether anything is different.
    fn look(
        &mut self,
        slot: GroupId,
        groups: &Groups,
        appraise: &mut impl FnMut(GroupId, &Group) -> Appraisal,
    ) -> bool {
        let old = self.leaves[slot.index()];
        let new = match groups.find(slot) {
            None => Leaf::default(),
            Some(group) if group.stamp == old.stamp => Leaf {
                roomy: if old.roomy > 0 { group.count() } else { 0 },
                best: old.best.map(|best| Weight { node: group.first(), ..best }),
                ..old
            },
            Some(group) => {
                let Appraisal { has_room, best } = appraise(slot, group);
                Leaf { stamp: group.stamp, roomy: if has_room { group.count() } else { 0 }, best }
            }
        };
        self.roomy = self.roomy - old.roomy + new.roomy;
        self.leaves[slot.index()] = new;
        old.best != new.best
    }

    /// Plays the games of one group again.
    fn play(&mut self, slot: GroupId) {
        let mut at = (self.tree.len() + slot.index()) / 2;
        while at >= 1 {
            self.tree[at] = self.better(self.winner(2 * at), self.winner(2 * at + 1));
            at /= 2;
        }
    }

    fn play_all(&mut self) {
        for at in (1..self.tree.len()).rev() {
            self.tree[at] = self.better(self.winner(2 * at), self.winner(2 * at + 1));
        }
    }

    fn winner(&self, at: usize) -> u32 {
        match at.checked_sub(self.tree.len()) {
            None => self.tree[at],
            Some(slot) => match self.leaves.get(slot) {
                Some(Leaf { best: Some(_), .. }) => {
                    u32::try_from(slot).expect("fewer than 2^32 groups")
                }
                _ => NOBODY,
            },
        }
    }

    fn better(&self, one: u32, other: u32) -> u32 {
        let weight = |slot: u32| self.leaves.get(slot as usize).and_then(|leaf| leaf.best);
        match (weight(one), weight(other)) {
            (Some(first), Some(second)) => {
                if second.beats(&first) {
                    other
                } else {
                    one
                }
            }
            (None, Some(_)) => other,
            (_, None) => one,
        }
    }

    fn named(&self, slot: u32) -> Option<(GroupId, Weight)> {
        let leaf = self.leaves.get(slot as usize)?;
        Some((GroupId(slot), leaf.best?))
    }
}
