//! Reads recorded systems: small ones made here, one oddity each, and the snapshots of real ones.

#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]
#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

mod tree;

mod any;
mod confines;
mod cores;
mod devices;
mod memory;
mod sensors;
mod snapshots;
mod survey;
