//! Modelled nodes: nodes of a fleet file beside real ones, in real time.
//!
//! In come nodes, orders and the time; out go sights and receipts. A task that
//! is started here runs no program: it holds its grant for as long as its
//! placement is expected to take, and has then done its work; one that is to
//! take longer than its program may is stopped at that time. Nobody here reads
//! a clock, so that whoever joins these nodes to a real body lends it its own.
//! What runs goes on while nobody watches: [`ModelledNodes::resume`] takes it
//! up from what the ledger knows, and what should have ended has ended then.
//!
//! An order that comes again is carried out once, until the end of its run was
//! told. Nothing here decides: what has no room is refused.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::{
    Action, Classes, Extent, Failure, Free, Generation, Grant, Job, Node, NodeId, NodeSight, Order,
    Outcome, Placement, Receipt, Refusal, Run, RunId, RunSight, RunState, Span, Stage, Time, Usage,
};

/// How long a task takes of which nobody says how long: long enough to be seen on a page.
pub const UNSAID: Span = Span(60_000_000);

/// For how long nothing is made of it that runs have started as ordered, as with a real body.
const QUIET: Span = Span(50_000);

/// The nodes, and what runs on them.
#[derive(Clone, Debug, Default)]
pub struct ModelledNodes {
    stations: BTreeMap<NodeId, Station>,
    runs: BTreeMap<RunId, Going>,
    ends: BTreeSet<(Time, RunId)>,
    /// The time as it was told last.
    at: Time,
    /// Runs that have ended, and of which nobody was told yet.
    ended: BTreeSet<RunId>,
    sights: Vec<RunSight>,
    receipts: Vec<Receipt>,
    quiet_since: Option<Time>,
    is_loud: bool,
}

#[derive(Clone, Debug)]
struct Station {
    node: Arc<Node>,
    free: Free,
}

/// A run that goes on.
#[derive(Clone, Debug)]
struct Going {
    generation: Generation,
    node: NodeId,
    grant: Grant,
    since: Time,
    ends: Time,
    /// How it ends.
    failure: Option<Failure>,
}

/// What was seen of modelled nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sights {
    /// The nodes, ascending; none where only changes were asked for.
    pub nodes: Vec<NodeSight>,
    /// Runs, in the order in which their states came about.
    pub runs: Vec<RunSight>,
    /// What came of orders.
    pub receipts: Vec<Receipt>,
}

impl ModelledNodes {
    /// These nodes, with nothing on them.
    #[must_use]
    pub fn new(nodes: impl IntoIterator<Item = Arc<Node>>, classes: &Classes) -> Self {
        let station = |node: Arc<Node>| {
            let free = node.capacity(classes);
            (node.id, Station { node, free })
        };
        Self { stations: nodes.into_iter().map(station).collect(), ..Self::default() }
    }

