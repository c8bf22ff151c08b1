//! Simulations: what the model world makes of a fleet, jobs and policies.
//!
//! In come files (or the bundled ones), policies and seeds; each policy runs
//! the same jobs in the same world, seed by seed. Out goes one report.

use std::collections::BTreeSet;
use std::io::IsTerminal as _;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use fleet::snapshot::MixShape;
use fleet::{Job, Policy, Time};
use indicatif::{ProgressBar, ProgressStyle};
use sim::read::{self, Read};
use sim::scenario::{self, Ending, Options, Outcome, Progress};
use sim::{Inventory, Workload, bundled, report};

use super::policy;
use crate::args::{Arrivals, Simulate};
use crate::out;
use crate::render::simulation::{self, Input, Results};

/// What is compared where no policy is named: Motley's own, and the baselines.
pub const POLICIES: [&str; 4] = ["default", "round-robin", "priority", "fair-share"];

pub(super) fn run(args: &Simulate) -> anyhow::Result<()> {
    let policies = policies(&args.policies)?;
    let seeds = seeds(args)?;
    let (inventory, mut input) = fleet(args)?;
    let mix = declared(args, &inventory, &mut input)?;
    let mut results = Results::new(&policies);
    let progress = progress_bar(args);
    for seed in seeds {
        let workload = workload(args, &inventory, seed, &mut input)?;
        input.note_jobs(&inventory, &workload);
        for (position, policy) in policies.iter().enumerate() {
            progress.set_message(format!("{} (seed {seed})", policy.name));
            let is_told = position == 0 && results.is_empty();
            let told = if is_told { args.explain as usize } else { 0 };
            let options =
                Options { seed, explain_max: told, mix: mix.clone(), ..Options::default() };
            let outcome = simulate(args, (&inventory, &workload), policy, options, &progress)?;
            results.add(position, report::summarise(&inventory, &workload, &outcome));
            if is_told {
                results.tell(&inventory, &workload, &outcome);
            }
        }
    }
    progress.finish_and_clear();
    if args.json {
        out::print_json(&simulation::json(&input, &results))
    } else {
        out::print(&simulation::text(&input, &results))
    }
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

fn seeds(args: &Simulate) -> anyhow::Result<std::ops::RangeInclusive<u64>> {
    let last = args.seed.checked_add(u64::from(args.seeds) - 1);
    let last = last.context("count the seeds: --seed plus --seeds is more than 2^64 - 1")?;
    Ok(args.seed..=last)
}

fn fleet(args: &Simulate) -> anyhow::Result<(Inventory, Input)> {
    let Some(path) = &args.fleet else {
        return Ok((bundled::inventory(), Input::bundled(args.seed, args.seeds)));
    };
    let options = read::Options { skip_bad: args.skip_bad, ..read::Options::default() };
    let read = read::inventory(path, &options)?;
    let mut input = Input::files(args.seed, args.seeds);
    let inventory = input.take_in(path, read);
    Ok((inventory, input))
}

fn workload(
    args: &Simulate,
    inventory: &Inventory,
    seed: u64,
    input: &mut Input,
) -> anyhow::Result<Workload> {
    let mut workload = match &args.jobs {
        None => bundled::workload(seed),
        Some(path) => {
            let arrivals = args.arrivals.map(|arrivals| match arrivals {
                Arrivals::Timed => read::Arrivals::Timed,
                Arrivals::Order => read::Arrivals::Order,
            });
            let options = read::Options { skip_bad: args.skip_bad, arrivals, seed };
            let read: Read<Workload> = read::workload(path, inventory, &options)?;
            // Every seed reads the same file: what was noticed is said once.
            if seed == args.seed { input.take_in(path, read) } else { read.value }
        }
    };
    if let Some(error) = args.rate_error {
        workload.truth.rate_error = error;
    }
    if let Some(contention) = args.contention {
        workload.truth.contention = contention;
    }
    Ok(workload)
}

/// What is declared to arrive: the first alternatives of the jobs of a file.
fn declared(
    args: &Simulate,
    inventory: &Inventory,
    input: &mut Input,
) -> anyhow::Result<Option<Vec<MixShape>>> {
    let Some(path) = &args.mix else { return Ok(None) };
    // When the jobs of the mix came does not matter; only pod lists can leave it open.
    let is_list = path.to_string_lossy().trim_end_matches(".gz").ends_with(".csv");
    let arrivals = is_list.then_some(read::Arrivals::Order);
    let options = read::Options { skip_bad: args.skip_bad, arrivals, seed: args.seed };
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

fn simulate(
    args: &Simulate,
    (inventory, workload): (&Inventory, &Workload),
    policy: &Policy,
    options: Options<'_>,
    bar: &ProgressBar,
) -> anyhow::Result<Outcome> {
    bar.set_length(workload.jobs.len() as u64);
    let mut progress = |progress: Progress| bar.set_position(progress.jobs_done as u64);
    let options = Options {
        until: args.until.map(|until| Time::ZERO.after(until)),
        progress: Some(&mut progress),
        ..options
    };
    let outcome = scenario::run(inventory, workload, policy, options, &mut scenario::motley());
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

/// A progress bar on a terminal; nothing otherwise.
fn progress_bar(args: &Simulate) -> ProgressBar {
    if args.quiet || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} jobs, {msg}, {elapsed}");
    ProgressBar::new(0).with_style(style.expect("the template is well-formed"))
}
