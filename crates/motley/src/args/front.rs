//! The command line of `front`.

use std::path::PathBuf;

use clap::Args;
use fleet::policy::Objective;
use sim::front;

use super::Case;

/// What to trade, and on what.
#[derive(Args, Clone, Debug)]
#[command(after_help = FRONT_EXAMPLES)]
pub struct Front {
    /// What to trade, the first against each of the others: completion, utilisation, fragmentation,
    /// energy, deadline
    #[arg(
        long,
        value_name = "OBJECTIVE,…",
        value_delimiter = ',',
        value_parser = objective,
        default_value = "completion,energy"
    )]
    pub objectives: Vec<Objective>,
    /// How many simulations to run at most
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = points())]
    pub points: u32,
    /// Draw the outcomes into this file, as SVG
    #[arg(long, value_name = "FILE")]
    pub plot: Option<PathBuf>,
    /// Fleet, jobs and chance; one policy, which is varied.
    #[command(flatten)]
    pub case: Case,
    /// Print every point as JSON, with its policy in the form of a file
    #[arg(long)]
    pub json: bool,
}

const FRONT_EXAMPLES: &str = "\
Examples:
  motley front
  motley front --objectives completion,energy --policy green --plot front.svg
  motley front --objectives completion,utilisation,energy --points 200 --json > front.json
  motley front --fleet fleet.toml --jobs jobs.jsonl.gz --policy my.toml";

fn points() -> clap::builder::RangedI64ValueParser<u32> {
    let ends = [front::POINTS_MIN, front::POINTS_MAX].map(|end| i64::try_from(end).expect("few"));
    clap::value_parser!(u32).range(ends[0]..=ends[1])
}

/// An objective that a front can trade.
fn objective(name: &str) -> Result<Objective, String> {
    let names: Vec<_> = front::objectives().map(Objective::name).collect();
    let found = front::objectives().find(|one| one.name() == name);
    found.ok_or_else(|| format!("it may be {}", names.join(", ")))
}
