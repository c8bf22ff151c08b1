//! A loss of power: whatever was not synced is dropped, and nothing that anyone was told is lost.
//!
//! The real daemon runs under `strace`, which writes down what it writes, syncs
//! and tells. From that the directory is built as a disk might have it after a
//! loss of power at one instant or another: what was synced, and of the rest
//! nothing or what chance leaves, sector by sector. The journal in it must open
//! to a whole turn in which every job that was acknowledged is known, and every
//! end that was told.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]
#![expect(clippy::print_stdout, reason = "a test that is skipped says so")]

mod disk;
mod trace;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use controller::Request;
use controller::journal::{Journal, Restored};
use fleet::JobId;
use serde_json::Value;
use tempfile::TempDir;

use disk::{Disk, Luck};
use trace::{CALLS, Event, events};

/// Between how many calls one looks, beside at everything that is told.
const EVERY: usize = 7;

/// How often chance is tried at each instant.
const CHANCES: u64 = 3;

#[test]
fn nothing_that_was_acknowledged_is_lost_with_the_power() {
    let Some((home, events)) = traced() else { return };
    let found = losses(&home, &events, EVERY);
    assert_eq!(found.lost, Vec::<String>::new());
    // The trace has in it what this test is about.
    assert!(found.jobs >= 12 && found.ends >= 2, "{} jobs, {} ends", found.jobs, found.ends);
    assert!(found.instants > 30, "{} instants", found.instants);
    the_test_finds_what_is_not_synced(&home, &events);
}

/// The same trace with a fault in it: without any sync, without those of one file or folder, and
/// with everything told one sync too early. Each must be found, else the above shows nothing.
fn the_test_finds_what_is_not_synced(home: &Path, events: &[Event]) {
    let is_sync = |event: &Event| matches!(event, Event::Sync(_));
    let is_found = |events: &[Event]| !losses(home, events, usize::MAX).lost.is_empty();
    let without = |is_dropped: &dyn Fn(&Event) -> bool| -> Vec<Event> {
        events.iter().filter(|event| !is_dropped(event)).cloned().collect()
    };
    assert!(is_found(&without(&is_sync)), "no sync at all");
    for path in [home.join("journal-wal"), home.to_owned(), home.parent().unwrap().to_owned()] {
        let of_this = Event::Sync(path);
        assert!(is_found(&without(&|event| *event == of_this)), "without {of_this:?}");
    }
    let mut early = events.to_vec();
    for index in 0..early.len() {
        if matches!(early[index], Event::Told(_))
            && let Some(sync) = early[..index].iter().rposition(is_sync)
        {
            let told = early.remove(index);
            early.insert(sync, told);
        }
    }
    assert!(is_found(&early), "told before it is synced");
}

/// What a look at many instants found.
#[derive(Default)]
struct Found {
    lost: Vec<String>,
    jobs: usize,
    ends: usize,
    instants: usize,
}

/// Loses the power after everything that was told, and after every so many calls.
fn losses(home: &Path, events: &[Event], every: usize) -> Found {
    let (mut disk, mut found) = (Disk::default(), Found::default());
    let (mut jobs, mut ends) = (Vec::new(), Vec::new());
    for (index, event) in events.iter().enumerate() {
        disk.take(event);
        if let Event::Told(text) = event {
            let told: Value = serde_json::from_str(text).unwrap();
            let acknowledged = told["jobs"].as_array().into_iter().flatten();
            jobs.extend(acknowledged.filter_map(Value::as_u64));
            if told["ended"].is_u64() {
                ends.push(told["id"].as_u64().unwrap());
            }
        } else if index % every != 0 {
            continue;
        }
        found.instants += 1;
        let chances = (0..CHANCES).map(|chance| Luck::Coin(index as u64 * CHANCES + chance));
        for luck in [Luck::None].into_iter().chain(chances) {
            let folder = tempfile::tempdir().unwrap();
            disk.write(home, folder.path(), luck);
            let lost = lost_in(folder.path(), &jobs, &ends);
            found.lost.extend(lost.map(|what| format!("after call {index}, {luck:?}: {what}")));
        }
    }
    (found.jobs, found.ends) = (jobs.len(), ends.len());
    found
}

