//! A daemon of Motley, measured from outside through its program.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use server::client::{Ask, Client};

use super::TASK;
use super::meter::{Cost, measure};

/// A daemon in a directory of its own, ended when it is dropped.
pub(crate) struct Motley {
    program: PathBuf,
    directory: PathBuf,
    pids: Vec<u32>,
}

impl Motley {
    pub(crate) fn start(program: &Path) -> anyhow::Result<Self> {
        Self::start_with(program, &[])
    }

    pub(crate) fn start_with(program: &Path, options: &[&str]) -> anyhow::Result<Self> {
        let name = format!("motley-bench-{}", std::process::id());
        let directory = std::env::temp_dir().join(name);
        fs::create_dir_all(&directory).context("make a directory for the daemon")?;
        let mut started = Self { program: program.to_owned(), directory, pids: Vec::new() };
        started.call(&[&["up", "--detach"], options].concat())?;
        let lock = fs::read_to_string(started.directory.join("lock")).context("read its lock")?;
        let daemon = lock.split_whitespace().next().and_then(|pid| pid.parse().ok());
        started.pids = vec![daemon.context("find the daemon's number")?];
        started.pids.push(started.keeper()?);
        Ok(started)
    }

    /// The keeper: the process that names the directory and is no daemon.
    fn keeper(&self) -> anyhow::Result<u32> {
        let named = self.directory.to_string_lossy().into_owned();
        for entry in fs::read_dir("/proc").context("list processes")?.flatten() {
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            let line = fs::read(entry.path().join("cmdline")).unwrap_or_default();
            let words: Vec<_> =
                line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
            let is_keeper = words.get(1).is_some_and(|word| word == "keeper");
            if is_keeper && words.iter().any(|word| word.starts_with(&named)) {
                return Ok(pid);
            }
        }
        anyhow::bail!("find the keeper of {named}")
    }

    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.directory.join("motley.sock")
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("MOTLEY_DIRECTORY", &self.directory).stdin(Stdio::null());
        command
    }

    pub(crate) fn call(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let done: Output = self.command(arguments).output().context("run motley")?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "run motley {}: {}", arguments.join(" "), said.trim());
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    /// What an array of tasks costs, submitted and waited for.
    pub(super) fn array(&self, tasks: usize, options: &[&str]) -> anyhow::Result<Cost> {
        let numbers = format!("1-{tasks}");
        let mut arguments = vec!["submit", "--parsable", "--no-env", "--array", &numbers];
        arguments.extend(options);
        arguments.extend(["--", TASK]);
        measure(tasks, &self.pids, || {
            let job = self.call(&arguments)?;
            self.call(&["job", "wait", &job]).map(drop)
        })
    }

    /// Memory that daemon and keeper have in use; what both share, such as the program that both
    /// are, is counted once.
    pub(super) fn together_kib(&self) -> anyhow::Result<f64> {
        self.pids.iter().map(|pid| memory_kib(*pid, "smaps_rollup", "Pss:")).sum()
    }

    /// Memory that each has in use, added up.
    pub(super) fn resident_kib(&self) -> anyhow::Result<f64> {
        self.pids.iter().map(|pid| memory_kib(*pid, "status", "VmRSS:")).sum()
    }

    /// Memory that the daemon alone has in use.
    pub(super) fn daemon_kib(&self) -> anyhow::Result<f64> {
        memory_kib(self.pids[0], "status", "VmRSS:")
    }
}

/// What asks over the socket for a job that runs this program.
pub(crate) fn submission(arguments: &[String], job: Value, environment: &[String]) -> Value {
    json!({
        "job": job,
        "arguments": arguments,
        "directory": "/tmp",
        "environment": environment,
        "output": "discarded",
        "time_limit": null,
        "restart": { "retries": 0, "requeue": true },
        "after": [],
        "first": 0,
        "held": false,
    })
}

/// Submits jobs over a connection.
pub(super) fn submit(client: &mut Client, jobs: Vec<Value>) -> anyhow::Result<()> {
    let ask = Ask::post("/v1/jobs").telling(&json!({ "jobs": jobs }));
    client.ask::<Value>(&ask).context("submit jobs").map(drop)
}

fn memory_kib(pid: u32, file: &str, word: &str) -> anyhow::Result<f64> {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).context("look at the daemon")?;
    let line = text.lines().find_map(|line| line.strip_prefix(word));
    let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    kib.context("read the memory of the daemon")
}

impl Drop for Motley {
    fn drop(&mut self) {
        // What is left of a bench that failed is a folder of temporary files.
        let _ = self.call(&["down", "--now"]);
        let _ = fs::remove_dir_all(&self.directory);
    }
}
