//! How files of jobs are read, on the command line.

use clap::{Args, ValueEnum};
use sim::read::{self, Mapping, SwfLabel, SwfOptions};

/// What is said about files of jobs that do not say it themselves.
#[derive(Args, Clone, Debug, Default)]
pub struct Reading {
    /// Which columns of a CSV of jobs are which fields: arrives=submit_time,cores=ncpus; with the
    /// unit of bare numbers: memory=mem_mb:MiB
    #[arg(long, value_name = "FIELD=COLUMN", value_delimiter = ',', requires = "jobs")]
    pub columns: Vec<Mapping>,
    /// Split each job of a log (SWF) into equal tasks of at most N cores [default: one task a job]
    #[arg(long, value_name = "N", requires = "jobs", value_parser = cores())]
    pub task_cores: Option<u32>,
    /// What of a log (SWF) becomes a label that the node must have
    #[arg(long, value_enum, value_delimiter = ',', requires = "jobs")]
    pub job_labels: Vec<JobLabel>,
}

/// Fields of a log that may become labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum JobLabel {
    /// queue=NUMBER
    Queue,
    /// partition=NUMBER
    Partition,
}

fn cores() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..=1_000_000)
}

impl Reading {
    /// The options with what was said here.
    #[must_use]
    pub fn options(&self, options: read::Options) -> read::Options {
        let labels = self.job_labels.iter().map(|label| match label {
            JobLabel::Queue => SwfLabel::Queue,
            JobLabel::Partition => SwfLabel::Partition,
        });
        let swf = SwfOptions { task_cores: self.task_cores, labels: labels.collect() };
        read::Options { columns: self.columns.clone(), swf, ..options }
    }
}
