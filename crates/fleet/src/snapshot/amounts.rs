//! Amounts: what adds up over nodes, runs or tenants.

use serde::{Deserialize, Serialize};

use crate::node::{Free, Grant, Node};
use crate::units::{Bytes, Milli, MilliCores};

/// Amounts that add up over nodes, runs or tenants.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Amounts {
    /// Cores.
    pub cores: MilliCores,
    /// Memory.
    pub memory: Bytes,
    /// Shares of devices other than cores, in thousandths of a device.
    pub share: u64,
}

impl Amounts {
    /// What a grant holds.
    #[must_use]
    pub fn of_grant(grant: &Grant) -> Self {
        let share = grant.devices.iter().map(|held| u64::from(held.share.0)).sum();
        Self { cores: grant.cores, memory: grant.memory, share }
    }

    /// What a node has.
    #[must_use]
    pub fn of_node(node: &Node) -> Self {
        Self { cores: node.cores, memory: node.memory, share: node.devices.len() as u64 * 1000 }
    }

    /// What is free of a node.
    #[must_use]
    pub fn of_free(free: &Free) -> Self {
        let share = free.devices.iter().map(|left| u64::from(left.share.0)).sum();
        Self { cores: free.cores, memory: free.memory, share }
    }

    /// Adds another amount.
    pub fn add(&mut self, other: Self) {
        self.cores += other.cores;
        self.memory += other.memory;
        self.share += other.share;
    }

    /// Takes another amount away.
    ///
    /// # Panics
    /// If it is more than there is.
    pub fn subtract(&mut self, other: Self) {
        self.cores -= other.cores;
        self.memory -= other.memory;
        self.share = self.share.checked_sub(other.share).expect("less than no share");
    }

    /// The largest of the three fractions of `capacity`, in millionths; what the capacity has none
    /// of does not count. May exceed one million.
    #[must_use]
    pub fn dominant_of(&self, capacity: &Self) -> u64 {
        let fraction = |part: u64, whole: u64| {
            let scaled = (u128::from(part) * 1_000_000).checked_div(u128::from(whole)).unwrap_or(0);
            u64::try_from(scaled).unwrap_or(u64::MAX)
        };
        fraction(self.cores.0, capacity.cores.0)
            .max(fraction(self.memory.0, capacity.memory.0))
            .max(fraction(self.share, capacity.share))
    }

    /// How busy a fleet is: the larger of the fractions of cores and of devices.
    #[must_use]
    pub fn busy(&self, capacity: &Self) -> Milli {
        let without_memory = Self { memory: Bytes::ZERO, ..*self };
        let millionths = without_memory.dominant_of(capacity).min(1_000_000);
        Milli(u32::try_from(millionths / 1000).expect("at most 1000"))
    }
}
