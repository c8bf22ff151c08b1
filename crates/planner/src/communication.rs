//! Communication: what it adds to the time of a task on a choice of devices.
//!
//! The devices of a task send each other something for every unit of work. How
//! long that takes follows from the links between those that were chosen; where
//! nothing is known of how those of a node are joined it is taken to cost nothing.

use fleet::{Alternative, DeviceIndex};

use crate::feasible::Way;
use crate::groups::Group;

/// By what part a task that runs at this many units of work a second takes longer because its
/// devices talk to each other.
pub(crate) fn stretch(alternative: &Alternative, group: &Group, way: Way, rate: f64) -> f64 {
    let topology = group.node.topology.as_deref().filter(|topology| topology.is_wired());
    let (Some(communication), Some(topology)) = (&alternative.communication, topology) else {
        return 0.0;
    };
    let grant = way.grant(alternative, &group.node, &group.free);
    let devices: Vec<DeviceIndex> = grant.devices.iter().map(|held| held.device).collect();
    rate * topology.fabric(&devices).step(communication) as f64 / 1e9
}
