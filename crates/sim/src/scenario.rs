//! One simulation: the real controller loop around a model world.
//!
//! In come an inventory, a workload, a policy and a planning function; out
//! comes an [`Outcome`] with the log of the world. Here is no scheduling and
//! no clock: each round gives [`controller::step`] the jobs that have arrived
//! and lets the world wait for what is next.

mod requests;
mod telling;

use std::collections::BTreeMap;
use std::sync::Arc;

use controller::{Ledger, Planning, Request, Turn, step};
use fleet::explanation::StillWaiting;
use fleet::snapshot::MixShape;
use fleet::{Body, BodyError, Catalogue, Decision, Job, JobId, Policy, Signals, Snapshot, Time};
use planner::{Effort, Scratch};

use crate::checkers::{Checkers, Checks, Deeper, Violation};
use crate::faults::{Faults, Faulty, Hits, losses};
use crate::workload::{Inventory, Workload};
use crate::world::{Entry, Event, TrueRates, World};
use requests::Requests;
use telling::Tellings;

pub use telling::{Told, What};

/// Most turns of one simulation where nothing else is said; a bound, not a wish.
const TURNS_MAX: u64 = 10_000_000;

/// Every so many observations one is full, so that both kinds are exercised.
const RESYNC_EVERY: u32 = 64;

/// How a simulation is run.
pub struct Options<'a> {
    /// Decides errors of declared rates.
    pub seed: u64,
    /// When it ends though not everything has ended.
    pub until: Option<Time>,
    /// After how many turns it ends at the latest.
    pub turns_max: u64,
    /// How much work one plan may cost.
    pub effort: Effort,
    /// How closely it is watched.
    pub checks: Checks,
    /// What goes wrong on purpose.
    pub faults: Faults,
    /// When which job is cancelled. A job that has not arrived by then is not.
    pub cancels: Vec<(Time, JobId)>,
    /// Every so many observations one is full; only the first where this is zero.
    pub resync_every: u32,
    /// How many explanations of placements, and as many of waits, are kept: the first of each name.
    pub explain_max: usize,
    /// The one command that repeats it, for violations.
    pub repeat: String,
    /// What the controller is told to expect, in place of what it learns.
    pub mix: Option<Vec<MixShape>>,
    /// Which datasets are where when it begins, in the world as in what the controller is told.
    pub catalogue: Catalogue,
    /// What is known from outside about nodes and classes.
    pub signals: Signals,
    /// Is called after every turn.
    pub progress: Option<&'a mut dyn FnMut(Progress)>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            seed: 0,
            until: None,
            turns_max: TURNS_MAX,
            effort: Effort::DEFAULT,
            checks: Checks::Plan,
            faults: Faults::default(),
            cancels: Vec::new(),
            resync_every: RESYNC_EVERY,
            explain_max: 0,
            repeat: "cargo run --release -- simulate".to_owned(),
            mix: None,
            catalogue: Catalogue::default(),
            signals: Signals::default(),
            progress: None,
        }
    }
}

/// How far a simulation has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Turns taken.
    pub turns: u64,
    /// Jobs of which every task is done.
    pub jobs_done: usize,
    /// Jobs of the workload.
    pub jobs: usize,
    /// The virtual time.
    pub at: Time,
}

/// What a simulation came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The name of the policy.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// Why it ended.
    pub ending: Ending,
    /// When it ended.
    pub at: Time,
    /// Turns taken.
    pub turns: u64,
    /// Steps of all plans together.
    pub steps: u64,
    /// Jobs that had tasks waiting after the last turn, with its reasons.
    pub waiting: Vec<StillWaiting>,
    /// Differences between ledger and world that turns found.
    pub drifts: u64,
    /// Laws that were broken; the simulation ends with the first turn that breaks any.
    pub violations: Vec<Violation>,
    /// How often each kind of fault happened.
    pub hits: Hits,
    /// Explanations that were kept.
    pub told: Vec<Told>,
    /// What really happened.
    pub log: Vec<Entry>,
}

/// Why a simulation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Every task of every job was done.
    Finished,
    /// Nothing will ever happen again, and jobs wait or run without end.
    Standstill,
    /// The time was up.
    Until,
    /// The turns were used up.
    Turns,
    /// A law was broken.
    Violated,
}

/// A body with the model world behind it.
#[derive(Debug)]
pub struct Model<B> {
    /// What the controller sees and gives orders to.
    pub body: B,
    /// Where in it the world is.
    pub world: fn(&B) -> &World,
}

