//! Arguments of the commands that talk to a daemon.

use std::path::PathBuf;

use clap::{ArgAction, ArgGroup, Args, Subcommand};
use fleet::{Output, Span};
use server::api::Scope;

use super::explain::pair;

/// Which daemon.
#[derive(Args, Clone, Debug)]
pub struct At {
    /// The daemon's directory [default: MOTLEY_DIRECTORY, else one of your own]
    #[arg(long, value_name = "DIR")]
    pub directory: Option<PathBuf>,
}

/// How a daemon is started.
#[derive(Args, Clone, Debug)]
#[command(after_help = UP_EXAMPLES)]
pub struct Up {
    /// Which daemon.
    #[command(flatten)]
    pub at: At,
    /// Return once it answers, and let it go on by itself
    #[arg(long)]
    pub detach: bool,
    /// A file that lists accelerators which the system does not show
    #[arg(long, value_name = "FILE")]
    pub inventory: Option<PathBuf>,
    /// Add the nodes of a fleet file, on which tasks run no program but take the time that they are
    /// expected to [default: those of the last --model]
    #[arg(long, value_name = "FLEET", conflicts_with = "no_model")]
    pub model: Option<PathBuf>,
    /// Forget the nodes of the last --model
    #[arg(long)]
    pub no_model: bool,
    /// Plan by this policy [default: the one that was applied last, else default]
    #[arg(long, value_name = "NAME|FILE")]
    pub policy: Option<String>,
    /// A file with rules of alerts [default: that of the last time]
    #[arg(long, value_name = "FILE")]
    pub alerts: Option<PathBuf>,
    /// Serve the dashboard and the API there too, to who has a token: 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<String>,
    /// Allow any address for --listen, since a proxy that ends TLS stands before it
    #[arg(long)]
    pub behind_proxy: bool,
}

const UP_EXAMPLES: &str = "\
Examples:
  motley up --detach --listen 127.0.0.1:8080
  motley up --inventory devices.toml --policy pack
  motley up --model fleet.toml      its nodes are played beside this machine";

/// How a daemon is ended.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  motley down\n  motley down --now\n  motley down --leave")]
pub struct Down {
    /// Which daemon.
    #[command(flatten)]
    pub at: At,
    /// Stop what runs; it runs again when the daemon is back [default: wait until it has ended]
    #[arg(long)]
    pub now: bool,
    /// Let what runs go on; the next daemon finds it
    #[arg(long, conflicts_with = "now")]
    pub leave: bool,
}

