//! Deltas equal full: a planner that looks only at what changed decides as one that looks at
//! everything.
//!
//! A ledger of a random small fleet is driven through random turns (arrivals,
//! completions, lost and returning nodes, refusals), sometimes with an effort
//! too small for its queue. Each sealed snapshot must be the one that its
//! own parts make, and must be planned alike with the scratch of the turn
//! before and with none.

mod draw;
mod world;

use std::collections::BTreeMap;
use std::sync::Arc;

use controller::{Drift, Ledger, Request, turn};
use fleet::snapshot::Parts;
use fleet::{
    Changes, Decision, Dependency, Ending, Job, JobId, NodeId, Observation, Policy, Reason,
    Restart, Serial, Snapshot, Time,
};
use planner::{Effort, Scratch, plan};
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

use draw::Dice;
use world::{World, first_sight};

type Planning<'a> = dyn FnMut(&Snapshot, &Policy, Effort, &mut Scratch) -> Decision + 'a;

/// What was met on the way.
#[derive(Default)]
struct Met {
    drifts: Vec<Drift>,
    /// Plans whose effort ran out, and plans that came to jobs that others had left.
    out_of_effort: u32,
    later_rounds: u32,
}

/// Drives a ledger through as many turns as the dice last, and compares at every turn. Says what
/// was met.
fn deltas_equal_full(planning: &mut Planning<'_>, mut dice: Dice) -> Result<Met, String> {
    let parts = draw::parts(&mut dice);
    let classes = Arc::new(parts.classes.clone());
    let jobs: Vec<Job> = parts.backlog.iter().map(|waiting| (*waiting.job).clone()).collect();
    let (policy, effort) = (draw::policy(&mut dice), draw::effort(&mut dice));
    let mut world = World {
        nodes: parts.nodes.clone(),
        runs: BTreeMap::new(),
        receipts: Vec::new(),
        told: Vec::new(),
        at: Time::seconds(1),
    };
    let (mut ledger, mut warm) = (Ledger::new(), Scratch::default());
    let mut observation = first_sight(&parts, &classes, world.at);
    let (mut arrived, mut met) = (0, Met::default());
    let mut before: Option<Snapshot> = None;
    while dice.has_more() {
        let known = arrived;
        let arrivals = (0..dice.below(3)).map(|_| {
            let job = jobs[dice.below(jobs.len())].clone();
            arrived += 1;
            let (id, arrival) = (JobId(arrived), world.at);
            let restart =
                Restart { retries: u32::from(arrived % 2 == 1), requeue: arrived % 3 > 0 };
            let other = Dependency { job: JobId(arrived / 2), ending: Ending::Any };
            let after = if arrived % 5 == 4 { vec![other] } else { Vec::new() };
            Request::Submit(Arc::new(Job { id, arrival, restart, after, ..job }))
        });
        let mut requests: Vec<_> = arrivals.collect();
        let change = draw::change(&mut dice, known, parts.nodes.len());
        let undoes = change.is_some();
        requests.extend(change);
        let twin = (dice.below(4) == 3).then(|| stored_and_read(&ledger)).transpose()?;
        let mut outcome = Ok(());
        let mut watched = |snapshot: &Snapshot, policy: &Policy, effort: Effort| {
            let (decision, agrees) = compare(planning, snapshot, (policy, effort), &mut warm);
            // What a request undoes of what was seen in the same turn may still be called new.
            let before_it =
                before.as_ref().filter(|_| !undoes || snapshot.changed != snapshot.serial);
            outcome = agrees.and_then(|()| says_what_is_new(before_it, snapshot));
            before = Some(snapshot.clone());
            met.later_rounds += u32::from(!snapshot.memory.unseen.is_empty());
            decision
        };
        let turn = turn(&mut ledger, &observation, requests.clone(), &policy, effort, &mut watched);
        outcome?;
        let sealed = before.as_ref().expect("a turn seals");
        if let Some(mut twin) = twin {
            follows(&mut twin, &observation, requests, sealed, &turn.decision)?;
            same_image(&ledger, &twin)?;
        }
        adds_up(&ledger)?;
        met.count(&turn.decision);
        met.drifts.extend(turn.drifts);
        world.told = turn.orders;
        observation = world.observe(&classes, &mut dice);
    }
    Ok(met)
}

