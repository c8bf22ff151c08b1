//! Names of things, as small integers.
//!
//! People's names for nodes and jobs live in [`crate::Node`] and
//! [`crate::Job`]; decisions, ties and orders use these. Ids order: the
//! smaller one wins a tie.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $inner:ty, $prefix:literal) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl fmt::Display for $name {
            fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(out, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

id!(
    /// A job, for ever: never given twice.
    JobId, u64, "j"
);
id!(
    /// A node: its position in the fleet, given once and never to another node.
    NodeId, u32, "n"
);
id!(
    /// A device class: its position in [`crate::Classes`].
    ClassId, u16, "c"
);
id!(
    /// A device within its node: its position in [`crate::Node::devices`].
    DeviceIndex, u16, "#"
);
id!(
    /// A memory domain within its node: its position in [`crate::Topology::domains`].
    DomainIndex, u16, "d"
);
id!(
    /// A channel within its node: the PCIe switches of [`crate::Topology`], then its NICs.
    ChannelIndex, u16, "ch"
);
id!(
    /// One task of a job: 0 up to the job's count.
    TaskIndex, u32, ""
);
id!(
    /// How often a task has been started before; the first attempt is 0.
    Attempt, u32, ""
);
id!(
    /// Age of an order: every turn that gives orders takes the next one. A body refuses an older
    /// one.
    Generation, u64, "g"
);
id!(
    /// Number of a snapshot, one more than the snapshot before it.
    Serial, u64, "s"
);

impl NodeId {
    /// The position in the fleet's list of nodes.
    #[must_use]
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl ClassId {
    /// The position in the list of classes.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl DomainIndex {
    /// The position in the topology's list of domains.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl ChannelIndex {
    /// The position among the channels of the node.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl DeviceIndex {
    /// The position in the node's list of devices.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// One attempt at one task of one job: what is started at most once, ever.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RunId {
    /// The job.
    pub job: JobId,
    /// The task within the job.
    pub task: TaskIndex,
    /// The attempt at that task.
    pub attempt: Attempt,
}

impl fmt::Display for RunId {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}/{}.{}", self.job, self.task, self.attempt)
    }
}

/// Who a job is accounted to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tenant(pub Arc<str>);

impl Tenant {
    /// A tenant of this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }
}

impl fmt::Display for Tenant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}
