use std::fs;
use std::io::Read;

use super::*;
use crate::wire::Rules;

fn rules(stream: u64, file: u64, total: u64) -> Rules {
    Rules {
        output_stream_bytes_max: stream,
        output_file_bytes_max: file,
        output_total_bytes_max: total,
        ..Rules::default()
    }
}

fn run(job: u64) -> RunId {
    RunId { job: JobId(job), task: TaskIndex(2), attempt: Attempt(3) }
}

fn archive() -> (tempfile::TempDir, Archive) {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("output")).unwrap();
    let archive = Archive::open(directory.path()).unwrap();
    (directory, archive)
}

fn text(reader: &mut Reader) -> String {
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn a_header_is_read_as_it_was_written_and_nothing_else_is() {
    let header = Header { kind: Kind::End, run: run(u64::MAX - 1), length: 77 };
    let mut bytes = header.to_bytes();
    assert_eq!(Header::of_bytes(&bytes), Some(header));
    bytes[0] += 1;
    assert_eq!(Header::of_bytes(&bytes), None);
}

#[test]
fn what_runs_print_at_the_same_time_is_told_apart_while_they_run() {
    let (directory, mut archive) = archive();
    let rules = rules(100, 1_000, 10_000);
    let (mut one, mut other) = (Kept::default(), Kept::default());
    archive.keep(run(1), (Stream::Output, b"a"), &mut one, &rules).unwrap();
    archive.keep(run(2), (Stream::Output, b"b"), &mut other, &rules).unwrap();
    let mut reader = read(directory.path(), run(1), Stream::Output).unwrap();
    assert_eq!(text(&mut reader), "a");
    archive.keep(run(1), (Stream::Errors, b"c"), &mut one, &rules).unwrap();
    archive.keep(run(1), (Stream::Output, b"d"), &mut one, &rules).unwrap();
    assert_eq!(text(&mut reader), "d");
    assert_eq!(reader.dropped(), None);
    archive.end(run(1), &mut one, &rules).unwrap();
    assert_eq!((text(&mut reader), reader.dropped()), (String::new(), Some(0)));
    let mut errors = read(directory.path(), run(1), Stream::Errors).unwrap();
    assert_eq!(text(&mut errors), "c");
}

#[test]
fn what_is_too_much_is_cut_and_said_so() {
    let (directory, mut archive) = archive();
    let rules = rules(5, 1_000, 10_000);
    let mut kept = Kept::default();
    archive.keep(run(1), (Stream::Output, b"abc"), &mut kept, &rules).unwrap();
    archive.keep(run(1), (Stream::Output, b"defg"), &mut kept, &rules).unwrap();
    archive.end(run(1), &mut kept, &rules).unwrap();
    let mut reader = read(directory.path(), run(1), Stream::Output).unwrap();
    assert_eq!((text(&mut reader), reader.dropped()), ("abcde".to_owned(), Some(2)));
}

#[test]
fn output_goes_on_in_the_next_file_and_the_oldest_file_goes() {
    let (directory, mut archive) = archive();
    let rules = rules(1_000, 30, 150);
    let mut kept = Kept::default();
    archive.keep(run(1), (Stream::Output, b"first"), &mut kept, &rules).unwrap();
    archive.keep(run(1), (Stream::Output, b"second"), &mut kept, &rules).unwrap();
    let mut reader = read(directory.path(), run(1), Stream::Output).unwrap();
    assert_eq!(text(&mut reader), "firstsecond");
    for _ in 0..4 {
        archive.keep(run(1), (Stream::Output, b"more"), &mut kept, &rules).unwrap();
    }
    archive.end(run(1), &mut kept, &rules).unwrap();
    let mut reader = read(directory.path(), run(1), Stream::Output).unwrap();
    assert_eq!(text(&mut reader), "moremore");
    assert_eq!(reader.dropped(), Some(0));
}

#[test]
fn what_a_killed_keeper_left_cut_off_does_not_hide_what_the_next_one_writes() {
    let (directory, mut archive) = archive();
    let rules = rules(1_000, 1_000, 10_000);
    let mut kept = Kept::default();
    archive.keep(run(1), (Stream::Output, b"whole"), &mut kept, &rules).unwrap();
    let path = directory.path().join("output/000001.log");
    let length = fs::metadata(&path).unwrap().len();
    for cut in [1, 10, length - 1] {
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(length - cut).unwrap();
        let mut next = Archive::open(directory.path()).unwrap();
        next.keep(run(1), (Stream::Output, b"next"), &mut Kept::default(), &rules).unwrap();
        let mut reader = read(directory.path(), run(1), Stream::Output).unwrap();
        assert!(text(&mut reader).ends_with("next"), "cut by {cut}");
    }
}

#[test]
fn a_run_that_printed_nothing_reads_as_nothing() {
    let (directory, mut archive) = archive();
    archive.end(run(1), &mut Kept::default(), &rules(9, 9, 9)).unwrap();
    let mut reader = read(directory.path(), run(1), Stream::Output).unwrap();
    assert_eq!(text(&mut reader), "");
    let elsewhere = directory.path().join("nowhere");
    assert_eq!(text(&mut read(&elsewhere, run(1), Stream::Output).unwrap()), "");
}
