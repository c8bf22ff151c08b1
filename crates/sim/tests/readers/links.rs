//! Links between devices, and jobs that use them.

use std::sync::Arc;

use fleet::{Bandwidth, Bytes, Communication, DeviceIndex, Link, Pattern, Topology};
use sim::read::{Options, inventory_from, workload_from};

const FLEET: &str = r#"
format = 1
[device.V100]
kind = "gpu"
[device.Xeon]
kind = "cpu"
[[node]]
name = "n"
cpu = "Xeon"
cores = 8
memory = "64GiB"
devices = { V100 = 4 }
host_bandwidth = "12GB/s"
links = [{ between = [0, 1], bandwidth = "50GB/s" }, { between = [3, 2], bandwidth = "200Gbit/s" }]
"#;

const JOBS: &str = r#"
format = 1
[[job]]
name = "train"
[[job.alternative]]
device = { kind = "gpu", count = 4 }
communication = { pattern = "ring", bytes = "100MB" }
"#;

fn links(text: &str) -> Result<Option<Arc<Topology>>, String> {
    let read = inventory_from(text.as_bytes(), "fleet", &Options::default());
    Ok(read.map_err(|error| error.to_string())?.value.nodes[0].topology.clone())
}

fn communication(text: &str) -> Result<Option<Communication>, String> {
    let inventory = inventory_from(FLEET.as_bytes(), "fleet", &Options::default()).unwrap().value;
    let read = workload_from(text.as_bytes(), "jobs", &inventory, &Options::default());
    Ok(read.map_err(|error| error.to_string())?.value.jobs[0].alternatives[0].communication)
}

#[test]
fn links_and_communication_become_what_they_say() {
    let link = |one, other, giga: u64| Link {
        ends: (DeviceIndex(one), DeviceIndex(other)),
        bandwidth: Bandwidth(giga * 1_000_000_000),
    };
    let expected = Topology {
        links: vec![link(0, 1, 50), link(2, 3, 25)],
        host: Bandwidth(12_000_000_000),
        ..Topology::default()
    };
    assert_eq!(links(FLEET), Ok(Some(Arc::new(expected))));
    let expected = Communication { pattern: Pattern::Ring, bytes: Bytes(100_000_000) };
    assert_eq!(communication(JOBS), Ok(Some(expected)));
}

#[test]
fn wrong_links_are_refused_with_field_and_remedy() {
    for (old, new, expected) in [
        ("[0, 1]", "[0, 4]", "`links[0].between`: is 4; give the number of a device"),
        ("[0, 1]", "[1, 1]", "`links[0].between`: is #1 twice; give two different devices"),
        ("[0, 1]", "[0]", "`links[0].between`: is 1 numbers; give the numbers of two"),
        ("[3, 2]", "[1, 0]", "`links[1].between`: has no effect here: these two devices have a"),
        ("\"50GB/s\"", "\"0GB/s\"", "`links[0].bandwidth`: is 0B/s; give a bandwidth above"),
        ("\"50GB/s\"", "50", "`links[0].bandwidth`: bandwidth \"50\" has no unit"),
        ("\"50GB/s\"", "nan", "`links[0].bandwidth`: bandwidth \"NaN\" is not a plain decimal"),
        (", bandwidth = \"50GB/s\"", "", "`links[0].bandwidth`: is missing; give what passes"),
        ("host_bandwidth = \"12GB/s\"", "", "`host_bandwidth`: is missing; give what devices"),
        ("\"12GB/s\"", "\"0B/s\"", "`host_bandwidth`: is 0B/s; give a bandwidth above zero"),
    ] {
        assert!(FLEET.contains(old), "{old}");
        let found = links(&FLEET.replacen(old, new, 1)).unwrap_err();
        assert!(found.contains(expected), "{new}: {found}");
    }
}

#[test]
fn wrong_communication_is_refused_with_field_and_remedy() {
    for (old, new, expected) in [
        ("\"ring\"", "\"star\"", "give ring, tree, all-to-all, pipeline, neighbour or"),
        ("pattern = \"ring\", ", "", "communication.pattern`: is missing; say who sends to whom"),
        (", bytes = \"100MB\"", "", "communication.bytes`: is missing; give what each member"),
        ("\"100MB\"", "-1", "communication.bytes`: size \"-1\" is negative"),
        ("\"ring\"", "\"ring\", hops = 2", "hops"),
    ] {
        let found = communication(&JOBS.replacen(old, new, 1)).unwrap_err();
        assert!(found.contains(expected), "{new}: {found}");
    }
}
