//! Memory domains: their numbers, threads, memory and distances.
//!
//! What is there is what the folder lists: `possible` may name domains that no
//! machine ever had, and numbers may be sparse. A domain without threads has an
//! empty list, and one without memory says so in its `meminfo`.

use std::collections::BTreeMap;

use fleet::{Bandwidth, Bytes};

use super::{Domain, DomainKind, find_set};
use crate::error::ProbeError;
use crate::gap::Gaps;
use crate::numbers::Numbers;
use crate::root::Root;

pub(super) const NODE: &str = "sys/devices/system/node";

/// More than a domain can have, and so little that the sum over all domains of a node still fits.
const MEMORY_MAX: u64 = 1 << 55;

/// The domains of a system.
pub(super) struct Domains {
    pub(super) domains: Vec<Domain>,
    pub(super) distances: Vec<Vec<u8>>,
    /// The domain of each thread that is online.
    pub(super) threads: BTreeMap<u32, u32>,
}

pub(super) fn read(root: &Root, online: &Numbers, gaps: &mut Gaps) -> Result<Domains, ProbeError> {
    let numbers = root.numbered(NODE, "node")?;
    if numbers.is_empty() {
        let missing = root.missing(&format!("{NODE}/node0"), "a folder for a memory domain");
        gaps.add(missing, "all cores and all memory are taken for one domain");
        let memory = memory(root, "proc/meminfo")?;
        let threads = online.iter().map(|thread| (thread, 0)).collect();
        return Ok(Domains { domains: vec![domain(0, memory)], distances: Vec::new(), threads });
    }
    let mut domains = Vec::new();
    let mut threads = BTreeMap::new();
    for number in &numbers {
        let folder = format!("{NODE}/node{number}");
        let found = find_set(root, &folder, &["cpulist"], &["cpumap"])?;
        let missing = || root.missing(&format!("{folder}/cpulist"), "the threads of the domain");
        // Some systems list threads here that are not online.
        for thread in found.ok_or_else(missing)?.both(online).iter() {
            if let Some(other) = threads.insert(thread, *number) {
                return Err(ProbeError::Contradiction {
                    path: root.path(&format!("{folder}/cpulist")),
                    expected: "in one memory domain only",
                    found: format!("thread {thread}, which domain {other} has,"),
                });
            }
        }
        domains.push(domain(*number, memory(root, &format!("{folder}/meminfo"))?));
    }
    let distances = distances(root, &numbers, gaps);
    Ok(Domains { domains, distances, threads })
}

fn domain(number: u32, memory: Bytes) -> Domain {
    Domain {
        number,
        memory,
        kind: DomainKind::Dram,
        bandwidth: Bandwidth::ZERO,
        latency_nanos: 0,
        is_usable: true,
    }
}

/// All memory of a domain or of the system, from a line such as `Node 0 MemTotal: 32489480 kB`.
fn memory(root: &Root, name: &str) -> Result<Bytes, ProbeError> {
    const EXPECTED: &str = "a line MemTotal: NUMBER kB";
    let text = root.read(name, EXPECTED)?;
    let line = text.lines().find_map(|line| line.split_once("MemTotal:"));
    let kib = line.and_then(|(_, rest)| rest.trim().strip_suffix("kB")?.trim().parse().ok());
    let bytes = kib.and_then(|kib: u64| kib.checked_mul(1024)).map(Bytes);
    let bytes = bytes.filter(|bytes| bytes.0 < MEMORY_MAX);
    bytes.ok_or_else(|| ProbeError::garbled(root.path(name), EXPECTED, &text))
}

/// The matrix of distances, or nothing and a gap where a row is missing or makes no sense.
fn distances(root: &Root, numbers: &[u32], gaps: &mut Gaps) -> Vec<Vec<u8>> {
    const INSTEAD: &str = "domains are taken to be equally far from each other";
    let rows = numbers.iter().enumerate();
    let read = rows.map(|(position, number)| row(root, *number, position, numbers.len()));
    gaps.or_gap(read.collect(), INSTEAD).unwrap_or_default()
}

fn row(root: &Root, number: u32, position: usize, domains: usize) -> Result<Vec<u8>, ProbeError> {
    const EXPECTED: &str = "a distance from 10 to 255 to each domain, 10 to itself";
    let name = format!("{NODE}/node{number}/distance");
    let text = root.read(&name, EXPECTED)?;
    let row: Option<Vec<u8>> = text.split_whitespace().map(|word| word.parse().ok()).collect();
    let is_sound = |row: &Vec<u8>| {
        row.len() == domains
            && row[position] == fleet::topology::NEAR
            && row.iter().all(|distance| *distance >= fleet::topology::NEAR)
    };
    let wrong = || ProbeError::garbled(root.path(&name), EXPECTED, &text);
    row.filter(is_sound).ok_or_else(wrong)
}
