//! Inside a node: what runs move over the channels that they share, and what still has room.
//!
//! In come a node, what is held of its channels, what is asked, and the policy's
//! factor; out comes which devices can still be reached, and what a run holds of
//! which channel. A run holds of every PCIe switch above its devices as much as
//! they move together, and of one NIC all that it moves over the network: the
//! nearest that has room, then the one with the most, then the lowest.

use std::borrow::Cow;

use super::{ChannelGrant, DeviceFree, DeviceGrant, DomainGrant, Free, Node};
use crate::id::{ChannelIndex, ClassId, DeviceIndex, DomainIndex};
use crate::job::{DeviceRequest, Request};
use crate::topology::Topology;
use crate::units::{Bandwidth, Milli};

/// Within which bounds a run is fitted into a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The memory domain that has all of it, where one must.
    pub single: Option<DomainIndex>,
    /// How much of a channel may be held, as a part of what passes.
    pub oversubscribe: Milli,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { single: None, oversubscribe: Milli::WHOLE }
    }
}

/// How much of a channel may be held where so much passes.
#[must_use]
pub fn most(bandwidth: Bandwidth, oversubscribe: Milli) -> Bandwidth {
    let most = u128::from(bandwidth.0) * u128::from(oversubscribe.0) / 1000;
    Bandwidth(u64::try_from(most).unwrap_or(u64::MAX))
}

/// Takes what a run holds of channels.
pub(super) fn take(loads: &mut [Bandwidth], grants: &[ChannelGrant]) {
    for held in grants {
        loads[held.channel.index()] += held.bandwidth;
    }
}

/// Gives back what a run held of channels.
pub(super) fn give_back(loads: &mut [Bandwidth], grants: &[ChannelGrant]) {
    for held in grants {
        loads[held.channel.index()] -= held.bandwidth;
    }
}

/// What is free for a run of devices of class `class` within these bounds: devices that lie outside
/// the domain, or that it could not move data to and from, count as held. Of several devices that
/// could not be had together the lower are kept, as many as there can be.
#[must_use]
pub fn usable<'a>(
    node: &Node,
    free: &'a Free,
    (request, class): (&Request, ClassId),
    bounds: Bounds,
) -> Cow<'a, Free> {
    let Some(topology) = node.topology.as_deref() else { return Cow::Borrowed(free) };
    let Some(devices) = &request.devices else { return Cow::Borrowed(free) };
    let is_free = request.traffic.pcie.is_zero() || topology.pcie.is_empty();
    if bounds.single.is_none() && is_free {
        return Cow::Borrowed(free);
    }
    let mut left = free.clone();
    if let Some(domain) = bounds.single {
        let attached = &topology.domains[domain.index()].devices;
        for (device, left) in (0..=u16::MAX).map(DeviceIndex).zip(&mut left.devices) {
            if attached.binary_search(&device).is_err() {
                *left = DeviceFree::default();
            }
        }
    }
    if !is_free {
        keep_reachable(topology, node, &mut left, (devices, class), request, bounds);
    }
    Cow::Owned(left)
}

fn keep_reachable(
    topology: &Topology,
    node: &Node,
    free: &mut Free,
    (devices, class): (&DeviceRequest, ClassId),
    request: &Request,
    bounds: Bounds,
) {
    let moved = request.traffic.pcie;
    let mut loads = free.loads.clone();
    for index in 0..free.devices.len() {
        let left = &mut free.devices[index];
        let suits = node.devices[index] == class
            && left.share >= devices.share
            && left.memory >= devices.memory;
        if !suits {
            continue;
        }
        let device = super::index_of(index);
        let has_room = |channel: ChannelIndex| {
            let most = most(topology.bandwidth(channel), bounds.oversubscribe);
            loads[channel.index()].saturating_add(moved) <= most
        };
        if !topology.path(device).all(has_room) {
            *left = DeviceFree::default();
        } else if devices.count > 1 {
            topology.path(device).for_each(|channel| loads[channel.index()] += moved);
        }
    }
}

/// What a run with these devices and domains moves over which channels.
#[must_use]
pub fn channel_grants(
    node: &Node,
    free: &Free,
    request: &Request,
    (devices, domains): (&[DeviceGrant], &[DomainGrant]),
    bounds: Bounds,
) -> Vec<ChannelGrant> {
    let Some(topology) = node.topology.as_deref().filter(|_| !request.traffic.is_none()) else {
        return Vec::new();
    };
    let mut loads = vec![Bandwidth::ZERO; topology.channels()];
    for held in devices {
        for channel in topology.path(held.device) {
            loads[channel.index()] += request.traffic.pcie;
        }
    }
    if !request.traffic.network.is_zero()
        && let Some(nic) = nic(topology, free, request, domains, bounds)
    {
        loads[nic.index()] = request.traffic.network;
    }
    let held = (0..=u16::MAX).map(ChannelIndex).zip(loads).filter(|(_, load)| !load.is_zero());
    held.map(|(channel, bandwidth)| ChannelGrant { channel, bandwidth }).collect()
}

/// The NIC that a run in these domains gets.
fn nic(
    topology: &Topology,
    free: &Free,
    request: &Request,
    domains: &[DomainGrant],
    bounds: Bounds,
) -> Option<ChannelIndex> {
    let room = |channel: ChannelIndex| {
        let most = most(topology.bandwidth(channel), bounds.oversubscribe);
        most.saturating_sub(free.loads[channel.index()])
    };
    let home = domains.iter().max_by_key(|held| (held.cores, std::cmp::Reverse(held.domain)));
    let far = |at: Option<DomainIndex>| match (home, at) {
        (Some(home), Some(at)) => topology.distance(home.domain, at),
        _ => 0,
    };
    let nics = topology.nic_channels();
    let suited = nics.filter(|(channel, _)| room(*channel) >= request.traffic.network);
    let rank = |(channel, nic): &(ChannelIndex, &crate::topology::Nic)| {
        (far(nic.domain), std::cmp::Reverse(room(*channel)), *channel)
    };
    suited.min_by_key(rank).map(|(channel, _)| channel)
}
