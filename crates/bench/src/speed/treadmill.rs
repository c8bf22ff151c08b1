//! The treadmill: a fleet on which runs start and end, and that stays as full as it is.
//!
//! It plays the body of a controller, with changes only after the first
//! observation: an order to start is accepted and seen running by the next
//! observation, and a run that ended is seen done. What comes next is made
//! first ([`Coming`]), then a turn is taken ([`Treadmill::turn`], the only part
//! worth timing), then what it came to is taken in ([`Treadmill::settle`]). A
//! job that found no room is withdrawn by the next turn, unless it was parked.
//! All that is drawn comes from one seed, so that every run is the same.

use std::sync::Arc;

use anyhow::{bail, ensure};
use controller::{Ledger, Planning, Request, Turn, turn};
use fleet::snapshot::Amounts;
use fleet::{
    Action, Alternative, Bytes, Extent, Grant, Job, JobId, Milli, MilliCores, NodeId, NodeSight,
    Observation, Order, Outcome, Policy, Reason, Receipt, Restart, RunId, RunSight, RunState,
    Tenant, Time, Usage,
};
use planner::Effort;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng as _;

use super::contender::Contender;
use super::input::Input;
use crate::dice;

/// Draws what arrives and what ends.
const SEED: u64 = 42;

/// A controller at work on a fleet.
pub struct Treadmill<'a> {
    input: &'a Input,
    policy: Policy,
    planning: Box<Planning<'static>>,
    dice: ChaCha8Rng,
    ledger: Ledger,
    /// How many observations were made.
    seen: u64,
    /// How many jobs have arrived.
    arrived: u64,
    running: Vec<Held>,
    capacity: u64,
    allocated: u64,
    /// Orders of the last turn, of which the next observation tells.
    orders: Vec<Order>,
    /// Jobs that the next turn withdraws.
    withdrawn: Vec<JobId>,
}

/// A run and what it holds.
struct Held {
    run: RunId,
    node: NodeId,
    grant: Grant,
}

/// What the next turn is about.
#[derive(Debug)]
pub struct Coming {
    /// What is seen.
    pub observation: Observation,
    /// What is asked.
    pub requests: Vec<Request>,
}

/// What a turn came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// How many tasks were placed.
    pub placements: u64,
    /// How many jobs still wait.
    pub waiting: u64,
    /// Steps that the planner counted.
    pub steps: u64,
}

impl<'a> Treadmill<'a> {
    /// An empty fleet and a planner that has seen nothing yet.
    ///
    /// # Errors
    /// If there is no such policy.
    pub fn new(input: &'a Input, contender: Contender) -> anyhow::Result<Self> {
        let (_, policy) = contender.policy()?;
        let amounts = input.nodes.iter().map(|node| Amounts::of_node(node).share);
        Ok(Self {
            input,
            policy,
            planning: contender.planning(input)?,
            dice: ChaCha8Rng::seed_from_u64(SEED),
            ledger: Ledger::new(),
            seen: 0,
            arrived: 0,
            running: Vec::new(),
            capacity: amounts.sum(),
            allocated: 0,
            orders: Vec::new(),
            withdrawn: Vec::new(),
        })
    }

    /// All device shares of the fleet, in thousandths of a device.
    #[must_use]
    pub fn capacity(&self) -> u64 {
        self.capacity
    }

    /// Those that are allocated.
    #[must_use]
    pub fn allocated(&self) -> u64 {
        self.allocated
    }

    /// Lets jobs arrive and none end: at least one, at most `most`, and no more once they ask for
    /// what is missing to `level`.
    pub fn fill(&mut self, most: u32, level: u64) -> Coming {
        let mut asked = 0;
        let mut jobs = Vec::new();
        for _ in 0..most {
            let job = self.draw_job();
            asked += share_of(&job.alternatives[0]);
            jobs.push(job);
            if self.allocated + asked >= level {
                break;
            }
        }
        self.coming(jobs, u64::MAX)
    }

    /// Lets so many jobs arrive, and so many runs end that `level` is not passed when all of them
    /// find room. Runs are drawn until enough have ended.
    pub fn hold(&mut self, arrivals: u32, level: u64) -> Coming {
        let jobs: Vec<Arc<Job>> = (0..arrivals).map(|_| self.draw_job()).collect();
        let asked: u64 = jobs.iter().map(|job| share_of(&job.alternatives[0])).sum();
        self.coming(jobs, level.saturating_sub(asked))
    }

    /// Lets this many jobs arrive that find no room, and no run end. No two of them are of the same
    /// shape. Every other one is a shape of the set that asks for more cores than any node has
    /// free, and every other one for more whole devices.
    pub fn park(&mut self, count: u64) -> Coming {
        let free = |node: &fleet::NodeEntry| {
            let whole = node.free.devices.iter().filter(|left| left.share == Milli::WHOLE).count();
            (node.free.cores, u32::try_from(whole).unwrap_or(u32::MAX))
        };
        let cores = self.ledger.nodes().map(|node| free(node).0).max().unwrap_or_default();
        let devices = self.ledger.nodes().map(|node| free(node).1).max().unwrap_or_default();
        let mut jobs = Vec::new();
        for number in 0..count {
            let position = usize::try_from(number).unwrap_or(0) % self.input.shapes.len();
            let mut shape = self.input.shapes[position].clone();
            match &mut shape.request.devices {
                Some(asked) if number % 2 == 0 => {
                    (asked.count, asked.share) = (devices + 1, Milli::WHOLE);
                    // What makes it distinct from others of the set that differed in share only.
                    shape.request.memory += Bytes(number);
                }
                _ => shape.request.cores = MilliCores(cores.0 + 1 + number),
            }
            jobs.push(self.job(shape));
        }
        self.coming(jobs, u64::MAX)
    }

