//! How a node hangs in the network.
//!
//! The network is a tree of switches: what leaves a node passes its network
//! interface, and what leaves the nodes below a switch passes that switch's
//! up-link. Two nodes are the nearer to each other the lower the first switch
//! is that both hang under.

use serde::{Deserialize, Serialize};

use crate::units::Bandwidth;

/// How a node hangs in the network.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Attachment {
    /// What its network interfaces pass together in each direction; `None` where it is not known,
    /// and then it is taken to hold nobody up.
    pub interface: Option<Bandwidth>,
    /// The switches above it, the nearest first. Under the last one, and under nodes that hang
    /// nowhere, is the rest of the fleet.
    pub switches: Vec<Uplink>,
}

/// A switch and what it hangs on.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Uplink {
    /// The name of the switch, unique in the fleet.
    pub switch: String,
    /// What passes in each direction between the nodes below the switch and all others; `None`
    /// where it is not known, and then it is taken to hold nobody up.
    pub bandwidth: Option<Bandwidth>,
}
