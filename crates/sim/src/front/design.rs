//! Variants of a policy: other weights, limits and picks, and nothing else changed.
//!
//! In come a policy and the objectives to trade. What the policy weighs beside
//! these is dropped in one half of the variants; in the other it keeps its
//! weight against them together, and only how they share theirs changes.
//! Weights of a vector add up to a thousand.

use std::collections::BTreeMap;

use controller::policy_file::without_idle_signals;
use fleet::policy::{ByUtilisation, Objective, Pick, TIERS_MAX, Weighting, Weights};
use fleet::{Milli, Policy};

use super::Origin;

/// What the weights of a vector add up to: as fine as a file can hold them.
const TOTAL: u64 = 1_000_000;

/// Patience that is tried: from none to waiting five times what a slower device costs.
const PATIENCE: [Milli; 6] =
    [Milli(0), Milli(100), Milli(500), Milli(1000), Milli(2000), Milli(5000)];

/// What becomes of that which a policy weighs beside the objectives that are traded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Others {
    /// It weighs nothing.
    Dropped,
    /// It weighs as much as before, against all that are traded together.
    Kept,
}

/// Draws up variants.
pub(super) struct Variants<'a> {
    base: &'a Policy,
    objectives: &'a [Objective],
}

/// Variants in which one objective goes first, by how much is asked of others.
pub(super) struct Family {
    others: Others,
    first: usize,
    limited: Vec<usize>,
    /// By limit, the position of the point.
    pub(super) asked: BTreeMap<Milli, usize>,
}

impl<'a> Variants<'a> {
    pub(super) fn new(base: &'a Policy, objectives: &'a [Objective]) -> Self {
        Self { base, objectives }
    }

    /// The knee of the objectives; it is found without batches.
    pub(super) fn knee(&self) -> Policy {
        let tiers = vec![Weighting::Fixed(self.equal())];
        let policy = Policy { pick: Pick::Knee, tiers, batch: None, ..self.base.clone() };
        without_idle_signals(policy)
    }

    /// Weights on a lattice, as fine as so many points allow, the corners first.
    pub(super) fn by_weights(&self, most: usize, others: Others) -> Vec<(Origin, Policy)> {
        let parts = self.objectives.len();
        let mut steps = 1;
        while steps < 64 && lattice_size(steps + 1, parts) <= most {
            steps += 1;
        }
        let mut lattice = lattice(steps, parts);
        lattice.sort_by_key(|weights| weights.iter().filter(|weight| **weight > 0).count());
        let variant = |weights: Vec<u32>| {
            let policy = self.weighted(self.tiers(&weights, others));
            (Origin::Weights { others, weights }, policy)
        };
        lattice.into_iter().map(variant).collect()
    }

    /// Other patience, where the policy has any use of it.
    pub(super) fn by_patience(&self) -> Vec<(Origin, Policy)> {
        let variant = |patience: Milli| {
            (Origin::Patience(patience), Policy { patience, ..self.base.clone() })
        };
        PATIENCE.into_iter().filter(|_| self.base.pick.weighs()).map(variant).collect()
    }

    /// Each objective first, with a limit on each other one; and, where there are several others,
    /// with the same limit on all.
    pub(super) fn families(&self) -> Vec<Family> {
        let mut families = Vec::new();
        let mut add = |others, first, limited| {
            families.push(Family { others, first, limited, asked: BTreeMap::new() });
        };
        for others in [Others::Dropped, Others::Kept] {
            for first in 0..self.objectives.len() {
                let rest = (0..self.objectives.len()).filter(|one| *one != first);
                rest.clone().for_each(|one| add(others, first, vec![one]));
                if rest.clone().count() > 1 {
                    add(others, first, rest.collect());
                }
            }
        }
        families
    }

    /// A variant of a family: only where two choices have equal scores, the objectives that are not
    /// first count, all alike.
    pub(super) fn by_limits(&self, family: &Family, at: Milli) -> (Origin, Policy) {
        let mut weights = vec![0; self.objectives.len()];
        weights[family.first] = 1;
        let mut tiers = self.tiers(&weights, family.others);
        let mut limits = BTreeMap::new();
        if !at.is_zero() {
            let mut least = Weights::default();
            for limited in &family.limited {
                let objective = self.objectives[*limited];
                least[objective.position()] = at;
                limits.insert(objective, at);
            }
            tiers.insert(0, Weighting::Limits(least));
        }
        tiers.truncate(TIERS_MAX - 1);
        tiers.push(Weighting::Fixed(self.equal()));
        let first = self.objectives[family.first];
        let others = family.others;
        (Origin::Limits { others, first, limits }, self.weighted(tiers))
    }

    fn weighted(&self, tiers: Vec<Weighting>) -> Policy {
        without_idle_signals(Policy { pick: Pick::Weighted, tiers, ..self.base.clone() })
    }

    /// The tiers of the policy, in the first of which the objectives share their weight like this.
    fn tiers(&self, shares: &[u32], others: Others) -> Vec<Weighting> {
        let mut tiers = match (self.base.pick, others) {
            (Pick::Weighted, Others::Kept) => self.base.tiers.clone(),
            _ => Vec::new(),
        };
        let is_weighing = |tier: &&mut Weighting| !matches!(tier, Weighting::Limits(_));
        match tiers.iter_mut().find(is_weighing) {
            None => tiers.push(Weighting::Fixed(self.shared(&Weights::default(), shares))),
            Some(Weighting::Fixed(weights)) => *weights = self.shared(weights, shares),
            Some(Weighting::ByUtilisation(ByUtilisation { below, between, above, .. })) => {
                for weights in [below, between, above] {
                    *weights = self.shared(weights, shares);
                }
            }
            Some(Weighting::Limits(_)) => {}
        }
        tiers
    }

    /// A vector in which the objectives share what they weigh together like this; all of it, where
    /// they weigh nothing.
    fn shared(&self, weights: &Weights, shares: &[u32]) -> Weights {
        let weight_of = |one: &Objective| u64::from(weights[one.position()].0);
        let all: u64 = Objective::ALL.iter().map(weight_of).sum();
        let (mut shared, traded, total) = match self.objectives.iter().map(weight_of).sum() {
            0 => (Weights::default(), 1, 1),
            traded => (*weights, traded, all),
        };
        for weight in &mut shared {
            *weight = milli(u64::from(weight.0) * TOTAL / total);
        }
        let parts: u64 = shares.iter().map(|share| u64::from(*share)).sum();
        for (objective, share) in self.objectives.iter().zip(shares) {
            let weight = TOTAL * traded / total * u64::from(*share) / parts.max(1);
            shared[objective.position()] = milli(weight);
        }
        shared
    }

    /// The objectives, all alike, and nothing else.
    fn equal(&self) -> Weights {
        let mut weights = Weights::default();
        for objective in self.objectives {
            weights[objective.position()] = Milli::WHOLE;
        }
        weights
    }
}

fn milli(number: u64) -> Milli {
    Milli(u32::try_from(number).expect("a part of a million"))
}

/// Every way to divide so many steps into parts, in order.
fn lattice(steps: u32, parts: usize) -> Vec<Vec<u32>> {
    if parts <= 1 {
        return vec![vec![steps; parts]];
    }
    let mut found = Vec::new();
    for own in (0..=steps).rev() {
        for rest in lattice(steps - own, parts - 1) {
            found.push([vec![own], rest].concat());
        }
    }
    found
}

/// How many ways there are: steps + parts − 1 over parts − 1.
fn lattice_size(steps: u32, parts: usize) -> usize {
    let steps = steps as usize;
    (1..parts).fold(1, |size, part| size * (steps + part) / part)
}