/// What the journal in this folder does not know of what was told.
fn lost_in(folder: &Path, jobs: &[u64], ends: &[u64]) -> Option<String> {
    let restored = match open(&folder.join("journal")) {
        Ok(restored) => restored,
        Err(why) => return Some(why),
    };
    let asked =
        |id| restored.asked.iter().any(|it| matches!(it, Request::Submit(job) if job.id == id));
    for id in jobs {
        if restored.ledger.standing(JobId(*id)).is_none() && !asked(JobId(*id)) {
            return Some(format!("job {id} is not known"));
        }
    }
    for id in ends {
        if restored.ledger.standing(JobId(*id)).is_none_or(|it| it.ended.is_none()) {
            return Some(format!("the end of job {id} is not known"));
        }
    }
    None
}

fn open(journal: &Path) -> Result<Restored, String> {
    let mut journal = Journal::open(journal).map_err(|error| error.to_string())?;
    let audit = journal.verify().map_err(|error| error.to_string())?;
    match audit.damage {
        Some((number, what)) => Err(format!("record {number} is damaged: {what}")),
        None => journal.restore().map_err(|error| error.to_string()),
    }
}

/// What a daemon did in two lives in which jobs are submitted and waited for; nothing where it
/// cannot be watched.
fn traced() -> Option<(PathBuf, Vec<Event>)> {
    let mut watch = Command::new("strace");
    let watched = watch.args(["-o", "/dev/null", "true"]).stderr(Stdio::null()).status();
    if !watched.is_ok_and(|status| status.success()) {
        println!("skipped: strace is not here, or may not watch");
        return None;
    }
    let place = Place { directory: TempDir::new().unwrap() };
    let mut text = String::new();
    for life in 0..2 {
        let mut daemon = place.up(life);
        for number in 0..4 {
            place.run(&["submit", "--output", "none", "--", "true"]);
            let words = "x".repeat(5_000 * number);
            place.run(&["submit", "--output", "none", "--hold", "--", "echo", &words]);
        }
        place.run(&["run", "--", "true"]);
        place.run(&["down", "--now"]);
        assert!(daemon.wait().unwrap().success());
        text += &fs::read_to_string(place.trace(life)).unwrap();
    }
    let home = place.home();
    let is_ours = |path: &Path| {
        let is_journal =
            path.to_string_lossy().starts_with(&*home.join("journal").to_string_lossy());
        // Shared memory is made anew by who opens the journal next.
        is_journal && !path.ends_with("journal-shm") || home.starts_with(path)
    };
    Some((home.clone(), events(&text, is_ours)))
}

/// A directory with a daemon that is watched.
struct Place {
    directory: TempDir,
}

impl Place {
    fn home(&self) -> PathBuf {
        self.directory.path().join("state/motley")
    }

    fn trace(&self, life: u32) -> PathBuf {
        self.directory.path().join(format!("trace-{life}"))
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("MOTLEY_DIRECTORY", self.home()).stdin(Stdio::null()).stdout(Stdio::null());
        command
    }

    fn up(&self, life: u32) -> Child {
        let mut command = self.command("strace");
        command.args(["-f", "-y", "-xx", "-s", "10000000", "-e", &format!("trace={CALLS}"), "-o"]);
        command.arg(self.trace(life)).arg(assert_cmd::cargo::cargo_bin!("motley")).arg("up");
        let mut child = command.spawn().unwrap();
        for _ in 0..6_000 {
            if self.motley(&["status"]) {
                return child;
            }
            sleep(Duration::from_millis(10));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        panic!("the daemon does not start within a minute");
    }

    fn motley(&self, arguments: &[&str]) -> bool {
        let program = assert_cmd::cargo::cargo_bin!("motley");
        let mut command = self.command(program.to_str().unwrap());
        command.args(arguments).stderr(Stdio::null()).status().unwrap().success()
    }

    fn run(&self, arguments: &[&str]) {
        assert!(self.motley(arguments), "{arguments:?}");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = self.motley(&["down", "--now"]);
    }
}
