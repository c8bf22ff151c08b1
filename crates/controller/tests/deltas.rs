//! Deltas equal full: a planner that looks only at what changed decides as one that looks at
//! everything.
//!
//! A ledger is driven through random turns (arrivals, completions, lost and
//! returning nodes, refusals). Each sealed snapshot must be the one that its
//! own parts make, and must be planned alike with the scratch of the turn
//! before and with none.

use std::collections::BTreeMap;
use std::sync::Arc;

use controller::{Drift, Ledger, Request, turn};
use fleet::policy::{ByUtilisation, Objective, OrderKey, Pick, Scale, Weighting};
use fleet::snapshot::Parts;
use fleet::{
    Action, Changes, Classes, Decision, Extent, Job, JobId, Micro, Milli, Millijoules, Node,
    NodeId, NodeSight, Observation, Order, Outcome, Policy, Receipt, Refusal, RunId, RunSight,
    RunState, Serial, Snapshot, Span, Time, sketch,
};
use planner::{Effort, Scratch};
use proptest::collection::vec;
use proptest::prelude::any;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseError, TestError, TestRng, TestRunner};

const SKETCH: &str = "
    class epyc cpu
    class arm cpu
    class t4 gpu mem=16Gi share=milli idle=10W busy=70W
    class a100 gpu mem=40Gi share=milli idle=50W busy=400W
    class h100 gpu mem=80Gi idle=60W busy=700W
    node cpu cores=8 mem=32Gi cpu=arm idle=50W busy=200W x2
    node old cores=8 mem=64Gi idle=100W busy=300W dev=t4*4 x2
    node new cores=16 mem=64Gi idle=100W busy=300W dev=a100*2,h100*2 x2
    job a work=40 cores=1 gpu=1 share=0.5 devmem=8Gi rate.t4=1 rate.a100=4
    job b work=80 tasks=3 tenant=ml cores=2 gpu=1 rate.h100=8 rate.a100=4 rate.t4=1
      or cores=8 rate.epyc=0.5 rate.arm=0.25
    job c work=20 prio=3 cores=4 mem=4Gi
    job d tasks=5 tenant=web cores=1
    job e work=60 gpu=2 cores=2 tenant=ml deadline=2m
";

type Planning<'a> = dyn FnMut(&Snapshot, &Policy, &mut Scratch) -> Decision + 'a;

/// Numbers that steer the turns; zero where they have ended.
struct Dice(std::vec::IntoIter<u32>);

impl Dice {
    fn below(&mut self, count: usize) -> usize {
        self.0.next().unwrap_or(0) as usize % count.max(1)
    }
}

/// A world that does what it is told, and what the dice say.
struct World {
    nodes: Vec<(Node, bool)>,
    runs: BTreeMap<RunId, RunSight>,
    receipts: Vec<Receipt>,
    told: Vec<Order>,
    at: Time,
}

impl World {
    /// The next observation: what became of the orders, then what happened.
    fn observe(&mut self, classes: &Arc<Classes>, dice: &mut Dice) -> Observation {
        self.at = self.at.after(Span::seconds(dice.below(30) as u64));
        let mut seen = Vec::new();
        for order in std::mem::take(&mut self.told) {
            self.carry_out(&order, dice.below(8) == 7, &mut seen);
        }
        if dice.below(2) == 1
            && let Some(sight) = self.end_one(dice)
        {
            seen.push(sight);
        }
        let nodes = self.lose_or_return(&mut seen, dice);
        let receipts = std::mem::take(&mut self.receipts);
        let (at, classes) = (self.at, Arc::clone(classes));
        let runs = self.visible(seen);
        Observation { at, extent: Extent::Changes, classes, nodes, runs, receipts }
    }

    fn carry_out(&mut self, order: &Order, refuses: bool, seen: &mut Vec<RunSight>) {
        let (run, generation) = (order.run, order.generation);
        let known = self.runs.contains_key(&run);
        let outcome = match &order.action {
            Action::Start { .. } if refuses => Outcome::Refused(Refusal::Engine),
            Action::Start { placement, .. } => {
                let (node, grant) = (placement.node, placement.grant.clone());
                let sight = RunSight { run, node, grant, state: RunState::Running(self.at) };
                self.runs.insert(run, sight.clone());
                seen.push(sight);
                Outcome::Accepted
            }
            Action::Stop(_) if !known => Outcome::Refused(Refusal::UnknownRun),
            Action::Stop(_) => {
                seen.extend(self.end(run, RunState::Stopped(self.at)));
                Outcome::Accepted
            }
        };
        self.receipts.push(Receipt { run, generation, outcome });
    }

