//! The laws of planning, each a function of a planner and a case.
//!
//! A law takes the planning function as an argument, so that it can be asked
//! of the planner and of a defective one alike.

use std::sync::Arc;

use fleet::check::{check, check_reasons};
use fleet::snapshot::{Allotment, Parts, Waiting};
use fleet::{
    Attempt, Bandwidth, Decision, Generation, Job, Millijoules, Phase, Plan, Policy, Reason, Run,
    Serial, Snapshot, Span, Stage, StopCause, TaskIndex, Time, Work, sketch,
};
use planner::{Effort, Scratch};

use crate::case::Case;
use crate::dice::Dice;

/// A planner, or what pretends to be one.
pub(crate) type Planning<'a> = dyn FnMut(&Snapshot, &Policy, Effort, &mut Scratch) -> Decision + 'a;

/// What makes a snapshot from parts.
pub(crate) type Building<'a> = dyn FnMut(Parts) -> Snapshot + 'a;

/// A law: nothing, or how it is broken.
pub(crate) type Law = fn(&mut Planning<'_>, &Case) -> Result<(), String>;

pub(crate) fn build(parts: Parts) -> Snapshot {
    Snapshot::build(parts).expect("drawn parts fit together")
}

/// Plans with a scratch that has planned nothing.
fn cold(planning: &mut Planning<'_>, snapshot: &Snapshot, case: &Case) -> Decision {
    planning(snapshot, &case.policy, case.effort, &mut Scratch::default())
}

pub(crate) fn equal_in_equal_bytes_out(
    planning: &mut Planning<'_>,
    case: &Case,
) -> Result<(), String> {
    let mut bytes = || {
        let decision = cold(planning, &build(case.parts.clone()), case);
        serde_json::to_string(&decision).expect("a decision can be written")
    };
    same("the second run", bytes(), bytes())
}

/// Marks are in order, and who listens to them changes nothing.
pub(crate) fn marks_change_nothing(planning: &mut Planning<'_>, case: &Case) -> Result<(), String> {
    let snapshot = build(case.parts.clone());
    let mut marks = Vec::new();
    let mut scratch = Scratch::default();
    let marked =
        planner::plan_marked(&snapshot, &case.policy, case.effort, &mut scratch, &mut |phase| {
            marks.push(phase)
        });
    let text = |decision: &_| serde_json::to_string(decision).expect("a decision can be written");
    same("what is marked", text(&cold(planning, &snapshot, case)), text(&marked))?;
    // To match and to decide take turns, and every weighing of one task is a match.
    let takes_turns = marks.windows(2).all(|two| two[0] != two[1]);
    let placed_alone = |placed: &&fleet::Placement| {
        snapshot.backlog.get(&placed.run.job).is_some_and(|one| one.job.gang.is_none())
    };
    let weighed = marked.plan.placements.iter().filter(placed_alone).count();
    match (marks.first(), marks.last()) {
        (Some(Phase::Match), Some(Phase::Decide)) if takes_turns && marks.len() >= 2 * weighed => {
            Ok(())
        }
        _ => Err(format!("{weighed} placements have the marks {marks:?}")),
    }
}

pub(crate) fn shuffled_input_same_plan(
    building: &mut Building<'_>,
    planning: &mut Planning<'_>,
    case: &Case,
) -> Result<(), String> {
    let mut dice = Dice::of_seed(case.seed);
    let mut shuffled = case.parts.clone();
    dice.shuffle(&mut shuffled.nodes);
    dice.shuffle(&mut shuffled.backlog);
    dice.shuffle(&mut shuffled.runs);
    let one = cold(planning, &building(case.parts.clone()), case);
    let other = cold(planning, &building(shuffled), case);
    same("the shuffled input", one, other)
}

pub(crate) fn plan_apply_plan_again_gives_no_orders(
    planning: &mut Planning<'_>,
    case: &Case,
) -> Result<(), String> {
    let snapshot = build(case.parts.clone());
    let decision = cold(planning, &snapshot, case);
    let ran_out = |reason: &Reason| matches!(reason, Reason::Effort);
    if decision.explanation.waiting.iter().any(|waiting| ran_out(&waiting.reason)) {
        return Ok(());
    }
    // What was granted and found no room is for others, in the plan that comes at once.
    let is_unfinished = |allotment: &Arc<Allotment>| allotment.is_unfinished;
    if decision.plan.memory.allotment.as_ref().is_some_and(is_unfinished) {
        return Ok(());
    }
    let Ok(next) = Snapshot::build(apply(&case.parts, &decision.plan)) else {
        return Err("the plan cannot be carried out".to_owned());
    };
    let again = cold(planning, &next, case).plan;
    if again.placements.is_empty() && again.stops.is_empty() {
        Ok(())
    } else {
        Err(format!("planning again gives\n{}", sketch::plan_text(&next, &again)))
    }
}

pub(crate) fn check_finds_nothing(planning: &mut Planning<'_>, case: &Case) -> Result<(), String> {
    let snapshot = build(case.parts.clone());
    none(&check(&snapshot, &cold(planning, &snapshot, case)))
}

pub(crate) fn every_waiting_job_has_a_true_reason(
    planning: &mut Planning<'_>,
    case: &Case,
) -> Result<(), String> {
    let snapshot = build(case.parts.clone());
    let decision = cold(planning, &snapshot, case);
    let mut left: Vec<_> =
        snapshot.backlog.values().map(|waiting| (waiting.job.id, waiting.count())).collect();
    for placement in &decision.plan.placements {
        let of_job = |left: &&mut (fleet::JobId, u32)| left.0 == placement.run.job;
        left.iter_mut().find(of_job).ok_or("a job is started that does not wait")?.1 -= 1;
    }
    left.retain(|(_, tasks)| *tasks > 0);
    let told = decision.explanation.waiting.iter().map(|waiting| (waiting.job, waiting.tasks));
    same("the explanation", left, told.collect())?;
    none(&check_reasons(&snapshot, &decision))
}

pub(crate) fn steps_stay_within_effort_and_the_plan_is_valid(
    planning: &mut Planning<'_>,
    case: &Case,
) -> Result<(), String> {
    let snapshot = build(case.parts.clone());
    for steps in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, case.effort.steps] {
        let effort = Effort { steps, ..Effort::DEFAULT };
        let decision = planning(&snapshot, &case.policy, effort, &mut Scratch::default());
        if decision.explanation.steps > steps {
            return Err(format!("{} steps of {steps}", decision.explanation.steps));
        }
        none(&check(&snapshot, &decision))?;
        none(&check_reasons(&snapshot, &decision))?;
    }
    Ok(())
}

