//! How much memory jobs take that wait.

use std::path::Path;

use anyhow::Context as _;
use serde_json::json;
use server::client::Client;

use super::motley::{self, Motley};

/// How many jobs of one call.
const TOGETHER: usize = 2_000;

/// How many unlike requests the jobs have.
const REQUESTS: usize = 100;

/// Memory of daemon and keeper in KiB.
pub(super) struct Queued {
    /// With an array of so many tasks.
    pub(super) array_kib: f64,
    /// With so many distinct jobs beside it.
    pub(super) distinct_kib: f64,
    /// What the daemon grows by for each distinct job, in bytes.
    pub(super) bytes_per_job: f64,
}

/// Queues an array of so many tasks, and then as many jobs, each with a name and arguments of its
/// own. No node can run any of them.
pub(super) fn measure(program: &Path, count: usize) -> anyhow::Result<Queued> {
    let daemon = Motley::start(program)?;
    daemon.call(&["run", "--", "true"])?;
    let numbers = format!("1-{count}");
    daemon.call(&["submit", "--cpus", "4096", "--array", &numbers, "--", "true"])?;
    let (array_kib, before) = (daemon.together_kib()?, daemon.daemon_kib()?);
    let mut client = Client::connect(&daemon.socket()).context("reach the daemon")?;
    let variables = (0..40).map(|number| format!("VARIABLE_{number}={}", "x".repeat(60)));
    let variables: Vec<String> = variables.collect();
    let job = |number: usize| {
        let arguments = ["/bin/echo".to_owned(), number.to_string()];
        let asked = json!({
            "name": format!("job-{number}"),
            "tenant": "bench",
            "alternative": [{ "cores": 4096, "memory": format!("{}Mi", 1 + number % REQUESTS) }],
        });
        motley::submission(&arguments, asked, &variables)
    };
    for first in (1..=count).step_by(TOGETHER) {
        let last = (first + TOGETHER - 1).min(count);
        motley::submit(&mut client, (first..=last).map(job).collect())?;
    }
    daemon.call(&["status"])?;
    let grown = daemon.daemon_kib()? - before;
    Ok(Queued {
        array_kib,
        distinct_kib: daemon.together_kib()?,
        bytes_per_job: grown * 1024.0 / count as f64,
    })
}
