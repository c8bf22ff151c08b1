//! Families of processes, as `/proc` shows them: who is whose child, and what belongs to a run.
//!
//! A process belongs to a run if it is in the session of its main process, if
//! its environment has the mark of the run, or if its parent belongs to it. A
//! process is only ever sent a signal after it was looked at again through a
//! descriptor of its own, so that none is hit that got the same number later.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use crate::launch::has_mark;

/// One process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kin {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) session: i32,
    /// When it began, in ticks since the machine did: a later process of the same number differs.
    began: u64,
    /// Whether it has ended and waits to be reaped.
    pub(crate) has_ended: bool,
    /// Processor time of it and of those of its children that it waited for, in ticks.
    pub(crate) ticks: u64,
    /// Memory that it has in use, in pages.
    pub(crate) pages: u64,
}

/// The children of this process, those that ended and wait to be reaped included.
pub(crate) fn own_children() -> io::Result<Vec<i32>> {
    let own = std::process::id();
    match fs::read_to_string(format!("/proc/self/task/{own}/children")) {
        Ok(text) => Ok(text.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()),
        // Not every kernel has the list.
        Err(_) => {
            let own = i32::try_from(own).unwrap_or(0);
            let children = everyone()?.into_iter().filter(|kin| kin.parent == own);
            Ok(children.map(|kin| kin.pid).collect())
        }
    }
}

/// Every process that can be seen.
pub(crate) fn everyone() -> io::Result<Vec<Kin>> {
    let entries = fs::read_dir("/proc")?.flatten();
    Ok(entries.filter_map(|entry| kin(entry.file_name().to_str()?.parse().ok()?)).collect())
}

/// One process, if it is there.
pub(crate) fn kin(pid: i32) -> Option<Kin> {
    kin_of(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The name of the program stands in brackets and may hold anything, brackets too.
fn kin_of(pid: i32, stat: &str) -> Option<Kin> {
    let mut fields = stat[stat.rfind(')')? + 1..].split_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    // From here on `man 5 proc_pid_stat` counts: utime is 14, starttime 22, rss 24.
    let times = [fields.nth(7)?, fields.next()?, fields.next()?, fields.next()?];
    let ticks = times.iter().filter_map(|ticks| ticks.parse::<u64>().ok()).sum();
    let began = fields.nth(4)?.parse().ok()?;
    let pages = fields.nth(1)?.parse().ok()?;
    Some(Kin { pid, parent, session, began, has_ended: matches!(state, "Z" | "X"), ticks, pages })
}

/// Whether a process has a mark that begins so. One that cannot be read has none.
pub(crate) fn is_marked(pid: i32, mark: &str) -> bool {
    fs::read(format!("/proc/{pid}/environ")).is_ok_and(|text| has_mark(&text, mark))
}

/// Those of `everyone` that are roots or descend from one.
pub(crate) fn descent(everyone: &[Kin], is_root: impl Fn(&Kin) -> bool) -> Vec<Kin> {
    let mut pids: BTreeSet<i32> = BTreeSet::new();
    pids.extend(everyone.iter().filter(|kin| is_root(kin)).map(|kin| kin.pid));
    loop {
        let known = pids.len();
        let children = everyone.iter().filter(|kin| pids.contains(&kin.parent));
        let children: Vec<_> = children.map(|kin| kin.pid).collect();
        pids.extend(children);
        if pids.len() == known {
            break;
        }
    }
    everyone.iter().filter(|kin| pids.contains(&kin.pid)).copied().collect()
}

/// Kills a process, if it is still the one that was looked at.
pub(crate) fn end(seen: &Kin) {
    let Some(pid) = Pid::from_raw(seen.pid).filter(|_| seen.pid > 1) else { return };
    let Ok(descriptor) = pidfd_open(pid, PidfdFlags::empty()) else { return };
    if kin(seen.pid).is_some_and(|now| now.began == seen.began) {
        // It may have ended by now, which is as good.
        let _ = pidfd_send_signal(descriptor, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_spaces_does_not_mislead() {
        let stat = "42 (a) R (b) S 7 42 9 0 -1 0 0 0 0 0 1 2 4 8 20 0 1 0 123456 1 65";
        let kin = kin_of(42, stat).unwrap();
        assert_eq!((kin.parent, kin.session, kin.began, kin.has_ended), (7, 9, 123_456, false));
        assert_eq!((kin.ticks, kin.pages), (15, 65));
        assert_eq!(kin_of(42, "42 (a"), None);
    }

    #[test]
    fn descendants_are_found_at_any_depth() {
        let kin = |pid, parent| {
            let (session, began, has_ended, ticks, pages) = Default::default();
            Kin { pid, parent, session, began, has_ended, ticks, pages }
        };
        let everyone = [kin(5, 4), kin(2, 1), kin(4, 3), kin(3, 1)];
        let found: Vec<_> =
            descent(&everyone, |kin| kin.pid == 3).iter().map(|kin| kin.pid).collect();
        assert_eq!(found, [5, 4, 3]);
    }

    #[test]
    fn this_process_finds_itself() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(everyone().unwrap().iter().any(|kin| kin.pid == own));
    }
}