    fn end_one(&mut self, dice: &mut Dice) -> Option<RunSight> {
        let run = *self.runs.keys().nth(dice.below(self.runs.len()))?;
        self.end(run, RunState::Done(self.at))
    }

    fn end(&mut self, run: RunId, state: RunState) -> Option<RunSight> {
        let sight = self.runs.get(&run)?;
        let is_up = self.nodes[sight.node.index()].1;
        // What ends out of sight is not there when its node is back.
        let sight = self.runs.remove(&run)?;
        is_up.then_some(RunSight { state, ..sight })
    }

    fn lose_or_return(&mut self, seen: &mut Vec<RunSight>, dice: &mut Dice) -> Vec<NodeSight> {
        if dice.below(3) != 2 {
            return Vec::new();
        }
        let id = dice.below(self.nodes.len());
        let (node, up) = &mut self.nodes[id];
        *up = !*up;
        if !*up {
            return vec![NodeSight::Lost(node.id)];
        }
        seen.extend(self.runs.values().filter(|sight| sight.node == node.id).cloned());
        vec![NodeSight::Up(Arc::new(node.clone()))]
    }

    /// What is seen of runs: nothing on nodes that are lost.
    fn visible(&self, mut seen: Vec<RunSight>) -> Vec<RunSight> {
        seen.retain(|sight| self.nodes[sight.node.index()].1);
        seen
    }
}

/// Everything at the start: every node up, nothing running.
fn first_sight(parts: &Parts, classes: &Arc<Classes>, at: Time) -> Observation {
    let up = |(node, _): &(Node, bool)| NodeSight::Up(Arc::new(node.clone()));
    let (extent, classes) = (Extent::Full, Arc::clone(classes));
    let nodes = parts.nodes.iter().map(up).collect();
    Observation { at, extent, classes, nodes, runs: Vec::new(), receipts: Vec::new() }
}

/// Drives a ledger through as many turns as the dice last, and compares at every turn. Says which
/// drifts there were.
fn deltas_equal_full(planning: &mut Planning<'_>, mut dice: Dice) -> Result<Vec<Drift>, String> {
    let parts = sketch::parts(SKETCH).expect("the sketch can be read");
    let classes = Arc::new(parts.classes.clone());
    let jobs: Vec<Job> = parts.backlog.iter().map(|waiting| (*waiting.job).clone()).collect();
    let policy = policy(&mut dice);
    let mut world = World {
        nodes: parts.nodes.clone(),
        runs: BTreeMap::new(),
        receipts: Vec::new(),
        told: Vec::new(),
        at: Time::seconds(1),
    };
    let (mut ledger, mut warm) = (Ledger::new(), Scratch::default());
    let mut observation = first_sight(&parts, &classes, world.at);
    let (mut arrived, mut drifts) = (0, Vec::new());
    while dice.0.len() > 0 {
        let arrivals = (0..dice.below(3)).map(|_| {
            let job = jobs[dice.below(jobs.len())].clone();
            arrived += 1;
            let (id, arrival) = (JobId(arrived), world.at);
            Request::Submit(Arc::new(Job { id, arrival, ..job }))
        });
        let requests = arrivals.collect();
        let mut outcome = Ok(());
        let mut watched = |snapshot: &Snapshot, policy: &Policy, _: Effort| {
            let (decision, agrees) = compare(planning, snapshot, policy, &mut warm);
            outcome = agrees;
            decision
        };
        let turn =
            turn(&mut ledger, &observation, requests, &policy, Effort::DEFAULT, &mut watched);
        outcome?;
        adds_up(&ledger)?;
        drifts.extend(turn.drifts);
        world.told = turn.orders;
        observation = world.observe(&classes, &mut dice);
    }
    Ok(drifts)
}

/// Every task of every job waits, runs, is done or was cancelled.
fn adds_up(ledger: &Ledger) -> Result<(), String> {
    for job in ledger.jobs() {
        let tally = ledger.tally(job.id).expect("a job of the ledger");
        if tally.waiting + tally.running + tally.done + tally.cancelled != job.tasks {
            return Err(format!("{tally:?} of {} tasks", job.tasks));
        }
    }
    Ok(())
}

/// Plans with the warm scratch and with none, from deltas and from everything.
fn compare(
    planning: &mut Planning<'_>,
    snapshot: &Snapshot,
    policy: &Policy,
    warm: &mut Scratch,
) -> (Decision, Result<(), String>) {
    let full = Snapshot { changes: Changes::default(), ..snapshot.clone() };
    let by_deltas = planning(snapshot, policy, warm);
    let by_full = plan(&full, policy, &mut Scratch::default());
    let agrees = if rebuilt(snapshot) != full {
        Err(format!("{snapshot:#?} is not what its parts make"))
    } else if by_deltas != by_full {
        Err(format!("deltas give\n{by_deltas:?}\nand everything gives\n{by_full:?}"))
    } else {
        Ok(())
    };
    (by_full, agrees)
}

