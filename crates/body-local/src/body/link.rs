//! The link of a body to its keeper: finding it, starting it, and what is said.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fleet::{BodyError, JobId, Program, RunId};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::net::SendFlags;
use serde::Serialize;

use super::LocalBody;
use crate::keeper::{PROGRAMS_MAX, READY};
use crate::paths;
use crate::wire::{self, Greeting, Inbound, Reply, Request, VERSION};

/// How long a keeper may take to answer, or to read what is said. A new one may first have to end
/// what an old one left.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a keeper is looked for and started before one gives up: another one may come first,
/// or end in between.
const TRIES: u32 = 5;

/// A connection to a keeper.
#[derive(Debug)]
pub(super) struct Link {
    stream: UnixStream,
    inbound: Inbound,
    outbound: Vec<u8>,
    programs: BTreeSet<JobId>,
}

impl Link {
    fn new(stream: UnixStream) -> Self {
        let (inbound, outbound, programs) = Default::default();
        Self { stream, inbound, outbound, programs }
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.stream.as_fd()
    }

    pub(super) fn send(&mut self) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.outbound.len() {
            match rustix::net::send(&self.stream, &self.outbound[sent..], SendFlags::NOSIGNAL) {
                Ok(bytes) => sent += bytes,
                Err(rustix::io::Errno::INTR) => {}
                // The keeper never waits for us, so that it reads in the end.
                Err(rustix::io::Errno::WOULDBLOCK) => ready(&self.stream, PollFlags::OUT)?,
                Err(error) => return Err(error.into()),
            }
        }
        self.outbound.clear();
        Ok(())
    }

    /// The next message, waiting for it.
    fn next(&mut self) -> io::Result<Reply> {
        loop {
            match self.inbound.message() {
                Ok(Some(reply)) => return Ok(reply),
                Ok(None) => {}
                Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
            }
            match self.inbound.fill(&mut self.stream) {
                Ok(true) => {}
                Ok(false) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    ready(&self.stream, PollFlags::IN)?;
                }
                Err(error) => return Err(error),
            }
        }
    }
}

