//! What there is on this machine, read without changing it.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use body_local::Permit;
use probe::devices::{self, Vendor, nvidia_smi};
use probe::{Gaps, Root, Topology};
use rustix::fs::{Access, StatVfsMountFlags, access, statfs, statvfs};
use rustix::process::{Resource, geteuid, getrlimit};

use super::judge::{Accelerators, Clock, Daemon, Directory, Disk, Kernel, Machine, Memory};
use crate::client::Client;
use crate::daemon::{Place, is_networked};

/// How long the tool of a vendor may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// As much of the end of a log as is read.
const LOG_TAIL: u64 = 64 << 10;

/// What is older in a log is no trouble of today.
const TROUBLE_SECONDS: u64 = 24 * 60 * 60;

/// File systems that are nowhere but in memory: tmpfs and ramfs.
const IN_MEMORY: [i64; 2] = [0x0102_1994, 0x8584_58f6];

/// One moment on two clocks.
pub(super) struct Instants {
    wall: SystemTime,
    steady: Instant,
}

impl Instants {
    pub(super) fn now() -> Self {
        Self { wall: SystemTime::now(), steady: Instant::now() }
    }
}

pub(super) fn kernel() -> Kernel {
    let names = rustix::system::uname();
    let text = |name: &std::ffi::CStr| name.to_string_lossy().into_owned();
    Kernel { release: text(names.release()), machine: text(names.machine()) }
}

pub(super) fn machine() -> Machine {
    match Topology::read(&Root::live()) {
        Ok(topology) => Machine {
            cores: topology.usable().count(),
            gaps: topology.gaps.0.iter().map(ToString::to_string).collect(),
            fault: None,
        },
        Err(error) => Machine { fault: Some(whole(error)), ..Machine::default() },
    }
}

pub(super) fn groups() -> Result<Permit, String> {
    body_local::permit().map_err(|error| error.to_string())
}

/// How many files a keeper may open, which raises the limit as far as it can.
pub(super) fn files() -> Option<u64> {
    getrlimit(Resource::Nofile).maximum
}

/// How many processes this user may have.
pub(super) fn processes() -> Option<u64> {
    getrlimit(Resource::Nproc).current
}

pub(super) fn memory() -> Memory {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let swap = text.lines().find_map(|line| line.strip_prefix("SwapTotal:"));
    let overcommit = fs::read_to_string("/proc/sys/vm/overcommit_memory").ok();
    Memory {
        swap_kib: swap.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok()),
        overcommit: overcommit.and_then(|text| text.trim().parse().ok()),
    }
}

pub(super) fn accelerators() -> Accelerators {
    let root = Root::live();
    let mut seen = Accelerators::default();
    let cards = nvidia_smi::find().map(|program| nvidia_smi::query(&program, PATIENCE));
    let (told, program) = match cards {
        Some(Ok(cards)) => (Some(cards), Some(None)),
        Some(Err(error)) => (None, Some(Some(whole(error)))),
        None => (None, None),
    };
    seen.program = program;
    let place = |vendor: &Vendor| usize::from(*vendor == Vendor::Amd);
    let found = devices::on_bus(&root)
        .and_then(|bus| Ok((bus, devices::read(&root, told.as_deref(), &mut Gaps::default())?)));
    match found {
        Ok((bus, shown)) => {
            bus.iter().for_each(|vendor| seen.on_bus[place(vendor)] += 1);
            for device in shown {
                seen.models[place(&device.vendor)].push(device.model);
            }
        }
        Err(error) => seen.fault = Some(whole(error)),
    }
    let has_maker = Path::new("/usr/bin/nvidia-modprobe").exists();
    seen.closed = closed(Path::new("/dev"), &seen.models, has_maker);
    seen
}

/// The files of devices in this folder that this user cannot open and needs; NVIDIA's may be made
/// later, where there is a program that does.
fn closed(folder: &Path, models: &[Vec<String>; 2], has_maker: bool) -> Vec<PathBuf> {
    let can = |path: &PathBuf| access(path, Access::READ_OK | Access::WRITE_OK).is_ok();
    let mut closed = Vec::new();
    if !models[0].is_empty() && !folder.join("dxg").exists() {
        let named = |number: usize| folder.join(format!("nvidia{number}"));
        // Not every number is in use, and not every device is this user's.
        let there: Vec<_> = (0..128).map(named).filter(|path| path.exists()).collect();
        if there.iter().filter(|path| can(path)).count() < models[0].len() {
            closed.extend(there.iter().filter(|path| !can(path)).cloned());
        }
        if there.is_empty() && !has_maker {
            closed.push(named(0));
        }
    }
    let gate = folder.join("kfd");
    if !models[1].is_empty() && !can(&gate) {
        closed.push(gate);
    }
    closed
}

