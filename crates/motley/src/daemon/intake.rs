//! From what a client describes to a job.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use controller::Ledger;
use fleet::{Dependency, Job, JobId, Output, Program, Time, User};
use serde_json::Value;
use server::api::{Caller, Denial, JOBS_MAX, Kind, Submission};
use sim::Inventory;
use sim::read;

use super::answers::missing;

/// The most bytes of arguments, and of environment, of a program: what the system takes.
const TEXT_MAX: usize = 1 << 20;

/// The most jobs that one job may begin after.
const AFTER_MAX: usize = 1_000;

/// The most that all jobs of a call together may begin after.
const AFTER_ALL_MAX: usize = 100_000;

/// The most entries of a job, the most bytes of them all, and of one, which becomes a variable.
pub(crate) const ENTRIES_MAX: usize = 1_000_000;
pub(crate) const ENTRIES_BYTES_MAX: usize = 16 << 20;
pub(crate) const ENTRY_BYTES_MAX: usize = 64 << 10;

/// Refuses more than what a call may bring.
pub(super) fn check_bounds(told: &[Submission]) -> anyhow::Result<()> {
    ensure!(!told.is_empty(), "submit at least one job");
    ensure!(told.len() <= JOBS_MAX, "submit at most {JOBS_MAX} jobs in one call");
    let after: usize = told.iter().map(|told| told.after.len()).sum();
    ensure!(
        after <= AFTER_ALL_MAX,
        "the jobs begin after {after} others together, and may after {AFTER_ALL_MAX} in one call"
    );
    Ok(())
}

/// A job of whoever asks, as it was described, submitted now. It gets the number after those of the
/// `earlier` jobs of its call.
pub(super) fn job(
    told: &Submission,
    (earlier, at): (Range<u64>, Time),
    (inventory, known): (&Inventory, &Known<'_>),
) -> anyhow::Result<Job> {
    let job = described(&told.job, inventory)?;
    ensure!(told.after.len() <= AFTER_MAX, "a job begins after at most {AFTER_MAX} others");
    let mut after = Vec::with_capacity(told.after.len());
    for (named, ending) in &told.after {
        let found = match named.strip_prefix('#') {
            Some(place) => earlier_one(place, &earlier),
            None => known.find(named),
        };
        let found = found.context("begin after another job")?;
        after.push(Dependency { job: found, ending: *ending });
    }
    let last = u64::from(told.first) + u64::from(job.tasks);
    ensure!(u32::try_from(last).is_ok(), "tasks are numbered up to {}", u32::MAX);
    let deadline = job.deadline.map(|deadline| at.after(deadline.since(Time::ZERO)));
    let (count, tasks) = (told.entries.len(), job.tasks);
    ensure!(
        count == 0 || count == tasks as usize,
        "there are {count} entries for {tasks} tasks; give one for each"
    );
    let program = Some(Arc::new(program(told, known.caller.user)?));
    let (id, restart) = (JobId(earlier.end), told.restart);
    Ok(Job { id, arrival: at, deadline, program, restart, after, ..job })
}

/// What a job asks for, read as a job of a workload file is.
fn described(told: &Value, inventory: &Inventory) -> anyhow::Result<Job> {
    let text = format!("{told}\n");
    let options = read::Options::default();
    let from = "the command line";
    let workload = read::workload_from(text.as_bytes(), from, inventory, &options)?.value;
    let [job] = &workload.jobs[..] else { bail!("describe one job") };
    ensure!(job.arrival == Time::ZERO, "a job arrives when it is submitted; leave `arrival` out");
    Ok(Job::clone(job))
}

fn program(told: &Submission, user: User) -> anyhow::Result<Program> {
    let Submission { arguments, directory, environment, output, time_limit, .. } = told;
    ensure!(!arguments.is_empty(), "say what to run");
    for (what, texts) in [("arguments", arguments), ("environment", environment)] {
        let bytes: usize = texts.iter().map(|text| text.len() + 1).sum();
        ensure!(bytes <= TEXT_MAX, "the {what} have {bytes} bytes, and may have {TEXT_MAX}");
        ensure!(texts.iter().all(|text| !text.contains('\0')), "the {what} have a NUL in them");
    }
    ensure!(
        environment.iter().all(|variable| variable.find('=').is_some_and(|at| at > 0)),
        "the environment is a list of NAME=value"
    );
    ensure!(directory.starts_with('/'), "the directory {directory:?} does not begin at the root");
    if let Output::Files(first, second) = output {
        let files = [Some(first), second.as_ref()];
        ensure!(
            files.into_iter().flatten().all(|file| !file.is_empty() && !file.contains('\0')),
            "the name of a file for output is empty or has a NUL in it"
        );
    }
    Ok(Program {
        arguments: arguments.clone(),
        directory: directory.clone(),
        environment: Arc::new(environment.clone()),
        output: output.clone(),
        time_limit: *time_limit,
        user,
        first: told.first,
        entries: Arc::new(entries(&told.entries)?),
    })
}

/// What each task gets as its own.
fn entries(told: &[String]) -> anyhow::Result<Vec<String>> {
    ensure!(told.len() <= ENTRIES_MAX, "a job has at most {ENTRIES_MAX} entries");
    let bytes: usize = told.iter().map(String::len).sum();
    ensure!(
        bytes <= ENTRIES_BYTES_MAX,
        "the entries have {bytes} bytes, and may have {ENTRIES_BYTES_MAX}"
    );
    for (index, entry) in told.iter().enumerate() {
        let (number, bytes) = (index + 1, entry.len());
        ensure!(
            bytes <= ENTRY_BYTES_MAX,
            "entry {number} has {bytes} bytes, and may have {ENTRY_BYTES_MAX}"
        );
        ensure!(!entry.contains('\0'), "entry {number} has a NUL in it");
    }
    Ok(told.to_vec())
}

/// The job at this place of its call, counted from 1.
fn earlier_one(place: &str, earlier: &Range<u64>) -> anyhow::Result<JobId> {
    let place = place.parse().ok().and_then(|place: u64| place.checked_sub(1));
    let id = place.and_then(|index| earlier.start.checked_add(index));
    let Some(id) = id.filter(|id| earlier.contains(id)) else {
        bail!("\"#N\" is the Nth job of the call, and stands before the one that begins after it")
    };
    Ok(JobId(id))
}

/// The jobs that whoever asks may name. Their names are gathered once, however many are looked for:
/// there may be ten thousand of either.
pub(super) struct Known<'a> {
    ledger: &'a Ledger,
    pub(super) caller: Caller,
    names: OnceCell<BTreeMap<&'a str, (JobId, Option<JobId>)>>,
}