/// The ledger that comes back from where this one was stored.
fn stored_and_read(ledger: &Ledger) -> Result<Ledger, String> {
    let text = serde_json::to_string(&ledger.image()).map_err(|error| error.to_string())?;
    let image = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    Ok(Ledger::of_image(image)?)
}

/// A ledger that was stored and read seals what the other did, and is told what was decided.
fn follows(
    twin: &mut Ledger,
    observation: &Observation,
    requests: Vec<Request>,
    sealed: &Snapshot,
    decision: &Decision,
) -> Result<(), String> {
    let mut seen = None;
    let mut told = |snapshot: &Snapshot, _: &Policy, _: Effort| {
        seen = Some(Snapshot { changes: sealed.changes.clone(), ..snapshot.clone() });
        decision.clone()
    };
    turn(
        twin,
        observation,
        requests,
        &draw::policy(&mut Dice(Vec::new().into_iter())),
        Effort::DEFAULT,
        &mut told,
    );
    match seen.as_ref() == Some(sealed) {
        true => Ok(()),
        false => Err(format!("what was stored seals\n{seen:#?}\nand not\n{sealed:#?}")),
    }
}

fn same_image(one: &Ledger, other: &Ledger) -> Result<(), String> {
    let [one, other] = [one, other].map(|ledger| serde_json::to_string(&ledger.image()));
    match (one, other) {
        (Ok(one), Ok(other)) if one == other => Ok(()),
        (one, other) => Err(format!("stored as\n{one:?}\nand its twin as\n{other:?}")),
    }
}

impl Met {
    fn count(&mut self, decision: &Decision) {
        let waiting = &decision.explanation.waiting;
        let ran_out = waiting.iter().any(|waiting| *waiting.reason == Reason::Effort);
        self.out_of_effort += u32::from(ran_out);
    }
}

/// Every task of every job waits, runs, is done or was cancelled.
fn adds_up(ledger: &Ledger) -> Result<(), String> {
    for job in ledger.jobs() {
        let tally = ledger.tally(job.id).expect("a job of the ledger");
        if tally.waiting + tally.running + tally.done + tally.failed + tally.cancelled != job.tasks
        {
            return Err(format!("{tally:?} of {} tasks", job.tasks));
        }
    }
    Ok(())
}

/// Everything but time and memory is the same as before, or was new in this snapshot.
fn says_what_is_new(before: Option<&Snapshot>, now: &Snapshot) -> Result<(), String> {
    let expected = match before {
        Some(before) if is_same(before, now) => before.changed,
        _ => now.serial,
    };
    if now.changed == expected {
        return Ok(());
    }
    Err(format!("{} is said to be new since {}, not {expected}", now.serial, now.changed))
}

fn is_same(before: &Snapshot, now: &Snapshot) -> bool {
    let Snapshot { serial, at, memory, changes, changed, .. } = now.clone();
    Snapshot { serial, at, memory, changes, changed, ..before.clone() } == *now
}

/// Plans with the warm scratch and with none, from deltas and from everything.
fn compare(
    planning: &mut Planning<'_>,
    snapshot: &Snapshot,
    (policy, effort): (&Policy, Effort),
    warm: &mut Scratch,
) -> (Decision, Result<(), String>) {
    let full = Snapshot { changes: Changes::default(), ..snapshot.clone() };
    let by_deltas = planning(snapshot, policy, effort, warm);
    let by_full = plan(&full, policy, effort, &mut Scratch::default());
    let agrees = if rebuilt(snapshot) != full {
        Err(format!("{snapshot:#?} is not what its parts make"))
    } else if by_deltas != by_full {
        Err(format!("deltas give\n{by_deltas:?}\nand everything gives\n{by_full:?}"))
    } else {
        Ok(())
    };
    (by_full, agrees)
}

