//! The diary: what tasks themselves say of their beginning and their end.
//!
//! Tasks add lines to one file, each with one call, so that the order of lines
//! is the order in which things happened, and nothing of Motley has a say in
//! it. The bench adds a line whenever a keeper stops for good.

use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fleet::{Attempt, JobId, RunId, TaskIndex};

/// One line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    /// A task began.
    Began(RunId),
    /// It did its work.
    Ended(RunId),
    /// It is about to fail, as it was made to.
    Failed(RunId),
    /// The keeper did nothing more from here on: so many had been killed before.
    Keeper(usize),
    /// By now it and its tasks are gone: what began before this line may have been its last.
    Gone,
}

/// The file.
#[derive(Clone, Debug)]
pub(super) struct Diary(PathBuf);

impl Diary {
    pub(super) fn new(path: PathBuf) -> Self {
        Self(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }

    /// Notes that a keeper was stopped, and how many were before.
    pub(super) fn note_keeper(&self, before: usize) -> anyhow::Result<()> {
        self.add(&format!("keeper {before}\n"))
    }

    /// Notes that it has been killed.
    pub(super) fn note_gone(&self) -> anyhow::Result<()> {
        self.add("gone\n")
    }

    fn add(&self, line: &str) -> anyhow::Result<()> {
        let file = OpenOptions::new().create(true).append(true).open(&self.0);
        let mut file = file.context("open the diary")?;
        file.write_all(line.as_bytes()).context("write the diary")
    }

    pub(super) fn read(&self) -> anyhow::Result<Vec<Line>> {
        if !self.0.exists() {
            return Ok(Vec::new());
        }
        let text = fs::read_to_string(&self.0).context("read the diary")?;
        text.lines()
            .map(|line| of_text(line).with_context(|| format!("understand `{line}` in the diary")))
            .collect()
    }
}

fn of_text(line: &str) -> Option<Line> {
    let mut words = line.split(' ');
    let verb = words.next()?;
    if verb == "gone" {
        return Some(Line::Gone);
    }
    let mut number = || words.next()?.parse().ok();
    if verb == "keeper" {
        return Some(Line::Keeper(usize::try_from(number()?).ok()?));
    }
    let run = run_of([number()?, number()?, number()?])?;
    match verb {
        "began" => Some(Line::Began(run)),
        "ended" => Some(Line::Ended(run)),
        "failed" => Some(Line::Failed(run)),
        _ => None,
    }
}

/// The run of this job, task and attempt.
pub(super) fn run_of([job, task, attempt]: [u64; 3]) -> Option<RunId> {
    let task = TaskIndex(u32::try_from(task).ok()?);
    Some(RunId { job: JobId(job), task, attempt: Attempt(u32::try_from(attempt).ok()?) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_were_written_and_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let diary = Diary::new(folder.path().join("diary"));
        assert_eq!(diary.read().unwrap(), []);
        fs::write(diary.path(), "began 7 0 1\nfailed 7 0 1\nended 8 2 0\n").unwrap();
        diary.note_keeper(3).unwrap();
        diary.note_gone().unwrap();
        let run = |job, task, attempt| run_of([job, task, attempt]).unwrap();
        let wanted = [
            Line::Began(run(7, 0, 1)),
            Line::Failed(run(7, 0, 1)),
            Line::Ended(run(8, 2, 0)),
            Line::Keeper(3),
            Line::Gone,
        ];
        assert_eq!(diary.read().unwrap(), wanted);
        fs::write(diary.path(), "began 7 0\n").unwrap();
        assert!(diary.read().is_err());
    }
}
