//! Who says what runs in a round: a reference by its mechanism, or Motley.

use super::clock::{Placed, Ran, Scene};
use super::product::Product;
use super::shares::Mechanism;

/// Says who runs.
pub enum Player {
    /// A reference policy.
    Reference(Box<Mechanism>),
    /// A policy of Motley's.
    Motley(Box<Product>),
}

impl Player {
    /// Who runs in this round; each job once, on classes that can run it and have room.
    ///
    /// # Errors
    /// If a plan of Motley's breaks the law.
    pub fn choose(&mut self, scene: &Scene<'_>) -> Result<Vec<Placed>, String> {
        match self {
            Self::Reference(mechanism) => Ok(mechanism.choose(scene)),
            Self::Motley(product) => product.choose(scene),
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
            Self::Motley(product) => product.force(),
        }
    }
}
