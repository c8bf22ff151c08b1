//! What a body and a keeper say to each other, and how.
//!
//! A frame is its length (four bytes, little-endian) and a message as JSON:
//! a keeper outlives the program that started it, so the two may be of
//! different ages, and JSON lets either add a field that the other leaves out.
//! A message takes a few microseconds where starting a process takes hundreds.
//!
//! A body greets first. The keeper greets back, names everything that runs and
//! everything that ended and was not acknowledged, says that it is caught up,
//! and from then on tells what happens as it happens.

use std::io;

use fleet::{Generation, Grant, JobId, Outcome, Program, RunId, RunState, Time, Usage};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// What both sides must agree on. It rises when a message changes so that the other side, not
/// knowing the change, would do something wrong.
pub const VERSION: u32 = 2;

/// The largest frame. A program with its environment fits: the system takes 2 MiB of those at most,
/// and JSON may double that.
pub const FRAME_BYTES_MAX: usize = 8 << 20;

/// What a body says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Request {
    /// The first message.
    Greeting(Greeting),
    /// What the tasks of a job run. Said once on a connection, before the first of them starts.
    Program(JobId, Program),
    /// All programs said so far on this connection are forgotten.
    ForgetPrograms,
    /// A run is to start.
    Start(Box<Start>),
    /// A run is to stop.
    Stop {
        /// Which.
        run: RunId,
        /// The generation of the order.
        generation: Generation,
    },
    /// Ends up to this number are on record, and need not be told again.
    Acknowledge(u64),
}

/// Who a body is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Greeting {
    /// Its [`VERSION`].
    pub version: u32,
    /// The term of the leader that it belongs to. One that is older than what the keeper has seen
    /// is turned away.
    pub term: u64,
    /// The newest generation that it knows of.
    pub newest: Generation,
    /// The number of the latest end that it has heard of: ends to come have higher ones.
    pub heard: u64,
    /// How tasks are kept from now on.
    pub rules: Rules,
}

/// How tasks are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rules {
    /// How long a task may take to end by itself when it is told to.
    pub grace_millis: u64,
    /// Which tasks get control groups of their own.
    pub contain: Contain,
    /// The most processes and threads of one task; as many as it likes where nothing is said.
    pub processes_max: Option<u64>,
    /// The most that is kept of what a task prints on one of its two streams.
    pub output_stream_bytes_max: u64,
    /// The size at which a file with output is full.
    pub output_file_bytes_max: u64,
    /// The size of all files with output at which the oldest goes.
    pub output_total_bytes_max: u64,
}

impl Default for Rules {
    fn default() -> Self {
        Self {
            grace_millis: 5_000,
            contain: Contain::default(),
            processes_max: None,
            output_stream_bytes_max: 16 << 20,
            output_file_bytes_max: 64 << 20,
            output_total_bytes_max: 1 << 30,
        }
    }
}

/// Which tasks get control groups of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Contain {
    /// None, so that no limits hold but those of single processes.
    Never,
    /// Those of which something is limited.
    Asked,
    /// All.
    #[default]
    Always,
}

/// A run that is to start.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Which.
    pub run: RunId,
    /// The generation of the order.
    pub generation: Generation,
    /// What it holds; the keeper only remembers it.
    pub grant: Grant,
    /// The actual cores that it was given; the keeper only remembers them.
    pub pieces: Vec<Piece>,
    /// The cpus that it may run on, as the system numbers them; all where there are none.
    pub cpus: Vec<u32>,
    /// The memory nodes that it may take memory of, as the system numbers them; all where there are
    /// none.
    pub memory_nodes: Vec<u32>,
    /// The most memory that it may have.
    pub memory_bytes: Option<u64>,
    /// The most cpu time that it may have, in thousandths of a cpu.
    pub cpu_milli: Option<u64>,
    /// What is added to the environment of its program, as `NAME=value`.
    pub environment: Vec<String>,
}

/// A part of one core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Piece {
    /// The position of the core in the list of the machine's cores.
    pub core: u32,
    /// How much of it, in thousandths.
    pub milli: u32,
}

/// What a keeper says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// The first message.
    Greeting {
        /// Its [`VERSION`].
        version: u32,
        /// What tells it from every other keeper.
        token: String,
        /// What it cannot do on this machine, in words.
        notes: Vec<String>,
    },
    /// The body is turned away.
    TurnedAway(TurnedAway),
    /// A run that runs.
    Running(Box<Running>),
    /// A run that has ended.
    Ended(Box<Ended>),
    /// What a run that runs has used so far.
    Used {
        /// Which.
        run: RunId,
        /// What of.
        usage: Usage,
    },
    /// Everything that there was has been told.
    CaughtUp,
    /// What came of an order.
    Answer {
        /// What the order was about.
        run: RunId,
        /// The generation of the order.
        generation: Generation,
        /// What came of it.
        outcome: Outcome,
        /// Since when the run runs, where it does.
        since: Option<Time>,
    },
}

/// Why a body is turned away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnedAway {
    /// It speaks another version.
    #[error("the keeper speaks version {0} of the protocol")]
    Version(u32),
    /// Its term is over.
    #[error("the keeper has served a leader of term {0}")]
    Term(u64),
}

/// A run that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Which.
    pub run: RunId,
    /// The generation of the order that started it.
    pub generation: Generation,
    /// What it holds.
    pub grant: Grant,
    /// The actual cores that it was given.
    pub pieces: Vec<Piece>,
    /// Since when.
    pub since: Time,
}

