//! Where the files of a system are, and reading them within bounds.
//!
//! All names are relative to the root, so that a tree recorded elsewhere reads
//! like the live one. What is not there is `None` for the caller to judge; what
//! is there and cannot be read is an error. Recorded trees pad some files with
//! zero bytes; those are dropped with the white space at the ends.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::error::ProbeError;

/// The largest file that is read in whole: the mounts of a machine full of containers are some
/// hundred kilobytes, files of sysfs at most a page or a few.
const FILE_BYTES_MAX: usize = 4 << 20;

/// As much of `/proc/cpuinfo` as is read; it repeats itself for every thread.
const HEAD_BYTES: u64 = 64 << 10;

/// The most entries of a folder: twice the threads of the largest system.
const ENTRIES_MAX: usize = 131_072;

/// The folder in which the files of a system are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Root {
    folder: PathBuf,
}

impl Root {
    /// The system that this process runs on.
    #[must_use]
    pub fn live() -> Self {
        Self::at("/")
    }

    /// A recorded tree.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// The whole path of a name below the root.
    #[must_use]
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.join(name.trim_start_matches('/'))
    }

    /// A file that may be missing.
    pub(crate) fn find(
        &self,
        name: &str,
        expected: &'static str,
    ) -> Result<Option<String>, ProbeError> {
        let path = self.path(name);
        let limit = FILE_BYTES_MAX as u64 + 1;
        match read_start(&path, limit) {
            Ok(bytes) if bytes.len() > FILE_BYTES_MAX => {
                Err(ProbeError::TooMuch { path, most: FILE_BYTES_MAX, unit: "bytes" })
            }
            Ok(bytes) => Ok(Some(text_of(&bytes))),
            Err(error) if is_absence(&error) => Ok(None),
            Err(source) => Err(ProbeError::Unreadable { path, expected, source }),
        }
    }

    /// A file that has to be there.
    pub(crate) fn read(&self, name: &str, expected: &'static str) -> Result<String, ProbeError> {
        self.find(name, expected)?.ok_or_else(|| self.missing(name, expected))
    }

    /// The beginning of a file that has to be there and may be long.
    pub(crate) fn head(&self, name: &str, expected: &'static str) -> Result<String, ProbeError> {
        let path = self.path(name);
        match read_start(&path, HEAD_BYTES) {
            Ok(bytes) => Ok(text_of(&bytes)),
            Err(error) if is_absence(&error) => Err(self.missing(name, expected)),
            Err(source) => Err(ProbeError::Unreadable { path, expected, source }),
        }
    }

    /// A whole number that may be missing.
    pub(crate) fn find_number(
        &self,
        name: &str,
        expected: &'static str,
    ) -> Result<Option<i64>, ProbeError> {
        let Some(text) = self.find(name, expected)? else { return Ok(None) };
        let wrong = |_| ProbeError::garbled(self.path(name), expected, &text);
        text.parse().map(Some).map_err(wrong)
    }

    /// A whole number that has to be there.
    pub(crate) fn number(&self, name: &str, expected: &'static str) -> Result<i64, ProbeError> {
        self.find_number(name, expected)?.ok_or_else(|| self.missing(name, expected))
    }

    /// The names in a folder, sorted; none where it is not there.
    pub(crate) fn entries(&self, name: &str) -> Result<Vec<String>, ProbeError> {
        let path = self.path(name);
        let expected = "a folder";
        let unreadable =
            |source| ProbeError::Unreadable { path: self.path(name), expected, source };
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if is_absence(&error) => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(error)),
        };
        let mut names = Vec::new();
        for entry in entries {
            names.push(entry.map_err(unreadable)?.file_name().to_string_lossy().into_owned());
            if names.len() > ENTRIES_MAX {
                return Err(ProbeError::TooMuch { path, most: ENTRIES_MAX, unit: "entries" });
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    /// The entries of a folder that are a word and a number, such as `cpu12`, by number.
    pub(crate) fn numbered(&self, name: &str, word: &str) -> Result<Vec<u32>, ProbeError> {
        let names = self.entries(name)?;
        let number = |entry: &String| entry.strip_prefix(word)?.parse().ok();
        let mut numbers: Vec<u32> = names.iter().filter_map(number).collect();
        numbers.sort_unstable();
        Ok(numbers)
    }

    /// Where a link points, as it is written; nothing where there is none.
    pub(crate) fn link(&self, name: &str) -> Option<PathBuf> {
        fs::read_link(self.path(name)).ok()
    }

    /// Whether there is a file or folder of this name.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    pub(crate) fn missing(&self, name: &str, expected: &'static str) -> ProbeError {
        ProbeError::Missing { path: self.path(name), expected }
    }
}

fn read_start(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(bytes_max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// sysfs answers some reads of attributes that a device does not have with `ENODEV` or `ENXIO`.
fn is_absence(error: &io::Error) -> bool {
    const ENXIO: i32 = 6;
    const ENODEV: i32 = 19;
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
        || matches!(error.raw_os_error(), Some(ENXIO | ENODEV))
}

fn text_of(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.trim_matches(|letter: char| letter == '\0' || letter.is_whitespace()).to_owned()
}