pub(crate) fn little_effort_finds_the_beginning_of_the_whole_plan(
    planning: &mut Planning<'_>,
    case: &Case,
) -> Result<(), String> {
    // Looking ahead, and to divide well, is for those who can afford it: with less effort the order
    // is another one.
    let policy = Policy { batch: None, allocate: None, ..case.policy.clone() };
    let snapshot = build(case.parts.clone());
    let mut placements = |steps| {
        let effort = Effort { steps, ..Effort::DEFAULT };
        planning(&snapshot, &policy, effort, &mut Scratch::default()).plan.placements
    };
    let whole = placements(u64::MAX);
    for steps in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55] {
        let some = placements(steps);
        let beginning = whole[..some.len().min(whole.len())].to_vec();
        same("the plan of little effort", beginning, some)?;
    }
    Ok(())
}

pub(crate) fn a_warm_scratch_changes_nothing(
    planning: &mut Planning<'_>,
    case: &Case,
) -> Result<(), String> {
    let snapshot = build(case.parts.clone());
    let from_cold = cold(planning, &snapshot, case);
    let mut scratch = Scratch::default();
    for parts in &case.earlier {
        let _ = planning(&build(parts.clone()), &case.policy, case.effort, &mut scratch);
        let warm = planning(&snapshot, &case.policy, case.effort, &mut scratch);
        same("the warm scratch", from_cold.clone(), warm)?;
    }
    Ok(())
}

