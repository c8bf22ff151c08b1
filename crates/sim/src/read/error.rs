//! Where a file is wrong.
//!
//! A [`Fault`] is what is wrong with one value and what to do about it; a
//! [`BadLine`] adds the line and the field; a [`ReadError`] adds the file.
//! Inside the readers a [`Wrong`] carries a fault outwards while each level
//! adds its step of the path. Words that a user wrote are shortened before
//! they are repeated.

use std::fmt;
use std::io;

use thiserror::Error;

use super::fault::Fault;
use super::job_list::ColumnFault;
use super::raw::TEXT_BYTES_MAX;

/// Why a file could not be read. `file` is its path, or what a test calls it.
#[derive(Debug, Error)]
pub enum ReadError {
    /// It is not there, or may not be read.
    #[error("open {file}")]
    Open {
        /// The file.
        file: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Reading it broke off.
    #[error("read {file}")]
    Broken {
        /// The file.
        file: String,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The gzip data ends before its end mark.
    #[error("read {file}: its gzip data ends too early; it was cut short, so copy it again")]
    Truncated {
        /// The file.
        file: String,
    },
    /// The gzip data makes no sense.
    #[error("read {file}: its gzip data is damaged; copy it again")]
    Damaged {
        /// The file.
        file: String,
        /// What the decompressor said.
        #[source]
        source: io::Error,
    },
    /// A line, or all of it, is larger than a reader takes.
    #[error("read {file}")]
    TooLarge {
        /// The file.
        file: String,
        /// What is too large.
        #[source]
        limit: Limit,
    },
    /// More of something than a fleet or workload may have.
    #[error("read {file}, line {line}: more than {most} {what}; split the file")]
    TooMany {
        /// The file.
        file: String,
        /// The line of the entry that was too many.
        line: u64,
        /// Of what.
        what: &'static str,
        /// How many there may be.
        most: u64,
    },
    /// It is of a kind that belongs elsewhere.
    #[error("read {file}: it is {found}, but {wanted} is needed here; {advice}")]
    WrongKind {
        /// The file.
        file: String,
        /// What it is.
        found: &'static str,
        /// What would be right.
        wanted: &'static str,
        /// What to do.
        advice: &'static str,
    },
    /// An entry is wrong, and bad entries are not skipped.
    #[error("read {file}, {bad}")]
    Bad {
        /// The file.
        file: String,
        /// What is wrong.
        bad: Box<BadLine>,
    },
    /// Nothing was left to return.
    #[error("read {file}: it has no usable {what} ({skipped} bad ones were skipped)")]
    Empty {
        /// The file.
        file: String,
        /// Of what.
        what: &'static str,
        /// How many were there and bad.
        skipped: u64,
    },
    /// Arrivals by time were asked of a list without times.
    #[error(
        "read {file}: arrivals are asked to be timed, but the list has no column {column}; use \
         the arrivals order, in which the lines arrive one after the other"
    )]
    Untimed {
        /// The file.
        file: String,
        /// The column that is missing.
        column: &'static str,
    },
    /// An option was given for a file of another format.
    #[error("read {file}: {option} is for {only} only, and this is {found}; leave it out")]
    OptionIdle {
        /// The file.
        file: String,
        /// What was given.
        option: &'static str,
        /// What it is for.
        only: &'static str,
        /// What the file is.
        found: &'static str,
    },
    /// Columns that cannot be mapped as asked.
    #[error("read {file}, line 1")]
    Columns {
        /// The file.
        file: String,
        /// What is wrong.
        #[source]
        fault: ColumnFault,
    },
    /// Arrivals were chosen for a file that states its own.
    #[error(
        "read {file}: arrivals can be chosen for an openb pod list only; this file states when \
         its jobs arrive, so leave the choice out"
    )]
    ArrivalsGiven {
        /// The file.
        file: String,
    },
}

/// A size that a reader does not go beyond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Limit {
    /// One line.
    #[error("line {line} is longer than {most} bytes; no entry is that long")]
    Line {
        /// The line.
        line: u64,
        /// How long a line may be.
        most: u64,
    },
    /// All of it, decompressed.
    #[error("it is larger than {most} bytes after decompression; split it")]
    Whole {
        /// How large it may be.
        most: u64,
    },
}

