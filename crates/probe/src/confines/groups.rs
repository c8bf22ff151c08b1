//! Where the control groups of this process are.
//!
//! `/proc/self/cgroup` names the group in each hierarchy, and the mounts say
//! where a hierarchy is to be seen. Both are as the namespace of the process
//! shows them: a container may see its own group as the top, or a mount that
//! begins in the middle. cgroup v2, v1 (one hierarchy for each controller, also
//! without prefix) and the older cpuset file system are known, and mixtures.

use crate::error::ProbeError;
use crate::gap::Gaps;
use crate::root::Root;

/// Deeper groups are not looked at; Slurm and Kubernetes nest less than ten.
const DEPTH_MAX: usize = 64;

/// What a hierarchy limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Controller {
    Cpuset,
    Memory,
    Cpu,
}

impl Controller {
    fn name(self) -> &'static str {
        match self {
            Self::Cpuset => "cpuset",
            Self::Memory => "memory",
            Self::Cpu => "cpu",
        }
    }
}

/// The groups of a process, and where they are mounted.
#[derive(Debug, Default)]
pub(super) struct Groups {
    /// Lines of `/proc/self/cgroup`: controllers, none for cgroup v2, and the path.
    paths: Vec<(String, String)>,
    /// The path of the cpuset, which `/proc/self/cpuset` has too.
    pub(super) cpuset_path: Option<String>,
    mounts: Vec<Mount>,
}

/// A hierarchy where it can be seen.
#[derive(Debug, PartialEq, Eq)]
struct Mount {
    /// The group that is seen at the top.
    top: String,
    /// Where it is seen.
    folder: String,
    /// `cgroup`, `cgroup2` or `cpuset`.
    kind: String,
    /// With its controllers.
    options: String,
}

impl Groups {
    pub(super) fn read(root: &Root, gaps: &mut Gaps) -> Result<Self, ProbeError> {
        const EXPECTED: &str = "the control groups of this process";
        let text = root.find("proc/self/cgroup", EXPECTED)?;
        let line = |line: &str| {
            let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
            Some((controllers.to_owned(), path.to_owned()))
        };
        if text.is_none() {
            let missing = root.missing("proc/self/cgroup", EXPECTED);
            gaps.add(missing, "limits of memory and time are taken not to be there");
        }
        let paths: Vec<_> = text.unwrap_or_default().lines().filter_map(line).collect();
        let of_cpuset = paths.iter().find(|(names, _)| names.split(',').any(|one| one == "cpuset"));
        let cpuset_path = match of_cpuset {
            Some((_, path)) => Some(path.clone()),
            None => root.find("proc/self/cpuset", "the path of a cpuset")?,
        };
        Ok(Self { paths, cpuset_path, mounts: mounts(root, gaps)? })
    }

    /// The folders of the group that a controller limits this process by: its own first, then those
    /// above it.
    pub(super) fn folders(&self, root: &Root, controller: Controller) -> Vec<String> {
        let has = |mount: &Mount| {
            let mut options = mount.options.split(',');
            match mount.kind.as_str() {
                "cpuset" => controller == Controller::Cpuset,
                "cgroup" => options.any(|option| option == controller.name()),
                _ => false,
            }
        };
        let unified = |mount: &Mount| mount.kind == "cgroup2";
        let one = self.mounts.iter().find(|mount| has(mount));
        let of_one = one.and_then(|mount| self.below(root, mount, self.path_in(controller)?));
        let two = self.mounts.iter().find(|mount| unified(mount));
        let of_two = two.and_then(|mount| self.below(root, mount, self.path_of_two(controller)?));
        [of_one, of_two].into_iter().flatten().flatten().collect()
    }

    fn path_in(&self, controller: Controller) -> Option<&str> {
        if controller == Controller::Cpuset {
            return self.cpuset_path.as_deref();
        }
        let has = |names: &str| names.split(',').any(|name| name == controller.name());
        self.paths.iter().find(|(names, _)| has(names)).map(|(_, path)| path.as_str())
    }

    /// The group in cgroup v2. A recorded tree may have the path of the cpuset alone.
    fn path_of_two(&self, controller: Controller) -> Option<&str> {
        let unified = self.paths.iter().find(|(names, _)| names.is_empty());
        let cpuset = || self.path_in(controller).filter(|_| self.paths.is_empty());
        unified.map(|(_, path)| path.as_str()).or_else(cpuset)
    }

