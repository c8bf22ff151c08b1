//! What tasks print is kept, and can be read while they run and after.

use std::io::Read;

use body_local::output::{Reader, Stream, read};
use body_local::wire::Rules;
use fleet::{Output, Program, RunState};
use rustix::process::{Signal, kill_process};

use crate::place::{Place, place, place_with, run, shell};

fn kept(text: &str) -> Program {
    Program { output: Output::Kept, ..shell(text) }
}

fn reader(place: &Place, job: u64, stream: Stream) -> Reader {
    read(&place.settings.directory, run(job), stream).unwrap()
}

fn printed(place: &Place, job: u64, stream: Stream) -> (String, Option<u64>) {
    let (mut reader, mut text) = (reader(place, job, stream), String::new());
    reader.read_to_string(&mut text).unwrap();
    (text, reader.dropped())
}

#[test]
fn what_many_tasks_print_is_kept_apart_in_one_file() {
    let mut place = place();
    for job in 1..=20 {
        place.start(run(job), kept(&format!("echo {job}; echo not {job} >&2")));
    }
    for job in 1..=20 {
        assert!(matches!(place.end_of(run(job)), RunState::Done(_)));
        assert_eq!(printed(&place, job, Stream::Output), (format!("{job}\n"), Some(0)));
        assert_eq!(printed(&place, job, Stream::Errors), (format!("not {job}\n"), Some(0)));
    }
    let files = std::fs::read_dir(place.settings.directory.join("output")).unwrap().count();
    assert_eq!(files, 2, "one with what was printed, one that says where");
}

#[test]
fn what_a_task_prints_can_be_followed() {
    let mut place = place();
    let go = place.file("go");
    let wait = format!("until test -e {}; do sleep 0.02; done", go.display());
    place.start(run(1), kept(&format!("echo one; {wait}; echo two")));
    place.has_started(run(1));
    let mut reader = reader(&place, 1, Stream::Output);
    let mut text = String::new();
    while text.is_empty() {
        place.look();
        reader.read_to_string(&mut text).unwrap();
    }
    assert_eq!((text.as_str(), reader.dropped()), ("one\n", None));
    std::fs::write(go, "").unwrap();
    place.end_of(run(1));
    reader.read_to_string(&mut text).unwrap();
    assert_eq!((text.as_str(), reader.dropped()), ("one\ntwo\n", Some(0)));
}

#[test]
fn a_task_that_prints_too_much_is_cut_and_goes_on() {
    let rules = Rules { output_stream_bytes_max: 100_000, ..Rules::default() };
    let mut place = place_with(|settings| settings.rules = rules);
    place.start(run(1), kept("head -c 3000000 /dev/zero | tr '\\0' x; echo end >&2"));
    assert!(matches!(place.end_of(run(1)), RunState::Done(_)));
    let (text, dropped) = printed(&place, 1, Stream::Output);
    assert_eq!((text.len(), dropped), (100_000, Some(2_900_000)));
    assert_eq!(printed(&place, 1, Stream::Errors).0, "end\n");
}

#[test]
fn files_that_are_full_make_room_for_new_ones() {
    let rules =
        Rules { output_file_bytes_max: 10_000, output_total_bytes_max: 50_000, ..Rules::default() };
    let mut place = place_with(|settings| settings.rules = rules);
    for job in 1..=20 {
        place.start(run(job), kept("head -c 9000 /dev/zero | tr '\\0' x"));
        place.end_of(run(job));
    }
    assert_eq!(printed(&place, 20, Stream::Output).0.len(), 9_000);
    assert_eq!(printed(&place, 1, Stream::Output).0, "");
    let files = std::fs::read_dir(place.settings.directory.join("output")).unwrap();
    let size: u64 = files.map(|file| file.unwrap().metadata().unwrap().len()).sum();
    assert!(size < 60_000, "{size}");
}

#[test]
fn a_task_that_prints_nothing_leaves_nothing() {
    let mut place = place();
    place.start(run(1), kept("true"));
    place.end_of(run(1));
    assert_eq!(std::fs::read_dir(place.settings.directory.join("output")).unwrap().count(), 0);
}

#[test]
fn what_was_printed_before_the_keeper_was_killed_can_be_read_after() {
    let mut place = place();
    place.start(run(1), kept("echo one; sleep 1000"));
    while printed(&place, 1, Stream::Output).0.is_empty() {
        place.look();
    }
    kill_process(place.keeper(), Signal::KILL).unwrap();
    place.end_of(run(1));
    place.generation += 1;
    place.start(run(2), kept("echo two"));
    place.end_of(run(2));
    assert_eq!(printed(&place, 1, Stream::Output).0, "one\n");
    assert_eq!(printed(&place, 2, Stream::Output).0, "two\n");
}
