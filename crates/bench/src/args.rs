//! The command line, as data.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::rounds::contender::Contender as Sharing;
use crate::rounds::input::Cluster;
use crate::speed::contender::Contender;
use crate::speed::setting::Setting;

/// Compares Motley with references and peers.
#[derive(Debug, Parser)]
#[command(name = "bench", version, max_term_width = 100)]
pub struct Arguments {
    /// What to compare.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Placement quality, energy and cost on the openb trace, under the protocol of ATC'23
    Openb(Openb),
    /// What a placement costs, through whole turns, on fleets of several sizes
    Speed(Speed),
    /// What is lost when programs die between any two steps, in simulations with faults
    Crashes(Crashes),
    /// What is lost when the real daemon and its keeper are killed at random instants
    Kills(Kills),
    /// Who shares unlike devices best over time, in the rounds of Gavel (OSDI'20)
    Rounds(Rounds),
    /// What it costs to run tasks on this machine, beside the bare floor and peers
    Local(Local),
    /// What the phases of a turn cost in a live daemon, beside the times of the article
    Stages(Stages),
    /// What a hundred clients of the API wait for, and what a task waits for meanwhile
    Api(Api),
    /// Write down when this program started: what `local` has tasks run
    #[command(hide = true)]
    Stamp {
        /// Where to
        file: PathBuf,
    },
}

/// What to measure on this machine.
#[derive(Args, Clone, Debug, Default)]
pub struct Local {
    /// Motley's program [default: the one beside this one]
    #[arg(long, value_name = "FILE")]
    pub motley: Option<PathBuf>,
    /// How many tasks [default: 2000; with --quick 200]
    #[arg(long, value_name = "N", value_parser = at_least_two)]
    pub tasks: Option<usize>,
    /// Print a list of records as JSON, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Run less of everything
    #[arg(long)]
    pub quick: bool,
}

/// How to load the API.
#[derive(Args, Clone, Debug, Default)]
pub struct Api {
    /// Motley's program [default: the one beside this one]
    #[arg(long, value_name = "FILE")]
    pub motley: Option<PathBuf>,
    /// How many clients
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u16).range(1..=400))]
    pub clients: u16,
    /// Print a list of records as JSON, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Measure fewer tasks
    #[arg(long)]
    pub quick: bool,
}

/// What to measure of the phases of turns.
#[derive(Args, Clone, Debug, Default)]
pub struct Stages {
    /// Motley's program [default: the one beside this one]
    #[arg(long, value_name = "FILE")]
    pub motley: Option<PathBuf>,
    /// How many nodes are modelled
    #[arg(long, value_name = "N", default_value_t = 100,
        value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub nodes: u32,
    /// How many jobs wait meanwhile
    #[arg(long, value_name = "N", default_value_t = 1_000,
        value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub jobs: u32,
    /// For how long turns are measured once they wait [default: 30; with --quick 5]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=3_600))]
    pub seconds: Option<u64>,
    /// Print a list of records as JSON, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Measure for a shorter time
    #[arg(long)]
    pub quick: bool,
}

fn at_least_two(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 2..=1_000_000) => Ok(count),
        _ => Err("give 2 to 1000000".to_owned()),
    }
}

/// What to play in rounds.
#[derive(Args, Clone, Debug, Default)]
pub struct Rounds {
    /// The folder of data [default: the variable MOTLEY_DATA, then ../shared/data]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// A trace in Gavel's form, alone [default: the four of which there are published results]
    #[arg(long, value_name = "FILE", requires = "cluster")]
    pub trace: Option<PathBuf>,
    /// How many v100, p100 and k80 there are for that trace
    #[arg(long, value_name = "36:36:36", requires = "trace")]
    pub cluster: Option<Cluster>,
    /// Which policies, separated by commas [default: all]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub policy: Vec<Sharing>,
    /// What each move of a job to another class, or start after a stop, costs, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 0, value_parser = within_a_round)]
    pub moving: u32,
    /// By how many percent declared rates may be wrong, either way
    #[arg(long, value_name = "PERCENT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..100))]
    pub rates_wrong: u32,
    /// By which factor declared work may be too small or too large
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, value_parser = work_factor)]
    pub work_wrong: f64,
    /// How many like devices each node of Motley's fleet has
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    pub node_devices: u32,
    /// Decides how wrong they are
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
    /// Draw the front between the mean and the longest of A and C as SVG into this folder
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Print a list of records as JSON, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Play the two small traces only
    #[arg(long, conflicts_with = "trace")]
    pub quick: bool,
}

fn work_factor(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(factor) if (1.0..=100.0).contains(&factor) => Ok(factor),
        _ => Err("a factor from 1 to 100".to_owned()),
    }
}

fn within_a_round(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(seconds @ 0..360) => Ok(seconds),
        _ => Err("whole seconds, fewer than the 360 of a round".to_owned()),
    }
}

/// What to run of the openb protocol.
#[derive(Args, Clone, Debug, Default)]
pub struct Openb {
    /// The folder of data [default: the variable MOTLEY_DATA, then ../shared/data]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Seeds of arrival orders; lists of ranges are reported range by range [default: 42-51; with
    /// --quick 42]
    #[arg(long, value_name = "FIRST-LAST", value_delimiter = ',')]
    pub seeds: Vec<Seeds>,
    /// Which pod list
    #[arg(long, value_name = "NAME", default_value = "default")]
    pub trace: String,
    /// Which policies, separated by commas, each a name or a policy file [default: every
    /// reference, and Motley's own]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub policies: Vec<String>,
    /// Run pack and green with other weights, to see what is traded for what
    #[arg(long, conflicts_with = "policies")]
    pub trade_offs: bool,
    /// Who wins among nodes of equal score
    #[arg(long, value_enum, default_value_t = TieRule::Published)]
    pub ties: TieRule,
    /// What Motley's policies know of what arrives
    #[arg(long, value_enum, default_value_t = Knowledge::Typical)]
    pub mix: Knowledge,
    /// Print a list of records as JSON, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Write plots as SVG files into this folder, which is made where there is none
    #[arg(long, value_name = "DIR")]
    pub plots: Option<PathBuf>,
    /// Run a subset in under a minute
    #[arg(long)]
    pub quick: bool,
}

