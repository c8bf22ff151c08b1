//! Which control groups this process is in, from what the system says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a control group can limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Controller {
    Cpu,
    Memory,
    Pids,
}

impl Controller {
    pub(crate) const ALL: [Self; 3] = [Self::Cpu, Self::Memory, Self::Pids];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Memory => "memory",
            Self::Pids => "pids",
        }
    }
}

/// The folders of the groups that a process is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Own {
    /// In the one hierarchy of version 2.
    pub(crate) unified: Option<PathBuf>,
    /// In the hierarchies of version 1, by controller.
    pub(crate) separate: BTreeMap<Controller, PathBuf>,
}

/// Reads `/proc/self/mountinfo` and `/proc/self/cgroup`.
pub(crate) fn discover(mounts: &str, groups: &str) -> Own {
    let mut own = Own::default();
    for mount in mounts.lines().filter_map(mount_of) {
        let paths = groups.lines().filter_map(|line| {
            let (_, rest) = line.split_once(':')?;
            let (controllers, path) = rest.split_once(':')?;
            Some((controllers, path))
        });
        for (controllers, path) in paths {
            let names: Vec<_> = controllers.split(',').filter(|name| !name.is_empty()).collect();
            // A group above what is mounted cannot be reached.
            let Ok(below) = Path::new(path).strip_prefix(mount.root) else { continue };
            let folder = Path::new(mount.point).join(below);
            if mount.is_unified && names.is_empty() {
                own.unified.get_or_insert(folder);
            } else if !mount.is_unified {
                for controller in Controller::ALL {
                    let name = controller.name();
                    if names.contains(&name) && mount.options.split(',').any(|one| one == name) {
                        own.separate.entry(controller).or_insert_with(|| folder.clone());
                    }
                }
            }
        }
    }
    own
}

struct Mount<'a> {
    is_unified: bool,
    root: &'a str,
    point: &'a str,
    options: &'a str,
}

fn mount_of(line: &str) -> Option<Mount<'_>> {
    let (before, after) = line.split_once(" - ")?;
    let mut before = before.split(' ').skip(3);
    let mut after = after.split(' ');
    let is_unified = match after.next()? {
        "cgroup2" => true,
        "cgroup" => false,
        _ => return None,
    };
    Some(Mount { is_unified, root: before.next()?, point: before.next()?, options: after.nth(1)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
30 24 0:25 / /sys/fs/cgroup ro,nosuid - tmpfs tmpfs rw,mode=755
31 30 0:26 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
32 30 0:27 / /sys/fs/cgroup/cpu,cpuacct rw shared:9 - cgroup cgroup rw,cpu,cpuacct
33 30 0:28 /box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
34 30 0:29 /elsewhere /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids
";

    #[test]
    fn each_controller_is_found_where_it_is_mounted() {
        let groups = "9:pids:/\n7:memory:/box/inner\n4:cpu,cpuacct:/a/b\n0::/user.slice\n";
        let own = discover(HYBRID, groups);
        assert_eq!(own.unified.unwrap(), Path::new("/sys/fs/cgroup/unified/user.slice"));
        let folder = |controller| own.separate.get(&controller).map(PathBuf::as_path);
        assert_eq!(folder(Controller::Cpu), Some(Path::new("/sys/fs/cgroup/cpu,cpuacct/a/b")));
        assert_eq!(folder(Controller::Memory), Some(Path::new("/sys/fs/cgroup/memory/inner")));
        assert_eq!(folder(Controller::Pids), None, "the group is outside of what is mounted");
    }

    #[test]
    fn version_2_alone_has_no_separate_controllers() {
        let mounts = "30 24 0:25 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate\n";
        let own = discover(mounts, "0::/system.slice/motley.service\n");
        let folder = Path::new("/sys/fs/cgroup/system.slice/motley.service");
        assert_eq!(own, Own { unified: Some(folder.to_owned()), separate: BTreeMap::new() });
    }

    #[test]
    fn where_nothing_is_mounted_there_is_nothing() {
        assert_eq!(discover("", "0::/\n"), Own::default());
        assert_eq!(discover("garbage\n1 2 - cgroup\n", "x\n"), Own::default());
    }
}
