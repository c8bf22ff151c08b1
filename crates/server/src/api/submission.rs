//! Jobs as clients describe them.

use fleet::{Ending, Output, Restart, Span};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::described;

/// Jobs to run: all of them are taken in, or none.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!({ "jobs": [described::example()] }))]
#[serde(deny_unknown_fields)]
pub struct Submissions {
    /// The jobs, 1 to 10,000.
    #[schema(min_items = 1, max_items = 10_000)]
    pub jobs: Vec<Submission>,
}

/// A job as a client describes it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[schema(example = json!(described::example()))]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// What it asks for: a job in the form of a workload file, without when it arrives.
    #[schema(schema_with = described::job)]
    pub job: Value,
    /// The program and its arguments.
    #[schema(min_items = 1)]
    pub arguments: Vec<String>,
    /// The directory that it starts in.
    #[schema(pattern = "^/")]
    pub directory: String,
    /// Its environment, as `NAME=value`.
    #[serde(default)]
    pub environment: Vec<String>,
    /// Where its output goes: `"kept"`, `"discarded"` or `{"files": ["out", null]}`.
    #[serde(default)]
    #[schema(schema_with = described::output)]
    pub output: Output,
    /// After how many microseconds a task is stopped.
    #[serde(default)]
    #[schema(value_type = Option<u64>)]
    pub time_limit: Option<Span>,
    /// When a task runs again.
    #[serde(default)]
    #[schema(value_type = RestartRule)]
    pub restart: Restart,
    /// The jobs that must have ended before, by number or name, and how: `done`, `notdone` or
    /// `any`; `#2` is the second job of the call.
    #[serde(default)]
    #[schema(schema_with = described::after)]
    pub after: Vec<(String, Ending)>,
    /// The number that its first task has.
    #[serde(default)]
    pub first: u32,
    /// What each task gets as its own, where they get anything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<String>,
    /// Whether it is held from the start.
    #[serde(default)]
    pub held: bool,
}

/// When a task that did not do its work runs again, as JSON.
#[derive(ToSchema)]
#[expect(dead_code, reason = "it describes a type of another crate in the OpenAPI document")]
pub(super) struct RestartRule {
    /// How many times one that failed by itself runs again.
    retries: u32,
    /// Whether one that was lost, through no fault of its own, runs again.
    requeue: bool,
}
