//! Programs that die between any two steps, and bugs planted in what they do.
//!
//! `MOTLEY_SEED=17 cargo test -p sim --test crashes` repeats one seed;
//! `MOTLEY_SEEDS=10000` before the same command runs so many instead of 500.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::path::Path;
use std::sync::Arc;

use controller::Request;
use fleet::{Failure, Observation, Order, RunSight, RunState, Time};
use sim::checkers::Breach as Law;
use sim::crashes::{Breach, Outcome, Plant, Step, Trouble, simulate};
use tempfile::TempDir;

const SEEDS: u64 = 500;

/// Where journals are fast, and sync costs nothing.
fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let place = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() };
    tempfile::tempdir_in(place).unwrap()
}

#[test]
fn wherever_programs_die_nothing_is_lost_and_all_that_can_run_runs() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let only = number("MOTLEY_SEED");
    let seeds = only.map_or(0..number("MOTLEY_SEEDS").unwrap_or(SEEDS), |seed| seed..seed + 1);
    let mut all = Outcome::default();
    for seed in seeds {
        let outcome = simulate(seed, folder().path(), Plant::default());
        let repeat = format!("MOTLEY_SEED={seed} cargo test -p sim --test crashes");
        let breaches: Vec<_> = outcome.breaches.iter().map(ToString::to_string).collect();
        assert!(breaches.is_empty(), "{}; repeat with `{repeat}`", breaches.join("\n"));
        all.add(&outcome);
    }
    println!("{} turns, {} tasks done, {} failed", all.turns, all.done, all.failed);
    println!("{:?}\n{:?}", all.deaths, all.troubles);
    if only.is_none() {
        assert!(all.done > 0 && all.failed > 0);
        for step in Step::ALL {
            assert!(all.deaths.contains_key(&step), "no program died at {step:?}");
            for trouble in Trouble::all() {
                let times = all.troubles.get(&(trouble, Some(step))).copied().unwrap_or(0);
                assert!(times > 0, "{trouble:?} never happened before a death at {step:?}");
            }
        }
    }
}

// Bugs planted in programs, in what they read and write, and in worlds.

/// The first seed for which this law is broken by a bug that is planted anew for each, and by
/// nothing before it.
fn caught<'a>(plant: impl Fn() -> Plant<'a>, is_it: impl Fn(&Breach) -> bool) -> u64 {
    let breaks = |seed: &u64| {
        let outcome = simulate(*seed, folder().path(), plant());
        outcome.breaches.iter().any(&is_it)
    };
    (0..100).find(breaks).expect("it is caught")
}

#[test]
fn a_request_that_is_acknowledged_before_it_is_written_is_caught() {
    let plant = || Plant { acknowledges_early: true, ..Plant::default() };
    caught(plant, |found| matches!(found, Breach::Law(Law::JobLost { .. })));
}

#[test]
fn requests_forgotten_by_the_next_program_are_caught() {
    // What waits for its turn is what was asked after the last turn.
    let forget = |file: &Path| {
        change(
            file,
            "DELETE FROM record WHERE kind = 'asked' AND number = (SELECT max(number) FROM record)",
        )
    };
    let plant = || Plant { between: Box::new(move |file, _| forget(file)), ..Plant::default() };
    caught(plant, |found| matches!(found, Breach::Law(Law::JobLost { .. })));
}

#[test]
fn a_checkpoint_without_what_waits_for_its_turn_is_caught() {
    let forget = |file: &Path| {
        change(
            file,
            "DELETE FROM record WHERE kind = 'asked' AND number > (SELECT max(number) FROM record WHERE kind = 'checkpoint')
             AND number = (SELECT max(number) FROM record)
             AND NOT EXISTS (SELECT 1 FROM record t WHERE t.kind = 'turn' AND t.number > (SELECT max(number) FROM record WHERE kind = 'checkpoint'))",
        );
    };
    let plant = || Plant { between: Box::new(move |file, _| forget(file)), ..Plant::default() };
    caught(plant, |found| matches!(found, Breach::Law(Law::JobLost { .. })));
}

#[test]
fn a_turn_that_is_acted_on_and_not_written_is_caught() {
    let forget = |file: &Path| {
        change(
            file,
            "DELETE FROM record WHERE kind = 'turn' AND number = (SELECT max(number) FROM record)",
        );
    };
    let plant = || Plant { between: Box::new(move |file, _| forget(file)), ..Plant::default() };
    caught(plant, |found| matches!(found, Breach::Forgotten(_)));
}

#[test]
fn an_end_that_is_told_once_and_lost_with_the_program_is_caught() {
    let plant = || Plant { tells_once: true, ..Plant::default() };
    caught(plant, |found| matches!(found, Breach::DoneRunsAgain(_)));
}

