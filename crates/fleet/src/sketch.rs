//! The sketch notation: a fleet, its jobs and its runs in a few lines of text.
//!
//! For tests and docs. [`snapshot`] reads a sketch, [`plan_text`],
//! [`reasons_text`] and [`choices_text`] write what was decided about it.
//!
//! One item a line; `#` starts a comment; blank lines are ignored. What is not
//! understood is an error that names the line and the word.
//!
//! ```
//! let snapshot = fleet::sketch::snapshot("
//!     at 10s
//!     class epyc cpu
//!     class a100 gpu mem=40Gi units=6912 cap=sm_80 share=milli idle=50W busy=400W
//!     node n    cores=8 mem=64Gi cpu=epyc idle=100W busy=300W label.zone=a dev=a100*2 x3
//!     node lost cores=8 mem=64Gi down
//!     job train tenant=ml prio=5 at=0s tasks=3 work=100 cores=1 gpu=1 share=0.5 rate.a100=2
//!       or cores=4 rate.epyc=0.1
//!     run train/0.0 n-0 dev=1
//! ").unwrap();
//! assert_eq!(snapshot.nodes.len(), 4);
//! ```
//!
//! | item | words |
//! | --- | --- |
//! | `class MODEL KIND` | `mem=` `units=` `cap=A,B` `share=exclusive\|milli\|slices` (exclusive) `profiles=NAME:SHARE:MEMORY:SLOTS:FIRST+FIRST,…` `idle=` `busy=` |
//! | `node NAME` | `cores=` `mem=` must be given; `cpu=MODEL` (the first of kind cpu), `idle=` `busy=` `label.KEY=VALUE` `dev=MODEL*2,MODEL` `host=` `net=10Gbit/s` `links=0-1:25GB/s,…` `nic=` `switch=NAME:BANDWIDTH,NAME` (the nearest first) `down`; `x3`: three such nodes, `NAME-0` to `NAME-2` |
//! | `domain` | a memory domain of the nodes above: `cores=` `mem=` (nothing) `dev=INDEX,INDEX` `kind=dram\|hbm\|cxl` (dram) `bw=` `latency_nanos=` (not known) |
//! | `distances ROW …` | how far the domains of the nodes above are apart, `10,21 21,10`; where it is missing, 10 within a domain and 20 between two |
//! | `pcie` | a PCIe switch of the nodes above: `bw=` must be given; `dev=INDEX,INDEX` (none) `above=SWITCH` (a root) |
//! | `nic` | a NIC of the nodes above: `bw=` must be given; `in=DOMAIN` (of none) |
//! | `job NAME` | `tenant=` (default) `prio=` (0) `at=` (0s) `tasks=` (1) `gang` with `pernode=` and `under=` (switches) `work=` (no end) `deadline=` (a moment) `in=NAME:SIZE,…` `out=NAME:SIZE,…`, and the first alternative |
//! | `or` | another alternative of the job above |
//! | alternative | `cores=` `mem=` (nothing); `gpu=N`, `tpu=N`, …, with `share=` (1) `devmem=` `model=A,B` `units=` `cap=`, or `profile=NAME` (count 1); `numa=single`, `membw=` `pciebw=` `netbw=` (nothing stated); `label.KEY=VALUE`; `rate.MODEL=`; `talk=PATTERN*BYTES` for every unit of work |
//! | `run JOB/TASK.ATTEMPT NODE` | `alt=` (0) `dev=INDEX,INDEX` (`dev=INDEX@FIRST` for a slice) `in=DOMAIN` (that of its first device, else the first) `since=` (0s) `stage=ordered\|running\|stray\|cancelled\|recalled\|stopping` (running) `generation=` (0); holds what the alternative asks, and its task no longer waits |
//! | `again JOB/TASK.ATTEMPT` | the task waits for this attempt |
//! | `did JOB/TASK.ATTEMPT` | how far the task has got: `done=` must be given, `at=` (0s), `kept=` (the same) |
//! | `mix COUNT` | an alternative of which so many tasks have come and gone |
//! | `data NAME SIZE NODE …` | where a dataset is |
//! | `signal NAME` | `default=` (0) `node.NAME=` `class.MODEL=`: numbers |
//! | `rotation NODE`, `regimes REGIME …` | what the last plan wanted remembered |
//! | `at SPAN` | the time of the snapshot |
//!
//! Classes, nodes and jobs get their ids in the order of their lines and are
//! named only below them. The arriving mix is the first alternative of every
//! job, counted by tasks, with the `mix` lines added.

