//! What running jobs take away from each other on links that they share.
//!
//! The world's own account of communication, which no planner sees. Every run
//! that talks, and every gang of such runs together, sends so many bytes over
//! so many channels for each unit of work; a channel is shared evenly by those
//! that use it, and each is held up by the channel on which it waits longest.
//!
//! A run that holds channels inside its node moves data for as long as it runs:
//! where more is asked of one of them than passes, it takes as many times longer.
//!
//! Whenever a run starts or ends that does either, all of them are reckoned anew.
//! How strong all this is, is the world's to say ([`crate::Truth::contention`]).

use std::collections::{BTreeMap, BTreeSet};

use fleet::{Communication, DeviceIndex, JobId, Node, NodeId, Pattern, RunId, Time, Work};

use super::{Due, Running, Station, World};

/// The most members of which every order is tried; more talk in the order of their numbers.
const ORDERS_MAX: usize = 7;

/// Who talks to each other: a gang, or one run by itself.
type Party = (JobId, Option<RunId>);

/// What several parties may send over at the same time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Channel {
    /// A link between two devices, in one direction.
    Link(NodeId, DeviceIndex, DeviceIndex),
    /// What devices without a link share.
    Host(NodeId),
    /// A node's interface: out of it, or into it.
    Interface(NodeId, bool),
    /// A switch's up-link: out of what is below it, or into it.
    Uplink(String, bool),
}

/// The bytes that a party sends over each channel for a unit of work, and what passes there in a
/// second.
type Traffic = BTreeMap<Channel, (f64, u64)>;

/// Progress of a run whose pace may change: it talks, or channels that it holds may be crowded.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Progress {
    pub(super) communication: Option<Communication>,
    /// Whether it talks to the other tasks of its job too.
    pub(super) is_of_gang: bool,
    /// Seconds for a unit of work if nobody had to be waited for.
    pub(super) alone: f64,
    /// Seconds for a unit of work at the moment.
    unit: f64,
    /// Units of work that were left at that time, in microseconds.
    left: f64,
    since: u64,
    /// Units of work of the task in all.
    whole: f64,
}

/// None of its numbers is ever undefined.
impl Eq for Progress {}

impl Progress {
    /// All of so many units of work is left, each of which takes so many seconds alone.
    pub(super) fn new(
        (communication, is_of_gang): (Option<Communication>, bool),
        (whole, left, alone): (f64, f64, f64),
        since: u64,
    ) -> Self {
        Self { communication, is_of_gang, alone, unit: alone, left, since, whole }
    }

    /// What of the task's work is done by then.
    pub(super) fn done_by(&self, now: Time) -> Work {
        let passed = now.0.saturating_sub(self.since) as f64 / 1e6;
        let left = (self.left - passed / self.unit).max(0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "not below zero, and what is too much is as much as can be"
        )]
        let done = ((self.whole - left).max(0.0) * 1e6) as u64;
        Work(done)
    }
}

impl World {
    /// Finds anew how fast everything goes whose pace may change, and when it will end.
    pub(super) fn reckon(&mut self) {
        let mut parties: BTreeMap<Party, Vec<RunId>> = BTreeMap::new();
        for run in &self.paced {
            let alone = (!self.progress(*run).is_of_gang).then_some(*run);
            parties.entry((run.job, alone)).or_default().push(*run);
        }
        let traffic: BTreeMap<Party, Traffic> =
            parties.iter().map(|(party, runs)| (*party, self.traffic(runs))).collect();
        let mut users: BTreeMap<&Channel, f64> = BTreeMap::new();
        for channel in traffic.values().flat_map(BTreeMap::keys) {
            *users.entry(channel).or_default() += 1.0;
        }
        let held_up = |traffic: &Traffic| {
            let time = |(channel, (bytes, passes)): (&Channel, &(f64, u64))| {
                bytes * users[channel] / *passes as f64
            };
            traffic.iter().map(time).fold(0.0, f64::max)
        };
        let coefficient = f64::from(self.rates.contention().0) / 1e3;
        let mut paces: Vec<(RunId, f64)> = Vec::new();
        for (party, runs) in &parties {
            let waits = coefficient * held_up(&traffic[party]);
            let alone = |run: &RunId| self.progress(*run).alone * self.crowded(*run, coefficient);
            // Who talks to others is as slow as the slowest of them.
            let slowest = runs.iter().map(alone).fold(0.0, f64::max);
            paces.extend(runs.iter().map(|run| (*run, slowest + waits)));
        }
        for (run, unit) in paces {
            self.go_on_at(run, unit);
        }
    }

