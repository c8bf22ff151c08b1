//! Tasks that fail, jobs that are held or follow others, nodes that are drained.

use std::sync::Arc;

use controller::{Ledger, Request, TaskTally, Turn};
use fleet::{
    Bytes, Dependency, Ending, Extent, Failure, Job, JobId, NodeId, Restart, RunId, RunSight,
    RunState, Span, TaskIndex, Time, Usage, Work,
};

use crate::world::{LOST_A, LOST_B, World, attempt, restarted};

/// Submits a job, with both nodes up.
fn submit(world: &mut World, job: Job) -> Turn {
    ask(world, Request::Submit(Arc::new(job)))
}

fn ask(world: &mut World, request: Request) -> Turn {
    let up = vec![world.up(0), world.up(1)];
    world.turn(Extent::Changes, up, Vec::new(), Vec::new(), vec![request])
}

/// The sketch's first job under another number, with a rule of restart.
fn job(world: &World, id: u64, restart: Restart) -> Job {
    Job { id: JobId(id), restart, ..Job::clone(&world.job(0)) }
}

fn following(world: &World, id: u64, other: u64, ending: Ending) -> Job {
    let after = vec![Dependency { job: JobId(other), ending }];
    Job { after, ..job(world, id, Restart::default()) }
}

fn started(turn: &Turn) -> Vec<RunId> {
    turn.decision.plan.placements.iter().map(|placed| placed.run).collect()
}

fn fail(world: &mut World, run: RunId, failure: Failure) -> Turn {
    let mut sight = world.sight(run, 0, RunState::Running);
    sight.state = RunState::Failed(Time::seconds(world.now), failure);
    world.see(Vec::new(), vec![sight])
}

fn done(world: &mut World, run: RunId) -> Turn {
    let sight = world.sight(run, 0, RunState::Done);
    world.see(Vec::new(), vec![sight])
}

fn tally(world: &World, id: u64) -> TaskTally {
    world.ledger.tally(JobId(id)).expect("it was submitted")
}

#[test]
fn a_task_that_fails_runs_again_as_often_as_its_job_says() {
    let mut world = World::empty();
    let restart = Restart { retries: 1, requeue: true };
    let retried = job(&world, 7, restart);
    let run = started(&submit(&mut world, retried))[0];
    let second = started(&fail(&mut world, run, Failure::Status(3)))[0];
    assert_eq!(second, attempt(run, 1));
    assert_eq!(started(&fail(&mut world, second, Failure::Signal(9))), []);
    assert_eq!(tally(&world, 7), TaskTally { failed: 1, ..TaskTally::default() });
    let standing = world.ledger.standing(JobId(7)).unwrap();
    assert_eq!(standing.failed_tasks, [(TaskIndex(0), Failure::Signal(9))]);
    assert_eq!(standing.ended, Some(Time::seconds(world.now)));
}

#[test]
fn jobs_that_ask_for_the_same_hold_it_once() {
    let mut world = World::empty();
    for id in 7..9 {
        let one = job(&world, id, Restart::default());
        let alternatives = Arc::new(one.alternatives.to_vec());
        submit(&mut world, Job { alternatives, ..one });
    }
    let restored = Ledger::of_image(world.ledger.image()).unwrap();
    for ledger in [&world.ledger, &restored] {
        let asked: Vec<_> = ledger.jobs().map(|job| &job.alternatives).collect();
        assert!(Arc::ptr_eq(asked[0], asked[1]));
    }
}

#[test]
fn what_runs_used_adds_up_once_for_each() {
    let mut world = World::empty();
    let twice = job(&world, 7, Restart { retries: 1, requeue: true });
    let first = started(&submit(&mut world, twice))[0];
    let usage = |seconds, memory| Usage { cpu: Span::seconds(seconds), memory: Bytes(memory) };
    let used = |world: &World| world.ledger.standing(JobId(7)).unwrap().used;
    let end = |world: &World, run, state, usage| RunSight { usage, ..world.sight(run, 0, state) };
    let failed = |at| RunState::Failed(at, Failure::Status(3));
    let sight = end(&world, first, failed, usage(3, 900));
    world.see(Vec::new(), vec![sight.clone()]);
    // A body tells an end until it knows that it was heard.
    world.see(Vec::new(), vec![sight]);
    assert_eq!(used(&world), usage(3, 900));
    let sight = end(&world, attempt(first, 1), RunState::Done, usage(4, 200));
    world.see(Vec::new(), vec![sight]);
    assert_eq!(used(&world), usage(7, 900));
}

#[test]
fn a_failure_counts_though_the_run_was_given_up_before() {
    let mut world = World::empty();
    let once = job(&world, 7, Restart::default());
    let run = started(&submit(&mut world, once))[0];
    world.see(vec![LOST_A, LOST_B], Vec::new());
    assert_eq!(tally(&world, 7).waiting, 1);
    assert_eq!(started(&fail(&mut world, run, Failure::Status(3))), []);
    assert_eq!(tally(&world, 7), TaskTally { failed: 1, ..TaskTally::default() });
}

#[test]
fn a_failure_does_not_count_once_the_task_has_gone_on() {
    let (mut world, first, second) = restarted();
    assert_eq!(started(&fail(&mut world, first, Failure::Status(3))), []);
    assert_eq!((world.stage(first), world.tally(0)), (None, (0, 1, 0)));
    assert_eq!(world.stage(second), Some(fleet::Stage::Ordered));
}

