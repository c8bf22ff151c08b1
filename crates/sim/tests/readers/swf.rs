//! Logs in the Standard Workload Format.

use std::collections::BTreeSet;
use std::path::PathBuf;

use fleet::{Bytes, JobId, MilliCores, Time, Work};
use sim::Workload;
use sim::read::{Options, Read, ReadError, SwfLabel, SwfOptions, workload, workload_from};

use crate::support::{fleet, message};

/// A job of which everything is known.
const LINE: &str = "7 100 5 60 4 55 2048 8 90 4096 1 3 2 6 1 2 -1 -1";

/// The fields that do not change what is simulated.
const UNUSED: [usize; 6] = [3, 6, 14, 15, 16, 18];

fn read_with(text: &str, swf: SwfOptions, skip_bad: bool) -> Result<Read<Workload>, ReadError> {
    let options = Options { swf, skip_bad, ..Options::default() };
    workload_from(text.as_bytes(), "log", &fleet(), &options)
}

fn read(text: &str) -> Result<Read<Workload>, ReadError> {
    read_with(text, SwfOptions::default(), false)
}

/// The line with the field of this place, from 1, replaced.
fn with_field(place: usize, value: &str) -> String {
    let mut fields: Vec<&str> = LINE.split(' ').collect();
    fields[place - 1] = value;
    fields.join(" ")
}

fn with_fields(changes: &[(usize, &str)]) -> String {
    let mut fields: Vec<&str> = LINE.split(' ').collect();
    for (place, value) in changes {
        fields[place - 1] = value;
    }
    fields.join(" ")
}

#[test]
fn a_job_declares_what_was_asked_for_and_the_truth_is_what_happened() {
    let workload = read(LINE).unwrap().value;
    let [job] = &workload.jobs[..] else { panic!("one job") };
    assert_eq!(
        (job.name.as_str(), &*job.tenant.0, job.arrival),
        ("7", "user-3", Time::seconds(100))
    );
    assert_eq!((job.tasks, job.priority, job.deadline), (1, 0, None));
    assert_eq!(job.work, Some(Work(90_000_000)));
    assert_eq!(workload.truth.work[&JobId(0)], Work(60_000_000));
    let [way] = &job.alternatives[..] else { panic!("one alternative") };
    assert_eq!(way.request.cores, MilliCores(8000));
    assert_eq!(way.request.memory, Bytes(8 * 4096 * 1024));
    assert!(way.request.devices.is_none() && way.labels.is_empty() && way.rates.is_empty());
}

#[test]
fn each_field_alone_changes_the_workload_or_is_listed_as_unused() {
    let base = read(LINE).unwrap().value;
    for (place, value) in (1..=18).zip([
        "8", "101", "6", "61", "5", "56", "2049", "9", "91", "4097", "5", "4", "3", "7", "2", "3",
        "6", "4",
    ]) {
        let told = read(&with_field(place, value)).unwrap();
        // What was allocated and used counts where nothing was requested, and the group where
        // there is no user; the status and the preceding job only make remarks.
        let hidden = [5, 7, 11, 13, 17].contains(&place) || UNUSED.contains(&place);
        assert_eq!(told.value == base, hidden, "field {place}");
    }
}

#[test]
fn what_was_allocated_and_used_counts_where_nothing_was_requested() {
    for (requested, other, value) in [(8, 5, "5"), (10, 7, "2049"), (12, 13, "3")] {
        for unknown in ["-1", "0"] {
            if requested == 12 && unknown == "0" {
                continue;
            }
            let base = read(&with_field(requested, unknown)).unwrap().value;
            let told = read(&with_fields(&[(requested, unknown), (other, value)])).unwrap().value;
            assert_ne!(told, base, "field {other}");
        }
    }
    let nobody = read(&with_fields(&[(12, "-1"), (13, "-1")])).unwrap().value;
    assert_eq!(&*nobody.jobs[0].tenant.0, "swf");
    let bare = read(&with_fields(&[(10, "-1"), (7, "-1")])).unwrap().value;
    assert_eq!(bare.jobs[0].alternatives[0].request.memory, Bytes(0));
}