/// One wrong entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// The line, counted from 1.
    pub line: u64,
    /// The field, as a path from the entry: `alternative[0].device.share`. Empty where it is the
    /// whole entry.
    pub field: String,
    /// What is wrong, and what to do.
    pub fault: Fault,
}

impl fmt::Display for BadLine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => write!(out, "line {}: {}", self.line, self.fault),
            field => write!(out, "line {}, `{field}`: {}", self.line, self.fault),
        }
    }
}

/// A fault on its way out, with the path from the entry to it.
#[derive(Debug)]
pub(super) struct Wrong {
    /// Innermost step first.
    steps: Vec<Step>,
    /// What is wrong.
    pub(super) fault: Fault,
}

/// One step from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Into a field of a table.
    Field(String),
    /// Into an item of a list.
    Item(usize),
}

impl Wrong {
    /// A fault of the value itself.
    pub(super) fn here(fault: Fault) -> Self {
        Self { steps: Vec::new(), fault }
    }

    /// A fault of one field.
    pub(super) fn at(field: &str, fault: Fault) -> Self {
        Self { steps: vec![Step::Field(field.to_owned())], fault }
    }

    /// A fault at the end of a path, given from the entry inwards.
    pub(super) fn along(path: Vec<Step>, fault: Fault) -> Self {
        Self { steps: path.into_iter().rev().collect(), fault }
    }

    /// The same fault, seen from around this field.
    pub(super) fn inside(mut self, field: &str) -> Self {
        self.steps.push(Step::Field(field.to_owned()));
        self
    }

    /// The path, from the entry inwards.
    pub(super) fn path(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().rev()
    }

    /// The same with its line.
    pub(super) fn on_line(self, line: u64) -> BadLine {
        let mut field = String::new();
        for step in self.path() {
            match step {
                Step::Field(name) if field.is_empty() => field.push_str(&shorten(name)),
                Step::Field(name) => field.push_str(&format!(".{}", shorten(name))),
                Step::Item(index) => field.push_str(&format!("[{index}]")),
            }
        }
        BadLine { line, field, fault: self.fault }
    }
}

/// Adds steps to the path of a fault.
pub(super) trait Within {
    /// The fault is inside this field.
    fn within(self, field: &str) -> Self;
    /// The fault is inside this item.
    fn within_item(self, index: usize) -> Self;
}

impl<T> Within for Result<T, Wrong> {
    fn within(self, field: &str) -> Self {
        self.map_err(|wrong| wrong.inside(field))
    }

    fn within_item(self, index: usize) -> Self {
        self.map_err(|mut wrong| {
            wrong.steps.push(Step::Item(index));
            wrong
        })
    }
}

/// The bytes of a cell of a table as text.
pub(super) fn cell_text<'b>(bytes: &'b [u8], column: &str) -> Result<&'b str, Wrong> {
    let (given, most) = (bytes.len(), TEXT_BYTES_MAX);
    if given > most {
        return Err(Wrong::at(column, Fault::TextLong { given, most }));
    }
    std::str::from_utf8(bytes).map_err(|_| Wrong::at(column, Fault::Encoding))
}

/// The text, cut where it is too long to be repeated in a message.
pub(super) fn shorten(text: &str) -> String {
    /// Enough for every list of field names that a parser may print.
    const CHARACTERS_MAX: usize = 300;
    match text.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A list of names for a message, cut where it is too long.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a str>) -> String {
    /// Enough to recognise a misspelt name's neighbours.
    const NAMES_MAX: usize = 12;
    let mut shown: Vec<String> = names.take(NAMES_MAX + 1).map(shorten).collect();
    match shown.len() {
        0 => "none".to_owned(),
        1..=NAMES_MAX => shown.join(", "),
        _ => {
            shown.truncate(NAMES_MAX);
            format!("{}, …", shown.join(", "))
        }
    }
}
