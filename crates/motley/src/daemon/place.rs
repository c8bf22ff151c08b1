//! The directory of a daemon: one daemon each, on a file system of this machine.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use fleet::{NodeId, Time};
use rustix::fs::{FlockOperation, flock, statfs};

/// File systems on which locks and shared memory of two machines do not meet, by the number that
/// the system gives them: NFS, SMB, CIFS, SMB2, AFS, Ceph, Lustre, GPFS, 9P.
const NETWORKED: [i64; 9] = [
    0x6969,
    0x517b,
    0xff53_4d42,
    0xfe53_4d42,
    0x5346_414f,
    0x00c3_6400,
    0x0bd0_0bd0,
    0x4750_4653,
    0x0102_1997,
];

/// Whether a file system of this number is on a network.
pub(crate) fn is_networked(number: i64) -> bool {
    NETWORKED.contains(&number)
}

/// The log is begun anew once it is so long; the one before is kept.
const LOG_MAX: u64 = 4 << 20;

/// A daemon's directory.
#[derive(Clone, Debug)]
pub struct Place {
    directory: PathBuf,
}

/// A file that stays in force until another is given.
#[derive(Clone, Copy, Debug)]
pub(super) enum Lasting {
    /// Accelerators that the system does not show.
    Inventory,
    /// Rules of alerts.
    Alerts,
}

impl Lasting {
    fn name(self) -> &'static str {
        match self {
            Self::Inventory => "inventory.toml",
            Self::Alerts => "alerts.toml",
        }
    }
}

/// Held while a daemon runs.
#[derive(Debug)]
pub(super) struct Lock {
    _file: File,
    /// Higher than that of any daemon before.
    pub(super) term: u64,
}

impl Place {
    /// The directory that is given, else that of the environment variable `MOTLEY_DIRECTORY`, else
    /// the one of this user.
    ///
    /// # Errors
    /// If there is no telling where that is.
    pub fn choose(given: Option<&Path>) -> anyhow::Result<Self> {
        let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let directory = match given {
            Some(given) => given.to_owned(),
            None if set("MOTLEY_DIRECTORY").is_some() => {
                PathBuf::from(set("MOTLEY_DIRECTORY").unwrap_or_default())
            }
            None if rustix::process::geteuid().is_root() => PathBuf::from("/var/lib/motley"),
            None => match (set("XDG_STATE_HOME"), set("HOME")) {
                (Some(state), _) => Path::new(&state).join("motley"),
                (None, Some(home)) => Path::new(&home).join(".local/state/motley"),
                (None, None) => {
                    bail!("find the daemon's directory: HOME is not set; give --directory DIR")
                }
            },
        };
        let directory = std::path::absolute(&directory)
            .with_context(|| format!("find {}", directory.display()))?;
        Ok(Self { directory })
    }

    /// The directory.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Where the daemon listens.
    #[must_use]
    pub fn socket(&self) -> PathBuf {
        self.directory.join("motley.sock")
    }

    /// The journal's file.
    #[must_use]
    pub fn journal(&self) -> PathBuf {
        self.directory.join("journal")
    }

    /// The keeper's directory.
    #[must_use]
    pub fn keeper(&self) -> PathBuf {
        self.directory.join("keeper")
    }

    /// The file of tokens.
    pub(crate) fn tokens(&self) -> PathBuf {
        self.directory.join("tokens.json")
    }

    /// The file that is in force: the one given, else the copy of the one that was given last.
    pub(super) fn in_force(&self, file: Lasting, given: Option<&Path>) -> Option<PathBuf> {
        let kept = self.directory.join(file.name());
        given.map(Path::to_owned).or_else(|| kept.exists().then_some(kept))
    }

    /// Keeps a copy of a file that was given, once it has been read: one that cannot be read would
    /// keep every daemon after this one from starting.
    pub(super) fn keep(&self, file: Lasting, given: Option<&Path>) -> anyhow::Result<()> {
        let Some(given) = given else { return Ok(()) };
        let kept = self.directory.join(file.name());
        let text = fs::read(given).with_context(|| format!("read {}", given.display()))?;
        self.write_synced(&kept, &text)
    }

    /// The fleet file of the modelled nodes that are in force.
    pub(super) fn model(&self) -> PathBuf {
        self.directory.join("model")
    }

    fn lost_file(&self) -> PathBuf {
        self.directory.join("lost")
    }

    /// Notes that what ran on modelled nodes ended with the daemon, then.
    pub(super) fn note_lost(&self, at: Time) -> anyhow::Result<()> {
        self.write_synced(&self.lost_file(), at.0.to_string().as_bytes())
    }

    /// When what ran on modelled nodes was ended, if it was.
    pub(super) fn lost(&self) -> anyhow::Result<Option<Time>> {
        let text = read_if_there(&self.lost_file())?;
        let time = text.map(|text| text.parse().map(Time)).transpose();
        time.with_context(|| format!("read {}", self.lost_file().display()))
    }

    pub(super) fn forget_lost(&self) -> anyhow::Result<()> {
        fs::remove_file(self.lost_file())
            .with_context(|| format!("remove {}", self.lost_file().display()))
    }

    /// The log's file.
    #[must_use]
    pub fn log_file(&self) -> PathBuf {
        self.directory.join("log")
    }

    /// The file that a daemon holds a lock on while it runs.
    pub(crate) fn lock_file(&self) -> PathBuf {
        self.directory.join("lock")
    }

    fn ending_file(&self) -> PathBuf {
        self.directory.join("ending")
    }

