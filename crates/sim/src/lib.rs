//! The model world: the real controller loop in virtual time.

pub mod workload;

pub use workload::{Inventory, Outage, OutageKind, Truth, Workload};
