//! A daemon and its keeper under fire: starting, stopping, killing and copying what they write.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use fleet::{RunId, RunState};
use serde_json::Value;

use super::processes;

/// How long a keeper may take to be there.
const PATIENCE: Duration = Duration::from_secs(60);

/// A daemon in a fresh directory.
pub(super) struct Daemon {
    program: PathBuf,
    folder: tempfile::TempDir,
    mark: String,
    seed: u64,
}

/// A job as it is listed.
#[derive(Clone, Debug)]
pub(super) struct Listed {
    pub(super) id: u64,
    pub(super) name: String,
    pub(super) state: String,
    pub(super) running: u64,
    pub(super) has_ended: bool,
}

impl Daemon {
    pub(super) fn new(program: PathBuf, seed: u64) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("motley-kills-").tempdir();
        let folder = folder.context("make a directory for the daemon")?;
        let mark = format!("{}-{seed}", std::process::id());
        Ok(Self { program, folder, mark, seed })
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// What marks the processes of its tasks.
    pub(super) fn mark(&self) -> &str {
        &self.mark
    }

    /// Where the bench has its own files.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn directory(&self) -> PathBuf {
        self.folder.path().join("motley")
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).env("MOTLEY_DIRECTORY", self.directory()).stdin(Stdio::null());
        command
    }

    pub(super) fn call(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let done = self.command(arguments).output().context("run motley")?;
        let said = String::from_utf8_lossy(&done.stderr);
        ensure!(done.status.success(), "run motley {}: {}", arguments[0], said.trim());
        Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned())
    }

    pub(super) fn up(&self) -> anyhow::Result<()> {
        self.call(&["up", "--detach"]).map(drop)
    }

    /// The number of the daemon's process, whether it lives or not.
    pub(super) fn pid(&self) -> anyhow::Result<u32> {
        let lock = fs::read_to_string(self.directory().join("lock")).context("read its lock")?;
        let pid = lock.split_whitespace().next().and_then(|pid| pid.parse().ok());
        pid.context("find the daemon's number")
    }

    /// The keeper, once there is one.
    pub(super) fn keeper(&self) -> anyhow::Result<u32> {
        let began = Instant::now();
        loop {
            if let Some(pid) = processes::keeper(&self.directory())? {
                return Ok(pid);
            }
            ensure!(began.elapsed() < PATIENCE, "find the keeper: there is none");
            sleep(Duration::from_millis(1));
        }
    }

    /// Jobs, all or those that have not ended.
    pub(super) fn jobs(&self, all: bool) -> anyhow::Result<Vec<Listed>> {
        let mut arguments = vec!["jobs", "--json", "--most", "10000"];
        arguments.extend(all.then_some("--all"));
        let text = self.call(&arguments)?;
        let views: Vec<Value> = serde_json::from_str(&text).context("read the list of jobs")?;
        let listed = |view: &Value| {
            Some(Listed {
                id: view["id"].as_u64()?,
                name: view["name"].as_str()?.to_owned(),
                state: view["state"].as_str()?.to_owned(),
                running: view["running"].as_u64()?,
                has_ended: !view["ended"].is_null(),
            })
        };
        views.iter().map(|view| listed(view).context("understand the list of jobs")).collect()
    }

    /// The runs that the keeper has on record as done, as far as its spool reaches back.
    pub(super) fn spooled(&self) -> anyhow::Result<Vec<RunId>> {
        let path = self.directory().join("keeper/keeper/spool");
        let Ok(text) = fs::read_to_string(&path) else { return Ok(Vec::new()) };
        let mut runs = Vec::new();
        for line in text.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            let entry: Value = serde_json::from_str(line).context("read the keeper's spool")?;
            let Some(ended) = entry.get("ended") else { continue };
            let state = serde_json::from_value(ended["state"].clone());
            // One that counts as lost may run again, whatever it did.
            if matches!(state.context("read the keeper's spool")?, RunState::Done(_)) {
                let run = serde_json::from_value(ended["run"].clone());
                runs.push(run.context("read the keeper's spool")?);
            }
        }
        Ok(runs)
    }

    /// Copies the directory while nobody writes there.
    pub(super) fn copy(&self) -> anyhow::Result<PathBuf> {
        let to = self.folder.path().join("copy");
        let _ = fs::remove_dir_all(&to);
        let writers = [self.pid()?, self.keeper()?];
        for pid in writers {
            processes::stop(pid)?;
        }
        let copied = copy_files(&self.directory(), &to);
        for pid in writers {
            processes::resume(pid)?;
        }
        copied.map(|()| to)
    }

    /// The control groups of the present keeper, if it has any.
    pub(super) fn groups(&self) -> anyhow::Result<Vec<PathBuf>> {
        let path = self.directory().join("keeper/keeper/identity");
        let text = fs::read_to_string(path).context("see who the keeper is")?;
        let identity: Value = serde_json::from_str(&text).context("see who the keeper is")?;
        let groups = identity["groups"].as_array().into_iter().flatten();
        Ok(groups.filter_map(|group| group.as_str().map(PathBuf::from)).collect())
    }

    /// What is left of tasks: marked processes, those that name the directory, and groups.
    pub(super) fn left(&self) -> anyhow::Result<Vec<String>> {
        let mut left = Vec::new();
        for (run, pids) in processes::marked(&self.mark)? {
            left.push(format!("processes {pids:?} of {run}"));
        }
        let named = self.folder.path().to_string_lossy();
        left.extend(processes::naming(&named)?.iter().map(|pid| format!("process {pid}")));
        let groups = self.groups()?.into_iter().filter(|group| group.exists());
        left.extend(groups.map(|group| format!("the group {}", group.display())));
        Ok(left)
    }
}

/// Copies plain files, and folders with what is in them; sockets stay.
fn copy_files(from: &Path, to: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(to).context("make a folder for a copy")?;
    for entry in fs::read_dir(from).context("list the directory")? {
        let entry = entry.context("list the directory")?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_files(&entry.path(), &target)?;
        } else if kind.is_file()
            && let Err(error) = fs::copy(entry.path(), &target)
        {
            bail!("copy {}: {error}", entry.path().display());
        }
    }
    Ok(())
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Whatever went wrong, nothing of it goes on. No other process names this folder.
        let _ = self.call(&["down", "--now"]);
        let named = self.folder.path().to_string_lossy();
        let marked = processes::marked(&self.mark).unwrap_or_default();
        let left = processes::naming(&named).unwrap_or_default();
        for pid in left.into_iter().chain(marked.into_values().flatten()) {
            let _ = processes::kill(pid);
        }
    }
}
