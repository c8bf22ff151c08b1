//! What a node is like inside: how its devices are linked to one another.
//!
//! Labels cannot say which four of eight devices talk fastest. A [`Topology`]
//! lists what joins what, and how fast; [`crate::node`] decides by it. A node
//! of which nothing is known inside has none, and all its devices are alike.

use serde::{Deserialize, Serialize};

use crate::communication::Fabric;
use crate::id::DeviceIndex;
use crate::units::Bandwidth;

/// The inside of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Topology {
    /// What joins two devices directly, each pair at most once, ascending.
    pub links: Vec<Link>,
    /// What all devices share that have no direct link to each other: the path through the host,
    /// such as PCIe and the bridge between processors. Above zero where there are links.
    pub host: Bandwidth,
}

/// What joins two devices directly, such as NVLink or xGMI: all lanes of one pair together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Link {
    /// The two devices, the lower index first.
    pub ends: (DeviceIndex, DeviceIndex),
    /// How much can pass in each direction at the same time.
    pub bandwidth: Bandwidth,
}

impl Topology {
    /// These devices of the node, in this order, as members that send each other something.
    #[must_use]
    pub fn fabric(&self, devices: &[DeviceIndex]) -> Fabric {
        let mut fabric = Fabric::new(devices.len(), self.host);
        let member = |device: DeviceIndex| devices.iter().position(|one| *one == device);
        for Link { ends, bandwidth } in &self.links {
            if let (Some(one), Some(other)) = (member(ends.0), member(ends.1)) {
                fabric.join(one, other, *bandwidth);
            }
        }
        fabric
    }
}
