//! The spool: how tasks ended, in a file, for who comes after a keeper.
//!
//! A keeper writes each end with one call before it tells anyone, so that none
//! is lost that was written, whoever is killed. What was acknowledged is
//! written too, so that it is not told again. Every line ends with a new line;
//! a last line without one was being written when its writer was killed, and
//! counts as not written.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::paths;
use crate::wire::Ended;

/// What an acknowledged spool may hold before it begins anew.
const BYTES_MAX: u64 = 256 << 10;

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Entry {
    Ended(Box<Ended>),
    Acknowledged(u64),
}

/// The spool of a keeper that lives.
#[derive(Debug)]
pub(crate) struct Spool {
    file: File,
    bytes: u64,
}

impl Spool {
    /// A spool with these ends, in place of the one that was there, in one step.
    pub(crate) fn create(directory: &Path, ends: &[Ended]) -> io::Result<Self> {
        let path = paths::spool(directory);
        let beside = path.with_extension("new");
        let mut options = OpenOptions::new();
        let options = options.create(true).append(true).mode(0o600);
        let file = options.open(&beside)?;
        file.set_len(0)?;
        let mut spool = Self { file, bytes: 0 };
        for ended in ends {
            spool.note(ended)?;
        }
        fs::rename(beside, path)?;
        Ok(spool)
    }

    /// Writes an end.
    pub(crate) fn note(&mut self, ended: &Ended) -> io::Result<()> {
        self.append(&Entry::Ended(Box::new(ended.clone())))
    }

    /// Writes that ends up to this number are on record elsewhere, all but so many of them, and
    /// begins anew where that is none and there is much.
    pub(crate) fn acknowledge(&mut self, number: u64, left: usize) -> io::Result<()> {
        if left == 0 && self.bytes > BYTES_MAX {
            self.file.set_len(0)?;
            self.bytes = 0;
            return Ok(());
        }
        self.append(&Entry::Acknowledged(number))
    }

    fn append(&mut self, entry: &Entry) -> io::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let written = self.file.write(&line);
        if matches!(written, Ok(bytes) if bytes == line.len()) {
            self.bytes += line.len() as u64;
            return Ok(());
        }
        // A part of a line would spoil the next one.
        self.file.set_len(self.bytes)?;
        written.and(Err(io::ErrorKind::WriteZero.into()))
    }
}

/// What a keeper that is gone wrote and nobody acknowledged, in the order of the ends.
///
/// # Errors
/// If the file is there and cannot be read.
pub fn read(directory: &Path) -> io::Result<Vec<Ended>> {
    let file = match File::open(paths::spool(directory)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut ends: Vec<Ended> = Vec::new();
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 || line.pop() != Some(b'\n') {
            return Ok(ends);
        }
        match serde_json::from_slice(&line) {
            Ok(Entry::Ended(ended)) => ends.push(*ended),
            Ok(Entry::Acknowledged(number)) => ends.retain(|ended| ended.number > number),
            // A line that is whole and cannot be read is damage of that line alone.
            Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use fleet::{Generation, Grant, RunId, RunState, Time};

    use super::*;
    use fleet::Usage;

    fn ended(number: u64) -> Ended {
        Ended {
            number,
            run: RunId::default(),
            generation: Generation(1),
            grant: Grant::default(),
            state: RunState::Done(Time(number)),
            usage: Usage::default(),
        }
    }

    fn spool() -> (tempfile::TempDir, Spool) {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(paths::own(directory.path())).unwrap();
        let spool = Spool::create(directory.path(), &[]).unwrap();
        (directory, spool)
    }

    #[test]
    fn what_was_noted_and_not_acknowledged_is_read() {
        let (directory, mut spool) = spool();
        for number in 1..=3 {
            spool.note(&ended(number)).unwrap();
        }
        spool.acknowledge(1, 2).unwrap();
        assert_eq!(read(directory.path()).unwrap(), [ended(2), ended(3)]);
        spool.bytes = BYTES_MAX + 1;
        spool.acknowledge(3, 0).unwrap();
        assert_eq!(fs::read(paths::spool(directory.path())).unwrap(), b"");
    }

    #[test]
    fn a_line_that_was_cut_off_and_one_that_is_damaged_are_left_out() {
        let (directory, mut spool) = spool();
        spool.note(&ended(1)).unwrap();
        spool.file.write_all(b"{\"ended\":7}\n").unwrap();
        spool.note(&ended(2)).unwrap();
        spool.file.write_all(b"{\"acknowledged\":2").unwrap();
        assert_eq!(read(directory.path()).unwrap(), [ended(1), ended(2)]);
    }

    #[test]
    fn a_spool_takes_the_place_of_the_one_before_with_what_it_is_given() {
        let (directory, mut spool) = spool();
        spool.note(&ended(1)).unwrap();
        let mut next = Spool::create(directory.path(), &[ended(1)]).unwrap();
        next.note(&ended(2)).unwrap();
        assert_eq!(read(directory.path()).unwrap(), [ended(1), ended(2)]);
    }

    #[test]
    fn where_nothing_was_written_nothing_is_read() {
        let directory = tempfile::tempdir().unwrap();
        assert_eq!(read(directory.path()).unwrap(), []);
    }
}
