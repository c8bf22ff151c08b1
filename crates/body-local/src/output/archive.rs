//! Keeping what tasks print.

use std::collections::VecDeque;
use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use fleet::RunId;

use super::reader::numbers;
use super::{Header, Kind, Stream, run_to_bytes};
use crate::paths;
use crate::wire::Rules;

/// The files, one of which is appended to.
#[derive(Debug)]
pub(crate) struct Archive {
    folder: PathBuf,
    /// The files that are full, with their size, oldest first.
    full: VecDeque<(u64, u64)>,
    number: u64,
    bytes: u64,
    index_bytes: u64,
    /// The file and its index; opened when there is something to write.
    open: Option<(File, File)>,
}

/// What of a run was kept so far.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Kept {
    kept: [u64; 2],
    dropped: [u64; 2],
    /// The file whose index names the run.
    indexed: Option<u64>,
}

impl Archive {
    /// Goes on after what is there. What an earlier keeper wrote is never appended to: the end of
    /// it may be cut off.
    pub(crate) fn open(directory: &Path) -> io::Result<Self> {
        let folder = paths::output(directory);
        let numbers = numbers(&folder)?;
        let size = |number: &u64| {
            let size = |path| fs::metadata(path).map_or(0, |metadata| metadata.len());
            (*number, size(log(&folder, *number)) + size(index(&folder, *number)))
        };
        let full = numbers.iter().map(size).collect();
        let number = numbers.last().map_or(1, |last| last + 1);
        Ok(Self { folder, full, number, bytes: 0, index_bytes: 0, open: None })
    }

    /// Keeps what a run printed, as far as it may.
    pub(crate) fn keep(
        &mut self,
        run: RunId,
        (stream, printed): (Stream, &[u8]),
        kept: &mut Kept,
        rules: &Rules,
    ) -> io::Result<()> {
        let which = stream as usize;
        let room = rules.output_stream_bytes_max.saturating_sub(kept.kept[which]);
        let length = usize::try_from(room).unwrap_or(usize::MAX).min(printed.len());
        kept.dropped[which] += (printed.len() - length) as u64;
        if length == 0 {
            return Ok(());
        }
        let result = self.append(run, Kind::Printed(stream), &printed[..length], (kept, rules));
        match result {
            Ok(()) => kept.kept[which] += length as u64,
            Err(_) => kept.dropped[which] += length as u64,
        }
        result
    }

    /// Notes that a run prints no more, if it ever printed.
    pub(crate) fn end(&mut self, run: RunId, kept: &mut Kept, rules: &Rules) -> io::Result<()> {
        if kept.kept == [0, 0] && kept.dropped == [0, 0] {
            return Ok(());
        }
        let dropped = kept.dropped.map(u64::to_le_bytes).concat();
        self.append(run, Kind::End, &dropped, (kept, rules))
    }

    fn append(
        &mut self,
        run: RunId,
        kind: Kind,
        content: &[u8],
        (kept, rules): (&mut Kept, &Rules),
    ) -> io::Result<()> {
        if self.bytes >= rules.output_file_bytes_max {
            self.turn_over();
        }
        let total = rules.output_total_bytes_max;
        self.remove_oldest(total);
        let length = u32::try_from(content.len()).map_err(|_| io::ErrorKind::InvalidInput)?;
        let header = Header { kind, run, length }.to_bytes();
        let at = self.bytes;
        let number = self.number;
        let (file, index) = self.opened()?;
        let written = file.write_vectored(&[IoSlice::new(&header), IoSlice::new(content)]);
        let whole = header.len() + content.len();
        if !matches!(written, Ok(bytes) if bytes == whole) {
            // What is cut off would hide what comes after it.
            file.set_len(at)?;
            return written.and(Err(io::ErrorKind::WriteZero.into()));
        }
        let mut result = Ok(());
        if kept.indexed != Some(number) {
            let entry = [run_to_bytes(run), u128::from(at).to_le_bytes()].concat();
            result = index.write_all(&entry);
            kept.indexed = Some(number);
            self.index_bytes += entry.len() as u64;
        }
        self.bytes += whole as u64;
        result
    }

    fn opened(&mut self) -> io::Result<(&mut File, &mut File)> {
        if self.open.is_none() {
            let open = |path| OpenOptions::new().create(true).append(true).mode(0o600).open(path);
            let index = open(index(&self.folder, self.number))?;
            self.open = Some((open(log(&self.folder, self.number))?, index));
        }
        let open = self.open.as_mut().map(|(file, index)| (file, index));
        open.ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Goes on to the next file.
    fn turn_over(&mut self) {
        self.open = None;
        self.full.push_back((self.number, self.bytes + self.index_bytes));
        self.number += 1;
        (self.bytes, self.index_bytes) = (0, 0);
    }

    /// Removes the oldest files until all together are small enough.
    fn remove_oldest(&mut self, most: u64) {
        let size = |full: &VecDeque<(u64, u64)>| full.iter().map(|(_, size)| size).sum::<u64>();
        while size(&self.full) + self.bytes + self.index_bytes > most {
            let Some((number, _)) = self.full.pop_front() else { return };
            // The index goes last: without it the file would not be found to be removed.
            for path in [log(&self.folder, number), index(&self.folder, number)] {
                let _ = fs::remove_file(path);
            }
        }
    }
}

pub(super) fn log(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:06}.log"))
}

pub(super) fn index(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{number:06}.index"))
}