/// The planning function that ships: Motley's planner with a scratch of its own.
pub fn motley() -> impl FnMut(&Snapshot, &Policy, Effort) -> Decision {
    let mut scratch = Scratch::default();
    move |snapshot, policy, effort| planner::plan(snapshot, policy, effort, &mut scratch)
}

/// The world of a simulation: the workload's outages and those that `options` adds as faults.
#[must_use]
pub fn world(inventory: &Inventory, workload: &Workload, options: &Options<'_>) -> World {
    let nodes = u32::try_from(inventory.nodes.len()).unwrap_or(u32::MAX);
    let mut outages = workload.outages.clone();
    outages.extend(options.faults.outages(nodes));
    let rates = rates(workload, options.seed);
    World::new(inventory, rates, &outages, options.resync_every).storing(&options.catalogue)
}

/// The true rates of a simulation.
#[must_use]
pub fn rates(workload: &Workload, seed: u64) -> TrueRates {
    TrueRates::new(workload.truth.clone(), &workload.jobs, seed)
}

/// Runs a simulation.
///
/// # Panics
/// If the model world fails to answer, which it never does.
pub fn run(
    inventory: &Inventory,
    workload: &Workload,
    policy: &Policy,
    options: Options<'_>,
    planning: &mut Planning<'_>,
) -> Outcome {
    let mut world = world(inventory, workload, &options);
    world.oversubscribe(policy.oversubscribe);
    let body = Faulty::new(world, options.faults);
    let mut model = Model { body, world: Faulty::body };
    let mut outcome = drive(&mut model, &workload.jobs, policy, options, planning)
        .expect("a model world always answers");
    outcome.hits.append(&mut model.body.into_parts().1);
    outcome
}

/// Runs a simulation in a world that stands ready, whatever body is in front of it.
///
/// # Errors
/// If the body fails.
pub fn drive<B: Body>(
    model: &mut Model<B>,
    jobs: &[Arc<Job>],
    policy: &Policy,
    options: Options<'_>,
    planning: &mut Planning<'_>,
) -> Result<Outcome, BodyError> {
    let mut scene = Scene::new(jobs, policy, options);
    let ending = loop {
        let requests = scene.requests((model.world)(&model.body).at());
        let Some((turn, snapshot)) = scene.step(&mut model.body, requests, planning)? else {
            // The body was deaf: the next turn sees what became of it.
            if scene.turns >= scene.options.turns_max {
                break Ending::Turns;
            }
            continue;
        };
        if let Some(ending) = scene.follow((model.world)(&model.body), turn, snapshot) {
            break ending;
        }
        model.body.wait(scene.next_look((model.world)(&model.body).at()))?;
    };
    Ok(scene.close(ending, (model.world)(&model.body)))
}

/// A simulation under way.
struct Scene<'a, 'p> {
    jobs: &'a [Arc<Job>],
    requests: Requests<'a>,
    policy: &'a Policy,
    options: Options<'p>,
    ledger: Ledger,
    checkers: Checkers,
    tellings: Tellings<'a>,
    tasks_left: BTreeMap<JobId, u32>,
    jobs_done: usize,
    log_read: usize,
    wake: Option<Time>,
    turns: u64,
    steps: u64,
    drifts: u64,
    waiting: Vec<StillWaiting>,
    violations: Vec<Violation>,
}

impl<'a, 'p> Scene<'a, 'p> {
    fn new(jobs: &'a [Arc<Job>], policy: &'a Policy, mut options: Options<'p>) -> Self {
        let mut ledger = Ledger::default();
        if let Some(mix) = options.mix.take() {
            ledger.declare_mix(mix);
        }
        ledger.know_datasets(std::mem::take(&mut options.catalogue));
        ledger.declare_signals(std::mem::take(&mut options.signals));
        Self {
            jobs,
            requests: Requests::new(jobs, std::mem::take(&mut options.cancels)),
            policy,
            ledger,
            checkers: Checkers::new(options.seed, options.repeat.clone()),
            tellings: Tellings::about(jobs, options.explain_max),
            tasks_left: BTreeMap::new(),
            jobs_done: 0,
            log_read: 0,
            wake: None,
            turns: 0,
            steps: 0,
            drifts: 0,
            waiting: Vec::new(),
            violations: Vec::new(),
            options,
        }
    }

    /// What has been asked since the last turn.
    fn requests(&mut self, at: Time) -> Vec<Request> {
        let mut requests = Vec::new();
        for job in self.requests.arrivals(at) {
            self.checkers.submit(job);
            self.tasks_left.insert(job.id, job.tasks);
            requests.push(Request::Submit(Arc::clone(job)));
        }
        requests.append(&mut self.requests.cancels(at));
        requests
    }

