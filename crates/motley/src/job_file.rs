//! Job files: what is submitted in one go, written down.
//!
//! In comes the text of a file, TOML or YAML with the fields of `docs/files.md`
//! or a script with `#SBATCH` lines, and where it is submitted from ([`Around`]);
//! out come [`Submission`]s, each after those that it begins after, or every
//! [`Fault`] with its line. What a job asks for is read by the reader of
//! workload files, so that its words and bounds are the same everywhere. Nothing
//! is submitted here, and nothing is dropped in silence.

mod around;
mod document;
mod entries;
mod fields;
mod located;
mod order;
mod script;

use std::fmt;
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use serde::Serialize;
use serde_json::{Map, Value};
use sim::Inventory;
use sim::read::{self as reader, ReadError};

pub use around::{Around, Passed};
pub use entries::{Tasks, numbered, of_json, of_lines, tasks};

use server::api::{JOBS_MAX, Submission};

/// The most bytes of a job file.
const FILE_BYTES_MAX: u64 = 16 << 20;

/// What is wrong with one place of a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Fault {
    /// The line, counted from 1.
    pub line: u64,
    /// The field or option; empty where it is none.
    pub field: String,
    /// What is wrong, and what to do.
    pub text: String,
}

impl Fault {
    fn new(line: u64, field: impl Into<String>, text: impl Into<String>) -> Self {
        Self { line, field: field.into(), text: text.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => write!(out, "{}: {}", self.line, self.text),
            field => write!(out, "{}: `{field}`: {}", self.line, self.text),
        }
    }
}

/// What a file says.
#[derive(Clone, Debug, Default)]
pub struct JobFile {
    /// The jobs, each after those that it begins after; fewer than there are where faults were
    /// found.
    pub jobs: Vec<Submission>,
    /// Everything that was found wrong, by line.
    pub faults: Vec<Fault>,
    /// What is well to know, each with its line.
    pub notes: Vec<Fault>,
}

/// A job of a file, with what only the file says of it.
struct Told {
    name: String,
    line: u64,
    submission: Submission,
    /// The line of each job that it begins after.
    after_lines: Vec<u64>,
}

/// Reads a file, or standard input where it is `-`. The arguments are for a script.
///
/// # Errors
/// If it cannot be read at all; what is wrong inside it is in what is returned.
pub fn open(path: &Path, arguments: &[String], around: &Around) -> anyhow::Result<JobFile> {
    let bytes = entries::bytes(path, FILE_BYTES_MAX)?;
    let text = String::from_utf8(bytes)
        .with_context(|| format!("read {}: it is not UTF-8 text", path.display()))?;
    read((path, &text), arguments, around).with_context(|| format!("read {}", path.display()))
}

/// Reads the text of a file of this name.
///
/// # Errors
/// If it has no known form, or arguments that nothing takes.
pub fn read(
    (path, text): (&Path, &str),
    arguments: &[String],
    around: &Around,
) -> anyhow::Result<JobFile> {
    let kind = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_script = text.starts_with("#!") && !matches!(kind, "toml" | "yaml" | "yml" | "json");
    if is_script {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.filter(|name| *name != "-").unwrap_or("sbatch");
        return Ok(script::read(text, (name, arguments), around));
    }
    ensure!(arguments.is_empty(), "only a script takes arguments; leave them out");
    let is_yaml = match kind {
        "toml" => false,
        "yaml" | "yml" | "json" => true,
        _ if path.as_os_str() == "-" => text.trim_start().starts_with(['{', '-']),
        _ => bail!("name it .toml, .yaml, .yml or .json, or begin the script with #!"),
    };
    let document = if is_yaml { located::of_yaml(text) } else { located::of_toml(text) };
    Ok(document::read(document, around))
}

/// What is wrong with what a job asks for, as the reader of workload files says it: the field, as
/// a path, and the reason.
fn fault_of(job: &Map<String, Value>) -> Option<(String, String)> {
    let mut file = Map::new();
    file.insert("format".to_owned(), Value::from(1));
    file.insert("job".to_owned(), Value::Array(vec![Value::Object(job.clone())]));
    let text = match toml::to_string(&file) {
        Ok(text) => text,
        Err(error) => return Some((String::new(), error.to_string())),
    };
    let options = reader::Options::default();
    match reader::workload_from(text.as_bytes(), "the job", &Inventory::default(), &options) {
        // Which sizes slices have, the daemon knows.
        Ok(_) => None,
        Err(ReadError::Bad { bad, .. }) => match bad.fault {
            reader::Fault::ProfileUnknown { .. } => None,
            fault => Some((bad.field, fault.to_string())),
        },
        Err(error) => Some((String::new(), format!("{:#}", anyhow::Error::from(error)))),
    }
}

/// Adds who a job is accounted to and for how long it runs, where it does not say so.
fn fill_in(job: &mut Map<String, Value>, time_limit: Option<fleet::Span>, around: &Around) {
    if let (false, Some(user)) = (job.contains_key("tenant"), around.user()) {
        job.insert("tenant".to_owned(), Value::from(user));
    }
    if let (false, Some(limit)) = (job.contains_key("work"), time_limit) {
        job.insert("work".to_owned(), Value::from(limit.as_seconds()));
    }
}
