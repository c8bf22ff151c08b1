//! Fronts: which outcomes a policy could trade for each other on a fleet and its jobs.
//!
//! In come a policy, objectives, and files as for a simulation; every variant
//! of the policy runs the same jobs in the same world. Out goes a table or a
//! JSON document, and a drawing where one is wanted.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail, ensure};
use planner::front::COSTS_MAX;
use sim::front::{self, Question};
use sim::report;
use sim::scenario::{self, Options};

use super::study::Study;
use crate::args::Front;
use crate::out;
use crate::render::front as render;

/// What is varied where no policy is named.
const POLICY: &str = "default";

pub(super) fn run(args: &Front) -> anyhow::Result<()> {
    let objectives = &args.objectives;
    let distinct: BTreeSet<_> = objectives.iter().collect();
    ensure!(distinct.len() == objectives.len(), "trade objectives: one stands twice");
    ensure!(
        (2..=COSTS_MAX).contains(&objectives.len()),
        "trade {} objective: two are the fewest; use --objectives completion,energy",
        objectives.len()
    );
    let mut case = args.case.clone();
    if case.policies.is_empty() {
        case.policies.push(POLICY.to_owned());
    }
    let mut study = Study::open(&case, 1)?;
    let [base] = &study.policies[..] else {
        bail!("vary a policy: {} are named; use --policy once", study.policies.len());
    };
    let base = base.clone();
    let seed = case.seed;
    let workload = study.workload(seed)?;
    let mut count = 0;
    let question = Question { base: &base, objectives, points: args.points as usize };
    let found = front::explore(question, &mut |policy| {
        count += 1;
        study.say(format!("point {count} of at most {}", args.points));
        let options = Options { seed, ..Options::default() };
        let outcome = study.simulate_under(policy, &workload, options, &mut scenario::motley())?;
        anyhow::Ok(report::summarise(&study.inventory, &workload, &outcome))
    })?;
    study.close();
    if let Some(objective) = found.unmeasured() {
        bail!(
            "trade {}: no outcome has a figure for it; use --objectives to leave it out",
            objective.name()
        );
    }
    ensure!(
        !found.front.is_empty(),
        "compare the outcomes: none that did all it could has a figure for every objective"
    );
    if let Some(path) = &args.plot {
        let drawn = render::plot(&found, &base.name)?;
        std::fs::write(path, drawn).with_context(|| format!("write the plot {path:?}"))?;
    }
    if args.json {
        out::print_json(&render::json(&study.input, &found, &base.name))
    } else {
        out::print(&render::text(&study.input, &found, &base.name))
    }
}
