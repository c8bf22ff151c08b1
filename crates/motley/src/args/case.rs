//! What is simulated: the same arguments for every command that simulates.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fleet::parse::ParseError;
use fleet::{Milli, Span};

use super::Reading;

/// Fleet, jobs, policies and chance.
#[derive(Args, Clone, Debug)]
pub struct Case {
    /// Nodes and devices: Motley's TOML, or a node list as CSV; may be gzipped. Goes with --jobs
    /// [default: the bundled fleet]
    #[arg(long, value_name = "FILE", requires = "jobs")]
    pub fleet: Option<PathBuf>,
    /// Jobs: Motley's TOML or JSON lines, a CSV, or a log (SWF); may be gzipped. Goes with --fleet
    /// [default: the bundled jobs]
    #[arg(long, value_name = "FILE", requires = "fleet")]
    pub jobs: Option<PathBuf>,
    /// Jobs like those that will come, in the form of --jobs: what the fleet is kept fit for.
    /// [default: what has arrived so far]
    #[arg(long, value_name = "FILE", requires = "jobs")]
    pub mix: Option<PathBuf>,
    /// Which datasets are on which nodes when the simulation begins: TOML, see `motley data`
    /// [default: what jobs read comes from outside the fleet]
    #[arg(long, value_name = "FILE", requires = "jobs")]
    pub data: Option<PathBuf>,
    /// Numbers about nodes and device models that policies weigh as external(NAME): TOML
    #[arg(long, value_name = "FILE")]
    pub signals: Option<PathBuf>,
    /// When the pods of an openb list arrive [default: timed, where the list has times]
    #[arg(long, value_enum, requires = "jobs")]
    pub arrivals: Option<Arrivals>,
    /// How jobs are read
    #[command(flatten)]
    pub reading: Reading,
    /// Policy to run under, by name or file; may be given more than once [default: default,
    /// round-robin, priority, fair-share]
    #[arg(long = "policy", value_name = "NAME|FILE")]
    pub policies: Vec<String>,
    /// The first seed of all chance in the model world
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How wrong declared rates are: 0.3 is up to 30 % either way [default: as the jobs' file says]
    #[arg(long, value_name = "F", value_parser = rate_error)]
    pub rate_error: Option<Milli>,
    /// How strongly runs really hold each other up on links that they share: 1 is as the bandwidths
    /// say, 0 not at all [default: as the jobs' file says]
    #[arg(long, value_name = "F")]
    pub contention: Option<Milli>,
    /// What it costs a task to go on from where it was when it was stopped: 30s, 0s [default: as
    /// the jobs' file says, or it begins anew]
    #[arg(long, value_name = "SPAN")]
    pub restart: Option<Span>,
    /// By which factor the true work of tasks is more or less than declared at the most: 2 is from
    /// half to twice [default: as the jobs' file says]
    #[arg(long, value_name = "F", value_parser = work_error)]
    pub work_error: Option<Milli>,
    /// Leave out bad lines of the files and count them, instead of stopping at the first
    #[arg(long, requires = "jobs")]
    pub skip_bad: bool,
    /// Stop at this time of the model world: 90s, 1h30m, 2-12:00:00 [default: when all is done]
    #[arg(long, value_name = "SPAN")]
    pub until: Option<Span>,
    /// Show no progress
    #[arg(long, short)]
    pub quiet: bool,
}

/// When jobs arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Arrivals {
    /// At the times that the file gives
    Timed,
    /// One after the other as listed, and none ever ends: it fills the fleet
    Order,
}

/// A factor of at least one.
pub(super) fn work_error(text: &str) -> Result<Milli, String> {
    let factor: Milli = text.parse().map_err(|error: ParseError| error.to_string())?;
    if (Milli::WHOLE..=Milli(100_000)).contains(&factor) {
        return Ok(factor);
    }
    Err("it must be from 1 to 100".to_owned())
}

pub(super) fn rate_error(text: &str) -> Result<Milli, String> {
    let error: Milli = text.parse().map_err(|error: ParseError| error.to_string())?;
    // At 1 and beyond a rate could become zero, and its job would never end.
    if error >= Milli::WHOLE {
        return Err("it must be less than 1".to_owned());
    }
    Ok(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_errors_are_fractions_below_one() {
        assert_eq!(rate_error("0.3"), Ok(Milli(300)));
        assert_eq!(rate_error("1"), Err("it must be less than 1".to_owned()));
        assert!(rate_error("30%").is_err());
    }
}
