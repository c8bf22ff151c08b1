//! A large array costs what its tasks cost, each once: with costs that grow with the square of the
//! count this test would take hours.

use std::sync::Arc;

use controller::{Ledger, Request, TaskTally, Turn, turn};
use fleet::policy::EXTERNALS_MAX;
use fleet::policy::{Pick, Scale};
use fleet::snapshot::Parts;
use fleet::{
    Action, Bytes, Extent, JobId, Level, Micro, Milli, Millijoules, NodeId, NodeSight, Observation,
    Order, Policy, RunSight, RunState, Snapshot, Span, Time, Usage, sketch,
};
use planner::{Effort, Scratch};

const TASKS: u32 = 200_000;

const SKETCH: &str = "
    class epyc cpu
    node n cores=200000 mem=8Gi
    job array tasks=200000 work=1 cores=1
";

struct World {
    parts: Parts,
    ledger: Ledger,
    scratch: Scratch,
    at: u64,
}

impl World {
    fn turn(
        &mut self,
        nodes: Vec<NodeSight>,
        runs: Vec<RunSight>,
        requests: Vec<Request>,
    ) -> Vec<Order> {
        self.at += 1;
        let (at, extent, receipts) = (Time::seconds(self.at), Extent::Changes, Vec::new());
        let classes = Arc::new(self.parts.classes.clone());
        let sight = Observation { at, extent, classes, nodes, runs, receipts };
        let scratch = &mut self.scratch;
        let mut planning = |snapshot: &Snapshot, policy: &Policy, effort| {
            planner::plan(snapshot, policy, effort, scratch)
        };
        let Turn { faults, orders, .. } =
            turn(&mut self.ledger, &sight, requests, &policy(), Effort::DEFAULT, &mut planning);
        assert!(faults.is_empty());
        orders
    }

    fn up(&self) -> Vec<NodeSight> {
        vec![NodeSight::Up(Arc::new(self.parts.nodes[0].0.clone()))]
    }

    fn tally(&self) -> TaskTally {
        self.ledger.tally(JobId(0)).expect("the job was submitted")
    }
}

fn policy() -> Policy {
    Policy {
        name: "spread".to_owned(),
        description: String::new(),
        order: Vec::new(),
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

/// How what was ordered is seen.
fn seen(orders: &[Order], state: RunState) -> Vec<RunSight> {
    let sight = |order: &Order| match &order.action {
        Action::Start { placement, .. } => RunSight {
            run: order.run,
            node: placement.node,
            grant: placement.grant.clone(),
            state,
            usage: Usage::default(),
            done: None,
        },
        Action::Stop(_) => panic!("nothing is stopped"),
    };
    orders.iter().map(sight).collect()
}

#[test]
fn the_tasks_of_a_large_array_are_started_lost_started_again_and_done() {
    let parts = sketch::parts(SKETCH).expect("the sketch can be read");
    let submit = vec![Request::Submit(Arc::clone(&parts.backlog[0].job))];
    let (ledger, scratch) = (Ledger::new(), Scratch::default());
    let mut world = World { parts, ledger, scratch, at: 0 };
    let (up, count) = (world.up(), TASKS as usize);
    let first = world.turn(up.clone(), Vec::new(), submit);
    assert_eq!((first.len(), world.tally().running), (count, TASKS));
    world.turn(Vec::new(), seen(&first, RunState::Running(Time::seconds(1))), Vec::new());
    assert!(world.turn(vec![NodeSight::Lost(NodeId(0))], Vec::new(), Vec::new()).is_empty());
    assert_eq!(world.tally().waiting, TASKS);
    let again = world.turn(up, Vec::new(), Vec::new());
    assert_eq!((again.len(), world.tally().running), (count, TASKS));
    assert!(again.iter().all(|order| order.run.attempt.0 == 1));
    world.turn(Vec::new(), seen(&again, RunState::Done(Time::seconds(9))), Vec::new());
    assert_eq!(world.tally(), TaskTally { done: TASKS, ..TaskTally::default() });
}