/// A question with nothing but its form.
#[derive(Args, Clone, Debug)]
pub struct Ask {
    /// Which daemon.
    #[command(flatten)]
    pub at: At,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// The dashboard in a terminal.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  motley top\n  NO_COLOR=1 motley top")]
pub struct Top {
    /// Which daemon.
    #[command(flatten)]
    pub at: At,
}

/// A job to run.
#[derive(Args, Clone, Debug)]
pub struct Wanted {
    /// Which daemon.
    #[command(flatten)]
    pub at: At,
    /// What it needs and how it is kept.
    #[command(flatten)]
    pub needs: Needs,
    /// The program and its arguments
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<String>,
}

/// Submits a job.
#[derive(Args, Clone, Debug)]
#[command(after_help = SUBMIT_EXAMPLES)]
#[command(group = ArgGroup::new("what").args(["file", "command"]).required(true).multiple(true))]
pub struct Submit {
    /// Submit the jobs of this file, or run this script with the #SBATCH lines in it; - is standard
    /// input
    #[arg(long, value_name = "FILE", conflicts_with = "Needs")]
    pub file: Option<PathBuf>,
    /// The job.
    #[command(flatten)]
    pub job: Wanted,
    /// Print nothing but the number of the job
    #[arg(long)]
    pub parsable: bool,
    /// Print as JSON
    #[arg(long, conflicts_with = "parsable")]
    pub json: bool,
    /// Say what would happen, and do nothing
    #[arg(long, conflicts_with = "parsable")]
    pub plan: bool,
}

const SUBMIT_EXAMPLES: &str = "\
Examples:
  motley submit --cpus 4 --mem 8G -- python train.py
  motley submit --array 1-1000 -- sh -c 'echo $MOTLEY_TASK_INDEX'
  motley submit --gpus a100:1 --gpu-share 0.5 --gpu-mem 8G --time 1h30m -- ./infer
  motley submit --after 17 --name report -- make report
  motley submit --each-line samples.txt -- sh -c './analyse $MOTLEY_ENTRY'
  motley submit --file jobs.toml          see motley job check jobs.toml
  motley submit --file train.sh -- --epochs 3";

/// Runs a job and waits for it.
#[derive(Args, Clone, Debug)]
#[command(after_help = RUN_EXAMPLES)]
#[command(group = ArgGroup::new("what").args(["command"]).required(true))]
pub struct Run {
    /// The job.
    #[command(flatten)]
    pub job: Wanted,
    /// Start a daemon if none runs
    #[arg(long)]
    pub up: bool,
}

const RUN_EXAMPLES: &str = "\
Examples:
  motley run --up -- echo hello
  motley run --cpus 2 -- make -j2     its status is that of the program; ctrl-C cancels it";

/// What a job needs, and how it is kept.
#[derive(Args, Clone, Debug, Default)]
pub struct Needs {
    /// Cores of one task [default: 1]
    #[arg(long, value_name = "N")]
    pub cpus: Option<String>,
    /// Memory of one task: 8G, 8Gi [default: none is reserved]
    #[arg(long, value_name = "SIZE")]
    pub mem: Option<String>,
    /// GPUs of one task: a count, or MODEL:COUNT
    #[arg(long, value_name = "[MODEL:]N")]
    pub gpus: Option<String>,
    /// How much of one GPU: 0.5
    #[arg(long, value_name = "F")]
    pub gpu_share: Option<String>,
    /// Memory needed on each GPU: 8G
    #[arg(long, value_name = "SIZE")]
    pub gpu_mem: Option<String>,
    /// Another way to run a task, in the words of the options above and of --rate:
    /// cpus=8,mem=4G,rate=epyc:2; may be given more than once
    #[arg(long, value_name = "WAY")]
    pub alternative: Vec<String>,
    /// After how long a task is stopped, and how long it is taken to run where no --work is given:
    /// 90s, 1h30m, 2-12:00:00
    #[arg(long, value_name = "SPAN")]
    pub time: Option<Span>,
    /// A label that the node must have; may be given more than once
    #[arg(long = "label", value_name = "KEY=VALUE", value_parser = pair)]
    pub labels: Vec<(String, String)>,
    /// Work per second on a model: MODEL=R; may be given more than once
    #[arg(long = "rate", value_name = "MODEL=R")]
    pub rates: Vec<String>,
    /// Work of one task, in the unit of --rate
    #[arg(long, value_name = "W")]
    pub work: Option<String>,
    /// One task for each number: 0-99, 1-1000000
    #[arg(long, value_name = "FIRST-LAST")]
    pub array: Option<String>,
    /// One task for each line of a file, which it finds in MOTLEY_ENTRY; with --array only those
    /// of these numbers, the first being 0
    #[arg(long, value_name = "FILE", conflicts_with = "from_json")]
    pub each_line: Option<PathBuf>,
    /// One task for each element of a JSON array in a file, which it finds in MOTLEY_ENTRY as JSON
    #[arg(long, value_name = "FILE")]
    pub from_json: Option<PathBuf>,
    /// All tasks start together or not at all
    #[arg(long)]
    pub gang: bool,
    /// Who it is accounted to [default: your user name]
    #[arg(long, value_name = "NAME")]
    pub tenant: Option<String>,
    /// Larger goes first where the policy orders by priority [default: 0]
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    pub priority: Option<i64>,
    /// Its name [default: that of the program]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The directory that it starts in [default: this one]
    #[arg(long, value_name = "DIR")]
    pub cwd: Option<PathBuf>,
    /// Set or pass on a variable: NAME=VALUE or NAME; may be given more than once [default: the
    /// whole environment is passed on]
    #[arg(long, value_name = "NAME[=VALUE]")]
    pub env: Vec<String>,
    /// Pass on no environment but HOME, LANG, LOGNAME, PATH, SHELL, USER and what --env says
    #[arg(long, action = ArgAction::SetTrue)]
    pub no_env: bool,
    /// Where its output goes: keep, none or a file; in its name %j is the number of the job, %t
    /// that of the task [default: keep]
    #[arg(long, value_name = "FILE", value_parser = output)]
    pub output: Option<Output>,
    /// A file for what it prints as errors [default: with the rest]
    #[arg(long, value_name = "FILE", requires = "output")]
    pub error: Option<String>,
    /// Begin once this job has done its work; may be given more than once
    #[arg(long, value_name = "JOB")]
    pub after: Vec<String>,
    /// Begin once this job has ended, however it did
    #[arg(long, value_name = "JOB")]
    pub after_any: Vec<String>,
    /// Begin once this job has ended and has not done its work
    #[arg(long, value_name = "JOB")]
    pub after_notok: Vec<String>,
    /// How many times a task that fails runs again [default: 0]
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    pub retries: u32,
    /// Do not run a task again that was lost through no fault of its own
    #[arg(long)]
    pub no_requeue: bool,
    /// When its last task should have ended, from now: 4h
    #[arg(long, value_name = "SPAN")]
    pub deadline: Option<Span>,
    /// Keep it until it is released
    #[arg(long)]
    pub hold: bool,
}

fn output(text: &str) -> Result<Output, String> {
    match text {
        "" => Err("name a file, or write keep or none".to_owned()),
        "keep" => Ok(Output::Kept),
        "none" => Ok(Output::Discarded),
        file => Ok(Output::Files(file.to_owned(), None)),
    }
}

/// Which jobs to list.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  motley jobs\n  motley jobs --all --json")]
pub struct Jobs {
    /// How to ask.
    #[command(flatten)]
    pub ask: Ask,
    /// Also those that have ended
    #[arg(long)]
    pub all: bool,
    /// At most so many, the newest first
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub most: usize,
}

/// One job.
#[derive(Args, Clone, Debug)]
pub struct One {
    /// Its number or its name
    #[arg(value_name = "JOB")]
    pub job: String,
    /// How to ask.
    #[command(flatten)]
    pub ask: Ask,
}

/// Some jobs.
#[derive(Args, Clone, Debug)]
pub struct Some {
    /// Their numbers or names
    #[arg(value_name = "JOB", required_unless_present = "all")]
    pub jobs: Vec<String>,
    /// All of yours that have not ended
    #[arg(long, conflicts_with = "jobs")]
    pub all: bool,
    /// How to ask.
    #[command(flatten)]
    pub ask: Ask,
}

/// What a task printed.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  motley job logs 17\n  motley job logs 17 --task 3 --errors")]
pub struct Logs {
    /// The number or name of its job
    #[arg(value_name = "JOB")]
    pub job: String,
    /// The number of the task [default: the first]
    #[arg(long, value_name = "N")]
    pub task: Option<u32>,
    /// What it printed as errors, in place of its output
    #[arg(long)]
    pub errors: bool,
    /// Which attempt at it, the first being 0 [default: the latest]
    #[arg(long, value_name = "N")]
    pub attempt: Option<u32>,
    /// Which daemon.
    #[command(flatten)]
    pub at: At,
}

/// Files to check.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  motley job check jobs.toml\n  motley job check *.sh --json")]
pub struct Check {
    /// The files: .toml, .yaml, .yml, .json, or scripts with #SBATCH lines; - is standard input
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
}

/// Commands about jobs.
#[derive(Debug, Subcommand)]
pub enum Job {
    /// Show a job in full
    Show(One),
    /// Say why a job waits, and what would start it
    Explain(One),
    /// Read job files and say what they would submit, or what is wrong with them; exit status 1 if
    /// anything is
    Check(Check),
    /// Print what a task printed
    Logs(Logs),
    /// Wait until a job has ended; the status is that of the job
    Wait(One),
    /// Cancel jobs
    Cancel(Some),
    /// Start no more tasks of jobs
    Hold(Some),
    /// Let jobs that are held run
    Release(Some),
}

/// Commands about nodes.
#[derive(Debug, Subcommand)]
pub enum Node {
    /// Start nothing more on a node; what runs goes on
    Drain(Named),
    /// Let a node that was drained take work
    Resume(Named),
}

/// A node.
#[derive(Args, Clone, Debug)]
pub struct Named {
    /// Its name
    #[arg(value_name = "NODE")]
    pub node: String,
    /// Which daemon.
    #[command(flatten)]
    pub at: At,
}

/// Commands about tokens.
#[derive(Debug, Subcommand)]
pub enum Token {
    /// Create a token, and print it: it is shown this once
    #[command(
        after_help = "Examples:\n  motley token create laptop --scope submit\n  motley token create prometheus --for 365d"
    )]
    Create {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
        /// What it may: read, submit or admin; each includes the one before
        #[arg(long, value_name = "SCOPE", default_value = "read", value_parser = scope)]
        scope: Scope,
        /// For how long it holds [default: until it is revoked]
        #[arg(long = "for", value_name = "SPAN", value_parser = holding)]
        span: Option<Span>,
        /// How to ask.
        #[command(flatten)]
        ask: Ask,
    },
    /// List the tokens
    List(Ask),
    /// Revoke a token: it holds no more from now on
    Revoke {
        /// Its name
        #[arg(value_name = "NAME")]
        name: String,
        /// Which daemon.
        #[command(flatten)]
        at: At,
    },
}

/// For how long a token holds: it is told in whole seconds.
fn holding(text: &str) -> Result<Span, String> {
    let span: Span = text.parse().map_err(|error| format!("{error}"))?;
    match span.0 >= 1_000_000 {
        true => Ok(span),
        false => Err("a token holds for a second at least".to_owned()),
    }
}

fn scope(text: &str) -> Result<Scope, String> {
    let known = [Scope::Read, Scope::Submit, Scope::Admin].into_iter();
    let found = known.into_iter().find(|scope| scope.name() == text);
    found.ok_or_else(|| "give read, submit or admin".to_owned())
}

/// Commands about the journal of a daemon that does not run.
#[derive(Debug, Subcommand)]
pub enum Journal {
    /// Say how many records it has, of which kinds
    Show(Ask),
    /// Go through every record; exit status 1 and the record's number if one is damaged
    Verify(Ask),
    /// Print every record as a line of JSON
    Export(At),
    /// Drop what is older than the last checkpoint
    Prune(At),
}

/// What keeps tasks; started by the daemon.
#[derive(Args, Clone, Debug)]
pub struct Keeper {
    /// Its directory
    #[arg(long, value_name = "DIR")]
    pub directory: PathBuf,
}