impl<'a> Known<'a> {
    pub(super) fn new(ledger: &'a Ledger, caller: Caller) -> Self {
        Self { ledger, caller, names: OnceCell::new() }
    }

    /// The job with this number or, where only one has it, this name.
    pub(super) fn find(&self, named: &str) -> anyhow::Result<JobId> {
        let id = named.strip_prefix('j').unwrap_or(named).parse().map(JobId).ok();
        if let Some(id) = id.filter(|id| self.ledger.standing(*id).is_some()) {
            return Ok(id);
        }
        match self.names.get_or_init(|| self.gather()).get(named) {
            Some((only, None)) => Ok(*only),
            Some((first, Some(next))) => {
                let why = format!(
                    "several jobs are named {named:?}, {first} and {next} among them; give a number"
                );
                Err(Denial::new(Kind::Conflict, why).into())
            }
            None => {
                let why = format!(
                    "there is no job {named:?}; motley jobs --all lists those that are known"
                );
                Err(missing(why).into())
            }
        }
    }

    fn gather(&self) -> BTreeMap<&'a str, (JobId, Option<JobId>)> {
        let mut names = BTreeMap::new();
        for job in self.ledger.jobs().filter(|job| may_change(job, self.caller)) {
            let (first, next) = names.entry(job.name.as_str()).or_insert((job.id, None));
            if *first != job.id {
                *next = next.or(Some(job.id));
            }
        }
        names
    }
}

/// Whether whoever asks may change a job, and read what it printed: their own, and an operator any.
/// Who somebody is does not make them an operator: what a token of root may is what it says.
pub(super) fn may_change(job: &Job, caller: Caller) -> bool {
    let owner = job.program.as_ref().map(|program| program.user.uid);
    caller.is_operator || owner == Some(caller.user.uid)
}

#[cfg(test)]
mod tests;
