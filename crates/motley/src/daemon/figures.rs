//! What is measured of the daemon and its fleet, as metrics.
//!
//! Labels are states, stages, nodes and devices: never jobs, of which there is
//! no end. A fleet of more nodes than [`NODES_MAX`] is told in sums alone.

use std::collections::BTreeMap;

use controller::{Ledger, News};
use fleet::RunState;
use server::metrics::{Family, FamilyKind, Sample, Value};

use super::meter::{BOUNDS, Meter, PhaseCounts};
use super::views::Viewer;
use super::{Daemon, views};

/// The most nodes that have metrics of their own.
const NODES_MAX: usize = 1_000;

/// The bounds of how long tasks wait, in seconds: those of kube-scheduler.
const WAIT_BOUNDS: usize = 20;

/// What is counted while the daemon runs.
#[derive(Default)]
pub(super) struct Counts {
    /// Tasks that were placed; jobs that a turn left waiting; turns that failed, or whose plan
    /// broke the law.
    attempts: [u64; 3],
    submitted: u64,
    /// Tasks that did their work, failed, were stopped.
    ended: [u64; 3],
    /// From submission to the order to start.
    waits: Waits,
}

#[derive(Default)]
struct Waits {
    seconds: f64,
    buckets: [u64; WAIT_BOUNDS + 1],
}

impl Waits {
    /// The bound of a bucket: a hundredth of a second, doubled so many times.
    fn bound(place: usize) -> f64 {
        match place < WAIT_BOUNDS {
            true => 0.01 * (1_u64 << place) as f64,
            false => f64::INFINITY,
        }
    }

    fn add(&mut self, seconds: f64) {
        self.seconds += seconds;
        let place = (0..WAIT_BOUNDS).find(|place| seconds <= Self::bound(*place));
        self.buckets[place.unwrap_or(WAIT_BOUNDS)] += 1;
    }

    fn value(&self) -> Value {
        let buckets = self.buckets.iter().enumerate();
        let buckets = buckets.map(|(place, count)| (Self::bound(place), *count)).collect();
        Value::Histogram { sum: self.seconds, buckets }
    }
}

impl Counts {
    /// Counts what a turn brought.
    pub(super) fn hear(&mut self, news: &News, (waiting, faults): (usize, usize), of: &Ledger) {
        if news.jobs.is_empty() && news.nodes.is_empty() {
            // A turn in which nothing was new tries nothing.
            return;
        }
        self.attempts[0] += news.placed.len() as u64;
        self.attempts[1] += waiting as u64;
        self.attempts[2] += u64::from(faults > 0);
        for (placement, _) in &news.placed {
            let job = of.standing(placement.run.job).map(|standing| standing.job.arrival);
            if let Some(arrival) = job.filter(|_| placement.run.attempt.0 == 0) {
                self.waits.add(of.at().since(arrival).as_seconds());
            }
        }
        for (_, state) in &news.ended {
            match state {
                RunState::Done(_) => self.ended[0] += 1,
                RunState::Failed(..) => self.ended[1] += 1,
                RunState::Stopped(_) => self.ended[2] += 1,
                RunState::Running(_) => {}
            }
        }
    }

    /// Counts a turn that failed.
    pub(super) fn failed(&mut self) {
        self.attempts[2] += 1;
    }

    /// Counts jobs that were submitted.
    pub(super) fn submitted(&mut self, jobs: usize) {
        self.submitted += jobs as u64;
    }

    /// How many tasks ended.
    pub(super) fn ended_tasks(&self) -> u64 {
        self.ended.iter().sum()
    }

