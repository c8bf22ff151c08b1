//! The ledger: what only we know.
//!
//! In come observations, requests and accepted plans; out goes a sealed
//! snapshot. It keeps which task waits, runs or is done, which run holds what,
//! and what the last plan wanted remembered. It never talks to the world and
//! never chooses. Conservation holds after every step: what is not free of a
//! node is what the runs there hold.
//!
//! Structure is shared with the snapshots that it seals; a part is copied only
//! while somebody still holds a snapshot of it.

mod datasets;
mod image;
mod mix;
mod observe;
mod progress;
mod standing;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Bound;
use std::sync::Arc;

use fleet::snapshot::{Amounts, Memory, MixShape, Progress, Waiting, is_unwanted};
use fleet::{
    Action, Alternative, Attempt, Catalogue, Changes, Classes, Generation, Grant, Job, JobId,
    NodeEntry, NodeId, Order, Plan, Run, RunId, Serial, Signals, Snapshot, Stage, StopCause,
    TaskIndex, Tenant, Time,
};

use datasets::Shelves;
pub use image::Image;
use mix::Arrivals;
use standing::Record;
pub use standing::{FAILURES_MAX, Standing, TaskTally};

/// What only we know.
#[derive(Debug, Default)]
pub struct Ledger {
    at: Time,
    serial: Serial,
    generation: Generation,
    classes: Arc<Classes>,
    nodes: Arc<Vec<Arc<NodeEntry>>>,
    jobs: BTreeMap<JobId, Record>,
    backlog: Arc<BTreeMap<JobId, Arc<Waiting>>>,
    /// Jobs with tasks that wait and may not run yet: held, or after others.
    parked: BTreeMap<JobId, Arc<Waiting>>,
    /// By job, those that wait for its end.
    followers: BTreeMap<JobId, BTreeSet<JobId>>,
    runs: Arc<BTreeMap<RunId, Arc<Run>>>,
    /// The jobs that are known of which runs hold something.
    running_jobs: Arc<BTreeMap<JobId, Arc<Job>>>,
    /// How far tasks have got whose work is kept when they are stopped.
    progress: Arc<BTreeMap<JobId, BTreeMap<TaskIndex, Progress>>>,
    /// Of the runs those that a plan must stop.
    unwanted: Arc<BTreeSet<RunId>>,
    /// Runs that cannot be seen, on nodes that were lost or because a body failed; their tasks wait
    /// again. Kept until they are seen, or their node is up and they are not on it.
    given_up: BTreeMap<RunId, Arc<Run>>,
    tenants: Arc<BTreeMap<Tenant, Amounts>>,
    arrivals: Arrivals,
    /// What jobs asked for of late, each once.
    requests: BTreeSet<Arc<Vec<Alternative>>>,
    shelves: Shelves,
    signals: Arc<Signals>,
    capacity: Amounts,
    held: Amounts,
    memory: Memory,
    /// The jobs that have ended, in the order in which they did, and how many of them are known.
    ended: VecDeque<JobId>,
    newest: Option<JobId>,
    ended_max: Option<usize>,
    /// The nodes that cannot be seen.
    unseen: BTreeSet<NodeId>,
    /// The nodes that take no new work.
    drained: BTreeSet<NodeId>,
    /// The nodes that may differ from the last snapshot.
    changed_nodes: BTreeSet<NodeId>,
    /// Whether any node may differ from the last snapshot.
    everything_changed: bool,
    /// Whether anything but time and memory is new since the last snapshot.
    has_changed: bool,
    /// The latest snapshot in which it was.
    changed: Serial,
}

/// A named difference between the ledger and the world, with what was done about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Drift {
    /// A run that should be there is not: its task waits again.
    Vanished(RunId, NodeId),
    /// A run that was given up for lost is there, and its task still waits: it is taken back.
    Recovered(RunId, NodeId),
    /// A run that was given up for lost is there, and its task went on without it: it is stopped.
    Stray(RunId, NodeId),
    /// A run that nobody ordered is there: it is stopped.
    Unknown(RunId, NodeId),
    /// A run is on another node than it was ordered to, or holds something else than it was
    /// granted: it is stopped, and its task waits again.
    Elsewhere(RunId, NodeId),
    /// A run is there that holds more than the ledger has free on its node: it is left alone and
    /// named every turn that it is seen.
    Overfull(RunId, NodeId),
}

