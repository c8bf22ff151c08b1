//! What the comments of a log say about it, held against the lines.

use super::super::error::{Wrong, shorten};
use super::super::fault::Fault;
use super::super::notebook::Notebook;
use super::tally::Tally;

/// The numbers that are checked, where a comment has them.
#[derive(Default)]
pub(super) struct Header {
    max_jobs: Option<u64>,
    max_records: Option<u64>,
    max_nodes: Option<u64>,
    max_procs: Option<u64>,
    max_runtime: Option<u64>,
}

impl Header {
    /// Takes in a comment, which is `Name: value` or any words at all. Only a version that may
    /// have other fields is wrong.
    pub(super) fn take_in(&mut self, comment: &[u8]) -> Result<(), Wrong> {
        let text = String::from_utf8_lossy(comment);
        let Some((name, value)) = text.split_once(':') else { return Ok(()) };
        let value = value.trim();
        let number = number(value);
        let known = match name.trim() {
            "Version" => return check_version(value),
            "MaxJobs" => &mut self.max_jobs,
            "MaxRecords" => &mut self.max_records,
            "MaxNodes" => &mut self.max_nodes,
            "MaxProcs" => &mut self.max_procs,
            "MaxRuntime" => &mut self.max_runtime,
            _ => return Ok(()),
        };
        *known = number.or(*known);
        Ok(())
    }

    /// Notes where the lines are not as the comments say.
    pub(super) fn note(&self, tally: &Tally, notebook: &mut Notebook) {
        let records = self.max_records.map(|most| ("MaxRecords", most));
        let jobs = self.max_jobs.map(|most| ("MaxJobs", most));
        if let Some((name, told)) = records.or(jobs).filter(|(_, told)| *told != tally.lines) {
            let lines = tally.lines;
            notebook.note(format!(
                "the header says {name}: {told}, and the log has {lines} lines of jobs: part of \
                 it may be missing"
            ));
        }
        let procs = self.max_procs.map(|most| ("MaxProcs", most));
        let nodes = self.max_nodes.map(|most| ("MaxNodes", most));
        if let Some((name, most)) = procs.or(nodes).filter(|(_, most)| tally.widest > *most) {
            let widest = tally.widest;
            notebook
                .note(format!("the header says {name}: {most}, and a job has {widest} processors"));
        }
        if let Some(most) =
            self.max_runtime.filter(|most| tally.longest.as_seconds() > *most as f64)
        {
            let longest = tally.longest;
            notebook.note(format!(
                "the header says MaxRuntime: {most} seconds, and a job ran for {longest}"
            ));
        }
    }
}

/// The number that a value begins with; logs add words to some.
fn number(value: &str) -> Option<u64> {
    let end = value.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(value.len());
    value[..end].parse().ok()
}

fn check_version(value: &str) -> Result<(), Wrong> {
    match number(value) {
        Some(0..=2) => Ok(()),
        _ => Err(Wrong::at("Version", Fault::SwfVersion { given: shorten(value) })),
    }
}