    fn families(&self) -> Vec<Family> {
        let counter = |name: &str, help| Family::new(name, help, FamilyKind::Counter);
        let mut attempts = counter(
            "motley_schedule_attempts",
            "Tasks placed, jobs left waiting by a turn, and turns that failed",
        );
        for (result, count) in ["scheduled", "unschedulable", "error"].iter().zip(self.attempts) {
            attempts.add(&[("result", result)], count as f64);
        }
        let mut ended = counter("motley_tasks_ended", "Tasks that ended, by how");
        for (result, count) in ["done", "failed", "stopped"].iter().zip(self.ended) {
            ended.add(&[("result", result)], count as f64);
        }
        let submitted = counter("motley_queue_incoming_jobs", "Jobs that were submitted");
        let mut waits = Family::new(
            "motley_task_scheduling_sli_duration_seconds",
            "From the submission of a job to the order to start a task of it",
            FamilyKind::Histogram,
        );
        waits.samples.push(Sample { labels: Vec::new(), value: self.waits.value() });
        vec![attempts, ended, submitted.with(&[], self.submitted as f64), waits]
    }
}

impl Daemon {
    /// Everything that is measured.
    pub(super) fn figures(&self) -> Vec<Family> {
        let mut families = vec![
            gauge("motley_build_info", "The version of the program")
                .with(&[("version", env!("CARGO_PKG_VERSION"))], 1.0),
            gauge("motley_start_time_seconds", "When the daemon began, since 1970")
                .with(&[], self.began.0 as f64 / 1e6),
        ];
        families.extend(self.counts.families());
        families.push(phases(&self.meter));
        families.extend(queue(self));
        families.extend(fleet(self.controller.ledger(), &self.viewer()));
        let own = self.controller.ledger().nodes().next();
        let own = own.map_or_else(String::new, |entry| entry.node.name.clone());
        families.extend(self.sensors.families(&own));
        families.extend(process());
        families.extend(self.alarms.families());
        families.extend(self.server.families());
        families
    }
}

fn gauge(name: &str, help: &'static str) -> Family {
    Family::new(name, help, FamilyKind::Gauge)
}

/// What the phases of turns cost; whole turns are among them.
fn phases(meter: &Meter) -> Family {
    let mut family = Family::new(
        "motley_phase_duration_seconds",
        "What phases of turns cost that took requests in or gave orders",
        FamilyKind::Histogram,
    );
    for PhaseCounts { phase, within, count, sum } in meter.counts() {
        let mut before = 0;
        let own = |within: u64| within - std::mem::replace(&mut before, within);
        let bounds = BOUNDS.into_iter().map(|micros| micros as f64 / 1e6).chain([f64::INFINITY]);
        let counts = within.into_iter().chain([count]).map(own);
        let value =
            Value::Histogram { sum: sum.as_secs_f64(), buckets: bounds.zip(counts).collect() };
        let labels = vec![("phase".to_owned(), phase.to_owned())];
        family.samples.push(Sample { labels, value });
    }
    family
}

fn queue(daemon: &Daemon) -> Vec<Family> {
    let (ledger, explanation) = (daemon.controller.ledger(), daemon.controller.explanation());
    let states = ["waiting", "held", "blocked", "running", "done", "failed", "cancelled"];
    let mut jobs: BTreeMap<&str, u64> = states.iter().map(|state| (*state, 0)).collect();
    let mut pending: BTreeMap<&str, u64> =
        ["active", "gated", "unschedulable"].iter().map(|queue| (*queue, 0)).collect();
    for standing in ledger.jobs().filter_map(|job| ledger.standing(job.id)) {
        let state = views::state(&standing);
        *jobs.entry(state).or_default() += 1;
        let is_gated = standing.held || !standing.unmet.is_empty();
        let told = explanation.waiting.binary_search_by_key(&standing.job.id, |still| still.job);
        let queue = match told {
            _ if is_gated => "gated",
            Ok(_) => "unschedulable",
            Err(_) => "active",
        };
        *pending.entry(queue).or_default() += u64::from(standing.tally.waiting);
    }
    let mut by_state = gauge("motley_jobs", "Jobs that are known, by how they stand");
    jobs.iter().for_each(|(state, count)| by_state.add(&[("state", state)], *count as f64));
    let mut by_queue = gauge(
        "motley_pending_tasks",
        "Tasks that wait: that no turn has looked at, that are held or blocked, that have no room",
    );
    pending.iter().for_each(|(queue, count)| by_queue.add(&[("queue", queue)], *count as f64));
    let running = gauge("motley_running_tasks", "Tasks that were ordered or run");
    let steps = gauge("motley_plan_steps", "Steps of the latest plan");
    vec![
        by_state,
        by_queue,
        running.with(&[], ledger.runs().count() as f64),
        steps.with(&[], explanation.steps as f64),
    ]
}

