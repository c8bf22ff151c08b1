//! Bodies come and go; tasks go on, orders are carried out once, and ends are told until they are
//! on record.

use std::io::{Read, Write};

use body_local::LocalBody;
use body_local::wire::{self, Greeting, Reply, Request, VERSION};
use fleet::{Body, Extent, Failure, Generation, Outcome, Refusal, RunState, Span};

use crate::place::{one_core, place, place_with, run, shell};

#[test]
fn tasks_go_on_without_a_body_and_are_found_again() {
    let mut place = place();
    place.start_with(run(1), shell("sleep 1000"), one_core());
    place.has_started(run(1));
    place.reopen();
    let seen = place.look();
    assert_eq!(seen.extent, Extent::Full);
    assert!(matches!(seen.runs[..], [ref one] if one.run == run(1) && one.grant == one_core()));
    // Its core is still its own.
    let three = fleet::Grant { cores: fleet::MilliCores(3_001), ..Default::default() };
    place.start_with(run(2), shell("true"), three);
    assert_eq!(place.outcome_of(run(2)), Outcome::Refused(Refusal::NoRoom));
}

#[test]
fn an_end_is_told_until_it_is_acknowledged_and_never_after() {
    let mut place = place();
    place.start(run(1), shell("exit 4"));
    let end = place.end_of(run(1));
    assert!(place.look().runs.is_empty(), "the same body tells it once");
    place.reopen();
    assert_eq!(place.end_of(run(1)), end, "who comes next is told too");
    place.body.acknowledge().unwrap();
    place.reopen();
    assert!(place.look().runs.is_empty());
}

#[test]
fn what_was_observed_after_the_record_is_not_acknowledged_with_it() {
    let mut place = place();
    place.start(run(1), shell("true"));
    place.end_of(run(1));
    place.start(run(2), shell("true"));
    // The end comes in while nobody observes.
    let until = crate::place::now();
    place.body.wait(Some(fleet::Time(until.0 + 60_000_000))).unwrap();
    place.body.acknowledge().unwrap();
    place.reopen();
    place.end_of(run(2));
    assert!(place.sights.iter().all(|sight| sight.run != run(1)));
}

#[test]
fn a_start_that_comes_twice_starts_once() {
    let mut place = place();
    let path = place.file("starts");
    let program = shell(&format!("echo >> {}", path.display()));
    let order = place.order_start(run(1), program, one_core());
    place.body.carry_out(&[order.clone(), order.clone()]).unwrap();
    place.end_of(run(1));
    place.body.carry_out(std::slice::from_ref(&order)).unwrap();
    place.body.acknowledge().unwrap();
    place.body.carry_out(std::slice::from_ref(&order)).unwrap();
    place.reopen();
    place.body.carry_out(&[order]).unwrap();
    assert_eq!(place.outcome_of(run(1)), Outcome::Accepted);
    // Orders are carried out one after the other, so that this one ends after all of them.
    place.start(run(2), shell("true"));
    place.end_of(run(2));
    assert_eq!(std::fs::read_to_string(path).unwrap(), "\n");
}

#[test]
fn what_was_ordered_before_a_keeper_began_is_lost_and_not_started_again() {
    let mut place = place();
    let path = place.file("starts");
    let program = shell(&format!("echo >> {}; sleep 1000", path.display()));
    let order = place.order_start(run(1), program, one_core());
    place.body.carry_out(std::slice::from_ref(&order)).unwrap();
    place.has_started(run(1));
    let keeper = place.keeper();
    rustix::process::kill_process(keeper, rustix::process::Signal::KILL).unwrap();
    crate::place::wait_until_gone(keeper.as_raw_nonzero().get());
    // The body is killed too, so that nobody knows whether the run had begun.
    place.sights.clear();
    place.reopen();
    place.body.carry_out(std::slice::from_ref(&order)).unwrap();
    assert!(matches!(place.end_of(run(1)), RunState::Failed(_, Failure::Lost)));
    place.generation += 1;
    place.start(run(2), shell("true"));
    assert!(matches!(place.end_of(run(2)), RunState::Done(_)), "what comes later is started");
    assert_eq!(std::fs::read_to_string(path).unwrap(), "\n");
}

