//! Control groups: how much a task may take, and what belongs to it.
//!
//! All groups lie below those that the keeper is in itself, so that whoever
//! counts or limits the keeper's group counts and limits its tasks too. A task
//! is born into its group of version 2, where there is one: nothing of it can
//! then get out, and one write kills all of it. Limits are set there too, or,
//! where controllers are of version 1, in groups of theirs. Groups are used
//! again and again, but for those that were killed: kernels of 2025 kill
//! whatever is born into such a group later, too.

mod discover;
mod permit;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::fs::{FileExt, MetadataExt as _};
use std::path::{Path, PathBuf};

pub(crate) use discover::{Controller, Own, discover};
pub(crate) use permit::own;
pub use permit::{Layout, Permit, permit};

use crate::family;

/// The period over which a part of the cpus is counted out, in microseconds; the system's own.
const PERIOD_MICROS: u64 = 100_000;

/// How many groups inside that of a task are looked at.
const INNER_MAX: usize = 10_000;

/// What a task may take; no limit where nothing is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Limits {
    /// Cpu time, in thousandths of a cpu.
    pub(crate) cpu_milli: Option<u64>,
    pub(crate) memory_bytes: Option<u64>,
    pub(crate) processes: Option<u64>,
}

impl Limits {
    fn of(&self, controller: Controller) -> Option<u64> {
        match controller {
            Controller::Cpu => self.cpu_milli,
            Controller::Memory => self.memory_bytes,
            Controller::Pids => self.processes,
        }
    }
}

/// The groups of a keeper.
#[derive(Debug)]
pub(crate) struct Groups {
    /// The folder below which its groups of version 2 are.
    unified: Option<PathBuf>,
    /// What can be limited there.
    enabled: BTreeSet<Controller>,
    /// The folders below which its groups of version 1 are.
    separate: BTreeMap<Controller, PathBuf>,
    free: Vec<Group>,
    /// Groups that were killed, as long as they cannot be removed.
    spent: Vec<Group>,
    made: u64,
}

/// The group of one task.
#[derive(Debug)]
pub(crate) struct Group {
    number: u64,
    unified: Option<Unified>,
    separate: BTreeMap<Controller, Separate>,
    /// Whether all that was in it was ever killed.
    was_killed: bool,
    /// How many processes of it had been killed for want of memory when its task began.
    killed_before: u64,
}

#[derive(Debug)]
struct Unified {
    folder: PathBuf,
    handle: File,
    events: File,
    kill: File,
    set: Limits,
}

#[derive(Debug)]
struct Separate {
    folder: PathBuf,
    processes: File,
    set: Option<u64>,
    /// Whether the present task is in it.
    is_used: bool,
}

/// The folders of a keeper with this token, whether they are there or not.
pub(crate) fn folders(own: &Own, token: &str) -> (Option<PathBuf>, BTreeMap<Controller, PathBuf>) {
    let name = format!("motley-{token}");
    let separate =
        own.separate.iter().map(|(controller, folder)| (*controller, folder.join(&name)));
    (own.unified.as_ref().map(|folder| folder.join(&name)), separate.collect())
}

impl Groups {
    /// Makes the folders of a keeper, as far as it may.
    pub(crate) fn make(own: &Own, token: &str) -> Self {
        let (unified, mut separate) = folders(own, token);
        separate.retain(|_, folder| fs::create_dir(folder).is_ok());
        let can_kill = |folder: &PathBuf| {
            crate::sys::BIRTH_INTO_GROUP
                && fs::create_dir(folder).is_ok()
                && folder.join("cgroup.kill").exists()
        };
        let unified = unified.filter(can_kill);
        let mut enabled = BTreeSet::new();
        if let (Some(folder), Some(parent)) = (&unified, &own.unified) {
            for controller in Controller::ALL {
                let switch = format!("+{}", controller.name());
                let is_on = |folder: &Path| {
                    fs::write(folder.join("cgroup.subtree_control"), &switch).is_ok()
                };
                if !separate.contains_key(&controller) && is_on(parent) && is_on(folder) {
                    enabled.insert(controller);
                }
            }
        }
        Self { unified, enabled, separate, free: Vec::new(), spent: Vec::new(), made: 0 }
    }

    /// Whether tasks can be kept together by groups.
    pub(crate) fn can_hold(&self) -> bool {
        self.unified.is_some()
    }

    /// Whether this can be limited.
    pub(crate) fn can_limit(&self, controller: Controller) -> bool {
        self.enabled.contains(&controller) || self.separate.contains_key(&controller)
    }

