//! Policies of the literature, as planning functions.
//!
//! A [`Reference`] is data: weighted terms, each the formula of one file here,
//! and a rule for the devices inside a node. [`Planner`] is what all of them
//! share: it keeps what it knows of each node and each shape between turns,
//! looks again only at nodes that changed, takes the node with the largest
//! score, and writes a full [`fleet::Decision`] with its reasons.
//!
//! The formulas are those of `docs/results/openb.md`. They know
//! nodes whose devices, other than cores, are all of one class.

pub mod ask;
pub mod site;
pub mod typical;
pub mod dot_product;
pub mod clustering;
pub mod packing;
pub mod best_fit;
pub mod first_fit;
pub mod fragmentation;
pub mod power;
mod feasible;
mod table;
mod planner;

pub use planner::Planner;

/// Vcpu-milli of the largest node that the formulas reckon with.
pub const CORES_MAX: f64 = 128_000.0;

/// GPU-milli of the largest node that the formulas reckon with.
pub const SHARE_MAX: f64 = 8000.0;

/// The largest score of a term.
pub const SCORE_MAX: i64 = 100;

/// A policy of the literature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its terms with their weights; the sum decides, the largest first. Where there is none all
    /// nodes are alike, and one of them is drawn.
    pub terms: &'static [(Term, i64)],
    /// How devices are chosen inside a node.
    pub devices: Devices,
}

/// One formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Term {
    /// [`dot_product`].
    DotProduct,
    /// [`clustering`].
    Clustering,
    /// [`packing`].
    Packing,
    /// [`best_fit`].
    BestFit,
    /// [`first_fit`].
    FirstFit,
    /// [`fragmentation`].
    Fragmentation,
    /// [`power`].
    Power,
}

impl Term {
    /// Whether its scores are stretched to 0..=100 over the nodes that have room.
    #[must_use]
    pub fn is_stretched(self) -> bool {
        matches!(self, Self::BestFit | Self::Power)
    }
}

/// How the device of a shared task is chosen. Whole devices are taken in order of index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Devices {
    /// The least free share that suffices, then the lowest index.
    BestFit,
    /// The first with the best fragmentation score.
    Fragmentation,
    /// The first with the best power score.
    Power,
    /// Any that suffices, drawn.
    Drawn,
}

/// Who wins among nodes of equal score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ties {
    /// The lowest id.
    LowestId,
    /// One of them, drawn anew for each decision.
    Drawn,
}

/// A score without its fraction, as the formulas have it.
#[must_use]
pub fn truncate(value: f64) -> i64 {
    #[expect(clippy::cast_possible_truncation, reason = "scores are far from the ends of i64")]
    let whole = value as i64;
    whole
}
