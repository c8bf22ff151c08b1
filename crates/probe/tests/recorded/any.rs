//! Any text in any file: it is read or refused, and what is read makes a node that can be used.

use probe::devices::nvidia_smi::cards;
use probe::{Gaps, Survey, Topology, devices};
use proptest::prelude::*;

use crate::tree::Tree;

const FILES: [&str; 17] = [
    "sys/devices/system/cpu/online",
    "sys/devices/system/cpu/present",
    "sys/devices/system/cpu/cpu1/topology/core_cpus_list",
    "sys/devices/system/cpu/cpu1/topology/core_id",
    "sys/devices/system/cpu/cpu1/cache/index3/shared_cpu_list",
    "sys/devices/system/cpu/cpu1/cpu_capacity",
    "sys/devices/system/node/node1/cpulist",
    "sys/devices/system/node/node1/meminfo",
    "sys/devices/system/node/node1/distance",
    "proc/cpuinfo",
    "proc/self/status",
    "proc/self/cgroup",
    "proc/self/mountinfo",
    "sys/fs/cgroup/memory.max",
    "sys/fs/cgroup/cpu.max",
    "sys/fs/cgroup/cpuset.cpus.effective",
    "proc/driver/nvidia/gpus/0000:18:00.0/numa_status",
];

/// Bits of what the kernel writes, in any order.
fn text() -> impl Strategy<Value = String> {
    let words = [
        "0",
        "1-7",
        "2",
        ",",
        " ",
        "\n",
        ":",
        "-1",
        "10",
        "21",
        "255",
        "0::/",
        "../a",
        "max",
        "kB",
        "MemTotal:",
        "18446744073709551615",
        "Cpus_allowed_list:",
        "Node:",
        "Size:",
        "cpuset",
        " - ",
        "cgroup2",
        "/sys/fs/cgroup",
        "/",
        "x",
        "\0",
        "é",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..12)
        .prop_map(|words| words.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_in_a_file_is_read_or_refused(
        files in prop::collection::vec((prop::sample::select(FILES.to_vec()), text()), 1..3),
    ) {
        let tree = Tree::two_sockets();
        tree.put("proc/self/mountinfo", "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw");
        for (name, text) in &files {
            tree.put(name, text);
        }
        let found = devices::read(&tree.root(), None, &mut Gaps::default());
        if let Ok(topology) = Topology::read(&tree.root())
            && let Ok(survey) = Survey::new("node", &topology, found.unwrap_or_default())
        {
            let inside = survey.node.topology.as_deref().unwrap();
            prop_assert_eq!(inside.fault(&survey.node), None);
        }
    }

    #[test]
    fn any_answer_of_the_program_is_read_or_refused(text in text()) {
        if let Ok(cards) = cards(&text) {
            prop_assert!(cards.len() <= text.lines().count());
        }
    }
}