    fn progress(&self, run: RunId) -> &Progress {
        let running = &self.runs[&run];
        running.progress.as_ref().expect("a paced run makes progress")
    }

    /// How many times longer a run takes for what others ask of the channels that it holds.
    fn crowded(&self, run: RunId, coefficient: f64) -> f64 {
        let running = &self.runs[&run];
        let inside = &self.stations[running.node.index()].inside;
        1.0 + coefficient * (inside.crowding(&running.grant) - 1.0)
    }

    /// Lets a run go on at this many seconds for a unit of work.
    fn go_on_at(&mut self, run: RunId, unit: f64) {
        let now = self.clock.0;
        let running = self.runs.get_mut(&run).expect("what is paced runs");
        let Some(end) = running.end else { return };
        let progress = running.progress.as_mut().expect("a paced run makes progress");
        if progress.unit.to_bits() == unit.to_bits() {
            return;
        }
        let passed = now.saturating_sub(progress.since) as f64 / 1e6;
        progress.left = (progress.left - passed / progress.unit).max(0.0);
        // A run that still fetches inputs begins later.
        (progress.unit, progress.since) = (unit, now.max(progress.since));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "neither is negative, and what is too long lasts as long as can be"
        )]
        let micros = (progress.left * unit * 1e6).ceil() as u64;
        let since = progress.since;
        self.queue.remove(&end);
        let at = Time(since.saturating_add(micros));
        let moment = self.foresee(at, Due::End(run));
        self.runs.get_mut(&run).expect("it still runs").end = Some(moment);
    }

    /// What the runs of a party send over which channels.
    fn traffic(&self, runs: &[RunId]) -> Traffic {
        let mut traffic = Traffic::new();
        for run in runs {
            let running = &self.runs[run];
            let station = &self.stations[running.node.index()];
            within(running, station, &mut traffic);
        }
        let first = &self.runs[&runs[0]];
        let communication = first.progress.as_ref().and_then(|progress| progress.communication);
        if let Some(communication) = communication.filter(|_| runs.len() > 1) {
            let mut nodes: Vec<&Node> =
                runs.iter().map(|run| &*self.stations[self.runs[run].node.index()].node).collect();
            nodes.sort_by_key(|node| (path(node), node.id));
            between(&communication, &nodes, &mut traffic);
        }
        traffic
    }
}

/// The names of the switches above a node, the highest first.
fn path(node: &Node) -> Vec<&str> {
    let switches = node.attachment.iter().flat_map(|attachment| &attachment.switches);
    let mut path: Vec<&str> = switches.map(|uplink| uplink.switch.as_str()).collect();
    path.reverse();
    path
}

/// Who sends how much to whom, by position, for members that stand in this order.
fn flows(communication: &Communication, count: usize) -> Vec<(usize, usize, f64)> {
    let bytes = communication.bytes.0 as f64;
    let members = count as f64;
    let next = |position: usize| (position + 1) % count;
    match communication.pattern {
        Pattern::Ring => {
            let share = 2.0 * (members - 1.0) / members * bytes;
            (0..count).map(|one| (one, next(one), share)).collect()
        }
        Pattern::Pipeline => (1..count).map(|one| (one - 1, one, bytes)).collect(),
        // A tree is as good as a line on which results come up and go down.
        Pattern::Tree | Pattern::Neighbour => {
            (1..count).flat_map(|one| [(one - 1, one, bytes), (one, one - 1, bytes)]).collect()
        }
        Pattern::AllToAll => {
            let pairs = (0..count).flat_map(|one| (0..count).map(move |other| (one, other)));
            let share = bytes / (members - 1.0);
            pairs
                .filter(|(one, other)| one != other)
                .map(|(one, other)| (one, other, share))
                .collect()
        }
        Pattern::ParameterServer => {
            (1..count).flat_map(|one| [(one, 0, bytes), (0, one, bytes)]).collect()
        }
    }
}

