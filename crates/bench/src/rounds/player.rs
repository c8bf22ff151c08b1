//! Who says what runs in a round: a reference by its mechanism, or Motley's planner.

use super::apportioner::Apportioner;
use super::clock::{Placed, Ran, Scene};
use super::shares::Mechanism;

/// Says who runs.
pub enum Player {
    /// A reference policy.
    Reference(Box<Mechanism>),
    /// A policy of Motley's.
    Motley(Apportioner),
}

impl Player {
    /// Who runs in this round; each job once, on classes that can run it and have room.
    pub fn choose(&mut self, scene: &Scene<'_>) -> Vec<Placed> {
        match self {
            Self::Reference(mechanism) => mechanism.choose(scene),
            Self::Motley(apportioner) => apportioner.choose(scene),
        }
    }

    /// What came of it.
    pub fn account(&mut self, ran: &[Ran]) {
        if let Self::Reference(mechanism) = self {
            mechanism.account(ran);
        }
    }

    /// Nothing runs and nothing will arrive.
    pub fn force(&mut self) {
        match self {
            Self::Reference(mechanism) => mechanism.force(),
            Self::Motley(apportioner) => apportioner.force(),
        }
    }
}
