//! Utilisation: capacity left stranded on the node.
//!
//! A node is used up when the first of its cores, memory and devices runs out;
//! what then remains of the others is stranded. Cost: the largest free fraction
//! minus the smallest one, after the choice, in thousandths. Resources that the
//! node has none of do not count. Bound: zero, a node whose resources run out
//! together.

use fleet::Node;
use fleet::snapshot::Amounts;

use super::{Ask, Choice};

pub(super) fn cost(_ask: &Ask, choice: &Choice<'_>) -> f64 {
    choice.effects.stranded
}

pub(super) fn bound(_ask: &Ask) -> f64 {
    0.0
}

/// Stranded thousandths of a node of which this much is free.
#[must_use]
pub fn stranded(node: &Node, free: Amounts) -> f64 {
    let fractions = free_fractions(node, free);
    let present = || fractions.iter().flatten().copied();
    let largest = present().fold(0.0, f64::max);
    let smallest = present().fold(1.0, f64::min);
    1000.0 * (largest - smallest).max(0.0)
}

/// The free fractions of cores, memory and devices; `None` for what the node has none of.
#[must_use]
pub(crate) fn free_fractions(node: &Node, free: Amounts) -> [Option<f64>; 3] {
    let fraction = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    [
        fraction(free.cores.0, node.cores.0),
        fraction(free.memory.0, node.memory.0),
        fraction(free.share, 1000 * node.devices.len() as u64),
    ]
}