pub(super) fn directory(place: &Place) -> Directory {
    let path = nearest(place.directory());
    let exists = path == place.directory();
    let is_open = |file: &PathBuf| {
        let found = fs::metadata(file);
        exists && found.is_ok_and(|found| found.mode() & 0o077 != 0)
    };
    let secret = [place.journal(), place.tokens()];
    let found = fs::metadata(&path);
    Directory {
        exists,
        is_folder: found.as_ref().is_ok_and(fs::Metadata::is_dir),
        owner: found.as_ref().map_or(0, MetadataExt::uid),
        mode: found.as_ref().map_or(0, MetadataExt::mode),
        user: geteuid().as_raw(),
        is_writable: access(&path, Access::WRITE_OK | Access::EXEC_OK).is_ok(),
        open: secret.into_iter().filter(is_open).collect(),
        path,
    }
}

/// The nearest of a folder and those above it that exists.
fn nearest(folder: &Path) -> PathBuf {
    let there = folder.ancestors().find(|one| one.exists());
    there.unwrap_or(Path::new("/")).to_owned()
}

pub(super) fn disk(place: &Place) -> Result<Disk, String> {
    let path = nearest(place.directory());
    let whole = |error: rustix::io::Errno| error.to_string();
    let kind = statfs(&path).map_err(whole)?.f_type;
    let state = statvfs(&path).map_err(whole)?;
    Ok(Disk {
        is_networked: is_networked(kind),
        is_in_memory: IN_MEMORY.contains(&kind),
        is_read_only: state.f_flag.contains(StatVfsMountFlags::RDONLY),
        free_bytes: state.f_bavail.saturating_mul(state.f_frsize),
        free_files: (state.f_files > 0).then_some(state.f_favail),
    })
}

/// The clock; `began` is a moment before.
pub(super) fn clock(place: &Place, began: &Instants) -> Clock {
    let now = Instants::now();
    let steady = now.steady.duration_since(began.steady);
    let wall = now.wall.duration_since(began.wall);
    let jump = wall.map_or_else(|back| back.duration() + steady, |wall| wall.abs_diff(steady));
    let written = fs::metadata(place.journal()).and_then(|found| found.modified());
    let ahead = written.ok().and_then(|written| written.duration_since(now.wall).ok());
    let source = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    Clock {
        seconds: now.wall.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        jump_millis: u64::try_from(jump.as_millis()).unwrap_or(u64::MAX),
        ahead_seconds: ahead.unwrap_or_default().as_secs(),
        is_in_step: body_local::is_in_step(),
        source: fs::read_to_string(source).ok().map(|text| text.trim().to_owned()),
    }
}

pub(super) fn daemon(place: &Place) -> Daemon {
    let status = Client::connect(place).and_then(|mut client| client.status());
    match status {
        Ok(status) => {
            let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            let log = place.log_file();
            let changed = fs::metadata(&log).map_or(0, |found| found.mtime());
            let changed = u64::try_from(changed).unwrap_or(0);
            let trouble = trouble(&tail(&log), changed, now.as_secs());
            let (version, pid, notes) = (status.version, status.pid, status.notes);
            Daemon::Running { version, pid, notes, trouble }
        }
        Err(error) if is_locked(place) => Daemon::Silent(format!("{error:#}")),
        Err(_) => Daemon::Absent,
    }
}

/// Whether a process holds the lock of a directory, by the system's list of locks: who took it to
/// see would be in the way of a daemon that begins.
fn is_locked(place: &Place) -> bool {
    let lock = place.lock_file();
    let Ok(number) = fs::metadata(&lock).map(|found| found.ino()) else { return false };
    let holder = fs::read_to_string(&lock).unwrap_or_default();
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    holder.split_whitespace().next().is_some_and(|pid| is_held(&locks, pid, number))
}

