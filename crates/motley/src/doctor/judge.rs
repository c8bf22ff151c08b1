//! What was seen, judged: functions without a look at the machine.

use std::path::PathBuf;

use body_local::{Layout, Permit};

use super::{Finding, Health};
use crate::render;

/// The kernel, as it names itself.
#[derive(Clone, Debug)]
pub(super) struct Kernel {
    pub(super) release: String,
    pub(super) machine: String,
}

/// What the probe made of this machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Machine {
    pub(super) cores: usize,
    /// What could not be read and is assumed instead.
    pub(super) gaps: Vec<String>,
    /// Why it cannot be read at all.
    pub(super) fault: Option<String>,
}

/// How memory is handed out.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// The size of all swap, in KiB, where the system tells.
    pub(super) swap_kib: Option<u64>,
    /// How `vm.overcommit_memory` stands.
    pub(super) overcommit: Option<u8>,
}

/// The directory of a daemon, or the nearest folder above it that exists.
#[derive(Clone, Debug)]
pub(super) struct Directory {
    pub(super) path: PathBuf,
    /// Whether it is the directory itself.
    pub(super) exists: bool,
    pub(super) is_folder: bool,
    pub(super) owner: u32,
    /// Who asks.
    pub(super) user: u32,
    pub(super) mode: u32,
    pub(super) is_writable: bool,
    /// Files in it that others may read and that hold secrets.
    pub(super) open: Vec<PathBuf>,
}

/// The file system of a directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Disk {
    pub(super) is_networked: bool,
    pub(super) is_in_memory: bool,
    pub(super) is_read_only: bool,
    pub(super) free_bytes: u64,
    /// Files that can still be made; none where the file system has no such bound.
    pub(super) free_files: Option<u64>,
}

/// The clock.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// Seconds since 1970.
    pub(super) seconds: u64,
    /// By how much it was set while it was looked at, in milliseconds.
    pub(super) jump_millis: u64,
    /// By how much the journal is younger than now, in seconds.
    pub(super) ahead_seconds: u64,
    /// Whether it is kept in step with others, where the system says.
    pub(super) is_in_step: Option<bool>,
    /// What it is read from.
    pub(super) source: Option<String>,
}

/// The accelerators of this machine.
#[derive(Clone, Debug, Default)]
pub(super) struct Accelerators {
    /// How many of NVIDIA's and of AMD's are on the bus.
    pub(super) on_bus: [usize; 2],
    /// The models that the drivers show, by vendor.
    pub(super) models: [Vec<String>; 2],
    /// Whether `nvidia-smi` is there; if it is, what goes wrong when it is asked.
    pub(super) program: Option<Option<String>>,
    /// Files of devices that are missing, or that this user may not open.
    pub(super) closed: Vec<PathBuf>,
    /// Why they cannot be looked for.
    pub(super) fault: Option<String>,
}

/// How a daemon is.
#[derive(Clone, Debug)]
pub(super) enum Daemon {
    /// None runs.
    Absent,
    /// Its lock is held, and nothing answers.
    Silent(String),
    /// It answers.
    Running { version: String, pid: u32, notes: Vec<String>, trouble: Vec<String> },
}

/// The first kernel that closes ranges of files, with which tasks are started.
const KERNEL_LEAST: (u32, u32) = (5, 9);

/// The first that ends a control group with one write.
const KERNEL_GOOD: (u32, u32) = (5, 14);

/// A keeper holds a few files for each task that runs.
const FILES_LEAST: u64 = 256;
const FILES_GOOD: u64 = 4_096;

/// Processes and threads of one user; the daemon itself takes some twenty.
const PROCESSES_LEAST: u64 = 128;
const PROCESSES_GOOD: u64 = 4_096;

/// With less the journal may fail within minutes, or days.
const FREE_BYTES_LEAST: u64 = 64 << 20;
const FREE_BYTES_GOOD: u64 = 1 << 30;
const FREE_FILES_GOOD: u64 = 1_000;

/// 2025 to 2100: clocks that were never set say 1970 or the year of the firmware.
const SECONDS: std::ops::Range<u64> = 1_735_689_600..4_102_444_800;

/// A second between two readings is rounding and the time of a write.
const AHEAD_SECONDS_MAX: u64 = 2;
const JUMP_MILLIS_MAX: u64 = 200;

/// Clocks that take microseconds to read.
const SLOW_SOURCES: [&str; 4] = ["acpi_pm", "hpet", "jiffies", "refined-jiffies"];

const NOT_ROOT: &str = "give the directory to this user, or choose another with --directory DIR";

