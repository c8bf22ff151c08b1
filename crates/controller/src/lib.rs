//! One turn of the loop: observe, remember, plan, check, order.

#![warn(missing_docs)]

pub mod ledger;
pub mod turn;
pub mod policy_file;

pub use ledger::{Drift, Ledger};
pub use turn::{Planning, Request, Turn, step, turn};
