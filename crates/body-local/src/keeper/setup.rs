//! How a keeper begins.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;

use rustix::event::epoll;
use rustix::fs::{FlockOperation, Mode};

use super::identity::Identity;
use super::memory::Memory;
use super::serve::{LISTENER, SIGNALS};
use super::{Keeper, KeeperError, KeeperSettings, Log, refused};
use crate::cgroup::{self, Groups};
use crate::clock::Clock;
use crate::launch::Launcher;
use crate::output::Archive;
use crate::spool::{self, Spool};
use crate::wire::Rules;
use crate::{clean, paths, sys};

/// What a keeper writes to its standard output once it listens.
pub(crate) const READY: &[u8] = b"ready\n";

/// Lines that a keeper may write to its log.
const LOG_LINES_MAX: u32 = 1_000;

/// A keeper that listens.
pub(super) fn keeper(settings: &KeeperSettings) -> Result<Keeper, KeeperError> {
    sys::close_from(3).map_err(refused("close what it was started with"))?;
    // It is the leader of its session already where a shell started it.
    let _ = rustix::process::setsid();
    let directory = &settings.directory;
    own_directory(directory)?;
    let lock = take(directory)?;
    // Whoever had the directory before is dead, or it would hold the lock.
    clean::clean_up(directory).map_err(refused("end what an earlier keeper left behind"))?;
    let own = cgroup::own().map_err(refused("see its control groups"))?;
    let mut identity = Identity::new().map_err(refused("make itself known"))?;
    let (unified, separate) = cgroup::folders(&own, &identity.token);
    identity.groups = unified.into_iter().chain(separate.into_values()).collect();
    identity.write(directory).map_err(refused("make itself known"))?;
    sys::adopt_orphans().map_err(refused("take in orphans"))?;
    let signals = sys::own_signals().map_err(refused("listen to signals"))?;
    let listener = listen(directory).map_err(refused("listen on its socket"))?;
    let mut options = OpenOptions::new();
    let options = options.create(true).write(true).truncate(true).mode(0o600);
    let log = options.open(paths::log(directory)).map_err(refused("open its log"))?;
    // What nobody has on record yet is told on: this keeper has it from the one before.
    let ends = spool::read(directory).map_err(refused("read the spool"))?;
    let spool = Spool::create(directory, &ends).map_err(refused("open its spool"))?;
    let keeper = Keeper {
        events: epoll::create(epoll::CreateFlags::CLOEXEC)
            .map_err(io::Error::from)
            .map_err(refused("watch events"))?,
        signals,
        listener,
        connection: None,
        newcomer: None,
        next_key: SIGNALS + 1,
        rules: Rules::default(),
        launcher: Launcher::new(&identity.token).map_err(refused("open /dev/null"))?,
        tasks: BTreeMap::new(),
        mains: BTreeMap::new(),
        alarms: BTreeSet::new(),
        sweep_at: None,
        sample_at: None,
        memory: Memory::default(),
        ends: ends.into_iter().collect(),
        spool,
        groups: Groups::make(&own, &identity.token),
        archive: Archive::open(directory).map_err(refused("see the output that is kept"))?,
        pipes: BTreeMap::new(),
        unheard: VecDeque::new(),
        clock: Clock::default(),
        log: Log { file: log, left: LOG_LINES_MAX },
        is_leaving: false,
        _lock: lock,
        token: identity.token,
    };
    watch(&keeper).map_err(refused("watch events"))?;
    say_ready().map_err(refused("say that it is ready"))?;
    Ok(keeper)
}

fn own_directory(directory: &Path) -> Result<(), KeeperError> {
    for folder in [directory, &paths::own(directory), &paths::output(directory)] {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(refused("make its directory"))?;
        let metadata = fs::symlink_metadata(folder).map_err(refused("see its directory"))?;
        if metadata.uid() != rustix::process::geteuid().as_raw() || !metadata.is_dir() {
            return Err(KeeperError::Foreign(folder.to_owned()));
        }
    }
    Ok(())
}

fn take(directory: &Path) -> Result<File, KeeperError> {
    let mut options = OpenOptions::new();
    let options = options.create(true).truncate(false).write(true).mode(0o600);
    let lock = options.open(paths::lock(directory)).map_err(refused("open its lock"))?;
    match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(lock),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(KeeperError::Taken(directory.to_owned())),
        Err(error) => Err(refused("take its lock")(error.into())),
    }
}

fn listen(directory: &Path) -> io::Result<UnixListener> {
    let path = paths::socket(directory);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    // The socket is nobody else's from its first moment on; tasks get the usual mask.
    let mask = rustix::process::umask(Mode::from_raw_mode(0o177));
    let listener = UnixListener::bind(path);
    rustix::process::umask(mask);
    let listener = listener?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

fn watch(keeper: &Keeper) -> io::Result<()> {
    for (source, key) in [(keeper.listener.as_fd(), LISTENER), (keeper.signals.as_fd(), SIGNALS)] {
        let key = epoll::EventData::new_u64(key);
        epoll::add(&keeper.events, source, key, epoll::EventFlags::IN)?;
    }
    Ok(())
}

/// Tells who started it, then lets go of what that one may wait for.
fn say_ready() -> io::Result<()> {
    io::stdout().write_all(READY)?;
    io::stdout().flush()?;
    let null = OpenOptions::new().read(true).write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    rustix::stdio::dup2_stderr(&null)?;
    Ok(())
}
