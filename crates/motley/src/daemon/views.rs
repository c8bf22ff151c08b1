//! What clients are shown of jobs, runs and nodes.

use std::collections::BTreeMap;

use controller::{Ledger, Standing};
use fleet::{
    Bytes, ClassId, DeviceFree, Explanation, Failure, JobId, MilliCores, NodeEntry, NodeId, Run,
    Usage,
};
use server::api::{Amount, DeviceView, JobView, NodeView, RunView, UsageView};

use super::MACHINE;
use super::sensors::Sensors;
use crate::render::{self, Names};

/// The most runs of one job that are listed.
const RUNS_MAX: usize = 100;

/// The longest command line that is shown.
const COMMAND_MAX: usize = 200;

/// What is shown from: one moment.
pub(super) struct Viewer<'a> {
    ledger: &'a Ledger,
    explanation: &'a Explanation,
    names: Names<'a>,
    /// How many runs each node has.
    runs: BTreeMap<NodeId, usize>,
    /// What is read of the devices of this machine.
    sensors: Option<&'a Sensors>,
}

impl<'a> Viewer<'a> {
    pub(super) fn new(ledger: &'a Ledger, explanation: &'a Explanation) -> Self {
        let nodes = ledger.nodes().map(|entry| entry.node.name.as_str()).collect();
        let mut runs = BTreeMap::new();
        for run in ledger.runs() {
            *runs.entry(run.placement.node).or_insert(0) += 1;
        }
        let (classes, now) = (ledger.classes(), Some(ledger.at()));
        let names = Names { classes, nodes, externals: &[], now };
        Self { ledger, explanation, names, runs, sensors: None }
    }

    /// The same, with what sensors say.
    pub(super) fn with(mut self, sensors: &'a Sensors) -> Self {
        self.sensors = Some(sensors);
        self
    }

    /// A job as it is listed.
    pub(super) fn job(&self, id: JobId) -> Option<JobView> {
        job(self, id)
    }

    /// A node as it is listed.
    pub(super) fn node(&self, id: NodeId) -> Option<NodeView> {
        self.ledger.nodes().nth(id.index()).map(|entry| node(self, entry))
    }

    fn why(&self, id: JobId) -> String {
        let told = self.explanation.waiting.binary_search_by_key(&id, |still| still.job);
        match (told, self.ledger.standing(id)) {
            (Ok(place), Some(standing)) => {
                let reason = &self.explanation.waiting[place].reason;
                render::reason(&self.names, standing.job, reason)
            }
            _ => "its turn has not come yet".to_owned(),
        }
    }
}

fn job(viewer: &Viewer<'_>, id: JobId) -> Option<JobView> {
    let ledger = viewer.ledger;
    let standing = ledger.standing(id)?;
    let Standing { job, tally, unmet, failed_tasks, ended, used, .. } = standing;
    let state = state(&standing);
    let reason = match state {
        "held" => Some("held; motley job release lets it run".to_owned()),
        "blocked" => {
            let others: Vec<_> = unmet.iter().take(5).map(|other| other.0.to_string()).collect();
            Some(format!("waits for the end of job {}", others.join(", ")))
        }
        "waiting" => Some(viewer.why(id)),
        _ => None,
    };
    let program = job.program.as_deref();
    let first = program.map_or(0, |program| program.first);
    let failures = failed_tasks.iter();
    Some(JobView {
        id: id.0,
        name: job.name.clone(),
        user: program.map_or(0, |program| program.user.uid),
        tenant: job.tenant.to_string(),
        priority: job.priority,
        state: state.to_owned(),
        tasks: job.tasks,
        waiting: tally.waiting,
        running: tally.running,
        done: tally.done,
        failed: tally.failed,
        cancelled: tally.cancelled,
        reason,
        command: program.map_or(String::new(), |program| clip(&program.arguments.join(" "))),
        submitted: job.arrival.0,
        ended: ended.map(|ended| ended.0),
        used: usage(used),
        runs: ledger.runs_of(id).take(RUNS_MAX).map(|run| view_of(ledger, run, first)).collect(),
        failures: failures
            .map(|(task, failure)| (first.saturating_add(task.0), failure.to_string()))
            .collect(),
        status: status(&standing),
    })
}

/// What was used, where it is known.
pub(super) fn usage(usage: Usage) -> Option<UsageView> {
    let Usage { cpu, memory } = usage;
    let view = UsageView { cpu_seconds: cpu.as_seconds(), memory_bytes: memory.0 };
    (!usage.is_unknown()).then_some(view)
}

