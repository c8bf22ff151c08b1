//! What tasks printed, kept in few files for many tasks.
//!
//! A keeper appends to one file at a time, `output/000001.log`, and goes on to
//! the next when it is full; the oldest go when all together are too large. A
//! record is a header and what a task printed on one stream, or says that the
//! output of a task has ended and how much of it was not kept. Beside every
//! file is an index, with one entry for each run that is in the file: where its
//! first record is. What is read is the same while the task runs and after.

mod archive;
mod reader;

use fleet::{Attempt, JobId, RunId, TaskIndex};

pub(crate) use archive::{Archive, Kept};
pub use reader::{Reader, read};

/// One of the two streams on which a task prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stream {
    /// Standard output.
    Output,
    /// Standard error.
    Errors,
}

impl Stream {
    /// Both, in their order.
    pub const ALL: [Self; 2] = [Self::Output, Self::Errors];
}

/// The first bytes of every record. They change when the form of a record does.
const MAGIC: [u8; 4] = *b"mo1\n";
const HEADER_BYTES: usize = 32;
const ENTRY_BYTES: usize = 32;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Printed(Stream),
    /// The output has ended; what follows says how many bytes of each stream were not kept.
    End,
}

/// The head of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Header {
    kind: Kind,
    run: RunId,
    length: u32,
}

impl Header {
    fn to_bytes(self) -> [u8; HEADER_BYTES] {
        let kind = match self.kind {
            Kind::Printed(Stream::Output) => 1_u32,
            Kind::Printed(Stream::Errors) => 2,
            Kind::End => 3,
        };
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..8].copy_from_slice(&kind.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.length.to_le_bytes());
        bytes[16..].copy_from_slice(&run_to_bytes(self.run));
        bytes
    }

    fn of_bytes(bytes: &[u8; HEADER_BYTES]) -> Option<Self> {
        let kind = match u32::from_le_bytes(*bytes[4..].first_chunk()?) {
            1 => Kind::Printed(Stream::Output),
            2 => Kind::Printed(Stream::Errors),
            3 => Kind::End,
            _ => return None,
        };
        let length = u32::from_le_bytes(*bytes[8..].first_chunk()?);
        let run = run_of_bytes(bytes[16..].first_chunk()?);
        (bytes[..4] == MAGIC).then_some(Self { kind, run, length })
    }
}

fn run_to_bytes(run: RunId) -> [u8; 16] {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&run.job.0.to_le_bytes());
    bytes[8..12].copy_from_slice(&run.task.0.to_le_bytes());
    bytes[12..].copy_from_slice(&run.attempt.0.to_le_bytes());
    bytes
}

fn run_of_bytes(bytes: &[u8; 16]) -> RunId {
    let four = |at: usize| {
        let four = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
        u32::from_le_bytes(four)
    };
    let job = u64::from(four(0)) | u64::from(four(4)) << 32;
    RunId { job: JobId(job), task: TaskIndex(four(8)), attempt: Attempt(four(12)) }
}

#[cfg(test)]
mod tests;
