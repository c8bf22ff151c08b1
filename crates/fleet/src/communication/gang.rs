//! Gangs: how long a step takes when members are on several nodes.
//!
//! Members stand in the order in which they are given, so that members of one
//! node, and of one switch, should stand next to each other. Every pattern
//! sends a known number of bytes out of a node and out of the nodes below a
//! switch, and as many in; the busiest of these channels decides. What passes
//! within a node is left to the fabric of the node.

use std::collections::BTreeMap;

use super::{Communication, Pattern, nanos, part};
use crate::attachment::Attachment;
use crate::id::NodeId;
use crate::units::Bytes;

/// Where a member is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat<'a> {
    /// The node.
    pub node: NodeId,
    /// How it hangs in the network, where that is known.
    pub attachment: Option<&'a Attachment>,
}

/// What members share on their way out: a node's interface, or a switch's up-link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Channel<'a> {
    Interface(NodeId),
    Uplink(&'a str),
}

/// How long one step takes between members on several nodes, in nanoseconds, rounded up. Nothing
/// where all are on one node or the bandwidths are not known.
#[must_use]
pub fn gang_step(communication: &Communication, seats: &[Seat<'_>]) -> u64 {
    let Bytes(bytes) = communication.bytes;
    let count = seats.len();
    if count < 2 || bytes == 0 {
        return 0;
    }
    let mut channels: BTreeMap<Channel<'_>, (u64, Vec<bool>)> = BTreeMap::new();
    for (position, seat) in seats.iter().enumerate() {
        let Some(attachment) = seat.attachment else { continue };
        let uplinks = attachment
            .switches
            .iter()
            .filter_map(|uplink| Some((Channel::Uplink(&uplink.switch), uplink.bandwidth?)));
        let interface = attachment.interface.map(|passes| (Channel::Interface(seat.node), passes));
        for (channel, bandwidth) in uplinks.chain(interface) {
            let nobody = || (bandwidth.0, vec![false; count]);
            channels.entry(channel).or_insert_with(nobody).1[position] = true;
        }
    }
    let time = |(bandwidth, is_below): &(u64, Vec<bool>)| {
        nanos(out_of(communication.pattern, bytes, is_below), *bandwidth)
    };
    channels.values().map(time).max().unwrap_or(0)
}

/// The bytes that members below a channel send to the others, or get from them if that is more.
fn out_of(pattern: Pattern, bytes: u64, is_below: &[bool]) -> u64 {
    let count = is_below.len();
    let below = is_below.iter().filter(|is_below| **is_below).count() as u64;
    let (all, above) = (count as u64, count as u64 - below);
    if above == 0 {
        return 0;
    }
    let leaves = |hop: usize| is_below[hop] && !is_below[(hop + 1) % count];
    let enters = |hop: usize| !is_below[hop] && is_below[(hop + 1) % count];
    let hops = |until: usize| {
        let out = (0..until).filter(|hop| leaves(*hop)).count() as u64;
        let into = (0..until).filter(|hop| enters(*hop)).count() as u64;
        (out, into)
    };
    match pattern {
        Pattern::Ring => {
            let (out, into) = hops(count);
            part(bytes, 2 * (all - 1), all).saturating_mul(out.max(into))
        }
        Pattern::Pipeline => {
            let (out, into) = hops(count - 1);
            bytes.saturating_mul(out.max(into))
        }
        // A tree over the network is a line: up one way and down the other.
        Pattern::Tree | Pattern::Neighbour => {
            let (out, into) = hops(count - 1);
            bytes.saturating_mul(out + into)
        }
        Pattern::AllToAll => part(bytes, below * above, all - 1),
        // The first member is the server.
        Pattern::ParameterServer => bytes.saturating_mul(if is_below[0] { above } else { below }),
    }
}