    /// The folders from a group to the top of a mount.
    fn below(&self, root: &Root, mount: &Mount, path: &str) -> Option<Vec<String>> {
        let inside = inside(&mount.top, path);
        let mut parts: Vec<_> = inside.split('/').filter(|part| !part.is_empty()).collect();
        // A group beside the top of this namespace shows as `/../other`: nothing of it can be seen.
        if parts.contains(&"..") || parts.len() > DEPTH_MAX {
            parts.clear();
        }
        let depths = (0..=parts.len()).rev();
        let folder = |depth| [&[mount.folder.trim_end_matches('/')], &parts[..depth]].concat();
        let folders: Vec<_> = depths.map(|depth| folder(depth).join("/")).collect();
        Some(folders.into_iter().filter(|folder| root.has(folder)).collect())
    }
}

/// What of a path is below the group that a mount shows at its top; nothing where the path is of
/// another namespace, in which case the top is this process's group.
fn inside<'a>(top: &str, path: &'a str) -> &'a str {
    let top = top.trim_end_matches('/');
    let rest = path.strip_prefix(top).unwrap_or_default();
    if rest.is_empty() || rest.starts_with('/') { rest } else { "" }
}

/// The mounts of control groups. `mountinfo` says what is at the top of each; recorded trees often
/// have `mounts` alone.
fn mounts(root: &Root, gaps: &mut Gaps) -> Result<Vec<Mount>, ProbeError> {
    const EXPECTED: &str = "a list of mounts";
    let full = root.find("proc/self/mountinfo", EXPECTED)?;
    if let Some(text) = full {
        return Ok(text.lines().filter_map(full_mount).filter(is_group).collect());
    }
    let short = match root.find("proc/self/mounts", EXPECTED)? {
        Some(text) => Some(text),
        None => root.find("proc/mounts", EXPECTED)?,
    };
    if short.is_none() {
        let missing = root.missing("proc/self/mountinfo", EXPECTED);
        gaps.add(missing, "this process is taken to be in no control group");
    }
    let text = short.unwrap_or_default();
    Ok(text.lines().filter_map(short_mount).filter(is_group).collect())
}

fn is_group(mount: &Mount) -> bool {
    ["cgroup", "cgroup2", "cpuset"].contains(&mount.kind.as_str())
}

/// `36 35 98:0 /top /folder rw,noatime shared:1 - cgroup2 source rw,options`
fn full_mount(line: &str) -> Option<Mount> {
    let (place, source) = line.split_once(" - ")?;
    let mut place = place.split(' ').skip(3);
    let mut source = source.split(' ');
    Some(Mount {
        top: unescaped(place.next()?),
        folder: unescaped(place.next()?),
        kind: source.next()?.to_owned(),
        options: source.nth(1)?.to_owned(),
    })
}

/// `source /folder cgroup rw,options 0 0`
fn short_mount(line: &str) -> Option<Mount> {
    let mut words = line.split(' ').skip(1);
    Some(Mount {
        top: "/".to_owned(),
        folder: unescaped(words.next()?),
        kind: words.next()?.to_owned(),
        options: words.next()?.to_owned(),
    })
}

/// The kernel writes a space as `\040`, and so on.
fn unescaped(text: &str) -> String {
    [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")]
        .iter()
        .fold(text.to_owned(), |text, (code, letter)| text.replace(code, letter))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_found_below_what_its_mount_shows() {
        assert_eq!(inside("/", "/a/b"), "/a/b");
        assert_eq!(inside("/docker/7", "/docker/7"), "");
        assert_eq!(inside("/docker/7", "/docker/7/task"), "/task");
        assert_eq!(inside("/docker/7", "/docker/77"), "");
        assert_eq!(inside("/docker/7", "/"), "");
    }

    #[test]
    fn both_lists_of_mounts_are_read() {
        let full =
            "34 31 0:31 /a /sys/fs/my\\040group rw,relatime shared:3 - cgroup none rw,cpuset";
        let mount = full_mount(full).unwrap();
        assert_eq!((mount.top.as_str(), mount.folder.as_str()), ("/a", "/sys/fs/my group"));
        assert_eq!((mount.kind.as_str(), mount.options.as_str()), ("cgroup", "rw,cpuset"));
        let mount = short_mount("none /dev/cpuset cpuset rw 0 0").unwrap();
        assert_eq!((mount.folder.as_str(), mount.kind.as_str()), ("/dev/cpuset", "cpuset"));
        assert_eq!(full_mount("garbage"), None);
    }
}
