//! Simulations: what the model world makes of a fleet, jobs and policies.
//!
//! In come files (or the bundled ones), policies and seeds; each policy runs
//! the same jobs in the same world, seed by seed. Out goes one report.

use sim::report;
use sim::scenario::{self, Options};

use super::study::Study;
use crate::args::Simulate;
use crate::out;
use crate::render::simulation::{self, Results};

pub(super) fn run(args: &Simulate) -> anyhow::Result<()> {
    let mut study = Study::open(&args.case, args.seeds)?;
    let mut results = Results::new(&study.policies);
    for seed in study.seeds() {
        let workload = study.workload(seed)?;
        for position in 0..study.policies.len() {
            let is_told = position == 0 && results.is_empty();
            let told = if is_told { args.explain as usize } else { 0 };
            let options = Options { seed, explain_max: told, ..Options::default() };
            let outcome = study.simulate(&workload, position, options, &mut scenario::motley())?;
            results.add(position, report::summarise(&study.inventory, &workload, &outcome));
            if is_told {
                results.tell(&study.inventory, &workload, &outcome);
            }
        }
    }
    study.close();
    if args.json {
        out::print_json(&simulation::json(&study.input, &results))
    } else {
        out::print(&simulation::text(&study.input, &results))
    }
}
