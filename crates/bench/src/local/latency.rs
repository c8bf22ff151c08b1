//! From before a job is asked for until its task runs: through the client, which has to be started,
//! and over a connection that is there already.

use std::fs;
use std::io::BufReader;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use serde_json::json;

use super::motley::{self, Motley};

/// How long one task may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Half, and nineteen of twenty, took at most so many milliseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Latency {
    pub(super) p50: f64,
    pub(super) p95: f64,
}

/// The program that says when it started: bash's own clock, so that it starts nothing else.
pub(super) fn stamp(file: &Path) -> [String; 3] {
    let script = format!("echo $EPOCHREALTIME > {0}.new; mv {0}.new {0}", file.display());
    ["bash".to_owned(), "-c".to_owned(), script]
}

/// Through the client.
pub(super) fn by_client(daemon: &Motley, tries: usize) -> anyhow::Result<Latency> {
    let file = daemon.directory().join("stamp");
    of(tries, &file, || {
        let stamp = stamp(&file);
        let mut arguments = vec!["submit", "--parsable", "--output", "none", "--"];
        arguments.extend(stamp.iter().map(String::as_str));
        let done = daemon.command(&arguments).output().context("submit a task")?;
        ensure!(done.status.success(), "submit: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    })
}

/// Over one connection.
pub(super) fn by_connection(daemon: &Motley, tries: usize) -> anyhow::Result<Latency> {
    let file = daemon.directory().join("stamp");
    let stream = UnixStream::connect(daemon.socket()).context("reach the daemon")?;
    let mut stream = BufReader::new(stream);
    let job = motley::submission(&stamp(&file), json!({ "alternative": [{ "cores": 1 }] }), &[]);
    of(tries, &file, || motley::submit(&mut stream, vec![job.clone()]))
}

/// Asks so many times, each time once the task before has run.
fn of(
    tries: usize,
    file: &Path,
    mut ask: impl FnMut() -> anyhow::Result<()>,
) -> anyhow::Result<Latency> {
    let mut millis = Vec::with_capacity(tries);
    for _ in 0..tries {
        let _ = fs::remove_file(file);
        let asked = SystemTime::now().duration_since(UNIX_EPOCH).context("read the clock")?;
        ask()?;
        let began = Instant::now();
        let started = loop {
            if let Ok(text) = fs::read_to_string(file) {
                break text.trim().replace(',', ".").parse::<f64>().context("read a stamp")?;
            }
            ensure!(began.elapsed() < PATIENCE, "wait for a task: it does not start");
            sleep(Duration::from_millis(1));
        };
        millis.push((started - asked.as_secs_f64()) * 1e3);
        sleep(PAUSE);
    }
    millis.sort_by(f64::total_cmp);
    let at = |part: usize| millis[(millis.len() * part / 100).min(millis.len() - 1)];
    Ok(Latency { p50: at(50), p95: at(95) })
}
