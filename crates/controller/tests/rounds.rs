//! Rounds: with an effort that is too small for the queue, every job still gets its turn.
//!
//! Nothing happens in these worlds but what the plans themselves do: the turns come from the wake
//! of the one before.

use std::fmt::Write as _;
use std::sync::Arc;

use controller::{Ledger, Request, Turn, turn};
use fleet::policy::EXTERNALS_MAX;
use fleet::policy::{OrderKey, Pick, Scale};
use fleet::snapshot::Parts;
use fleet::{
    Bytes, Extent, Job, Level, Micro, Milli, Millijoules, NodeSight, Observation, Policy, Reason,
    Serial, Snapshot, Span, Time, sketch,
};
use planner::{Effort, Scratch};

/// Five unlike nodes, so that looking at a job is five steps.
const NODES: &str = "
    class epyc cpu
    node a cores=1 mem=8Gi
    node b cores=2 mem=8Gi
    node c cores=3 mem=8Gi
    node d cores=4 mem=8Gi
    node e cores=5 mem=8Gi
";

/// Room for four jobs in one plan.
const TINY: Effort = Effort { steps: 20, seed: None };

/// Jobs that fit nowhere, no two alike, and go before all others.
fn impossible(count: u32) -> String {
    let mut lines = String::new();
    for index in 0..count {
        writeln!(lines, "job large-{index} prio=9 cores={}", 100 + index).expect("it is a string");
    }
    lines
}

/// A world in which nothing happens.
struct Still {
    parts: Parts,
    ledger: Ledger,
    scratch: Scratch,
    effort: Effort,
    at: Time,
    sealed: Option<Snapshot>,
}

impl Still {
    fn new(jobs: &str, effort: Effort) -> Self {
        let parts = sketch::parts(&format!("{NODES}{jobs}")).expect("the sketch can be read");
        let (ledger, scratch, at) = (Ledger::new(), Scratch::default(), Time::seconds(1));
        Self { parts, ledger, scratch, effort, at, sealed: None }
    }

    fn submit(&mut self) -> Turn {
        let jobs = self.parts.backlog.iter().map(|waiting| Arc::clone(&waiting.job));
        let up = self.parts.nodes.iter().map(|(node, _)| NodeSight::Up(Arc::new(node.clone())));
        self.turn(jobs.map(Request::Submit).collect(), up.collect())
    }

    fn turn(&mut self, requests: Vec<Request>, nodes: Vec<NodeSight>) -> Turn {
        let classes = Arc::new(self.parts.classes.clone());
        let (runs, receipts) = (Vec::new(), Vec::new());
        let (at, extent) = (self.at, Extent::Changes);
        let sight = Observation { at, extent, classes, nodes, runs, receipts };
        let Self { scratch, sealed, .. } = self;
        let mut planning = |snapshot: &Snapshot, policy: &Policy, effort| {
            *sealed = Some(snapshot.clone());
            planner::plan(snapshot, policy, effort, scratch)
        };
        turn(&mut self.ledger, &sight, requests, &policy(), self.effort, &mut planning)
    }

    /// Takes the turn for which the last one asked.
    fn wake(&mut self, last: &Turn) -> Option<Turn> {
        let wake = last.decision.plan.wake?;
        assert_eq!(wake, self.at.after(Span(1)));
        self.at = wake;
        let turn = self.turn(Vec::new(), Vec::new());
        assert!(turn.faults.is_empty() && turn.drifts.is_empty());
        Some(turn)
    }

    /// Takes turns until one gives orders or none is asked for. Says how many, with the last one.
    fn wake_until_orders(&mut self, mut last: Turn) -> (u32, Turn) {
        for turns in 0..1000 {
            match self.wake(&last) {
                None => return (turns, last),
                Some(turn) if !turn.orders.is_empty() => return (turns + 1, turn),
                Some(turn) => last = turn,
            }
        }
        panic!("the turns go on for ever");
    }
}