#[test]
fn orders_repeated_as_new_attempts_are_caught() {
    let repeat = || {
        let mut last: Vec<Order> = Vec::new();
        move |orders: &mut Vec<Order>, is_first: bool| {
            let kept = orders.clone();
            if is_first {
                for mut order in last.drain(..) {
                    order.run.attempt.0 += 1;
                    order.generation = orders.first().map_or(order.generation, |it| it.generation);
                    orders.push(order);
                }
            }
            last = kept;
        }
    };
    let plant = || Plant { ordered: Box::new(repeat()), ..Plant::default() };
    caught(plant, |found| {
        matches!(found, Breach::Law(Law::Unordered { .. } | Law::TwoAttempts { .. }))
    });
}

#[test]
fn orders_carried_out_by_a_world_that_forgot_generations_are_caught() {
    let repeat = || {
        let mut oldest: Option<Vec<Order>> = None;
        move |orders: &mut Vec<Order>, is_first: bool| match &oldest {
            None => oldest = Some(orders.clone()),
            Some(oldest) if is_first => drop(orders.splice(0..0, oldest.iter().cloned())),
            Some(_) => {}
        }
    };
    let plant = || Plant {
        between: Box::new(|_, world| world.lose_memory()),
        ordered: Box::new(repeat()),
        ..Plant::default()
    };
    caught(plant, |found| {
        matches!(found, Breach::Law(Law::GenerationFell { .. } | Law::AttemptFell { .. }))
    });
}

#[test]
fn a_grant_that_is_given_back_before_its_run_has_ended_is_caught() {
    let plant = || Plant { seen: Box::new(ends_of_what_runs), ..Plant::default() };
    caught(plant, |found| matches!(found, Breach::Law(Law::Unheld { .. })));
}

/// Says of the first run that it was stopped, though it goes on.
fn ends_of_what_runs(seen: &mut Observation) {
    let running = |sight: &&mut RunSight| matches!(sight.state, RunState::Running(_));
    if let Some(sight) = seen.runs.iter_mut().find(running) {
        sight.state = RunState::Stopped(seen.at);
    }
}

/// Lets every failure be another state.
fn instead_of_failures(seen: &mut Observation, instead: impl Fn(Time) -> RunState) {
    for sight in &mut seen.runs {
        if let RunState::Failed(at, Failure::Status(_)) = sight.state {
            sight.state = instead(at);
        }
    }
}

#[test]
fn a_failure_that_is_counted_as_done_is_caught() {
    let plant = || Plant {
        seen: Box::new(|seen| instead_of_failures(seen, RunState::Done)),
        ..Plant::default()
    };
    caught(plant, |found| matches!(found, Breach::Law(Law::DoneDiffers { .. })));
}

#[test]
fn an_attempt_too_many_is_caught() {
    // A stop is no failure, so that the task runs again and again.
    let plant = || Plant {
        seen: Box::new(|seen| instead_of_failures(seen, RunState::Stopped)),
        ..Plant::default()
    };
    caught(plant, |found| matches!(found, Breach::FailedRunsAgain(_)));
}

/// A bug by which requests of some kind are taken in and have no effect.
fn ignoring<'a>(is_ignored: fn(&Request) -> bool) -> impl Fn() -> Plant<'a> {
    move || Plant {
        asked: Box::new(move |asked| asked.retain(|request| !is_ignored(request))),
        ..Plant::default()
    }
}

#[test]
fn a_held_job_that_starts_is_caught() {
    let plant = ignoring(|request| matches!(request, Request::Hold(_)));
    caught(plant, |found| matches!(found, Breach::KeptStarts(_)));
}

#[test]
fn a_cancelled_job_that_starts_is_caught() {
    let plant = ignoring(|request| matches!(request, Request::Cancel(_)));
    caught(plant, |found| matches!(found, Breach::KeptStarts(_)));
}

#[test]
fn a_drained_node_that_takes_work_is_caught() {
    let plant = ignoring(|request| matches!(request, Request::Drain(_)));
    caught(plant, |found| matches!(found, Breach::DrainedTakes(..)));
}

#[test]
fn a_job_that_does_not_wait_for_another_is_caught() {
    let forget = |asked: &mut Vec<Request>| {
        for request in asked {
            if let Request::Submit(job) = request {
                Arc::make_mut(job).after.clear();
            }
        }
    };
    let plant = || Plant { asked: Box::new(forget), ..Plant::default() };
    caught(plant, |found| matches!(found, Breach::Early(..)));
}

#[test]
fn a_job_that_is_never_let_go_is_caught() {
    let plant = ignoring(|request| matches!(request, Request::Release(_)));
    caught(plant, |found| matches!(found, Breach::NotEnded(_)));
}

#[test]
fn a_record_that_was_changed_is_caught() {
    let spoil = |file: &Path| {
        change(file, "UPDATE record SET kind = 'policy' WHERE number = 2 AND kind = 'turn'");
    };
    let plant = || Plant { between: Box::new(move |file, _| spoil(file)), ..Plant::default() };
    caught(plant, |found| matches!(found, Breach::Journal(_)));
}

/// Changes a journal by hand.
fn change(file: &Path, how: &str) {
    rusqlite::Connection::open(file).unwrap().execute(how, []).unwrap();
}
