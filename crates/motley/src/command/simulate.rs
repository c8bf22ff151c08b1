//! Simulations: what the model world makes of a fleet, jobs and policies.
//!
//! In come files (or the bundled ones), policies and seeds; each policy runs
//! the same jobs in the same world, seed by seed. Out goes one report.

use std::path::Path;

use anyhow::Context as _;
use fleet::{Policy, Snapshot};
use planner::Effort;
use sim::report::{self, Course, Witness};
use sim::scenario::{self, Options};

use super::study::Study;
use crate::args::Simulate;
use crate::out;
use crate::render::page::{self, CHAPTERS_MAX, Chapter};
use crate::render::simulation::{self, Input, Results};

pub(super) fn run(args: &Simulate) -> anyhow::Result<()> {
    // Better now than after hours of simulation.
    args.report.as_deref().map_or(Ok(()), prepare)?;
    let mut study = Study::open(&args.case, args.seeds)?;
    let mut results = Results::new(&study.policies);
    let mut chapters = Vec::new();
    for seed in study.seeds() {
        let workload = study.workload(seed)?;
        for position in 0..study.policies.len() {
            let is_first = seed == args.case.seed;
            let is_told = is_first && position == 0;
            let told = if is_told { args.explain as usize } else { 0 };
            let options = Options { seed, explain_max: told, ..Options::default() };
            let is_watched = args.report.is_some() && is_first && chapters.len() < CHAPTERS_MAX;
            let (mut witness, mut planning) = (Witness::default(), scenario::motley());
            let outcome = match is_watched {
                true => study.simulate(
                    &workload,
                    position,
                    options,
                    &mut |snapshot: &Snapshot, policy: &Policy, effort: Effort| {
                        witness.see((snapshot, policy, effort), &mut planning)
                    },
                )?,
                false => study.simulate(&workload, position, options, &mut planning)?,
            };
            if is_watched {
                let course = Course::of(&study.inventory, &workload, &outcome, &witness);
                chapters.push(Chapter::new(&study.inventory, &workload, course));
            }
            results.add(position, report::summarise(&study.inventory, &workload, &outcome));
            if is_told {
                results.tell(&study.inventory, &workload, &outcome);
            }
        }
    }
    study.close();
    if let Some(folder) = &args.report {
        write(folder, &study.input, &results, &chapters)?;
    }
    if args.json {
        out::print_json(&simulation::json(&study.input, &results))
    } else {
        out::print(&simulation::text(&study.input, &results))
    }
}

fn prepare(folder: &Path) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)
        .with_context(|| format!("make the folder {}; name another by --report", folder.display()))
}

fn write(
    folder: &Path,
    input: &Input,
    results: &Results,
    chapters: &[Chapter],
) -> anyhow::Result<()> {
    for (name, text) in [
        ("report.json", page::json(input, results, chapters)?),
        ("report.html", page::html(input, results, chapters)?),
    ] {
        let path = folder.join(name);
        std::fs::write(&path, text).with_context(|| {
            format!("write {}; name another folder by --report", path.display())
        })?;
    }
    Ok(())
}
