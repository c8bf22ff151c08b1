//! How tasks end, and how that is told.

use fleet::{Bytes, Failure, Grant, MilliCores, Outcome, Refusal, RunState, Span};

use crate::place::{one_core, place, run, shell};

#[test]
fn a_task_that_ends_well_is_done() {
    let mut place = place();
    place.start(run(1), shell("true"));
    assert!(matches!(place.end_of(run(1)), RunState::Done(_)));
    assert_eq!(place.outcome_of(run(1)), Outcome::Accepted);
    assert!(place.usage_of(run(1)).memory > Bytes(0));
}

#[test]
fn a_status_and_a_signal_are_told_as_they_are() {
    let mut place = place();
    place.start(run(1), shell("exit 7"));
    place.start(run(2), shell("kill -USR1 $$"));
    assert!(matches!(place.end_of(run(1)), RunState::Failed(_, Failure::Status(7))));
    assert!(matches!(place.end_of(run(2)), RunState::Failed(_, Failure::Signal(10))));
}

#[test]
fn a_program_that_is_not_there_and_a_directory_that_is_not_there_are_told() {
    let mut place = place();
    let mut program = shell("true");
    program.arguments[0] = "no-such-program".to_owned();
    place.start(run(1), program.clone());
    program.arguments[0] = "/dev/null".to_owned();
    place.start(run(2), program);
    let mut program = shell("true");
    program.directory = "/no/such/directory".to_owned();
    place.start(run(3), program);
    let not_started = |error| Failure::NotStarted(error);
    assert!(
        matches!(place.end_of(run(1)), RunState::Failed(_, f) if f == not_started(libc::ENOENT))
    );
    assert!(
        matches!(place.end_of(run(2)), RunState::Failed(_, f) if f == not_started(libc::EACCES))
    );
    assert!(
        matches!(place.end_of(run(3)), RunState::Failed(_, f) if f == not_started(libc::ENOENT))
    );
}

#[test]
fn a_task_that_runs_too_long_is_ended() {
    let mut place = place();
    let mut program = shell("trap '' TERM; sleep 1000 & wait; sleep 1000");
    program.time_limit = Some(Span(100_000));
    place.start(run(1), program);
    assert!(matches!(place.end_of(run(1)), RunState::Failed(_, Failure::TimeLimit)));
}

#[test]
fn what_does_not_fit_is_refused_and_what_ended_gives_back() {
    let mut place = place();
    let four = Grant { cores: MilliCores(4_000), ..Grant::default() };
    place.start_with(run(1), shell("sleep 1000"), one_core());
    place.start_with(run(2), shell("true"), four.clone());
    assert_eq!(place.outcome_of(run(2)), Outcome::Refused(Refusal::NoRoom));
    place.stop(run(1));
    assert!(matches!(place.end_of(run(1)), RunState::Stopped(_)));
    place.start_with(run(3), shell("true"), four);
    assert!(matches!(place.end_of(run(3)), RunState::Done(_)));
}

#[test]
fn what_a_task_uses_is_seen_while_it_runs_with_all_that_descends_from_it() {
    let mut place = place();
    // The child that works is never waited for: nobody is told what it used once it has ended.
    let text = "head -c 60000000 /dev/zero | tail -c 60000000 >/dev/null & \
                (while :; do :; done) & sleep 1000";
    place.start(run(1), shell(text));
    let cpu = place.wait_until(|place| {
        let used = place.body.usage(run(1))?;
        (used.cpu > Span(500_000) && used.memory > Bytes(1 << 20)).then_some(used.cpu)
    });
    place.stop(run(1));
    assert!(matches!(place.end_of(run(1)), RunState::Stopped(_)));
    assert!(place.usage_of(run(1)).cpu >= cpu);
}
