//! Memory domains: which cores, which memory and which devices are near each other.
//!
//! On a machine with several sockets, or with memory of several kinds, how long
//! a core takes to reach a byte depends on where the byte is. A domain is a part
//! of the node within which everything is equally near; a distance says how far
//! two domains are apart. [`Topology::fault`] says whether domains make sense on
//! a node; a snapshot is only built where they do.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Topology;
use crate::id::{DeviceIndex, DomainIndex};
use crate::node::Node;
use crate::units::{Bandwidth, Bytes, MilliCores};

/// A part of a node within which memory is equally near to every core.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Domain {
    /// Its cores; none where it is memory alone.
    pub cores: MilliCores,
    /// Its memory; none where it is cores alone.
    pub memory: Bytes,
    /// The devices attached to it, ascending.
    #[serde(default)]
    pub devices: Vec<DeviceIndex>,
    /// What its memory is made of.
    #[serde(default)]
    pub kind: MemoryKind,
    /// What its memory can move in a second; zero where that is not known.
    #[serde(default)]
    pub bandwidth: Bandwidth,
    /// How long its own cores, or the nearest ones, wait for its memory, in nanoseconds; zero where
    /// that is not known.
    #[serde(default)]
    pub latency_nanos: u32,
}

/// What memory is made of. Of memory that is equally near, a task that states no bandwidth takes
/// the kinds in this order, so that the fast one is kept for those that do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MemoryKind {
    /// Ordinary memory.
    #[default]
    Dram,
    /// Stacked memory of high bandwidth.
    Hbm,
    /// Memory behind a CXL link.
    Cxl,
}

impl MemoryKind {
    /// Every kind, in the order of the enum.
    pub const ALL: [Self; 3] = [Self::Dram, Self::Hbm, Self::Cxl];

    /// The name used in files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Dram => "dram",
            Self::Hbm => "hbm",
            Self::Cxl => "cxl",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// Why a topology makes no sense on its node.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TopologyFault {
    /// The domains have more or fewer cores than the node.
    #[error("the domains have {found} cores together, and the node has {node}")]
    Cores {
        /// What they have together.
        found: MilliCores,
        /// What the node has.
        node: MilliCores,
    },
    /// The domains have more or less memory than the node.
    #[error("the domains have {found} of memory together, and the node has {node}")]
    Memory {
        /// What they have together.
        found: Bytes,
        /// What the node has.
        node: Bytes,
    },
    /// A domain with neither cores nor memory.
    #[error("domain {domain} has neither cores nor memory")]
    Nothing {
        /// Which.
        domain: usize,
    },
    /// A device that the node does not have.
    #[error("domain {domain} has device {device}, and the node has {devices}")]
    DeviceUnknown {
        /// Which domain.
        domain: usize,
        /// What it names.
        device: u16,
        /// How many the node has.
        devices: usize,
    },
    /// A device in two places.
    #[error("device {device} is attached twice")]
    DeviceTwice {
        /// Which.
        device: u16,
    },
    /// A matrix that is not one row and one column for each domain.
    #[error("there are {domains} domains, and row {row} of the distances has {found} of them")]
    NotSquare {
        /// How many domains.
        domains: usize,
        /// The first row that is too long, too short or not there.
        row: usize,
        /// How many numbers it has.
        found: usize,
    },
    /// A distance that is nearer than near, or a domain that is not near itself.
    #[error(
        "the distance from domain {from} to domain {to} is {found}; within a domain it is 10, else 10 to 254"
    )]
    Distance {
        /// Whose cores.
        from: usize,
        /// Whose memory.
        to: usize,
        /// What is given.
        found: u8,
    },
    /// A PCIe switch above which there is one that does not come before it.
    #[error("PCIe switch {switch} is below {above}, which does not come before it")]
    SwitchAbove {
        /// Which.
        switch: usize,
        /// What it is below.
        above: u16,
    },
    /// A PCIe switch that nothing passes.
    #[error("PCIe switch {switch} has a bandwidth of zero")]
    SwitchIdle {
        /// Which.
        switch: usize,
    },
    /// A PCIe switch with a device that the node does not have.
    #[error("PCIe switch {switch} has device {device}, and the node has {devices}")]
    SwitchDevice {
        /// Which.
        switch: usize,
        /// What it names.
        device: u16,
        /// How many the node has.
        devices: usize,
    },
    /// A device right below two PCIe switches.
    #[error("device {device} is below PCIe switch {switch} and another")]
    SwitchDeviceTwice {
        /// The second.
        switch: usize,
        /// Which device.
        device: u16,
    },
    /// A NIC at a domain that is not there.
    #[error("NIC {nic} is at domain {domain}, and there are {domains}")]
    NicDomain {
        /// Which.
        nic: usize,
        /// What it names.
        domain: u16,
        /// How many there are.
        domains: usize,
    },
    /// A NIC that nothing passes.
    #[error("NIC {nic} has a bandwidth of zero")]
    NicIdle {
        /// Which.
        nic: usize,
    },
}

/// The distance within a domain.
pub const NEAR: u8 = 10;

/// The distance between two domains where none is given.
pub const FAR: u8 = 20;

/// The most domains of a node.
pub const DOMAINS_MAX: usize = 256;

