//! Handing jobs to the daemon: from flags, or a file, to what it is told.

use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use fleet::{Ending, Output, Restart};
use serde_json::{Map, Value, json};
use server::api::Submission;

use crate::args::live::{Needs, Submit, Wanted};
use crate::client::Client;
use crate::daemon::Place;
use crate::job_file::{self, Around, Passed};
use crate::{out, render};

pub(super) fn run(args: &Submit) -> anyhow::Result<()> {
    let mut jobs = match &args.file {
        Some(file) => of_file(file, &args.job.command)?,
        None => vec![describe(&args.job)?],
    };
    let mut client = Client::connect(&Place::choose(args.job.at.directory.as_deref())?)?;
    if args.plan {
        ensure!(jobs.len() == 1, "plan {} jobs: it can be said of one at a time", jobs.len());
        let told = client.plan(&jobs.remove(0))?;
        return if args.json { out::print_json(&told.page) } else { out::print(&told.text) };
    }
    let of = |job: &Submission| match &args.file {
        Some(_) => format!(": {}", job.job["name"].as_str().unwrap_or_default()),
        None => String::new(),
    };
    let names: Vec<_> = jobs.iter().map(of).collect();
    let numbers = client.submit(jobs)?;
    match (args.json, args.parsable, &numbers[..]) {
        (true, _, [number]) if args.file.is_none() => out::print_json(&json!({ "job": number })),
        (true, ..) => out::print_json(&json!({ "jobs": numbers })),
        (_, true, numbers) => {
            out::print(&numbers.iter().map(|number| format!("{number}\n")).collect::<String>())
        }
        (.., numbers) => {
            let line = |(number, name)| format!("job {number} submitted{name}\n");
            out::print(&numbers.iter().zip(&names).map(line).collect::<String>())
        }
    }
}

/// The jobs of a file; every fault is said, and what is well to know too.
fn of_file(file: &Path, arguments: &[String]) -> anyhow::Result<Vec<Submission>> {
    let read = job_file::open(file, arguments, &Around::here()?)?;
    let place = |fault: &job_file::Fault| format!("{}:{fault}\n", file.display());
    if read.faults.is_empty() {
        out::print_error_bytes(read.notes.iter().map(place).collect::<String>().as_bytes())?;
        return Ok(read.jobs);
    }
    out::print_error_bytes(read.faults.iter().map(place).collect::<String>().as_bytes())?;
    let count = render::count(read.faults.len() as u64, "fault");
    bail!("submit {}: it has {count}, so nothing was submitted", file.display())
}

/// The job of the command line.
pub(super) fn describe(wanted: &Wanted) -> anyhow::Result<Submission> {
    let (Wanted { needs, command, .. }, around) = (wanted, Around::here()?);
    let directory = around.directory(needs.cwd.as_deref())?;
    let entries = match (&needs.each_line, &needs.from_json) {
        (Some(file), _) => Some(job_file::of_lines(file)?),
        (None, Some(file)) => Some(job_file::of_json(file)?),
        (None, None) => None,
    };
    let tasks = job_file::tasks(needs.array.as_deref(), entries).context("count the tasks")?;
    let output = match (needs.output.clone(), needs.error.clone()) {
        (Some(Output::Files(first, _)), error) => Output::Files(first, error),
        (Some(_), Some(_)) => bail!("use --error: it goes with a file for --output"),
        (output, _) => output.unwrap_or_default(),
    };
    let restart = Restart { retries: needs.retries, requeue: !needs.no_requeue };
    let passed = if needs.no_env { Passed::Few } else { Passed::All };
    Ok(Submission {
        job: job((needs, command), tasks.count, &around)?,
        arguments: command.clone(),
        directory,
        environment: around.environment(passed, &needs.env)?,
        output,
        time_limit: needs.time,
        restart,
        after: after(needs),
        first: tasks.first,
        entries: tasks.entries,
        held: needs.hold,
    })
}

fn after(needs: &Needs) -> Vec<(String, Ending)> {
    let with = |ending: Ending| move |job: &String| (job.clone(), ending);
    let done = needs.after.iter().map(with(Ending::Done));
    let any = needs.after_any.iter().map(with(Ending::Any));
    let not_done = needs.after_notok.iter().map(with(Ending::NotDone));
    done.chain(any).chain(not_done).collect()
}

