//! A model world: a body with its own clock.
//!
//! In come an inventory, the truth about rates, outages, and orders; out go
//! observations, receipts, and a log of what really happened. Time passes in
//! [`Body::wait`] only, and jumps from one event to the next. The world knows
//! how long each run really takes, and how runs hold each other up, and tells
//! nobody; it keeps its own account of what is held and refuses what does not
//! fit. It never plans.

mod contention;
mod log;
mod events;
mod inside;
mod makes;
mod memory;
mod mirror;
mod kept;
mod orders;
mod store;
mod truth;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::{
    Body, BodyError, Catalogue, Classes, Extent, Free, Grant, Job, Milli, Node, NodeId, NodeSight,
    Observation, Order, Outcome, Receipt, RunId, RunSight, RunState, Time, Usage,
};

pub use log::{Entry, Event, Start};
pub use makes::Makes;
pub use truth::TrueRates;

use crate::workload::{Inventory, Outage, OutageKind};
use contention::Progress;
use inside::Inside;
use kept::{Kept, Leg};
use memory::Memory;
use mirror::Mirror;
use store::Store;

/// A model world.
#[derive(Clone, Debug)]
pub struct World {
    clock: Time,
    classes: Arc<Classes>,
    stations: Vec<Station>,
    rates: TrueRates,
    store: Store,
    kept: Kept,
    /// How far channels may be filled, as a part of what passes.
    oversubscribe: Milli,
    runs: BTreeMap<RunId, Running>,
    /// Of these the ones whose pace may change: they talk, over the links of their node or to
    /// others of their gang, or hold channels that may be crowded.
    paced: BTreeSet<RunId>,
    queue: BTreeMap<Moment, Due>,
    sequence: u64,
    memory: Memory,
    mirror: Mirror,
    effects: Vec<Effect>,
    log: Vec<Entry>,
}

/// One node with what is on it.
#[derive(Clone, Debug)]
pub struct Station {
    /// The node.
    pub node: Arc<Node>,
    free: Free,
    inside: Inside,
    outages: u32,
    was_told_lost: bool,
    runs: BTreeSet<RunId>,
    unseen: Vec<RunSight>,
}

impl Station {
    /// Whether the node can be reached.
    #[must_use]
    pub fn is_up(&self) -> bool {
        self.outages == 0
    }
}

/// A run that really runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// Where.
    pub node: NodeId,
    /// With what.
    pub grant: Grant,
    /// Since when.
    pub since: Time,
    /// Whether its node was cut off at some time while it ran.
    pub unseen: bool,
    /// What it is a task of, for what it leaves behind.
    job: Arc<Job>,
    end: Option<Moment>,
    /// What of its task's work was done before it, and at which rate it does the rest.
    from: Leg,
    /// How far it has got, where its pace may change.
    progress: Option<Progress>,
}

/// What orders did to runs after the latest observation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It was started.
    Started(RunId),
    /// It was stopped; this is how it ran.
    Stopped(RunId, Box<Running>),
}

/// A place in the queue of events: time, then the order in which they were foreseen.
type Moment = (Time, u64);

#[derive(Clone, Copy, Debug)]
enum Due {
    End(RunId),
    Loss(NodeId, OutageKind),
    Return(NodeId),
}

/// The world as it really is, for checkers.
#[derive(Clone, Copy, Debug)]
pub struct TruthView<'a> {
    /// The time.
    pub at: Time,
    /// The device classes.
    pub classes: &'a Classes,
    /// The nodes; the one with id `i` at position `i`.
    pub stations: &'a [Station],
    /// Everything that runs, seen or not.
    pub runs: &'a BTreeMap<RunId, Running>,
    /// What orders did to runs after the latest observation.
    pub effects: &'a [Effect],
    /// Everything that ever happened.
    pub log: &'a [Entry],
}

impl World {
    /// A world at time zero. Every `resync_every` observations one is full; only the first where
    /// that is zero.
    ///
    /// # Panics
    /// If an outage names a node that is not in the inventory.
    #[must_use]
    pub fn new(
        inventory: &Inventory,
        rates: TrueRates,
        outages: &[Outage],
        resync_every: u32,
    ) -> Self {
        let restart = rates.restart();
        let mut world = Self {
            clock: Time::ZERO,
            classes: Arc::new(inventory.classes.clone()),
            stations: inventory.nodes.iter().map(|node| station(node, inventory)).collect(),
            rates,
            store: Store::default(),
            kept: Kept::new(restart),
            oversubscribe: Milli::WHOLE,
            runs: BTreeMap::new(),
            paced: BTreeSet::new(),
            queue: BTreeMap::new(),
            sequence: 0,
            memory: Memory::default(),
            mirror: Mirror::new(resync_every),
            effects: Vec::new(),
            log: Vec::new(),
        };
        for outage in outages {
            assert!(
                outage.node.index() < world.stations.len(),
                "an outage names node {}, which is not in the inventory",
                outage.node
            );
            world.foresee(outage.at, Due::Loss(outage.node, outage.kind));
            world.foresee(outage.at.after(outage.lasts), Due::Return(outage.node));
        }
        world
    }