impl Topology {
    /// How far the memory of one domain is from the cores of another.
    #[must_use]
    pub fn distance(&self, from: DomainIndex, to: DomainIndex) -> u8 {
        let given = self.distances.get(from.index()).and_then(|row| row.get(to.index()));
        given.copied().unwrap_or(if from == to { NEAR } else { FAR })
    }

    /// How much longer the cores of one domain wait for the memory of another than for their own,
    /// in thousandths: by the distance, and by the latencies where both are known.
    #[must_use]
    pub fn latency_factor(&self, from: DomainIndex, to: DomainIndex) -> u64 {
        let (near, far) = (&self.domains[from.index()], &self.domains[to.index()]);
        self.factor(from, to, (far.latency_nanos.into(), near.latency_nanos.into()))
    }

    /// How many times slower the cores of one domain move data from and to the memory of another
    /// than to their own, in thousandths: by the distance, since what is in flight is limited and
    /// stays in flight for longer; and by the bandwidths, or else the latencies, where both are
    /// known.
    #[must_use]
    pub fn bandwidth_factor(&self, from: DomainIndex, to: DomainIndex) -> u64 {
        let (near, far) = (&self.domains[from.index()], &self.domains[to.index()]);
        if near.bandwidth.is_zero() || far.bandwidth.is_zero() {
            return self.latency_factor(from, to);
        }
        self.factor(from, to, (near.bandwidth.0, far.bandwidth.0))
    }

    fn factor(&self, from: DomainIndex, to: DomainIndex, (more, less): (u64, u64)) -> u64 {
        let distance = 1000 * u64::from(self.distance(from, to)) / u64::from(NEAR);
        if from == to || more == 0 || less == 0 {
            return distance;
        }
        let factor = u128::from(distance) * u128::from(more) / u128::from(less);
        u64::try_from(factor).unwrap_or(u64::MAX)
    }

    /// The domain that a device is attached to.
    #[must_use]
    pub fn domain_of(&self, device: DeviceIndex) -> Option<DomainIndex> {
        let has = |domain: &Domain| domain.devices.binary_search(&device).is_ok();
        self.indexed().find(|(_, domain)| has(domain)).map(|(index, _)| index)
    }

    /// Every domain with its index.
    pub fn indexed(&self) -> impl Iterator<Item = (DomainIndex, &Domain)> {
        (0..=u16::MAX).map(DomainIndex).zip(&self.domains)
    }

    /// Whether this is what the node is like inside; the first thing that is wrong with it.
    #[must_use]
    pub fn fault(&self, node: &Node) -> Option<TopologyFault> {
        self.domain_fault(node).or_else(|| self.channel_fault(node))
    }

    fn domain_fault(&self, node: &Node) -> Option<TopologyFault> {
        if self.domains.is_empty() {
            let rows = self.distances.len();
            return (rows > 0).then_some(TopologyFault::NotSquare {
                domains: 0,
                row: 0,
                found: rows,
            });
        }
        let wide = |sum: u64, each: u64| sum.saturating_add(each);
        let cores = MilliCores(self.domains.iter().map(|one| one.cores.0).fold(0, wide));
        let memory = Bytes(self.domains.iter().map(|one| one.memory.0).fold(0, wide));
        let is_nothing = |domain: &Domain| domain.cores.is_zero() && domain.memory.is_zero();
        if let Some(domain) = self.domains.iter().position(is_nothing) {
            return Some(TopologyFault::Nothing { domain });
        }
        if cores != node.cores {
            return Some(TopologyFault::Cores { found: cores, node: node.cores });
        }
        if memory != node.memory {
            return Some(TopologyFault::Memory { found: memory, node: node.memory });
        }
        self.device_fault(node.devices.len()).or_else(|| self.distance_fault())
    }

    fn device_fault(&self, devices: usize) -> Option<TopologyFault> {
        let mut taken = vec![false; devices];
        for (position, domain) in self.domains.iter().enumerate() {
            for device in &domain.devices {
                let DeviceIndex(device) = *device;
                match taken.get_mut(usize::from(device)) {
                    None => {
                        let domain = position;
                        return Some(TopologyFault::DeviceUnknown { domain, device, devices });
                    }
                    Some(true) => return Some(TopologyFault::DeviceTwice { device }),
                    Some(free) => *free = true,
                }
            }
        }
        None
    }

    fn distance_fault(&self) -> Option<TopologyFault> {
        let domains = self.domains.len();
        if self.distances.is_empty() {
            return None;
        }
        for row in 0..domains.max(self.distances.len()) {
            let found = self.distances.get(row).map_or(0, Vec::len);
            if found != domains || row >= domains {
                return Some(TopologyFault::NotSquare { domains, row, found });
            }
        }
        let all = self.distances.iter().enumerate().flat_map(|(from, row)| {
            row.iter().enumerate().map(move |(to, found)| (from, to, *found))
        });
        let is_wrong = |(from, to, found): &(usize, usize, u8)| match from == to {
            true => *found != NEAR,
            false => *found < NEAR || *found == u8::MAX,
        };
        let wrong = all.into_iter().find(is_wrong);
        wrong.map(|(from, to, found)| TopologyFault::Distance { from, to, found })
    }
}