/// Waits until something can be read or written.
fn ready(source: &impl AsFd, flags: PollFlags) -> io::Result<()> {
    let seconds = i64::try_from(PATIENCE.as_secs()).unwrap_or(i64::MAX);
    let timeout = Timespec { tv_sec: seconds, tv_nsec: 0 };
    match rustix::event::poll(&mut [PollFd::new(source, flags)], Some(&timeout)) {
        Ok(0) => Err(io::ErrorKind::TimedOut.into()),
        Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

impl LocalBody {
    /// Finds the keeper or starts one, and takes in everything that it knows.
    pub(super) fn reconnect(&mut self) -> Result<(), BodyError> {
        let mut last = io::Error::from(io::ErrorKind::NotConnected);
        for _ in 0..TRIES {
            match self.try_to_reconnect() {
                Ok(()) => return Ok(()),
                Err(BodyError::Unreachable { source, .. }) => last = source,
                Err(other) => return Err(other),
            }
        }
        Err(BodyError::Unreachable { what: "the keeper", source: last })
    }

    fn try_to_reconnect(&mut self) -> Result<(), BodyError> {
        let unreachable = |source| BodyError::Unreachable { what: "the keeper", source };
        let path = paths::socket(&self.settings.directory);
        let stream = match UnixStream::connect(&path) {
            Ok(stream) => stream,
            Err(_) => {
                // One that was found dead before has been its parent's to reap since.
                self.keepers.retain_mut(|keeper| !matches!(keeper.try_wait(), Ok(Some(_))));
                self.keepers.push(start(&self.settings.keeper, &self.settings.directory)?);
                UnixStream::connect(&path).map_err(unreachable)?
            }
        };
        stream.set_nonblocking(true).map_err(unreachable)?;
        let mut link = Link::new(stream);
        let greeting = Greeting {
            version: VERSION,
            term: self.settings.term,
            newest: self.newest(),
            heard: self.heard,
            rules: self.settings.rules.clone(),
        };
        // A greeting is short.
        let _ = wire::write(&mut link.outbound, &Request::Greeting(greeting));
        link.send().map_err(unreachable)?;
        match link.next().map_err(unreachable)? {
            Reply::Greeting { notes, .. } => self.notes = notes,
            Reply::TurnedAway(why) => {
                let detail = why.to_string();
                return Err(BodyError::Garbled { what: "the keeper", detail });
            }
            other => {
                let detail = format!("{other:?} instead of a greeting");
                return Err(BodyError::Garbled { what: "the keeper", detail });
            }
        }
        let mut told = BTreeSet::new();
        loop {
            let reply = link.next().map_err(unreachable)?;
            if let Reply::Running(running) = &reply {
                told.insert(running.run);
            }
            if self.take_in(reply) {
                break;
            }
        }
        let lost: Vec<RunId> =
            self.runs.keys().filter(|run| !told.contains(run)).copied().collect();
        self.tell_lost(&lost);
        self.link = Some(link);
        self.looked = self.clock.now();
        Ok(())
    }

    /// Takes in what the keeper has said; where it is gone, finds the next one.
    pub(super) fn hear(&mut self) -> Result<(), BodyError> {
        while let Some(link) = &mut self.link {
            match link.inbound.fill(&mut link.stream) {
                Ok(true) => self.take_in_all()?,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Ok(false) | Err(_) => {
                    self.link = None;
                    self.reconnect()?;
                }
            }
        }
        Ok(())
    }

    fn take_in_all(&mut self) -> Result<(), BodyError> {
        while let Some(link) = &mut self.link {
            match link.inbound.message() {
                Ok(Some(reply)) => drop(self.take_in(reply)),
                Ok(None) => return Ok(()),
                Err(error) => {
                    self.link = None;
                    let detail = error.to_string();
                    return Err(BodyError::Garbled { what: "the keeper", detail });
                }
            }
        }
        Ok(())
    }

    /// Adds to what is said to the keeper; `false` where it is too long to be said.
    pub(super) fn say<M: Serialize>(&mut self, message: &M) -> bool {
        let Some(link) = &mut self.link else { return true };
        wire::write(&mut link.outbound, message).is_ok()
    }

    /// Tells the program of a job, if this keeper was not told; `false` where it is too long.
    pub(super) fn say_program(&mut self, job: JobId, program: &Arc<Program>) -> bool {
        let Some(link) = &mut self.link else { return true };
        if link.programs.contains(&job) {
            return true;
        }
        let mut frames = Vec::new();
        if link.programs.len() >= PROGRAMS_MAX {
            link.programs.clear();
            let _ = wire::write(&mut frames, &Request::ForgetPrograms);
        }
        // The entries stay here: a start says the one that its task gets.
        let told = Program { entries: Arc::default(), ..Program::clone(program) };
        let program = Request::Program(job, told);
        if wire::write(&mut frames, &program).is_err() {
            return false;
        }
        link.outbound.append(&mut frames);
        link.programs.insert(job);
        true
    }

    /// Sends what was said. Where that fails the keeper is gone or silent: the next one tells what
    /// came of it.
    pub(super) fn send(&mut self) -> Result<(), BodyError> {
        if self.link.as_mut().is_some_and(|link| link.send().is_err()) {
            self.link = None;
            self.reconnect()?;
        }
        Ok(())
    }

    pub(super) fn send_acknowledgement(&mut self, number: u64) -> Result<(), BodyError> {
        self.say(&Request::Acknowledge(number));
        self.send()
    }
}

impl LocalBody {
    /// Ends the keeper and everything that it keeps, and waits for that. What was ended counts as
    /// lost, and the next body is told of it.
    ///
    /// # Errors
    /// If the keeper cannot be told, or does not end.
    pub fn end_keeper(&mut self) -> Result<(), BodyError> {
        let unreachable = |source| BodyError::Unreachable { what: "the keeper", source };
        let Some(mut link) = self.link.take() else { return Ok(()) };
        let peer = rustix::net::sockopt::socket_peercred(&link.stream)
            .map_err(|error| unreachable(error.into()))?;
        rustix::process::kill_process(peer.pid, rustix::process::Signal::TERM)
            .map_err(|error| unreachable(error.into()))?;
        loop {
            match link.next() {
                Ok(reply) => drop(self.take_in(reply)),
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    return Err(unreachable(error));
                }
                Err(_) => return Ok(()),
            }
        }
    }
}

/// Starts a keeper and returns once it listens, or has ended.
fn start(keeper: &[OsString], directory: &Path) -> Result<Child, BodyError> {
    let unreachable = |source| BodyError::Unreachable { what: "a new keeper", source };
    let Some((program, arguments)) = keeper.split_first() else {
        let detail = "no program is given".to_owned();
        return Err(BodyError::Garbled { what: "the keeper's command", detail });
    };
    let mut command = Command::new(program);
    command.args(arguments).arg("--directory").arg(directory).env_clear();
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(unreachable)?;
    let said = wait_until_ready(&mut child).map_err(unreachable)?;
    if said == READY {
        return Ok(child);
    }
    // It has ended, mostly because another one was there first.
    let mut why = String::new();
    let _ = child.stderr.take().map(|errors| errors.take(4_096).read_to_string(&mut why));
    let _ = child.wait();
    let why = if why.is_empty() { "it ended at once".to_owned() } else { why };
    Err(unreachable(io::Error::other(why.trim().to_owned())))
}

/// What a keeper says before it listens or ends.
fn wait_until_ready(child: &mut Child) -> io::Result<Vec<u8>> {
    let Some(mut output) = child.stdout.take() else { return Ok(Vec::new()) };
    let (began, mut said, mut byte) = (Instant::now(), Vec::new(), [0]);
    while said.len() < READY.len() {
        ready(&output, PollFlags::IN)?;
        if output.read(&mut byte)? == 0 || began.elapsed() > PATIENCE {
            break;
        }
        said.push(byte[0]);
    }
    Ok(said)
}