/// A run that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ended {
    /// Rises by one with each end that this keeper tells.
    pub number: u64,
    /// Which.
    pub run: RunId,
    /// The generation of the order that started it.
    pub generation: Generation,
    /// What it held.
    pub grant: Grant,
    /// How it ended.
    pub state: RunState,
    /// What it used.
    pub usage: Usage,
}

/// Why bytes are no message.
#[derive(Debug, Error)]
pub enum FrameError {
    /// The frame is longer than any may be.
    #[error("take a frame of {0} bytes, where {FRAME_BYTES_MAX} are the most")]
    TooLong(usize),
    /// It is not a message.
    #[error("read a message")]
    Garbled(#[source] serde_json::Error),
}

/// Adds the frame of a message.
///
/// # Errors
/// If the message is too long; then nothing was added.
pub fn write<M: Serialize>(frames: &mut Vec<u8>, message: &M) -> Result<(), FrameError> {
    let start = frames.len();
    frames.extend([0; 4]);
    let written = serde_json::to_writer(&mut *frames, message).map_err(FrameError::Garbled);
    let length = frames.len() - start - 4;
    let header = u32::try_from(length).ok().filter(|_| length <= FRAME_BYTES_MAX);
    match (written, header) {
        (Ok(()), Some(header)) => {
            frames[start..start + 4].copy_from_slice(&header.to_le_bytes());
            Ok(())
        }
        (written, _) => {
            frames.truncate(start);
            written.and(Err(FrameError::TooLong(length)))
        }
    }
}

/// Bytes that came in and are not yet read as messages.
#[derive(Debug, Default)]
pub struct Inbound {
    bytes: Vec<u8>,
    read: usize,
}

/// How much is taken in at once.
const READ_BYTES: usize = 64 << 10;

impl Inbound {
    /// Takes in what there is; `Ok(false)` where the other side has closed.
    ///
    /// # Errors
    /// What reading says, `WouldBlock` included.
    pub fn fill(&mut self, source: &mut impl io::Read) -> io::Result<bool> {
        self.bytes.drain(..std::mem::take(&mut self.read));
        let length = self.bytes.len();
        self.bytes.resize(length + READ_BYTES, 0);
        let result = source.read(&mut self.bytes[length..]);
        self.bytes.truncate(length + *result.as_ref().unwrap_or(&0));
        result.map(|read| read > 0)
    }

    /// The next whole message.
    ///
    /// # Errors
    /// If the next frame is too long or no message. What comes after it makes no sense either.
    pub fn message<M: DeserializeOwned>(&mut self) -> Result<Option<M>, FrameError> {
        let rest = &self.bytes[self.read..];
        let Some((header, rest)) = rest.split_first_chunk::<4>() else { return Ok(None) };
        let length = u32::from_le_bytes(*header) as usize;
        if length > FRAME_BYTES_MAX {
            return Err(FrameError::TooLong(length));
        }
        let Some(frame) = rest.get(..length) else { return Ok(None) };
        let message = serde_json::from_slice(frame).map_err(FrameError::Garbled)?;
        self.read += 4 + length;
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames_of(messages: &[Request]) -> Vec<u8> {
        let mut frames = Vec::new();
        for message in messages {
            write(&mut frames, message).unwrap();
        }
        frames
    }

    #[test]
    fn messages_come_out_as_they_went_in_however_they_are_cut() {
        let greeting = Greeting { version: VERSION, term: 3, ..Greeting::default() };
        let messages = [
            Request::Greeting(greeting),
            Request::Program(JobId(7), Program::default()),
            Request::Start(Box::default()),
            Request::Acknowledge(9),
        ];
        let frames = frames_of(&messages);
        let mut inbound = Inbound::default();
        let mut found: Vec<Request> = Vec::new();
        for mut part in frames.chunks(5) {
            inbound.fill(&mut part).unwrap();
            while let Some(message) = inbound.message().unwrap() {
                found.push(message);
            }
        }
        assert_eq!(found, messages);
    }

    #[test]
    fn what_is_too_long_or_no_message_is_an_error() {
        let mut inbound = Inbound::default();
        inbound.fill(&mut &u32::MAX.to_le_bytes()[..]).unwrap();
        assert!(matches!(inbound.message::<Request>(), Err(FrameError::TooLong(_))));
        let mut inbound = Inbound::default();
        inbound.fill(&mut &b"\x02\0\0\0{]"[..]).unwrap();
        assert!(matches!(inbound.message::<Request>(), Err(FrameError::Garbled(_))));
        let long = Program { directory: "x".repeat(FRAME_BYTES_MAX), ..Program::default() };
        let mut frames = frames_of(&[Request::ForgetPrograms]);
        let before = frames.clone();
        assert!(write(&mut frames, &Request::Program(JobId(0), long)).is_err());
        assert_eq!(frames, before);
    }

    #[test]
    fn a_field_that_is_new_to_the_reader_is_left_out() {
        let text =
            br#"{"greeting":{"version":1,"term":2,"newest":3,"heard":0,"rules":{"colour":"red"}}}"#;
        let Request::Greeting(greeting) = serde_json::from_slice(text).unwrap() else { panic!() };
        assert_eq!(greeting.rules, Rules::default());
    }
}
