//! How much memory a job takes that waits.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::motley::Motley;

/// How many jobs of one call.
const TOGETHER: usize = 2_000;

/// Bytes that the daemon grows by for each of so many distinct jobs that no node can run.
pub(super) fn bytes_per_job(program: &Path, jobs: usize) -> anyhow::Result<f64> {
    let daemon = Motley::start(program)?;
    daemon.call(&["run", "--", "true"])?;
    let before = daemon.daemon_kib()?;
    let stream = UnixStream::connect(daemon.directory().join("motley.sock"));
    let mut stream = BufReader::new(stream.context("reach the daemon")?);
    let variables = (0..40).map(|number| format!("VARIABLE_{number}={}", "x".repeat(60)));
    let variables: Vec<String> = variables.collect();
    let job = |number: usize| {
        json!({
            "job": {
                "name": format!("job-{number}"),
                "tenant": "bench",
                "alternative": [{ "cores": 4096, "memory": format!("{number}Mi") }],
            },
            "arguments": ["/bin/echo", number.to_string()],
            "directory": "/tmp",
            "environment": variables,
            "output": "discarded",
            "time_limit": null,
            "restart": { "retries": 0, "requeue": true },
            "after": [],
            "first": 0,
            "held": false,
        })
    };
    for first in (1..=jobs).step_by(TOGETHER) {
        let last = (first + TOGETHER - 1).min(jobs);
        let call = json!({ "call": "submit", "jobs": (first..=last).map(job).collect::<Vec<_>>() });
        writeln!(stream.get_mut(), "{call}").context("submit jobs")?;
        let mut answer = String::new();
        stream.read_line(&mut answer).context("hear from the daemon")?;
        ensure!(answer.starts_with("{\"done\""), "submit jobs: {}", answer.trim());
    }
    daemon.call(&["status"])?;
    let grown = daemon.daemon_kib()? - before;
    Ok(grown * 1024.0 / jobs as f64)
}
