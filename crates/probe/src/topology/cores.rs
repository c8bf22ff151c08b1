//! Which threads make up which core, and where the core is.

use std::collections::BTreeMap;

use super::{CPU, Core, CoreKind, Thread, find_set};
use crate::error::ProbeError;
use crate::gap::Gaps;
use crate::numbers::Numbers;
use crate::root::Root;

/// More levels and kinds of cache than any core has.
const CACHES_MAX: u32 = 32;

/// The cores of the threads that are online, where threads lie in these domains.
pub(super) fn read(
    root: &Root,
    online: &Numbers,
    domains: &BTreeMap<u32, u32>,
    gaps: &mut Gaps,
) -> Result<Vec<Core>, ProbeError> {
    let mut cores: Vec<Core> = Vec::new();
    let mut taken = Numbers::default();
    let mut caches: BTreeMap<u32, u32> = BTreeMap::new();
    for thread in online.iter() {
        if taken.has(thread) {
            continue;
        }
        let siblings = siblings(root, thread, gaps)?.both(online);
        if !siblings.has(thread) || siblings.iter().any(|one| taken.has(one)) {
            return Err(ProbeError::Contradiction {
                path: root.path(&format!("{CPU}/cpu{thread}/topology")),
                expected: "a set with this thread and none of another core's",
                found: format!("the set of siblings {siblings}"),
            });
        }
        taken.add(&siblings);
        let shared = cache(root, thread, online, gaps)?;
        let next = u32::try_from(caches.len()).unwrap_or(u32::MAX);
        cores.push(Core {
            number: identity(root, thread, "core_id", gaps)?,
            socket: identity(root, thread, "physical_package_id", gaps)?,
            domain: domain(root, thread, domains, gaps),
            kind: CoreKind::Performance,
            strength: None,
            cache: shared.map(|lowest| *caches.entry(lowest).or_insert(next)),
            threads: siblings.iter().map(|number| Thread { number, is_usable: true }).collect(),
        });
    }
    Ok(cores)
}

/// The threads of the core that this one is of. Kernels before 5.3 know the older names only, and
/// some trees have masks alone.
fn siblings(root: &Root, thread: u32, gaps: &mut Gaps) -> Result<Numbers, ProbeError> {
    let folder = format!("{CPU}/cpu{thread}/topology");
    let lists = ["core_cpus_list", "thread_siblings_list"];
    let found = find_set(root, &folder, &lists, &["core_cpus", "thread_siblings"])?;
    Ok(found.unwrap_or_else(|| {
        let missing = root.missing(&format!("{folder}/core_cpus_list"), "the threads of its core");
        gaps.add(missing, "the thread is taken for a core of its own");
        [thread].into_iter().collect()
    }))
}

/// A number of a core or a socket; firmware that does not know it says -1.
fn identity(
    root: &Root,
    thread: u32,
    file: &str,
    gaps: &mut Gaps,
) -> Result<Option<u32>, ProbeError> {
    let name = format!("{CPU}/cpu{thread}/topology/{file}");
    let expected = "a whole number";
    let number = root.find_number(&name, expected)?;
    if number.is_none() {
        gaps.add(root.missing(&name, expected), "the number is not known");
    }
    Ok(number.and_then(|number| u32::try_from(number).ok()))
}

fn domain(root: &Root, thread: u32, domains: &BTreeMap<u32, u32>, gaps: &mut Gaps) -> u32 {
    if let Some(domain) = domains.get(&thread) {
        return *domain;
    }
    let missing = ProbeError::Contradiction {
        path: root.path(super::domains::NODE),
        expected: "in any memory domain",
        found: format!("thread {thread}"),
    };
    gaps.add(missing, "it is taken to be in the lowest domain that has cores");
    domains.values().min().copied().unwrap_or(0)
}

/// The lowest of the threads that share the level-3 cache of this one.
fn cache(
    root: &Root,
    thread: u32,
    online: &Numbers,
    gaps: &mut Gaps,
) -> Result<Option<u32>, ProbeError> {
    let folder = format!("{CPU}/cpu{thread}/cache");
    if !root.has(&folder) {
        let missing = root.missing(&folder, "a folder of caches");
        gaps.add(missing, "cores are taken to share no cache");
        return Ok(None);
    }
    for index in root.numbered(&folder, "index")?.into_iter().filter(|index| *index < CACHES_MAX) {
        let folder = format!("{folder}/index{index}");
        if root.number(&format!("{folder}/level"), "the level of a cache")? != 3 {
            continue;
        }
        let shared = find_set(root, &folder, &["shared_cpu_list"], &["shared_cpu_map"])?;
        if shared.is_none() {
            let missing = root.missing(&format!("{folder}/shared_cpu_list"), "who shares it");
            gaps.add(missing, "cores are taken to share no cache");
        }
        return Ok(shared.and_then(|shared| shared.both(online).iter().next()));
    }
    Ok(None)
}
