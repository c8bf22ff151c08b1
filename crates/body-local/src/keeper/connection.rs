//! A connection to a body: what came in, what is to go out, and the programs it told of.

use std::collections::BTreeMap;
use std::io;
use std::os::unix::net::UnixStream;

use fleet::{JobId, Program};
use rustix::net::SendFlags;

use crate::launch::Prepared;
use crate::wire::{self, Inbound, Reply};

/// What a body may leave unread before it is let go; it reads everything anew when it comes back.
const OUTBOUND_BYTES_MAX: usize = 64 << 20;

/// How many programs a body may tell of before it must let them be forgotten.
pub(crate) const PROGRAMS_MAX: usize = 4_096;

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: UnixStream,
    /// What it is called among the events.
    pub(super) key: u64,
    pub(super) inbound: Inbound,
    outbound: Vec<u8>,
    sent: usize,
    /// Whether an event is awaited that says that more can be sent.
    pub(super) is_full: bool,
    programs: BTreeMap<JobId, Known>,
}

/// A program, and what was made of it when it was first needed.
#[derive(Debug)]
struct Known {
    program: Program,
    prepared: Option<Prepared>,
}

impl Connection {
    pub(super) fn new(stream: UnixStream, key: u64) -> Self {
        Self {
            stream,
            key,
            inbound: Inbound::default(),
            outbound: Vec::new(),
            sent: 0,
            is_full: false,
            programs: BTreeMap::new(),
        }
    }

    /// Adds a reply to what goes out.
    pub(super) fn tell(&mut self, reply: &Reply) {
        // Replies are small, so that none is too long.
        let _ = wire::write(&mut self.outbound, reply);
    }

    /// Sends what can be sent; an error where the body is gone or reads nothing.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.is_full = false;
        while self.sent < self.outbound.len() {
            match rustix::net::send(&self.stream, &self.outbound[self.sent..], SendFlags::NOSIGNAL)
            {
                Ok(sent) => self.sent += sent,
                Err(rustix::io::Errno::INTR) => {}
                Err(rustix::io::Errno::WOULDBLOCK) => {
                    self.is_full = true;
                    break;
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.outbound.drain(..std::mem::take(&mut self.sent));
        if self.outbound.len() > OUTBOUND_BYTES_MAX {
            return Err(io::ErrorKind::TimedOut.into());
        }
        Ok(())
    }

    pub(super) fn has_outbound(&self) -> bool {
        !self.outbound.is_empty()
    }

    /// Remembers a program; `false` where there are too many.
    pub(super) fn learn(&mut self, job: JobId, program: Program) -> bool {
        if self.programs.len() >= PROGRAMS_MAX && !self.programs.contains_key(&job) {
            return false;
        }
        self.programs.insert(job, Known { program, prepared: None });
        true
    }

    pub(super) fn forget_programs(&mut self) {
        self.programs.clear();
    }

    /// The program of a job, made ready; `None` where the body never told of it.
    ///
    /// # Errors
    /// If it cannot be made ready.
    pub(super) fn prepared(&mut self, job: JobId) -> Option<io::Result<&Prepared>> {
        let known = self.programs.get_mut(&job)?;
        if known.prepared.is_none() {
            match Prepared::new(known.program.clone()) {
                Ok(prepared) => known.prepared = Some(prepared),
                Err(error) => return Some(Err(error)),
            }
        }
        known.prepared.as_ref().map(Ok)
    }

    /// The program of a job could not be run: it is looked for again next time.
    pub(super) fn forget_prepared(&mut self, job: JobId) {
        if let Some(known) = self.programs.get_mut(&job) {
            known.prepared = None;
        }
    }
}
