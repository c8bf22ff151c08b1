//! The snapshots of real systems that hwloc tests itself with, each against a row of a table.
//!
//! The rows were made from what hwloc 2.9.0 says of the same trees (`lstopo
//! --disallowed --of xml`, with the memory of GPUs kept): sockets, cores, threads,
//! level-3 caches, kinds, memory and what may be used. Names, and which file told
//! the kinds, are from the trees by hand. Two things differ from hwloc: which
//! domain a thread is in is what the domain's own `cpumap` says, where hwloc gives
//! memory without cores the nearest ones; and of the last one hwloc takes what its
//! cpuset was given (all of it), while the kernel says that it is in effect
//! narrowed to the threads 0 to 87 and the domain 0.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use probe::{CoreKind, DomainKind, ProbeError, Root, Survey, Topology};
use tempfile::TempDir;

use crate::tree::{data, folder};

/// What is there, and below what this process might use.
///
/// Domains are counted as with cores and memory, cores alone, memory alone, neither. Memory is in
/// MiB by the number of the domain; a letter says what it is if it is not ordinary memory:
/// h stacked, p persistent, d of a device.
const EXPECTED: &str = "
16amd64-8n2c-cpusets
  Dual-Core-AMD-Opteron-865: sockets 8, cores 15
  threads 15, offline 1, level-3 caches 0, thrifty cores 0 by None
  domains 8 + 0 + 0 + 0
  memory 0:8190 1:8192 2:8192 3:8192 4:8192 5:8192 6:8192 7:8192
  usable: cores 10, threads 10, domains 1-4
  node: 10 cores and 32768 MiB in the domains 0-4,6-7
  gaps: status cgroup cpu_capacity
20em64t-hybrid-1p6c2t+2ca4co1t
  13th-Gen-Intel-Core-i7-1370P: sockets 1, cores 14
  threads 20, offline 0, level-3 caches 1, thrifty cores 8 by Firmware
  domains 1 + 0 + 0 + 0
  memory 0:31728
  usable: cores 14, threads 20, domains 0
  node: 14 cores and 31728 MiB in the domains 0
  gaps: status
32amd64-4s2n4c-cgroup2
  AMD-Opteron-6134: sockets 4, cores 32
  threads 32, offline 0, level-3 caches 8, thrifty cores 0 by Clock
  domains 8 + 0 + 0 + 0
  memory 0:16381 1:16384 2:16384 3:16384 4:16384 5:16384 6:16384 7:16384
  usable: cores 6, threads 6, domains 0-5
  node: 6 cores and 98301 MiB in the domains 0-5
  gaps: status cgroup
32em64t-2n8c+dax+nvme+mic+dimms
  Intel-Xeon-E5-2680-0: sockets 2, cores 16
  threads 16, offline 0, level-3 caches 2, thrifty cores 0 by Clock
  domains 2 + 0 + 0 + 0
  memory 0:16354 1:16384
  usable: cores 16, threads 16, domains 0-1
  node: 16 cores and 32738 MiB in the domains 0-1
  gaps: status cgroup
32intel64-2p8co2t+8ve
  Intel-Xeon-Silver-4108: sockets 2, cores 16
  threads 32, offline 0, level-3 caches 2, thrifty cores 0 by None
  domains 2 + 0 + 0 + 0
  memory 0:46802 1:48359
  usable: cores 16, threads 32, domains 0-1
  node: 16 cores and 95161 MiB in the domains 0-1
  gaps: status cpu_capacity
40intel64-2g2n4c+pcilocality
  Intel-Xeon-E7-4870: sockets 4, cores 40
  threads 40, offline 0, level-3 caches 4, thrifty cores 0 by None
  domains 4 + 0 + 0 + 0
  memory 0:131058 1:131072 2:131072 3:131072
  usable: cores 40, threads 40, domains 0-3
  node: 40 cores and 524274 MiB in the domains 0-3
  gaps: status cgroup cpu_capacity
fakeheteromemtiers
  QEMU-Virtual-version-2.5+: sockets 1, cores 6
  threads 6, offline 0, level-3 caches 1, thrifty cores 0 by None
  domains 3 + 0 + 4 + 0
  memory 0:2934 1:978 2:512h 4:512h 6:384p 8:384p 9:384p
  usable: cores 6, threads 6, domains 0-2,4,6,8-9
  node: 6 cores and 6089 MiB in the domains 0-2,4,6,8-9
  gaps: status cpu_capacity
fakememinitiators-1np2c+1npp+gi
  Intel-Xeon-Gold-6230: sockets 2, cores 8
  threads 8, offline 0, level-3 caches 0, thrifty cores 0 by None
  domains 0 + 4 + 6 + 1
  memory 0:0 1:0 2:0 3:0 4:0 5:95163 6:96767 7:759808p 8:95255 9:96729 10:761856p
  usable: cores 8, threads 8, domains 5-10
  node: 8 cores and 1905580 MiB in the domains 0-3,5-10
  gaps: status cache cpu_capacity node5 node6 node8 node9
nvidiagpunumanodes
  POWER9: sockets 2, cores 8
  threads 32, offline 0, level-3 caches 4, thrifty cores 0 by None
  domains 2 + 0 + 6 + 0
  memory 0:126796 8:130812 250:15360d 251:15360d 252:15360d 253:15360d 254:15360d 255:15360d
  usable: cores 4, threads 16, domains 0
  node: 4 cores and 126796 MiB in the domains 0
  gaps: status cpu_capacity
