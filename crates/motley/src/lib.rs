//! The program `motley`: commands and rendering.
//!
//! Commands ([`args`], [`command`]) turn words into typed input for the other
//! crates; [`render`] turns typed results into words; only [`out`] prints.

#![warn(missing_docs)]

pub mod args;
pub mod client;
pub mod command;
pub mod daemon;
pub mod doctor;
pub mod job_file;
pub mod render;
pub mod top;
pub mod out;
