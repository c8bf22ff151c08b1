//! The real world of one machine: processes.
//!
//! A [`LocalBody`] stands behind [`fleet::Body`]. It starts nothing itself: a
//! small separate process, the [`keeper`], starts tasks, ends them and tells
//! how they ended, and goes on when the process of the body is killed. The two
//! talk over a Unix socket ([`wire`]). What a keeper that was killed leaves
//! behind is ended by [`clean_up`], and what it had told nobody is read from
//! its [`spool`].
//!
//! Nothing here decides what runs: a grant of cores becomes a choice of actual
//! cores, and that is all.

#![warn(missing_docs)]

pub mod keeper;
pub mod wire;
pub mod spool;
pub mod output;
mod body;
mod cgroup;
mod clean;
mod clock;
mod family;
mod launch;
mod paths;
mod sys;

pub use body::{Core, LocalBody, Machine, Settings, Visibility, Waker};
pub use cgroup::{Layout, Permit, permit};
pub use clean::clean_up;
pub use clock::is_in_step;
