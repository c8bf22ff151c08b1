//! The openb trace (Alibaba cluster-trace-gpu-v2023): CSV lists of nodes and pods.
//!
//! The columns and what they mean are in `docs/files.md`. Rows are read one by
//! one; a row is a list of fields without quotes, as the trace has it.

mod columns;
mod nodes;
mod pods;

pub(super) use nodes::read_nodes;
pub(super) use pods::read_pods;
