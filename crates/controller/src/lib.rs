//! One turn of the loop: observe, remember, plan, check, order.

#![warn(missing_docs)]

pub mod ledger;
pub mod orders;
pub mod turn;
pub mod policy_file;

pub use ledger::{Drift, Ledger, Standing, TaskTally};
pub use turn::{Planning, Request, Turn, step, turn};
