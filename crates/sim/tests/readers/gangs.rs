//! Gangs, and the network that they are spread over.

use std::sync::Arc;

use fleet::{Attachment, Bandwidth, Gang, Uplink};
use sim::read::{Options, inventory_from, workload_from};

const FLEET: &str = r#"
format = 1
[device.Xeon]
kind = "cpu"
[switch.rack-1]
uplink = "40Gbit/s"
parent = "spine"
[switch.spine]
[[node]]
name = "n"
cpu = "Xeon"
cores = 8
memory = "64GiB"
interface = "10Gbit/s"
switch = "rack-1"
"#;

const JOBS: &str = r#"
format = 1
[[job]]
name = "mpi"
tasks = 8
gang = true
tasks_per_node = 4
switches = 2
[[job.alternative]]
cores = 1
"#;

fn attachment(text: &str) -> Result<Option<Arc<Attachment>>, String> {
    let read = inventory_from(text.as_bytes(), "fleet", &Options::default());
    Ok(read.map_err(|error| error.to_string())?.value.nodes[0].attachment.clone())
}

fn gang(text: &str) -> Result<Option<Gang>, String> {
    let inventory = inventory_from(FLEET.as_bytes(), "fleet", &Options::default()).unwrap().value;
    let read = workload_from(text.as_bytes(), "jobs", &inventory, &Options::default());
    Ok(read.map_err(|error| error.to_string())?.value.jobs[0].gang)
}

#[test]
fn network_and_gang_become_what_they_say() {
    let uplink = |switch: &str, bandwidth| Uplink { switch: switch.to_owned(), bandwidth };
    let expected = Attachment {
        interface: Some(Bandwidth(1_250_000_000)),
        switches: vec![uplink("rack-1", Some(Bandwidth(5_000_000_000))), uplink("spine", None)],
    };
    assert_eq!(attachment(FLEET), Ok(Some(Arc::new(expected))));
    let expected = Gang { tasks_per_node: Some(4), switches: Some(2) };
    assert_eq!(gang(JOBS), Ok(Some(expected)));
    let alone = JOBS.replace("gang = true\ntasks_per_node = 4\nswitches = 2", "gang = false");
    assert_eq!(gang(&alone), Ok(None));
}

#[test]
fn wrong_networks_are_refused_with_field_and_remedy() {
    for (old, new, expected) in [
        ("switch = \"rack-1\"", "switch = \"rack-2\"", "`switch`: the switch \"rack-2\" is not"),
        ("\"spine\"", "\"spin\"", "parent`: the switch \"spin\" is not described; add [switch"),
        ("[switch.spine]", "[switch.spine]\nparent = \"rack-1\"", "is above itself; give the"),
        ("\"40Gbit/s\"", "\"0GB/s\"", "uplink`: is 0B/s; give a bandwidth above zero, or leave"),
        ("\"10Gbit/s\"", "\"-1GB/s\"", "`interface`: bandwidth \"-1GB/s\" is negative"),
        ("uplink =", "up_link =", "up_link"),
    ] {
        assert!(FLEET.contains(old), "{old}");
        let found = attachment(&FLEET.replacen(old, new, 1)).unwrap_err();
        assert!(found.contains(expected), "{new}: {found}");
    }
}

#[test]
fn wrong_gangs_are_refused_with_field_and_remedy() {
    for (old, new, expected) in [
        ("gang = true", "gang = \"yes\"", "`gang`: is \"yes\", but must be true or false"),
        (
            "gang = true",
            "gang = false",
            "`tasks_per_node`: has no effect here: only the tasks of a",
        ),
        ("gang = true\ntasks_per_node = 4", "", "`switches`: has no effect here: only the tasks"),
        ("switches = 2", "switches = 0", "`switches`: is 0; give a whole number from 1"),
        ("per_node = 4", "per_node = 1.5", "`tasks_per_node`: is 1.5"),
    ] {
        let found = gang(&JOBS.replacen(old, new, 1)).unwrap_err();
        assert!(found.contains(expected), "{new}: {found}");
    }
}
