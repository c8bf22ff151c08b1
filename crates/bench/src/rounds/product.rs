//! Motley as it ships, in the rounds: ledger, plan, check and orders, asked at the start of each.
//!
//! The fleet is one node for each device, or nodes of several like ones; then a
//! job of several devices has them on one node, or on as many full nodes as it
//! takes. At the start of a round the ledger is told what ended and how far the
//! others have got, and what arrived; turns are taken until nothing is ordered
//! any more, and whatever runs then runs in the round. To the planner every round
//! is six minutes long: the published clock ends a round a little earlier, when
//! its last run has done its last whole step. With the lag of the reference it
//! hears of arrivals only when the reference would reckon its shares anew.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use controller::{Ledger, Request, turn};
use fleet::{
    Action, Alternative, Bandwidth, Bytes, ClassId, Classes, DeviceClass, DeviceKind,
    DeviceRequest, Extent, Gang, Grant, Job, JobId, Milli, MilliCores, Node, NodeId, NodeSight,
    Observation, Order, Outcome, Policy, Power, Rate, Receipt, Restart, RunId, RunSight, RunState,
    ShareRule, Span, Tenant, Time, Usage, Work,
};
use planner::{Effort, Scratch};

use super::case::{Case, Entry};
use super::clock::{Active, Placed, Scene};
use super::errors::Errors;

/// How long a round is to the planner.
const ROUND: Span = Span::seconds(360);
/// Turns at the start of a round: stops, starts, and one in which nothing is ordered; as many again
/// would mean that it never settles.
const TURNS_MAX: u32 = 8;
/// The same where nodes have several devices: room is made for some jobs after others.
const TURNS_MAX_WITH_ROOM: u32 = 200;

/// Motley, and what it has cost.
pub struct Product {
    policy: Policy,
    lag_seconds: f64,
    errors: Errors,
    /// How many devices each node has.
    node_devices: u32,
    heard_at: f64,
    is_due: bool,
    /// The jobs from this one on it has not heard of.
    unheard: usize,
    ledger: Ledger,
    scratch: Scratch,
    at: Time,
    /// What runs, and where.
    runs: BTreeMap<RunId, (NodeId, Grant, Time)>,
    /// What the next observation tells besides.
    sights: Vec<RunSight>,
    receipts: Vec<Receipt>,
    has_begun: bool,
    /// What its rounds cost.
    pub toll: Toll,
}

/// What rounds cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Toll {
    /// How many rounds there were.
    pub rounds: u64,
    /// How many turns they took.
    pub turns: u64,
    /// Steps of all plans.
    pub steps: u64,
    /// How many runs were stopped to make room on their nodes.
    pub displaced: u64,
    /// Seconds, over all rounds.
    pub seconds: f64,
}

impl Product {
    /// Motley with this policy, told this wrongly of jobs.
    #[must_use]
    pub fn new(policy: Policy, lag_seconds: f64, errors: Errors) -> Self {
        Self {
            policy,
            lag_seconds,
            errors,
            node_devices: 1,
            heard_at: 0.0,
            is_due: false,
            unheard: 0,
            ledger: Ledger::new(),
            scratch: Scratch::default(),
            at: Time::ZERO,
            runs: BTreeMap::new(),
            sights: Vec::new(),
            receipts: Vec::new(),
            has_begun: false,
            toll: Toll::default(),
        }
    }

    /// The same with nodes of several devices.
    #[must_use]
    pub fn on_nodes_of(self, node_devices: u32) -> Self {
        Self { node_devices: node_devices.max(1), ..self }
    }

    /// Nothing runs and nothing will arrive: it hears of everything.
    pub fn force(&mut self) {
        self.heard_at = 0.0;
    }

