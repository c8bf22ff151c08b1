//! A study: policies that run the same jobs in the same world, seed by seed.
//!
//! In come the arguments that every simulating command has; out come outcomes,
//! one for each policy and seed, in whichever order the command asks. Files
//! are read here, and what was noticed on the way is kept for the report.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use controller::Planning;
use fleet::snapshot::MixShape;
use fleet::{Catalogue, Job, Policy, Signals, TaskIndex, Time};
use indicatif::{ProgressBar, ProgressStyle};
use sim::read::{self, Read};
use sim::scenario::{self, Ending, Options, Outcome, Progress};
use sim::{Inventory, Workload, bundled};

use super::{policy, signals};
use crate::args::{Arrivals, Case};
use crate::render;
use crate::render::simulation::Input;

/// What is compared where no policy is named: Motley's own, and the baselines.
const POLICIES: [&str; 4] = ["default", "round-robin", "priority", "fair-share"];

/// Of how many tasks of one job the outputs are named, to find what no job writes.
const TASKS_NAMED_MAX: usize = 100_000;

/// Everything that stays the same over the simulations of one command.
pub(super) struct Study<'a> {
    pub(super) policies: Vec<Policy>,
    pub(super) inventory: Inventory,
    pub(super) input: Input,
    case: &'a Case,
    seeds: std::ops::RangeInclusive<u64>,
    mix: Option<Vec<MixShape>>,
    catalogue: Catalogue,
    signals: Signals,
    progress: ProgressBar,
}

impl<'a> Study<'a> {
    /// Reads what is needed to simulate so many seeds.
    pub(super) fn open(case: &'a Case, seeds: u32) -> anyhow::Result<Self> {
        let policies = policies(&case.policies)?;
        let range = range(case.seed, seeds)?;
        let (inventory, mut input) = fleet(case, seeds)?;
        let mix = declared(case, &inventory, &mut input)?;
        let catalogue = catalogue(case, &inventory, &mut input)?;
        let signals = signals(case, &inventory, &mut input)?;
        policies.iter().try_for_each(|policy| signals::ensure(policy, &signals))?;
        Ok(Self {
            policies,
            inventory,
            input,
            case,
            seeds: range,
            mix,
            catalogue,
            signals,
            progress: progress_bar(case),
        })
    }

    /// The seeds, in order.
    pub(super) fn seeds(&self) -> std::ops::RangeInclusive<u64> {
        self.seeds.clone()
    }

    /// The jobs of one seed.
    pub(super) fn workload(&mut self, seed: u64) -> anyhow::Result<Workload> {
        let case = self.case;
        let mut workload = match &case.jobs {
            None => bundled::workload(seed),
            Some(path) => {
                let arrivals = case.arrivals.map(|arrivals| match arrivals {
                    Arrivals::Timed => read::Arrivals::Timed,
                    Arrivals::Order => read::Arrivals::Order,
                });
                let options = reading(case, arrivals, seed);
                let read: Read<Workload> = read::workload(path, &self.inventory, &options)?;
                // Every seed reads the same file: what was noticed is said once.
                if seed == case.seed { self.input.take_in(path, read) } else { read.value }
            }
        };
        if let Some(error) = case.rate_error {
            workload.truth.rate_error = error;
        }
        if let Some(restart) = case.restart {
            workload.truth.restart = Some(restart);
        }
        if let Some(error) = case.work_error {
            workload.truth.work_error = error;
        }
        if let Some(contention) = case.contention {
            workload.truth.contention = contention;
        }
        self.input.note_jobs(&self.inventory, &workload);
        if seed == case.seed {
            note_absent_data(&workload, &self.catalogue, &mut self.input);
        }
        Ok(workload)
    }

    /// Runs the jobs under the policy at this position.
    pub(super) fn simulate(
        &self,
        workload: &Workload,
        position: usize,
        options: Options<'_>,
        planning: &mut Planning<'_>,
    ) -> anyhow::Result<Outcome> {
        let policy = &self.policies[position];
        self.say(format!("{} (seed {})", policy.name, options.seed));
        self.simulate_under(policy, workload, options, planning)
    }

    /// Shows on the progress bar what is going on.
    pub(super) fn say(&self, message: String) {
        self.progress.set_message(message);
    }

    /// Runs the jobs under a policy that need not be one of the study's.
    pub(super) fn simulate_under(
        &self,
        policy: &Policy,
        workload: &Workload,
        options: Options<'_>,
        planning: &mut Planning<'_>,
    ) -> anyhow::Result<Outcome> {
        suits(policy, workload)?;
        let bar = &self.progress;
        bar.set_length(workload.jobs.len() as u64);
        let mut progress = |progress: Progress| bar.set_position(progress.jobs_done as u64);
        let options = Options {
            until: self.case.until.map(|until| Time::ZERO.after(until)),
            mix: self.mix.clone(),
            catalogue: self.catalogue.clone(),
            signals: self.signals.clone(),
            progress: Some(&mut progress),
            ..options
        };
        let outcome = scenario::run(&self.inventory, workload, policy, options, planning);
        if let Some(violation) = outcome.violations.first() {
            bail!("keep the law under policy {}: {violation}", policy.name);
        }
        ensure!(
            outcome.ending != Ending::Turns,
            "finish under policy {}: {} turns are the most for one simulation; use --until",
            policy.name,
            outcome.turns
        );
        Ok(outcome)
    }

