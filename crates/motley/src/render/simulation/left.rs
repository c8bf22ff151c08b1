//! What could not be placed, and why.

use serde::Serialize;
use sim::report::NeverPlaced;

use crate::render::words;

/// Jobs that still waited at the end for one reason.
#[derive(Debug, Serialize)]
pub(super) struct Left {
    jobs: u64,
    tasks: u64,
    /// The name of one of the jobs.
    example: String,
    /// Its reason in words.
    reason: String,
}

impl Left {
    pub(super) fn new(group: &NeverPlaced, example: &str, reason: String) -> Self {
        Self { jobs: group.jobs, tasks: group.tasks, example: example.to_owned(), reason }
    }
}

pub(super) fn text(policies: &[String], left: &[Left]) -> String {
    if left.is_empty() {
        return String::new();
    }
    let jobs = words::count(left.iter().map(|group| group.jobs).sum(), "job");
    let mut text = format!("\nNot placed, or not all of it, by {}: {jobs}\n", policies[0]);
    for Left { jobs, tasks, example, reason } in left {
        let (jobs, tasks) = (words::count(*jobs, "job"), words::count(*tasks, "task"));
        text.push_str(&format!("  {jobs} ({tasks}), such as {example}: {reason}\n"));
    }
    text
}