    /// Who runs in this round.
    ///
    /// # Errors
    /// If a plan breaks the law, or turns never settle.
    pub fn choose(&mut self, scene: &Scene<'_>) -> Result<Vec<Placed>, String> {
        let mut requests = self.hear(scene);
        self.see(scene);
        let started = Instant::now();
        let turns_max = match self.node_devices {
            1 => TURNS_MAX,
            _ => TURNS_MAX_WITH_ROOM,
        };
        for _ in 0..turns_max {
            let observation = self.observation(scene.case);
            let asked = std::mem::take(&mut requests);
            let scratch = &mut self.scratch;
            let mut plan =
                |snapshot: &_, policy: &_, effort| planner::plan(snapshot, policy, effort, scratch);
            let (ledger, policy) = (&mut self.ledger, &self.policy);
            let turn = turn(ledger, &observation, asked, policy, Effort::DEFAULT, &mut plan);
            if let Some(fault) = turn.faults.first() {
                return Err(fault.to_string());
            }
            self.toll.turns += 1;
            self.toll.steps += turn.decision.explanation.steps;
            let plan = &turn.decision.plan;
            let displaced = plan.memory.allotment.as_ref().map_or(0, |one| one.displaced.len());
            self.toll.displaced += displaced as u64;
            let goes_on = plan.wake.is_some_and(|wake| wake <= self.at.after(Span(1)));
            if turn.orders.is_empty() && !goes_on {
                self.toll.rounds += 1;
                self.toll.seconds += started.elapsed().as_secs_f64();
                self.at = self.at.after(ROUND);
                return Ok(self.placed(scene));
            }
            for order in &turn.orders {
                self.obey(order, scene);
            }
        }
        Err(format!("orders are given in {turns_max} turns at the same time"))
    }

    /// The jobs of which it hears now.
    fn hear(&mut self, scene: &Scene<'_>) -> Vec<Request> {
        self.is_due |= scene.has_changed;
        let known = self.unheard;
        if self.is_due && (self.heard_at == 0.0 || scene.now >= self.heard_at + self.lag_seconds) {
            self.heard_at = scene.now;
            self.is_due = false;
            self.unheard = scene.active.last().map_or(known, |one| one.job + 1).max(known);
        }
        let new = scene.active.iter().filter(|one| (known..self.unheard).contains(&one.job));
        let submit = |one: &Active| {
            let declared = self.errors.declared(one.job, &scene.case.jobs[one.job]);
            let context = (scene.case, self.at);
            Request::Submit(Arc::new(job(one.job, (&declared, self.node_devices), context)))
        };
        new.map(submit).collect()
    }

    /// What became of what ran in the round before.
    fn see(&mut self, scene: &Scene<'_>) {
        let left: BTreeMap<usize, &Active> =
            scene.active.iter().map(|one| (one.job, one)).collect();
        let runs = std::mem::take(&mut self.runs);
        for (run, (node, grant, since)) in runs {
            let active = left.get(&place_of(run));
            let state = match active {
                Some(_) => RunState::Running(since),
                None => RunState::Done(self.at),
            };
            let done = active.map(|one| done(one, scene));
            self.sights.push(sight(run, (node, grant.clone()), state, done));
            if active.is_some() {
                self.runs.insert(run, (node, grant, since));
            }
        }
    }

    fn observation(&mut self, case: &Case) -> Observation {
        let is_first = !std::mem::replace(&mut self.has_begun, true);
        let nodes = if is_first { nodes(case, self.node_devices) } else { Vec::new() };
        Observation {
            at: self.at,
            extent: if is_first { Extent::Full } else { Extent::Changes },
            classes: Arc::new(classes(case)),
            nodes: nodes.into_iter().map(|node| NodeSight::Up(Arc::new(node))).collect(),
            runs: std::mem::take(&mut self.sights),
            receipts: std::mem::take(&mut self.receipts),
        }
    }

    fn obey(&mut self, order: &Order, scene: &Scene<'_>) {
        let (run, generation) = (order.run, order.generation);
        match &order.action {
            Action::Start { placement, .. } => {
                let (node, grant) = (placement.node, placement.grant.clone());
                let state = RunState::Running(self.at);
                self.sights.push(sight(run, (node, grant.clone()), state, None));
                self.runs.insert(run, (node, grant, self.at));
            }
            Action::Stop(_) => {
                if let Some((node, grant, _)) = self.runs.remove(&run) {
                    let active = scene.active.iter().find(|one| one.job == place_of(run));
                    let done = active.map(|one| done(one, scene));
                    let state = RunState::Stopped(self.at);
                    self.sights.push(sight(run, (node, grant), state, done));
                }
            }
        }
        self.receipts.push(Receipt { run, generation, outcome: Outcome::Accepted });
    }

