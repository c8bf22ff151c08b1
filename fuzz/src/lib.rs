//! What is fuzzed: one function a reader, in `targets.rs`, which the tests replay as well.

pub mod targets;
