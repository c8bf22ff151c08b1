//! What a task gets: cores, devices, an environment, and nothing of the keeper's.

use std::sync::Arc;

use fleet::{
    Bytes, DeviceGrant, DeviceIndex, Domain, DomainGrant, DomainIndex, Grant, Milli, MilliCores,
    Node, Output, RunState, Topology,
};

use crate::place::{Place, one_core, own_cpus, place, place_with, run, shell};

/// What a shell prints that runs with this grant.
fn printed(place: &mut Place, text: &str, grant: Grant) -> String {
    let mut program = shell(text);
    let path = place.file("printed-%j-%t-%%").to_str().unwrap().to_owned();
    program.output = Output::Files(path, None);
    place.start_with(run(7), program, grant);
    assert!(matches!(place.end_of(run(7)), RunState::Done(_)));
    place.text_of("printed-7-0-%")
}

#[test]
fn a_task_is_pinned_to_the_cores_that_it_was_granted() {
    let mut place = place();
    let list = printed(&mut place, "grep Cpus_allowed_list: /proc/self/status", one_core());
    assert_eq!(list.split_whitespace().nth(1).unwrap(), own_cpus()[0].to_string());
}

#[test]
fn a_task_is_told_who_it_is_and_which_devices_it_may_use() {
    let mut place = place();
    let device =
        DeviceGrant { device: DeviceIndex(1), share: Milli::WHOLE, ..DeviceGrant::default() };
    let cores = MilliCores(1_500);
    let grant = Grant { cores, devices: vec![device], ..Grant::default() };
    let environment = printed(&mut place, "env", grant);
    for line in [
        "MOTLEY_JOB_ID=7",
        "MOTLEY_TASK_INDEX=0",
        "MOTLEY_ATTEMPT=0",
        "OMP_NUM_THREADS=2",
        "CUDA_VISIBLE_DEVICES=GPU-7",
        "CUDA_DEVICE_ORDER=PCI_BUS_ID",
        "PATH=/usr/bin:/bin",
    ] {
        assert!(environment.lines().any(|one| one == line), "{line} in {environment}");
    }
}

#[test]
fn a_task_without_devices_sees_none() {
    let mut place = place();
    let environment = printed(&mut place, "env", Grant::default());
    assert!(environment.lines().any(|line| line == "CUDA_VISIBLE_DEVICES="));
}

#[test]
fn a_task_has_three_streams_and_nothing_else() {
    let mut place = place();
    let text =
        "for one in 0 1 2 3 4 5 6 7 8 9; do ( : <&$one ) 2>/dev/null && echo $one; done; true";
    let open = printed(&mut place, text, one_core());
    assert_eq!(open, "0\n1\n2\n");
}

#[test]
fn a_task_begins_with_no_signal_blocked_or_ignored() {
    let mut place = place();
    let masks = printed(&mut place, "exec grep -E 'SigBlk|SigIgn' /proc/self/status", one_core());
    for line in masks.lines() {
        assert_eq!(line.split_whitespace().nth(1).unwrap(), "0000000000000000", "{masks}");
    }
}

#[test]
fn a_task_may_open_as_many_files_as_whoever_started_the_keeper() {
    let mut place = place();
    let limits = printed(&mut place, "grep 'Max open files' /proc/self/limits", one_core());
    let own = std::fs::read_to_string("/proc/self/limits").unwrap();
    assert!(own.contains(&limits), "{limits}");
    let keeper = place.keeper().as_raw_nonzero();
    let keepers = std::fs::read_to_string(format!("/proc/{keeper}/limits")).unwrap();
    let keepers = keepers.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let words: Vec<_> = keepers.split_whitespace().collect();
    assert_eq!(words[3], words[4], "the keeper takes all it can");
}

#[test]
fn the_memory_of_a_task_is_of_the_domains_that_it_was_granted() {
    let domain = Domain { cores: MilliCores(2_000), memory: Bytes(4 << 30), ..Domain::default() };
    let topology = Topology { domains: vec![domain; 2], ..Topology::default() };
    let mut place = place_with(|settings| {
        let node = settings.machine.node.as_ref().clone();
        settings.machine.node = Arc::new(Node { topology: Some(Arc::new(topology)), ..node });
        // Two names for the one node that every machine has.
        settings.machine.memory_nodes = vec![0, 0];
        for (index, core) in settings.machine.cores.iter_mut().enumerate() {
            core.domain = Some(DomainIndex(u16::from(index >= 2)));
        }
    });
    let (cores, memory) = (MilliCores(1_000), Bytes(1 << 30));
    let held = DomainGrant { domain: DomainIndex(1), cores, memory, ..DomainGrant::default() };
    let grant = Grant { cores, memory, domains: vec![held], ..Grant::default() };
    let text = "exec cat /proc/self/numa_maps";
    if !std::path::Path::new("/proc/self/numa_maps").exists() {
        eprintln!("skipped: this system does not say where memory is");
        return;
    }
    let maps = printed(&mut place, text, grant);
    assert!(maps.lines().any(|line| line.contains(" bind:0 ")), "{maps}");
}

#[test]
fn two_streams_may_go_into_two_files() {
    let mut place = place();
    let mut program = shell("echo to one; echo to two >&2");
    program.directory = place.folder.path().to_str().unwrap().to_owned();
    program.output = Output::Files("one".to_owned(), Some("two".to_owned()));
    place.start(run(1), program);
    assert!(matches!(place.end_of(run(1)), RunState::Done(_)));
    assert_eq!(
        (place.text_of("one"), place.text_of("two")),
        ("to one\n".into(), "to two\n".into())
    );
}
