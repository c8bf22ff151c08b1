//! What tasks printed, in parts: readers that stand where the next part begins.

use std::collections::BTreeMap;
use std::io::{self, Read as _};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use body_local::output::{self, Reader, Stream};
use fleet::RunId;
use server::{OutputPart, OutputSource};

/// The most bytes of one part.
const PART_MAX: u64 = 256 << 10;

/// The most readers that are kept.
const READERS_MAX: usize = 256;

/// Where a reader stands: behind so many bytes of what a run printed on a stream.
type Spot = (RunId, bool, u64);

/// Reads what the keeper of this directory keeps.
pub(super) fn source(kept: PathBuf) -> OutputSource {
    let readers: Mutex<BTreeMap<Spot, Reader>> = Mutex::default();
    Arc::new(move |run, errors, from| {
        let known = lock(&readers).remove(&(run, errors, from));
        let mut reader = match known {
            Some(reader) => reader,
            None => {
                let stream = if errors { Stream::Errors } else { Stream::Output };
                let mut reader = output::read(&kept, run, stream)?;
                io::copy(&mut reader.by_ref().take(from), &mut io::sink())?;
                reader
            }
        };
        let mut bytes = Vec::new();
        reader.by_ref().take(PART_MAX).read_to_end(&mut bytes)?;
        let dropped = reader.dropped();
        let mut readers = lock(&readers);
        if readers.len() >= READERS_MAX {
            readers.clear();
        }
        readers.insert((run, errors, from + bytes.len() as u64), reader);
        Ok(OutputPart { bytes, dropped })
    })
}

fn lock(
    readers: &Mutex<BTreeMap<Spot, Reader>>,
) -> std::sync::MutexGuard<'_, BTreeMap<Spot, Reader>> {
    readers.lock().unwrap_or_else(PoisonError::into_inner)
}
