//! Explanations: one job at one moment of a simulation.
//!
//! In come files, a job and a time; the simulation is run up to there, and the
//! planner is asked about the job on the very snapshot that it planned from.
//! Out goes one page, as text or JSON. `plan` uses the second half.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use controller::policy_file::nearest;
use fleet::{Catalogue, Job, JobId, Policy, Signals, Time};
use planner::Effort;
use planner::inquiry::timeline::PastError;
use planner::inquiry::{Inquiry, answer};
use sim::read::{self, Read};
use sim::visit::{Itinerary, visit};
use sim::{Inventory, Workload};

use super::study::suits;
use super::{policy, signals};
use crate::args::{Arrivals, Course, Explain};
use crate::out;
use crate::render::explain::{self, Asked};

/// The most names or ids that an error lists.
const LISTED_MAX: usize = 8;

pub(super) fn run(args: &Explain) -> anyhow::Result<()> {
    let policy = policy::find(&args.course.policy)?;
    let mut remarks = Vec::new();
    let inventory = inventory(&args.fleet, &args.course, &mut remarks)?;
    let workload = workload(&args.jobs, &inventory, &args.course, &mut remarks)?;
    suits(&policy, &workload)?;
    let job = find(&args.job, &workload.jobs)?;
    let at = args.at.map(|at| Time::ZERO.after(at));
    let catalogue = catalogue(&args.course, &inventory, &mut remarks)?;
    let signals = signals(&args.course, &policy, &inventory, &mut remarks)?;
    let (policy, course) = (&policy, &args.course);
    let question = Question { policy, job, at, course, catalogue, signals, remarks };
    tell(&inventory, &workload, &question)
}

/// What is asked about a fleet and a workload.
pub(super) struct Question<'a> {
    pub(super) policy: &'a Policy,
    pub(super) job: JobId,
    pub(super) at: Option<Time>,
    pub(super) course: &'a Course,
    /// Where datasets are at first.
    pub(super) catalogue: Catalogue,
    /// What is known from outside about nodes and models.
    pub(super) signals: Signals,
    /// What was noticed when reading the files.
    pub(super) remarks: Vec<String>,
}

/// Goes to the moment, asks, and prints.
pub(super) fn tell(
    inventory: &Inventory,
    workload: &Workload,
    question: &Question<'_>,
) -> anyhow::Result<()> {
    let Question { policy, job, at, course, .. } = *question;
    let (catalogue, signals) = (question.catalogue.clone(), question.signals.clone());
    let itinerary = Itinerary { job, at, seed: course.seed, mix: None, catalogue, signals };
    let visit = visit(inventory, workload, policy, &itinerary)?;
    let past = PastError::of(visit.ended.iter().copied());
    let (snapshot, decision, effort) = (&visit.snapshot, &visit.decision, Effort::DEFAULT);
    let inquiry = Inquiry { snapshot, decision, policy, effort, job };
    let answer = answer(&inquiry, past.as_ref());
    let page = explain::page(&Asked {
        inventory,
        jobs: &workload.jobs,
        policy,
        seed: course.seed,
        visit: &visit,
        answer: answer.as_ref(),
        past: past.as_ref(),
        remarks: &question.remarks,
        now: None,
    });
    if course.json { out::print_json(&page) } else { out::print(&explain::text(&page)) }
}

pub(super) fn inventory(
    path: &Path,
    course: &Course,
    remarks: &mut Vec<String>,
) -> anyhow::Result<Inventory> {
    let options = read::Options { skip_bad: course.skip_bad, ..read::Options::default() };
    Ok(take_in(path, read::inventory(path, &options)?, remarks))
}

