//! Summaries: what most looks at a group need to know of it.

use fleet::{Bytes, Milli, MilliCores, NodeId};

use super::{Group, MakeId};

/// A group in short.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Summary {
    /// See [`Group::stamp`].
    pub(crate) stamp: u64,
    pub(crate) cores: MilliCores,
    pub(crate) memory: Bytes,
    pub(crate) make: MakeId,
    /// How many nodes it has; none in a slot without group.
    pub(crate) nodes: u32,
    /// The node with the lowest id.
    pub(crate) first: NodeId,
    /// The largest free share of a device, in thousandths.
    pub(crate) share: u32,
    /// How many devices are wholly free.
    pub(crate) whole: u16,
    pub(crate) up: bool,
}

impl Summary {
    /// A group in short.
    pub(crate) fn of(group: &Group) -> Self {
        let shares = || group.free.devices.iter().map(|left| left.share);
        let whole = shares().filter(|share| *share == Milli::WHOLE).count();
        Self {
            stamp: group.stamp,
            cores: group.free.cores,
            memory: group.free.memory,
            make: group.make,
            nodes: group.count(),
            first: group.first(),
            share: shares().max().map_or(0, |share| share.0),
            whole: u16::try_from(whole).expect("a node has fewer than 65,536 devices"),
            up: group.up,
        }
    }
}