impl Ledger {
    /// A ledger that knows of nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets jobs that have ended but for so many of the latest.
    pub fn keep_ended(&mut self, most: usize) {
        self.ended_max = Some(most);
    }

    /// Plans for the arrivals that an operator expects, in place of those that were seen so far.
    pub fn declare_mix(&mut self, shapes: impl IntoIterator<Item = MixShape>) {
        self.arrivals.declare(shapes);
        self.has_changed = true;
    }

    /// Takes these datasets to be where it says, in place of all that was known of datasets so far.
    pub fn know_datasets(&mut self, catalogue: Catalogue) {
        self.shelves = Shelves::new(catalogue);
        self.has_changed = true;
    }

    /// Takes these numbers for what is known from outside about nodes and classes.
    pub fn declare_signals(&mut self, signals: Signals) {
        self.signals = Arc::new(signals);
        self.has_changed = true;
    }

    /// The jobs ever submitted, ascending.
    pub fn jobs(&self) -> impl Iterator<Item = &Arc<Job>> {
        self.jobs.values().map(|record| &record.job)
    }

    /// The jobs that are known, the newest first: those with a number below this one.
    pub fn jobs_newest_first(&self, below: Option<JobId>) -> impl Iterator<Item = &Arc<Job>> {
        let below = below.map_or(Bound::Unbounded, Bound::Excluded);
        let known = self.jobs.range((Bound::Unbounded, below)).rev();
        known.map(|(_, record)| &record.job)
    }

    /// The highest number that a job ever had.
    #[must_use]
    pub fn newest_job(&self) -> Option<JobId> {
        self.newest
    }

    /// The time of the last observation.
    #[must_use]
    pub fn at(&self) -> Time {
        self.at
    }

    /// The device classes.
    #[must_use]
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The device classes, shared.
    pub(crate) fn known_classes(&self) -> Arc<Classes> {
        Arc::clone(&self.classes)
    }

    /// Whether a node is to take no new work.
    #[must_use]
    pub fn is_drained(&self, id: NodeId) -> bool {
        self.drained.contains(&id)
    }

    /// A run that holds something.
    #[must_use]
    pub fn run(&self, id: RunId) -> Option<&Run> {
        self.runs.get(&id).map(AsRef::as_ref)
    }

    /// The runs that hold something, ascending.
    pub fn runs(&self) -> impl Iterator<Item = &Run> {
        self.runs.values().map(AsRef::as_ref)
    }

    /// The nodes ever seen; the one with id `i` at position `i`.
    pub fn nodes(&self) -> impl Iterator<Item = &NodeEntry> {
        self.nodes.iter().map(AsRef::as_ref)
    }

    /// The generation of the latest orders.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// Everything that a plan is made from, now. What changed since the last seal is named.
    pub(crate) fn seal(&mut self) -> Snapshot {
        let last = self.serial;
        self.serial = Serial(last.0 + 1);
        let (mix, is_new_mix) = self.arrivals.mix();
        if std::mem::take(&mut self.has_changed) | is_new_mix || last.0 == 0 {
            self.changed = self.serial;
        }
        let changed_nodes = std::mem::take(&mut self.changed_nodes);
        let since = (last.0 > 0 && !self.everything_changed).then_some(last);
        self.everything_changed = false;
        let nodes = if since.is_some() { changed_nodes.into_iter().collect() } else { Vec::new() };
        Snapshot {
            serial: self.serial,
            at: self.at,
            classes: Arc::clone(&self.classes),
            nodes: Arc::clone(&self.nodes),
            backlog: Arc::clone(&self.backlog),
            runs: Arc::clone(&self.runs),
            unwanted: Arc::clone(&self.unwanted),
            tenants: Arc::clone(&self.tenants),
            mix,
            catalogue: Arc::clone(&self.shelves.catalogue),
            signals: Arc::clone(&self.signals),
            jobs: Arc::clone(&self.running_jobs),
            progress: Arc::clone(&self.progress),
            capacity: self.capacity,
            held: self.held,
            memory: self.memory.clone(),
            changes: Changes { since, nodes },
            changed: self.changed,
        }
    }

