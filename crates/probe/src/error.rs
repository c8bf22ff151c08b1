//! What can go wrong when a system is read.
//!
//! Every error names the file and what was expected of it, so that whoever
//! reads it can look for themselves. The same values stand in a [`crate::Gap`]
//! where reading goes on without the file.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Something that could not be read or makes no sense.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// A file is not there.
    #[error("read {}: it is not there, and should be {expected}", path.display())]
    Missing {
        /// Which.
        path: PathBuf,
        /// What should be in it.
        expected: &'static str,
    },
    /// A file or folder is there and cannot be read.
    #[error("read {}, which should be {expected}", path.display())]
    Unreadable {
        /// Which.
        path: PathBuf,
        /// What should be in it.
        expected: &'static str,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file is longer, or a folder has more entries, than any of its kind.
    #[error("read {}: there is more than {most} {unit} of it", path.display())]
    TooMuch {
        /// Which.
        path: PathBuf,
        /// How much is read.
        most: usize,
        /// Of what.
        unit: &'static str,
    },
    /// A file says something else than files of its kind do.
    #[error("read {}: it says `{found}`, and should be {expected}", path.display())]
    Garbled {
        /// Which.
        path: PathBuf,
        /// What should be in it.
        expected: &'static str,
        /// How it begins.
        found: String,
    },
    /// The numbers of threads in two files do not go together.
    #[error("read {}: {found} is not {expected}", path.display())]
    Contradiction {
        /// The file that was read last.
        path: PathBuf,
        /// What the other files let expect.
        expected: &'static str,
        /// What this one says.
        found: String,
    },
    /// A node needs something of which this process may use nothing.
    #[error("describe this node: there is no {what} that this process may use")]
    Nothing {
        /// Of what.
        what: &'static str,
    },
    /// More parts than a node can have.
    #[error("describe this node: it has {found} {what}, and can have {most}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there can be.
        most: usize,
    },
    /// A program of a vendor did not do what it does.
    #[error("ask {program}: it {fault}")]
    Program {
        /// The program.
        program: PathBuf,
        /// What it did.
        fault: String,
    },
}

impl ProbeError {
    /// A file with such a beginning.
    pub(crate) fn garbled(path: PathBuf, expected: &'static str, text: &str) -> Self {
        Self::Garbled { path, expected, found: beginning(text) }
    }

    /// The last part of the path that it is about, by which like faults are counted together.
    pub(crate) fn file(&self) -> Option<&str> {
        let path = match self {
            Self::Missing { path, .. }
            | Self::Unreadable { path, .. }
            | Self::TooMuch { path, .. }
            | Self::Garbled { path, .. }
            | Self::Contradiction { path, .. } => path,
            Self::Program { program, .. } => program,
            Self::Nothing { .. } | Self::TooMany { .. } => return None,
        };
        path.file_name().and_then(|name| name.to_str())
    }
}

/// The first letters of a text, on one line.
pub(crate) fn beginning(text: &str) -> String {
    /// As much as fits into a message.
    const LETTERS_MAX: usize = 60;
    let mut start: String = text.trim().chars().take(LETTERS_MAX).collect();
    if text.trim().chars().nth(LETTERS_MAX).is_some() {
        start.push('…');
    }
    start.replace(['\n', '\r', '\t'], " ")
}
