//! The cores, threads and memory domains of a node, as the system shows them.
//!
//! What comes in are the files of `/sys/devices/system/{cpu,node}` and a few of
//! `/proc`; what goes out is a [`Topology`] that a keeper can pin by. Numbers are
//! the system's own and may be sparse: a POWER9 has the domains 0, 8 and 250 to
//! 255. Threads of one core are told by the sets of siblings, since core numbers
//! repeat on sockets and are all zero on some machines.
//!
//! A thread that is not online belongs to no core, because the kernel does not
//! say to which. Nothing here decides what a node may be asked for.

mod cores;
mod domains;
mod kinds;
mod memory;

use fleet::{Bandwidth, Bytes, Milli};

use crate::confines::Confines;
use crate::error::ProbeError;
use crate::gap::Gaps;
use crate::model::model;
use crate::numbers::Numbers;
use crate::root::Root;

pub use kinds::KindSource;

pub(crate) const CPU: &str = "sys/devices/system/cpu";

/// The cores and the memory of a node.
#[derive(Debug)]
pub struct Topology {
    /// The model of its cores, as one word; empty where nobody says.
    pub model: String,
    /// Its cores that are online, by their lowest thread.
    pub cores: Vec<Core>,
    /// How the kinds of cores were told apart.
    pub kinds: KindSource,
    /// Its memory domains, by number.
    pub domains: Vec<Domain>,
    /// How far the memory of each domain is from the cores of each, in the order of the domains; 10
    /// is near. Empty where that is not known.
    pub distances: Vec<Vec<u8>>,
    /// Threads that are there and switched off.
    pub offline: Numbers,
    /// What limits this process.
    pub confines: Confines,
    /// What could not be read.
    pub gaps: Gaps,
}

/// A physical core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core {
    /// Its number on its socket, which other cores may share.
    pub number: Option<u32>,
    /// The number of its socket (its *package*).
    pub socket: Option<u32>,
    /// The number of its memory domain.
    pub domain: u32,
    /// Whether it is a fast one or a thrifty one.
    pub kind: CoreKind,
    /// How much it can do at most, as a part of what the strongest core can; where that is known.
    pub strength: Option<Milli>,
    /// Cores with the same number share a level-3 cache; `None` where they have none.
    pub cache: Option<u32>,
    /// Its threads that are online, ascending; the position is the rank among siblings.
    pub threads: Vec<Thread>,
}

/// A hardware thread: what the system numbers and a task is pinned to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Its number.
    pub number: u32,
    /// Whether this process may run on it.
    pub is_usable: bool,
}

/// What a core was built for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CoreKind {
    /// Little power; only beside performance cores.
    Efficient,
    /// Speed. All cores of a node whose cores are alike.
    Performance,
}

/// A memory domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Its number.
    pub number: u32,
    /// Its memory.
    pub memory: Bytes,
    /// What its memory is.
    pub kind: DomainKind,
    /// What its memory can move in a second; zero where that is not known.
    pub bandwidth: Bandwidth,
    /// How long the nearest cores wait for it, in nanoseconds; zero where that is not known.
    pub latency_nanos: u32,
    /// Whether this process may have memory there.
    pub is_usable: bool,
}

/// What the memory of a domain is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DomainKind {
    /// Ordinary memory, and what nothing else is known of.
    Dram,
    /// Stacked memory of high bandwidth.
    Hbm,
    /// Memory behind a CXL link.
    Cxl,
    /// Memory that keeps what is in it without power.
    Persistent,
    /// The memory of a device, which the system shows as a domain. It belongs to the device.
    Device,
}

impl Topology {
    /// Reads a system.
    ///
    /// # Errors
    /// If a file that a topology cannot be known without is missing, cannot be read or makes no
    /// sense.
    pub fn read(root: &Root) -> Result<Self, ProbeError> {
        let mut gaps = Gaps::default();
        let online = online(root)?;
        let offline = present(root, &online, &mut gaps)?.without(&online);
        let confines = Confines::read(root, &mut gaps)?;
        let found = domains::read(root, &online, &mut gaps)?;
        let cores = cores::read(root, &online, &found.threads, &mut gaps)?;
        let mut topology = Self {
            model: cpu_model(root, &mut gaps),
            cores,
            kinds: KindSource::None,
            domains: found.domains,
            distances: found.distances,
            offline,
            confines,
            gaps,
        };
        kinds::tell(root, &mut topology)?;
        memory::tell(root, &mut topology)?;
        topology.confine();
        Ok(topology)
    }