    /// Notes, for good, which nodes are drained only because the daemon is to end.
    pub(super) fn note_ending(&self, nodes: &[NodeId]) -> anyhow::Result<()> {
        let lines: Vec<_> = nodes.iter().map(|node| format!("{}\n", node.0)).collect();
        self.write_synced(&self.ending_file(), lines.concat().as_bytes())
    }

    /// The nodes that are drained only because the daemon was to end, if it was.
    pub(super) fn ending(&self) -> anyhow::Result<Option<Vec<NodeId>>> {
        let Some(text) = read_if_there(&self.ending_file())? else { return Ok(None) };
        if text.is_empty() {
            // Before there were modelled nodes, nothing was written into it.
            return Ok(Some(vec![NodeId(0)]));
        }
        let nodes: Result<Vec<_>, _> = text.lines().map(|line| line.parse().map(NodeId)).collect();
        nodes.map(Some).with_context(|| format!("read {}", self.ending_file().display()))
    }

    /// Writes a file of this directory, so that after a loss of power it is the old or the new one.
    /// The address of a receiver may be a secret: it is nobody else's to read.
    pub(super) fn write_synced(&self, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
        let new = path.with_extension("new");
        let write = || {
            // One that is left may have been made with another mode.
            let _ = fs::remove_file(&new);
            let mut file =
                OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&new, path)?;
            File::open(&self.directory)?.sync_all()
        };
        write().with_context(|| format!("write {}", path.display()))
    }

    pub(super) fn forget_ending(&self) -> anyhow::Result<()> {
        fs::remove_file(self.ending_file())
            .with_context(|| format!("remove {}", self.ending_file().display()))
    }

    /// Makes the directory where there is none, so that it outlives a loss of power: what is synced
    /// in a directory that is gone would be gone too.
    ///
    /// # Errors
    /// If it cannot be made.
    pub(crate) fn make(&self) -> anyhow::Result<()> {
        let path = &self.directory;
        let make = || format!("make the directory {}", path.display());
        let new: Vec<_> = path.ancestors().take_while(|one| !one.exists()).collect();
        let mode = if rustix::process::geteuid().is_root() { 0o755 } else { 0o700 };
        fs::DirBuilder::new().recursive(true).mode(mode).create(path).with_context(make)?;
        // Whoever made it may have been killed before it was synced.
        let new = new.into_iter().chain([path.as_path()]);
        for parent in new.filter_map(Path::parent) {
            match File::open(parent) {
                // Who may make something there may still not be allowed to look.
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                opened => opened.and_then(|parent| parent.sync_all()).with_context(make)?,
            }
        }
        Ok(())
    }

    /// Makes the directory, and makes sure that no other daemon uses it.
    pub(super) fn lock(&self) -> anyhow::Result<Lock> {
        let path = &self.directory;
        self.make()?;
        let system = statfs(path).with_context(|| format!("look at {}", path.display()))?;
        if is_networked(system.f_type) {
            bail!(
                "use {}: it is on a network file system, where two machines could both write; \
                 give --directory a directory on a disk of this machine",
                path.display()
            );
        }
        let lock = self.lock_file();
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&lock)
            .with_context(|| format!("open {}", lock.display()))?;
        let written = fs::read_to_string(&lock).unwrap_or_default();
        let mut words = written.split_whitespace();
        let (pid, term) = (words.next().unwrap_or("?"), words.next());
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_err() {
            bail!(
                "start: a daemon (process {pid}) uses {} already; motley status says how it is, \
                 motley down ends it",
                path.display()
            );
        }
        // The environment of programs is in it, so that it is nobody else's to read.
        let journal = OpenOptions::new().create(true).append(true).mode(0o600).open(self.journal());
        journal.with_context(|| format!("open {}", self.journal().display()))?;
        let term = term.and_then(|term| term.parse::<u64>().ok()).unwrap_or(0) + 1;
        file.set_len(0)?;
        writeln!(file, "{} {term}", std::process::id())
            .and_then(|()| file.sync_all())
            .with_context(|| format!("write {}", lock.display()))?;
        Ok(Lock { _file: file, term })
    }

    /// Writes a line to the log, as well as that can be done.
    pub(super) fn log(&self, line: &str) {
        let path = self.log_file();
        if fs::metadata(&path).is_ok_and(|found| found.len() > LOG_MAX) {
            let _ = fs::rename(&path, self.directory.join("log.1"));
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        if let Ok(mut file) = file {
            let _ = writeln!(file, "{}.{:03} {line}", now.as_secs(), now.subsec_millis());
        }
    }
}

fn read_if_there(path: &Path) -> anyhow::Result<Option<String>> {
    match fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some).with_context(|| format!("read {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_kept_of_a_file_is_whole_and_nobody_elses_to_read() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place { directory: folder.path().to_owned() };
        let given = folder.path().join("given");
        for file in [Lasting::Alerts, Lasting::Inventory] {
            let kept = place.directory.join(file.name());
            // As an earlier version left it.
            fs::write(&kept, "old").unwrap();
            fs::write(&given, file.name()).unwrap();
            place.keep(file, Some(&given)).unwrap();
            assert_eq!(fs::read_to_string(&kept).unwrap(), file.name());
            assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
            // What stands at its place stays where the new one cannot be written.
            fs::create_dir(kept.with_extension("new")).unwrap();
            fs::write(&given, "other").unwrap();
            place.keep(file, Some(&given)).unwrap_err();
            assert_eq!(fs::read_to_string(&kept).unwrap(), file.name());
            fs::remove_dir(kept.with_extension("new")).unwrap();
        }
    }
}