#[test]
fn an_order_of_an_older_generation_is_refused() {
    let mut place = place();
    place.generation = 5;
    place.start(run(1), shell("sleep 1000"));
    place.has_started(run(1));
    place.generation = 4;
    place.stop(run(1));
    assert!(matches!(
        place.wait_until(|place| place.receipts.get(1).cloned()).outcome,
        Outcome::Refused(Refusal::StaleGeneration)
    ));
    place.start(run(2), shell("true"));
    assert_eq!(place.outcome_of(run(2)), Outcome::Refused(Refusal::StaleGeneration));
    place.generation = 5;
    place.stop(run(3));
    assert_eq!(place.outcome_of(run(3)), Outcome::Refused(Refusal::UnknownRun));
    place.stop(run(1));
    assert!(matches!(place.end_of(run(1)), RunState::Stopped(_)));
}

#[test]
fn a_body_of_an_older_term_is_turned_away_and_the_newer_one_is_served_on() {
    let mut place = place();
    place.reopen();
    let mut old = place.settings.clone();
    old.term = 1;
    let error = LocalBody::open(old).unwrap_err();
    assert!(error.to_string().contains("term 2"), "{error}");
    place.start(run(1), shell("true"));
    place.end_of(run(1));
}

#[test]
fn the_newest_body_is_served_and_the_older_connection_is_closed() {
    let mut place = place();
    let mut older = place.connect();
    let mut frames = Vec::new();
    let greeting = Greeting { version: VERSION, term: 1, ..Greeting::default() };
    wire::write(&mut frames, &Request::Greeting(greeting)).unwrap();
    older.write_all(&frames).unwrap();
    let mut first = [0; 4];
    older.read_exact(&mut first).unwrap();
    place.reopen();
    let mut rest = Vec::new();
    older.read_to_end(&mut rest).unwrap();
}

#[test]
fn a_connection_that_talks_nonsense_is_closed_and_hurts_nobody() {
    let mut place = place();
    place.start(run(1), shell("sleep 1000"));
    place.has_started(run(1));
    let frame = |text: &[u8]| [&u32::try_from(text.len()).unwrap().to_le_bytes(), text].concat();
    for nonsense in [
        frame(b"{\"greeting\":7}"),
        frame(b"\"forget-programs\""),
        u32::MAX.to_le_bytes().to_vec(),
        frame(b"\xff\xfe"),
    ] {
        let mut connection = place.connect();
        connection.write_all(&nonsense).unwrap();
        let mut rest = Vec::new();
        connection.read_to_end(&mut rest).unwrap();
        assert!(rest.is_empty());
    }
    let mut connection = place.connect();
    let mut frames = Vec::new();
    let greeting = Greeting { version: VERSION + 1, term: 9, ..Greeting::default() };
    wire::write(&mut frames, &Request::Greeting(greeting)).unwrap();
    connection.write_all(&frames).unwrap();
    let mut inbound = wire::Inbound::default();
    while inbound.fill(&mut connection).unwrap() {}
    assert!(matches!(inbound.message().unwrap(), Some(Reply::TurnedAway(_))));
    place.stop(run(1));
    assert!(matches!(place.end_of(run(1)), RunState::Stopped(_)));
    assert_eq!(place.generation, Generation(1).0);
}

#[test]
fn another_thread_ends_the_waiting() {
    let mut place = place();
    place.look();
    let waker = place.body.waker();
    let thread = std::thread::spawn(move || waker.wake());
    place.body.wait(None).unwrap();
    thread.join().unwrap();
}

#[test]
fn everything_is_heard_again_now_and_then() {
    let mut place = place_with(|settings| settings.look_every = Span(300_000));
    place.start_with(run(1), shell("sleep 1000"), one_core());
    place.has_started(run(1));
    let mut full = 0;
    while full < 3 {
        // It wakes by itself, though nothing happens.
        place.body.wait(None).unwrap();
        let seen = place.look();
        if seen.extent == Extent::Full {
            full += 1;
            assert!(matches!(seen.runs[..], [ref one] if one.run == run(1)));
        }
    }
    // Orders and ends come through as before.
    place.start(run(2), shell("true"));
    assert!(matches!(place.end_of(run(2)), RunState::Done(_)));
    place.stop(run(1));
    assert!(matches!(place.end_of(run(1)), RunState::Stopped(_)));
    // Also where the end was acknowledged and nothing is ordered any more; and it sleeps between.
    let (mut full, mut wakes) = (0, 0);
    while full < 3 {
        place.body.wait(None).unwrap();
        wakes += 1;
        assert!(wakes < 100, "it wakes for nothing");
        full += usize::from(place.look().extent == Extent::Full);
    }
}
