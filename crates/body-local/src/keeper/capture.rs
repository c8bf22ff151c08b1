//! Catching what tasks print.
//!
//! Each stream is a pipe. Most tasks are short and print little, so that their
//! pipes are read once, when they end; those of a task that runs for longer
//! are read whenever there is something in them.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use fleet::RunId;
use rustix::event::epoll;
use rustix::pipe::{PipeFlags, pipe_with};

use super::Keeper;
use crate::output::{Kept, Stream};

/// For how long a task runs before it is listened to. Whoever follows what it prints sees it that
/// much later; a task that has filled a pipe by then waits that long, once.
const LATER: Duration = Duration::from_millis(20);

/// How much of one pipe is read before others have their turn.
const TURN_BYTES_MAX: usize = 1 << 20;

/// The most that is read of what a task has left in a pipe, as large as any pipe may be made.
const LEFT_BYTES_MAX: usize = 64 << 20;

const READ_BYTES: usize = 64 << 10;

/// Two pipes for a task that is to start.
pub(super) struct Pipes {
    from: [OwnedFd; 2],
    to: [OwnedFd; 2],
}

impl Pipes {
    pub(super) fn new() -> io::Result<Self> {
        let (from_output, output) = pipe_with(PipeFlags::CLOEXEC)?;
        let (from_errors, errors) = pipe_with(PipeFlags::CLOEXEC)?;
        let from = [from_output, from_errors];
        for one in &from {
            // The end of the task is another description, and stays as programs expect it.
            rustix::io::ioctl_fionbio(one, true)?;
        }
        Ok(Self { from, to: [output, errors] })
    }

    /// The ends for the task.
    pub(super) fn ends(&self) -> [i32; 2] {
        [self.to[0].as_raw_fd(), self.to[1].as_raw_fd()]
    }

    /// The task has its ends.
    pub(super) fn into_capture(self) -> Capture {
        Capture { from: self.from, keys: [None, None], kept: Kept::default() }
    }
}

/// What catches what a task prints.
#[derive(Debug)]
pub(super) struct Capture {
    from: [OwnedFd; 2],
    keys: [Option<u64>; 2],
    kept: Kept,
}

impl Keeper {
    /// Has a task listened to in a while.
    pub(super) fn listen_later(&mut self, run: RunId) {
        self.unheard.push_back((Instant::now() + LATER, run));
    }

    /// When the next task is to be listened to.
    pub(super) fn next_to_be_heard(&mut self) -> Option<Instant> {
        while let Some((at, run)) = self.unheard.front() {
            if self.tasks.contains_key(run) {
                return Some(*at);
            }
            self.unheard.pop_front();
        }
        None
    }

    /// Listens to tasks that have run for a while.
    pub(super) fn listen_to_tasks(&mut self) {
        let now = Instant::now();
        while let Some((_, run)) = self.unheard.pop_front_if(|(at, _)| *at <= now) {
            let Some(capture) = self.tasks.get_mut(&run).and_then(|task| task.capture.as_mut())
            else {
                continue;
            };
            for stream in Stream::ALL {
                let key = self.next_key;
                self.next_key += 1;
                let source = &capture.from[stream as usize];
                let data = epoll::EventData::new_u64(key);
                match epoll::add(&self.events, source, data, epoll::EventFlags::IN) {
                    Ok(()) => {
                        capture.keys[stream as usize] = Some(key);
                        self.pipes.insert(key, (run, stream));
                    }
                    Err(error) => self.log.say(&format!("{run} is not listened to: {error}")),
                }
            }
        }
    }

    /// Takes what a task has printed.
    pub(super) fn hear_task(&mut self, key: u64) {
        let Some((run, stream)) = self.pipes.get(&key).copied() else { return };
        let task = self.tasks.get_mut(&run);
        let Some(mut capture) = task.and_then(|task| task.capture.take()) else { return };
        if !self.take_printed(run, stream, &mut capture, TURN_BYTES_MAX) {
            // It has closed the stream.
            let source = &capture.from[stream as usize];
            let _ = epoll::delete(&self.events, source);
            self.pipes.remove(&key);
            capture.keys[stream as usize] = None;
        }
        if let Some(task) = self.tasks.get_mut(&run) {
            task.capture = Some(capture);
        }
    }

    /// A task has ended: takes the rest of what it printed.
    pub(super) fn end_capture(&mut self, run: RunId, mut capture: Capture) {
        for stream in Stream::ALL {
            self.take_printed(run, stream, &mut capture, LEFT_BYTES_MAX);
            if let Some(key) = capture.keys[stream as usize] {
                self.pipes.remove(&key);
            }
        }
        if let Err(error) = self.archive.end(run, &mut capture.kept, &self.rules) {
            self.log.say(&format!("the end of the output of {run} was not kept: {error}"));
        }
    }

    /// Takes what is in a pipe, up to so much; whether more may come.
    fn take_printed(
        &mut self,
        run: RunId,
        stream: Stream,
        capture: &mut Capture,
        most: usize,
    ) -> bool {
        let mut buffer = [0_u8; READ_BYTES];
        let mut taken = 0;
        while taken < most {
            match rustix::io::read(&capture.from[stream as usize], &mut buffer) {
                Ok(0) => return false,
                Ok(length) => {
                    taken += length;
                    let printed = (stream, &buffer[..length]);
                    let kept = &mut capture.kept;
                    if let Err(error) = self.archive.keep(run, printed, kept, &self.rules) {
                        self.log.say(&format!("output of {run} was not kept: {error}"));
                    }
                    if length < READ_BYTES {
                        return true;
                    }
                }
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return true,
            }
        }
        true
    }
}
