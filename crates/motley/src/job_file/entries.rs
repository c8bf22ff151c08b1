//! What the tasks of a job are numbered by, and what each of them gets as its own.
//!
//! An entry is a line of a file, an element of a JSON array or a text of a list.
//! The bounds are those of the daemon, so that what is too much is refused here,
//! where the file is.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};
use serde_json::Value;

use crate::daemon::{ENTRIES_BYTES_MAX, ENTRIES_MAX, ENTRY_BYTES_MAX};

/// The most bytes of a file with entries: JSON takes more than what it stands for.
const FILE_BYTES_MAX: u64 = 2 * ENTRIES_BYTES_MAX as u64;

/// What tasks there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tasks {
    /// How many.
    pub count: u32,
    /// The number of the first.
    pub first: u32,
    /// What each gets, where they get anything.
    pub entries: Vec<String>,
}

/// The first and the last number of an array: `1-1000000`, or `7` for one.
///
/// # Errors
/// If it is not of that form.
pub fn numbered(array: &str) -> anyhow::Result<(u32, u32)> {
    let (first, last) = array.split_once('-').unwrap_or((array, array));
    let number = |text: &str| text.trim().parse::<u32>();
    let (Ok(first), Ok(last)) = (number(first), number(last)) else {
        bail!("{array:?} is no array; write FIRST-LAST, like 1-100");
    };
    ensure!(first <= last, "of {array:?} the first is higher than the last");
    ensure!(last - first < u32::MAX, "{array:?} has too many numbers");
    Ok((first, last))
}

/// The tasks of an array, of entries, or of both: of entries the array picks some, the first being
/// number 0.
///
/// # Errors
/// If the array is not of its form, or picks what is not there.
pub fn tasks(array: Option<&str>, entries: Option<Vec<String>>) -> anyhow::Result<Tasks> {
    let picked = array.map(numbered).transpose()?;
    let Some(entries) = entries else {
        let (first, last) = picked.unwrap_or_default();
        return Ok(Tasks { count: last - first + 1, first, entries: Vec::new() });
    };
    ensure!(!entries.is_empty(), "there are no entries, so there is no task; give at least one");
    check(&entries)?;
    let whole = (0, u32::try_from(entries.len() - 1).context("count the entries")?);
    let (first, last) = picked.unwrap_or(whole);
    let Some(of_these) = entries.get(first as usize..=last as usize) else {
        bail!("the array picks the entries {first} to {last}, and they are 0 to {}", whole.1);
    };
    Ok(Tasks { count: last - first + 1, first, entries: of_these.to_vec() })
}

/// Refuses what the daemon would refuse.
fn check(entries: &[String]) -> anyhow::Result<()> {
    ensure!(
        entries.len() <= ENTRIES_MAX,
        "there are {} entries; a job has at most {ENTRIES_MAX}, so split them",
        entries.len()
    );
    let bytes: usize = entries.iter().map(String::len).sum();
    ensure!(
        bytes <= ENTRIES_BYTES_MAX,
        "the entries have {bytes} bytes; at most {ENTRIES_BYTES_MAX}, so split them"
    );
    let long = |entry: &String| entry.len() > ENTRY_BYTES_MAX || entry.contains('\0');
    if let Some(index) = entries.iter().position(long) {
        let number = index + 1;
        bail!("entry {number} has more than {ENTRY_BYTES_MAX} bytes or a NUL; name a file in it");
    }
    Ok(())
}

/// One entry for each line of a file, or of standard input where it is `-`.
///
/// # Errors
/// If it cannot be read, is too large, or is not UTF-8.
pub fn of_lines(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = text(path)?;
    Ok(text.lines().map(str::to_owned).collect())
}

/// One entry for each element of a JSON array, as JSON: a text keeps its quotes.
///
/// # Errors
/// If it cannot be read, is too large, or is no JSON array.
pub fn of_json(path: &Path) -> anyhow::Result<Vec<String>> {
    let text = text(path)?;
    let read: Value =
        serde_json::from_str(&text).with_context(|| format!("read {} as JSON", path.display()))?;
    let Value::Array(items) = read else {
        bail!("read {}: it is no JSON array; write [1, 2, 3]", path.display());
    };
    Ok(items.iter().map(Value::to_string).collect())
}

fn text(path: &Path) -> anyhow::Result<String> {
    let bytes = bytes(path, FILE_BYTES_MAX)?;
    String::from_utf8(bytes).with_context(|| format!("read {} as UTF-8", path.display()))
}

/// What a file has, or standard input where it is `-`, up to a bound.
///
/// # Errors
/// If it cannot be read, or is larger.
pub(super) fn bytes(path: &Path, most: u64) -> anyhow::Result<Vec<u8>> {
    let named = || format!("read {}", path.display());
    let mut bytes = Vec::new();
    let source: Box<dyn Read> = match path.to_str() {
        Some("-") => Box::new(io::stdin().lock()),
        _ => Box::new(File::open(path).with_context(named)?),
    };
    source.take(most + 1).read_to_end(&mut bytes).with_context(named)?;
    ensure!(bytes.len() as u64 <= most, "read {}: it is larger than {most} bytes", path.display());
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Option<Vec<String>> {
        Some(texts.iter().map(|&text| text.to_owned()).collect())
    }

    #[test]
    fn an_array_numbers_tasks_and_picks_entries() {
        let told = |count, first, entries: &[&str]| Tasks {
            count,
            first,
            entries: texts(entries).unwrap(),
        };
        assert_eq!(tasks(None, None).unwrap(), told(1, 0, &[]));
        assert_eq!(tasks(Some("5-7"), None).unwrap(), told(3, 5, &[]));
        assert_eq!(tasks(None, texts(&["a", "b", "c"])).unwrap(), told(3, 0, &["a", "b", "c"]));
        assert_eq!(tasks(Some("1-2"), texts(&["a", "b", "c"])).unwrap(), told(2, 1, &["b", "c"]));
        assert_eq!(tasks(Some("2"), texts(&["a", "b", "c"])).unwrap(), told(1, 2, &["c"]));
    }

    #[test]
    fn what_is_too_much_or_not_there_is_refused() {
        let refusal = |array, entries| tasks(array, entries).unwrap_err().to_string();
        assert!(refusal(Some("1-3"), texts(&["a", "b"])).contains("they are 0 to 1"));
        assert!(refusal(None, texts(&[])).contains("no entries"));
        assert!(refusal(Some("3-1"), None).contains("first is higher"));
        assert!(refusal(Some("0-4294967295"), None).contains("too many numbers"));
        assert!(refusal(Some("1,2"), None).contains("FIRST-LAST"));
        assert!(refusal(None, texts(&["a", "b\0"])).contains("entry 2"));
        assert!(refusal(None, Some(vec!["x".repeat(ENTRY_BYTES_MAX + 1)])).contains("entry 1"));
        let many = vec!["x".repeat(ENTRY_BYTES_MAX); ENTRIES_BYTES_MAX / ENTRY_BYTES_MAX + 1];
        assert!(refusal(None, Some(many)).contains("split them"));
        assert!(refusal(None, Some(vec![String::new(); ENTRIES_MAX + 1])).contains("at most"));
    }
}
