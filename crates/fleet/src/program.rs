//! Programs: what the tasks of a job run, where a body starts processes itself.
//!
//! Nothing here decides where a job runs. A body that starts processes reads
//! the [`Program`]; the ledger reads what came of it: a [`Failure`], and the
//! job's rule of [`Restart`].

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::id::JobId;
use crate::units::Span;

/// What every task of a job runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// The program and its arguments; at least one, and none with a NUL in it. A program without a
    /// slash is looked for along the `PATH` of its environment.
    pub arguments: Vec<String>,
    /// The directory that it starts in, from the root.
    pub directory: String,
    /// Its environment, as `NAME=value`.
    pub environment: Arc<Vec<String>>,
    /// Where what it prints goes.
    pub output: Output,
    /// After how long a task is stopped, counted from its start.
    pub time_limit: Option<Span>,
    /// As whom it runs.
    pub user: User,
    /// The number by which the first task goes to programs and people; the others follow.
    #[serde(default)]
    pub first: u32,
    /// What each task gets as its own in `MOTLEY_ENTRY`, in the order of the tasks; none where
    /// there are none.
    #[serde(default, skip_serializing_if = "has_no_entries")]
    pub entries: Arc<Vec<String>>,
}

fn has_no_entries(entries: &Arc<Vec<String>>) -> bool {
    entries.is_empty()
}

/// Where what a task prints goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// It is kept by the body, and can be asked for.
    #[default]
    Kept,
    /// Nowhere.
    Discarded,
    /// Into files of the user's: `%j` stands for the number of the job, `%t` for that of the task,
    /// `%%` for `%`. Where the second is not given, both go into the first.
    Files(String, Option<String>),
}

/// A user of the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct User {
    /// The number of the user.
    pub uid: u32,
    /// The number of the user's main group.
    pub gid: u32,
}

/// Why a task did not do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Failure {
    /// It ended with this status, which is not zero.
    Status(u8),
    /// It was ended by this signal, which Motley did not send.
    Signal(u8),
    /// It ran for as long as it may.
    TimeLimit,
    /// It took more memory than it was granted.
    OutOfMemory,
    /// It could not be started; the number of the error as the system has it.
    NotStarted(i32),
    /// What kept it is gone, and it ended with that.
    Lost,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Status(status) => write!(f, "status {status}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::TimeLimit => f.write_str("time limit"),
            Self::OutOfMemory => f.write_str("out of memory"),
            Self::NotStarted(error) => {
                write!(f, "not started: {}", std::io::Error::from_raw_os_error(*error))
            }
            Self::Lost => f.write_str("lost with its keeper"),
        }
    }
}

/// When a task that did not do its work runs again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Restart {
    /// How many times one that failed by itself runs again.
    pub retries: u32,
    /// Whether one that was lost, through no fault of its own, runs again.
    pub requeue: bool,
}

impl Default for Restart {
    fn default() -> Self {
        Self { retries: 0, requeue: true }
    }
}

/// A job that must have ended before another begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Dependency {
    /// Which job.
    pub job: JobId,
    /// How it must have ended.
    pub ending: Ending,
}

/// How a job ended, as others may wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// All its tasks did their work.
    Done,
    /// Some task failed, or was cancelled.
    NotDone,
    /// Either way.
    Any,
}