#[test]
fn a_job_that_asked_for_no_time_declares_the_truth() {
    let told = read(&with_field(9, "-1")).unwrap();
    assert_eq!(told.value.jobs[0].work, Some(Work(60_000_000)));
    assert!(told.value.truth.work.is_empty());
    assert!(told.notes[0].starts_with("1 jobs have no requested_time"), "{:?}", told.notes);
}

#[test]
fn jobs_that_never_ran_and_parts_of_jobs_are_left_out_and_counted() {
    let never = [
        with_fields(&[(1, "1"), (4, "0"), (11, "5")]),
        with_fields(&[(1, "2"), (4, "-1"), (11, "5")]),
        with_fields(&[(1, "3"), (4, "-1"), (11, "0")]),
    ];
    let parts = ["2", "3", "4"].map(|status| with_fields(&[(2, "-1"), (11, status)]));
    let text = [&never[..], &parts[..], &[LINE.to_owned()]].concat().join("\n");
    let told = read(&text).unwrap();
    assert_eq!(told.value, read(LINE).unwrap().value);
    assert_eq!(
        told.notes[..2],
        [
            "3 lines are of parts of jobs (status 2 to 4), and are left out",
            "3 jobs failed or were cancelled before they ran, and are left out"
        ]
    );
}

#[test]
fn special_cases_are_counted() {
    let remark = |changes: &[(usize, &str)]| read(&with_fields(changes)).unwrap().notes;
    for (changes, expected) in [
        (&[(11, "0")][..], "1 jobs failed or were cancelled: they run for as long as they did"),
        (&[(4, "0")], "1 jobs have a run time of 0: they run for one second"),
        (&[(4, "91")], "1 jobs ran for longer than they asked for, and do so here"),
        (&[(17, "3")], "1 jobs follow a preceding job, and do not wait for it here"),
    ] {
        assert!(remark(changes).iter().any(|note| note == expected), "{:?}", remark(changes));
        assert!(!remark(&[]).iter().any(|note| note == expected), "{expected}");
    }
    let unknown = remark(&[(3, "-1"), (6, "-1"), (14, "-1")]);
    assert_eq!(unknown, Vec::<String>::new());
    for (place, name) in [(3, "wait_time"), (6, "average_cpu_time"), (14, "executable")] {
        let all = [(3, "-1"), (6, "-1"), (14, "-1")];
        let others: Vec<_> = all.into_iter().filter(|(other, _)| *other != place).collect();
        let notes = remark(&others);
        assert!(notes.len() == 1 && notes[0].starts_with(name), "{notes:?}");
    }
    let instant = read(&with_field(4, "0")).unwrap().value;
    assert_eq!(instant.truth.work[&JobId(0)], Work(1_000_000));
}

#[test]
fn jobs_are_split_into_equal_tasks_only_when_asked() {
    let split = |task_cores| {
        let swf = SwfOptions { task_cores: Some(task_cores), ..SwfOptions::default() };
        let told = read_with(&with_field(8, "12"), swf, false).unwrap();
        let job = &told.value.jobs[0];
        let cores = job.alternatives[0].request.cores.0 / 1000;
        assert_eq!(job.alternatives[0].request.memory, Bytes(cores * 4096 * 1024));
        let is_told = told.notes.iter().any(|note| note.starts_with("1 jobs are split into tasks"));
        (job.tasks, cores, is_told)
    };
    assert_eq!(split(12), (1, 12, false));
    assert_eq!(split(8), (2, 6, true));
    assert_eq!(split(5), (3, 4, true));
    assert_eq!(split(1), (12, 1, true));
}

#[test]
fn a_job_wider_than_the_largest_node_is_refused_unless_it_is_split() {
    let wide = with_field(8, "128");
    assert_eq!(
        message(read(&wide)),
        "read log, line 1, `requested_processors`: asks for 128 cores on one node, and no node \
         has more than 64; split such jobs into tasks (--task-cores N), or leave them out \
         (--skip-bad)"
    );
    let text = format!("{wide}\n{}", with_field(1, "8"));
    let told = read_with(&text, SwfOptions::default(), true).unwrap();
    assert_eq!((told.skipped_count, told.value.jobs.len()), (1, 1));
    let swf = SwfOptions { task_cores: Some(64), ..SwfOptions::default() };
    assert_eq!(read_with(&wide, swf, false).unwrap().value.jobs[0].tasks, 2);
}