    /// A group with these limits, as far as there can be; none where there can be no group at all.
    pub(crate) fn take(&mut self, limits: Limits) -> io::Result<Option<Group>> {
        if self.unified.is_none() && self.separate.is_empty() {
            return Ok(None);
        }
        if let Some(mut group) = self.free.pop() {
            if group.limit(self, limits).is_ok() {
                return Ok(Some(group));
            }
            // What an earlier task left in memory may be more than this one may have.
            group.remove();
        }
        self.made += 1;
        let unified = match &self.unified {
            Some(folder) => Some(Unified::make(folder.join(self.made.to_string()))?),
            None => None,
        };
        let (number, separate) = (self.made, BTreeMap::new());
        let mut group = Group { number, unified, separate, was_killed: false, killed_before: 0 };
        match group.limit(self, limits) {
            Ok(()) => Ok(Some(group)),
            Err(error) => {
                group.remove();
                Err(error)
            }
        }
    }

    /// Takes back a group in which nothing is left.
    pub(crate) fn give_back(&mut self, group: Group) {
        if group.was_killed || group.has_inner() {
            self.spent.push(group);
            self.sweep();
        } else {
            self.free.push(group);
        }
    }

    /// Takes a group in which something is left that could not be killed yet.
    pub(crate) fn retire(&mut self, group: Group) {
        self.spent.push(group);
    }

    /// Whether there are groups of tasks that have ended which could not be removed.
    pub(crate) fn has_spent(&self) -> bool {
        !self.spent.is_empty()
    }

    /// Kills what is left in groups of tasks that have ended, and removes those that can be;
    /// whether all could.
    pub(crate) fn sweep(&mut self) -> bool {
        self.spent.iter_mut().for_each(Group::kill);
        self.spent.retain(|group| !group.remove());
        self.spent.is_empty()
    }

    /// Removes every group that nothing is in.
    pub(crate) fn remove(&mut self) {
        for group in self.free.drain(..).chain(self.spent.drain(..)) {
            group.remove();
        }
        let folders = self.unified.iter().chain(self.separate.values());
        for folder in folders {
            // One that something is in stays, for who comes next.
            let _ = fs::remove_dir(folder);
        }
    }
}

impl Unified {
    fn make(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir(&folder)?;
        Ok(Self {
            handle: File::open(&folder)?,
            events: File::open(folder.join("cgroup.events"))?,
            kill: OpenOptions::new().write(true).open(folder.join("cgroup.kill"))?,
            set: Limits::default(),
            folder,
        })
    }

    fn limit(&mut self, enabled: &BTreeSet<Controller>, limits: Limits) -> io::Result<()> {
        for controller in enabled {
            let (was, is) = (self.set.of(*controller), limits.of(*controller));
            if was == is {
                continue;
            }
            let (file, value) = match controller {
                Controller::Cpu => (
                    "cpu.max",
                    is.map(|milli| format!("{} {PERIOD_MICROS}", milli * PERIOD_MICROS / 1_000)),
                ),
                Controller::Memory => ("memory.max", is.map(|bytes| bytes.to_string())),
                Controller::Pids => ("pids.max", is.map(|most| most.to_string())),
            };
            fs::write(self.folder.join(file), value.as_deref().unwrap_or("max"))?;
        }
        self.set = limits;
        Ok(())
    }
}

impl Separate {
    fn make(folder: PathBuf) -> io::Result<Self> {
        fs::create_dir(&folder)?;
        let processes = OpenOptions::new().write(true).open(folder.join("cgroup.procs"))?;
        Ok(Self { folder, processes, set: None, is_used: false })
    }

    fn limit(&mut self, controller: Controller, limit: u64) -> io::Result<()> {
        self.is_used = true;
        if self.set == Some(limit) {
            return Ok(());
        }
        match controller {
            Controller::Cpu => {
                let quota = (limit * PERIOD_MICROS / 1_000).to_string();
                fs::write(self.folder.join("cpu.cfs_period_us"), PERIOD_MICROS.to_string())?;
                fs::write(self.folder.join("cpu.cfs_quota_us"), quota)?;
            }
            Controller::Memory => {
                fs::write(self.folder.join("memory.limit_in_bytes"), limit.to_string())?;
            }
            Controller::Pids => fs::write(self.folder.join("pids.max"), limit.to_string())?,
        }
        self.set = Some(limit);
        Ok(())
    }
}

impl Group {
    fn limit(&mut self, groups: &Groups, limits: Limits) -> io::Result<()> {
        if let Some(unified) = &mut self.unified {
            unified.limit(&groups.enabled, limits)?;
        }
        for (controller, folder) in &groups.separate {
            let known = self.separate.get_mut(controller);
            match (limits.of(*controller), known) {
                (Some(limit), Some(known)) => known.limit(*controller, limit)?,
                (Some(limit), None) => {
                    let folder = folder.join(self.number.to_string());
                    let mut separate = Separate::make(folder)?;
                    let limited = separate.limit(*controller, limit);
                    self.separate.insert(*controller, separate);
                    limited?;
                }
                (None, Some(known)) => known.is_used = false,
                (None, None) => {}
            }
        }
        self.killed_before = self.killed();
        Ok(())
    }

