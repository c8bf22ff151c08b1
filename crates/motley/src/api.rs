//! What a client and the daemon say to each other: one line of JSON each way for every call.
//!
//! The socket belongs to the daemon's user, and the system says who is at the
//! other end. A call is answered by [`Answer`]; a call that waits (for the end
//! of a job) is answered when it is over.

use std::collections::BTreeMap;

use fleet::{Ending, Output, Restart, Span};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The largest call, in bytes.
pub const CALL_MAX: usize = 64 << 20;

/// The most jobs of one call.
pub const JOBS_MAX: usize = 10_000;

/// What a client asks.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "call", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Call {
    /// How the daemon and its fleet are.
    Status,
    /// Run these jobs.
    Submit {
        /// The jobs, at most [`JOBS_MAX`].
        jobs: Vec<Submission>,
    },
    /// List jobs, the newest first.
    Jobs {
        /// Also those that have ended.
        ended: bool,
        /// Only jobs with a number below this one.
        below: Option<u64>,
        /// At most so many.
        most: usize,
    },
    /// One job in full.
    Job {
        /// Its number or its name.
        job: String,
    },
    /// Why a job waits or went where it went, and what would start it.
    Explain {
        /// Its number or its name.
        job: String,
    },
    /// What would happen to this job.
    Plan {
        /// The job.
        job: Box<Submission>,
    },
    /// Answer when the job has ended.
    Wait {
        /// Its number or its name.
        job: String,
    },
    /// Cancel jobs.
    Cancel {
        /// Which.
        jobs: Chosen,
    },
    /// Start no more tasks of jobs.
    Hold {
        /// Which.
        jobs: Chosen,
    },
    /// Let jobs that are held run.
    Release {
        /// Which.
        jobs: Chosen,
    },
    /// List the nodes.
    Nodes,
    /// Start nothing more on a node.
    Drain {
        /// Its name.
        node: String,
    },
    /// Let a node that was drained take work.
    Resume {
        /// Its name.
        node: String,
    },
    /// What a task printed, from where the last such call on this connection ended.
    Output {
        /// The number or name of its job.
        job: String,
        /// Its number; that of the first where there is none.
        task: Option<u32>,
        /// What it printed as errors, in place of its output.
        errors: bool,
    },
    /// Plan by this policy from now on.
    Apply {
        /// The text of its file.
        text: String,
    },
    /// End the daemon.
    Down {
        /// What becomes of what runs.
        how: Down,
    },
}

impl Call {
    /// What is to be done, for errors.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        match self {
            Self::Status => "ask how the daemon is",
            Self::Submit { .. } => "submit",
            Self::Jobs { .. } => "list jobs",
            Self::Job { .. } => "show the job",
            Self::Explain { .. } => "explain the job",
            Self::Plan { .. } => "plan the job",
            Self::Wait { .. } => "wait for the job",
            Self::Cancel { .. } => "cancel",
            Self::Hold { .. } => "hold",
            Self::Release { .. } => "release",
            Self::Nodes => "list nodes",
            Self::Drain { .. } => "drain the node",
            Self::Resume { .. } => "resume the node",
            Self::Output { .. } => "find the output",
            Self::Apply { .. } => "apply the policy",
            Self::Down { .. } => "end the daemon",
        }
    }
}

/// What becomes of what runs when the daemon ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Down {
    /// The daemon ends once it has ended; nothing new is started.
    Drain,
    /// It is stopped, and runs again when the daemon is back.
    Now,
    /// It goes on by itself, and the next daemon finds it.
    Leave,
}

/// Which jobs are meant.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Chosen {
    /// All that have not ended and belong to whoever asks.
    All,
    /// These, by number or name.
    These(Vec<String>),
}

