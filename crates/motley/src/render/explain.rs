//! One job at one moment, as a page.
//!
//! In come a visit to a turn and the answer about a job there; out goes a
//! [`Page`], whose JSON form is described in `docs/explain.md`, and its text.
//! Every sentence of the text is in the page too, beside the figures that it
//! is made of.

mod placed;
mod remedies;
mod waits;

use std::sync::Arc;

use fleet::explanation::Constraint;
use fleet::{Job, JobId, Policy, RunId, Time};
use planner::inquiry::Answer;
use planner::inquiry::timeline::PastError;
use serde::Serialize;
use sim::Inventory;
use sim::scenario::Ending;
use sim::visit::Visit;

use super::{Names, words};
use placed::PlacedPart;
use waits::WaitsPart;

/// The version of the page's form.
const FORMAT: u32 = 1;

/// What a page is made from.
pub struct Asked<'a> {
    /// The fleet.
    pub inventory: &'a Inventory,
    /// All jobs.
    pub jobs: &'a [Arc<Job>],
    /// The policy.
    pub policy: &'a Policy,
    /// The seed of the simulation.
    pub seed: u64,
    /// The turn, with the job that is asked about.
    pub visit: &'a Visit,
    /// What was answered, where tasks wait.
    pub answer: Option<&'a Answer>,
    /// How wrong declared durations were so far.
    pub past: Option<&'a PastError>,
    /// What else the reader should know.
    pub remarks: &'a [String],
    /// The time of day, where it is asked of what really runs.
    pub now: Option<Time>,
}

/// One job at one moment.
#[derive(Debug, Serialize)]
pub struct Page {
    format: u32,
    job: JobPart,
    policy: String,
    seed: u64,
    at_seconds: f64,
    /// Why the simulation ended, where this is its last turn and nothing later was seen.
    ending: Option<Ending>,
    tasks: TasksPart,
    /// How many placements the job has had.
    placed_count: u64,
    /// The latest of them, and why they went where they went.
    placed: Vec<PlacedPart>,
    /// Why tasks wait, and what would start one.
    waits: Option<WaitsPart>,
    remarks: Vec<String>,
    #[serde(skip)]
    at: String,
    #[serde(skip)]
    arrival: String,
}

#[derive(Debug, Serialize)]
struct JobPart {
    id: u64,
    name: String,
    tenant: String,
    priority: i32,
    tasks: u32,
    arrival_seconds: f64,
}

#[derive(Debug, Serialize)]
struct TasksPart {
    waiting: u32,
    running: u32,
    done: u32,
}

impl<'a> Asked<'a> {
    fn names(&self) -> Names<'a> {
        let Inventory { classes, nodes, .. } = self.inventory;
        let nodes = nodes.iter().map(|node| node.name.as_str()).collect();
        Names { classes, nodes, externals: &self.policy.externals, now: self.now }
    }

    /// What a job is called: `train (j3)`.
    /// The number of a task, as its user counts, who may have given the first one any.
    fn task(&self, run: RunId) -> u32 {
        let own = Some(&self.visit.job).filter(|job| job.id == run.job);
        let job = own.or_else(|| self.jobs.iter().find(|job| job.id == run.job));
        let program = job.and_then(|job| job.program.as_deref());
        program.map_or(0, |program| program.first).saturating_add(run.task.0)
    }

    fn job(&self, id: JobId) -> String {
        match self.jobs.iter().find(|job| job.id == id) {
            Some(job) => format!("{} ({id})", words::clip(&job.name)),
            None => id.to_string(),
        }
    }
}

/// The page about a job.
#[must_use]
pub fn page(asked: &Asked<'_>) -> Page {
    let Visit { job, snapshot, tasks, placed_count, ending, .. } = asked.visit;
    Page {
        format: FORMAT,
        job: JobPart {
            id: job.id.0,
            name: job.name.clone(),
            tenant: job.tenant.to_string(),
            priority: job.priority,
            tasks: job.tasks,
            arrival_seconds: job.arrival.as_seconds(),
        },
        policy: asked.policy.name.clone(),
        seed: asked.seed,
        at_seconds: snapshot.at.as_seconds(),
        ending: *ending,
        tasks: TasksPart { waiting: tasks.waiting, running: tasks.running, done: tasks.done },
        placed_count: *placed_count,
        placed: placed::parts(asked),
        waits: waits::part(asked),
        remarks: asked.remarks.to_vec(),
        at: asked.names().moment(snapshot.at),
        arrival: asked.names().moment(job.arrival),
    }
}

/// The page as text.
#[must_use]
pub fn text(page: &Page) -> String {
    let Page { job, at, arrival, tasks, .. } = page;
    let mut text = format!(
        "{} (j{}) of {}, arrived at {arrival}; at {at} under policy {}, seed {}:\n",
        words::clip(&job.name),
        job.id,
        words::clip(&job.tenant),
        page.policy,
        page.seed
    );
    let TasksPart { waiting, running, done } = tasks;
    text.push_str(&format!(
        "{}: {waiting} waiting, {running} running, {done} done.{}\n",
        words::count(job.tasks.into(), "task"),
        match page.ending {
            Some(Ending::Standstill) => " Nothing else will happen in this simulation.",
            Some(Ending::Finished) => " The simulation had ended.",
            _ => "",
        }
    ));
    placed::add(&mut text, page.placed_count, &page.placed);
    if let Some(waits) = &page.waits {
        waits::add(&mut text, waits);
    }
    for remark in &page.remarks {
        text.push_str(&format!("\nNote: {remark}.\n"));
    }
    text
}

/// The name of a constraint, as in policies and JSON.
fn constraint(of: Constraint) -> String {
    let value = serde_json::to_value(of).unwrap_or_default();
    let first_key = |value: &serde_json::Value| value.as_object()?.keys().next().cloned();
    value.as_str().map(str::to_owned).or_else(|| first_key(&value)).unwrap_or_default()
}

/// The unit of what a constraint asks for.
fn unit(of: Constraint) -> &'static str {
    match of {
        Constraint::Cores | Constraint::FreeCores => "millicores",
        Constraint::Memory
        | Constraint::FreeMemory
        | Constraint::DeviceMemory
        | Constraint::FreeDeviceMemory => "bytes",
        Constraint::FreeShare => "thousandths",
        Constraint::Devices | Constraint::FreeDevices | Constraint::ComputeUnits => "count",
        _ => "yes-or-no",
    }
}