    /// Every thread with its core and its rank among the siblings.
    pub fn threads(&self) -> impl Iterator<Item = (&Core, usize, Thread)> {
        let of_core = |core| Core::ranked(core);
        self.cores.iter().flat_map(of_core)
    }

    /// Cores with a thread that this process may use.
    pub fn usable(&self) -> impl Iterator<Item = &Core> {
        self.cores.iter().filter(|core| core.is_usable())
    }

    /// The position of the domain with this number.
    #[must_use]
    pub fn position(&self, domain: u32) -> Option<usize> {
        self.domains.binary_search_by_key(&domain, |one| one.number).ok()
    }

    fn confine(&mut self) {
        let Confines { threads, domains, .. } = &self.confines;
        for thread in self.cores.iter_mut().flat_map(|core| &mut core.threads) {
            thread.is_usable = threads.as_ref().is_none_or(|allowed| allowed.has(thread.number));
        }
        for domain in &mut self.domains {
            let is_allowed = domains.as_ref().is_none_or(|allowed| allowed.has(domain.number));
            domain.is_usable = is_allowed && domain.kind != DomainKind::Device;
        }
    }
}

impl Core {
    /// Whether this process may use one of its threads.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.threads.iter().any(|thread| thread.is_usable)
    }

    fn ranked(&self) -> impl Iterator<Item = (&Self, usize, Thread)> {
        self.threads.iter().enumerate().map(move |(rank, thread)| (self, rank, *thread))
    }
}

const LIST: &str = "a list of numbers such as 0-3,8";

/// A list that has to be there.
pub(crate) fn list(root: &Root, name: &str) -> Result<Numbers, ProbeError> {
    find_list(root, name)?.ok_or_else(|| root.missing(name, LIST))
}

/// A list that may be missing.
pub(crate) fn find_list(root: &Root, name: &str) -> Result<Option<Numbers>, ProbeError> {
    let Some(text) = root.find(name, LIST)? else { return Ok(None) };
    let wrong = || ProbeError::garbled(root.path(name), LIST, &text);
    Numbers::from_list(&text).map(Some).ok_or_else(wrong)
}

/// The first set that is there, of lists and then of masks.
fn find_set(
    root: &Root,
    folder: &str,
    lists: &[&str],
    masks: &[&str],
) -> Result<Option<Numbers>, ProbeError> {
    const MASK: &str = "a mask such as 00000001,0000000f";
    for name in lists {
        if let Some(numbers) = find_list(root, &format!("{folder}/{name}"))? {
            return Ok(Some(numbers));
        }
    }
    for name in masks {
        let name = format!("{folder}/{name}");
        if let Some(text) = root.find(&name, MASK)? {
            let wrong = || ProbeError::garbled(root.path(&name), MASK, &text);
            return Numbers::from_mask(&text).map(Some).ok_or_else(wrong);
        }
    }
    Ok(None)
}

fn online(root: &Root) -> Result<Numbers, ProbeError> {
    let name = format!("{CPU}/online");
    let online = list(root, &name)?;
    if online.is_empty() {
        return Err(ProbeError::garbled(root.path(&name), "a thread at least", ""));
    }
    Ok(online)
}

fn present(root: &Root, online: &Numbers, gaps: &mut Gaps) -> Result<Numbers, ProbeError> {
    let name = format!("{CPU}/present");
    if let Some(present) = find_list(root, &name)? {
        return Ok(present);
    }
    gaps.add(root.missing(&name, LIST), "no thread is taken to be switched off");
    Ok(online.clone())
}

/// What the makers call the cores.
fn cpu_model(root: &Root, gaps: &mut Gaps) -> String {
    const NAME: &str = "proc/cpuinfo";
    const EXPECTED: &str = "the model of the cores";
    const INSTEAD: &str = "the model of the cores is not known";
    let Some(text) = gaps.or_gap(root.head(NAME, EXPECTED), INSTEAD) else { return String::new() };
    let value = |key: &str| {
        let field = |line: &str| {
            let (name, value) = line.split_once(':')?;
            (name.trim() == key).then(|| model(value))
        };
        text.lines().find_map(field).filter(|word| !word.is_empty())
    };
    // POWER writes `cpu: POWER9, altivec supported`; ARM names nobody, or the board.
    let power = || value("cpu").map(|word| word.split(',').next().unwrap_or_default().to_owned());
    value("model name").or_else(power).or_else(|| value("Hardware")).unwrap_or_else(|| {
        gaps.add(ProbeError::garbled(root.path(NAME), EXPECTED, &text), INSTEAD);
        String::new()
    })
}
