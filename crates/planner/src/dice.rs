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
        Self(effort.seed.map(|seed| {
            let mut generator = ChaCha8Rng::seed_from_u64(seed);
            generator.set_stream(snapshot.serial.0);
            generator
        }))
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
        let count: u64 = tied.iter().map(|(id, _)| u64::from(groups.get(*id).count())).sum();
        let mut drawn = usize::try_from(self.draw(count)).expect("fewer than 2^32 nodes");
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

    /// A number below `count`, or zero.
    fn draw(&mut self, count: u64) -> u64 {
        let Some(generator) = &mut self.0 else { return 0 };
        let scaled = (u128::from(generator.next_u64()) * u128::from(count)) >> 64;
        u64::try_from(scaled).expect("below a u64")
    }
}
