//! A ledger in a world that is told line by line.

use std::sync::Arc;

use controller::{Ledger, Request, TaskTally, Turn, turn};
use fleet::snapshot::Parts;
use fleet::{
    Decision, Extent, Job, JobId, NodeId, NodeSight, Observation, Outcome, Policy, Receipt,
    Refusal, RunId, RunSight, RunState, Snapshot, Stage, Time, Usage, sketch,
};
use planner::{Effort, Scratch};

/// Two nodes; the job's only task fits on either, and goes to the first.
const SKETCH: &str = "
    class epyc cpu
    class t4 gpu share=milli
    node a cores=4 mem=8Gi dev=t4
    node b cores=4 mem=8Gi dev=t4
    job train work=100 cores=3
    job other tasks=3 work=100 cores=3
";

/// A ledger and its world.
pub(crate) struct World {
    pub(crate) ledger: Ledger,
    pub(crate) parts: Parts,
    pub(crate) now: u64,
    /// The last snapshot that was planned from.
    pub(crate) sealed: Option<Snapshot>,
}

impl World {
    /// Both nodes are up, and the job called `train` was submitted and ordered.
    pub(crate) fn with_train() -> (Self, RunId) {
        let mut world = Self::empty();
        let turn = world.submit(0);
        let run = turn.orders[0].run;
        assert_eq!(turn.orders.len(), 1);
        (world, run)
    }

    pub(crate) fn empty() -> Self {
        let parts = sketch::parts(SKETCH).expect("the sketch can be read");
        Self { ledger: Ledger::new(), parts, now: 0, sealed: None }
    }

    pub(crate) fn job(&self, index: usize) -> Arc<Job> {
        Arc::clone(&self.parts.backlog[index].job)
    }

    pub(crate) fn submit(&mut self, index: usize) -> Turn {
        let job = self.job(index);
        let up = vec![self.up(0), self.up(1)];
        self.turn(Extent::Changes, up, Vec::new(), Vec::new(), vec![Request::Submit(job)])
    }

    pub(crate) fn up(&self, node: usize) -> NodeSight {
        NodeSight::Up(Arc::new(self.parts.nodes[node].0.clone()))
    }

    /// Sees nodes and runs.
    pub(crate) fn see(&mut self, nodes: Vec<NodeSight>, runs: Vec<RunSight>) -> Turn {
        self.turn(Extent::Changes, nodes, runs, Vec::new(), Vec::new())
    }

    pub(crate) fn refuse(&mut self, run: RunId, refusal: Refusal) -> Turn {
        let outcome = Outcome::Refused(refusal);
        let receipt = Receipt { run, generation: self.ledger.generation(), outcome };
        self.turn(Extent::Changes, Vec::new(), Vec::new(), vec![receipt], Vec::new())
    }

    pub(crate) fn turn(
        &mut self,
        extent: Extent,
        nodes: Vec<NodeSight>,
        runs: Vec<RunSight>,
        receipts: Vec<Receipt>,
        requests: Vec<Request>,
    ) -> Turn {
        self.turn_with(extent, (nodes, runs, receipts), requests, |snapshot, policy, effort| {
            planner::plan(snapshot, policy, effort, &mut Scratch::default())
        })
    }

    pub(crate) fn turn_with(
        &mut self,
        extent: Extent,
        (nodes, runs, receipts): (Vec<NodeSight>, Vec<RunSight>, Vec<Receipt>),
        requests: Vec<Request>,
        mut planning: impl FnMut(&Snapshot, &Policy, Effort) -> Decision,
    ) -> Turn {
        self.now += 1;
        let at = Time::seconds(self.now);
        let classes = Arc::new(self.parts.classes.clone());
        let observation = Observation { at, extent, classes, nodes, runs, receipts };
        let mut sealed = None;
        let turn = turn(
            &mut self.ledger,
            &observation,
            requests,
            &policy(),
            Effort::DEFAULT,
            &mut |snapshot, policy, effort| {
                sealed = Some(snapshot.clone());
                planning(snapshot, policy, effort)
            },
        );
        self.sealed = sealed;
        turn
    }

    /// How a run is, by its order.
    pub(crate) fn sight(&self, run: RunId, node: u32, state: fn(Time) -> RunState) -> RunSight {
        let alternative = &self.parts.backlog[0].job.alternatives[0];
        let grant = fleet::Grant { cores: alternative.request.cores, ..fleet::Grant::default() };
        RunSight {
            run,
            node: NodeId(node),
            grant,
            state: state(Time::seconds(self.now)),
            usage: Usage::default(),
            done: None,
        }
    }

    pub(crate) fn tally(&self, job: u64) -> (u32, u32, u32) {
        let tally = self.ledger.tally(JobId(job)).expect("the job was submitted");
        let TaskTally { waiting, running, done, .. } = tally;
        (waiting, running, done)
    }

    pub(crate) fn stage(&self, run: RunId) -> Option<Stage> {
        self.ledger.runs().find(|held| held.id() == run).map(|held| held.stage)
    }
}

/// Nodes by the lowest id.
pub(crate) fn policy() -> Policy {
    use fleet::policy::{EXTERNALS_MAX, Pick, Scale};
    use fleet::{Bytes, Level, Micro, Milli, Millijoules, Span};
    Policy {
        name: "first".to_owned(),
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

pub(crate) fn attempt(run: RunId, attempt: u32) -> RunId {
    RunId { attempt: fleet::Attempt(attempt), ..run }
}

pub(crate) const LOST_A: NodeSight = NodeSight::Lost(NodeId(0));
pub(crate) const LOST_B: NodeSight = NodeSight::Lost(NodeId(1));

/// The job's first attempt was lost with node a, and its second was ordered on node b.
pub(crate) fn restarted() -> (World, RunId, RunId) {
    let (mut world, first) = World::with_train();
    let running = world.sight(first, 0, RunState::Running);
    world.see(Vec::new(), vec![running]);
    let turn = world.see(vec![LOST_A], Vec::new());
    let second = turn.orders[0].run;
    assert_eq!(second, attempt(first, 1));
    (world, first, second)
}
