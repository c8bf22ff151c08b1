//! Dice: how one of several equal choices is found.

use fleet::{NodeId, Snapshot};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng as _};

use crate::Effort;
use crate::groups::{GroupId, Groups};
use crate::ranking::Weight;

/// The draws of one plan. They depend on seed and serial only, so that an equal snapshot gives an
/// equal plan, and another serial other draws.
pub(crate) struct Dice(Option<ChaCha8Rng>);

impl Dice {
    pub(crate) fn new(effort: Effort, snapshot: &Snapshot) -> Self {
        effort.seed.map_or_else(Self::none, |seed| Self::of_seed(seed, snapshot))
    }

    /// Dice that are thrown whatever the effort says.
    pub(crate) fn of_seed(seed: u64, snapshot: &Snapshot) -> Self {
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        generator.set_stream(snapshot.serial.0);
        Self(Some(generator))
    }

    /// Dice that are never thrown.
    pub(crate) fn none() -> Self {
        Self(None)
    }

    pub(crate) fn are_thrown(&self) -> bool {
        self.0.is_some()
    }

    /// One of the nodes of these groups, every one as likely as the others.
    pub(crate) fn pick(
        &mut self,
        mut tied: Vec<(GroupId, Weight)>,
        groups: &Groups,
    ) -> Option<(GroupId, Weight)> {
        // The order of slots depends on what was planned before; that of nodes does not.
        tied.sort_unstable_by_key(|(_, weight)| weight.node);
        let count = tied.iter().map(|(id, _)| groups.get(*id).nodes.len()).sum();
        let mut drawn = self.below(count);
        for (id, weight) in tied {
            let nodes = &groups.get(id).nodes;
            if drawn < nodes.len() {
                let node: NodeId = *nodes.iter().nth(drawn)?;
                return Some((id, weight.on(node)));
            }
            drawn -= nodes.len();
        }
        None
    }

    /// One of these choices, each on another node and every one as likely as the others.
    pub(crate) fn pick_one(
        &mut self,
        mut tied: Vec<(GroupId, Weight)>,
    ) -> Option<(GroupId, Weight)> {
        tied.sort_unstable_by_key(|(_, weight)| weight.node);
        let drawn = self.below(tied.len());
        tied.get(drawn).copied()
    }

    /// A number below `count`, or zero.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        let Some(generator) = &mut self.0 else { return 0 };
        let scaled = (u128::from(generator.next_u64()) * count as u128) >> 64;
        usize::try_from(scaled).expect("below a usize")
    }
}
