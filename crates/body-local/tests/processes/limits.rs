//! What a task may take, where control groups can say so. Where they cannot the keeper says that,
//! and the tests expect what holds then.

use std::fs;
use std::path::PathBuf;

use body_local::wire::{Contain, Rules};
use fleet::{Bytes, Failure, Grant, MilliCores, Output, Program, RunState};
use rustix::process::{Signal, kill_process};

use crate::place::{Place, contained, one_core, place, place_with, run, shell};

fn has_note(place: &Place, word: &str) -> bool {
    place.body.notes().iter().any(|note| note.contains(word))
}

fn megabytes(count: u64) -> Grant {
    Grant { memory: Bytes(count << 20), ..Grant::default() }
}

/// Holds 100 MB.
fn hungry() -> Program {
    shell("head -c 100000000 /dev/zero | tail -c 100000000 >/dev/null")
}

#[test]
fn a_task_that_takes_more_memory_than_it_was_granted_is_told_so() {
    let mut place = place();
    let is_limited = !has_note(&place, "memory is limited for each process");
    place.start_with(run(1), hungry(), megabytes(40));
    let end = place.end_of(run(1));
    if is_limited {
        assert!(matches!(end, RunState::Failed(_, Failure::OutOfMemory)), "{end:?}");
    } else {
        assert!(matches!(end, RunState::Failed(_, Failure::Status(_))), "{end:?}");
    }
    // The same group serves one that was granted enough.
    place.start_with(run(2), hungry(), megabytes(400));
    assert!(matches!(place.end_of(run(2)), RunState::Done(_)));
    place.start(run(3), hungry());
    assert!(matches!(place.end_of(run(3)), RunState::Done(_)));
}

#[test]
fn without_groups_each_process_is_limited_and_the_keeper_says_so() {
    let mut place = contained(Contain::Never);
    assert!(has_note(&place, "memory is limited for each process"));
    assert!(has_note(&place, "part of a core is not limited"));
    place.start_with(run(1), hungry(), megabytes(40));
    let end = place.end_of(run(1));
    assert!(matches!(end, RunState::Failed(_, Failure::Status(1))), "{end:?}");
}

/// What a task says of a file of its group that limits the cpu.
fn quota(place: &mut Place, job: u64, grant: Grant) -> String {
    let text = "v1=$(sed -n 's/^[0-9]*:\\(.*,\\)*cpu\\(,.*\\)*://p' /proc/self/cgroup)
        v2=$(sed -n 's/^0:://p' /proc/self/cgroup)
        cat /sys/fs/cgroup/cpu$v1/cpu.cfs_quota_us /sys/fs/cgroup/cpu,cpuacct$v1/cpu.cfs_quota_us \
            /sys/fs/cgroup$v2/cpu.max 2>/dev/null | sort -u; echo";
    let path = place.file(&format!("quota{job}"));
    let output = Output::Files(path.to_str().unwrap().to_owned(), None);
    place.start_with(run(job), Program { output, ..shell(text) }, grant);
    place.end_of(run(job));
    place.text_of(&format!("quota{job}"))
}

#[test]
fn a_part_of_a_core_is_a_part_of_its_time() {
    let mut place = place();
    if has_note(&place, "part of a core is not limited") {
        eprintln!("skipped: no control group limits the cpu here");
        return;
    }
    let part = Grant { cores: MilliCores(300), ..Grant::default() };
    let text = quota(&mut place, 1, part);
    assert!(text.contains("30000"), "{text}");
    let text = quota(&mut place, 2, one_core());
    assert!(!text.contains("30000"), "{text}");
}

#[test]
fn a_task_may_have_so_many_processes_and_no_more() {
    let most = |count| {
        move |settings: &mut body_local::Settings| settings.rules.processes_max = Some(count)
    };
    let mut few = place_with(most(3));
    if has_note(&few, "number of processes") {
        eprintln!("skipped: no control group counts processes here");
        return;
    }
    let many = "for one in 1 2 3 4 5 6; do sleep 1000 & done; true";
    few.start(run(1), shell(many));
    assert!(matches!(few.end_of(run(1)), RunState::Failed(_, Failure::Status(_))));
    let mut more = place_with(most(30));
    more.start(run(1), shell(many));
    assert!(matches!(more.end_of(run(1)), RunState::Done(_)));
}

