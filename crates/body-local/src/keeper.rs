//! The keeper: a small process that starts tasks, ends them and tells how they ended.
//!
//! It decides nothing. It does what the body that greeted last says, tells it
//! what happens, and goes on without one. One thread, one loop over what is
//! ready. It holds a lock, so that there is one in a directory. When it ends,
//! however it ends, its tasks end: the system kills their main processes with
//! it, and whoever finds it dead ends the rest ([`crate::clean_up`]).

mod capture;
mod connection;
mod ends;
mod identity;
mod memory;
mod orders;
mod serve;
mod setup;
mod tasks;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;
use std::time::Instant;

use fleet::RunId;
use thiserror::Error;

use crate::cgroup::Groups;
use crate::clock::Clock;
use crate::launch::Launcher;
use crate::output::{Archive, Stream};
use crate::spool::Spool;
use crate::wire::Rules;
use connection::Connection;
use ends::Ends;
use memory::Memory;
use tasks::Task;

pub(crate) use connection::PROGRAMS_MAX;
pub(crate) use identity::{Identity, boot};
pub(crate) use setup::READY;

/// What a keeper must be told when it is started. Everything else it learns from the body.
#[derive(Clone, Debug)]
pub struct KeeperSettings {
    /// Where its socket and its files are; it must belong to the user that it runs as.
    pub directory: PathBuf,
}

/// Why a keeper could not begin, or go on.
#[derive(Debug, Error)]
pub enum KeeperError {
    /// Another one has the directory.
    #[error("take the directory {0}, which another keeper has")]
    Taken(PathBuf),
    /// The directory is somebody else's.
    #[error("take the directory {0}, which belongs to another user")]
    Foreign(PathBuf),
    /// The system refused something that it needs.
    #[error("{what}")]
    Refused {
        /// What it needs.
        what: &'static str,
        /// Why not.
        #[source]
        source: io::Error,
    },
}

/// Says what was refused.
fn refused(what: &'static str) -> impl FnOnce(io::Error) -> KeeperError {
    move |source| KeeperError::Refused { what, source }
}

/// Runs a keeper until it is told to end by a signal; all its tasks have ended then. What it was
/// started with is closed, but for standard output, on which it says once that it is ready.
///
/// # Errors
/// If it cannot begin, or cannot watch its tasks.
pub fn run(settings: &KeeperSettings) -> Result<(), KeeperError> {
    setup::keeper(settings)?.serve()
}

/// A keeper and all that it knows.
struct Keeper {
    token: String,
    events: OwnedFd,
    signals: OwnedFd,
    listener: UnixListener,
    /// The body that it serves.
    connection: Option<Connection>,
    /// One that has not greeted yet.
    newcomer: Option<Connection>,
    /// The key of the next connection among the events.
    next_key: u64,
    rules: Rules,
    launcher: Launcher,
    tasks: BTreeMap<RunId, Task>,
    /// The runs of main processes.
    mains: BTreeMap<i32, RunId>,
    alarms: BTreeSet<(Instant, RunId)>,
    /// When groups are to be removed that could not be.
    sweep_at: Option<Instant>,
    /// When it is to be seen what tasks use.
    sample_at: Option<Instant>,
    memory: Memory,
    /// What ended and was not acknowledged.
    ends: Ends,
    spool: Spool,
    archive: Archive,
    groups: Groups,
    /// Whose the pipes are among the events.
    pipes: BTreeMap<u64, (RunId, Stream)>,
    /// Tasks whose pipes are not among the events yet, in the order in which they will be.
    unheard: VecDeque<(Instant, RunId)>,
    clock: Clock,
    log: Log,
    /// Whether it ends as soon as nothing runs.
    is_leaving: bool,
    /// Held, never read.
    _lock: File,
}

/// Where a keeper says what went wrong, with a bound.
struct Log {
    file: File,
    left: u32,
}

impl Log {
    fn say(&mut self, text: &str) {
        use io::Write;
        if self.left > 0 {
            self.left -= 1;
            // There is nobody to tell that nobody can be told.
            let _ = writeln!(self.file, "{text}");
        }
    }
}
