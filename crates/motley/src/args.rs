//! The command line, as data.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fleet::{Milli, Span};

/// Decides which work runs on which hardware, in fleets where no two machines are alike.
#[derive(Debug, Parser)]
#[command(name = "motley", version, max_term_width = 100, after_help = EXAMPLES)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXAMPLES: &str = "\
Examples:
  motley simulate                         the bundled fleet under Motley and three baselines
  motley simulate --help                  simulate your own fleet and jobs
  motley policy list                      the policies that come with the program
  motley policy show default > my.toml    a good start for a policy of your own
  motley completions bash                 completions for the shell";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run jobs through the scheduler in a model world, and compare policies
    Simulate(Simulate),
    /// List, show and check policies
    #[command(subcommand)]
    Policy(Policy),
    /// Print completions for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// Which shell
        shell: Shell,
    },
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  motley completions bash > ~/.local/share/bash-completion/completions/motley
  motley completions fish > ~/.config/fish/completions/motley.fish";

/// What to simulate.
#[derive(Args, Clone, Debug)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub struct Simulate {
    /// Nodes and devices: Motley's TOML, or a node list as CSV; may be gzipped. Goes with --jobs
    /// [default: the bundled fleet]
    #[arg(long, value_name = "FILE", requires = "jobs")]
    pub fleet: Option<PathBuf>,
    /// Jobs: Motley's TOML or JSON lines, or a pod list as CSV; may be gzipped. Goes with --fleet
    /// [default: the bundled jobs]
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub jobs: Option<PathBuf>,
    /// Jobs like those that will come, in the form of --jobs: what the fleet is kept fit for.
    /// [default: what has arrived so far]
    #[arg(long, value_name = "FILE", requires = "jobs")]
    pub mix: Option<PathBuf>,
    /// When the pods of an openb list arrive [default: timed, where the list has times]
    #[arg(long, value_enum, requires = "jobs")]
    pub arrivals: Option<Arrivals>,
    /// Policy to run under, by name or file; may be given more than once [default: default,
    /// round-robin, priority, fair-share]
    #[arg(long = "policy", value_name = "NAME|FILE")]
    pub policies: Vec<String>,
    /// The first seed of all chance in the model world
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many seeds to run, one after the other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one())]
    pub seeds: u32,
    /// How wrong declared rates are: 0.3 is up to 30 % either way [default: as the jobs' file says]
    #[arg(long, value_name = "F", value_parser = rate_error)]
    pub rate_error: Option<Milli>,
    /// How strongly runs really hold each other up on links that they share: 1 is as the bandwidths
    /// say, 0 not at all [default: as the jobs' file says]
    #[arg(long, value_name = "F")]
    pub contention: Option<Milli>,
    /// Leave out bad lines of the files and count them, instead of stopping at the first
    #[arg(long, requires = "jobs")]
    pub skip_bad: bool,
    /// Stop at this time of the model world: 90s, 1h30m, 2-12:00:00 [default: when all is done]
    #[arg(long, value_name = "SPAN")]
    pub until: Option<Span>,
    /// How many placements, and how many waits, to explain: the first of each job name, under the
    /// first policy
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub explain: u32,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

const SIMULATE_EXAMPLES: &str = "\
Examples:
  motley simulate
  motley simulate --seeds 50 --rate-error 0.3
  motley simulate --fleet fleet.toml --jobs jobs.jsonl.gz --until 7d
  motley simulate --fleet nodes.csv --jobs pods.csv.gz --arrivals order --skip-bad
  motley simulate --fleet nodes.csv --jobs pods.csv --mix last-month.csv --policy pack
  motley simulate --policy default --policy my.toml --json";

/// When jobs arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// At the times that the file gives
    Timed,
    /// One after the other as listed, and none ever ends: it fills the fleet
    Order,
}

/// Commands about policies.
#[derive(Debug, Subcommand)]
pub enum Policy {
    /// List the policies that come with the program
    #[command(after_help = "Examples:\n  motley policy list\n  motley policy list --json")]
    List {
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a policy in the form of its file
    #[command(after_help = SHOW_EXAMPLES)]
    Show {
        /// Name of a policy that comes with the program, or a file
        #[arg(value_name = "NAME|FILE")]
        policy: String,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Read policy files and say what is wrong with them; exit status 1 if anything is
    #[command(
        after_help = "Examples:\n  motley policy check my.toml\n  motley policy check *.toml --json"
    )]
    Check {
        /// The files
        #[arg(value_name = "FILE", required = true)]
        files: Vec<PathBuf>,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
}

const SHOW_EXAMPLES: &str = "\
Examples:
  motley policy show default
  motley policy show default > my.toml
  motley policy show ./my.toml --json";

fn at_least_one() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

fn rate_error(text: &str) -> Result<Milli, String> {
    let error: Milli = text.parse().map_err(|error: fleet::parse::ParseError| error.to_string())?;
    // At 1 and beyond a rate could become zero, and its job would never end.
    if error >= Milli::WHOLE {
        return Err("it must be less than 1".to_owned());
    }
    Ok(error)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn rate_errors_are_fractions_below_one() {
        assert_eq!(rate_error("0.3"), Ok(Milli(300)));
        assert_eq!(rate_error("1"), Err("it must be less than 1".to_owned()));
        assert!(rate_error("30%").is_err());
    }
}
