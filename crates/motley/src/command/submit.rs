//! Handing jobs to the daemon: from flags to what it is told.

use std::env;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use fleet::{Ending, Output, Restart};
use serde_json::{Map, Value, json};
use server::api::Submission;

use crate::args::live::{Needs, Submit, Wanted};
use crate::client::Client;
use crate::daemon::Place;
use crate::out;

/// What is passed on of the environment with `--no-env`.
const FEW: [&str; 6] = ["HOME", "LANG", "LOGNAME", "PATH", "SHELL", "USER"];

pub(super) fn run(args: &Submit) -> anyhow::Result<()> {
    let submission = describe(&args.job)?;
    let mut client = Client::connect(&Place::choose(args.job.at.directory.as_deref())?)?;
    if args.plan {
        let told = client.plan(&submission)?;
        return if args.json { out::print_json(&told.page) } else { out::print(&told.text) };
    }
    let numbers = client.submit(vec![submission])?;
    let number = numbers.first().context("hear the number of the job")?;
    match (args.json, args.parsable) {
        (true, _) => out::print_json(&json!({ "job": number })),
        (_, true) => out::print(&format!("{number}\n")),
        _ => out::print(&format!("job {number} submitted\n")),
    }
}

/// The job of the command line.
pub(super) fn describe(wanted: &Wanted) -> anyhow::Result<Submission> {
    let Wanted { needs, command, .. } = wanted;
    let directory = match &needs.cwd {
        Some(given) => std::path::absolute(given).context("find the directory of --cwd")?,
        None => env::current_dir().context("find the directory to start in")?,
    };
    let directory = directory.to_str().context("use the directory: its name is not UTF-8")?;
    let (tasks, first) = match &needs.array {
        Some(array) => numbered(array)?,
        None => (1, 0),
    };
    let output = match (needs.output.clone(), needs.error.clone()) {
        (Some(Output::Files(first, _)), error) => Output::Files(first, error),
        (Some(_), Some(_)) => bail!("use --error: it goes with a file for --output"),
        (output, _) => output.unwrap_or_default(),
    };
    let restart = Restart { retries: needs.retries, requeue: !needs.no_requeue };
    Ok(Submission {
        job: job(needs, command, tasks)?,
        arguments: command.clone(),
        directory: directory.to_owned(),
        environment: environment(needs)?,
        output,
        time_limit: needs.time,
        restart,
        after: after(needs),
        first,
        entries: Vec::new(),
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

/// How many tasks, and the number of the first: `1-1000000`, or `7` for one.
fn numbered(array: &str) -> anyhow::Result<(u32, u32)> {
    let (first, last) = array.split_once('-').unwrap_or((array, array));
    let number = |text: &str| text.trim().parse::<u32>();
    let (Ok(first), Ok(last)) = (number(first), number(last)) else {
        bail!("read --array {array:?}: write FIRST-LAST, like 1-100");
    };
    ensure!(first <= last, "read --array {array:?}: the first is higher than the last");
    let count = u64::from(last) - u64::from(first) + 1;
    let count = u32::try_from(count).context("read --array: it has too many numbers")?;
    Ok((count, first))
}

/// What the job asks for, in the form of a workload file.
fn job(needs: &Needs, command: &[String], tasks: u32) -> anyhow::Result<Value> {
    let mut job = Map::new();
    let program = command.first().map_or("job", String::as_str);
    let own = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    job.insert("name".to_owned(), json!(needs.name.as_deref().unwrap_or(own)));
    let user = || env::var("USER").or_else(|_| env::var("LOGNAME")).ok();
    if let Some(tenant) = needs.tenant.clone().or_else(user).filter(|name| !name.is_empty()) {
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
    job.insert("alternative".to_owned(), json!(ways));
    Ok(Value::Object(job))
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

fn environment(needs: &Needs) -> anyhow::Result<Vec<String>> {
    let mut variables: Vec<(String, String)> = Vec::new();
    for (name, value) in env::vars_os() {
        let (Some(name), Some(value)) = (name.to_str(), value.to_str()) else { continue };
        let is_passed = !needs.no_env || FEW.contains(&name);
        if is_passed && !name.starts_with("MOTLEY_") {
            variables.push((name.to_owned(), value.to_owned()));
        }
    }
    for given in &needs.env {
        let (name, value) = match given.split_once('=') {
            Some((name, value)) => (name.to_owned(), value.to_owned()),
            None => match env::var(given) {
                Ok(value) => (given.clone(), value),
                Err(_) => bail!("pass on the variable {given:?}: it is not set; write NAME=VALUE"),
            },
        };
        ensure!(!name.is_empty(), "set the variable {given:?}: it has no name");
        variables.retain(|(other, _)| *other != name);
        variables.push((name, value));
    }
    variables.sort();
    Ok(variables.into_iter().map(|(name, value)| format!("{name}={value}")).collect())
}