    /// The folder into which a task is born.
    pub(crate) fn birth(&self) -> Option<RawFd> {
        self.unified.as_ref().map(|unified| unified.handle.as_raw_fd())
    }

    /// The files into which a task writes itself.
    pub(crate) fn joins(&self) -> Vec<RawFd> {
        let used = self.separate.values().filter(|one| one.is_used);
        used.map(|one| one.processes.as_raw_fd()).collect()
    }

    /// Whether nothing of the task is left; `None` where the group cannot tell.
    pub(crate) fn is_empty(&self) -> Option<bool> {
        let Some(unified) = &self.unified else {
            let mut used = self.separate.values().filter(|one| one.is_used).peekable();
            used.peek()?;
            return Some(used.all(|one| members(&one.folder).is_empty()));
        };
        let mut text = [0; 64];
        let length = unified.events.read_at(&mut text, 0).ok()?;
        let text = std::str::from_utf8(&text[..length]).ok()?;
        Some(text.lines().any(|line| line == "populated 0"))
    }

    /// Kills all that is in it.
    pub(crate) fn kill(&mut self) {
        self.was_killed = true;
        if let Some(unified) = &self.unified {
            // It cannot fail while the group is there, which it is.
            let _ = unified.kill.write_at(b"1", 0);
        }
        for separate in self.separate.values().filter(|one| one.is_used) {
            members(&separate.folder).iter().for_each(family::end);
        }
    }

    /// Whether something in it was killed for want of memory since the task began.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        self.killed() > self.killed_before
    }

    fn killed(&self) -> u64 {
        let separate = self.separate.get(&Controller::Memory).filter(|one| one.is_used);
        let file = match (separate, &self.unified) {
            (Some(separate), _) => separate.folder.join("memory.oom_control"),
            (None, Some(unified)) if unified.set.memory_bytes.is_some() => {
                unified.folder.join("memory.events")
            }
            _ => return 0,
        };
        let text = fs::read_to_string(file).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    }

    /// Removes it; whether that is done.
    fn remove(&self) -> bool {
        let folders = self.unified.iter().map(|one| &one.folder);
        let folders = folders.chain(self.separate.values().map(|one| &one.folder));
        folders.fold(true, |is_gone, folder| {
            let mut inner = within(folder);
            // The innermost go first.
            inner.reverse();
            inner.iter().for_each(|folder| drop(fs::remove_dir(folder)));
            is_gone & !folder.exists()
        })
    }

    /// Whether its task made groups inside it.
    fn has_inner(&self) -> bool {
        let folders = self.unified.iter().map(|one| &one.folder);
        folders.chain(self.separate.values().map(|one| &one.folder)).any(|one| has_inner(one))
    }
}

/// Whether there are groups inside it: a folder has two links, and one more for each folder in it.
fn has_inner(folder: &Path) -> bool {
    fs::metadata(folder).is_ok_and(|found| found.nlink() > 2)
}

/// A group and those inside it, each before what is inside it; at most [`INNER_MAX`] and those
/// beside the last.
fn within(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_owned()];
    if !has_inner(folder) {
        return found;
    }
    let mut next = 0;
    while next < found.len() && found.len() < INNER_MAX {
        let entries = fs::read_dir(&found[next]).into_iter().flatten().flatten();
        let inner = entries.filter(|entry| entry.file_type().is_ok_and(|one| one.is_dir()));
        found.extend(inner.map(|entry| entry.path()));
        next += 1;
    }
    found
}

/// The processes in a group and in those inside it.
fn members(folder: &Path) -> Vec<family::Kin> {
    let own = |folder: &PathBuf| fs::read_to_string(folder.join("cgroup.procs")).ok();
    let texts: Vec<String> = within(folder).iter().filter_map(own).collect();
    let pids = texts.iter().flat_map(|text| text.lines());
    pids.filter_map(|pid| family::kin(pid.parse().ok()?)).collect()
}

/// Kills what is in these folders of a dead keeper and below, and removes those that are empty;
/// whether all are gone.
pub(crate) fn remove_all(folders: &[PathBuf]) -> io::Result<bool> {
    let mut is_gone = true;
    for folder in folders {
        match fs::metadata(folder) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        }
        // The innermost first.
        for folder in within(folder).iter().rev() {
            // Not every kernel can; then one by one.
            let _ = fs::write(folder.join("cgroup.kill"), "1");
            members(folder).iter().for_each(family::end);
            is_gone &= fs::remove_dir(folder).is_ok();
        }
    }
    Ok(is_gone)
}
