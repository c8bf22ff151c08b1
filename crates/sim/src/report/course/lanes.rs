//! Runs as bars along the time, in lanes by node and device.

use std::collections::BTreeMap;

use fleet::{ClassId, JobId, RunId, Span, Time};
use serde::Serialize;

use crate::scenario::{self, Outcome};
use crate::workload::{Inventory, Workload};
use crate::world::{Event, Makes, Start};

/// The most lanes that are shown, evenly spread over those on which anything ran.
const LANES_MAX: usize = 48;

/// The most bars that are shown: the longest.
const BARS_MAX: usize = 600;

/// The most runs beside each other in one lane; what would go beyond is left out.
const SLOTS_MAX: usize = 6;

/// Lanes with their bars.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lanes {
    /// The lanes, in the order of nodes and their devices.
    pub lanes: Vec<Lane>,
    /// On how many more lanes anything ran.
    pub lanes_left_out: usize,
    /// The bars, by lane, then start.
    pub bars: Vec<Bar>,
    /// Parts of runs on these lanes that are not among them: the shorter ones, or more than can
    /// stand beside each other. A run is on as many lanes as it has devices.
    pub bars_left_out: usize,
}

/// One device of one node, or the cores of a node for runs without devices.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Lane {
    /// The name of the node.
    pub node: String,
    /// The position of the device on its node; none for cores.
    pub device: Option<usize>,
    /// The model.
    pub model: String,
    /// How many runs stand beside each other at most; at least 1.
    pub slots: usize,
}

/// One run in one lane.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bar {
    /// Which lane, by position.
    pub lane: usize,
    /// Which place beside others in the lane.
    pub slot: usize,
    /// The name of the job.
    pub job: String,
    /// When it was started.
    pub from_seconds: f64,
    /// When it ended; the end of the simulation where it had not.
    pub to_seconds: f64,
    /// What became of it.
    pub end: BarEnd,
    /// Whether it was done and had taken more than twice as long as on the best device of the
    /// fleet.
    pub is_misplaced: bool,
}

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BarEnd {
    /// It did its work to the end.
    Done,
    /// It was stopped by an order.
    Stopped,
    /// It died with its node.
    Killed,
    /// It still ran at the end of the simulation.
    Running,
}

/// Where a lane is: by node, then device; cores last.
type Place = (usize, usize);

/// Stands for the cores of a node, after its devices.
const CORES: usize = usize::MAX;

/// A run in one lane, before it has a slot.
#[derive(Clone, Copy)]
struct Stay {
    job: JobId,
    from: Time,
    to: Time,
    end: BarEnd,
}

impl Lanes {
    /// What ran where and when.
    pub(super) fn of(
        inventory: &Inventory,
        workload: &Workload,
        outcome: &Outcome,
        horizon: Time,
    ) -> Self {
        let mut stays = stays(outcome, horizon);
        let mut places: Vec<Place> = stays.keys().copied().collect();
        let (all, shown) = (places.len(), places.len().min(LANES_MAX));
        places = (0..shown).map(|position| places[position * all / shown]).collect();
        let mut lanes = Self {
            lanes: Vec::new(),
            lanes_left_out: all - shown,
            bars: Vec::new(),
            bars_left_out: 0,
        };
        let names = Names::new(inventory, workload, outcome.seed);
        let least = least(&places, &stays);
        for place in places {
            let stays = stays.remove(&place).unwrap_or_default();
            lanes.add(place, &stays, least, &names);
        }
        lanes.bars_left_out += lanes.bars.len().saturating_sub(BARS_MAX);
        lanes.bars.truncate(BARS_MAX);
        lanes
    }

