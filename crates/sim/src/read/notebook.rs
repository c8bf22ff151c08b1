//! What is noticed while a file is read: bad entries and remarks.

use super::Read;
use super::error::{BadLine, ReadError};

/// How many bad entries are kept word for word; the rest are counted.
const KEPT_MAX: usize = 20;

/// Bad entries and remarks so far.
pub(super) struct Notebook {
    /// The file, for messages.
    pub(super) file: String,
    skip_bad: bool,
    skipped: Vec<BadLine>,
    skipped_count: u64,
    notes: Vec<String>,
}

impl Notebook {
    /// An empty one.
    pub(super) fn new(file: &str, skip_bad: bool) -> Self {
        Self {
            file: file.to_owned(),
            skip_bad,
            skipped: Vec::new(),
            skipped_count: 0,
            notes: Vec::new(),
        }
    }

    /// Takes down a bad entry, or ends the reading where bad entries are not skipped.
    pub(super) fn skip(&mut self, bad: BadLine) -> Result<(), ReadError> {
        if !self.skip_bad {
            return Err(self.refuse(bad));
        }
        self.skipped_count += 1;
        if self.skipped.len() < KEPT_MAX {
            self.skipped.push(bad);
        }
        Ok(())
    }

    /// The error for what cannot be skipped.
    pub(super) fn refuse(&self, bad: BadLine) -> ReadError {
        ReadError::Bad { file: self.file.clone(), bad: Box::new(bad) }
    }

    /// The error for one entry too many.
    pub(super) fn too_many(&self, line: u64, what: &'static str, most: u64) -> ReadError {
        ReadError::TooMany { file: self.file.clone(), line, what, most }
    }

    /// The error for a file with nothing to return.
    pub(super) fn empty(&self, what: &'static str) -> ReadError {
        ReadError::Empty { file: self.file.clone(), what, skipped: self.skipped_count }
    }

    /// Takes down a remark.
    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// What was read, with everything noticed.
    pub(super) fn finish<T>(self, value: T) -> Read<T> {
        let Self { skipped, skipped_count, notes, .. } = self;
        Read { value, skipped, skipped_count, notes }
    }
}