#[test]
fn queue_and_partition_become_labels_only_when_asked() {
    let labels = |labels: &[SwfLabel]| {
        let labels = BTreeSet::from_iter(labels.iter().copied());
        let swf = SwfOptions { labels, ..SwfOptions::default() };
        let job = read_with(LINE, swf, false).unwrap().value.jobs[0].clone();
        let labels = job.alternatives[0].labels.iter();
        labels.map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>()
    };
    assert_eq!(labels(&[]), Vec::<String>::new());
    assert_eq!(labels(&[SwfLabel::Queue]), ["queue=1"]);
    assert_eq!(labels(&[SwfLabel::Partition]), ["partition=2"]);
    assert_eq!(labels(&[SwfLabel::Partition, SwfLabel::Queue]), ["partition=2", "queue=1"]);
}

#[test]
fn the_header_is_held_against_the_lines() {
    let notes = |header: &str| {
        let bare = with_fields(&[(3, "-1"), (6, "-1"), (14, "-1")]);
        read(&format!("{header}\n{bare}\n; a comment\n\n")).unwrap().notes
    };
    let nothing = "; Version: 2.2\n; MaxJobs: 1\n;MaxRecords: 1\n; MaxProcs: 8\n; MaxRuntime: 60";
    assert_eq!(notes(nothing), Vec::<String>::new());
    for (header, expected) in [
        (
            "; MaxJobs: 2",
            "the header says MaxJobs: 2, and the log has 1 lines of jobs: part of it may be missing",
        ),
        (
            "; MaxJobs: 1\n; MaxRecords: 3 lines",
            "the header says MaxRecords: 3, and the log has 1 lines of jobs: part of it may be missing",
        ),
        ("; MaxNodes: 7", "the header says MaxNodes: 7, and a job has 8 processors"),
        ("; MaxNodes: 8\n; MaxProcs: 6", "the header says MaxProcs: 6, and a job has 8 processors"),
        ("; MaxRuntime: 59", "the header says MaxRuntime: 59 seconds, and a job ran for 1m"),
    ] {
        assert_eq!(notes(header), [expected]);
    }
    assert_eq!(
        message(read(&format!("; Version: 3\n{LINE}"))),
        "read log, line 1, `Version`: is \"3\", but this reader knows the Standard Workload Format up to version 2"
    );
}

#[test]
fn a_log_is_known_by_its_comments_or_its_numbers() {
    for text in [format!("\n  {LINE}"), format!("; any words\n{LINE}"), format!("  {LINE}\r\n")] {
        assert_eq!(read(&text).unwrap().value.jobs.len(), 1, "{text:?}");
    }
    let given = message(sim::read::inventory_from(LINE.as_bytes(), "log", &Options::default()));
    assert!(given.contains("it is a log in the Standard Workload Format"), "{given}");
}

/// Place, value and what is said of it.
const WRONG: [(usize, &str, &str); 18] = [
    (1, "-1", "`job_number`: is missing; every job has a number of its own"),
    (1, "1.5", "`job_number`: is \"1.5\", but must be a whole number, or -1 where it is not known"),
    (
        1,
        "18446744073709551616",
        "`job_number`: is 18446744073709551616; give at most 18446744073709551615",
    ),
    (2, "-1", "`submit_time`: is missing; say when the job was submitted, in seconds"),
    (
        2,
        "-5",
        "`submit_time`: is -5; give a number that is not negative, or -1 where it is not known",
    ),
    (2, "3153600001", "`submit_time`: is 3153600001; give at most a hundred years, in seconds"),
    (3, "soon", "`wait_time`: is \"soon\", but must be a number, or -1 where it is not known"),
    (4, "-1", "`run_time`: is missing; a job that is not cancelled has a run time"),
    (4, "nan", "`run_time`: is \"nan\", but must be a number, or -1 where it is not known"),
    (4, "1e9", "`run_time`: is \"1e9\", but must be a number, or -1 where it is not known"),
    (
        4,
        "0.0000001",
        "`run_time`: duration \"0.0000001s\" is finer than one microsecond, the least step; write fewer decimals",
    ),
    (8, "16777217", "`requested_processors`: is 16777217; give at most 16777216 processors"),
    (9, "inf", "`requested_time`: is \"inf\", but must be a number, or -1 where it is not known"),
    (10, "18014398509481984", "`requested_memory`: size \"18014398509481984Ki\" is too large"),
    (
        10,
        "9007199254740992",
        "`requested_memory`: is 9007199254740992; give less, since all processors together have more than 2^64 bytes",
    ),
    (11, "6", "`status`: is 6; give a whole number from 0 to 5, or -1 where it is not known"),
    (12, "99999999999999999999999999999999999999999", "`user`: is"),
    (15, "x", "`queue`: is \"x\""),
];

