//! From before a job is asked for until its task runs: through the client, which has to be started,
//! and over a connection that is there already.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, ensure};
use serde_json::json;
use server::client::Client;

use super::motley::{self, Motley};

/// How long one task may take to start.
const PATIENCE: Duration = Duration::from_secs(20);

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(20);

/// Half, and nineteen of twenty, took at most so many milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Latency {
    pub(crate) p50: f64,
    pub(crate) p95: f64,
}

/// What a task runs that says when it started: this program, which starts sooner than a shell.
pub(super) fn stamp(file: &Path) -> anyhow::Result<[String; 3]> {
    let own = std::env::current_exe().context("find this program")?;
    let text = |path: &Path| path.display().to_string();
    Ok([text(&own), "stamp".to_owned(), text(file)])
}

/// Writes the time into a file, in seconds since 1970, at once.
///
/// # Errors
/// If it cannot be written.
pub fn write_stamp(file: &Path) -> anyhow::Result<()> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).context("read the clock")?;
    let new = file.with_extension("new");
    let written = fs::write(&new, format!("{:.6}\n", now.as_secs_f64()));
    written.and_then(|()| fs::rename(&new, file)).context("write a stamp")
}

/// Through the client.
pub(super) fn by_client(daemon: &Motley, tries: usize) -> anyhow::Result<Latency> {
    let file = daemon.directory().join("stamp");
    of(tries, &file, || {
        let stamp = stamp(&file)?;
        let mut arguments = vec!["submit", "--parsable", "--output", "none", "--"];
        arguments.extend(stamp.iter().map(String::as_str));
        let done = daemon.command(&arguments).output().context("submit a task")?;
        ensure!(done.status.success(), "submit: {}", String::from_utf8_lossy(&done.stderr));
        Ok(())
    })
}

/// Over one connection.
pub(crate) fn by_connection(daemon: &Motley, tries: usize) -> anyhow::Result<Latency> {
    let file = daemon.directory().join("stamp");
    let mut client = Client::connect(&daemon.socket()).context("reach the daemon")?;
    let asked = json!({ "name": "stamp", "alternative": [{ "cores": 1 }] });
    let job = motley::submission(&stamp(&file)?, asked, &[]);
    of(tries, &file, || motley::submit(&mut client, vec![job.clone()]))
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
                break text.trim().parse::<f64>().context("read a stamp")?;
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
