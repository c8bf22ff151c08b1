//! One turn of the loop: observe, remember, plan, check, order.

#![warn(missing_docs)]

pub mod journal;
pub mod ledger;
pub mod orders;
pub mod turn;
pub mod run;
pub mod policy_file;

pub use ledger::{Drift, Ledger, Standing, TaskTally};
pub use run::{Advance, AdvanceError, ApplyError, AskError, Controller, News, WorkLost, suits};
pub use turn::{Planning, Request, Turn, step, turn};