    /// Takes a turn. The snapshot is kept where the turn is looked at closely. Nothing comes of it
    /// where the body was deaf to the orders.
    fn step(
        &mut self,
        body: &mut dyn Body,
        mut requests: Vec<Request>,
        planning: &mut Planning<'_>,
    ) -> Result<Option<(Turn, Option<Snapshot>)>, BodyError> {
        let is_watched = self.options.checks == Checks::Thorough;
        let may_be_deaf = !self.options.faults.deaf.is_zero();
        let (mut kept, mut decided) = (None, None);
        let mut keeping = |snapshot: &Snapshot, policy: &Policy, effort: Effort| {
            kept = is_watched.then(|| snapshot.clone());
            let decision = planning(snapshot, policy, effort);
            decided = may_be_deaf.then(|| decision.plan.clone());
            decision
        };
        let (policy, effort) = (self.policy, self.options.effort);
        self.turns += 1;
        match step(body, &mut self.ledger, &mut requests, policy, effort, &mut keeping) {
            Ok(turn) => Ok(Some((turn, kept))),
            Err(error) => {
                let plan = decided.ok_or(error)?;
                self.checkers.miss(&plan);
                Ok(None)
            }
        }
    }

    /// Takes note of a turn; says whether it was the last.
    fn follow(&mut self, world: &World, turn: Turn, snapshot: Option<Snapshot>) -> Option<Ending> {
        self.steps += turn.decision.explanation.steps;
        self.drifts += turn.drifts.len() as u64;
        self.wake = turn.decision.plan.wake;
        let truth = world.truth_view();
        let ledger = &self.ledger;
        let deeper = snapshot.as_ref().map(|snapshot| Deeper { truth, snapshot, ledger });
        self.violations = self.checkers.look(&turn, deeper);
        self.tellings.hear(truth.at, &turn.decision);
        self.count_done(truth.log);
        let ending = self.ending(world, &turn);
        self.waiting = turn.decision.explanation.waiting;
        if let Some(progress) = &mut self.options.progress {
            let (turns, jobs_done, jobs) = (self.turns, self.jobs_done, self.jobs.len());
            progress(Progress { turns, jobs_done, jobs, at: truth.at });
        }
        ending
    }

    fn count_done(&mut self, log: &[Entry]) {
        for entry in &log[self.log_read..] {
            if let Event::Done { run, .. } = entry.event
                && let Some(left) = self.tasks_left.get_mut(&run.job)
            {
                // A task that was done twice, once out of sight, makes this run ahead; it is for
                // show.
                *left = left.saturating_sub(1);
                if *left == 0 {
                    self.tasks_left.remove(&run.job);
                    self.jobs_done += 1;
                }
            }
        }
        self.log_read = log.len();
    }

    fn ending(&self, world: &World, turn: &Turn) -> Option<Ending> {
        let all_asked = self.requests.next().is_none();
        if !self.violations.is_empty() {
            Some(Ending::Violated)
        } else if all_asked && self.has_finished() {
            Some(Ending::Finished)
        } else if self.options.until.is_some_and(|until| world.at() >= until) {
            Some(Ending::Until)
        } else if self.turns >= self.options.turns_max {
            Some(Ending::Turns)
        } else if all_asked && turn.orders.is_empty() && self.is_still(world) {
            Some(Ending::Standstill)
        } else {
            None
        }
    }

    /// Whether nothing runs or waits any more.
    fn has_finished(&self) -> bool {
        let waits =
            |job: &Arc<Job>| self.ledger.tally(job.id).is_none_or(|tally| tally.waiting > 0);
        self.ledger.runs().next().is_none() && !self.jobs.iter().any(waits)
    }

    /// Whether nothing will ever happen unless somebody acts.
    fn is_still(&self, world: &World) -> bool {
        let wakes = self.wake.is_some_and(|wake| wake > world.at());
        world.next_event().is_none() && !world.has_news() && !wakes
    }

    /// When to look again though nothing has happened.
    fn next_look(&self, at: Time) -> Option<Time> {
        let wake = self.wake.filter(|wake| *wake > at);
        self.requests.next().into_iter().chain(wake).chain(self.options.until).min()
    }

    fn close(self, ending: Ending, world: &World) -> Outcome {
        let truth = world.truth_view();
        Outcome {
            policy: self.policy.name.clone(),
            seed: self.options.seed,
            ending,
            at: truth.at,
            turns: self.turns,
            steps: self.steps,
            waiting: self.waiting,
            drifts: self.drifts,
            violations: self.violations,
            hits: losses(truth.log),
            told: self.tellings.told,
            log: truth.log.to_vec(),
        }
    }
}
