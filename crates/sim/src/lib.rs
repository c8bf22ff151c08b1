//! The model world: the real controller loop in virtual time.

pub mod bundled;
mod dice;
pub mod read;
pub mod workload;
pub mod world;
pub mod modelled;
pub mod faults;
pub mod scenario;
pub mod visit;
pub mod checkers;
pub mod crashes;
pub mod report;
pub mod front;

pub use workload::{Inventory, Outage, OutageKind, Truth, Workload};