    /// The same world with these datasets on its nodes.
    #[must_use]
    pub fn storing(mut self, catalogue: &Catalogue) -> Self {
        self.store = Store::new(catalogue);
        self
    }

    /// Lets channels inside nodes be filled to this part of what passes; what would fill them
    /// further is refused.
    pub fn oversubscribe(&mut self, part: Milli) {
        self.oversubscribe = part;
    }

    /// The time.
    #[must_use]
    pub fn at(&self) -> Time {
        self.clock
    }

    /// When something will happen next though nobody does anything.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        self.queue.first_key_value().map(|((at, _), _)| *at)
    }

    /// Whether something that could change a plan has happened since the latest observation.
    #[must_use]
    pub fn has_news(&self) -> bool {
        self.mirror.has_news
    }

    /// Everything as it really is.
    #[must_use]
    pub fn truth_view(&self) -> TruthView<'_> {
        TruthView {
            at: self.clock,
            classes: &self.classes,
            stations: &self.stations,
            runs: &self.runs,
            effects: &self.effects,
            log: &self.log,
        }
    }

    /// Forgets every order ever given, as an engine does that is restored from an old copy. What
    /// runs goes on.
    pub fn lose_memory(&mut self) {
        self.memory = Memory::default();
    }

    /// Lets the next observation tell everything, as for somebody who has just connected.
    pub fn doubt(&mut self) {
        self.mirror.in_doubt = true;
        self.mirror.has_news = true;
    }

    fn foresee(&mut self, at: Time, due: Due) -> Moment {
        let moment = (at, self.sequence);
        self.sequence += 1;
        self.queue.insert(moment, due);
        moment
    }

    fn record(&mut self, event: Event) {
        self.log.push(Entry { at: self.clock, event });
    }
}

fn station(node: &Node, inventory: &Inventory) -> Station {
    Station {
        node: Arc::new(node.clone()),
        free: node.capacity(&inventory.classes),
        inside: Inside::of(node, &inventory.classes),
        outages: 0,
        was_told_lost: false,
        runs: BTreeSet::new(),
        unseen: Vec::new(),
    }
}

impl Body for World {
    fn observe(&mut self) -> Result<Observation, BodyError> {
        self.effects.clear();
        let extent = self.mirror.next_extent();
        let changed = std::mem::take(&mut self.mirror.nodes);
        let sights = std::mem::take(&mut self.mirror.sights);
        let nodes = match extent {
            Extent::Full => self.stations.iter_mut().map(sight_of).collect(),
            Extent::Changes => {
                changed.iter().map(|node| sight_of(&mut self.stations[node.index()])).collect()
            }
        };
        let runs = match extent {
            Extent::Full => self.all_runs(sights),
            Extent::Changes => sights,
        };
        Ok(Observation {
            at: self.clock,
            extent,
            classes: Arc::clone(&self.classes),
            nodes,
            runs,
            receipts: std::mem::take(&mut self.mirror.receipts),
        })
    }

    fn carry_out(&mut self, orders: &[Order]) -> Result<(), BodyError> {
        for order in orders {
            let outcome = match self.memory.answer(order) {
                Some(outcome) => outcome,
                None => {
                    let outcome = self.obey(order);
                    self.memory.note(order, outcome);
                    outcome
                }
            };
            let (run, generation) = (order.run, order.generation);
            if let Outcome::Refused(refusal) = outcome {
                self.record(Event::Refused { run, generation, refusal });
                self.mirror.has_news = true;
            }
            self.mirror.receipts.push(Receipt { run, generation, outcome });
        }
        Ok(())
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), BodyError> {
        while !self.mirror.has_news {
            let next = self.next_event();
            let Some(target) = next.into_iter().chain(until).min() else { break };
            self.clock = self.clock.max(target);
            if next.is_none_or(|next| next > self.clock) {
                break;
            }
            self.let_pass();
        }
        Ok(())
    }

    fn keeps_work(&self) -> bool {
        self.kept.restart().is_some()
    }
}

fn sight_of(station: &mut Station) -> NodeSight {
    station.was_told_lost = !station.is_up();
    if station.is_up() {
        NodeSight::Up(Arc::clone(&station.node))
    } else {
        NodeSight::Lost(station.node.id)
    }
}

impl World {
    /// What ended unobserved, then all that can be seen running.
    fn all_runs(&self, mut sights: Vec<RunSight>) -> Vec<RunSight> {
        sights.retain(|sight| !matches!(sight.state, RunState::Running(_)));
        for (run, running) in &self.runs {
            if self.stations[running.node.index()].is_up() {
                sights.push(sight(*run, running, RunState::Running(running.since)));
            }
        }
        sights.sort_by_key(|sight| match sight.state {
            RunState::Running(at)
            | RunState::Done(at)
            | RunState::Stopped(at)
            | RunState::Failed(at, _) => at,
        });
        sights
    }
}

fn sight(run: RunId, running: &Running, state: RunState) -> RunSight {
    RunSight {
        run,
        node: running.node,
        grant: running.grant.clone(),
        state,
        usage: Usage::default(),
        done: None,
    }
}
