//! What is compared: the references, and policies of Motley's.

use std::str::FromStr;

use fleet::Span;
use planner::apportion::worth::Aim;

use super::Lag;
use super::apportioner::Apportioner;
use super::case::Case;
use super::player::Player;
use super::reference::Reference;
use super::shares::{LAG_SECONDS, Mechanism};

/// One policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contender {
    /// A published one.
    Reference(Reference),
    /// One of Motley's, by name.
    Motley(&'static str, Aim),
}

/// Motley's policies.
const MOTLEY: [(&str, Aim); 4] = [
    ("mean", Aim::MEAN),
    ("mean-fair", Aim::MEAN_FAIR),
    ("makespan", Aim::MAKESPAN),
    ("throughput", Aim::THROUGHPUT),
];

impl Contender {
    /// All of them.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let references = Reference::ALL.into_iter().map(Self::Reference);
        references.chain(MOTLEY.map(|(name, aim)| Self::Motley(name, aim))).collect()
    }

    /// The name in tables and records.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Reference(reference) => reference.name(),
            Self::Motley(name, _) => name,
        }
    }

    /// Who plays it. The planner knows what a move costs.
    #[must_use]
    pub fn player(&self, case: &Case, lag: Lag, move_seconds: f64) -> Player {
        let lag_seconds = match lag {
            Lag::Kept => LAG_SECONDS,
            Lag::Dropped => 0.0,
        };
        match self {
            Self::Reference(reference) => {
                Player::Reference(Box::new(Mechanism::new(*reference, case, lag_seconds)))
            }
            Self::Motley(_, aim) => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a cast saturates"
                )]
                let moving = Span((move_seconds * 1e6) as u64);
                Player::Motley(Apportioner::new(aim.with_moving(moving), lag_seconds))
            }
        }
    }
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
