//! A directory with a daemon in it, ended with the test.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;
use tempfile::TempDir;

static MARKS: AtomicU32 = AtomicU32::new(0);

pub(crate) struct Place {
    directory: TempDir,
}

impl Place {
    /// No daemon yet.
    pub(crate) fn new() -> Self {
        Self { directory: TempDir::new().unwrap() }
    }

    /// A daemon that runs.
    pub(crate) fn up() -> Self {
        let place = Self::new();
        place.start();
        place
    }

    pub(crate) fn start(&self) {
        self.start_with(&[]);
    }

    pub(crate) fn start_with(&self, options: &[&str]) {
        let all: Vec<&str> = ["up", "--detach"].iter().chain(options).copied().collect();
        let (status, _, errors) = self.run(&all);
        assert_eq!(status, 0, "{errors}");
    }

    fn home(&self) -> PathBuf {
        self.directory.path().join("motley")
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.directory.path().join(name).to_str().unwrap().to_owned()
    }

    /// A name for processes that no others have.
    pub(crate) fn mark(&self) -> String {
        format!("task-{}-{}", std::process::id(), MARKS.fetch_add(1, Ordering::SeqCst))
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("motley"));
        command.args(arguments).env("MOTLEY_DIRECTORY", self.home()).env("SECRET", "");
        command.current_dir(self.directory.path());
        command
    }

    /// Status, output and errors of the program.
    pub(crate) fn run(&self, arguments: &[&str]) -> (i32, String, String) {
        let done = self.command(arguments).stdin(Stdio::null()).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (done.status.code().unwrap_or(-1), text(done.stdout), text(done.stderr))
    }

    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        let (status, output, errors) = self.run(arguments);
        assert_eq!(status, 0, "{arguments:?}: {errors}");
        serde_json::from_str(&output).unwrap()
    }

    /// Submits a job; its number.
    pub(crate) fn submit(&self, arguments: &[&str]) -> String {
        let all: Vec<&str> = ["submit", "--parsable"].iter().chain(arguments).copied().collect();
        let (status, output, errors) = self.run(&all);
        assert_eq!(status, 0, "{arguments:?}: {errors}");
        output.trim().to_owned()
    }

    /// Waits for a job; its status.
    pub(crate) fn wait(&self, job: &str) -> i32 {
        self.run(&["job", "wait", job]).0
    }

    /// What the daemon measures under this name, with its labels.
    pub(crate) fn measured(&self, name: &str) -> Option<f64> {
        let mut stream = UnixStream::connect(self.home().join("motley.sock")).unwrap();
        let ask = "GET /metrics HTTP/1.1\r\nHost: motley\r\nConnection: close\r\n\r\n";
        stream.write_all(ask.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.map(|value| value.parse().unwrap())
    }

    pub(crate) fn kill_daemon(&self) {
        let lock = fs::read_to_string(self.home().join("lock")).unwrap();
        kill(lock.split_whitespace().next().unwrap());
        let is_free = || fs::File::open(self.home().join("lock")).unwrap().try_lock().is_ok();
        wait_until("the daemon has gone", is_free);
    }

    pub(crate) fn kill_keeper(&self) {
        for pid in self.keepers() {
            kill(&pid);
        }
    }

    /// The keepers of this directory.
    pub(crate) fn keepers(&self) -> Vec<String> {
        let of_this = |line: &[String]| {
            line.get(1).is_some_and(|word| word == "keeper")
                && line.iter().any(|word| word.starts_with(self.home().to_str().unwrap()))
        };
        all_processes().into_iter().filter(|(_, line)| of_this(line)).map(|(pid, _)| pid).collect()
    }

    /// How many processes have this mark as their name.
    pub(crate) fn processes(&self, mark: &str) -> usize {
        let named = |(_, line): &(String, Vec<String>)| line.first().is_some_and(|one| one == mark);
        all_processes().iter().filter(|process| named(process)).count()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.run(&["down", "--now"]);
        if self.home().join("lock").exists() {
            for pid in self.keepers() {
                kill(&pid);
            }
        }
    }
}

fn kill(pid: &str) {
    let _ = Command::new("kill").args(["-9", pid]).stderr(Stdio::null()).status();
}

/// Every process, with the words of its command line.
fn all_processes() -> Vec<(String, Vec<String>)> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let names = entries.map(|entry| entry.file_name().into_string().unwrap_or_default());
    let pids = names.filter(|name| name.bytes().all(|letter| letter.is_ascii_digit()));
    let with_line = |pid: String| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words = line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into());
        Some((pid, words.collect()))
    };
    pids.filter_map(with_line).collect()
}

/// Waits until something is so; it takes as long as it takes, but not for ever.
pub(crate) fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if is_so() {
            return;
        }
        sleep(Duration::from_millis(10));
    }
    panic!("{what}: not within a minute");
}