/// A job as a client describes it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// What it asks for: a job in the form of a workload file, without when it arrives.
    pub job: Value,
    /// The program and its arguments.
    pub arguments: Vec<String>,
    /// The directory that it starts in.
    pub directory: String,
    /// Its environment.
    pub environment: Vec<String>,
    /// Where its output goes.
    pub output: Output,
    /// After how long a task is stopped.
    pub time_limit: Option<Span>,
    /// When a task runs again.
    pub restart: Restart,
    /// The jobs that must have ended before, by number or name.
    pub after: Vec<(String, Ending)>,
    /// The number that its first task has.
    pub first: u32,
    /// Whether it is held from the start.
    pub held: bool,
}

/// A part of what a task printed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Printed {
    /// The bytes, each as the letter with its number.
    pub bytes: String,
    /// How many bytes of it were not kept, once it is known that no more will come.
    pub dropped: Option<u64>,
    /// Whether the job has ended.
    pub ended: bool,
}

/// What came of a call.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// It was done; what was asked for.
    Done(Value),
    /// It was not done; why, and what to do.
    Refused(String),
}

/// How the daemon is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StatusView {
    /// The version of the program.
    pub version: String,
    /// The number of its process.
    pub pid: u32,
    /// Its directory.
    pub directory: String,
    /// The policy in force.
    pub policy: String,
    /// Jobs that wait, run, are held or blocked, and have ended.
    pub jobs: BTreeMap<String, u64>,
    /// Tasks that run.
    pub running: u64,
    /// What it cannot do on this machine, and what is wrong at the moment.
    pub notes: Vec<String>,
}

/// One job.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct JobView {
    /// Its number.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub user: u32,
    /// Who it is accounted to.
    pub tenant: String,
    /// Larger goes first.
    pub priority: i32,
    /// How it stands: `waiting`, `held`, `blocked`, `running`, `done`, `failed` or `cancelled`.
    pub state: String,
    /// How many tasks it has, and how they stand.
    pub tasks: u32,
    /// Tasks that wait.
    pub waiting: u32,
    /// Tasks that run.
    pub running: u32,
    /// Tasks that did their work.
    pub done: u32,
    /// Tasks that failed.
    pub failed: u32,
    /// Tasks that were cancelled.
    pub cancelled: u32,
    /// Why it waits, where it does.
    pub reason: Option<String>,
    /// What its tasks run.
    pub command: String,
    /// When it was submitted and ended, in microseconds since 1970.
    pub submitted: u64,
    /// When its last task ended.
    pub ended: Option<u64>,
    /// What its tasks used that have ended, where it was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<UsageView>,
    /// What runs, and where; at most as many as are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RunView>,
    /// The first tasks that failed, with how.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<(u32, String)>,
    /// The status with which a program that waits for the job ends.
    pub status: u8,
}

/// One run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunView {
    /// The number of its task, as the user counts.
    pub task: u32,
    /// Which attempt it is; the first is 0.
    pub attempt: u32,
    /// Where.
    pub node: String,
    /// With what.
    pub grant: String,
    /// Since when, in microseconds since 1970.
    pub since: u64,
    /// What it has used so far, where it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub used: Option<UsageView>,
}

/// What was used.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct UsageView {
    /// Processor time.
    pub cpu_seconds: f64,
    /// The most memory of one task.
    pub memory_bytes: u64,
}

/// One node.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NodeView {
    /// Its name.
    pub name: String,
    /// `up`, `drained` or `lost`.
    pub state: String,
    /// The model of its processors.
    pub model: String,
    /// Cores: free, and in all.
    pub cores: (String, String),
    /// Memory: free, and in all.
    pub memory: (String, String),
    /// Devices: what each is, and how much of it is free.
    pub devices: Vec<DeviceView>,
    /// How many runs it has.
    pub runs: usize,
}

/// One device.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DeviceView {
    /// What it is.
    pub model: String,
    /// Its kind.
    pub kind: String,
    /// How much of it is free, and in all.
    pub share: (String, String),
    /// How much of its memory is free, and in all.
    pub memory: (String, String),
}
