//! Comparisons: which differences between policies are more than chance.
//!
//! Every policy runs every seed; each is held against the first on the same
//! seed. Out go means, differences and intervals, and a plot where asked for.

use std::path::Path;

use anyhow::{Context as _, ensure};
use sim::report;
use sim::scenario::{self, Options};

use super::study::Study;
use crate::args::Compare;
use crate::out;
use crate::render::comparison::{self, Outcomes};

pub(super) fn run(args: &Compare) -> anyhow::Result<()> {
    let mut study = Study::open(&args.case, args.seeds)?;
    ensure!(
        study.policies.len() > 1,
        "compare the policies: there is only {:?}; name at least two with --policy",
        study.policies[0].name
    );
    // Better now than after hours of simulation.
    if let Some(path) = &args.plot {
        write(path, "")?;
    }
    let mut outcomes = Outcomes::new(&study.policies);
    for seed in study.seeds() {
        let workload = study.workload(seed)?;
        for position in 0..study.policies.len() {
            let options = Options { seed, ..Options::default() };
            let outcome = study.simulate(&workload, position, options, &mut scenario::motley())?;
            outcomes.add(position, report::summarise(&study.inventory, &workload, &outcome));
        }
    }
    study.close();
    let compared = outcomes.compare();
    if let Some(path) = &args.plot {
        write(path, &comparison::plot(&compared)?)?;
    }
    if args.json {
        out::print_json(&comparison::json(&study.input, &compared, &outcomes))
    } else {
        out::print(&comparison::text(&study.input, &compared))
    }
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    std::fs::write(path, text)
        .with_context(|| format!("write the plot {}; name another file by --plot", path.display()))
}