    /// Takes the progress bar away before something is printed.
    pub(super) fn close(&self) {
        self.progress.finish_and_clear();
    }
}

/// Refuses a policy that divides devices over time in a world that loses the work of what it stops.
pub(super) fn suits(policy: &Policy, workload: &Workload) -> anyhow::Result<()> {
    controller::suits(policy, workload.truth.restart.is_some()).context(
        "simulate (a world keeps the work of what is stopped where it says what going on costs: \
         `restart = \"30s\"` in [world], or --restart 30s)",
    )
}

/// The policies to run under. Reports tell them apart by name, so that no two may share one.
fn policies(named: &[String]) -> anyhow::Result<Vec<Policy>> {
    if named.is_empty() {
        return POLICIES.into_iter().map(policy::find).collect();
    }
    let policies: Vec<_> =
        named.iter().map(|name| policy::find(name)).collect::<anyhow::Result<_>>()?;
    let mut names = BTreeSet::new();
    for policy in &policies {
        ensure!(
            names.insert(&policy.name),
            "compare the policies: two have the name {:?}",
            policy.name
        );
    }
    Ok(policies)
}

fn range(first: u64, seeds: u32) -> anyhow::Result<std::ops::RangeInclusive<u64>> {
    let last = first.checked_add(u64::from(seeds) - 1);
    let last = last.context("count the seeds: --seed plus --seeds is more than 2^64 - 1")?;
    Ok(first..=last)
}

fn fleet(case: &Case, seeds: u32) -> anyhow::Result<(Inventory, Input)> {
    let Some(path) = &case.fleet else {
        return Ok((bundled::inventory(), Input::bundled(case.seed, seeds)));
    };
    let options = read::Options { skip_bad: case.skip_bad, ..read::Options::default() };
    let read = read::inventory(path, &options)?;
    let mut input = Input::files(case.seed, seeds);
    let inventory = input.take_in(path, read);
    Ok((inventory, input))
}

fn reading(case: &Case, arrivals: Option<read::Arrivals>, seed: u64) -> read::Options {
    let skip_bad = case.skip_bad;
    case.reading.options(read::Options { skip_bad, arrivals, seed, ..read::Options::default() })
}

/// What is declared to arrive: the first alternatives of the jobs of a file.
fn declared(
    case: &Case,
    inventory: &Inventory,
    input: &mut Input,
) -> anyhow::Result<Option<Vec<MixShape>>> {
    let Some(path) = &case.mix else { return Ok(None) };
    // When the jobs of the mix came does not matter; only pod lists can leave it open.
    let is_list = case.reading.columns.is_empty() && read::is_pod_list(path)?;
    let options = reading(case, is_list.then_some(read::Arrivals::Order), case.seed);
    let jobs = input.take_in(path, read::workload(path, inventory, &options)?).jobs;
    let shape = |job: &Arc<Job>| {
        let shape = job.alternatives.first()?.clone();
        Some(MixShape { count: u64::from(job.tasks), shape })
    };
    let mix: Vec<MixShape> = jobs.iter().filter_map(shape).collect();
    input.note(format!(
        "the mix is declared: that of the {} jobs of {}",
        jobs.len(),
        path.display()
    ));
    Ok(Some(mix))
}

/// Which datasets are where; none where no file says so.
fn catalogue(case: &Case, inventory: &Inventory, input: &mut Input) -> anyhow::Result<Catalogue> {
    let Some(path) = &case.data else { return Ok(Catalogue::default()) };
    let options = read::Options { skip_bad: case.skip_bad, ..read::Options::default() };
    Ok(input.take_in(path, read::catalogue(path, inventory, &options)?))
}

/// What is known about nodes and models; nothing where no file says so.
fn signals(case: &Case, inventory: &Inventory, input: &mut Input) -> anyhow::Result<Signals> {
    let Some(path) = &case.signals else { return Ok(Signals::default()) };
    let options = read::Options { skip_bad: case.skip_bad, ..read::Options::default() };
    Ok(input.take_in(path, signals::read(path, inventory, &options)?))
}

/// Notes what jobs read that nobody says where to find.
fn note_absent_data(workload: &Workload, catalogue: &Catalogue, input: &mut Input) {
    let jobs = || workload.jobs.iter();
    let written: BTreeSet<Arc<str>> = jobs()
        .flat_map(|job| {
            let tasks = move || (0..job.tasks).take(TASKS_NAMED_MAX).map(TaskIndex);
            let names = move |output| tasks().map(move |task| job.output_name(output, task));
            job.outputs().iter().flat_map(names)
        })
        .collect();
    let read = jobs().flat_map(|job| job.inputs().iter().map(|input| &input.name));
    let absent: BTreeSet<&Arc<str>> =
        read.filter(|name| catalogue.get(name).is_none() && !written.contains(*name)).collect();
    if let Some(first) = absent.first() {
        let datasets = render::count(absent.len() as u64, "dataset");
        input.note(format!(
            "jobs read {datasets} that no node holds and no job writes: fetched from outside the \
             fleet; the first is {first:?}"
        ));
    }
    if !catalogue.holdings.is_empty() && jobs().all(|job| job.inputs().is_empty()) {
        input.note("no job reads a dataset: --data changes nothing".to_owned());
    }
}

/// A progress bar on a terminal; nothing otherwise.
fn progress_bar(case: &Case) -> ProgressBar {
    if case.quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} jobs, {msg}, {elapsed}");
    ProgressBar::new(0).with_style(style.expect("the template is well-formed"))
}