/// The snapshot that the parts of this one make.
fn rebuilt(snapshot: &Snapshot) -> Snapshot {
    let nodes = snapshot.nodes.iter().map(|entry| ((*entry.node).clone(), entry.up));
    Snapshot::build(Parts {
        serial: snapshot.serial,
        at: snapshot.at,
        classes: (*snapshot.classes).clone(),
        nodes: nodes.collect(),
        backlog: snapshot.backlog.values().map(|waiting| (**waiting).clone()).collect(),
        runs: snapshot.runs.values().map(|run| (**run).clone()).collect(),
        mix: (*snapshot.mix).clone(),
        memory: snapshot.memory.clone(),
    })
    .expect("what a ledger seals fits together")
}

fn policy(dice: &mut Dice) -> Policy {
    let weights = |own: usize| {
        let mut weights = [Milli(200); Objective::COUNT];
        weights[own] = Milli(1000);
        weights
    };
    let moving = ByUtilisation {
        low: Milli(300),
        high: Milli(600),
        hysteresis: Milli(50),
        below: weights(3),
        between: weights(0),
        above: weights(2),
    };
    let (fixed, moving) = (Weighting::Fixed(weights(0)), Weighting::ByUtilisation(moving));
    Policy {
        name: "drawn".to_owned(),
        description: String::new(),
        order: vec![OrderKey::Priority, OrderKey::FairShare, OrderKey::FirstIn],
        pick: [Pick::Weighted, Pick::Weighted, Pick::Rotation, Pick::Spread][dice.below(4)],
        tiers: [vec![fixed.clone()], vec![moving.clone()], vec![fixed, moving]][dice.below(3)]
            .clone(),
        patience: Milli(u32::try_from(dice.below(2) * 1000).expect("small")),
        scale: Scale {
            completion: Span::seconds(60),
            utilisation: Milli(100),
            fragmentation: Milli(1000),
            energy: Millijoules(10_000_000),
            deadline: Micro(50_000),
        },
    }
}

fn plan(snapshot: &Snapshot, policy: &Policy, scratch: &mut Scratch) -> Decision {
    planner::plan(snapshot, policy, Effort::DEFAULT, scratch)
}

/// Believes that nothing changed on the nodes since the snapshot before.
fn ignores_changes() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, scratch| {
        let since = snapshot.changes.since;
        let changes = Changes { since, nodes: Vec::new() };
        let wrong = Snapshot { changes, ..snapshot.clone() };
        plan(&wrong, policy, scratch)
    })
}

/// Overlooks one node in every list of changes.
fn overlooks_the_last_change() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, scratch| {
        let mut wrong = snapshot.clone();
        wrong.changes.nodes.pop();
        plan(&wrong, policy, scratch)
    })
}

/// Takes every snapshot for the successor of the one before, also a whole one.
fn trusts_every_serial() -> Box<Planning<'static>> {
    Box::new(|snapshot, policy, scratch| {
        let mut wrong = snapshot.clone();
        wrong.changes.since = Some(Serial(snapshot.serial.0 - 1));
        wrong.changes.nodes.retain(|node| *node != NodeId(0));
        plan(&wrong, policy, scratch)
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
    Dice((0..200).map(number).collect::<Vec<_>>().into_iter())
}

#[test]
fn planning_from_deltas_equals_planning_from_everything() {
    let config = Config { cases: 200, failure_persistence: None, ..Config::default() };
    let dice = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let numbers = vec(any::<u32>(), 0..400);
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
fn the_turns_show_runs_that_come_back() {
    let drifts: Vec<_> =
        (0..100).flat_map(|seed| deltas_equal_full(&mut plan, seeded(seed)).unwrap()).collect();
    let is_stray = |drift: &&Drift| matches!(drift, Drift::Stray(..));
    let is_recovered = |drift: &&Drift| matches!(drift, Drift::Recovered(..));
    assert!(drifts.iter().filter(is_stray).count() > 20);
    assert!(drifts.iter().filter(is_recovered).count() > 5);
}

#[test]
fn a_planner_that_ignores_changes_is_caught() {
    for defect in [ignores_changes, overlooks_the_last_change, trusts_every_serial] {
        let catches = |seed| deltas_equal_full(&mut *defect(), seeded(seed)).is_err();
        assert!((0..100).any(catches), "no case shows the defect");
    }
}