#[test]
fn wrong_lines_name_line_and_field() {
    for (place, value, expected) in WRONG {
        let given = message(read(&format!("; one\n{}", with_field(place, value))));
        let expected = format!("read log, line 2, {expected}");
        assert!(given.starts_with(&expected), "{given}\n{expected}");
    }
}

#[test]
fn wrong_logs_are_refused_as_a_whole() {
    let given = message(read(&with_fields(&[(5, "0"), (8, "-1")])));
    assert_eq!(
        given,
        "read log, line 1, `allocated_processors`: is missing; say how many processors the job asked for or held"
    );
    for (text, count) in
        [(LINE.trim_end_matches(" -1").to_owned(), 17), (format!("{LINE} 5 6"), 20)]
    {
        let text = if count == 17 { format!("{text} -1") } else { text };
        let expected = format!(
            "read log, line 1: has {count} fields, but a line of the Standard Workload Format has 18"
        );
        assert_eq!(message(read(&text)), expected);
    }
    let twice = format!("{LINE}\n{}\n{LINE}", with_field(1, "8"));
    assert_eq!(
        message(read(&twice)),
        "read log, line 3, `job_number`: \"7\" is given twice, first in line 1; rename one"
    );
    let given = message(read(&format!("; {}\n{LINE}", "x".repeat(10 << 20))));
    assert_eq!(given, "read log: line 1 is longer than 1048576 bytes; no entry is that long");
    assert_eq!(
        message(read("; nothing else\n")),
        "read log: it has no usable job (0 bad ones were skipped)"
    );
}

#[test]
fn a_number_that_was_refused_once_may_come_again() {
    let text = format!("{}\n{LINE}", with_field(4, "-1"));
    let told = read_with(&text, SwfOptions::default(), true).unwrap();
    assert_eq!((told.skipped_count, told.value), (1, read(LINE).unwrap().value));
}

#[test]
fn options_of_logs_are_refused_for_other_files() {
    let toml = "format = 1\n[[job]]\nname = \"a\"\nalternative = [{ cores = 1 }]\n";
    let split = SwfOptions { task_cores: Some(8), ..SwfOptions::default() };
    let labels = SwfOptions { labels: BTreeSet::from([SwfLabel::Queue]), ..SwfOptions::default() };
    for (swf, option) in [(split, "the size of tasks"), (labels, "a choice of labels")] {
        assert_eq!(
            message(read_with(toml, swf, false)),
            format!(
                "read log: {option} is for a log in the Standard Workload Format only, and this is TOML; leave it out"
            )
        );
    }
}

/// The public logs, where they are at hand.
#[test]
fn public_logs_are_read_without_a_remark_that_counts_lines() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let data = std::env::var_os("MOTLEY_DATA").map_or(here, PathBuf::from).join("swf-hpc");
    for name in ["lublin_256.swf.gz", "lublin-aaroh.swf.gz"] {
        let path = data.join(name);
        if !path.exists() {
            continue;
        }
        let swf = SwfOptions { task_cores: Some(64), ..SwfOptions::default() };
        let options = Options { swf, ..Options::default() };
        let told = workload(&path, &fleet(), &options).unwrap();
        assert_eq!(told.value.jobs.len(), 10_000);
        let notes: Vec<_> = told
            .notes
            .iter()
            .map(|note| note.trim_start_matches(|letter: char| letter.is_ascii_digit()))
            .collect();
        assert_eq!(
            notes,
            [
                " jobs have no requested_time: they declare how long they really ran",
                " jobs are split into tasks, which need not run at the same time",
            ],
            "{:?}",
            told.notes
        );
    }
}
