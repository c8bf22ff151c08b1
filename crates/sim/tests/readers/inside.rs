//! What files say of the inside of nodes, and of what tasks move.

use fleet::{Bandwidth, Bytes, DeviceIndex, MemoryKind, Milli, MilliCores, Reach};

use crate::support::{FLEET, JOBS, check, jobs_with, read_fleet, read_jobs, with_line};

/// The fleet of the other tests, with two sockets.
fn two_sockets() -> String {
    format!(
        "{FLEET}
[node.topology]
distances = [[10, 21], [22, 10]]
[[node.topology.domain]]
cores = 48
memory = \"384GiB\"
devices = [1, 0]
bandwidth = \"200GB/s\"
latency_nanos = 90
[[node.topology.domain]]
cores = 16
memory = \"128GiB\"
kind = \"hbm\"
"
    )
}

#[test]
fn a_topology_becomes_domains_and_distances() {
    let fleet = read_fleet(&two_sockets()).unwrap().value;
    let topology = fleet.nodes[0].topology.as_ref().unwrap();
    let [one, other] = &topology.domains[..] else { panic!("two domains") };
    assert_eq!((one.cores, one.memory), (MilliCores(48_000), Bytes(384 << 30)));
    assert_eq!(one.devices, [DeviceIndex(0), DeviceIndex(1)]);
    assert_eq!((one.kind, other.kind), (MemoryKind::Dram, MemoryKind::Hbm));
    assert_eq!((one.bandwidth, one.latency_nanos), (Bandwidth(200_000_000_000), 90));
    assert_eq!(topology.distances, [[10, 21], [22, 10]]);
}

/// The fleet of the other tests, with switches and NICs.
fn channels() -> String {
    format!(
        "{FLEET}
[[node.topology.pcie]]
generation = 4
width = 16
[[node.topology.pcie]]
devices = [0]
above = 0
bandwidth = \"20GB/s\"
[[node.topology.nic]]
bandwidth = \"100Gbit/s\"
[[node.topology.domain]]
cores = 64
memory = \"512GiB\"
"
    )
}

#[test]
fn switches_and_nics_become_channels_and_each_field_counts() {
    let base = read_fleet(&channels()).unwrap().value;
    let topology = base.nodes[0].topology.as_ref().unwrap();
    let passes: Vec<u64> = topology.pcie.iter().map(|switch| switch.bandwidth.0).collect();
    assert_eq!(passes, [31_507_692_304, 20_000_000_000]);
    assert_eq!(
        (&topology.pcie[1].devices[..], topology.pcie[1].above),
        (&[DeviceIndex(0)][..], Some(0))
    );
    assert_eq!(
        (topology.nics[0].bandwidth, topology.nics[0].domain),
        (Bandwidth(12_500_000_000), None)
    );
    for (start, line) in [
        ("generation", "generation = 5"),
        ("width", "width = 8"),
        ("devices = [0]", "devices = [1]"),
        ("above", ""),
        ("bandwidth = \"20GB/s\"", "bandwidth = \"21GB/s\""),
        ("bandwidth = \"100Gbit/s\"", "bandwidth = \"200Gbit/s\""),
        ("bandwidth = \"100Gbit/s\"", "bandwidth = \"100Gbit/s\"\ndomain = 0"),
    ] {
        let other = read_fleet(&with_line(&channels(), start, line)).unwrap().value;
        assert_ne!(base, other, "{line} for {start}");
    }
}

