//! Each judgement, by what changes it.

use super::*;
use Health::{Failure, Ok as Fine, Warning};

/// Holds the health of a judgement against what is expected, and words of what it says.
#[track_caller]
fn check(finding: &Finding, health: Health, words: &str) {
    let said = format!("{} {}", finding.found, finding.advice.as_deref().unwrap_or_default());
    assert_eq!(finding.health, health, "{said}");
    assert!(said.contains(words), "{said}");
    assert!(health == Fine || finding.advice.is_some(), "what to do about it: {said}");
}

#[test]
fn a_kernel_is_old_odd_or_good() {
    for (release, machine, health, words) in [
        ("6.1.0-40-amd64", "x86_64", Fine, "Linux 6.1"),
        ("6.1.0", "aarch64", Fine, "by mark"),
        ("5.14.0-1", "x86_64", Fine, ""),
        ("5.10.0", "x86_64", Warning, "one write"),
        ("5.4.0", "x86_64", Failure, "lacks calls"),
        ("4.18.0-553.el8", "x86_64", Failure, "lacks calls"),
        ("unknown", "x86_64", Warning, "cannot be told"),
    ] {
        let seen = Kernel { release: release.to_owned(), machine: machine.to_owned() };
        check(&kernel(&seen), health, words);
    }
}

#[test]
fn a_machine_is_read_with_gaps_or_not_at_all() {
    let good = Machine { cores: 8, ..Machine::default() };
    check(&machine(&good), Fine, "8 cores to use; /proc and /sys tell all");
    let gaps = Machine { gaps: vec!["no distances".to_owned()], ..good.clone() };
    check(&machine(&gaps), Fine, "no distances");
    let fault = Machine { fault: Some("read /proc/meminfo".to_owned()), ..good };
    check(&machine(&fault), Failure, "read /proc/meminfo");
}

#[test]
fn control_groups_hold_limit_or_are_absent() {
    let permit = |layout, holds, limits: [bool; 3]| {
        let limits = ["cpu", "memory", "pids"].into_iter().zip(limits).collect();
        Ok(Permit { layout, folders: Vec::new(), holds, limits })
    };
    check(&groups(&permit(Layout::Unified, true, [true; 3])), Fine, "cpu, memory, pids");
    let none = groups(&permit(Layout::Absent, false, [false; 3]));
    check(&none, Warning, "there are none; not in cpu, memory, pids: parts of cores");
    let mixed = groups(&permit(Layout::Mixed, false, [true; 3]));
    check(&mixed, Warning, "by its mark");
    let most = groups(&permit(Layout::Separate, true, [true, false, true]));
    check(&most, Warning, "limited in cpu, pids; not in memory: memory is limited for each");
    check(&groups(&Err("hidden".to_owned())), Failure, "hidden");
}

#[test]
fn limits_are_none_high_low_or_too_low() {
    for (most, health, words) in [
        (None, Fine, "no limit"),
        (Some(1 << 20), Fine, "at most 1048576"),
        (Some(4_096), Fine, ""),
        (Some(1_024), Warning, "LimitNOFILE"),
        (Some(64), Failure, "too few for the daemon"),
    ] {
        check(&files(most), health, words);
    }
    check(&processes(Some(1_000)), Warning, "ulimit -u");
    check(&processes(Some(127)), Failure, "ulimit -u");
}

#[test]
fn swap_is_told_and_strict_memory_is_warned_of() {
    let seen = |swap_kib, overcommit| memory(&Memory { swap_kib, overcommit });
    check(&seen(Some(0), Some(0)), Fine, "no swap");
    check(&seen(Some(2 << 20), Some(1)), Fine, "2048 MiB of swap");
    check(&seen(None, None), Fine, "not told");
    check(&seen(Some(0), Some(2)), Warning, "overcommit_memory=0");
}

#[test]
fn accelerators_have_drivers_files_and_a_program() {
    let cards = || vec!["H100".to_owned(), "H100".to_owned()];
    let good = Accelerators {
        on_bus: [2, 0],
        models: [cards(), Vec::new()],
        program: Some(None),
        ..Accelerators::default()
    };
    let said = |change: &dyn Fn(&mut Accelerators)| {
        let mut seen = good.clone();
        change(&mut seen);
        accelerators(&seen)
    };
    check(&said(&|_| {}), Fine, "H100, H100");
    check(&said(&|seen| seen.program = None), Warning, "nvidia-smi is not");
    let fault = Some(Some("did not answer".to_owned()));
    check(&said(&|seen| seen.program = fault.clone()), Warning, "did not answer");
    check(&said(&|seen| seen.closed = vec!["/dev/nvidia0".into()]), Failure, "/dev/nvidia0");
    check(&said(&|seen| seen.models = Default::default()), Warning, "2 of NVIDIA on the bus");
    let amd = |seen: &mut Accelerators| seen.on_bus = [2, 1];
    check(&said(&amd), Warning, "1 of AMD");
    check(&said(&|seen| seen.fault = Some("garbled".to_owned())), Failure, "garbled");
    check(&accelerators(&Accelerators::default()), Fine, "--inventory");
    let only_amd =
        Accelerators { on_bus: [0, 2], models: [Vec::new(), cards()], ..Accelerators::default() };
    check(&accelerators(&only_amd), Fine, "H100");
}

