//! The nouns and the law of Motley.
//!
//! Everything that the other crates talk about is defined here: ids and exact
//! units, nodes and devices, jobs, the snapshot that a plan is made from, the
//! plan with its explanation, the orders that carry it out, and the one public
//! trait, [`Body`]. Also here, sharing no code with the planner, is [`check`],
//! which finds the faults in a plan.
//!
//! Nothing in this crate reads a clock, draws dice, logs or waits.

#![warn(missing_docs)]

pub mod units;
pub mod parse;
pub mod id;
pub mod device;
pub mod communication;
pub mod attachment;
pub mod topology;
pub mod node;
pub mod job;
pub mod dataset;
pub mod program;
pub mod signal;
pub mod run;
pub mod snapshot;
pub mod policy;
pub mod plan;
pub mod explanation;
pub mod order;
pub mod phase;
pub mod body;
pub mod check;
pub mod sketch;

pub use attachment::{Attachment, Uplink};
pub use body::{Body, BodyError, Extent, NodeSight, Observation, RunSight, RunState, Usage};
pub use communication::{Communication, Pattern};
pub use dataset::{Catalogue, Dataset, Datasets, Holding};
pub use device::{Classes, DeviceClass, DeviceKind, Power, Profile, ShareRule, Slots};
pub use explanation::{Explanation, Reason};
pub use id::{
    Attempt, ChannelIndex, ClassId, DeviceIndex, DomainIndex, Generation, JobId, NodeId, RunId,
    Serial, TaskIndex, Tenant,
};
pub use job::{Alternative, DeviceRequest, Gang, Job, Reach, Request, Traffic};
pub use node::{ChannelGrant, DeviceFree, DeviceGrant, DomainFree, DomainGrant, Free, Grant, Node};
pub use order::{Action, Order, Outcome, Receipt, Refusal};
pub use phase::{Mark, Phase};
pub use plan::{Decision, Placement, Plan, Stop, StopCause};
pub use policy::{Allocate, Policy, Powers};
pub use program::{Dependency, Ending, Failure, Output, Program, Restart, User};
pub use run::{Run, Stage};
pub use signal::{Signal, Signals};
pub use snapshot::{Changes, NodeEntry, Snapshot};
pub use topology::{Domain, Link, MemoryKind, Nic, PcieSwitch, Topology, TopologyFault};
pub use units::{
    Bandwidth, Bytes, Level, Micro, Milli, MilliCores, Millijoules, Milliwatts, Rate, Span, Time,
    Work,
};