#[test]
fn a_wrong_channel_is_refused_with_line_field_and_remedy() {
    check(
        &channels(),
        read_fleet,
        &[
            (
                "generation",
                "generation = 7",
                "read fleet, line 22, `topology.pcie[0].generation`: is 7; give a PCIe generation from 1 to 6",
            ),
            (
                "width",
                "width = 3",
                "read fleet, line 23, `topology.pcie[0].width`: is 3; give a number of lanes: 1, 2, 4, 8, 12, 16 or 32",
            ),
            (
                "width",
                "",
                "read fleet, line 21, `topology.pcie[0].width`: is missing; give both generation and width, like generation = 4 and width = 16, or a bandwidth",
            ),
            (
                "width",
                "width = 16\nbandwidth = \"1GB/s\"",
                "read fleet, line 24, `topology.pcie[0].bandwidth`: has no effect here: generation and width say what passes; leave it out",
            ),
            (
                "devices = [0]",
                "devices = [2]",
                "read fleet, line 24, `topology.pcie[1]`: PCIe switch 1 has device 2, and the node has 2; correct one of the two",
            ),
            (
                "above",
                "above = 1",
                "read fleet, line 24, `topology.pcie[1]`: PCIe switch 1 is below 1, which does not come before it; correct one of the two",
            ),
            (
                "bandwidth = \"100Gbit/s\"",
                "",
                "read fleet, line 28, `topology.nic[0].bandwidth`: is missing; say what passes, like \"100Gbit/s\"",
            ),
            (
                "bandwidth = \"100Gbit/s\"",
                "bandwidth = \"100Gbit/s\"\ndomain = 1",
                "read fleet, line 28, `topology.nic[0]`: NIC 0 is at domain 1, and there are 1; correct one of the two",
            ),
        ],
    );
}

#[test]
fn each_field_of_a_topology_changes_what_is_read() {
    let text = two_sockets();
    let base = read_fleet(&text).unwrap().value;
    for (start, line) in [
        ("distances", ""),
        ("devices = [1", ""),
        ("bandwidth", ""),
        ("latency_nanos", ""),
        ("kind = \"hbm\"", "kind = \"cxl\""),
    ] {
        let other = read_fleet(&with_line(&text, start, line)).unwrap().value;
        assert_ne!(base, other, "{line} for {start}");
    }
    let moved = text.replace("48", "32").replace("cores = 16", "cores = 32");
    assert_ne!(base, read_fleet(&moved).unwrap().value);
    let moved = text.replace("384", "256").replace("128", "256");
    assert_ne!(base, read_fleet(&moved).unwrap().value);
}

const WRONG_TOPOLOGIES: &[(&str, &str, &str)] = &[
    (
        "cores = 48",
        "cores = 40",
        "read fleet, line 23, `topology.domain`: the domains have 56 cores together, and the node has 64; correct one of the two",
    ),
    (
        "memory = \"384GiB\"",
        "memory = \"384GB\"",
        "read fleet, line 23, `topology.domain`: the domains have 485.6Gi of memory together, and the node has 512Gi; correct one of the two",
    ),
    (
        "devices = [1",
        "devices = [2]",
        "read fleet, line 23, `topology.domain[0]`: domain 0 has device 2, and the node has 2; correct one of the two",
    ),
    (
        "devices = [1",
        "devices = [1, 1]",
        "read fleet, line 23, `topology.domain`: device 1 is attached twice; correct one of the two",
    ),
    (
        "devices = [1",
        "devices = [-1]",
        "read fleet, line 26, `topology.domain[0].devices[0]`: is -1; give the number of a device of the node, counted from 0",
    ),
    (
        "distances",
        "distances = [[10, 21]]",
        "read fleet, line 22, `topology.distances[1]`: there are 2 domains, and row 1 of the distances has 0 of them; correct one of the two",
    ),
    (
        "distances",
        "distances = [[10, 21, 21], [21, 10, 21]]",
        "read fleet, line 22, `topology.distances[0]`: there are 2 domains, and row 0 of the distances has 3 of them; correct one of the two",
    ),
    (
        "distances",
        "distances = [[10, 21], [21, 11]]",
        "read fleet, line 22, `topology.distances[1]`: the distance from domain 1 to domain 1 is 11; within a domain it is 10, else 10 to 254; correct one of the two",
    ),
    (
        "distances",
        "distances = [[10, 9], [21, 10]]",
        "read fleet, line 22, `topology.distances[0][1]`: is 9; give a whole number from 10 to 254",
    ),
    (
        "kind = \"hbm\"",
        "kind = \"ram\"",
        "read fleet, line 32, `topology.domain[1].kind`: is \"ram\"; use one of dram, hbm, cxl",
    ),
    (
        "bandwidth",
        "bandwidth = 200",
        "read fleet, line 27, `topology.domain[0].bandwidth`: bandwidth \"200\" has no unit; write it like 25GB/s or 100Gbit/s, with one of B/s kB/s KB/s KiB/s MB/s MiB/s GB/s GiB/s TB/s TiB/s Mbit/s Gbit/s Tbit/s",
    ),
    (
        "latency_nanos",
        "latency_nanos = 0",
        "read fleet, line 28, `topology.domain[0].latency_nanos`: is 0; give a whole number of nanoseconds from 1 to 4294967295",
    ),
];