/// What the job asks for, in the form of a workload file.
fn job(
    (needs, command): (&Needs, &[String]),
    tasks: u32,
    around: &Around,
) -> anyhow::Result<Value> {
    let mut job = Map::new();
    let program = command.first().map_or("job", String::as_str);
    let own = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    job.insert("name".to_owned(), json!(needs.name.as_deref().unwrap_or(own)));
    if let Some(tenant) = needs.tenant.as_deref().or_else(|| around.user()) {
        job.insert("tenant".to_owned(), json!(tenant));
    }
    job.insert("tasks".to_owned(), json!(tasks));
    if needs.gang {
        job.insert("gang".to_owned(), json!(true));
    }
    if let Some(priority) = needs.priority {
        job.insert("priority".to_owned(), json!(priority));
    }
    match (&needs.work, needs.time) {
        (Some(work), _) => {
            job.insert("work".to_owned(), json!(work));
        }
        (None, Some(time)) => {
            ensure!(needs.rates.is_empty(), "use --rate: it needs --work, in the same unit");
            job.insert("work".to_owned(), json!(time.as_seconds()));
        }
        (None, None) => ensure!(needs.rates.is_empty(), "use --rate: it needs --work"),
    }
    if let Some(deadline) = needs.deadline {
        job.insert("deadline".to_owned(), json!(deadline.to_string()));
    }
    let first = Way {
        cpus: needs.cpus.clone(),
        mem: needs.mem.clone(),
        gpus: needs.gpus.clone(),
        gpu_share: needs.gpu_share.clone(),
        gpu_mem: needs.gpu_mem.clone(),
        rates: needs.rates.clone(),
    };
    let mut ways = vec![first.fields()?];
    for text in &needs.alternative {
        ways.push(Way::read(text)?.fields()?);
    }
    if !needs.labels.is_empty() {
        let labels = labels(&needs.labels)?;
        let told = ways.iter_mut().filter_map(Value::as_object_mut);
        told.for_each(|way| drop(way.insert("labels".to_owned(), labels.clone())));
    }
    job.insert("alternative".to_owned(), json!(ways));
    Ok(Value::Object(job))
}

/// The labels that a node must have, whichever way a task is run.
fn labels(given: &[(String, String)]) -> anyhow::Result<Value> {
    let mut labels = Map::new();
    for (key, value) in given {
        let before = labels.insert(key.clone(), json!(value));
        ensure!(before.is_none(), "read --label: {key:?} is given twice");
    }
    Ok(Value::Object(labels))
}

/// One way to run a task.
#[derive(Default)]
struct Way {
    cpus: Option<String>,
    mem: Option<String>,
    gpus: Option<String>,
    gpu_share: Option<String>,
    gpu_mem: Option<String>,
    rates: Vec<String>,
}

impl Way {
    /// `cpus=8,mem=4G,rate=epyc:2`.
    fn read(text: &str) -> anyhow::Result<Self> {
        let mut way = Self::default();
        for part in text.split(',') {
            let Some((word, value)) = part.split_once('=') else {
                bail!("read --alternative {text:?}: {part:?} is not like cpus=8");
            };
            let value = value.to_owned();
            let place = match word.trim() {
                "cpus" => &mut way.cpus,
                "mem" => &mut way.mem,
                "gpus" => &mut way.gpus,
                "gpu-share" => &mut way.gpu_share,
                "gpu-mem" => &mut way.gpu_mem,
                "rate" => {
                    way.rates.push(value.replacen(':', "=", 1));
                    continue;
                }
                other => bail!(
                    "read --alternative {text:?}: {other:?} is not one of cpus, mem, gpus, \
                     gpu-share, gpu-mem and rate"
                ),
            };
            ensure!(place.is_none(), "read --alternative {text:?}: {word} is given twice");
            *place = Some(value);
        }
        Ok(way)
    }

    fn fields(&self) -> anyhow::Result<Value> {
        let mut fields = Map::new();
        fields.insert("cores".to_owned(), number(self.cpus.as_deref().unwrap_or("1")));
        if let Some(memory) = &self.mem {
            fields.insert("memory".to_owned(), json!(memory));
        }
        let has_gpus = self.gpus.is_some() || self.gpu_share.is_some() || self.gpu_mem.is_some();
        if has_gpus {
            let (model, count) = match self.gpus.as_deref().unwrap_or("1").rsplit_once(':') {
                Some((model, count)) => (Some(model), count),
                None => (None, self.gpus.as_deref().unwrap_or("1")),
            };
            let mut device = Map::new();
            device.insert("kind".to_owned(), json!("gpu"));
            device.insert("count".to_owned(), number(count));
            if let Some(share) = &self.gpu_share {
                device.insert("share".to_owned(), json!(share));
            }
            if let Some(memory) = &self.gpu_mem {
                device.insert("memory".to_owned(), json!(memory));
            }
            if let Some(model) = model {
                device.insert("models".to_owned(), json!([model]));
            }
            fields.insert("device".to_owned(), Value::Object(device));
        }
        let mut rates = Map::new();
        for rate in &self.rates {
            let Some((model, value)) = rate.split_once('=') else {
                bail!("read --rate {rate:?}: write it like A100=2.5");
            };
            let before = rates.insert(model.to_owned(), json!(value));
            ensure!(before.is_none(), "read --rate: {model:?} is given twice");
        }
        if !rates.is_empty() {
            fields.insert("rates".to_owned(), Value::Object(rates));
        }
        Ok(Value::Object(fields))
    }
}

/// Whole numbers as numbers, which counts have to be.
fn number(text: &str) -> Value {
    text.parse::<u64>().map_or_else(|_| json!(text), |whole| json!(whole))
}
