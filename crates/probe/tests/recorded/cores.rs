//! Cores, threads, sockets, caches and kinds.

use probe::topology::KindSource;
use probe::{Core, CoreKind, Root, Topology};

use crate::tree::{Tree, cores};

#[test]
fn threads_are_listed_under_their_core() {
    let topology = Tree::two_sockets().topology();
    assert_eq!(cores(&topology), ["d0 s0: 0 4", "d0 s0: 1 5", "d1 s1: 2 6", "d1 s1: 3 7"]);
    assert_eq!(topology.model, "Some-Model-9");
    assert_eq!(
        topology.cores.iter().map(|core| core.cache).collect::<Vec<_>>(),
        [Some(0), Some(0), Some(1), Some(1)]
    );
    let ranks: Vec<_> = topology.threads().map(|(_, rank, thread)| (thread.number, rank)).collect();
    assert_eq!(ranks[..4], [(0, 0), (4, 1), (1, 0), (5, 1)]);
    assert!(topology.gaps.0.is_empty(), "{:?}", topology.gaps);
}

#[test]
fn a_thread_that_is_offline_is_in_no_core() {
    let tree = Tree::two_sockets();
    tree.put("sys/devices/system/cpu/online", "0-2,4-6");
    tree.drop("sys/devices/system/cpu/cpu3/topology");
    tree.drop("sys/devices/system/cpu/cpu7/topology");
    let topology = tree.topology();
    assert_eq!(cores(&topology), ["d0 s0: 0 4", "d0 s0: 1 5", "d1 s1: 2 6"]);
    assert_eq!(topology.offline.to_string(), "3,7");
    tree.drop("sys/devices/system/cpu/present");
    assert_eq!(tree.topology().offline.to_string(), "");
    assert_eq!(
        tree.gaps(),
        ["failed to read sys/devices/system/cpu/present: it is not there, and should be a list \
          of numbers such as 0-3,8; no thread is taken to be switched off"]
    );
}

#[test]
fn one_sibling_offline_leaves_the_core_with_the_other() {
    let tree = Tree::two_sockets();
    tree.put("sys/devices/system/cpu/online", "0-3,5-7");
    assert_eq!(cores(&tree.topology())[0], "d0 s0: 0");
    tree.put("sys/devices/system/cpu/online", "1-7");
    assert_eq!(cores(&tree.topology())[2..], ["d1 s1: 3 7", "d0 s0: 4"]);
}

#[test]
fn masks_do_where_there_are_no_lists_and_core_numbers_repeat() {
    let tree = Tree::two_sockets();
    for thread in 0..8 {
        let topology = format!("sys/devices/system/cpu/cpu{thread}/topology");
        tree.drop(&format!("{topology}/core_cpus_list"));
        let mask = 0x11 << (thread % 4);
        tree.put(&format!("{topology}/thread_siblings"), &format!("00000000,{mask:08x}\n"));
        tree.put(&format!("{topology}/core_id"), "0");
    }
    for (number, mask) in [(0, "33"), (1, "000000cc")] {
        tree.drop(&format!("sys/devices/system/node/node{number}/cpulist"));
        tree.put(&format!("sys/devices/system/node/node{number}/cpumap"), mask);
    }
    assert_eq!(cores(&tree.topology()), ["d0 s0: 0 4", "d0 s0: 1 5", "d1 s1: 2 6", "d1 s1: 3 7"]);
}

#[test]
fn recorded_files_may_be_padded_with_zeros() {
    let tree = Tree::two_sockets();
    tree.put("sys/devices/system/cpu/online", "0-7\n\0\0\0\0");
    assert_eq!(tree.topology().cores.len(), 4);
}

#[test]
fn firmware_that_knows_no_socket_says_so() {
    let tree = Tree::two_sockets();
    tree.put("sys/devices/system/cpu/cpu0/topology/physical_package_id", "-1");
    assert_eq!(cores(&tree.topology())[0], "d0 s?: 0 4");
}

#[test]
fn siblings_that_contradict_each_other_are_refused() {
    let tree = Tree::two_sockets();
    tree.put("sys/devices/system/cpu/cpu1/topology/core_cpus_list", "0-1");
    let expected = "read sys/devices/system/cpu/cpu1/topology: the set of siblings 0-1 is not \
                    a set with this thread and none of another core's";
    assert_eq!(tree.error(), expected);
    tree.put("sys/devices/system/cpu/cpu1/topology/core_cpus_list", "2");
    assert!(tree.error().contains("the set of siblings 2 is not"));
}