#[test]
fn a_wrong_topology_is_refused_with_line_field_and_remedy() {
    check(&two_sockets(), read_fleet, WRONG_TOPOLOGIES);
}

#[test]
fn what_a_task_asks_of_the_inside_is_read() {
    let base = read_jobs(JOBS).unwrap().value;
    let single = read_jobs(&jobs_with("numa = \"single\"")).unwrap().value;
    assert_eq!(single.jobs[0].alternatives[0].request.reach, Reach::Single);
    assert_eq!(base, read_jobs(&jobs_with("numa = \"any\"")).unwrap().value);
    let moving = read_jobs(&jobs_with("memory_bandwidth = \"20GB/s\"")).unwrap().value;
    let request = &moving.jobs[0].alternatives[0].request;
    assert_eq!(request.traffic.memory, Bandwidth(20_000_000_000));
    let moving = read_jobs(&jobs_with("network_bandwidth = \"10Gbit/s\"")).unwrap().value;
    let request = &moving.jobs[0].alternatives[0].request;
    assert_eq!(request.traffic.network, Bandwidth(1_250_000_000));
    let staging = JOBS.replace("count = 1,", "count = 1, pcie_bandwidth = \"6GB/s\",");
    let staging = read_jobs(&staging).unwrap().value;
    let request = &staging.jobs[0].alternatives[0].request;
    assert_eq!(request.traffic.pcie, Bandwidth(6_000_000_000));
    let world = JOBS.replace("rate_error = 0.3", "rate_error = 0.3\nremote_memory = 2");
    assert_eq!(read_jobs(&world).unwrap().value.truth.remote_memory, Milli(2000));
    assert_eq!(base.truth.remote_memory, Milli::WHOLE);
}

#[test]
fn what_cannot_be_asked_of_the_inside_is_refused_with_line_field_and_remedy() {
    check(
        JOBS,
        read_jobs,
        &[
            (
                "labels",
                "numa = \"both\"",
                "read jobs, line 15, `alternative[0].numa`: is \"both\"; use one of any, single",
            ),
            (
                "labels",
                "memory_bandwidth = \"20GB\"",
                "read jobs, line 15, `alternative[0].memory_bandwidth`: bandwidth \"20GB\" has the unknown unit \"GB\"; use one of B/s kB/s KB/s KiB/s MB/s MiB/s GB/s GiB/s TB/s TiB/s Mbit/s Gbit/s Tbit/s",
            ),
            (
                "cores = 2.5",
                "cores = 2.5\nmemory_bandwidth = \"20GB/s\"",
                "read jobs, line 30, `alternative[0].memory_bandwidth`: has no effect here: what asks for no `memory` moves nothing from or to it; leave it out",
            ),
            (
                "rate_error",
                "remote_memory = 1001",
                "read jobs, line 31, `world.remote_memory`: is 1001; give a factor from 0 to 1000",
            ),
        ],
    );
}

#[test]
fn links_and_domains_of_a_node_are_read_into_one_topology() {
    let plain = read_fleet(&two_sockets()).unwrap().value;
    let wired = two_sockets()
        .replace("[node.topology]\n", "host_bandwidth = \"12GB/s\"\n[node.topology]\n");
    let wired = read_fleet(&wired).unwrap().value;
    let (plain, wired) = (&plain.nodes[0].topology, &wired.nodes[0].topology);
    let (plain, wired) = (plain.as_ref().unwrap(), wired.as_ref().unwrap());
    assert_eq!((plain.host, wired.host), (Bandwidth(0), Bandwidth(12_000_000_000)));
    assert_eq!(plain.domains, wired.domains);
}