fn fleet(ledger: &Ledger, viewer: &Viewer<'_>) -> Vec<Family> {
    let ids: Vec<_> = ledger.nodes().map(|entry| entry.node.id).collect();
    let mut states = BTreeMap::from([("up", 0_u64), ("drained", 0), ("lost", 0)]);
    let mut cores = gauge("motley_node_cores", "Cores of a node");
    let mut cores_free = gauge("motley_node_cores_free", "Cores of a node that nobody holds");
    let mut memory = gauge("motley_node_memory_bytes", "Memory of a node");
    let mut memory_free = gauge("motley_node_memory_free_bytes", "Memory that nobody holds");
    let mut held = gauge("motley_device_share_held", "How much of a device is held, of 1");
    let mut device_memory = gauge("motley_device_memory_held_bytes", "Device memory that is held");
    let is_small = ids.len() <= NODES_MAX;
    for node in ids.into_iter().filter_map(|id| viewer.node(id)) {
        let state = match node.state.as_str() {
            "up" => "up",
            "drained" => "drained",
            _ => "lost",
        };
        *states.entry(state).or_default() += 1;
        if !is_small {
            continue;
        }
        let of = [("node", node.name.as_str())];
        cores.add(&of, node.cores.whole);
        cores_free.add(&of, node.cores.free);
        memory.add(&of, node.memory_bytes.whole);
        memory_free.add(&of, node.memory_bytes.free);
        for (place, device) in node.devices.iter().enumerate() {
            let place = place.to_string();
            let of = [("node", &*node.name), ("device", &place), ("model", &device.model)];
            held.add(&of, device.share.whole - device.share.free);
            if device.memory_bytes.whole > 0.0 {
                device_memory.add(&of, device.memory_bytes.whole - device.memory_bytes.free);
            }
        }
    }
    let mut nodes = gauge("motley_nodes", "Nodes, by how they stand");
    states.iter().for_each(|(state, count)| nodes.add(&[("state", state)], *count as f64));
    vec![nodes, cores, cores_free, memory, memory_free, held, device_memory]
}

/// What this process uses, as the system tells.
fn process() -> Vec<Family> {
    let mut families = Vec::new();
    let ticks = rustix::param::clock_ticks_per_second() as f64;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program stands in brackets, and may have anything in it.
    let fields = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
    let fields: Vec<f64> = fields.map(|field| field.parse().unwrap_or(0.0)).collect();
    if let (Some(user), Some(system)) = (fields.get(11), fields.get(12)) {
        let family =
            Family::new("process_cpu_seconds", "Processor time of the daemon", FamilyKind::Counter);
        families.push(family.with(&[], (user + system) / ticks));
    }
    let pages = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let resident = pages.split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok());
    if let Some(resident) = resident {
        let bytes = resident * rustix::param::page_size() as f64;
        let family = gauge("process_resident_memory_bytes", "Memory of the daemon");
        families.push(family.with(&[], bytes));
    }
    families
}

#[cfg(test)]
mod tests {
    use server::metrics::numbers;

    use super::*;

    #[test]
    fn a_turn_that_fails_is_counted() {
        let mut counts = Counts::default();
        counts.failed();
        let found = numbers(&counts.families(), "motley_schedule_attempts_total");
        let of = |result: &str| found.iter().find(|(labels, _)| labels["result"] == result);
        assert_eq!(of("error").map(|(_, count)| *count), Some(1.0));
        assert_eq!(of("unschedulable").map(|(_, count)| *count), Some(0.0));
    }
}