pub(super) fn kernel(kernel: &Kernel) -> Finding {
    let Kernel { release, machine } = kernel;
    let found = format!("motley {} on Linux {release}, {machine}", env!("CARGO_PKG_VERSION"));
    let finding = |health, more: &str| Finding::new("kernel", health, format!("{found}{more}"));
    let number = |word: &str| {
        let digits: String = word.chars().take_while(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    let mut words = release.split('.').map(number);
    match (words.next().flatten(), words.next().flatten()) {
        (Some(major), Some(minor)) if (major, minor) < KERNEL_LEAST => {
            finding(Health::Failure, ": it lacks calls with which tasks are started")
                .advise("use Linux 5.14 or newer")
        }
        (Some(major), Some(minor)) if (major, minor) < KERNEL_GOOD => {
            finding(Health::Warning, ": it cannot end a control group with one write")
                .advise("use Linux 5.14 or newer, so that nothing of a task can be left behind")
        }
        (Some(_), Some(_)) if machine != "x86_64" => {
            finding(Health::Ok, ": tasks are not born into control groups here, but found by mark")
        }
        (Some(_), Some(_)) => finding(Health::Ok, ""),
        _ => finding(Health::Warning, ": its version cannot be told")
            .advise("use Linux 5.14 or newer; what is older lacks what tasks are started with"),
    }
}

pub(super) fn machine(machine: &Machine) -> Finding {
    let finding = |health, found: String| Finding::new("machine", health, found);
    if let Some(fault) = &machine.fault {
        return finding(Health::Failure, format!("it cannot be looked at: {fault}"))
            .advise("let this user read /proc and /sys; containers often hide parts of them");
    }
    let cores = render::count(machine.cores as u64, "core");
    match &machine.gaps[..] {
        [] => finding(Health::Ok, format!("{cores} to use; /proc and /sys tell all of it")),
        gaps => finding(Health::Ok, format!("{cores} to use; {}", gaps.join("; "))),
    }
}

pub(super) fn groups(permit: &Result<Permit, String>) -> Finding {
    let finding = |health, found: String| Finding::new("control groups", health, found);
    let permit = match permit {
        Ok(permit) => permit,
        Err(fault) => {
            return finding(Health::Failure, format!("it cannot be told which there are: {fault}"))
                .advise("let this user read /proc/self/cgroup and /proc/self/mountinfo");
        }
    };
    let layout = match permit.layout {
        Layout::Absent => "there are none",
        Layout::Unified => "version 2",
        Layout::Separate => "version 1",
        Layout::Mixed => "version 1, and version 2 beside it",
    };
    let (can, cannot): (Vec<_>, Vec<_>) = permit.limits.iter().partition(|(_, can)| *can);
    let names = |all: &[&(&'static str, bool)]| -> String {
        all.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    };
    let mut parts = vec![layout.to_owned()];
    if !can.is_empty() {
        parts.push(format!("tasks can be limited in {}", names(&can)));
    }
    if !cannot.is_empty() {
        let effects = cannot.iter().map(|(name, _)| match *name {
            "cpu" => "parts of cores are shared, not limited",
            "memory" => "memory is limited for each process, not for a task",
            _ => "the number of processes is not limited",
        });
        let effects: Vec<_> = effects.collect();
        parts.push(format!("not in {}: {}", names(&cannot), effects.join(", ")));
    }
    if !permit.holds {
        parts.push("what a task leaves behind is found by its mark and its descent".to_owned());
    }
    if permit.holds && cannot.is_empty() {
        return finding(Health::Ok, parts.join("; "));
    }
    finding(Health::Warning, parts.join("; ")).advise(
        "run the daemon as root where it is the top of its control groups, or use a system with \
         version 2; it works without",
    )
}

pub(super) fn files(most: Option<u64>) -> Finding {
    let advice = "raise the hard limit: LimitNOFILE= in a unit of systemd, or nofile in \
                  /etc/security/limits.conf";
    bounded(("open files", most), (FILES_LEAST, FILES_GOOD), advice)
}

pub(super) fn processes(most: Option<u64>) -> Finding {
    let advice = "raise the limit: ulimit -u, or nproc in /etc/security/limits.conf";
    bounded(("processes", most), (PROCESSES_LEAST, PROCESSES_GOOD), advice)
}

fn bounded(
    (check, most): (&'static str, Option<u64>),
    (least, good): (u64, u64),
    advice: &str,
) -> Finding {
    let Some(most) = most else { return Finding::new(check, Health::Ok, "no limit") };
    let found = |more: &str| format!("at most {most}{more}");
    if most < least {
        let found = found(": too few for the daemon and a few tasks");
        return Finding::new(check, Health::Failure, found).advise(advice);
    }
    if most < good {
        let found = found(": too few where many small tasks run at once");
        return Finding::new(check, Health::Warning, found).advise(advice);
    }
    Finding::new(check, Health::Ok, found(""))
}

pub(super) fn memory(memory: &Memory) -> Finding {
    let finding = |health, found: String| Finding::new("memory", health, found);
    let swap = match memory.swap_kib {
        None => "it is not told whether there is swap".to_owned(),
        Some(0) => "no swap: a task that takes more than is free is ended".to_owned(),
        Some(kib) => format!(
            "{} MiB of swap: tasks that take more memory than they asked for may slow down others",
            kib >> 10
        ),
    };
    match memory.overcommit {
        Some(2) => finding(
            Health::Warning,
            format!("{swap}; vm.overcommit_memory is 2: programs that reserve much are refused"),
        )
        .advise("sysctl vm.overcommit_memory=0, unless it is meant so"),
        _ => finding(Health::Ok, swap),
    }
}

pub(super) fn accelerators(seen: &Accelerators) -> Finding {
    let finding = |health, found: String| Finding::new("accelerators", health, found);
    if let Some(fault) = &seen.fault {
        return finding(Health::Failure, format!("they cannot be looked for: {fault}"))
            .advise("a driver is in disorder; reload it, or restart the machine");
    }
    for (vendor, place) in [("NVIDIA", 0), ("AMD", 1)] {
        let (bus, shown) = (seen.on_bus[place], seen.models[place].len());
        if bus > 0 && shown == 0 {
            let found = format!("{bus} of {vendor} on the bus, and no driver shows any");
            return finding(Health::Warning, found)
                .advise(format!("install and load {vendor}'s driver, or do without"));
        }
    }
    let models: Vec<_> = seen.models.concat();
    if models.is_empty() {
        let advice = "those that the system does not show are listed in a file: motley up \
                      --inventory FILE";
        return finding(Health::Ok, "none".to_owned()).advise(advice);
    }
    let listed = models.join(", ");
    if !seen.closed.is_empty() {
        let closed: Vec<_> = seen.closed.iter().map(|path| path.display().to_string()).collect();
        let found = format!("{listed}; this user cannot open {}", closed.join(", "));
        return finding(Health::Failure, found).advise(
            "let this user open them: groups render and video, or the driver's own program that \
             makes the files (nvidia-modprobe)",
        );
    }
    match &seen.program {
        None if !seen.models[0].is_empty() => {
            let found = format!("{listed}; nvidia-smi is not on the search path: their memory");
            finding(Health::Warning, format!("{found}, temperature and power are not known"))
                .advise("install it; it comes with the driver")
        }
        Some(Some(fault)) => finding(Health::Warning, format!("{listed}; {fault}"))
            .advise("run nvidia-smi by hand; it says what is wrong with the driver"),
        _ => finding(Health::Ok, listed),
    }
}

pub(super) fn directory(seen: &Directory) -> Finding {
    let at = seen.path.display();
    let finding = |health, found: String| Finding::new("directory", health, found);
    if !seen.is_folder {
        return finding(Health::Failure, format!("{at} is no folder"))
            .advise("remove it, or choose another with --directory DIR");
    }
    if !seen.is_writable {
        return finding(Health::Failure, format!("this user cannot write in {at}"))
            .advise(NOT_ROOT);
    }
    if !seen.exists {
        return finding(Health::Ok, format!("it is not there yet, and can be made in {at}"));
    }
    if seen.owner != seen.user {
        let found = format!("{at} belongs to user {}, and this is user {}", seen.owner, seen.user);
        return finding(Health::Failure, found).advise(NOT_ROOT);
    }
    if seen.mode & 0o022 != 0 {
        let found = format!("others may write in {at} (mode {:o})", seen.mode & 0o7777);
        return finding(Health::Failure, found).advise(format!("chmod go-w {at}"));
    }
    if !seen.open.is_empty() {
        let open: Vec<_> = seen.open.iter().map(|path| path.display().to_string()).collect();
        let open = open.join(" ");
        let found = format!("others may read {open}, where the environment of tasks is");
        return finding(Health::Warning, found).advise(format!("chmod go-rwx {open}"));
    }
    finding(Health::Ok, format!("{at} is this user's alone to write"))
}

pub(super) fn disk(disk: &Result<Disk, String>) -> Finding {
    let finding = |health, found: String| Finding::new("file system", health, found);
    let disk = match disk {
        Ok(disk) => disk,
        Err(fault) => {
            return finding(Health::Failure, format!("it cannot be seen: {fault}")).advise(
                "let this user look at the directory, or choose another with --directory DIR",
            );
        }
    };
    if disk.is_networked {
        let found = "it is on a network, where two machines could both write".to_owned();
        return finding(Health::Failure, found)
            .advise("give --directory a directory on a disk of this machine");
    }
    if disk.is_read_only {
        return finding(Health::Failure, "it can only be read".to_owned())
            .advise("mount it for writing; a disk with errors becomes like this: see dmesg");
    }
    let found = format!("{} MiB free", disk.free_bytes >> 20);
    let room = "remove what is not needed; motley journal prune makes the journal shorter";
    if disk.free_bytes < FREE_BYTES_LEAST || disk.free_files == Some(0) {
        return finding(Health::Failure, format!("{found}: what is asked cannot be kept"))
            .advise(room);
    }
    if disk.is_in_memory {
        let found = format!("{found}, in memory: all is forgotten when the machine restarts");
        return finding(Health::Warning, found)
            .advise("give --directory a directory on a disk, unless it is meant so");
    }
    let few = disk.free_files.filter(|files| *files < FREE_FILES_GOOD);
    if disk.free_bytes < FREE_BYTES_GOOD || few.is_some() {
        let files = few.map_or(String::new(), |files| format!(" and room for {files} files"));
        return finding(Health::Warning, format!("{found}{files}: little for what tasks print"))
            .advise(room);
    }
    finding(Health::Ok, found)
}

pub(super) fn clock(clock: &Clock) -> Finding {
    let finding = |health, found: String| Finding::new("clock", health, found);
    let set = "set it, and keep it in step with NTP (systemd-timesyncd, chrony)";
    if !SECONDS.contains(&clock.seconds) {
        let found = format!("it says {} seconds since 1970, which is not now", clock.seconds);
        return finding(Health::Failure, found).advise(set);
    }
    if clock.ahead_seconds > AHEAD_SECONDS_MAX {
        let ahead = clock.ahead_seconds;
        let found = format!("the journal was written {ahead} s from now: the clock was set back");
        return finding(Health::Warning, format!("{found}; times stand still until then"))
            .advise(set);
    }
    if clock.jump_millis > JUMP_MILLIS_MAX {
        let found = format!("it was set by {} ms while it was looked at", clock.jump_millis);
        return finding(Health::Warning, found).advise(set);
    }
    let source = clock.source.as_deref().unwrap_or("an unnamed source");
    if SLOW_SOURCES.contains(&source) {
        let found = format!("it is read from {source}, which is slow: every turn reads it");
        return finding(Health::Warning, found)
            .advise("see /sys/devices/system/clocksource/clocksource0/available_clocksource");
    }
    match clock.is_in_step {
        Some(false) => {
            let found = format!("it is read from {source}, and nothing keeps it in step");
            finding(Health::Warning, format!("{found}: times of several machines may not compare"))
                .advise("run systemd-timesyncd or chrony; guests may be set by their host")
        }
        Some(true) => {
            finding(Health::Ok, format!("it is read from {source} and kept in step with others"))
        }
        None => finding(
            Health::Ok,
            format!("it is read from {source}; whether it is kept in step is not told"),
        ),
    }
}

pub(super) fn daemon(daemon: &Daemon) -> Finding {
    let finding = |health, found: String| Finding::new("daemon", health, found);
    match daemon {
        Daemon::Absent => {
            finding(Health::Ok, "none runs".to_owned()).advise("motley up --detach starts one")
        }
        Daemon::Silent(why) => finding(
            Health::Failure,
            format!("one holds the lock of the directory, and does not answer: {why}"),
        )
        .advise("wait if it has just begun; else end its process: what runs goes on"),
        Daemon::Running { version, pid, notes, trouble } => {
            let runs = format!("version {version} runs as process {pid}");
            if version != env!("CARGO_PKG_VERSION") {
                let found = format!("{runs}; this program is {}", env!("CARGO_PKG_VERSION"));
                return finding(Health::Warning, found)
                    .advise("motley down --leave, then motley up --detach; what runs goes on");
            }
            if let Some(last) = trouble.last() {
                let count = render::count(trouble.len() as u64, "line");
                let found = format!("{runs}; its log has {count} of trouble, the last: {last}");
                return finding(Health::Warning, found)
                    .advise("read the file log in its directory");
            }
            let notes: String = notes.iter().map(|note| format!("; {note}")).collect();
            finding(Health::Ok, format!("{runs}{notes}"))
        }
    }
}

#[cfg(test)]
mod tests;