mod line;
mod read;
mod inside;
mod slices;
mod alternative;
mod wiring;
mod datasets;
mod signals;
mod write;

use thiserror::Error;

use crate::parse::ParseError;
use crate::plan::Placement;
use crate::snapshot::{Parts, Snapshot, SnapshotError};

pub use write::{choices_text, plan_text, reasons_text};

/// Why a text is not a sketch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SketchError {
    /// A word that cannot be understood.
    #[error("read line {line} of the sketch at {word:?}")]
    Line {
        /// The line, from 1.
        line: usize,
        /// The word.
        word: String,
        /// What is wrong with it.
        #[source]
        fault: WordFault,
    },
    /// Every line can be read, but together they are no snapshot.
    #[error("put the lines of the sketch together")]
    Parts(#[source] SnapshotError),
}

/// What is wrong with a word of a sketch.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum WordFault {
    /// No item starts like this.
    #[error(
        "no such item; items are class, node, domain, distances, pcie, nic, data, signal, job, or, \
         run, again, mix, rotation, regimes and at"
    )]
    UnknownItem,
    /// The item has no such word.
    #[error("no such word in {item:?}")]
    UnknownWord {
        /// The item.
        item: String,
    },
    /// The item needs something that is not there.
    #[error("{what} is missing")]
    Missing {
        /// What is missing.
        what: &'static str,
    },
    /// It was given before.
    #[error("given twice")]
    Twice,
    /// A name that no line above introduces.
    #[error("no {what} of this name above")]
    NotAbove {
        /// What was named.
        what: &'static str,
    },
    /// Not what should stand here.
    #[error("not {what}; write it like {example}")]
    Malformed {
        /// What should stand here.
        what: &'static str,
        /// What would be right.
        example: &'static str,
    },
    /// Not a quantity.
    #[error(transparent)]
    Quantity(#[from] ParseError),
    /// A constraint on devices where none are asked for.
    #[error("needs a device in the same alternative, like gpu=1")]
    WithoutDevice,
    /// More than a sketch may have.
    #[error("more than {most} {what}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// A share of several devices.
    #[error("a share is of one device")]
    ShareOfSeveral,
    /// A word about the inside of nodes that does not follow one.
    #[error("no node on the line above")]
    WithoutNode,
    /// The node has no memory domain of this index.
    #[error("the node has only {domains} memory domains")]
    DomainUnknown {
        /// How many it has.
        domains: usize,
    },
    /// An `or` that does not follow a job.
    #[error("no job on the line above")]
    WithoutJob,
    /// The job has no task of this index.
    #[error("the job has only {tasks} tasks")]
    TaskUnknown {
        /// How many it has.
        tasks: u32,
    },
    /// The tasks that wait for their first start are not one range.
    #[error("the tasks that were never started must be one range; name them from 0 up")]
    Gap,
    /// The job has no alternative of this index.
    #[error("the job has only {alternatives} alternatives")]
    AlternativeUnknown {
        /// How many it has.
        alternatives: usize,
    },
    /// More or fewer devices than the alternative asks for.
    #[error("the alternative asks for {asked} devices")]
    DeviceCount {
        /// How many it asks for.
        asked: u32,
    },
    /// The node has no device of this index.
    #[error("the node has only {devices} devices")]
    DeviceUnknown {
        /// How many it has.
        devices: usize,
    },
    /// The alternative declares no rate for the class.
    #[error("no rate is declared for {model:?}")]
    WithoutRate {
        /// The model of the class.
        model: String,
    },
}

/// Reads a sketch.
///
/// # Errors
/// If a line cannot be understood, or the lines do not fit together.
pub fn snapshot(text: &str) -> Result<Snapshot, SketchError> {
    Snapshot::build(parts(text)?).map_err(SketchError::Parts)
}

/// Reads a sketch into parts, for those who want to change them before they are put together.
///
/// # Errors
/// If a line cannot be understood.
pub fn parts(text: &str) -> Result<Parts, SketchError> {
    read::parts(text)
}

/// Reads a placement of a waiting job: `train/1.0 n-0 alt=0 dev=0,1`. It is granted what the
/// alternative asks; nobody asks whether that is free.
///
/// # Errors
/// If a word cannot be understood.
pub fn placement(snapshot: &Snapshot, text: &str) -> Result<Placement, SketchError> {
    read::placement(snapshot, text)
}

#[cfg(test)]
mod tests;
