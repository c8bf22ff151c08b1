//! The laws of planning, on small random fleets.
//!
//! Each law is tried on the planner, and then on a planner with a planted
//! defect, which it must catch: a law that nothing can break shows nothing.

mod dice;
mod inside;
mod case;
mod law;
mod defect;
mod inquiry;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fleet::{Decision, Placement, Reason, Snapshot};
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use case::Case;
use dice::Dice;
use law::{Law, Planning};

/// How many cases each law is tried on.
const CASES: u32 = 1000;

/// The most numbers that a case is drawn from; a rich one needs about so many.
const NUMBERS_MAX: usize = 2000;

/// How many cases a defect may survive.
const SEEDS: u64 = 300;

/// Tries a law on the planner. The cases are the same every time.
fn hold(law: impl Fn(&mut Planning<'_>, &Case) -> Result<(), String>) {
    let config = Config {
        cases: CASES,
        max_shrink_iters: 20_000,
        failure_persistence: None,
        ..Config::default()
    };
    let dice = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let numbers = vec(any::<u32>(), 0..NUMBERS_MAX);
    let outcome = TestRunner::new_with_rng(config, dice).run(&numbers, |numbers| {
        let case = Case::draw(&mut Dice::new(numbers));
        law(&mut planner::plan, &case).map_err(TestCaseError::fail)
    });
    match outcome {
        Err(TestError::Fail(how, numbers)) => {
            panic!("{how}\nof {:#?}", Case::draw(&mut Dice::new(numbers)))
        }
        Err(TestError::Abort(why)) => panic!("{why}"),
        Ok(()) => {}
    }
}

/// Looks for a case in which the law catches the defect.
fn is_caught(law: Law, defect: fn() -> Box<Planning<'static>>) {
    // A planner that trips over its defect itself is caught too: some take off more than is held.
    let catches = |seed| {
        let planning =
            AssertUnwindSafe(|| law(&mut *defect(), &Case::draw(&mut Dice::of_seed(seed))));
        catch_unwind(planning).map_or(true, |held| held.is_err())
    };
    assert!((0..SEEDS).any(catches), "no case shows the defect");
}

#[test]
fn the_cases_show_every_reason_and_constraint() {
    let mut constraints = BTreeSet::new();
    let (mut starts, mut stops, mut patience, mut effort, mut batch) = (0, 0, 0, 0, 0);
    let (mut gangs, mut recalled, mut rounds) = (0, 0, 0);
    let (mut fetched, mut locality) = (0, 0);
    for seed in 0..8000 {
        let case = Case::draw(&mut Dice::of_seed(seed));
        let snapshot = law::build(case.parts);
        let decision =
            planner::plan(&snapshot, &case.policy, case.effort, &mut planner::Scratch::default());
        starts += decision.plan.placements.len();
        fetched += fetches(&snapshot, &decision);
        stops += decision.plan.stops.len();
        for waiting in &decision.explanation.waiting {
            match &*waiting.reason {
                Reason::Patience(_) => patience += 1,
                Reason::Effort => effort += 1,
                Reason::Batch(_) => batch += 1,
                Reason::Gang(_) => gangs += 1,
                Reason::Recalled => recalled += 1,
                Reason::Locality(_) => locality += 1,
                Reason::Round(_) => rounds += 1,
                Reason::NoRoom(tallies) => {
                    let fell_out = tallies.iter().flat_map(|tally| tally.fell_out.iter());
                    constraints.extend(fell_out.map(|one| one.constraint));
                }
            }
        }
    }
    println!(
        "{starts} starts, {stops} stops, {patience} patient, {effort} out of effort, {batch} batched"
    );
    println!("{fetched} fetch their inputs, {locality} wait for them");
    assert!(rounds > 500, "{rounds} wait for a round");
    assert!(fetched > 300 && locality > 12);
    assert!(starts > 1000 && stops > 100 && patience > 10 && effort > 100 && batch > 50);
    assert!(gangs > 50 && recalled > 50, "{gangs} gangs without room, {recalled} recalled");
    // Every one but those of the kinds that no case asks for.
    assert_eq!(constraints.len(), 26 + 3, "{constraints:?}");
}

/// How many placements take longer than their work at their rate.
fn fetches(snapshot: &Snapshot, decision: &Decision) -> usize {
    let fetches = |placement: &&Placement| {
        let work = snapshot.backlog[&placement.run.job].job.work;
        placement.duration > work.and_then(|work| work.duration(placement.rate))
    };
    decision.plan.placements.iter().filter(fetches).count()
}

#[test]
fn equal_in_equal_bytes_out() {
    hold(law::equal_in_equal_bytes_out);
    is_caught(law::equal_in_equal_bytes_out, defect::depends_on_a_counter);
}

#[test]
fn marks_change_nothing() {
    hold(law::marks_change_nothing);
    is_caught(law::marks_change_nothing, defect::depends_on_a_counter);
}

#[test]
fn shuffled_input_same_plan() {
    hold(|planning, case| law::shuffled_input_same_plan(&mut law::build, planning, case));
    let broken: Law = |planning, case| {
        law::shuffled_input_same_plan(&mut defect::builds_by_position, planning, case)
    };
    is_caught(broken, || Box::new(planner::plan));
}

#[test]
fn plan_apply_plan_again_gives_no_orders() {
    hold(law::plan_apply_plan_again_gives_no_orders);
    is_caught(law::plan_apply_plan_again_gives_no_orders, defect::places_again_what_was_ordered);
}

#[test]
fn check_finds_nothing() {
    hold(law::check_finds_nothing);
    is_caught(law::check_finds_nothing, defect::oversubscribes);
}

#[test]
fn every_waiting_job_has_a_true_reason() {
    hold(law::every_waiting_job_has_a_true_reason);
    is_caught(law::every_waiting_job_has_a_true_reason, defect::gives_a_false_reason);
    is_caught(law::every_waiting_job_has_a_true_reason, defect::forgets_a_waiting_job);
}

#[test]
fn steps_stay_within_effort_and_the_plan_is_valid() {
    hold(law::steps_stay_within_effort_and_the_plan_is_valid);
    is_caught(law::steps_stay_within_effort_and_the_plan_is_valid, defect::ignores_effort);
}

#[test]
fn little_effort_finds_the_beginning_of_the_whole_plan() {
    hold(law::little_effort_finds_the_beginning_of_the_whole_plan);
    is_caught(
        law::little_effort_finds_the_beginning_of_the_whole_plan,
        defect::starts_at_the_end_when_effort_is_short,
    );
}

#[test]
fn a_warm_scratch_changes_nothing() {
    hold(law::a_warm_scratch_changes_nothing);
    is_caught(law::a_warm_scratch_changes_nothing, defect::keeps_a_stale_cache);
}

#[test]
fn the_unit_of_time_changes_no_choice() {
    hold(law::the_unit_of_time_changes_no_choice);
    is_caught(law::the_unit_of_time_changes_no_choice, defect::thinks_in_seconds);
}
