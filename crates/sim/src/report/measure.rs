//! Measures a log: what was allocated and drawn, and when each task ran.

use std::collections::BTreeMap;

use fleet::{
    ClassId, Classes, DeviceKind, Free, Grant, JobId, Millijoules, Node, NodeId, RunId, Span,
    TaskIndex, Time,
};

use crate::scenario::Outcome;
use crate::workload::Inventory;
use crate::world::{Event, Start};

/// What the log of one simulation says.
#[derive(Debug)]
pub(super) struct Measures {
    /// The tasks that were ever started.
    pub(super) stories: BTreeMap<(JobId, TaskIndex), Story>,
    /// By class.
    pub(super) classes: Vec<ClassMeter>,
    /// Drawn by nodes that were up, to the last end.
    pub(super) energy: Millijoules,
    pub(super) gpu_allocated_at_end: Option<f64>,
    pub(super) core_allocated_at_end: Option<f64>,
    pub(super) runs_restarted: u64,
    pub(super) nodes_lost: u64,
}

/// When one task ran.
#[derive(Clone, Copy, Debug)]
pub(super) struct Story {
    /// When its first attempt was started.
    pub(super) first_start: Time,
    /// The first attempt that did its work to the end, which need not be the latest.
    pub(super) done: Option<Done>,
}

/// An attempt that did its work to the end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done {
    /// When it was started.
    pub(super) started: Time,
    /// When it ended.
    pub(super) at: Time,
    /// The class that decided its rate.
    pub(super) class: ClassId,
}

/// Allocated and available amounts of one class over time, in thousandths × microseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct ClassMeter {
    /// How much there is: thousandths of devices, or of cores.
    pub(super) thousandths: u64,
    allocated: u128,
    available: u128,
    total: u128,
}

impl ClassMeter {
    /// Allocated ÷ available; none where nothing was.
    pub(super) fn utilisation(&self) -> Option<f64> {
        quotient(self.allocated, self.available)
    }
}

/// One node along the log.
struct NodeMeter<'a> {
    node: &'a Node,
    free: Free,
    is_up: bool,
    read_at: Time,
}

/// A run along the log.
struct Running<'a> {
    node: NodeId,
    grant: &'a Grant,
    class: ClassId,
    started: Time,
}

/// Reads a log from its start.
struct Reader<'a> {
    classes: &'a Classes,
    nodes: Vec<NodeMeter<'a>>,
    meters: Vec<ClassMeter>,
    /// Milliwatts × microseconds, so that nothing is rounded before the end.
    drawn: u128,
    running: BTreeMap<RunId, Running<'a>>,
    stories: BTreeMap<(JobId, TaskIndex), Story>,
    horizon: Time,
    runs_restarted: u64,
    nodes_lost: u64,
}

impl Measures {
    /// Measures the log of a simulation.
    pub(super) fn of(inventory: &Inventory, outcome: &Outcome) -> Self {
        let mut reader = Reader::new(inventory, horizon(outcome));
        for entry in &outcome.log {
            reader.read(entry.at, &entry.event);
        }
        reader.close()
    }

    /// Allocated ÷ total GPU time.
    pub(super) fn gpu_utilisation(&self, inventory: &Inventory) -> Option<f64> {
        let gpus = self.of_kinds(inventory, |kind| kind == DeviceKind::Gpu);
        quotient(gpus.allocated, gpus.total)
    }

    /// Allocated ÷ available time of devices other than cores.
    pub(super) fn device_utilisation(&self, inventory: &Inventory) -> Option<f64> {
        self.of_kinds(inventory, |kind| kind != DeviceKind::Cpu).utilisation()
    }

    /// Allocated ÷ available core time.
    pub(super) fn core_utilisation(&self, inventory: &Inventory) -> Option<f64> {
        self.of_kinds(inventory, |kind| kind == DeviceKind::Cpu).utilisation()
    }

    fn of_kinds(&self, inventory: &Inventory, wanted: fn(DeviceKind) -> bool) -> ClassMeter {
        let mut sum = ClassMeter::default();
        for (id, _) in inventory.classes.iter().filter(|(_, class)| wanted(class.kind)) {
            let meter = &self.classes[id.index()];
            sum.allocated += meter.allocated;
            sum.available += meter.available;
            sum.total += meter.total;
        }
        sum
    }
}

/// Until when a simulation is measured: to its last end, or as long as anything still runs.
pub(super) fn horizon(outcome: &Outcome) -> Time {
    let (mut running, mut last) = (0_usize, None);
    for entry in &outcome.log {
        match entry.event {
            Event::Started(_) => running += 1,
            Event::Done { .. } => {
                running -= 1;
                last = Some(entry.at);
            }
            Event::Failed { .. } | Event::Stopped { .. } | Event::Killed { .. } => running -= 1,
            Event::Refused { .. } | Event::Crashed(_) | Event::Parted(_) | Event::Back(_) => {}
        }
    }
    last.filter(|_| running == 0).unwrap_or(outcome.at)
}