pub(super) fn workload(
    path: &Path,
    inventory: &Inventory,
    course: &Course,
    remarks: &mut Vec<String>,
) -> anyhow::Result<Workload> {
    let arrivals = course.arrivals.map(|arrivals| match arrivals {
        Arrivals::Timed => read::Arrivals::Timed,
        Arrivals::Order => read::Arrivals::Order,
    });
    let (skip_bad, seed) = (course.skip_bad, course.seed);
    let options = read::Options { skip_bad, arrivals, seed, ..read::Options::default() };
    let options = course.reading.options(options);
    let mut workload = take_in(path, read::workload(path, inventory, &options)?, remarks);
    if let Some(error) = course.rate_error {
        workload.truth.rate_error = error;
    }
    if let Some(restart) = course.restart {
        workload.truth.restart = Some(restart);
    }
    if let Some(error) = course.work_error {
        workload.truth.work_error = error;
    }
    if let Some(contention) = course.contention {
        workload.truth.contention = contention;
    }
    Ok(workload)
}

/// Which datasets are where; none where no file says so.
pub(super) fn catalogue(
    course: &Course,
    inventory: &Inventory,
    remarks: &mut Vec<String>,
) -> anyhow::Result<Catalogue> {
    let Some(path) = &course.data else { return Ok(Catalogue::default()) };
    let options = read::Options { skip_bad: course.skip_bad, ..read::Options::default() };
    Ok(take_in(path, read::catalogue(path, inventory, &options)?, remarks))
}

/// What is known about nodes and models; nothing where no file says so. The policy weighs nothing
/// else.
pub(super) fn signals(
    course: &Course,
    policy: &Policy,
    inventory: &Inventory,
    remarks: &mut Vec<String>,
) -> anyhow::Result<Signals> {
    let signals = match &course.signals {
        Some(path) => {
            let options = read::Options { skip_bad: course.skip_bad, ..read::Options::default() };
            take_in(path, signals::read(path, inventory, &options)?, remarks)
        }
        None => Signals::default(),
    };
    signals::ensure(policy, &signals)?;
    Ok(signals)
}

/// What was read; what was noticed meanwhile is remarked.
pub(super) fn take_in<T>(file: &Path, read: Read<T>, remarks: &mut Vec<String>) -> T {
    let Read { value, skipped, skipped_count, notes } = read;
    remarks.extend(notes);
    if let Some(first) = skipped.first() {
        let file = file.display();
        remarks.push(format!("{skipped_count} bad entries of {file} left out; the first: {first}"));
    }
    value
}

/// The job that a user names: by its name where only one has it, else by its id.
fn find(named: &str, jobs: &[Arc<Job>]) -> anyhow::Result<JobId> {
    let of_name: Vec<JobId> =
        jobs.iter().filter(|job| job.name == named).map(|job| job.id).collect();
    let of_id = named.strip_prefix('j').unwrap_or(named).parse().map(JobId).ok();
    let has_id = |id: &JobId| jobs.iter().any(|job| job.id == *id);
    match (&of_name[..], of_id.filter(has_id)) {
        ([only], _) => Ok(*only),
        ([], Some(id)) => Ok(id),
        ([], None) => unknown(named, jobs),
        (several, _) => bail!(
            "choose the job {named:?}: {} jobs have this name; give the id of one: {}",
            several.len(),
            list(several.iter().map(ToString::to_string))
        ),
    }
}

fn unknown(named: &str, jobs: &[Arc<Job>]) -> anyhow::Result<JobId> {
    let mut names: Vec<&str> = jobs.iter().map(|job| job.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    if let Some(nearest) = nearest(named, names.iter().copied()) {
        bail!("find the job {named:?}: did you mean {nearest:?}?");
    }
    let last = jobs.last().map_or(JobId(0), |job| job.id);
    bail!(
        "find the job {named:?}: the ids are {} to {last}, and the names {}",
        JobId(0),
        list(names.into_iter().map(str::to_owned))
    )
}

/// The first few, and that there are more.
fn list(mut items: impl Iterator<Item = String>) -> String {
    let mut listed: Vec<String> = items.by_ref().take(LISTED_MAX).collect();
    if items.next().is_some() {
        listed.push("…".to_owned());
    }
    listed.join(", ")
}
