//! What of its node this process may use.
//!
//! Three hands narrow it: the affinity that a process inherits, the cpuset of
//! its control group, and the limits of the group and of those above it. A
//! container is all of these. Numbers of threads and domains are the node's own.

mod groups;

use fleet::{Bytes, MilliCores};

use crate::error::ProbeError;
use crate::gap::Gaps;
use crate::numbers::Numbers;
use crate::root::Root;
use groups::{Controller, Groups};

/// What limits this process; nothing in a field where nothing limits it there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Confines {
    /// The threads that it may run on.
    pub threads: Option<Numbers>,
    /// The memory domains in which it may have memory.
    pub domains: Option<Numbers>,
    /// The most memory of its control group.
    pub memory: Option<Bytes>,
    /// The most processor time of its control group.
    pub cores: Option<MilliCores>,
}

/// Limits of memory from here on stand for no limit: cgroup v1 has no other word for it.
const UNLIMITED: u64 = 1 << 62;

const NOT_CONFINED: &str = "this process is taken not to be confined by it";

impl Confines {
    /// Reads what limits the process that reads.
    ///
    /// # Errors
    /// If a limit is there and cannot be read.
    pub fn read(root: &Root, gaps: &mut Gaps) -> Result<Self, ProbeError> {
        let (affinity, near) = affinity(root, gaps)?;
        let groups = Groups::read(root, gaps)?;
        let (threads, domains) = cpuset(root, &groups, gaps)?;
        Ok(Self {
            threads: narrowest(affinity, threads),
            domains: narrowest(near, domains),
            memory: memory(root, &groups)?,
            cores: quota(root, &groups)?,
        })
    }
}

fn narrowest(one: Option<Numbers>, other: Option<Numbers>) -> Option<Numbers> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.both(&other)),
        (one, other) => one.or(other),
    }
}

/// The threads and domains that the kernel allows this process.
fn affinity(
    root: &Root,
    gaps: &mut Gaps,
) -> Result<(Option<Numbers>, Option<Numbers>), ProbeError> {
    const NAME: &str = "proc/self/status";
    const EXPECTED: &str = "lines Cpus_allowed_list and Mems_allowed_list";
    let Some(text) = root.find(NAME, EXPECTED)? else {
        gaps.add(root.missing(NAME, EXPECTED), NOT_CONFINED);
        return Ok((None, None));
    };
    let list = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        let numbers = |list| Numbers::from_list(list).filter(|numbers| !numbers.is_empty());
        let wrong = |list| ProbeError::garbled(root.path(NAME), EXPECTED, list);
        line.map(|list| numbers(list.trim()).ok_or_else(|| wrong(list))).transpose()
    };
    let (threads, domains) = (list("Cpus_allowed_list")?, list("Mems_allowed_list")?);
    if threads.is_none() {
        gaps.add(ProbeError::garbled(root.path(NAME), EXPECTED, &text), NOT_CONFINED);
    }
    Ok((threads, domains))
}

/// The threads and domains of the cpuset. A group without its own has that of the next one above.
fn cpuset(
    root: &Root,
    groups: &Groups,
    gaps: &mut Gaps,
) -> Result<(Option<Numbers>, Option<Numbers>), ProbeError> {
    let folders = groups.folders(root, Controller::Cpuset);
    // The effective set leaves out what a group above does not have; the oldest kernels have no
    // such file, and no prefix.
    let threads = ["cpuset.cpus.effective", "cpuset.effective_cpus", "cpuset.cpus", "cpus"];
    let domains = ["cpuset.mems.effective", "cpuset.effective_mems", "cpuset.mems", "mems"];
    let (threads, domains) = (nearest(root, &folders, threads)?, nearest(root, &folders, domains)?);
    let is_below = groups.cpuset_path.as_deref().is_some_and(|path| path != "/");
    if threads.is_none() && is_below {
        let path = groups.cpuset_path.as_deref().unwrap_or_default();
        let missing = root.missing(path.trim_start_matches('/'), "a mounted cpuset of this name");
        gaps.add(missing, NOT_CONFINED);
    }
    Ok((threads, domains))
}

fn nearest(
    root: &Root,
    folders: &[String],
    files: [&str; 4],
) -> Result<Option<Numbers>, ProbeError> {
    for folder in folders {
        for file in files {
            let name = format!("{folder}/{file}");
            match crate::topology::find_list(root, &name)? {
                Some(numbers) if !numbers.is_empty() => return Ok(Some(numbers)),
                // A group that has nothing of its own has what the one above has.
                Some(_) | None => {}
            }
        }
    }
    Ok(None)
}

/// The least limit of memory from the group up.
fn memory(root: &Root, groups: &Groups) -> Result<Option<Bytes>, ProbeError> {
    const EXPECTED: &str = "a number of bytes, or max";
    let mut least = None;
    for folder in groups.folders(root, Controller::Memory) {
        for file in ["memory.max", "memory.limit_in_bytes"] {
            let name = format!("{folder}/{file}");
            let Some(text) = root.find(&name, EXPECTED)? else { continue };
            if text == "max" {
                continue;
            }
            let wrong = |_| ProbeError::garbled(root.path(&name), EXPECTED, &text);
            let bytes: u64 = text.parse().map_err(wrong)?;
            if bytes < UNLIMITED {
                least = Some(least.map_or(bytes, |least: u64| least.min(bytes)));
            }
        }
    }
    Ok(least.map(Bytes))
}

/// The least processor time from the group up.
fn quota(root: &Root, groups: &Groups) -> Result<Option<MilliCores>, ProbeError> {
    const EXPECTED: &str = "a quota and a period in microseconds";
    let mut least = None;
    for folder in groups.folders(root, Controller::Cpu) {
        let (both, old) = (format!("{folder}/cpu.max"), format!("{folder}/cpu.cfs_quota_us"));
        let (name, text) = match (root.find(&both, EXPECTED)?, root.find(&old, EXPECTED)?) {
            (Some(text), _) => (both, text),
            (None, Some(quota)) => {
                let period = root.read(&format!("{folder}/cpu.cfs_period_us"), EXPECTED)?;
                (old, format!("{quota} {period}"))
            }
            (None, None) => continue,
        };
        let (quota, period) = text.split_once(' ').unwrap_or((&text, "100000"));
        if ["max", "-1"].contains(&quota) {
            continue;
        }
        let parse = |word: &str| word.trim().parse::<u64>().ok().filter(|micros| *micros > 0);
        let wrong = || ProbeError::garbled(root.path(&name), EXPECTED, &text);
        let (quota, period) = parse(quota).zip(parse(period)).ok_or_else(wrong)?;
        let cores = quota.saturating_mul(1000) / period;
        least = Some(least.map_or(cores, |least: u64| least.min(cores)));
    }
    Ok(least.map(MilliCores))
}