fn policy() -> Policy {
    Policy {
        name: "priority".to_owned(),
        description: String::new(),
        order: vec![OrderKey::Priority],
        pick: Pick::Spread,
        externals: Vec::new(),
        tiers: Vec::new(),
        patience: Milli::ZERO,
        oversubscribe: Milli::WHOLE,
        scale: Scale {
            completion: Span::seconds(60),
            utilisation: Milli(100),
            fragmentation: Milli(1000),
            companion: Milli(1000),
            rarity: Milli(10_000),
            energy: Millijoules(1),
            deadline: Micro(1),
            locality: Bytes(10_000_000_000),
            interference: Span::seconds(60),
            externals: [Level(1_000_000); EXTERNALS_MAX],
        },
        batch: None,
        allocate: None,
    }
}

fn out_of_effort(turn: &Turn) -> usize {
    let waiting = turn.decision.explanation.waiting.iter();
    waiting.filter(|waiting| *waiting.reason == Reason::Effort).count()
}

#[test]
fn a_job_behind_many_impossible_ones_is_started_in_bounded_turns() {
    let mut still = Still::new(&format!("{}job small cores=1", impossible(200)), TINY);
    let first = still.submit();
    assert_eq!((first.orders.len(), out_of_effort(&first)), (0, 197));
    let (turns, found) = still.wake_until_orders(first);
    assert_eq!((turns, found.orders.len()), (50, 1));
    let small = still.parts.backlog[200].job.id;
    assert_eq!(found.orders[0].run.job, small);
    // What was placed changed something: everything is looked at once more.
    let (turns, last) = still.wake_until_orders(found);
    assert!((49..=51).contains(&turns), "{turns} turns");
    assert!(last.orders.is_empty() && last.decision.plan.memory.unseen.is_empty());
}

#[test]
fn where_nothing_can_be_started_the_turns_stop() {
    let mut still = Still::new(&impossible(200), TINY);
    let first = still.submit();
    let (turns, last) = still.wake_until_orders(first);
    assert_eq!((turns, last.orders.len()), (49, 0));
    let sealed = still.sealed.as_ref().expect("a turn seals");
    let (one, fifty) = (Serial(1), Serial(50));
    assert_eq!((sealed.serial, sealed.changed, last.decision.plan.memory.round), (fifty, one, one));
    let again = still.turn(Vec::new(), Vec::new());
    assert_eq!((again.decision.plan.wake, out_of_effort(&again)), (None, 196));
}

#[test]
fn a_change_begins_a_new_round() {
    let mut still = Still::new(&impossible(200), TINY);
    let first = still.submit();
    still.wake_until_orders(first);
    let small = Job { priority: 0, ..Job::clone(&still.parts.backlog[0].job) };
    let mut small = Job { id: fleet::JobId(1000), ..small };
    Arc::make_mut(&mut small.alternatives)[0].request.cores = fleet::MilliCores(1000);
    let arrived = still.turn(vec![Request::Submit(Arc::new(small))], Vec::new());
    assert_eq!(arrived.decision.plan.memory.unseen.len(), 197);
    let (turns, found) = still.wake_until_orders(arrived);
    assert_eq!((turns, found.orders.len()), (50, 1));
}

#[test]
fn an_effort_that_is_too_small_for_a_single_job_does_not_wake_for_ever() {
    for steps in [0, 4] {
        let mut still = Still::new(&impossible(3), Effort { steps, seed: None });
        let first = still.submit();
        let (turns, last) = still.wake_until_orders(first);
        assert_eq!((turns, out_of_effort(&last)), (1, 3));
    }
}

#[test]
fn ample_effort_leaves_nothing_unseen() {
    let mut still = Still::new(&format!("{}job small cores=1", impossible(200)), Effort::DEFAULT);
    let first = still.submit();
    assert_eq!((first.orders.len(), out_of_effort(&first)), (1, 0));
    assert!(first.decision.plan.memory.unseen.is_empty() && first.decision.plan.wake.is_none());
}