/// Whether this process holds a lock on the file of this number:
/// `1: FLOCK ADVISORY WRITE 1234 fd:00:5678 0 EOF`.
fn is_held(locks: &str, pid: &str, number: u64) -> bool {
    locks.lines().any(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [_, kind, _, _, holder, file, ..] = words[..] else { return false };
        let file = file.rsplit(':').next();
        kind == "FLOCK" && holder == pid && file == Some(&number.to_string())
    })
}

/// The end of a file.
fn tail(path: &Path) -> String {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let read = || {
        let mut file = fs::File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL)))?;
        let mut bytes = Vec::new();
        file.take(LOG_TAIL).read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(bytes)
    };
    String::from_utf8_lossy(&read().unwrap_or_default()).into_owned()
}

/// The lines of a log that tell of something that went wrong lately: `SECONDS.MILLIS TEXT`, or what
/// a daemon printed when it could not begin or broke. That bears no time: it is as late as the next
/// line that does, or as the last change of the log.
fn trouble(log: &str, changed: u64, now: u64) -> Vec<String> {
    let plain = ["listening at ", "alert ", "sensors say something again"];
    let is_plain = |text: &str| plain.iter().any(|so| text.starts_with(so));
    let is_late = |at: u64| at + TROUBLE_SECONDS >= now;
    let mut found = Vec::new();
    let mut latest = changed;
    for line in log.lines().rev() {
        let stamped = line
            .split_once(' ')
            .and_then(|(stamp, text)| Some((stamp.split_once('.')?.0.parse::<u64>().ok()?, text)));
        let is_trouble = match stamped {
            Some((at, text)) => {
                latest = at;
                !is_plain(text)
            }
            None => line.starts_with("error: ") || line.contains("panicked at"),
        };
        if is_trouble && is_late(latest) {
            found.push(line.to_owned());
        }
    }
    found.reverse();
    found
}

/// An error with its causes.
fn whole(error: impl std::error::Error + Send + Sync + 'static) -> String {
    format!("{:#}", anyhow::Error::from(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_is_seen_in_the_list_of_the_system() {
        let locks = "1: FLOCK  ADVISORY  WRITE 812 fd:00:4711 0 EOF\n\
                     2: POSIX  ADVISORY  WRITE 813 fd:00:4712 0 EOF\n3: ->\n";
        assert!(is_held(locks, "812", 4711));
        for (pid, number) in [("812", 4712), ("813", 4712), ("81", 4711), ("812", 711)] {
            assert!(!is_held(locks, pid, number), "{pid} {number}");
        }
    }

    #[test]
    fn trouble_is_what_went_wrong_lately() {
        let log = "error: failed long ago\n1000.000 a plan broke the law\n\
                   900000.000 listening at http://127.0.0.1:1\n\
                   900000.100 alert hot {} is firing: 9\n900000.200 sensors say nothing\n\
                   900000.300 sensors say something again\n900001.000 write the journal: full\n\
                   error: failed to begin\nsome words\nthread 'main' panicked at x.rs\n";
        let stamped = ["900000.200 sensors say nothing", "900001.000 write the journal: full"];
        let unstamped = ["error: failed to begin", "thread 'main' panicked at x.rs"];
        assert_eq!(trouble(log, 900_002, 900_002), [stamped, unstamped].concat());
        // A day after the last change nothing is late any more, whether it bears a time or not.
        let late = 900_003 + TROUBLE_SECONDS;
        assert_eq!(trouble(log, 900_002, late), Vec::<String>::new());
        assert_eq!(trouble(log, 900_100, late), unstamped);
    }

    #[test]
    fn files_of_devices_are_needed_where_there_are_devices() {
        let folder = tempfile::tempdir().unwrap();
        let (none, one) = (Vec::new(), vec!["H100".to_owned()]);
        let found = |models: [&Vec<String>; 2], has_maker| -> usize {
            closed(folder.path(), &models.map(Clone::clone), has_maker).len()
        };
        assert_eq!(found([&none, &none], false), 0);
        assert_eq!((found([&one, &none], false), found([&one, &none], true)), (1, 0));
        assert_eq!(found([&none, &one], true), 1);
        for file in ["nvidia3", "kfd"] {
            fs::write(folder.path().join(file), "").unwrap();
        }
        assert_eq!(found([&one, &one], false), 0);
    }

    #[test]
    fn the_nearest_folder_that_exists_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(nearest(&folder.path().join("a/b")), folder.path());
        assert_eq!(nearest(folder.path()), folder.path());
    }
}
