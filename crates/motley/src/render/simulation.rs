//! The report of a simulation, in words and as JSON.
//!
//! In come what was simulated ([`Input`]) and the figures of every policy and
//! seed ([`Results`]); out goes one text or one JSON document. The first
//! policy is the one that the others are compared with.

mod input;
pub(super) mod figures;
mod winners;
mod classes;
mod left;

use fleet::Policy;
use serde::Serialize;
use sim::report::{self, Comparison, Paired, Summary};
use sim::scenario::{Ending, Outcome, What};
use sim::{Inventory, Workload};

use super::{Names, Placed, placed, reason, waiting};

pub(super) use figures::span;
pub use input::Input;

/// What came of a simulation.
#[derive(Debug)]
pub struct Results {
    pub(super) policies: Vec<String>,
    /// The signals that the first policy weighs, by slot.
    externals: Vec<String>,
    /// By policy, then seed.
    summaries: Vec<Vec<Summary>>,
    placed: Vec<String>,
    waited: Vec<String>,
    left: Vec<left::Left>,
}

impl Results {
    /// No results yet, for these policies.
    #[must_use]
    pub fn new(policies: &[Policy]) -> Self {
        Self {
            policies: policies.iter().map(|policy| policy.name.clone()).collect(),
            externals: policies.first().map_or_else(Vec::new, |policy| policy.externals.clone()),
            summaries: vec![Vec::new(); policies.len()],
            placed: Vec::new(),
            waited: Vec::new(),
            left: Vec::new(),
        }
    }

    /// Whether nothing has been added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.summaries.iter().all(Vec::is_empty)
    }

    /// Adds the figures of one seed for the policy at this position.
    pub fn add(&mut self, policy: usize, summary: Summary) {
        self.summaries[policy].push(summary);
    }

    /// Puts into words what was explained on the way, and why what is left was never placed.
    pub fn tell(&mut self, inventory: &Inventory, workload: &Workload, outcome: &Outcome) {
        let nodes = inventory.nodes.iter().map(|node| node.name.as_str()).collect();
        let externals = self.externals.clone();
        let names = Names { classes: &inventory.classes, nodes, externals: &externals, now: None };
        let job = |id| workload.jobs.iter().find(|job| job.id == id);
        for told in &outcome.told {
            let Some(job) = job(told.job) else { continue };
            let at = told.at.since(fleet::Time::ZERO);
            match &told.what {
                What::Placed(placement, choice, tiers) => {
                    let sentence = placed(&names, Placed { job, placement, choice, tiers });
                    self.placed.push(format!("{at}: {sentence}"));
                }
                What::Waits(still) => {
                    self.waited.push(format!("{at}: {}", waiting(&names, job, still)));
                }
            }
        }
        let summary = &self.summaries[0][0];
        for group in &summary.never_placed {
            let Some(job) = job(group.example) else { continue };
            let reason = reason(&names, job, &group.reason);
            self.left.push(left::Left::new(group, &job.name, reason));
        }
    }

    /// The summaries of the first seed, one for each policy.
    pub(super) fn first_seed(&self) -> Vec<Summary> {
        self.summaries.iter().filter_map(|seeds| seeds.first().cloned()).collect()
    }

    pub(super) fn seeds(&self) -> usize {
        self.summaries.first().map_or(0, Vec::len)
    }
}

/// The report as text.
#[must_use]
pub fn text(input: &Input, results: &Results) -> String {
    let mut text = input.text();
    text.push_str(endings(results));
    text.push('\n');
    text.push_str(&figures::table(results));
    text.push('\n');
    text.push_str(&classes::table(results));
    if let Some(winners) = winners::text(results) {
        text.push('\n');
        text.push_str(&winners);
    }
    text.push_str(&left::text(&results.policies, &results.left));
    section(&mut text, "Why there", &results.policies[0], &results.placed);
    section(&mut text, "Why not yet", &results.policies[0], &results.waited);
    text
}

/// Why the simulations ended before everything was done, if any did.
pub(super) fn endings(results: &Results) -> &'static str {
    let ended = |ending| results.summaries.iter().flatten().any(|it| it.ending == ending);
    if ended(Ending::Until) {
        "Stopped at the time of --until: what was under way then is not done.\n"
    } else if ended(Ending::Standstill) {
        "Ended when nothing more could happen: what still runs has no end, or what waits no room.\n"
    } else {
        ""
    }
}

fn section(text: &mut String, title: &str, policy: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    text.push_str(&format!("\n{title} (some of {policy}'s decisions):\n"));
    for line in lines {
        text.push_str(&format!("  {line}\n"));
    }
}

/// The report as a JSON document with stable names.
#[derive(Debug, Serialize)]
pub struct Document<'a> {
    /// The version of this document's form.
    format: u32,
    input: &'a Input,
    /// One for each policy and seed, by policy.
    summaries: Vec<&'a Summary>,
    /// Policies side by side on the first seed.
    comparison: Vec<Comparison>,
    /// The first policy against each other one, seed by seed.
    paired: Vec<Pair<'a>>,
    /// Of the first policy on the first seed.
    placed: &'a [String],
    /// Of the first policy on the first seed.
    waited: &'a [String],
    /// Of the first policy on the first seed.
    never_placed: &'a [left::Left],
}

#[derive(Debug, Serialize)]
struct Pair<'a> {
    first: &'a str,
    other: &'a str,
    figures: Vec<Paired>,
}

/// The report as a JSON document.
#[must_use]
pub fn json<'a>(input: &'a Input, results: &'a Results) -> Document<'a> {
    let first = &results.summaries[0];
    let pair = |(name, other): (&'a String, &Vec<Summary>)| Pair {
        first: &results.policies[0],
        other: name,
        figures: report::paired(first, other),
    };
    Document {
        format: 1,
        input,
        summaries: results.summaries.iter().flatten().collect(),
        comparison: report::compare(&results.first_seed()),
        paired: results.policies.iter().zip(&results.summaries).skip(1).map(pair).collect(),
        placed: &results.placed,
        waited: &results.waited,
        never_placed: &results.left,
    }
}
