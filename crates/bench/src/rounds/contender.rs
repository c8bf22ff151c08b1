//! What is compared: the references, and policies of Motley's.

use std::str::FromStr;

use controller::policy_file::shipped;
use fleet::{Policy, Span};

use super::case::Case;
use super::player::Player;
use super::product::Product;
use super::reference::Reference;
use super::shares::{LAG_SECONDS, Mechanism};
use super::{Lag, Terms};

/// One policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// A published one.
    Reference(Reference),
    /// One of Motley's that ship with it, by name.
    Motley(&'static str),
}

/// Motley's policies that divide devices over time.
const MOTLEY: [&str; 6] =
    ["mean", "mean-fair", "max-min-fair", "finish-time-fair", "makespan", "throughput"];

impl Contender {
    /// All of them.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let references = Reference::ALL.into_iter().map(Self::Reference);
        references.chain(MOTLEY.map(Self::Motley)).collect()
    }

    /// The name in tables and records.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reference(reference) => reference.name(),
            Self::Motley(name) => name,
        }
    }

    /// Who plays it. The planner knows what a move costs.
    #[must_use]
    pub fn player(&self, case: &Case, terms: Terms) -> Player {
        let lag_seconds = match terms.lag {
            Lag::Kept => LAG_SECONDS,
            Lag::Dropped => 0.0,
        };
        match self {
            Self::Reference(reference) => {
                Player::Reference(Box::new(Mechanism::new(*reference, case, lag_seconds)))
            }
            Self::Motley(name) => {
                let policy = policy(name, terms.move_seconds);
                let product = Product::new(policy, lag_seconds, terms.errors);
                Player::Motley(Box::new(product.on_nodes_of(terms.node_devices)))
            }
        }
    }
}

/// A policy that ships, which knows what a move costs.
///
/// # Panics
/// If none of this name ships, or it does not divide devices.
#[must_use]
pub fn policy(name: &str, move_seconds: f64) -> Policy {
    let mut policy = shipped(name).expect("a policy of this name ships");
    let allocate = policy.allocate.as_mut().expect("it divides devices");
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
    let moving = Span((move_seconds * 1e6) as u64);
    allocate.moving = moving;
    policy
}

impl FromStr for Contender {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::all().into_iter().find(|one| one.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::all().iter().map(Self::name).collect();
            format!("one of {}", names.join(", "))
        })
    }
}
