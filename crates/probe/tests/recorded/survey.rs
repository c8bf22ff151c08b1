//! The node that is made of what was found.

use fleet::{Bytes, DeviceIndex, MemoryKind, MilliCores};
use probe::devices::{Device, Vendor};
use probe::{Survey, Topology};

use crate::tree::Tree;

fn survey(tree: &Tree, devices: Vec<Device>) -> Survey {
    Survey::new("here", &tree.topology(), devices).unwrap()
}

fn device(model: &str, domain: Option<u32>, gib: Option<u64>) -> Device {
    Device {
        model: model.to_owned(),
        vendor: Vendor::Nvidia,
        address: "0000:18:00.0".to_owned(),
        uuid: None,
        memory: gib.map(|gib| Bytes(gib << 30)),
        domain,
    }
}

/// Cores, GiB and devices of each domain.
fn inside(survey: &Survey) -> Vec<(u64, u64, Vec<u16>)> {
    let topology = survey.node.topology.as_deref().unwrap();
    assert_eq!(topology.fault(&survey.node), None, "a snapshot takes it");
    let numbers = |devices: &[DeviceIndex]| devices.iter().map(|one| one.0).collect();
    let domains = topology.domains.iter();
    domains.map(|one| (one.cores.0, one.memory.0 >> 30, numbers(&one.devices))).collect()
}

#[test]
fn a_core_is_a_physical_core_with_a_usable_thread() {
    let tree = Tree::two_sockets();
    let whole = survey(&tree, vec![]);
    assert_eq!((whole.node.cores, whole.node.memory), (MilliCores(4000), Bytes(32 << 30)));
    assert_eq!(inside(&whole), [(2000, 16, vec![]), (2000, 16, vec![])]);
    assert_eq!(whole.node.topology.as_deref().unwrap().distances, [[10, 21], [21, 10]]);
    assert_eq!(whole.classes.get(whole.node.cpu).model, "Some-Model-9");
    // One thread of core 0 and both of core 1: two cores all the same.
    tree.put("proc/self/status", "Cpus_allowed_list:\t1,4-5\n");
    let narrow = survey(&tree, vec![]);
    assert_eq!(inside(&narrow), [(2000, 16, vec![]), (0, 16, vec![])]);
    assert_eq!(narrow.node.cores, MilliCores(2000));
}

#[test]
fn domains_of_which_nothing_may_be_used_are_left_out() {
    let tree = Tree::two_sockets();
    tree.put("proc/self/status", "Cpus_allowed_list:\t2-3\nMems_allowed_list:\t1\n");
    let survey = survey(&tree, vec![device("A2", Some(1), None), device("A2", Some(0), None)]);
    assert_eq!(inside(&survey), [(2000, 16, vec![0])]);
    assert_eq!(survey.domains, [1]);
    assert_eq!(survey.node.topology.as_deref().unwrap().distances, [[10]]);
    tree.put("proc/self/status", "Cpus_allowed_list:\t2-3\nMems_allowed_list:\t0\n");
    let apart = Survey::new("here", &tree.topology(), vec![]).unwrap();
    assert_eq!(inside(&apart), [(0, 16, vec![]), (2000, 0, vec![])]);
}

#[test]
fn limits_of_the_control_group_narrow_all_domains_in_proportion() {
    let tree = Tree::two_sockets();
    tree.put("proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
    tree.put("sys/fs/cgroup/memory.max", &(8_u64 << 30).to_string());
    tree.put("sys/fs/cgroup/cpu.max", "150000 100000");
    assert_eq!(inside(&survey(&tree, vec![])), [(750, 4, vec![]), (750, 4, vec![])]);
    tree.put("sys/fs/cgroup/memory.max", &(64_u64 << 30).to_string());
    tree.put("sys/fs/cgroup/cpu.max", "max 100000");
    assert_eq!(inside(&survey(&tree, vec![])), [(2000, 16, vec![]), (2000, 16, vec![])]);
    tree.put("sys/fs/cgroup/memory.max", "0");
    let error = Survey::new("here", &tree.topology(), vec![]).unwrap_err().to_string();
    assert_eq!(error, "describe this node: there is no memory that this process may use");
}

#[test]
fn a_process_without_a_core_that_is_online_is_told_so() {
    let tree = Tree::two_sockets();
    tree.put("proc/self/status", "Cpus_allowed_list:\t9\n");
    let error = Survey::new("here", &tree.topology(), vec![]).unwrap_err().to_string();
    assert_eq!(error, "describe this node: there is no core that this process may use");
}

#[test]
fn devices_of_one_model_are_a_class_with_the_least_memory() {
    let tree = Tree::two_sockets();
    let devices = vec![
        device("A2", Some(1), Some(16)),
        device("A2", Some(9), Some(15)),
        device("ZZ", None, Some(80)),
    ];
    let survey = survey(&tree, devices);
    let models: Vec<_> = survey.classes.0.iter().map(|class| class.model.as_str()).collect();
    assert_eq!(models, ["A2", "Some-Model-9", "ZZ"]);
    let class = |device: usize| survey.classes.get(survey.node.devices[device]);
    assert_eq!((class(0).memory, class(2).memory), (Bytes(15 << 30), Bytes(80 << 30)));
    assert_eq!(class(0), class(1));
    assert_eq!(inside(&survey)[1].2, [0]);
}

#[test]
fn memory_that_lasts_is_taken_last_and_memory_of_a_device_never() {
    let tree = Tree::two_sockets();
    tree.domain(0, "0-1,4-5", 16, "10 21 80 80");
    tree.domain(1, "2-3,6-7", 16, "21 10 80 80");
    tree.domain(4, "", 4, "80 80 10 80");
    tree.domain(255, "", 15, "80 80 80 10");
    let lasting = "sys/devices/ndbus0/region0/dax0.0";
    tree.put(&format!("{lasting}/target_node"), "4");
    tree.link("sys/bus/dax/devices/dax0.0", "../../../devices/ndbus0/region0/dax0.0");
    tree.put("proc/driver/nvidia/gpus/0004:05:00.0/numa_status", "Node: 255\n");
    let survey = survey(&tree, vec![]);
    assert_eq!(survey.domains, [0, 1, 4]);
    let topology = survey.node.topology.as_deref().unwrap();
    assert_eq!(topology.domains[2].kind, MemoryKind::Cxl);
    assert_eq!(topology.distances, [[10, 21, 80], [21, 10, 80], [80, 80, 10]]);
}

#[test]
fn what_cannot_be_reached_is_as_far_as_a_fleet_goes() {
    let tree = Tree::two_sockets();
    tree.put("sys/devices/system/node/node0/distance", "10 255");
    let survey = survey(&tree, vec![]);
    assert_eq!(survey.node.topology.as_deref().unwrap().distances, [[10, 254], [21, 10]]);
}

#[test]
fn more_domains_or_devices_than_a_node_can_have_are_refused() {
    let tree = Tree::two_sockets();
    let error = |topology: &Topology, devices: usize| {
        let devices = vec![device("A2", None, None); devices];
        Survey::new("here", topology, devices).unwrap_err().to_string()
    };
    let expected = "describe this node: it has 1025 devices, and can have 1024";
    assert_eq!(error(&tree.topology(), 1025), expected);
    for number in 2..257 {
        tree.domain(number, "", 1, "10");
    }
    let expected = "describe this node: it has 257 memory domains, and can have 256";
    assert_eq!(error(&tree.topology(), 0), expected);
}
