//! Calls, as the daemon is handed them, and how it answers.

use fleet::User;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::Submission;
use crate::metrics::Family;

/// What a client asks.
#[derive(Clone, Debug)]
pub enum Call {
    /// How the daemon and its fleet are.
    Status,
    /// Run these jobs.
    Submit {
        /// The jobs, at most [`super::JOBS_MAX`].
        jobs: Vec<Submission>,
        /// What names this submission, so that it is taken in once however often it comes.
        key: Option<String>,
    },
    /// List jobs, the newest first.
    Jobs {
        /// Which.
        filter: JobFilter,
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
    Nodes {
        /// From this one on, counted from 0.
        from: usize,
        /// At most so many.
        most: usize,
    },
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
    /// Which run's output is meant, the latest attempt at its task, and whether its job has ended.
    Output {
        /// The number or name of its job.
        job: String,
        /// The number of its task; that of the first where there is none.
        task: Option<u32>,
        /// Which attempt at it; the latest where there is none.
        attempt: Option<u32>,
    },
    /// The policy in force.
    Policy,
    /// Plan by this policy from now on.
    Apply {
        /// The text of its file.
        text: String,
    },
    /// What ran where, and what is expected to.
    Timeline {
        /// From this moment on.
        since: Option<u64>,
    },
    /// What other weights would make of the jobs that wait.
    Front,
    /// What is measured, for `/metrics`.
    Figures,
    /// The rules of alerts, and how each stands.
    Alerts,
    /// End the daemon.
    Down {
        /// What becomes of what runs.
        how: Down,
    },
}

/// Which jobs are listed.
#[derive(Clone, Debug, Default)]
pub struct JobFilter {
    /// Also those that have ended.
    pub ended: bool,
    /// Only those that stand like this.
    pub state: Option<String>,
    /// Only those whose name has this in it.
    pub name: Option<String>,
    /// Only those of this tenant.
    pub tenant: Option<String>,
}

/// What becomes of what runs when the daemon ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Down {
    /// The daemon ends once it has ended; nothing new is started.
    Drain,
    /// It is stopped, and runs again when the daemon is back.
    Now,
    /// It goes on by itself, and the next daemon finds it.
    Leave,
}

/// How the daemon is to end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct DownRequest {
    /// What becomes of what runs.
    pub how: Down,
}

/// Which jobs are meant.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Chosen {
    /// All that have not ended and that whoever asks may change: `{"all": true}`.
    All(bool),
    /// These, by number or name: `{"jobs": ["17", "train"]}`.
    Jobs(Vec<String>),
}

impl PartialSchema for Chosen {
    fn schema() -> RefOr<Schema> {
        super::described::chosen()
    }
}

impl ToSchema for Chosen {}

/// Who asks, and what they may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caller {
    /// Whose jobs it may change.
    pub user: User,
    /// Whether it may change what concerns everybody.
    pub is_operator: bool,
}

/// What came of a call.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It was done; what was asked for.
    Done(Value),
    /// What was measured.
    Measured(Vec<Family>),
    /// It was not done; why, and what to do.
    Refused(Denial),
}

/// Why a call was not done.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{why}")]
pub struct Denial {
    /// What is wrong, roughly.
    pub kind: Kind,
    /// Why, and what to do.
    pub why: String,
}

/// What is wrong with a call, roughly; each is a status of HTTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It cannot be read: 400.
    Malformed,
    /// It is too long: 413.
    Large,
    /// What was asked makes no sense: 422.
    Invalid,
    /// Nobody is known by this token: 401.
    Unknown,
    /// Whoever asks may not: 403.
    Forbidden,
    /// There is no such thing: 404.
    Missing,
    /// Things are not such that it can be done: 409.
    Conflict,
    /// It did not come in time: 408.
    Slow,
    /// It is in a form that is not understood: 415.
    Foreign,
    /// Asked too often: 429.
    Often,
    /// It cannot be done at the moment: 503.
    Unavailable,
}

impl Denial {
    /// A refusal of this kind.
    pub fn new(kind: Kind, why: impl Into<String>) -> Self {
        Self { kind, why: why.into() }
    }
}
