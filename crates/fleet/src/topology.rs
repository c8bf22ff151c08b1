//! What a node is like inside: how its devices are linked to one another, and which memory is near.
//!
//! Labels cannot say which four of eight devices talk fastest. A [`Topology`]
//! lists what joins what, and how fast; [`crate::node`] decides by it. A node
//! of which nothing is known inside has none, and all its devices are alike.

mod channel;
mod domain;

use serde::{Deserialize, Serialize};

use crate::communication::Fabric;
use crate::id::DeviceIndex;
use crate::units::Bandwidth;

pub use channel::{CHANNELS_MAX, Nic, PcieSwitch, pcie_bandwidth};
pub use domain::{DOMAINS_MAX, Domain, FAR, MemoryKind, NEAR, TopologyFault};

/// The inside of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Topology {
    /// What joins two devices directly, each pair at most once, ascending.
    #[serde(default)]
    pub links: Vec<Link>,
    /// What all devices share that have no direct link to each other: the path through the host,
    /// such as PCIe and the bridge between processors. Above zero where there are links; zero where
    /// nothing is known of how devices are joined.
    #[serde(default)]
    pub host: Bandwidth,
    /// The memory domains, which share out the cores and the memory of the node; none where it is
    /// not known how they lie.
    #[serde(default)]
    pub domains: Vec<Domain>,
    /// How far the memory of each domain is from the cores of each: a row for each domain whose
    /// cores look, a column for each whose memory is looked at. As firmware states them (ACPI's
    /// SLIT): 10 within a domain, 20 where it takes twice as long.
    #[serde(default)]
    pub distances: Vec<Vec<u8>>,
    /// What joins devices to the memory of the node; none where that is not known.
    #[serde(default)]
    pub pcie: Vec<PcieSwitch>,
    /// What joins the node to others; none where that is not known.
    #[serde(default)]
    pub nics: Vec<Nic>,
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
    /// Whether it is known how the devices are joined.
    #[must_use]
    pub fn is_wired(&self) -> bool {
        !self.host.is_zero()
    }

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