pub(crate) fn the_unit_of_time_changes_no_choice(
    planning: &mut Planning<'_>,
    case: &Case,
) -> Result<(), String> {
    if case.policy.allocate.is_some() {
        // Rounds, and the hour against which a lack is held, are times of their own.
        return Ok(());
    }
    let scaled = in_hours(case);
    let seconds = cold(planning, &build(case.parts.clone()), case);
    let hours = cold(planning, &build(scaled.parts.clone()), &scaled);
    let choices = |decision: &Decision| {
        let placements = decision.plan.placements.iter().map(|placement| {
            let grant = placement.grant.clone();
            (placement.run, placement.alternative, placement.node, placement.class, grant)
        });
        let waiting =
            decision.explanation.waiting.iter().map(|waiting| {
                (waiting.job, waiting.tasks, std::mem::discriminant(&*waiting.reason))
            });
        (placements.collect::<Vec<_>>(), decision.plan.stops.clone(), waiting.collect::<Vec<_>>())
    };
    same("another unit of time", choices(&seconds), choices(&hours))
}

/// The parts of the next turn, in which the plan was ordered and nothing else happened.
fn apply(parts: &Parts, plan: &Plan) -> Parts {
    let mut next = parts.clone();
    next.serial = Serial(parts.serial.0 + 1);
    next.memory = plan.memory.clone();
    for stop in &plan.stops {
        for run in next.runs.iter_mut().filter(|run| run.id() == stop.run) {
            run.stage = match stop.cause {
                StopCause::Gang | StopCause::Round => Stage::Recalled,
                StopCause::Stray | StopCause::Cancelled => Stage::Stopping,
            };
        }
    }
    for placement in &plan.placements {
        let run = placement.run;
        let of_job = |waiting: &&mut Waiting| waiting.job.id == run.job;
        let Some(waiting) = next.backlog.iter_mut().find(of_job) else { continue };
        if waiting.again.remove(&run.task).is_none() && waiting.fresh.contains(&run.task.0) {
            for task in waiting.fresh.start..run.task.0 {
                waiting.again.insert(TaskIndex(task), Attempt(0));
            }
            waiting.fresh.start = run.task.0 + 1;
        }
        let tenant = waiting.job.tenant.clone();
        let (placement, since, generation) = (placement.clone(), parts.at, Generation(9));
        next.runs.push(Run { placement, tenant, stage: Stage::Ordered, since, generation });
    }
    next.backlog.retain(|waiting| waiting.count() > 0);
    next
}

/// The same case where what took a second takes an hour.
fn in_hours(case: &Case) -> Case {
    const SECONDS: u64 = 3600;
    let mut case = case.clone();
    case.parts.at = Time(case.parts.at.0 * SECONDS);
    for run in &mut case.parts.runs {
        run.since = Time(run.since.0 * SECONDS);
        let duration = &mut run.placement.duration;
        *duration = duration.map(|span| Span(span.0 * SECONDS));
    }
    for waiting in &mut case.parts.backlog {
        let job = &*waiting.job;
        waiting.job = Arc::new(Job {
            arrival: Time(job.arrival.0 * SECONDS),
            work: job.work.map(|work| Work(work.0 * SECONDS)),
            deadline: job.deadline.map(|deadline| Time(deadline.0 * SECONDS)),
            ..job.clone()
        });
    }
    for (node, _) in &mut case.parts.nodes {
        node.network = Bandwidth(node.network.0 / SECONDS);
    }
    let released = &mut case.parts.memory.released;
    *released = released.map(|then| Time(then.0 * SECONDS));
    if let Some(batch) = &mut case.policy.batch {
        batch.max_delay = Span(batch.max_delay.0 * SECONDS);
    }
    let scale = &mut case.policy.scale;
    scale.completion = Span(scale.completion.0 * SECONDS);
    scale.interference = Span(scale.interference.0 * SECONDS);
    scale.energy = Millijoules(scale.energy.0 * u128::from(SECONDS));
    case
}

fn none(faults: &[fleet::check::Fault]) -> Result<(), String> {
    match faults.first() {
        None => Ok(()),
        Some(first) => Err(format!("{} faults; the first: {first}: {first:?}", faults.len())),
    }
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: T, found: T) -> Result<(), String> {
    if expected == found {
        return Ok(());
    }
    Err(format!("{what} gives\n{found:?}\ninstead of\n{expected:?}"))
}