    /// How many nodes there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.stations.len()
    }

    /// Whether an order is for one of these nodes.
    #[must_use]
    pub fn is_theirs(&self, order: &Order) -> bool {
        match &order.action {
            Action::Start { placement, .. } => self.stations.contains_key(&placement.node),
            Action::Stop(_) => {
                self.runs.contains_key(&order.run) || self.ended.contains(&order.run)
            }
        }
    }

    /// Takes up what ran here before this program began, as its ledger knows it. What was ordered
    /// and never seen to run is left to be ordered again; so is what has no room any more.
    pub fn resume(&mut self, run: &Run, job: Option<&Job>) {
        let node = run.placement.node;
        let station = self.stations.get_mut(&node).filter(|_| run.stage != Stage::Ordered);
        let grant = &run.placement.grant;
        let Some(station) = station.filter(|station| station.free.has_room_for(grant)) else {
            return;
        };
        station.free.take(grant);
        self.go(run.generation, &run.placement, (run.since, job));
    }

    /// Ends everything that runs, as a keeper does that is ended: it counts as lost.
    pub fn lose_all(&mut self, at: Time) {
        self.pass(at);
        let runs: Vec<_> = self.runs.keys().copied().collect();
        for run in runs {
            self.end(run, RunState::Failed(at, Failure::Lost));
        }
    }

    /// It is this time now: what should have ended has ended.
    pub fn pass(&mut self, at: Time) {
        self.at = self.at.max(at);
        while let Some((ends, run)) =
            self.ends.first().copied().filter(|(ends, _)| *ends <= self.at)
        {
            let failure = self.runs.get(&run).and_then(|going| going.failure);
            self.end(run, failure.map_or(RunState::Done(ends), |how| RunState::Failed(ends, how)));
        }
    }

    /// When something is to be seen here though nobody orders anything; at once where that is zero.
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        if self.is_loud {
            return Some(Time::ZERO);
        }
        let next = self.ends.first().map(|(ends, _)| *ends);
        let quiet = self.quiet_since.map(|since| since.after(QUIET));
        next.into_iter().chain(quiet).min()
    }

    /// What is to be seen, or what is new of it.
    pub fn observe(&mut self, extent: Extent) -> Sights {
        (self.quiet_since, self.is_loud) = (None, false);
        self.ended.clear();
        let (mut runs, receipts) =
            (std::mem::take(&mut self.sights), std::mem::take(&mut self.receipts));
        if extent == Extent::Changes {
            return Sights { nodes: Vec::new(), runs, receipts };
        }
        runs.retain(|sight| !matches!(sight.state, RunState::Running(_)));
        let going = self.runs.iter().map(|(run, going)| going.sight(*run));
        runs.extend(going);
        runs.sort_by_key(moment);
        let stations = self.stations.values();
        let nodes = stations.map(|station| NodeSight::Up(Arc::clone(&station.node))).collect();
        Sights { nodes, runs, receipts }
    }

    /// Does what orders say that are theirs.
    pub fn carry_out(&mut self, order: &Order) {
        let outcome = match &order.action {
            Action::Start { job, placement } => self.start(order, job, placement),
            Action::Stop(_) => self.stop(order),
        };
        match outcome {
            Outcome::Accepted => _ = self.quiet_since.get_or_insert(self.at),
            Outcome::Refused(_) => self.is_loud = true,
        }
        let (run, generation) = (order.run, order.generation);
        self.receipts.push(Receipt { run, generation, outcome });
    }

    fn start(&mut self, order: &Order, job: &Job, placement: &Placement) -> Outcome {
        if let Some(going) = self.runs.get(&order.run) {
            return match order.generation < going.generation {
                true => Outcome::Refused(Refusal::StaleGeneration),
                false => Outcome::Accepted,
            };
        }
        if self.ended.contains(&order.run) {
            return Outcome::Accepted;
        }
        let station = self.stations.get_mut(&placement.node);
        let Some(station) = station.filter(|one| one.free.has_room_for(&placement.grant)) else {
            return Outcome::Refused(Refusal::NoRoom);
        };
        station.free.take(&placement.grant);
        self.go(order.generation, placement, (self.at, Some(job)));
        if let Some(going) = self.runs.get(&order.run) {
            self.sights.push(going.sight(order.run));
        }
        Outcome::Accepted
    }

    fn stop(&mut self, order: &Order) -> Outcome {
        let Some(going) = self.runs.get(&order.run) else {
            return match self.ended.contains(&order.run) {
                true => Outcome::Accepted,
                false => Outcome::Refused(Refusal::UnknownRun),
            };
        };
        if order.generation < going.generation {
            return Outcome::Refused(Refusal::StaleGeneration);
        }
        self.end(order.run, RunState::Stopped(self.at));
        Outcome::Accepted
    }

    /// What was taken from its node goes on from then until it is over.
    fn go(
        &mut self,
        generation: Generation,
        placement: &Placement,
        (since, job): (Time, Option<&Job>),
    ) {
        let takes = placement.duration.unwrap_or(UNSAID);
        let limit = job.and_then(|job| job.program.as_ref()?.time_limit);
        let limit = limit.filter(|limit| *limit < takes);
        let (node, grant) = (placement.node, placement.grant.clone());
        let (ends, failure) =
            (since.after(limit.unwrap_or(takes)), limit.map(|_| Failure::TimeLimit));
        self.ends.insert((ends, placement.run));
        self.runs.insert(placement.run, Going { generation, node, grant, since, ends, failure });
    }

    fn end(&mut self, run: RunId, state: RunState) {
        let Some(going) = self.runs.remove(&run) else { return };
        self.ends.remove(&(going.ends, run));
        if let Some(station) = self.stations.get_mut(&going.node) {
            station.free.give_back(&going.grant);
        }
        self.sights.push(RunSight { state, ..going.sight(run) });
        self.ended.insert(run);
        self.is_loud = true;
    }
}

impl Going {
    fn sight(&self, run: RunId) -> RunSight {
        let (node, grant) = (self.node, self.grant.clone());
        let (state, usage) = (RunState::Running(self.since), Usage::default());
        RunSight { run, node, grant, state, usage, done: None }
    }
}

/// When the state of a run came about.
#[must_use]
pub fn moment(sight: &RunSight) -> Time {
    match sight.state {
        RunState::Running(at)
        | RunState::Done(at)
        | RunState::Stopped(at)
        | RunState::Failed(at, _) => at,
    }
}