    /// The latest snapshot in which anything but time and memory was new, and the nodes that cannot
    /// be seen; nothing where runs are given up that any observation may find again.
    pub(crate) fn settled_since(&self) -> Option<(Serial, BTreeSet<NodeId>)> {
        self.given_up.is_empty().then(|| (self.changed, self.unseen.clone()))
    }

    /// Seals under this number, for a turn that was written down: no snapshot is wanted.
    pub(crate) fn seal_as(&mut self, serial: Serial) {
        self.serial = Serial(serial.0.saturating_sub(1).max(self.serial.0));
        self.seal();
    }

    /// The number of the last snapshot.
    #[must_use]
    pub fn serial(&self) -> Serial {
        self.serial
    }

    /// What the last plan wanted remembered.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The generation for the orders of `plan`: one more than any before, or the last one where it
    /// gives no orders.
    pub(crate) fn generation_for(&self, plan: &Plan) -> Generation {
        let gives_orders = !plan.placements.is_empty() || !plan.stops.is_empty();
        Generation(self.generation.0 + u64::from(gives_orders))
    }

    /// Takes on a plan that was checked and is about to be ordered as `generation`.
    pub(crate) fn accept(&mut self, plan: &Plan, generation: Generation) {
        for stop in &plan.stops {
            let stage = match stop.cause {
                StopCause::Gang | StopCause::Round => Stage::Recalled,
                StopCause::Stray | StopCause::Cancelled => Stage::Stopping,
            };
            self.set_stage(stop.run, stage);
        }
        for placement in &plan.placements {
            let run = placement.run;
            self.remove_waiting(run.job, run.task);
            self.start(Run {
                placement: placement.clone(),
                tenant: self.jobs[&run.job].job.tenant.clone(),
                stage: Stage::Ordered,
                since: self.at,
                generation,
            });
        }
        self.memory = plan.memory.clone();
        self.generation = generation;
    }

    /// The orders of earlier turns of which nobody knows whether the body ever had them: what they
    /// ask for has not been seen, and no receipt has come. A start bears the generation it had, so
    /// that a body that did have it answers as it did then.
    pub(crate) fn unconfirmed(&self) -> Vec<Order> {
        let order = |run: &Run| {
            let id = run.id();
            let stop = |cause| (self.generation, Action::Stop(cause));
            let (generation, action) = match run.stage {
                Stage::Running | Stage::Stray | Stage::Cancelled => return None,
                Stage::Ordered => {
                    let job = Arc::clone(&self.jobs.get(&id.job)?.job);
                    (run.generation, Action::Start { job, placement: run.placement.clone() })
                }
                // Which of the two causes it was makes no difference to a body.
                Stage::Recalled => stop(StopCause::Gang),
                Stage::Stopping => {
                    let is_cancelled = self.jobs.get(&id.job).is_some_and(|job| job.cancelled > 0);
                    stop(if is_cancelled { StopCause::Cancelled } else { StopCause::Stray })
                }
            };
            Some(Order { run: id, generation, action })
        };
        self.runs().filter_map(order).collect()
    }

    /// Gives up what was ordered, because nobody knows whether the body took it.
    pub(crate) fn take_back(&mut self, orders: &[Order]) {
        for (run, stop) in orders.iter().map(in_short) {
            self.take_one_back(run, stop);
        }
    }

    /// Gives up one order: a start, or a stop with this cause.
    pub(crate) fn take_one_back(&mut self, run: RunId, stop: Option<StopCause>) {
        match stop {
            None => self.give_up(run),
            Some(StopCause::Stray) => self.set_stage(run, Stage::Stray),
            Some(StopCause::Cancelled) => self.set_stage(run, Stage::Cancelled),
            Some(StopCause::Gang | StopCause::Round) => self.set_stage(run, Stage::Running),
        }
    }

    /// Lets go of a run that cannot be seen. If its task is not done otherwise, it waits again.
    fn give_up(&mut self, id: RunId) {
        let was_active = self.runs.get(&id).is_some_and(|run| is_active(run));
        let Some(run) = self.release(id) else { return };
        self.given_up.insert(id, run);
        self.lose_progress(id);
        if was_active {
            self.wait_again(id);
        }
    }

