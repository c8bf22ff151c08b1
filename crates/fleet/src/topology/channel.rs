//! Channels: what several runs of a node share to move data, and how much passes.
//!
//! The memory of a domain is one; so is the up-link of a PCIe switch, which the
//! devices below it share on their way to memory, and a network card. What runs
//! are granted of a channel adds up; a policy says how far beyond what passes it
//! may go.

use serde::{Deserialize, Serialize};

use super::{Topology, TopologyFault};
use crate::id::{ChannelIndex, DeviceIndex, DomainIndex};
use crate::node::Node;
use crate::units::Bandwidth;

/// What devices share on their way to the memory of the node: a PCIe switch, or a root port where
/// there is none above it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PcieSwitch {
    /// The devices right below it, ascending.
    #[serde(default)]
    pub devices: Vec<DeviceIndex>,
    /// The position of the one above it, which is lower than its own.
    #[serde(default)]
    pub above: Option<u16>,
    /// What passes its link upwards in each direction.
    pub bandwidth: Bandwidth,
}

/// A network card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Nic {
    /// What passes in each direction.
    pub bandwidth: Bandwidth,
    /// The memory domain that it is attached to.
    #[serde(default)]
    pub domain: Option<DomainIndex>,
}

/// The most PCIe switches and the most NICs of a node.
pub const CHANNELS_MAX: usize = 1024;

/// What passes a PCIe link of this generation and width in each direction: the raw rate of its
/// lanes less their encoding, 8 of 10 bits in generations 1 and 2, 128 of 130 in 3 to 5, 242 of 256
/// bytes in 6. Headers of packets come off it too, and are not counted.
#[must_use]
pub fn pcie_bandwidth(generation: u8, width: u8) -> Option<Bandwidth> {
    if ![1, 2, 4, 8, 12, 16, 32].contains(&width) {
        return None;
    }
    let lane = match generation {
        1 => 2_500_000_000 / 10,
        2 => 5_000_000_000 / 10,
        3 => 8_000_000_000 / 8 * 128 / 130,
        4 => 16_000_000_000 / 8 * 128 / 130,
        5 => 32_000_000_000 / 8 * 128 / 130,
        6 => 64_000_000_000 / 8 * 242 / 256,
        _ => return None,
    };
    Some(Bandwidth(lane * u64::from(width)))
}

impl Topology {
    /// How many channels there are that are not memory: the PCIe switches, then the NICs.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.pcie.len() + self.nics.len()
    }

    /// What passes a channel.
    ///
    /// # Panics
    /// If there is no such channel.
    #[must_use]
    pub fn bandwidth(&self, channel: ChannelIndex) -> Bandwidth {
        match self.pcie.get(channel.index()) {
            Some(switch) => switch.bandwidth,
            None => self.nics[channel.index() - self.pcie.len()].bandwidth,
        }
    }

    /// The NICs, as channels.
    pub fn nic_channels(&self) -> impl Iterator<Item = (ChannelIndex, &Nic)> {
        (0..=u16::MAX).map(ChannelIndex).skip(self.pcie.len()).zip(&self.nics)
    }

    /// The PCIe switches that lie between a device and the memory of the node, from below.
    pub fn path(&self, device: DeviceIndex) -> impl Iterator<Item = ChannelIndex> + '_ {
        let has = |switch: &PcieSwitch| switch.devices.binary_search(&device).is_ok();
        let lowest = self.pcie.iter().position(has);
        let above = |position: &usize| self.pcie[*position].above.map(usize::from);
        let channel = |position| ChannelIndex(u16::try_from(position).expect("few switches"));
        std::iter::successors(lowest, above).map(channel)
    }

    /// Whether the channels make sense on this node; the first thing that is wrong with them.
    pub(super) fn channel_fault(&self, node: &Node) -> Option<TopologyFault> {
        let mut taken = vec![false; node.devices.len()];
        for (switch, found) in self.pcie.iter().enumerate() {
            if let Some(above) = found.above.filter(|above| usize::from(*above) >= switch) {
                return Some(TopologyFault::SwitchAbove { switch, above });
            }
            if found.bandwidth.is_zero() {
                return Some(TopologyFault::SwitchIdle { switch });
            }
            for DeviceIndex(device) in found.devices.iter().copied() {
                match taken.get_mut(usize::from(device)) {
                    None => {
                        let devices = node.devices.len();
                        return Some(TopologyFault::SwitchDevice { switch, device, devices });
                    }
                    Some(true) => return Some(TopologyFault::SwitchDeviceTwice { switch, device }),
                    Some(free) => *free = true,
                }
            }
        }
        let domains = self.domains.len();
        for (nic, found) in self.nics.iter().enumerate() {
            if let Some(domain) = found.domain.filter(|domain| domain.index() >= domains) {
                let domain = domain.0;
                return Some(TopologyFault::NicDomain { nic, domain, domains });
            }
            if found.bandwidth.is_zero() {
                return Some(TopologyFault::NicIdle { nic });
            }
        }
        None
    }
}