/// What the devices of one run send each other, in the order that takes least.
fn within(running: &Running, station: &Station, traffic: &mut Traffic) {
    let topology = station.node.topology.as_deref().filter(|topology| topology.is_wired());
    let communication = running.progress.as_ref().and_then(|progress| progress.communication);
    let (Some(topology), Some(communication)) = (topology, communication) else {
        return;
    };
    let devices: Vec<DeviceIndex> = running.grant.devices.iter().map(|held| held.device).collect();
    if devices.len() < 2 {
        return;
    }
    let node = running.node;
    let flows = flows(&communication, devices.len());
    let in_order = |order: &[DeviceIndex]| {
        let mut loads = Traffic::new();
        for (from, to, bytes) in &flows {
            let (from, to) = (order[*from], order[*to]);
            let joins = |link: &&fleet::Link| link.ends == (from, to) || link.ends == (to, from);
            let (channel, passes) = match topology.links.iter().find(joins) {
                Some(link) => (Channel::Link(node, from, to), link.bandwidth.0),
                None => (Channel::Host(node), topology.host.0),
            };
            loads.entry(channel).or_insert((0.0, passes)).0 += bytes;
        }
        loads
    };
    let longest = |loads: &Traffic| {
        loads.values().map(|(bytes, passes)| bytes / *passes as f64).fold(0.0, f64::max)
    };
    let mut best = in_order(&devices);
    if devices.len() <= ORDERS_MAX {
        let mut order = devices.clone();
        try_orders(&mut order, 0, &mut |order| {
            let loads = in_order(order);
            if longest(&loads) < longest(&best) {
                best = loads;
            }
        });
    }
    add(best, traffic);
}

/// Every order of what stands from a place on.
fn try_orders(order: &mut Vec<DeviceIndex>, from: usize, look: &mut impl FnMut(&[DeviceIndex])) {
    if from == order.len() {
        look(order);
        return;
    }
    for place in from..order.len() {
        order.swap(from, place);
        try_orders(order, from + 1, look);
        order.swap(from, place);
    }
}

/// What the tasks of a gang send over the network.
fn between(communication: &Communication, nodes: &[&Node], traffic: &mut Traffic) {
    let mut loads = Traffic::new();
    for (from, to, bytes) in flows(communication, nodes.len()) {
        let (from, to) = (nodes[from], nodes[to]);
        if from.id == to.id {
            continue;
        }
        let (above_from, above_to): (BTreeSet<&str>, BTreeSet<&str>) =
            (path(from).into_iter().collect(), path(to).into_iter().collect());
        for (node, others, is_out) in [(from, &above_to, true), (to, &above_from, false)] {
            let Some(attachment) = &node.attachment else { continue };
            if let Some(passes) = attachment.interface {
                let channel = Channel::Interface(node.id, is_out);
                loads.entry(channel).or_insert((0.0, passes.0)).0 += bytes;
            }
            for uplink in attachment.switches.iter().filter(|one| !others.contains(&*one.switch)) {
                if let Some(passes) = uplink.bandwidth {
                    let channel = Channel::Uplink(uplink.switch.clone(), is_out);
                    loads.entry(channel).or_insert((0.0, passes.0)).0 += bytes;
                }
            }
        }
    }
    add(loads, traffic);
}

fn add(loads: Traffic, traffic: &mut Traffic) {
    for (channel, (bytes, passes)) in loads {
        traffic.entry(channel).or_insert((0.0, passes)).0 += bytes;
    }
}
