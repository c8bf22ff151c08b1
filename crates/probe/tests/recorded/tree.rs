//! A system of a few files, made in a temporary folder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use probe::{Root, Topology};
use tempfile::TempDir;

/// A system with these files below its root.
pub(crate) struct Tree(TempDir);

impl Tree {
    /// Two sockets with two cores each, two threads a core, a memory domain of 16 GiB a socket.
    /// Threads 0 to 3 are the first of each core, as on Intel's servers.
    pub(crate) fn two_sockets() -> Self {
        let tree = Self(folder());
        tree.put("sys/devices/system/cpu/online", "0-7\n");
        tree.put("sys/devices/system/cpu/present", "0-7\n");
        for thread in 0..8 {
            let (socket, core) = (thread % 4 / 2, thread % 4);
            let cpu = format!("sys/devices/system/cpu/cpu{thread}");
            tree.put(&format!("{cpu}/topology/core_cpus_list"), &format!("{core},{}", core + 4));
            tree.put(&format!("{cpu}/topology/core_id"), &(core % 2).to_string());
            tree.put(&format!("{cpu}/topology/physical_package_id"), &socket.to_string());
            let shared = ["0-1,4-5", "2-3,6-7"][socket];
            tree.put(&format!("{cpu}/cache/index0/level"), "1");
            tree.put(&format!("{cpu}/cache/index3/level"), "3");
            tree.put(&format!("{cpu}/cache/index3/shared_cpu_list"), shared);
            tree.put(&format!("{cpu}/cpu_capacity"), "1024");
        }
        tree.domain(0, "0-1,4-5", 16, "10 21");
        tree.domain(1, "2-3,6-7", 16, "21 10");
        tree.put("proc/cpuinfo", "processor: 0\nmodel name\t: Some(R) Model 9 @ 2.0GHz\n");
        tree.put("proc/self/status", "Cpus_allowed_list:\t0-7\nMems_allowed_list:\t0-999\n");
        tree.put("proc/self/cgroup", "0::/\n");
        tree.put("proc/self/mountinfo", "");
        tree
    }

    pub(crate) fn put(&self, name: &str, text: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn link(&self, name: &str, target: &str) {
        let path = self.0.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    pub(crate) fn drop(&self, name: &str) {
        let path = self.0.path().join(name);
        if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }.unwrap();
    }

    pub(crate) fn domain(&self, number: u32, threads: &str, gib: u64, distance: &str) {
        let node = format!("sys/devices/system/node/node{number}");
        self.put(&format!("{node}/cpulist"), &format!("{threads}\n"));
        let kib = gib << 20;
        self.put(&format!("{node}/meminfo"), &format!("Node {number} MemTotal: {kib} kB\n"));
        self.put(&format!("{node}/distance"), &format!("{distance}\n"));
    }

    pub(crate) fn root(&self) -> Root {
        Root::at(self.0.path())
    }

    pub(crate) fn topology(&self) -> Topology {
        Topology::read(&self.root()).unwrap()
    }

    /// What reading it fails with, without the folder that it is in.
    pub(crate) fn error(&self) -> String {
        self.relative(&Topology::read(&self.root()).unwrap_err().to_string())
    }

    /// The gaps of reading it, without the folder that it is in.
    pub(crate) fn gaps(&self) -> Vec<String> {
        self.topology().gaps.0.iter().map(|gap| self.relative(&gap.to_string())).collect()
    }

    pub(crate) fn relative(&self, text: &str) -> String {
        text.replace(&format!("{}/", self.0.path().display()), "")
    }
}

/// A folder for thousands of small files: in memory where that can be had, since a disk may take
/// a millisecond for each.
pub(crate) fn folder() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

/// A core in one line: domain, socket, threads; those that may not be used in brackets.
pub(crate) fn cores(topology: &Topology) -> Vec<String> {
    let thread = |one: &probe::Thread| match one.is_usable {
        true => one.number.to_string(),
        false => format!("[{}]", one.number),
    };
    let core = |core: &probe::Core| {
        let threads: Vec<_> = core.threads.iter().map(thread).collect();
        let socket = core.socket.map_or("?".to_owned(), |socket| socket.to_string());
        format!("d{} s{socket}: {}", core.domain, threads.join(" "))
    };
    topology.cores.iter().map(core).collect()
}

/// A folder of the public data, where this machine has it.
pub(crate) fn data(name: &str) -> Option<PathBuf> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let root = std::env::var_os("MOTLEY_DATA").map_or_else(beside, PathBuf::from);
    let folder = root.join(name);
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no public data at {}; set MOTLEY_DATA", folder.display());
    None
}
