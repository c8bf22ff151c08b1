//! Processes, as `/proc` shows them: who is there, and stopping and killing by number.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use fleet::RunId;
use rustix::process::{Pid, Signal, kill_process};

use super::diary::run_of;
use super::work::MARK;

/// How long a process may take to be stopped or gone.
const PATIENCE: Duration = Duration::from_secs(20);

/// Between two looks.
const PAUSE: Duration = Duration::from_micros(200);

/// The numbers of all processes.
fn everyone() -> anyhow::Result<Vec<u32>> {
    let entries = fs::read_dir("/proc").context("list processes")?.flatten();
    Ok(entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect())
}

/// The processes that bear this mark in their environment, by the run that each is of.
pub(super) fn marked(mark: &str) -> anyhow::Result<BTreeMap<RunId, BTreeSet<u32>>> {
    let mut found: BTreeMap<RunId, BTreeSet<u32>> = BTreeMap::new();
    for pid in everyone()? {
        let Ok(text) = fs::read(format!("/proc/{pid}/environ")) else { continue };
        let variables = text.split(|byte| *byte == 0);
        let variables = variables.filter_map(|one| std::str::from_utf8(one).ok()?.split_once('='));
        let variables: BTreeMap<_, _> = variables.collect();
        if variables.get(MARK) != Some(&mark) {
            continue;
        }
        let number = |name| variables.get(name).and_then(|text: &&str| text.parse().ok());
        let numbers = ["MOTLEY_JOB_ID", "MOTLEY_TASK_INDEX", "MOTLEY_ATTEMPT"].map(number);
        let [Some(job), Some(task), Some(attempt)] = numbers else { continue };
        let run = run_of([job, task, attempt]).context("read which run a process is of")?;
        found.entry(run).or_default().insert(pid);
    }
    Ok(found)
}

/// The processes that have this text in their command line, this one and clients apart.
pub(super) fn naming(text: &str) -> anyhow::Result<Vec<u32>> {
    let own = std::process::id();
    let names = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        *pid != own && String::from_utf8_lossy(&line).contains(text)
    };
    Ok(everyone()?.into_iter().filter(names).collect())
}

/// The keeper of this directory.
pub(super) fn keeper(directory: &Path) -> anyhow::Result<Option<u32>> {
    let named = directory.join("keeper");
    let is_keeper = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
        words.get(1).is_some_and(|word| word == "keeper")
            && words.get(3).is_some_and(|word| Path::new(word.as_ref()) == named)
    };
    // A process that is being started is still its parent's copy for a moment.
    Ok(everyone()?.into_iter().find(is_keeper).filter(|pid| is_there(*pid)))
}

/// The state of each thread of a process; none where it has gone.
fn states(pid: u32) -> Vec<char> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let state = |path: &Path| {
        let text = fs::read_to_string(path.join("stat")).ok()?;
        text.rsplit_once(") ")?.1.chars().next()
    };
    threads.flatten().filter_map(|entry| state(&entry.path())).collect()
}

/// Whether a process is there and has not ended.
pub(super) fn is_there(pid: u32) -> bool {
    states(pid).iter().any(|state| !matches!(state, 'Z' | 'X'))
}

fn send(pid: u32, signal: Signal) -> anyhow::Result<()> {
    let raw = i32::try_from(pid).ok().and_then(Pid::from_raw);
    match kill_process(raw.context("signal a process")?, signal) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => Err(error).context("signal a process"),
    }
}

fn wait_until(pid: u32, is_so: impl Fn(char) -> bool) -> anyhow::Result<()> {
    let began = Instant::now();
    while !states(pid).into_iter().all(&is_so) {
        ensure!(began.elapsed() < PATIENCE, "wait for process {pid}: it goes on");
        sleep(PAUSE);
    }
    Ok(())
}

/// Stops a process, and returns once it does nothing more.
pub(super) fn stop(pid: u32) -> anyhow::Result<()> {
    send(pid, Signal::STOP)?;
    wait_until(pid, |state| matches!(state, 'T' | 'Z' | 'X'))
}

/// Lets a process that was stopped go on.
pub(super) fn resume(pid: u32) -> anyhow::Result<()> {
    send(pid, Signal::CONT)
}

/// Kills a process, and returns once it has ended.
pub(super) fn kill(pid: u32) -> anyhow::Result<()> {
    send(pid, Signal::KILL)?;
    wait_until(pid, |state| matches!(state, 'Z' | 'X'))
}