    /// The run that works on a task, if one does.
    fn active_run(&self, job: JobId, task: TaskIndex) -> Option<RunId> {
        let first = RunId { job, task, attempt: Attempt(0) };
        let last = RunId { attempt: Attempt(u32::MAX), ..first };
        let mut of_task = self.runs.range(first..=last);
        of_task.find(|(_, run)| is_active(run)).map(|(id, _)| *id)
    }

    fn set_stage(&mut self, id: RunId, stage: Stage) {
        if self.runs.get(&id).is_none_or(|run| run.stage == stage) {
            return;
        }
        let run = self.runs_mut().get_mut(&id).expect("just found");
        Arc::make_mut(run).stage = stage;
        self.count_unwanted(id, stage);
    }

    fn count_unwanted(&mut self, id: RunId, stage: Stage) {
        if is_unwanted(stage) != self.unwanted.contains(&id) {
            let unwanted = Arc::make_mut(&mut self.unwanted);
            if is_unwanted(stage) {
                unwanted.insert(id)
            } else {
                unwanted.remove(&id)
            };
        }
    }

    /// The backlog, to change it.
    fn backlog_mut(&mut self) -> &mut BTreeMap<JobId, Arc<Waiting>> {
        self.has_changed = true;
        Arc::make_mut(&mut self.backlog)
    }

    /// The runs, to change them.
    fn runs_mut(&mut self) -> &mut BTreeMap<RunId, Arc<Run>> {
        self.has_changed = true;
        Arc::make_mut(&mut self.runs)
    }

    /// The nodes, to change them.
    fn nodes_mut(&mut self) -> &mut Vec<Arc<NodeEntry>> {
        self.has_changed = true;
        Arc::make_mut(&mut self.nodes)
    }

    /// Lets a run hold its grant.
    fn start(&mut self, run: Run) {
        let amounts = Amounts::of_grant(&run.placement.grant);
        Arc::make_mut(&mut self.tenants).entry(run.tenant.clone()).or_default().add(amounts);
        let node = run.placement.node;
        self.change_free(node, |free| free.take(&run.placement.grant));
        if self.nodes[node.index()].up {
            self.held.add(amounts);
        }
        self.count_unwanted(run.id(), run.stage);
        self.note_running_job(run.id().job);
        self.runs_mut().insert(run.id(), Arc::new(run));
    }

    /// Takes back what a run holds, and forgets the run.
    fn release(&mut self, id: RunId) -> Option<Arc<Run>> {
        if !self.runs.contains_key(&id) {
            return None;
        }
        let run = self.runs_mut().remove(&id)?;
        if is_unwanted(run.stage) {
            Arc::make_mut(&mut self.unwanted).remove(&id);
        }
        let amounts = Amounts::of_grant(&run.placement.grant);
        let tenants = Arc::make_mut(&mut self.tenants);
        let held = tenants.get_mut(&run.tenant).expect("a tenant with a run holds something");
        held.subtract(amounts);
        let tenant_has_runs = *held != Amounts::default()
            || self.runs.values().any(|other| other.tenant == run.tenant);
        if !tenant_has_runs {
            Arc::make_mut(&mut self.tenants).remove(&run.tenant);
        }
        let node = run.placement.node;
        self.change_free(node, |free| free.give_back(&run.placement.grant));
        if self.nodes[node.index()].up {
            self.held.subtract(amounts);
        }
        if self.runs_of(id.job).next().is_none() && self.running_jobs.contains_key(&id.job) {
            Arc::make_mut(&mut self.running_jobs).remove(&id.job);
        }
        Some(run)
    }

    fn change_free(&mut self, id: NodeId, change: impl FnOnce(&mut fleet::Free)) {
        change(&mut Arc::make_mut(&mut self.nodes_mut()[id.index()]).free);
        self.changed_nodes.insert(id);
    }

    fn holding(&self, grant: &Grant, node: NodeId) -> bool {
        self.nodes[node.index()].free.has_room_for(grant)
    }
}

/// What an order is about, and why it stops it, if it does.
pub(crate) fn in_short(order: &Order) -> (RunId, Option<StopCause>) {
    let stop = match order.action {
        Action::Start { .. } => None,
        Action::Stop(cause) => Some(cause),
    };
    (order.run, stop)
}

/// Whether a run is the one that works on its task.
fn is_active(run: &Run) -> bool {
    matches!(run.stage, Stage::Ordered | Stage::Running | Stage::Recalled)
}
