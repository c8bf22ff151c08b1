//! Memory domains: sparse, without cores, of a device, of other kinds.

use fleet::{Bandwidth, Bytes};
use probe::{DomainKind, Topology};

use crate::tree::{Tree, cores};

/// Number, GiB and kind of each domain.
fn domains(topology: &Topology) -> Vec<(u32, u64, DomainKind)> {
    let domains = topology.domains.iter();
    domains.map(|domain| (domain.number, domain.memory.0 >> 30, domain.kind)).collect()
}

fn speed(tree: &Tree, number: u32, class: &str, megabytes: u32) {
    let folder = format!("sys/devices/system/node/node{number}/{class}/initiators");
    tree.put(&format!("{folder}/read_bandwidth"), &megabytes.to_string());
    tree.put(&format!("{folder}/read_latency"), "90");
}

/// Two sockets, and a domain 250 without cores.
fn sparse() -> Tree {
    let tree = Tree::two_sockets();
    tree.domain(0, "0-1,4-5", 16, "10 21 80");
    tree.domain(1, "2-3,6-7", 16, "21 10 80");
    tree.domain(250, "", 4, "80 80 10");
    tree.put("sys/devices/system/node/possible", "0-255");
    tree
}

#[test]
fn sparse_domains_without_cores_are_domains() {
    let tree = sparse();
    let topology = tree.topology();
    let dram = DomainKind::Dram;
    assert_eq!(domains(&topology), [(0, 16, dram), (1, 16, dram), (250, 4, dram)]);
    assert_eq!(topology.distances, [[10, 21, 80], [21, 10, 80], [80, 80, 10]]);
    assert_eq!(topology.position(250), Some(2));
    assert_eq!(topology.position(2), None);
    assert!(tree.gaps()[0].ends_with("; its memory is taken for ordinary memory"));
}

#[test]
fn threads_that_a_domain_lists_and_are_not_online_are_left_out() {
    let tree = Tree::two_sockets();
    tree.put("sys/devices/system/node/node1/cpulist", "2-3,6-87");
    assert_eq!(cores(&tree.topology())[2..], ["d1 s1: 2 6", "d1 s1: 3 7"]);
}

#[test]
fn memory_of_a_device_belongs_to_the_device() {
    let tree = sparse();
    let status = "Node:      250\nStatus:    online\nSize:      100000000\n";
    tree.put("proc/driver/nvidia/gpus/0004:05:00.0/numa_status", status);
    let domain = &tree.topology().domains[2];
    assert_eq!((domain.kind, domain.is_usable), (DomainKind::Device, false));
    assert_eq!(tree.gaps(), [""; 0]);
    tree.put("proc/driver/nvidia/gpus/0004:05:00.0/numa_status", "Node: -1\n");
    assert!(tree.topology().domains[2].is_usable);
    tree.put("proc/driver/nvidia/gpus/0004:05:00.0/numa_status", "Node: none\n");
    assert!(tree.error().contains("numa_status: it says `Node: none`"));
}

#[test]
fn memory_is_known_by_who_brought_it() {
    let tree = sparse();
    tree.put("sys/devices/x/target_node", "250");
    for (bus, kind) in [
        ("platform/hmem.0", DomainKind::Dram),
        ("LNXSYSTM:00/ACPI0012:00/ndbus0/region5", DomainKind::Persistent),
        ("platform/ACPI0017:00/root0/decoder0.0/region0", DomainKind::Cxl),
    ] {
        tree.put(&format!("sys/devices/{bus}/dax0.0/target_node"), "250");
        tree.link("sys/bus/dax/devices/dax0.0", &format!("../../../devices/{bus}/dax0.0"));
        assert_eq!(domains(&tree.topology())[2].2, kind, "{bus}");
        tree.drop("sys/bus/dax/devices/dax0.0");
    }
}

#[test]
fn fast_memory_without_cores_is_stacked() {
    let tree = sparse();
    speed(&tree, 0, "access0", 200_000);
    speed(&tree, 1, "access0", 200_000);
    speed(&tree, 250, "access0", 399_999);
    assert_eq!(domains(&tree.topology())[2].2, DomainKind::Dram);
    speed(&tree, 250, "access0", 400_000);
    let topology = tree.topology();
    assert_eq!(domains(&topology)[2].2, DomainKind::Hbm);
    assert_eq!(topology.domains[2].bandwidth, Bandwidth(400_000_000_000));
    assert_eq!(topology.domains[2].latency_nanos, 90);
    // What the nearest cores see goes before what the nearest device sees.
    speed(&tree, 250, "access1", 1000);
    assert_eq!(domains(&tree.topology())[2].2, DomainKind::Dram);
}

#[test]
fn distances_that_make_no_sense_are_a_gap() {
    for wrong in ["10", "10 21 21", "11 21", "10 9", "10 x", "21 10"] {
        let tree = Tree::two_sockets();
        tree.put("sys/devices/system/node/node0/distance", wrong);
        assert!(tree.topology().distances.is_empty(), "{wrong}");
        assert!(tree.gaps()[0].contains("node0/distance: it says"), "{wrong}");
    }
}

#[test]
fn a_system_without_domains_is_one_and_says_so() {
    let tree = Tree::two_sockets();
    tree.drop("sys/devices/system/node");
    assert_eq!(
        tree.error(),
        "read proc/meminfo: it is not there, and should be a line MemTotal: \
                              NUMBER kB"
    );
    tree.put("proc/meminfo", "MemTotal:       33554432 kB\nMemFree: 1 kB\n");
    let topology = tree.topology();
    assert_eq!(topology.domains[0].memory, Bytes(32 << 30));
    assert!(topology.cores.iter().all(|core| core.domain == 0));
    assert!(tree.gaps()[0].ends_with("; all cores and all memory are taken for one domain"));
}

#[test]
fn a_thread_in_no_domain_is_a_gap() {
    let tree = Tree::two_sockets();
    tree.put("sys/devices/system/node/node1/cpulist", "3,6-7");
    assert_eq!(cores(&tree.topology())[2], "d0 s1: 2 6");
    assert!(tree.gaps()[0].contains("thread 2 is not in any memory domain"), "{:?}", tree.gaps());
}
