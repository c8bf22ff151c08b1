//! Reading what one run printed.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fleet::RunId;

use super::archive::{index, log};
use super::{ENTRY_BYTES, HEADER_BYTES, Header, Kind, Stream, run_of_bytes};
use crate::paths;

/// What a run printed on one stream, from the beginning of what is kept. Where the run goes on, it
/// gives nothing once it has given everything so far, and more when it is read again later.
#[derive(Debug)]
pub struct Reader {
    folder: PathBuf,
    run: RunId,
    stream: Stream,
    place: Option<Place>,
    /// The number of the latest file that was read to its end.
    finished: u64,
    dropped: Option<u64>,
}

/// Where a reader is.
#[derive(Debug)]
struct Place {
    number: u64,
    file: File,
    offset: u64,
    /// What is left of the record that the reader is in.
    left: u64,
}

/// Reads what a run printed on a stream. A run that printed nothing, or of which nothing is kept,
/// reads as nothing.
///
/// # Errors
/// If the folder cannot be read.
pub fn read(directory: &Path, run: RunId, stream: Stream) -> io::Result<Reader> {
    let folder = paths::output(directory);
    numbers(&folder)?;
    Ok(Reader { folder, run, stream, place: None, finished: 0, dropped: None })
}

/// The numbers of the files, ascending; none where there is no folder yet.
pub(super) fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut numbers = Vec::new();
    for entry in entries {
        let name = entry?.file_name();
        let number = name.to_str().and_then(|name| name.strip_suffix(".index"));
        numbers.extend(number.and_then(|number| number.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

impl Reader {
    /// How many bytes of the stream were not kept, once it is known that no more will come.
    #[must_use]
    pub fn dropped(&self) -> Option<u64> {
        self.dropped
    }

    /// Opens the next file that has something of the run.
    fn open_next(&mut self) -> io::Result<bool> {
        for number in numbers(&self.folder)?.into_iter().filter(|one| *one > self.finished) {
            // A file may be removed at any time, and then has nothing.
            let Ok(entries) = fs::read(index(&self.folder, number)) else { continue };
            let entries = entries.as_chunks::<ENTRY_BYTES>().0;
            let offset = entries.iter().find_map(|entry| offset_in(entry, self.run));
            let file = File::open(log(&self.folder, number));
            if let (Some(offset), Ok(file)) = (offset, file) {
                self.place = Some(Place { number, file, offset, left: 0 });
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes on to the next record of the stream; `false` where there is none so far.
    fn next_record(&mut self) -> io::Result<bool> {
        loop {
            let Some(place) = &mut self.place else {
                match self.open_next()? {
                    true => continue,
                    false => return Ok(false),
                }
            };
            let mut header = header_at(&place.file, place.offset)?;
            if header == Found::Nothing {
                if is_last(&self.folder, place.number)? {
                    return Ok(false);
                }
                // It grows no more; it may have grown before that was looked at.
                header = header_at(&place.file, place.offset)?;
            }
            let Found::Header(header) = header else {
                self.leave();
                continue;
            };
            let start = place.offset + HEADER_BYTES as u64;
            place.offset = start;
            if header.run == self.run && header.kind == Kind::Printed(self.stream) {
                place.left = header.length.into();
                return Ok(true);
            }
            if header.run == self.run && header.kind == Kind::End {
                let mut dropped = [0; 8];
                place.file.read_exact_at(&mut dropped, start + 8 * self.stream as u64)?;
                self.dropped = Some(u64::from_le_bytes(dropped));
                return Ok(false);
            }
            place.offset += u64::from(header.length);
        }
    }

    /// Has done with a file.
    fn leave(&mut self) {
        if let Some(place) = self.place.take() {
            self.finished = place.number;
        }
    }
}

/// What is at some place of a file.
#[derive(PartialEq, Eq)]
enum Found {
    Header(Header),
    /// No record begins there.
    Damage,
    /// The file ends before.
    Nothing,
}

fn header_at(file: &File, offset: u64) -> io::Result<Found> {
    let mut bytes = [0; HEADER_BYTES];
    match file.read_exact_at(&mut bytes, offset) {
        Ok(()) => Ok(Header::of_bytes(&bytes).map_or(Found::Damage, Found::Header)),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(Found::Nothing),
        Err(error) => Err(error),
    }
}

fn offset_in(entry: &[u8; ENTRY_BYTES], run: RunId) -> Option<u64> {
    let (of_run, offset) = (entry.first_chunk()?, entry.last_chunk()?);
    let offset = u64::try_from(u128::from_le_bytes(*offset)).ok()?;
    (run_of_bytes(of_run) == run).then_some(offset)
}

/// Whether no file comes after this one, so that it may still grow.
fn is_last(folder: &Path, number: u64) -> io::Result<bool> {
    Ok(numbers(folder)?.last().is_none_or(|last| *last <= number))
}

impl Read for Reader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.dropped.is_none() && !buffer.is_empty() {
            let Some(place) = self.place.as_mut().filter(|place| place.left > 0) else {
                match self.next_record()? {
                    true => continue,
                    false => return Ok(0),
                }
            };
            let length = usize::try_from(place.left).unwrap_or(usize::MAX).min(buffer.len());
            let mut read = place.file.read_at(&mut buffer[..length], place.offset)?;
            let is_last = read > 0 || is_last(&self.folder, place.number)?;
            if !is_last {
                read = place.file.read_at(&mut buffer[..length], place.offset)?;
            }
            place.offset += read as u64;
            place.left -= read as u64;
            if read > 0 || is_last {
                return Ok(read);
            }
            // The record was cut off when its keeper was killed.
            self.leave();
        }
        Ok(0)
    }
}