/// One word for how a job stands.
pub(super) fn state(standing: &Standing<'_>) -> &'static str {
    let Standing { tally, held, unmet, ended, .. } = standing;
    match ended {
        Some(_) if tally.failed > 0 => "failed",
        Some(_) if tally.cancelled > 0 => "cancelled",
        Some(_) => "done",
        None if tally.running > 0 => "running",
        None if *held => "held",
        None if !unmet.is_empty() => "blocked",
        None => "waiting",
    }
}

/// What a program that waited for the job ends with: as a shell would for its first failure.
fn status(standing: &Standing<'_>) -> u8 {
    match standing.failed_tasks.first() {
        Some((_, Failure::Status(status))) => *status,
        Some((_, Failure::Signal(signal))) => 128_u8.saturating_add(*signal),
        Some((_, Failure::TimeLimit)) => 124,
        Some((_, Failure::NotStarted(_))) => 127,
        Some((_, Failure::OutOfMemory)) => 137,
        Some((_, Failure::Lost)) => 1,
        None if standing.tally.cancelled > 0 => 130,
        None => 0,
    }
}

fn view_of(ledger: &Ledger, run: &Run, first: u32) -> RunView {
    let node = ledger.nodes().nth(run.placement.node.index());
    let grant = &run.placement.grant;
    let cores = grant.cores.to_string();
    let mut parts = vec![if cores == "1" { "1 core".to_owned() } else { format!("{cores} cores") }];
    if !grant.memory.is_zero() {
        parts.push(grant.memory.to_string());
    }
    for held in &grant.devices {
        let class = node.and_then(|entry| entry.node.devices.get(held.device.index()));
        let model = class.map_or("device", |class| ledger.classes().get(*class).model.as_str());
        parts.push(format!("{} of {model} {}", held.share, held.device.0));
    }
    RunView {
        task: first.saturating_add(run.placement.run.task.0),
        attempt: run.placement.run.attempt.0,
        node: node.map_or(String::new(), |entry| entry.node.name.clone()),
        grant: parts.join(", "),
        since: run.since.0,
        used: None,
    }
}

fn node(viewer: &Viewer<'_>, entry: &NodeEntry) -> NodeView {
    let ledger = viewer.ledger;
    let id = entry.node.id;
    let state = match (entry.up, ledger.is_drained(id)) {
        (true, _) => "up",
        (false, true) => "drained",
        (false, false) => "lost",
    };
    let whole = entry.node.capacity(ledger.classes());
    let sensors = viewer.sensors.filter(|_| id == MACHINE);
    let device = |place: usize, class: &ClassId, free: &DeviceFree, whole: &DeviceFree| {
        let read = sensors.and_then(|sensors| sensors.reading(place)).unwrap_or_default();
        let class = ledger.classes().get(*class);
        let share = |free: &DeviceFree| f64::from(free.share.0) / 1e3;
        DeviceView {
            model: class.model.clone(),
            kind: render::kind(class.kind).to_owned(),
            share: Amount { free: share(free), whole: share(whole) },
            memory_bytes: bytes(free.memory, whole.memory),
            celsius: read.celsius,
            watts: read.watts,
            busy: read.busy_percent.map(|percent| percent / 1e2),
        }
    };
    let states = entry.free.devices.iter().zip(&whole.devices);
    let devices = entry.node.devices.iter().zip(states).enumerate();
    let devices = devices.map(|(place, (class, (free, whole)))| device(place, class, free, whole));
    NodeView {
        name: entry.node.name.clone(),
        state: state.to_owned(),
        model: ledger.classes().get(entry.node.cpu).model.clone(),
        cores: Amount { free: cores(entry.free.cores), whole: cores(whole.cores) },
        memory_bytes: bytes(entry.free.memory, whole.memory),
        devices: devices.collect(),
        runs: viewer.runs.get(&id).copied().unwrap_or(0),
    }
}

/// Cores as a number.
pub(super) fn cores(cores: MilliCores) -> f64 {
    cores.0 as f64 / 1e3
}

fn bytes(free: Bytes, whole: Bytes) -> Amount {
    Amount { free: free.0 as f64, whole: whole.0 as f64 }
}

fn clip(text: &str) -> String {
    let mut clipped: String = text.chars().take(COMMAND_MAX).collect();
    if clipped.len() < text.len() {
        clipped.push('…');
    }
    clipped.replace(['\n', '\r', '\t'], " ")
}
