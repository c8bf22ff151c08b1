//! Affinity, cpusets and limits of control groups around the process.

use fleet::{Bytes, MilliCores};

use crate::tree::{Tree, cores};

const STATUS: &str = "proc/self/status";

fn mounts(tree: &Tree, lines: &[&str]) {
    tree.put("proc/self/mountinfo", &lines.join("\n"));
}

const ONE: &str = "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset";
const MEMORY: &str = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory";
const CPU: &str = "36 31 0:33 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct";
const TWO: &str = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw";

#[test]
fn the_affinity_of_the_process_narrows_threads_and_domains() {
    let tree = Tree::two_sockets();
    tree.put(STATUS, "Name:\tx\nCpus_allowed_list:\t0-1,4\nMems_allowed_list:\t1\n");
    let topology = tree.topology();
    let expected = ["d0 s0: 0 4", "d0 s0: 1 [5]", "d1 s1: [2] [6]", "d1 s1: [3] [7]"];
    assert_eq!(cores(&topology), expected);
    assert_eq!(topology.usable().count(), 2);
    let usable: Vec<_> = topology.domains.iter().map(|domain| domain.is_usable).collect();
    assert_eq!(usable, [false, true]);
}

#[test]
fn a_cpuset_of_v2_is_taken_from_the_nearest_group_that_has_one() {
    let tree = Tree::two_sockets();
    mounts(&tree, &[TWO]);
    tree.put("proc/self/cgroup", "0::/a/b\n");
    tree.put("sys/fs/cgroup/a/b/pids.max", "1");
    tree.put("sys/fs/cgroup/cpuset.cpus.effective", "0-7");
    assert_eq!(tree.topology().usable().count(), 4);
    tree.put("sys/fs/cgroup/a/cpuset.cpus.effective", "2-3");
    tree.put("sys/fs/cgroup/a/cpuset.mems.effective", "1");
    let confines = tree.topology().confines;
    assert_eq!(confines.threads.unwrap().to_string(), "2-3");
    assert_eq!(confines.domains.unwrap().to_string(), "1");
    tree.put(STATUS, "Cpus_allowed_list:\t3-7\n");
    assert_eq!(tree.topology().confines.threads.unwrap().to_string(), "3");
}

#[test]
fn a_cpuset_of_v1_is_found_with_and_without_prefix() {
    let tree = Tree::two_sockets();
    tree.put("proc/self/cgroup", "3:cpuset:/job\n0::/\n");
    let threads = || tree.topology().confines.threads.unwrap().to_string();
    mounts(&tree, &[ONE]);
    tree.put("sys/fs/cgroup/cpuset/job/cpuset.cpus", "0-3");
    assert_eq!(threads(), "0-3");
    // What the group really has may be less than what it was given.
    tree.put("sys/fs/cgroup/cpuset/job/cpuset.effective_cpus", "0-1");
    assert_eq!(threads(), "0-1");
    for kind in ["cgroup none rw,cpuset,noprefix", "cpuset none rw"] {
        mounts(&tree, &[&format!("34 31 0:31 / /dev/cpuset rw - {kind}")]);
        tree.put("dev/cpuset/job/cpus", "5-6");
        assert_eq!(threads(), "5-6", "{kind}");
    }
}

#[test]
fn older_trees_name_mounts_and_cpuset_elsewhere() {
    let tree = Tree::two_sockets();
    tree.drop("proc/self/cgroup");
    tree.drop("proc/self/mountinfo");
    tree.drop(STATUS);
    tree.put("proc/self/cpuset", "/dummy\n");
    tree.put("proc/mounts", "none /dev/cpuset cpuset rw 0 0\n");
    tree.put("dev/cpuset/dummy/cpus", "1-2\n");
    assert_eq!(tree.topology().confines.threads.unwrap().to_string(), "1-2");
    let gaps = tree.gaps();
    assert_eq!(gaps.len(), 2, "the status and the groups: {gaps:?}");
    assert!(gaps[0].contains("proc/self/status") && gaps[1].contains("proc/self/cgroup"));
}

#[test]
fn a_container_sees_its_own_group_at_the_top() {
    let tree = Tree::two_sockets();
    tree.put("proc/self/cgroup", "3:cpuset:/docker/7/task\n");
    mounts(&tree, &["34 31 0:31 /docker/7 /sys/fs/cgroup/cpuset ro - cgroup cgroup rw,cpuset"]);
    tree.put("sys/fs/cgroup/cpuset/cpuset.cpus", "0-7");
    tree.put("sys/fs/cgroup/cpuset/task/cpuset.cpus", "6");
    assert_eq!(tree.topology().confines.threads.unwrap().to_string(), "6");
    tree.put("proc/self/cgroup", "3:cpuset:/../other\n");
    tree.put("sys/fs/cgroup/cpuset/cpuset.cpus", "0-3");
    assert_eq!(tree.topology().confines.threads.unwrap().to_string(), "0-3");
}

#[test]
fn a_cpuset_that_cannot_be_seen_is_a_gap() {
    let tree = Tree::two_sockets();
    tree.put("proc/self/cgroup", "3:cpuset:/job\n");
    let expected = "failed to read job: it is not there, and should be a mounted cpuset of this \
                    name; this process is taken not to be confined by it";
    assert_eq!(tree.gaps(), [expected]);
}

#[test]
fn the_least_limit_of_memory_counts_wherever_it_is() {
    let tree = Tree::two_sockets();
    let memory = || tree.topology().confines.memory;
    mounts(&tree, &[TWO]);
    tree.put("proc/self/cgroup", "0::/a/b\n");
    tree.put("sys/fs/cgroup/a/b/memory.max", "max");
    assert_eq!(memory(), None);
    tree.put("sys/fs/cgroup/a/memory.max", "8589934592\n");
    assert_eq!(memory(), Some(Bytes(8 << 30)));
    tree.put("sys/fs/cgroup/a/b/memory.max", "4294967296\n");
    assert_eq!(memory(), Some(Bytes(4 << 30)));
    tree.put("sys/fs/cgroup/a/b/memory.max", "lots");
    assert!(tree.error().contains("it says `lots`, and should be a number of bytes, or max"));
    mounts(&tree, &[MEMORY]);
    tree.put("proc/self/cgroup", "4:memory:/a\n");
    tree.put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712");
    tree.put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1073741824");
    assert_eq!(memory(), Some(Bytes(1 << 30)));
}

#[test]
fn a_quota_of_processor_time_limits_cores() {
    let tree = Tree::two_sockets();
    let quota = || tree.topology().confines.cores;
    mounts(&tree, &[TWO]);
    tree.put("proc/self/cgroup", "0::/a\n");
    tree.put("sys/fs/cgroup/a/cpu.max", "max 100000\n");
    assert_eq!(quota(), None);
    tree.put("sys/fs/cgroup/a/cpu.max", "150000 100000\n");
    assert_eq!(quota(), Some(MilliCores(1500)));
    tree.put("sys/fs/cgroup/a/cpu.max", "0 100000");
    assert!(tree.error().contains("should be a quota and a period in microseconds"));
    mounts(&tree, &[CPU]);
    tree.put("proc/self/cgroup", "2:cpuacct,cpu:/a\n");
    tree.put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1");
    tree.put("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000");
    assert_eq!(quota(), None);
    tree.put("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "250000");
    assert_eq!(quota(), Some(MilliCores(2500)));
    tree.drop("sys/fs/cgroup/cpu/a/cpu.cfs_period_us");
    assert!(tree.error().contains("cpu.cfs_period_us: it is not there"));
}