    /// Adds a lane with those of its stays that are at least so long.
    fn add(&mut self, (node, device): Place, stays: &[Stay], least: Span, names: &Names<'_>) {
        let lane = self.lanes.len();
        let mut ends: Vec<Time> = Vec::new();
        for stay in stays {
            if stay.to.since(stay.from) < least {
                self.bars_left_out += 1;
                continue;
            }
            let free = ends.iter().position(|end| *end <= stay.from);
            let slot = free.unwrap_or(ends.len());
            if slot >= SLOTS_MAX {
                self.bars_left_out += 1;
                continue;
            }
            ends.resize(ends.len().max(slot + 1), Time::ZERO);
            ends[slot] = stay.to;
            self.bars.push(names.bar(lane, slot, stay));
        }
        let node = &names.inventory.nodes[node];
        let class = if device == CORES { node.cpu } else { node.devices[device] };
        self.lanes.push(Lane {
            node: node.name.clone(),
            device: (device != CORES).then_some(device),
            model: names.model(class),
            slots: ends.len().max(1),
        });
    }
}

/// How long a stay must be at least, so that not too many are shown.
fn least(places: &[Place], stays: &BTreeMap<Place, Vec<Stay>>) -> Span {
    let of_place = |place| stays.get(place).into_iter().flatten();
    let mut spans: Vec<Span> =
        places.iter().flat_map(of_place).map(|stay| stay.to.since(stay.from)).collect();
    spans.sort_unstable_by(|one, other| other.cmp(one));
    spans.get(BARS_MAX - 1).copied().unwrap_or(Span(0))
}

/// Every run on each of its lanes, by start.
fn stays(outcome: &Outcome, horizon: Time) -> BTreeMap<Place, Vec<Stay>> {
    let mut stays: BTreeMap<Place, Vec<Stay>> = BTreeMap::new();
    let mut running: BTreeMap<RunId, (Time, &Start)> = BTreeMap::new();
    let mut close = |(from, start): (Time, &Start), to: Time, end: BarEnd| {
        let stay = Stay { job: start.run.job, from, to, end };
        let node = start.node.index();
        for held in &start.grant.devices {
            stays.entry((node, held.device.index())).or_default().push(stay);
        }
        if start.grant.devices.is_empty() {
            stays.entry((node, CORES)).or_default().push(stay);
        }
    };
    for entry in &outcome.log {
        let (run, end) = match &entry.event {
            Event::Started(start) => {
                running.insert(start.run, (entry.at, start));
                continue;
            }
            Event::Done { run, .. } => (run, BarEnd::Done),
            Event::Stopped { run, .. } => (run, BarEnd::Stopped),
            Event::Failed { run, .. } | Event::Killed { run } => (run, BarEnd::Killed),
            _ => continue,
        };
        if let Some(started) = running.remove(run) {
            close(started, entry.at, end);
        }
    }
    for started in running.into_values() {
        close(started, horizon.max(started.0), BarEnd::Running);
    }
    for stays in stays.values_mut() {
        stays.sort_by_key(|stay| (stay.from, stay.to, stay.job));
    }
    stays
}

/// What is needed to name bars and judge them.
struct Names<'a> {
    inventory: &'a Inventory,
    jobs: BTreeMap<JobId, (&'a str, Option<Span>)>,
}

impl<'a> Names<'a> {
    fn new(inventory: &'a Inventory, workload: &'a Workload, seed: u64) -> Self {
        let rates = scenario::rates(workload, seed);
        let makes = Makes::of(inventory);
        let jobs = workload.jobs.iter().map(|job| {
            let best = rates.best_duration(job, &makes);
            (job.id, (job.name.as_str(), best))
        });
        Self { inventory, jobs: jobs.collect() }
    }

    fn model(&self, class: ClassId) -> String {
        self.inventory.classes.get(class).model.clone()
    }

    fn bar(&self, lane: usize, slot: usize, stay: &Stay) -> Bar {
        let (name, best) = self.jobs.get(&stay.job).copied().unwrap_or_default();
        let ran = stay.to.since(stay.from);
        let is_slow = best.is_some_and(|best| ran > best.saturating_mul(2));
        Bar {
            lane,
            slot,
            job: name.to_owned(),
            from_seconds: stay.from.as_seconds(),
            to_seconds: stay.to.as_seconds(),
            end: stay.end,
            is_misplaced: stay.end == BarEnd::Done && is_slow,
        }
    }
}