    /// Lets nothing happen. What waits goes on waiting.
    pub fn rest(&mut self) -> Coming {
        self.withdrawn.clear();
        self.coming(Vec::new(), u64::MAX)
    }

    /// Takes a turn. Nothing else is done here, so that it can be timed.
    pub fn turn(&mut self, observation: &Observation, requests: Vec<Request>) -> Turn {
        let Self { ledger, policy, planning, .. } = self;
        turn(ledger, observation, requests, policy, Effort::DEFAULT, planning)
    }

    /// Takes in what a turn came to.
    ///
    /// # Errors
    /// If the plan breaks the law, the ledger has lost track of the fleet, or the effort did not
    /// suffice.
    pub fn settle(&mut self, turn: Turn) -> anyhow::Result<Settled> {
        if let Some(fault) = turn.faults.first() {
            bail!("keep the law: {fault}");
        }
        ensure!(turn.drifts.is_empty(), "keep ledger and fleet alike: {:?}", turn.drifts);
        let explanation = turn.decision.explanation;
        for waiting in &explanation.waiting {
            ensure!(*waiting.reason != Reason::Effort, "plan to the end: the effort ran out");
            self.withdrawn.push(waiting.job);
        }
        let grants = turn.decision.plan.placements.iter().map(|placement| &placement.grant);
        self.allocated += grants.map(|grant| Amounts::of_grant(grant).share).sum::<u64>();
        self.orders = turn.orders;
        Ok(Settled {
            placements: turn.decision.plan.placements.len() as u64,
            waiting: explanation.waiting.len() as u64,
            steps: explanation.steps,
        })
    }

    /// Tells of the last turn, ends runs until no more than `level` is allocated, and lets jobs
    /// arrive.
    fn coming(&mut self, jobs: Vec<Arc<Job>>, level: u64) -> Coming {
        let mut observation = self.news();
        while self.allocated > level && !self.running.is_empty() {
            let ended = dice::below(&mut self.dice, self.running.len());
            let held = self.running.swap_remove(ended);
            self.allocated -= Amounts::of_grant(&held.grant).share;
            observation.runs.push(held.seen(RunState::Done(observation.at)));
        }
        let withdrawn = std::mem::take(&mut self.withdrawn).into_iter().map(Request::Cancel);
        let requests = withdrawn.chain(jobs.into_iter().map(Request::Submit)).collect();
        Coming { observation, requests }
    }

    /// What is seen because of the last turn: the nodes at first, then what was started.
    fn news(&mut self) -> Observation {
        let at = Time::seconds(self.seen);
        let up = |node: &Arc<fleet::Node>| NodeSight::Up(Arc::clone(node));
        let (extent, nodes) = match self.seen {
            0 => (Extent::Full, self.input.nodes.iter().map(up).collect()),
            _ => (Extent::Changes, Vec::new()),
        };
        self.seen += 1;
        let mut runs = Vec::with_capacity(self.orders.len());
        let mut receipts = Vec::with_capacity(self.orders.len());
        for Order { run, generation, action } in std::mem::take(&mut self.orders) {
            let Action::Start { placement, .. } = action else {
                unreachable!("only jobs that wait are cancelled, so that nothing is stopped");
            };
            let held = Held { run, node: placement.node, grant: placement.grant };
            runs.push(held.seen(RunState::Running(at)));
            receipts.push(Receipt { run, generation, outcome: Outcome::Accepted });
            self.running.push(held);
        }
        let classes = Arc::clone(&self.input.classes);
        Observation { at, extent, classes, nodes, runs, receipts }
    }

    fn draw_job(&mut self) -> Arc<Job> {
        let drawn = dice::below(&mut self.dice, self.input.shapes.len());
        self.job(self.input.shapes[drawn].clone())
    }

    /// A new job. It shares nothing with others of its shape, as it would if it came from outside.
    fn job(&mut self, shape: Alternative) -> Arc<Job> {
        let number = self.arrived;
        self.arrived += 1;
        Arc::new(Job {
            id: JobId(number),
            name: format!("pod-{number}"),
            tenant: Tenant::new("openb"),
            priority: 0,
            arrival: Time::seconds(self.seen),
            tasks: 1,
            gang: None,
            work: None,
            deadline: None,
            alternatives: Arc::new(vec![shape]),
            datasets: None,
            program: None,
            restart: Restart::default(),
            after: Vec::new(),
        })
    }
}

impl Held {
    fn seen(&self, state: RunState) -> RunSight {
        RunSight {
            run: self.run,
            node: self.node,
            grant: self.grant.clone(),
            state,
            usage: Usage::default(),
            done: None,
        }
    }
}

/// The device share that a shape asks for, in thousandths of a device.
fn share_of(shape: &Alternative) -> u64 {
    let devices = shape.request.devices.as_ref();
    devices.map_or(0, |devices| u64::from(devices.count) * u64::from(devices.share.0))
}
