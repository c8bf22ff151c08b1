//! Plans: what would happen to a job that nobody has submitted.
//!
//! The job is added to the workload, to arrive at the moment that is asked
//! about, and explained there like any other. Nothing is done.

use std::path::Path;
use std::sync::Arc;

use anyhow::{bail, ensure};
use fleet::{Job, JobId, Time};
use serde_json::{Map, Value, json};
use sim::read::{self, Read};
use sim::{Inventory, Workload};

use super::{explain, policy};
use crate::args::{Plan, Request};

/// What the job of the command line is called.
const NAME: &str = "new";

pub(super) fn run(args: &Plan) -> anyhow::Result<()> {
    let policy = policy::find(&args.course.policy)?;
    let mut remarks = Vec::new();
    let inventory = explain::inventory(&args.fleet, &args.course, &mut remarks)?;
    let at = args.at.map_or(Time::ZERO, |at| Time::ZERO.after(at));
    let mut workload = match &args.jobs {
        Some(path) => explain::workload(path, &inventory, &args.course, &mut remarks)?,
        None => Workload::default(),
    };
    let new = submitted(args, &inventory, &mut remarks)?;
    let job = submit(&mut workload, &new, at);
    remarks.push("this is what would happen; nothing was done".to_owned());
    let catalogue = explain::catalogue(&args.course, &inventory, &mut remarks)?;
    let signals = explain::signals(&args.course, &policy, &inventory, &mut remarks)?;
    let (policy, at, course) = (&policy, Some(at), &args.course);
    let question = explain::Question { policy, job, at, course, catalogue, signals, remarks };
    explain::tell(&inventory, &workload, &question)
}

/// The job of the file or of the command line.
fn submitted(
    args: &Plan,
    inventory: &Inventory,
    remarks: &mut Vec<String>,
) -> anyhow::Result<Arc<Job>> {
    let options = read::Options { seed: args.course.seed, ..read::Options::default() };
    let (file, read): (&Path, Read<Workload>) = match &args.submit {
        Some(path) => (path, read::workload(path, inventory, &options)?),
        None => {
            let text = line(&args.request)?;
            let file = "the command line";
            (Path::new(file), read::workload_from(text.as_bytes(), file, inventory, &options)?)
        }
    };
    let jobs = explain::take_in(file, read, remarks).jobs;
    let file = file.display();
    let [job] = &jobs[..] else {
        bail!("take the job of {file}: it has {} jobs; leave one in it", jobs.len());
    };
    ensure!(
        job.arrival == Time::ZERO,
        "take the job of {file}: it says when it arrives, which --at does here; leave it out"
    );
    Ok(Arc::clone(job))
}

/// The request as a line of a workload file, so that it is read and refused like one.
fn line(request: &Request) -> anyhow::Result<String> {
    let Request { cores, memory, device, count, share, device_memory, .. } = request;
    let mut alternative = fields(&[("cores", cores), ("memory", memory)]);
    if device.is_some() {
        let mut devices = fields(&[
            ("kind", device),
            ("count", count),
            ("share", share),
            ("memory", device_memory),
        ]);
        if !request.models.is_empty() {
            devices.insert("models".to_owned(), json!(request.models));
        }
        alternative.insert("device".to_owned(), Value::Object(devices));
    }
    for (field, pairs) in [("labels", &request.labels), ("rates", &request.rates)] {
        let mut object = Map::new();
        for (key, value) in pairs {
            let before = object.insert(key.clone(), json!(value));
            ensure!(
                before.is_none(),
                "read the {field} of the command line: {key:?} is given twice"
            );
        }
        if !object.is_empty() {
            alternative.insert(field.to_owned(), Value::Object(object));
        }
    }
    let Request { work, tasks, tenant, priority, .. } = request;
    let mut job =
        fields(&[("work", work), ("tasks", tasks), ("tenant", tenant), ("priority", priority)]);
    job.insert("name".to_owned(), json!(NAME));
    job.insert("alternative".to_owned(), json!([alternative]));
    Ok(format!("{}\n", Value::Object(job)))
}

/// The fields that are given; whole numbers as numbers, which counts have to be.
fn fields(given: &[(&str, &Option<String>)]) -> Map<String, Value> {
    let given = given.iter().filter_map(|(field, value)| Some((*field, value.as_ref()?)));
    let read =
        |value: &str| value.parse::<i64>().map_or_else(|_| json!(value), |whole| json!(whole));
    given.map(|(field, value)| (field.to_owned(), read(value))).collect()
}

/// Adds the job to the workload as the last that arrives by this time. What arrives later is left
/// out: nobody would know of it yet.
fn submit(workload: &mut Workload, new: &Job, at: Time) -> JobId {
    workload.jobs.retain(|job| job.arrival <= at);
    let id = JobId(workload.jobs.last().map_or(0, |job| job.id.0 + 1));
    let deadline = new.deadline.map(|deadline| at.after(deadline.since(Time::ZERO)));
    workload.jobs.push(Arc::new(Job { id, arrival: at, deadline, ..new.clone() }));
    id
}