impl<'a> Reader<'a> {
    fn new(inventory: &'a Inventory, horizon: Time) -> Self {
        let classes = &inventory.classes;
        let mut meters = vec![ClassMeter::default(); classes.0.len()];
        for node in &inventory.nodes {
            meters[node.cpu.index()].thousandths += node.cores.0;
            for device in &node.devices {
                meters[device.index()].thousandths += 1000;
            }
        }
        let meter = |node: &'a Node| NodeMeter {
            node,
            free: node.capacity(classes),
            is_up: true,
            read_at: Time::ZERO,
        };
        Self {
            classes,
            nodes: inventory.nodes.iter().map(meter).collect(),
            meters,
            drawn: 0,
            running: BTreeMap::new(),
            stories: BTreeMap::new(),
            horizon,
            runs_restarted: 0,
            nodes_lost: 0,
        }
    }

    fn read(&mut self, at: Time, event: &'a Event) {
        match event {
            Event::Started(start) => self.started(at, start),
            Event::Done { run, .. } => {
                let ended = self.ended(at, *run);
                if let Some(Running { class, started, .. }) = ended
                    && let Some(story) = self.stories.get_mut(&(run.job, run.task))
                {
                    story.done.get_or_insert(Done { started, at, class });
                }
            }
            Event::Failed { run, .. } | Event::Stopped { run, .. } | Event::Killed { run } => {
                self.ended(at, *run);
            }
            // A node that is cut off goes on running and drawing power.
            Event::Parted(_) => self.nodes_lost += 1,
            Event::Crashed(node) => {
                self.nodes_lost += 1;
                self.advance(*node, at);
                self.nodes[node.index()].is_up = false;
            }
            Event::Back(node) => {
                self.advance(*node, at);
                self.nodes[node.index()].is_up = true;
            }
            Event::Refused { .. } => {}
        }
    }

    fn started(&mut self, at: Time, start: &'a Start) {
        self.advance(start.node, at);
        self.nodes[start.node.index()].free.take(&start.grant);
        let (node, class) = (start.node, start.class);
        let running = Running { node, grant: &start.grant, class, started: at };
        self.running.insert(start.run, running);
        self.runs_restarted += u64::from(start.run.attempt.0 > 0);
        let key = (start.run.job, start.run.task);
        self.stories.entry(key).or_insert(Story { first_start: at, done: None });
    }

    fn ended(&mut self, at: Time, run: RunId) -> Option<Running<'a>> {
        let running = self.running.remove(&run)?;
        self.advance(running.node, at);
        self.nodes[running.node.index()].free.give_back(running.grant);
        Some(running)
    }

    /// Adds up what a node had allocated and drew until now.
    fn advance(&mut self, node: NodeId, at: Time) {
        let meter = &mut self.nodes[node.index()];
        let at = at.min(self.horizon);
        let span = at.since(meter.read_at);
        meter.read_at = at;
        if !meter.is_up || span.is_zero() {
            return;
        }
        let draw = meter.node.draw(&meter.free, self.classes);
        self.drawn += u128::from(draw.0) * u128::from(span.0);
        let mut add = |class: ClassId, has: u64, free: u64| {
            let meter = &mut self.meters[class.index()];
            meter.allocated += u128::from(has.saturating_sub(free)) * u128::from(span.0);
            meter.available += u128::from(has) * u128::from(span.0);
        };
        add(meter.node.cpu, meter.node.cores.0, meter.free.cores.0);
        for (class, free) in meter.node.devices.iter().zip(&meter.free.devices) {
            add(*class, 1000, u64::from(free.share.0));
        }
    }

    fn close(mut self) -> Measures {
        for index in 0..self.nodes.len() {
            self.advance(self.nodes[index].node.id, self.horizon);
        }
        let whole = Span(self.horizon.0);
        for meter in &mut self.meters {
            meter.total = u128::from(meter.thousandths) * u128::from(whole.0);
        }
        Measures {
            gpu_allocated_at_end: self.allocated(DeviceKind::Gpu),
            core_allocated_at_end: self.allocated(DeviceKind::Cpu),
            stories: self.stories,
            classes: self.meters,
            energy: Millijoules(self.drawn / 1_000_000),
            runs_restarted: self.runs_restarted,
            nodes_lost: self.nodes_lost,
        }
    }

    /// Allocated ÷ total of one kind, as it is now.
    fn allocated(&self, kind: DeviceKind) -> Option<f64> {
        let (mut held, mut total) = (0_u64, 0_u64);
        for meter in &self.nodes {
            let mut add = |class: ClassId, has: u64, free: u64| {
                if self.classes.get(class).kind == kind {
                    held += has.saturating_sub(free);
                    total += has;
                }
            };
            add(meter.node.cpu, meter.node.cores.0, meter.free.cores.0);
            for (class, free) in meter.node.devices.iter().zip(&meter.free.devices) {
                add(*class, 1000, u64::from(free.share.0));
            }
        }
        quotient(u128::from(held), u128::from(total))
    }
}

/// The quotient; none where there is nothing to divide by.
fn quotient(part: u128, whole: u128) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet::{Attempt, Generation};

    fn run(attempt: u32) -> RunId {
        RunId { job: JobId(0), task: TaskIndex(0), attempt: Attempt(attempt) }
    }

    fn start(attempt: u32, class: u16) -> Event {
        Event::Started(Start {
            run: run(attempt),
            node: NodeId(0),
            class: ClassId(class),
            grant: Grant::default(),
            staging: Span::ZERO,
            duration: None,
            generation: Generation::default(),
        })
    }

    #[test]
    fn a_task_is_told_by_the_attempt_that_ended_first_though_a_later_one_was_started() {
        let inventory = crate::bundled::inventory();
        let mut reader = Reader::new(&inventory, Time::seconds(40));
        let log = [(0, start(0, 7)), (4, start(1, 8))];
        let done = [(30, 0), (34, 1)]
            .map(|(at, attempt)| (at, Event::Done { run: run(attempt), unseen: false }));
        let log = [log, done].concat();
        for (at, event) in &log {
            reader.read(Time::seconds(*at), event);
        }
        let story = reader.stories[&(JobId(0), TaskIndex(0))];
        let done = story.done.unwrap();
        assert_eq!((done.started, done.at), (Time::ZERO, Time::seconds(30)));
        assert_eq!((done.class, story.first_start), (ClassId(7), Time::ZERO));
    }
}
