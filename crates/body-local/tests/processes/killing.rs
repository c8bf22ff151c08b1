//! Whatever ends a task, and whoever is killed, no process of it is left.

use fleet::{Failure, RunState};
use rustix::process::{Pid, Signal, kill_process};

use body_local::wire::Contain;

use crate::place::{Place, contained, is_alive, place, run, shell, wait_until_gone};

/// With groups, as far as the machine has them, and without.
const BOTH: [Contain; 2] = [Contain::Always, Contain::Never];

/// A task with a child, a child in another session, and one whose parents have ended; it writes
/// the numbers of all three.
fn with_family(place: &mut Place, then: &str) -> Vec<i32> {
    let path = place.file("pids");
    let text = format!(
        "sleep 1001 & one=$!
         setsid sleep 1002 & two=$!
         three=$(sh -c 'setsid sleep 1003 >/dev/null 2>&1 & echo $!')
         echo $one $two $three > {path}.new; mv {path}.new {path}
         {then}",
        path = path.display()
    );
    place.start(run(1), shell(&text));
    let pids: Vec<i32> =
        place.text_of("pids").split_whitespace().map(|pid| pid.parse().unwrap()).collect();
    assert!(pids.len() == 3 && pids.iter().all(|pid| is_alive(*pid)), "{pids:?}");
    pids
}

#[track_caller]
fn expect_gone(pids: &[i32]) {
    let left: Vec<_> = pids.iter().filter(|pid| is_alive(**pid)).collect();
    assert!(left.is_empty(), "{left:?} of {pids:?} are alive");
}

#[test]
fn an_order_to_stop_leaves_no_process() {
    for contain in BOTH {
        let mut place = contained(contain);
        let pids = with_family(&mut place, "wait; sleep 1000");
        place.stop(run(1));
        assert!(matches!(place.end_of(run(1)), RunState::Stopped(_)));
        expect_gone(&pids);
        // A group that was killed would kill what is born into it next.
        place.start(run(2), shell("true"));
        assert!(matches!(place.end_of(run(2)), RunState::Done(_)));
    }
}

#[test]
fn a_task_that_does_not_heed_the_first_signal_is_killed() {
    for contain in BOTH {
        let mut place = contained(contain);
        let pids = with_family(&mut place, "trap '' TERM; while true; do sleep 1000; done");
        place.stop(run(1));
        assert!(matches!(place.end_of(run(1)), RunState::Stopped(_)));
        expect_gone(&pids);
    }
}

#[test]
fn a_task_that_ends_by_itself_leaves_no_process() {
    for contain in BOTH {
        let mut place = contained(contain);
        // It ends only when it is told to, so that its family is seen alive.
        let go = place.file("go");
        let pids = with_family(
            &mut place,
            &format!("until test -e {}; do sleep 0.02; done", go.display()),
        );
        std::fs::write(&go, "").unwrap();
        assert!(matches!(place.end_of(run(1)), RunState::Done(_)));
        expect_gone(&pids);
    }
}

#[test]
fn other_tasks_go_on_when_one_is_stopped() {
    for contain in BOTH {
        let mut place = contained(contain);
        let other = place.file("other");
        place.start(run(2), shell(&format!("sleep 1004 & echo $! > {}; wait", other.display())));
        let other: i32 = place.text_of("other").trim().parse().unwrap();
        let pids = with_family(&mut place, "wait");
        place.stop(run(1));
        place.end_of(run(1));
        expect_gone(&pids);
        assert!(is_alive(other));
    }
}

#[test]
fn a_killed_keeper_takes_its_tasks_with_it_and_another_begins() {
    for contain in BOTH {
        let mut place = contained(contain);
        let pids = with_family(&mut place, "wait; sleep 1000");
        place.has_started(run(1));
        let keeper = place.keeper();
        kill_process(keeper, Signal::KILL).unwrap();
        assert!(matches!(place.end_of(run(1)), RunState::Failed(_, Failure::Lost)));
        expect_gone(&pids);
        assert_ne!(place.keeper(), keeper);
        place.generation += 1;
        place.start(run(2), shell("true"));
        assert!(matches!(place.end_of(run(2)), RunState::Done(_)));
    }
}

#[test]
fn a_keeper_that_is_told_to_end_ends_its_tasks_first() {
    for contain in BOTH {
        let mut place = contained(contain);
        let pids = with_family(&mut place, "wait; sleep 1000");
        let keeper = place.keeper();
        kill_process(keeper, Signal::TERM).unwrap();
        wait_until_gone(Pid::as_raw(Some(keeper)));
        expect_gone(&pids);
        assert!(matches!(place.end_of(run(1)), RunState::Failed(_, Failure::Lost)));
    }
}

#[test]
fn what_ended_before_the_keeper_was_killed_is_told_as_it_ended() {
    let mut place = place();
    place.start(run(1), shell("exit 3"));
    place.start(run(2), shell("sleep 1000"));
    let spool = place.settings.directory.join("keeper/spool");
    let is_written =
        |_: &Place| std::fs::metadata(&spool).ok().filter(|one| one.len() > 0).map(drop);
    // Nobody listens until both are dead.
    while is_written(&place).is_none() {
        std::thread::yield_now();
    }
    let keeper = place.keeper();
    kill_process(keeper, Signal::KILL).unwrap();
    place.reopen();
    assert!(matches!(place.end_of(run(1)), RunState::Failed(_, Failure::Status(3))));
    // A body that knows nothing of it finds it not there.
    assert!(place.sights.iter().all(|sight| sight.run != run(2)));
}

#[test]
fn keepers_that_were_killed_do_not_pile_up() {
    let mut place = place();
    let mut keepers = Vec::new();
    for job in 1..=3 {
        keepers.push(place.keeper().as_raw_nonzero().get());
        place.start(run(job), shell("sleep 1000"));
        kill_process(place.keeper(), Signal::KILL).unwrap();
        place.end_of(run(job));
    }
    // The last one may be the body's to reap still.
    let is_there = |pid: &&i32| std::path::Path::new(&format!("/proc/{pid}")).exists();
    assert_eq!(keepers[..2].iter().find(is_there), None, "{keepers:?}");
}