/// What to run of the measurement of speed.
#[derive(Args, Clone, Debug, Default)]
pub struct Speed {
    /// The folder of data [default: the variable MOTLEY_DATA, then ../shared/data]
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Sizes of the fleet [default: 100,1000,10000; with --quick 1000]
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = at_least_one)]
    pub nodes: Vec<u32>,
    /// How many distinct shapes jobs are drawn from [default: 100,1000; with --quick 100]
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = at_least_one)]
    pub shapes: Vec<u32>,
    /// Arrivals a turn [default: 1,100]
    #[arg(long, value_name = "COUNTS", value_delimiter = ',', value_parser = at_least_one)]
    pub arrivals: Vec<u32>,
    /// How many placements are timed [default: 20000; with --quick 400]
    #[arg(long, value_name = "COUNT", value_parser = at_least_one)]
    pub placements: Option<u32>,
    /// Which policies [default: all]
    #[arg(long, value_enum, value_name = "NAMES", value_delimiter = ',')]
    pub policies: Vec<Contender>,
    /// Print a list of records as JSON, and nothing else
    #[arg(long)]
    pub json: bool,
    /// Run a subset in under half a minute
    #[arg(long)]
    pub quick: bool,
    /// Measure this setting alone, in this process, and print what it came to as JSON
    #[arg(long, hide = true)]
    pub alone: Option<Setting>,
}

/// Which simulations of programs that die to run.
#[derive(Args, Clone, Debug, Default)]
pub struct Crashes {
    /// How many seeds, from 0 on
    #[arg(long, value_name = "COUNT", default_value_t = 10_000, value_parser = at_least_one)]
    pub seeds: u32,
    /// This seed alone
    #[arg(long, value_name = "SEED", conflicts_with = "seeds")]
    pub seed: Option<u64>,
    /// Print a list of records as JSON, and nothing else
    #[arg(long)]
    pub json: bool,
}

/// How often to kill.
#[derive(Args, Clone, Debug)]
pub struct Kills {
    /// Motley's program [default: the one beside this one]
    #[arg(long, value_name = "FILE")]
    pub motley: Option<PathBuf>,
    /// At how many instants something is killed
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = up_to_a_million)]
    pub instants: usize,
    /// What instants and jobs are drawn from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print a list of records as JSON, and nothing else
    #[arg(long)]
    pub json: bool,
}

/// Who wins among nodes of equal score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum TieRule {
    /// The seed's own order of nodes
    #[default]
    Published,
    /// The order of the node list
    Csv,
    /// One of them, drawn for each decision
    Random,
}

/// What is known of what arrives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Knowledge {
    /// The typical pods of the list, as the fragmentation gradient knows them
    #[default]
    Typical,
    /// What has arrived so far
    Seen,
}

/// A range of seeds, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Seeds {
    /// The first.
    pub first: u64,
    /// The last; not less than the first.
    pub last: u64,
}

impl Openb {
    /// The ranges of seeds to run.
    #[must_use]
    pub fn seeds(&self) -> Vec<Seeds> {
        match (self.seeds.as_slice(), self.quick) {
            ([], false) => vec![Seeds::PUBLISHED],
            ([], true) => vec![Seeds { first: 42, last: 42 }],
            (given, _) => given.to_vec(),
        }
    }
}

impl Speed {
    /// How many placements are timed.
    #[must_use]
    pub fn placements(&self) -> u32 {
        self.placements.unwrap_or(if self.quick { 400 } else { 20_000 })
    }
}

fn up_to_a_million(text: &str) -> Result<usize, String> {
    at_least_one(text).map(|count| count as usize)
}

fn at_least_one(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(count @ 1..=1_000_000) => Ok(count),
        _ => Err("a whole number from 1 to 1000000".to_owned()),
    }
}

impl Seeds {
    /// The seeds that were published.
    pub const PUBLISHED: Self = Self { first: 42, last: 51 };

    /// Every seed, ascending.
    pub fn iter(self) -> impl Iterator<Item = u64> {
        self.first..=self.last
    }
}

impl FromStr for Seeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        match (first.parse(), last.parse()) {
            (Ok(first), Ok(last)) if first <= last => Ok(Self { first, last }),
            _ => Err("a seed or a range of seeds like 42-51".to_owned()),
        }
    }
}

impl fmt::Display for Seeds {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last {
            write!(out, "{}", self.first)
        } else {
            write!(out, "{}-{}", self.first, self.last)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_are_one_or_a_range() {
        assert_eq!("42-51".parse(), Ok(Seeds::PUBLISHED));
        assert_eq!("7".parse(), Ok(Seeds { first: 7, last: 7 }));
        assert!("51-42".parse::<Seeds>().is_err());
        assert!("".parse::<Seeds>().is_err());
    }

    #[test]
    fn command_line_is_sound() {
        use clap::CommandFactory as _;
        Arguments::command().debug_assert();
    }
}