#[test]
fn a_task_that_was_lost_runs_again_unless_its_job_forbids_it() {
    for (requeue, again) in [(true, 1), (false, 0)] {
        let mut world = World::empty();
        let lost = job(&world, 7, Restart { retries: 0, requeue });
        let run = started(&submit(&mut world, lost))[0];
        assert_eq!(started(&fail(&mut world, run, Failure::Lost)).len(), again);
        assert_eq!(tally(&world, 7).failed, 1 - u32::try_from(again).unwrap());
    }
}

#[test]
fn what_is_held_starts_once_it_is_released() {
    let mut world = World::empty();
    let mut pair = job(&world, 7, Restart { retries: 1, requeue: true });
    pair.tasks = 3;
    let runs = started(&submit(&mut world, pair));
    assert_eq!(runs.len(), 2, "two nodes have room");
    assert_eq!(started(&ask(&mut world, Request::Hold(JobId(7)))), []);
    // What runs goes on, and what fails meanwhile is held too.
    assert_eq!(started(&fail(&mut world, runs[0], Failure::Status(1))), []);
    let held = TaskTally { waiting: 2, running: 1, ..TaskTally::default() };
    assert_eq!(tally(&world, 7), held);
    assert!(world.ledger.standing(JobId(7)).unwrap().held);
    assert_eq!(started(&ask(&mut world, Request::Release(JobId(7)))), [attempt(runs[0], 1)]);
}

#[test]
fn a_job_begins_after_another_that_ended_as_it_asks() {
    for (ending, succeeds, begins) in [
        (Ending::Done, true, true),
        (Ending::Done, false, false),
        (Ending::NotDone, true, false),
        (Ending::NotDone, false, true),
        (Ending::Any, true, true),
        (Ending::Any, false, true),
    ] {
        let mut world = World::empty();
        let first = job(&world, 7, Restart::default());
        let run = started(&submit(&mut world, first))[0];
        let second = following(&world, 8, 7, ending);
        assert_eq!(started(&submit(&mut world, second)), []);
        assert_eq!(world.ledger.standing(JobId(8)).unwrap().unmet.len(), 1);
        let turn = match succeeds {
            true => done(&mut world, run),
            false => fail(&mut world, run, Failure::Status(1)),
        };
        assert_eq!(started(&turn).len(), usize::from(begins), "{ending:?} {succeeds}");
        assert_eq!(tally(&world, 8).cancelled, u32::from(!begins));
        // The same holds where the other ended before.
        let third = following(&world, 9, 7, ending);
        submit(&mut world, third);
        assert_eq!(tally(&world, 9).cancelled, u32::from(!begins));
    }
}

#[test]
fn what_follows_a_job_that_never_runs_is_cancelled_down_the_line() {
    let mut world = World::empty();
    let first = job(&world, 7, Restart::default());
    submit(&mut world, first);
    for id in 8..=9 {
        let next = following(&world, id, id - 1, Ending::Done);
        submit(&mut world, next);
    }
    ask(&mut world, Request::Cancel(JobId(7)));
    assert_eq!([8, 9].map(|id| tally(&world, id).cancelled), [1, 1]);
}

#[test]
fn a_drained_node_keeps_what_runs_and_takes_nothing_new() {
    let (mut world, run) = World::with_train();
    let running = world.sight(run, 0, RunState::Running);
    world.see(Vec::new(), vec![running]);
    ask(&mut world, Request::Drain(NodeId(0)));
    let next = job(&world, 7, Restart::default());
    let turn = submit(&mut world, next);
    assert_eq!(turn.decision.plan.placements[0].node, NodeId(1));
    assert!(world.stage(run).is_some());
    let third = job(&world, 8, Restart::default());
    assert_eq!(started(&submit(&mut world, third)), []);
    // Its run ends there, and still nothing starts; nor does it once the node was lost and is back.
    assert_eq!(started(&done(&mut world, run)), []);
    let up = world.up(0);
    assert_eq!(started(&world.see(vec![LOST_A], Vec::new())), []);
    assert_eq!(started(&world.see(vec![up], Vec::new())), []);
    assert_eq!(started(&ask(&mut world, Request::Resume(NodeId(0)))).len(), 1);
}

#[test]
fn what_a_task_has_done_is_known_from_its_stops_and_forgotten_with_its_end() {
    let mut world = World::empty();
    let once = job(&world, 7, Restart { retries: 9, requeue: true });
    let first = started(&submit(&mut world, once))[0];
    let known = |world: &World| {
        let image = serde_json::to_value(world.ledger.image()).unwrap();
        image["progress"]["7"]["0"]["done"].as_u64()
    };
    let told = |world: &World, run, state, done| {
        let done = Some(Work(done));
        RunSight { done, ..world.sight(run, 0, state) }
    };
    assert_eq!(known(&world), None);
    let sight = told(&world, first, RunState::Stopped, 40);
    world.see(Vec::new(), vec![sight]);
    assert_eq!(known(&world), Some(40));
    // What goes on has done more, which is gone with the run.
    let second = attempt(first, 1);
    let sight = told(&world, second, RunState::Running, 60);
    world.see(Vec::new(), vec![sight]);
    assert_eq!(known(&world), Some(60));
    assert_eq!(started(&fail(&mut world, second, Failure::Status(3))), [attempt(first, 2)]);
    assert_eq!(known(&world), Some(40));
    // A body that says nothing has kept nothing.
    let sight = world.sight(attempt(first, 2), 0, RunState::Stopped);
    world.see(Vec::new(), vec![sight]);
    assert_eq!(known(&world), None);
    let sight = told(&world, attempt(first, 3), RunState::Stopped, 50);
    world.see(Vec::new(), vec![sight]);
    let sight = world.sight(attempt(first, 4), 0, RunState::Done);
    world.see(Vec::new(), vec![sight]);
    assert_eq!(known(&world), None);
}