/// The snapshot that the parts of this one make. Parts do not say when something was new last.
fn rebuilt(snapshot: &Snapshot) -> Snapshot {
    let nodes = snapshot.nodes.iter().map(|entry| ((*entry.node).clone(), entry.up));
    let built = Snapshot::build(Parts {
        serial: snapshot.serial,
        at: snapshot.at,
        classes: (*snapshot.classes).clone(),
        nodes: nodes.collect(),
        backlog: snapshot.backlog.values().map(|waiting| (**waiting).clone()).collect(),
        runs: snapshot.runs.values().map(|run| (**run).clone()).collect(),
        mix: (*snapshot.mix).clone(),
        catalogue: (*snapshot.catalogue).clone(),
        signals: (*snapshot.signals).clone(),
        jobs: snapshot.jobs.values().cloned().collect(),
        progress: (*snapshot.progress).clone(),
        memory: snapshot.memory.clone(),
    })
    .expect("what a ledger seals fits together");
    Snapshot { changed: snapshot.changed, ..built }
}

/// Believes that nothing changed on the nodes since the snapshot before.
fn ignores_changes() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, effort, scratch| {
        let since = snapshot.changes.since;
        let changes = Changes { since, nodes: Vec::new() };
        let wrong = Snapshot { changes, ..snapshot.clone() };
        plan(&wrong, policy, effort, scratch)
    })
}

/// Overlooks one node in every list of changes.
fn overlooks_the_last_change() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, effort, scratch| {
        let mut wrong = snapshot.clone();
        wrong.changes.nodes.pop();
        plan(&wrong, policy, effort, scratch)
    })
}

/// Takes every snapshot for the successor of the one before, also a whole one.
fn trusts_every_serial() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, effort, scratch| {
        let mut wrong = snapshot.clone();
        wrong.changes.since = Some(Serial(snapshot.serial.0 - 1));
        wrong.changes.nodes.retain(|node| *node != NodeId(0));
        plan(&wrong, policy, effort, scratch)
    })
}

/// Numbers of a seed, by Knuth's linear congruential generator.
fn seeded(seed: u64) -> Dice {
    let mut state = seed;
    let number = |_| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        u32::try_from(state >> 33).expect("31 bits")
    };
    Dice((0..260).map(number).collect::<Vec<_>>().into_iter())
}

#[test]
fn planning_from_deltas_equals_planning_from_everything() {
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let dice = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let numbers = vec(any::<u32>(), 0..600);
    let outcome = TestRunner::new_with_rng(config, dice).run(&numbers, |numbers| {
        let driven = deltas_equal_full(&mut plan, Dice(numbers.into_iter()));
        driven.map(|_| ()).map_err(TestCaseError::fail)
    });
    match outcome {
        Err(TestError::Fail(how, numbers)) => panic!("{how}\nwith {numbers:?}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
        Ok(()) => {}
    }
}

#[test]
fn the_turns_show_runs_that_come_back_and_efforts_that_run_out() {
    let (mut drifts, mut out_of_effort, mut later_rounds) = (Vec::new(), 0, 0);
    for seed in 0..100 {
        let met = deltas_equal_full(&mut plan, seeded(seed)).unwrap();
        drifts.extend(met.drifts);
        out_of_effort += met.out_of_effort;
        later_rounds += met.later_rounds;
    }
    let is_stray = |drift: &&Drift| matches!(drift, Drift::Stray(..));
    let is_recovered = |drift: &&Drift| matches!(drift, Drift::Recovered(..));
    assert!(drifts.iter().filter(is_stray).count() > 20);
    assert!(drifts.iter().filter(is_recovered).count() > 5);
    assert!(out_of_effort > 100 && later_rounds > 100, "{out_of_effort}, {later_rounds}");
}

#[test]
fn a_planner_that_ignores_changes_is_caught() {
    for defect in [ignores_changes, overlooks_the_last_change, trusts_every_serial] {
        let catches = |seed| deltas_equal_full(&mut *defect(), seeded(seed)).is_err();
        assert!((0..100).any(catches), "no case shows the defect");
    }
}
