//! What control groups would let a keeper do, without one being started.
//!
//! It is tried as a keeper tries it: an empty group is made in the group of
//! this process and removed again. Nothing is switched on: whether a controller
//! could be is told from the files that say so.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, access};

use super::{Controller, Own, discover};

/// How control groups are laid out on a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// There are none.
    Absent,
    /// Version 2 alone.
    Unified,
    /// Version 1 alone: a hierarchy for each controller.
    Separate,
    /// Both.
    Mixed,
}

/// What a keeper that this process starts could do with control groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permit {
    /// How they are laid out.
    pub layout: Layout,
    /// Where the groups of this process are.
    pub folders: Vec<PathBuf>,
    /// Whether each task could be held together by a group of its own.
    pub holds: bool,
    /// The controllers, by the system's own names, and whether each could limit tasks.
    pub limits: Vec<(&'static str, bool)>,
}

/// What a keeper that this process starts could do.
///
/// # Errors
/// If the system does not say in which groups this process is.
pub fn permit() -> io::Result<Permit> {
    Ok(of(&own()?))
}

/// The groups that this process is in.
pub(crate) fn own() -> io::Result<Own> {
    let mounts = fs::read_to_string("/proc/self/mountinfo")?;
    let groups = match fs::read_to_string("/proc/self/cgroup") {
        // Some kernels have none.
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        other => other?,
    };
    Ok(discover(&mounts, &groups))
}

fn of(own: &Own) -> Permit {
    let layout = match (&own.unified, own.separate.is_empty()) {
        (None, true) => Layout::Absent,
        (Some(_), true) => Layout::Unified,
        (None, false) => Layout::Separate,
        (Some(_), false) => Layout::Mixed,
    };
    let mut holds = false;
    if let Some(folder) = &own.unified {
        let can_kill = |group: &Path| group.join("cgroup.kill").exists();
        holds = crate::sys::BIRTH_INTO_GROUP && attempt(folder, can_kill);
    }
    let limits = Controller::ALL.map(|controller| {
        let can_separate = own.separate.get(&controller).is_some_and(|it| attempt(it, |_| true));
        let can_unified = || own.unified.as_ref().is_some_and(|it| can_enable(it, controller));
        (controller.name(), can_separate || (holds && can_unified()))
    });
    let mut folders: Vec<_> = own.unified.iter().chain(own.separate.values()).cloned().collect();
    folders.sort();
    folders.dedup();
    Permit { layout, folders, holds, limits: limits.into() }
}

/// Whether a group can be made in this one, and is as it should be.
fn attempt(folder: &Path, is_right: impl Fn(&Path) -> bool) -> bool {
    let group = folder.join(format!("motley-permit-{}", std::process::id()));
    let can = fs::create_dir(&group).is_ok() && is_right(&group);
    let _ = fs::remove_dir(&group);
    can
}

/// Whether a controller is on for the groups in this one, or could be switched on. The system
/// refuses that where processes are in the group themselves, as this one is, unless it is the top.
fn can_enable(folder: &Path, controller: Controller) -> bool {
    let lists = |file: &str| {
        let text = fs::read_to_string(folder.join(file)).unwrap_or_default();
        text.split_whitespace().any(|name| name == controller.name())
    };
    let switch = folder.join("cgroup.subtree_control");
    let is_top = !folder.join("cgroup.type").exists();
    lists("cgroup.subtree_control")
        || (is_top && lists("cgroup.controllers") && access(&switch, Access::WRITE_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn limits(permit: &Permit) -> Vec<bool> {
        permit.limits.iter().map(|(_, can)| *can).collect()
    }

    #[test]
    fn where_there_are_no_groups_nothing_is_permitted() {
        let permit = of(&Own::default());
        assert_eq!((permit.layout, permit.holds), (Layout::Absent, false));
        assert_eq!(limits(&permit), [false; 3]);
    }

    #[test]
    fn a_controller_of_version_1_limits_where_a_group_can_be_made() {
        let tree = tempfile::tempdir().unwrap();
        let missing = tree.path().join("missing");
        let separate = BTreeMap::from([
            (Controller::Memory, tree.path().to_owned()),
            (Controller::Cpu, missing.clone()),
        ]);
        let permit = of(&Own { unified: Some(missing), separate: separate.clone() });
        assert_eq!((permit.layout, permit.holds), (Layout::Mixed, false));
        assert_eq!(limits(&permit), [false, true, false]);
        assert_eq!(fs::read_dir(tree.path()).unwrap().count(), 0, "nothing is left behind");
        assert_eq!(of(&Own { unified: None, separate }).layout, Layout::Separate);
    }

    #[test]
    fn a_controller_of_version_2_is_on_or_can_be_switched_on_at_the_top() {
        let tree = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| fs::write(tree.path().join(file), text).unwrap();
        let can = |controller| can_enable(tree.path(), controller);
        write("cgroup.controllers", "cpu memory");
        write("cgroup.subtree_control", "memory");
        assert!(can(Controller::Memory) && can(Controller::Cpu) && !can(Controller::Pids));
        write("cgroup.type", "domain");
        assert!(can(Controller::Memory) && !can(Controller::Cpu), "this process is in the way");
    }
}