    /// What runs now, by the positions of the round.
    fn placed(&self, scene: &Scene<'_>) -> Vec<Placed> {
        let shapes = shapes(scene.case, self.node_devices);
        let mut classes: BTreeMap<usize, usize> = BTreeMap::new();
        for (run, (node, ..)) in &self.runs {
            classes.insert(place_of(*run), shapes[node.index()].0);
        }
        let active = scene.active.iter().enumerate();
        let placed = active.filter_map(|(active, one)| {
            classes.get(&one.job).map(|class| Placed { active, class: *class })
        });
        placed.collect()
    }
}

/// What of a job's work is done.
fn done(active: &Active, scene: &Scene<'_>) -> Work {
    work(scene.case.jobs[active.job].steps.saturating_sub(active.steps))
}

fn work(steps: u64) -> Work {
    Work(steps.saturating_mul(1_000_000))
}

fn place_of(run: RunId) -> usize {
    usize::try_from(run.job.0).unwrap_or(usize::MAX).saturating_sub(1)
}

fn sight(
    run: RunId,
    (node, grant): (NodeId, Grant),
    state: RunState,
    done: Option<Work>,
) -> RunSight {
    RunSight { run, node, grant, state, usage: Usage::default(), done }
}

/// A job: one task, or a gang of them with as many devices each as a node has.
fn job(place: usize, (entry, node_devices): (&Entry, u32), (case, arrival): (&Case, Time)) -> Job {
    let count = entry.devices.min(node_devices);
    let tasks = entry.devices.div_ceil(count);
    let rates = case.models.iter().cloned().zip(entry.rates.iter().map(|rate| micros(*rate)));
    let request = fleet::Request {
        devices: Some(DeviceRequest {
            kind: DeviceKind::Gpu,
            count,
            share: Milli::WHOLE,
            memory: Bytes::ZERO,
            models: Vec::new(),
            compute_units: 0,
            capability: None,
            profile: None,
        }),
        ..fleet::Request::default()
    };
    let way = Alternative {
        request,
        labels: BTreeMap::new(),
        rates: rates.filter(|(_, rate)| !rate.is_zero()).collect(),
        communication: None,
    };
    Job {
        id: JobId(place as u64 + 1),
        name: format!("job-{place}"),
        tenant: Tenant::new("trace"),
        priority: 0,
        arrival,
        tasks,
        gang: (tasks > 1).then(Gang::default),
        work: Some(work(entry.steps)),
        deadline: None,
        alternatives: Arc::new(vec![way]),
        datasets: None,
        program: None,
        restart: Restart::default(),
        after: Vec::new(),
    }
}

/// The models of the case, and the processor of all nodes after them.
fn classes(case: &Case) -> Classes {
    let class = |model: &str, kind| DeviceClass {
        model: model.to_owned(),
        kind,
        memory: Bytes::ZERO,
        compute_units: 0,
        capabilities: BTreeSet::new(),
        share: ShareRule::Exclusive,
        profiles: Vec::new(),
        power: Power::default(),
    };
    let models = case.models.iter().map(|model| class(model, DeviceKind::Gpu));
    Classes(models.chain([class("host", DeviceKind::Cpu)]).collect())
}

/// The class and the number of devices of each node.
fn shapes(case: &Case, node_devices: u32) -> Vec<(usize, u32)> {
    let of_class = |(class, devices): (usize, &u32)| {
        let full = std::iter::repeat_n((class, node_devices), (devices / node_devices) as usize);
        let rest = devices % node_devices;
        full.chain((rest > 0).then_some((class, rest))).collect::<Vec<_>>()
    };
    case.capacity.iter().enumerate().flat_map(of_class).collect()
}

fn nodes(case: &Case, node_devices: u32) -> Vec<Node> {
    let count = |class: usize| u16::try_from(class).unwrap_or(u16::MAX);
    let cpu = ClassId(count(case.models.len()));
    let node = |(id, (class, devices)): (u32, (usize, u32))| Node {
        id: NodeId(id),
        name: format!("node-{id}"),
        cores: MilliCores(1000),
        memory: Bytes(1 << 30),
        cpu,
        devices: vec![ClassId(count(class)); devices as usize],
        labels: BTreeMap::new(),
        power: Power::default(),
        socket: MilliCores::ZERO,
        network: Bandwidth::ZERO,
        topology: None,
        attachment: None,
    };
    (0..=u32::MAX).zip(shapes(case, node_devices)).map(node).collect()
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a cast saturates")]
fn micros(rate: f64) -> Rate {
    Rate((rate * 1e6).round() as u64)
}