#[test]
fn a_directory_is_ones_own_or_can_be_made() {
    let good = Directory {
        path: "/srv/motley".into(),
        exists: true,
        is_folder: true,
        owner: 7,
        user: 7,
        mode: 0o40_755,
        is_writable: true,
        open: Vec::new(),
    };
    let said = |change: &dyn Fn(&mut Directory)| {
        let mut seen = good.clone();
        change(&mut seen);
        directory(&seen)
    };
    check(&said(&|_| {}), Fine, "/srv/motley is this user's");
    check(&said(&|seen| seen.exists = false), Fine, "can be made in /srv/motley");
    check(&said(&|seen| seen.is_folder = false), Failure, "is no folder");
    check(&said(&|seen| seen.is_writable = false), Failure, "cannot write");
    check(&said(&|seen| seen.owner = 8), Failure, "belongs to user 8");
    check(&said(&|seen| seen.mode = 0o40_775), Failure, "chmod go-w /srv/motley");
    let open = |seen: &mut Directory| seen.open = vec!["/srv/motley/journal".into()];
    check(&said(&open), Warning, "chmod go-rwx /srv/motley/journal");
}

#[test]
fn a_file_system_has_room_and_is_here_to_stay() {
    let good = Disk { free_bytes: 50 << 30, free_files: Some(1 << 20), ..Disk::default() };
    let said = |change: &dyn Fn(&mut Disk)| {
        let mut seen = good.clone();
        change(&mut seen);
        disk(&Ok(seen))
    };
    check(&said(&|_| {}), Fine, "51200 MiB free");
    check(&said(&|seen| seen.free_files = None), Fine, "");
    check(&said(&|seen| seen.is_networked = true), Failure, "network");
    check(&said(&|seen| seen.is_read_only = true), Failure, "only be read");
    check(&said(&|seen| seen.free_bytes = 1 << 20), Failure, "cannot be kept");
    check(&said(&|seen| seen.free_files = Some(0)), Failure, "cannot be kept");
    check(&said(&|seen| seen.is_in_memory = true), Warning, "forgotten");
    check(&said(&|seen| seen.free_bytes = 512 << 20), Warning, "512 MiB free: little");
    check(&said(&|seen| seen.free_files = Some(500)), Warning, "room for 500 files");
    check(&disk(&Err("gone".to_owned())), Failure, "gone");
}

#[test]
fn a_clock_is_right_steady_quick_and_in_step() {
    let good = Clock {
        seconds: 1_800_000_000,
        is_in_step: Some(true),
        source: Some("tsc".to_owned()),
        ..Clock::default()
    };
    let said = |change: &dyn Fn(&mut Clock)| {
        let mut seen = good.clone();
        change(&mut seen);
        clock(&seen)
    };
    check(&said(&|_| {}), Fine, "read from tsc and kept in step");
    check(&said(&|seen| seen.is_in_step = None), Fine, "not told");
    check(&said(&|seen| seen.is_in_step = Some(false)), Warning, "nothing keeps it in step");
    check(&said(&|seen| seen.seconds = 86_400), Failure, "86400 seconds since 1970");
    check(&said(&|seen| seen.seconds = 5_000_000_000), Failure, "not now");
    check(&said(&|seen| seen.ahead_seconds = 90), Warning, "90 s from now");
    check(&said(&|seen| seen.jump_millis = 900), Warning, "set by 900 ms");
    check(&said(&|seen| seen.source = Some("hpet".to_owned())), Warning, "hpet, which is slow");
    check(&said(&|seen| seen.source = None), Fine, "unnamed");
}

#[test]
fn a_daemon_is_absent_silent_other_troubled_or_well() {
    let runs = |version: &str, trouble: &[&str]| Daemon::Running {
        version: version.to_owned(),
        pid: 12,
        notes: vec!["a note".to_owned()],
        trouble: trouble.iter().map(|line| (*line).to_owned()).collect(),
    };
    let own = env!("CARGO_PKG_VERSION");
    check(&daemon(&runs(own, &[])), Fine, "runs as process 12; a note");
    check(&daemon(&runs("99.0.0", &[])), Warning, "motley down --leave");
    check(&daemon(&runs(own, &["one", "two"])), Warning, "2 lines of trouble, the last: two");
    check(&daemon(&Daemon::Silent("refused".to_owned())), Failure, "refused");
    check(&daemon(&Daemon::Absent), Fine, "motley up --detach");
}
