//! The command line, as data.

mod case;
mod compare;
mod explain;
mod front;
pub mod live;
mod reading;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

pub use case::{Arrivals, Case};
pub use compare::Compare;

pub use front::Front;

pub use explain::{Course, Explain, Plan, Request};

pub use reading::{JobLabel, Reading};

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
  motley explain FLEET JOBS --job NAME    why a job waits, and what would start it
  motley plan --fleet FLEET --cores 8     what would happen to a job
  motley front                            what the policy could trade, completion against energy
  motley policy list                      the policies that come with the program
  motley policy show default > my.toml    a good start for a policy of your own
  motley data check data.toml --fleet fleet.toml   is it clear where datasets are?
  motley completions bash                 completions for the shell";

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run jobs through the scheduler in a model world, and compare policies
    Simulate(Simulate),
    /// Run policies over several seeds and say which differences are more than chance
    Compare(Compare),
    /// Say why a job of a simulation waits or went where it went, and what would start it
    Explain(Explain),
    /// Say what would happen to a job on a fleet; nothing is done
    Plan(Box<Plan>),
    /// Show what a policy could trade: outcomes of its variants of which no other is better in all
    Front(Front),
    /// Start a daemon that runs work on this machine
    Up(live::Up),
    /// End the daemon
    Down(live::Down),
    /// Say how the daemon is
    #[command(after_help = "Examples:\n  motley status\n  motley status --json")]
    Status(live::Ask),
    /// Run a job and wait for it
    Run(Box<live::Run>),
    /// Hand a job to the daemon, and print its number
    Submit(Box<live::Submit>),
    /// List jobs
    Jobs(live::Jobs),
    /// Show, explain, wait for, cancel, hold and release jobs
    #[command(subcommand)]
    Job(live::Job),
    /// List the nodes
    #[command(after_help = "Examples:\n  motley nodes\n  motley nodes --json")]
    Nodes(live::Ask),
    /// Watch jobs, nodes and devices in the terminal; keys explain, hold, release and cancel jobs
    Top(live::Top),
    /// Drain and resume nodes
    #[command(subcommand)]
    Node(live::Node),
    /// List the alerts, and how each stands
    #[command(after_help = "Examples:\n  motley alerts\n  motley alerts --json")]
    Alerts(live::Ask),
    /// Say whether this machine is fit for a daemon, and what to do where not; exit status 1 if
    /// something does not work
    #[command(after_help = "Examples:\n  motley doctor\n  motley doctor --json")]
    Doctor(live::Ask),
    /// Create, list and revoke tokens, by which clients over TCP prove who they are
    #[command(subcommand)]
    Token(live::Token),
    /// Show, verify, export and prune the journal of a daemon
    #[command(subcommand)]
    Journal(live::Journal),
    /// Keep tasks
    #[command(hide = true)]
    Keeper(live::Keeper),
    /// List, show and check policies
    #[command(subcommand)]
    Policy(Policy),
    /// Check and list files that say which datasets are where
    #[command(subcommand)]
    Data(Catalogue),
    /// Print completions for a shell
    #[command(after_help = COMPLETIONS_EXAMPLES)]
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Write pages of the manual into a folder, one for each command
    #[command(after_help = MAN_EXAMPLES)]
    Man {
        /// Where to
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
}

const MAN_EXAMPLES: &str = "\
Examples:
  motley man ~/.local/share/man/man1      then man motley-submit
  motley man pages && man -l pages/motley.1";

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  motley completions bash > ~/.local/share/bash-completion/completions/motley
  motley completions fish > ~/.config/fish/completions/motley.fish";

/// What to simulate.
#[derive(Args, Clone, Debug)]
#[command(after_help = SIMULATE_EXAMPLES)]
pub struct Simulate {
    /// Fleet, jobs, policies and chance.
    #[command(flatten)]
    pub case: Case,
    /// How many seeds to run, one after the other
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = at_least_one())]
    pub seeds: u32,
    /// How many placements, and how many waits, to explain: the first of each job name, under the
    /// first policy
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub explain: u32,
    /// Write report.json and report.html, a page with drawings, into this folder
    #[arg(long, value_name = "DIR")]
    pub report: Option<PathBuf>,
    /// Print the report as JSON
    #[arg(long)]
    pub json: bool,
}

const SIMULATE_EXAMPLES: &str = "\
Examples:
  motley simulate
  motley simulate --seeds 50 --rate-error 0.3
  motley simulate --fleet fleet.toml --jobs jobs.jsonl.gz --until 7d
  motley simulate --fleet nodes.csv --jobs pods.csv.gz --arrivals order --skip-bad
  motley simulate --fleet fleet.toml --jobs log.swf.gz --task-cores 8
  motley simulate --fleet fleet.toml --jobs jobs.csv --columns name=id,arrives=submit,cores=ncpus
  motley simulate --fleet nodes.csv --jobs pods.csv --mix last-month.csv --policy pack
  motley simulate --fleet fleet.toml --jobs jobs.toml --data data.toml
  motley simulate --signals signals.toml --policy quiet.toml
  motley simulate --policy default --policy my.toml --json
  motley simulate --report report         then open report/report.html in a browser";

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
    /// Let the daemon plan by a policy from now on
    #[command(after_help = "Examples:\n  motley policy apply pack\n  motley policy apply my.toml")]
    Apply {
        /// Name of a policy that comes with the program, or a file
        #[arg(value_name = "NAME|FILE")]
        policy: String,
        /// Which daemon.
        #[command(flatten)]
        at: live::At,
    },
}

const SHOW_EXAMPLES: &str = "\
Examples:
  motley policy show default
  motley policy show default > my.toml
  motley policy show ./my.toml --json";

/// Commands about catalogues of datasets.
#[derive(Debug, Subcommand)]
pub enum Catalogue {
    /// List the datasets of a file, with their sizes and nodes
    #[command(
        after_help = "Examples:\n  motley data list data.toml --fleet fleet.toml\n  motley data list data.toml --fleet fleet.toml --json"
    )]
    List {
        /// The file
        file: PathBuf,
        /// The fleet whose nodes it names
        #[arg(long, value_name = "FILE")]
        fleet: PathBuf,
        /// Print as JSON
        #[arg(long)]
        json: bool,
    },
    /// Read such a file and say what is wrong with it; exit status 1 if anything is
    #[command(after_help = "Examples:\n  motley data check data.toml --fleet fleet.toml")]
    Check {
        /// The file
        file: PathBuf,
        /// The fleet whose nodes it names
        #[arg(long, value_name = "FILE")]
        fleet: PathBuf,
    },
}

fn at_least_one() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }
}