fn groups(place: &Place) -> Vec<PathBuf> {
    let identity = fs::read(place.settings.directory.join("keeper/identity")).unwrap();
    let identity: serde_json::Value = serde_json::from_slice(&identity).unwrap();
    let groups = identity["groups"].as_array().unwrap().iter();
    groups.map(|group| group.as_str().unwrap().into()).collect()
}

#[test]
fn groups_go_with_the_keeper_however_it_ends() {
    let mut place = place();
    place.start_with(run(1), shell("sleep 1000"), megabytes(40));
    place.has_started(run(1));
    let first = groups(&place);
    let keeper = place.keeper();
    kill_process(keeper, Signal::KILL).unwrap();
    place.end_of(run(1));
    let second = groups(&place);
    assert!(first.iter().all(|group| !group.exists() && !second.contains(group)), "{first:?}");
    drop(place);
    assert!(second.iter().all(|group| !group.exists()), "{second:?}");
}

#[test]
fn tasks_are_below_the_groups_of_the_keeper() {
    let mut place = place_with(|settings| {
        settings.rules = Rules { contain: Contain::Always, ..Rules::default() };
    });
    if has_note(&place, "no control group of version 2") {
        eprintln!("skipped: no control group holds tasks together here");
        return;
    }
    let keeper = place.keeper().as_raw_nonzero();
    let unified = |text: &str| {
        let path = text.lines().find_map(|line| line.strip_prefix("0::")).unwrap_or_default();
        path.trim_end_matches('/').to_owned()
    };
    let own = unified(&fs::read_to_string(format!("/proc/{keeper}/cgroup")).unwrap());
    let path = place.file("group").to_str().unwrap().to_owned();
    let output = Output::Files(path, None);
    place.start(run(1), Program { output, ..shell("cat /proc/self/cgroup") });
    let task = unified(&place.text_of("group"));
    assert!(task.starts_with(&format!("{own}/motley-")), "{task} in {own}");
}

#[test]
fn groups_that_a_task_makes_inside_its_own_go_with_it() {
    let mut place = place();
    let path = place.file("made").display().to_string();
    // It leaves a process in each, which is in none that the keeper made.
    let text = format!(
        "for own in /sys/fs/cgroup/*; do
             name=$(basename $own)
             below=$(sed -n \"s/^[0-9]*:\\(.*,\\)*$name\\(,.*\\)*://p\" /proc/self/cgroup)
             case $below in */motley-*) ;; *) continue ;; esac
             mkdir -p $own$below/inner/most 2>/dev/null || continue
             echo $own$below >> {path}.new
             (sh -c \"echo \\$\\$ > $own$below/inner/most/cgroup.procs && exec sleep 1000\") &
         done
         mounts=/proc/self/mountinfo
         top=$(sed -n 's/^\\([^ ]* \\)\\{{4\\}}\\([^ ]*\\) .* - cgroup2 .*/\\2/p' $mounts)
         below=$(sed -n 's/^0:://p' /proc/self/cgroup)
         case $below in */motley-*)
             if mkdir -p $top$below/inner/most 2>/dev/null; then
                 echo $top$below >> {path}.new
                 (sh -c \"echo \\$\\$ > $top$below/inner/most/cgroup.procs && exec sleep 1000\") &
             fi ;;
         esac
         sleep 0.2; echo >> {path}.new; mv {path}.new {path}"
    );
    place.start_with(run(1), shell(&text), megabytes(40));
    assert!(matches!(place.end_of(run(1)), RunState::Done(_)));
    let made: Vec<PathBuf> = place.text_of("made").split_whitespace().map(PathBuf::from).collect();
    if made.is_empty() {
        eprintln!("skipped: a task may make no control groups here");
        return;
    }
    let left: Vec<_> = made.iter().filter(|folder| folder.join("inner").exists()).collect();
    assert!(left.is_empty(), "{left:?} of {made:?}");
    place.start_with(run(2), shell("true"), megabytes(40));
    assert!(matches!(place.end_of(run(2)), RunState::Done(_)));
}