";

#[test]
fn every_snapshot_is_read_as_its_row_says() {
    let Some(folder) = data("hwloc/fsroot") else { return };
    let mut found = String::new();
    for archive in archives(&folder) {
        let tree = unpacked(&archive);
        let root = Root::at(system(tree.path()));
        let topology = Topology::read(&root).unwrap_or_else(|error| panic!("{archive:?}: {error}"));
        let survey = Survey::new("node", &topology, vec![]).unwrap();
        let inside = survey.node.topology.as_deref().unwrap();
        assert_eq!(inside.fault(&survey.node), None, "{archive:?}");
        let name = archive.file_name().unwrap().to_str().unwrap().replace(".tar.bz2", "");
        writeln!(found, "{name}").unwrap();
        write_row(&mut found, &topology);
        write_node(&mut found, &survey);
        let gaps = topology.gaps.0.iter().map(file_of);
        writeln!(found, "  gaps: {}", gaps.collect::<Vec<_>>().join(" ")).unwrap();
    }
    assert_eq!(found.trim(), EXPECTED.trim(), "\n{found}");
}

fn write_row(out: &mut String, topology: &Topology) {
    let Topology { cores, domains, .. } = topology;
    let count_of = |numbers: &mut Vec<u32>| {
        numbers.sort_unstable();
        numbers.dedup();
        numbers.len()
    };
    let sockets = count_of(&mut cores.iter().filter_map(|core| core.socket).collect());
    let caches = count_of(&mut cores.iter().filter_map(|core| core.cache).collect());
    let thrifty = cores.iter().filter(|core| core.kind == CoreKind::Efficient).count();
    let mut counts = [0; 4];
    for domain in domains {
        let has_cores = cores.iter().any(|core| core.domain == domain.number);
        let has_memory = !domain.memory.is_zero();
        counts[usize::from(!has_memory) + 2 * usize::from(!has_cores)] += 1;
    }
    let [both, bare_cores, bare_memory, neither] = counts;
    let usable = topology.threads().filter(|(_, _, thread)| thread.is_usable).count();
    let model = &topology.model;
    writeln!(out, "  {model}: sockets {sockets}, cores {}", cores.len()).unwrap();
    writeln!(
        out,
        "  threads {}, offline {}, level-3 caches {caches}, thrifty cores {thrifty} by {:?}",
        topology.threads().count(),
        topology.offline.count(),
        topology.kinds,
    )
    .unwrap();
    writeln!(out, "  domains {both} + {bare_cores} + {bare_memory} + {neither}").unwrap();
    let memory = |domain: &probe::Domain| {
        let kind = match domain.kind {
            DomainKind::Dram => "",
            DomainKind::Hbm => "h",
            DomainKind::Cxl => "c",
            DomainKind::Persistent => "p",
            DomainKind::Device => "d",
        };
        format!("{}:{}{kind}", domain.number, domain.memory.0 >> 20)
    };
    let memory: Vec<_> = domains.iter().map(memory).collect();
    writeln!(out, "  memory {}", memory.join(" ")).unwrap();
    let numbers = domains.iter().filter(|one| one.is_usable).map(|one| one.number);
    let allowed: probe::Numbers = numbers.collect();
    let core_count = topology.usable().count();
    writeln!(out, "  usable: cores {core_count}, threads {usable}, domains {allowed}").unwrap();
}

fn write_node(out: &mut String, survey: &Survey) {
    let (cores, mebibytes) = (survey.node.cores, survey.node.memory.0 >> 20);
    let domains: probe::Numbers = survey.domains.iter().copied().collect();
    writeln!(out, "  node: {cores} cores and {mebibytes} MiB in the domains {domains}").unwrap();
}

/// The file that is lacking.
fn file_of(gap: &probe::Gap) -> String {
    let ProbeError::Missing { path, .. } = &gap.fault else { panic!("{gap}") };
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

fn archives(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_str().is_some_and(|path| path.ends_with(".tar.bz2")));
    paths.sort_unstable();
    paths
}

/// What is below the parts of a system that are read; the rest is most of the files.
fn unpacked(archive: &Path) -> TempDir {
    let folder = folder();
    let text = bzip2::read::BzDecoder::new(File::open(archive).unwrap());
    let mut archive = tar::Archive::new(text);
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().to_string_lossy().into_owned();
        let has_any = |parts: &[&str]| parts.iter().any(|part| path.contains(part));
        if has_any(&READ) && !has_any(&UNREAD) {
            assert!(entry.unpack_in(folder.path()).unwrap(), "{path}");
        }
    }
    folder
}

const READ: [&str; 7] = [
    "/proc/",
    "/sys/devices/system/cpu/",
    "/sys/devices/system/node/",
    "/dax",
    "/sys/fs/cgroup/",
    "/cgroup/",
    "/dev/cpuset/",
];
const UNREAD: [&str; 18] = [
    "/hugepages",
    "/cpuidle",
    "/thermal",
    "/power/",
    "/microcode",
    ".mount/",
    ".service/",
    "cgroup.procs",
    "/scaling_",
    "/stats/",
    "/core_siblings",
    "/die_",
    "/package_cpus",
    "/cluster_",
    "/ways_of_associativity",
    "/number_of_sets",
    "/coherency_line_size",
    "/physical_line_partition",
];

/// The one folder of an archive.
fn system(folder: &Path) -> PathBuf {
    fs::read_dir(folder).unwrap().next().unwrap().unwrap().path()
}
