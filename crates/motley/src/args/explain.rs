//! The command lines of `explain` and `plan`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use fleet::{Milli, Span};

use super::case::{rate_error, work_error};
use super::{Arrivals, Reading};

/// Which job to explain.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub struct Explain {
    /// Nodes and devices, as for `motley simulate --fleet`
    #[arg(value_name = "FLEET")]
    pub fleet: PathBuf,
    /// Jobs, as for `motley simulate --jobs`
    #[arg(value_name = "JOBS")]
    pub jobs: PathBuf,
    /// Which job, by its name or, where several have it, by its id
    #[arg(long, value_name = "ID|NAME")]
    pub job: String,
    /// When in the simulation: 90s, 1h30m, 2-12:00:00 [default: when a task of the job is first
    /// placed, or the end, if none ever is]
    #[arg(long, value_name = "SPAN")]
    pub at: Option<Span>,
    /// How the simulation is run
    #[command(flatten)]
    pub course: Course,
}

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  motley explain fleet.toml jobs.toml --job train
  motley explain fleet.toml jobs.toml --job train --at 1h30m
  motley explain nodes.csv pods.csv --arrivals order --job openb-pod-0017 --policy pack --json";

/// How a simulation is run that is looked into.
#[derive(Args, Clone, Debug)]
pub struct Course {
    /// How jobs are read
    #[command(flatten)]
    pub reading: Reading,
    /// Policy to run under, by name or file
    #[arg(long, value_name = "NAME|FILE", default_value = "default")]
    pub policy: String,
    /// Which datasets are on which nodes when the simulation begins: TOML, see `motley data`
    /// [default: what jobs read comes from outside the fleet]
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
    /// Numbers about nodes and device models that policies weigh as external(NAME): TOML
    #[arg(long, value_name = "FILE")]
    pub signals: Option<PathBuf>,
    /// The seed of all chance in the model world
    #[arg(long, value_name = "N", default_value_t = 1, requires = "jobs")]
    pub seed: u64,
    /// When the pods of an openb list arrive [default: timed, where the list has times]
    #[arg(long, value_enum, requires = "jobs")]
    pub arrivals: Option<Arrivals>,
    /// How wrong declared rates are: 0.3 is up to 30 % either way [default: as the jobs' file says]
    #[arg(long, value_name = "F", value_parser = rate_error, requires = "jobs")]
    pub rate_error: Option<Milli>,
    /// How strongly runs really hold each other up on links that they share: 1 is as the bandwidths
    /// say, 0 not at all [default: as the jobs' file says]
    #[arg(long, value_name = "F", requires = "jobs")]
    pub contention: Option<Milli>,
    /// What it costs a task to go on from where it was when it was stopped: 30s, 0s [default: as
    /// the jobs' file says, or it begins anew]
    #[arg(long, value_name = "SPAN", requires = "jobs")]
    pub restart: Option<Span>,
    /// By which factor the true work of tasks is more or less than declared at the most: 2 is from
    /// half to twice [default: as the jobs' file says]
    #[arg(long, value_name = "F", value_parser = work_error, requires = "jobs")]
    pub work_error: Option<Milli>,
    /// Leave out bad lines of the files and count them, instead of stopping at the first
    #[arg(long, requires = "jobs")]
    pub skip_bad: bool,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// What to plan.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = PLAN_EXAMPLES,
    group = ArgGroup::new("asked").args(["submit", "cores", "device"]).required(true).multiple(true)
)]
pub struct Plan {
    /// Nodes and devices, as for `motley simulate --fleet`
    #[arg(long, value_name = "FILE")]
    pub fleet: PathBuf,
    /// Jobs that are simulated up to --at, as for `motley simulate --jobs` [default: none, an empty
    /// fleet]
    #[arg(long, value_name = "FILE", requires = "at")]
    pub jobs: Option<PathBuf>,
    /// When in the simulation of --jobs the job is submitted: 90s, 1h30m, 2-12:00:00
    #[arg(long, value_name = "SPAN", requires = "jobs")]
    pub at: Option<Span>,
    /// The job: a file in the form of --jobs with one job, which does not say when it arrives
    #[arg(long, value_name = "FILE", conflicts_with_all = REQUEST)]
    pub submit: Option<PathBuf>,
    /// The job, where it is not in a file
    #[command(flatten)]
    pub request: Request,
    /// How the simulation is run
    #[command(flatten)]
    pub course: Course,
}

const PLAN_EXAMPLES: &str = "\
Examples:
  motley plan --fleet fleet.toml --cores 8 --memory 32GiB
  motley plan --fleet fleet.toml --device gpu --share 0.5 --model A100 --work 3600
  motley plan --fleet fleet.toml --jobs jobs.toml --at 1h30m --submit job.toml --json";

/// What describes a job on the command line, and so does not go with a file.
const REQUEST: [&str; 13] = [
    "cores",
    "memory",
    "device",
    "count",
    "share",
    "device_memory",
    "models",
    "labels",
    "rates",
    "work",
    "tasks",
    "tenant",
    "priority",
];

/// A job in a few words; each is read as the field of that name in a workload file.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "The job, in place of --submit")]
pub struct Request {
    /// Cores of one task
    #[arg(long, value_name = "N")]
    pub cores: Option<String>,
    /// Memory of one task: 32GiB
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Kind of its devices: gpu, tpu, fpga, npu, qpu
    #[arg(long, value_name = "KIND")]
    pub device: Option<String>,
    /// How many devices [default: 1]
    #[arg(long, value_name = "N", requires = "device")]
    pub count: Option<String>,
    /// How much of one device: 0.5
    #[arg(long, value_name = "F", requires = "device")]
    pub share: Option<String>,
    /// Memory needed on each device
    #[arg(long, value_name = "SIZE", requires = "device")]
    pub device_memory: Option<String>,
    /// A model that will do; may be given more than once [default: any]
    #[arg(long = "model", value_name = "MODEL", requires = "device")]
    pub models: Vec<String>,
    /// A label that the node must have; may be given more than once
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = pair)]
    pub labels: Vec<(String, String)>,
    /// Work per second on a model; may be given more than once [default: 1 on every model]
    #[arg(long = "rate", value_name = "MODEL=R", value_parser = pair)]
    pub rates: Vec<(String, String)>,
    /// Work of one task [default: it runs without end]
    #[arg(long, value_name = "W")]
    pub work: Option<String>,
    /// How many tasks [default: 1]
    #[arg(long, value_name = "N")]
    pub tasks: Option<String>,
    /// Who it is accounted to [default: default]
    #[arg(long, value_name = "NAME")]
    pub tenant: Option<String>,
    /// Larger goes first where the policy orders by priority [default: 0]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub priority: Option<String>,
}

pub(super) fn pair(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("write it like zone=a".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_split_at_the_first_sign() {
        assert_eq!(pair("a=b=c"), Ok(("a".to_owned(), "b=c".to_owned())));
        assert!(pair("a").is_err() && pair("=a").is_err());
    }
}