#[test]
fn a_bad_file_is_named_with_what_was_expected() {
    for (name, text, expected) in [
        ("cpu/online", "0-", "it says `0-`, and should be a list of numbers such as 0-3,8"),
        ("cpu/online", "0-70000", "it says `0-70000`, and should be a list of numbers"),
        ("cpu/online", "", "it says ``, and should be a thread at least"),
        ("cpu/cpu2/topology/core_id", "two", "it says `two`, and should be a whole number"),
        ("cpu/cpu1/cache/index3/level", "L3", "should be the level of a cache"),
        ("cpu/cpu1/cpu_capacity", "big", "should be a number above zero"),
        ("node/node1/cpulist", "2-3;6", "it says `2-3;6`, and should be a list of numbers"),
        ("node/node1/meminfo", "MemTotal: 1 MB", "should be a line MemTotal: NUMBER kB"),
        ("node/node1/meminfo", "MemTotal: 70368744177664 kB", "MemTotal: NUMBER kB"),
        ("node/node1/cpulist", "1-3,6-7", "thread 1, which domain 0 has, is not in one"),
    ] {
        let tree = Tree::two_sockets();
        tree.put(&format!("sys/devices/system/{name}"), text);
        let error = tree.error();
        assert!(error.contains(expected) && error.contains(name), "{name}: {error}");
    }
    for name in ["cpu/online", "node/node1/cpulist", "node/node1/meminfo"] {
        let tree = Tree::two_sockets();
        tree.drop(&format!("sys/devices/system/{name}"));
        let error = tree.error();
        assert!(
            error.starts_with(&format!("read sys/devices/system/{name}: it is not")),
            "{error}"
        );
    }
    let tree = Tree::two_sockets();
    tree.put("sys/devices/system/cpu/online", &" ".repeat((4 << 20) + 1));
    assert!(tree.error().ends_with("cpu/online: there is more than 4194304 bytes of it"));
}

#[test]
fn what_a_picture_can_do_without_is_a_gap_with_a_count() {
    let tree = Tree::two_sockets();
    for thread in 0..8 {
        tree.drop(&format!("sys/devices/system/cpu/cpu{thread}/topology"));
        tree.drop(&format!("sys/devices/system/cpu/cpu{thread}/cache"));
    }
    assert_eq!(tree.topology().cores.len(), 8, "each thread is taken for a core");
    let gaps = tree.gaps();
    let siblings = "failed to read sys/devices/system/cpu/cpu0/topology/core_cpus_list: it is \
                    not there, and should be the threads of its core (and 7 more); the thread is \
                    taken for a core of its own";
    assert!(gaps.contains(&siblings.to_owned()), "{gaps:?}");
    assert_eq!(gaps.len(), 4, "siblings, caches, core_id, physical_package_id: {gaps:?}");
}

#[test]
fn a_model_of_cores_is_read_as_each_maker_writes_it() {
    let tree = Tree::two_sockets();
    tree.put("proc/cpuinfo", "processor\t: 0\ncpu\t\t: POWER9, altivec supported\n");
    assert_eq!(tree.topology().model, "POWER9");
    tree.put("proc/cpuinfo", "processor\t: 0\nCPU part\t: 0xd40\n");
    assert_eq!(tree.topology().model, "");
    assert!(tree.gaps()[0].ends_with("; the model of the cores is not known"));
}

fn kinds(topology: &Topology) -> String {
    let letter = |core: &Core| if core.kind == CoreKind::Efficient { 'e' } else { 'P' };
    topology.cores.iter().map(letter).collect()
}

fn put_each(tree: &Tree, file: &str, values: [u32; 4]) {
    for thread in 0..8 {
        let name = format!("sys/devices/system/cpu/cpu{thread}/{file}");
        tree.put(&name, &values[thread % 4].to_string());
    }
}

#[test]
fn kinds_of_cores_are_told_by_the_first_file_that_tells_them_apart() {
    let tree = Tree::two_sockets();
    let told = || {
        let topology = tree.topology();
        (kinds(&topology), topology.kinds)
    };
    assert_eq!(told(), ("PPPP".to_owned(), KindSource::Capacity));
    put_each(&tree, "cpufreq/cpuinfo_max_freq", [5_200_000, 5_000_000, 3_900_000, 3_900_000]);
    assert_eq!(told(), ("PPee".to_owned(), KindSource::Clock));
    put_each(&tree, "acpi_cppc/highest_perf", [67, 64, 64, 39]);
    assert_eq!(told(), ("PPPe".to_owned(), KindSource::Firmware));
    put_each(&tree, "cpu_capacity", [446, 446, 446, 1024]);
    assert_eq!(told(), ("eeeP".to_owned(), KindSource::Capacity));
    let strengths: Vec<_> = tree.topology().cores.iter().map(|core| core.strength).collect();
    assert_eq!(strengths[2..], [Some(fleet::Milli(435)), Some(fleet::Milli(1000))]);
    tree.put("sys/devices/cpu_core/cpus", "0-1,4-5");
    tree.put("sys/devices/cpu_atom/cpus", "2,6");
    tree.put("sys/devices/cpu_lowpower/cpus", "3,7");
    assert_eq!(told(), ("PPee".to_owned(), KindSource::Lists));
}

#[test]
fn where_nobody_tells_cores_apart_there_is_a_gap() {
    let tree = Tree::two_sockets();
    put_each(&tree, "cpu_capacity", [0; 4]);
    assert_eq!((kinds(&tree.topology()), tree.topology().kinds), ("PPPP".into(), KindSource::None));
    assert!(
        tree.gaps()[0].ends_with("; all cores are taken to be of one kind"),
        "{:?}",
        tree.gaps()
    );
}

#[cfg(target_os = "linux")]
#[test]
fn the_system_of_this_test_is_read() {
    let topology = Topology::read(&Root::live()).unwrap();
    let usable = topology.threads().filter(|(_, _, thread)| thread.is_usable).count();
    let parallel = std::thread::available_parallelism().unwrap().get();
    // The standard library counts a quota of processor time too.
    assert!(usable >= parallel, "{usable} threads, and {parallel} by the library");
    assert!(topology.confines.cores.is_some() || usable == parallel);
}
