//! What the memory of domains is: stacked, behind a link, lasting, a device's.
//!
//! The system has no file that says so. It is told by who brought the memory:
//! the NVIDIA driver names the domains that are memory of its devices, and the
//! `dax` devices name the domain that each was made into, with its bus in their
//! path. Memory that firmware reserved for a purpose, or that has no cores, is
//! stacked memory where it moves more than ordinary memory does.

use std::collections::BTreeMap;

use fleet::Bandwidth;

use super::domains::NODE;
use super::{DomainKind, Topology};
use crate::devices::nvidia;
use crate::error::ProbeError;
use crate::root::Root;

const DAX: &str = "sys/bus/dax/devices";

/// Stacked memory moves several times what ordinary memory does; less than double may be the
/// same kind on more channels.
const STACKED_FACTOR: u64 = 2;

/// Fills in kinds, bandwidths and latencies of the domains.
pub(super) fn tell(root: &Root, topology: &mut Topology) -> Result<(), ProbeError> {
    for domain in &mut topology.domains {
        let found = speeds(root, domain.number)?;
        (domain.bandwidth, domain.latency_nanos) = found;
    }
    let mut sources = dax(root)?;
    sources.extend(nvidia::domains(root)?.into_iter().map(|number| (number, Source::Device)));
    let bare: Vec<_> = topology.domains.iter().map(|one| is_bare(topology, one.number)).collect();
    let usual = usual_bandwidth(topology, &sources, &bare);
    for (domain, bare) in topology.domains.iter_mut().zip(bare) {
        let is_faster =
            !usual.is_zero() && domain.bandwidth >= usual.saturating_mul(STACKED_FACTOR);
        let source = sources.get(&domain.number).copied();
        domain.kind = match source {
            Some(Source::Device) => DomainKind::Device,
            // Beside cores they are not all of the domain's memory.
            Some(Source::Persistent) if bare => DomainKind::Persistent,
            Some(Source::Cxl) if bare => DomainKind::Cxl,
            Some(Source::Reserved) | None if is_faster => DomainKind::Hbm,
            _ => DomainKind::Dram,
        };
        let is_guess = domain.kind == DomainKind::Dram && !domain.memory.is_zero();
        if is_guess && (bare || source.is_some()) {
            let name = format!("{NODE}/node{}", domain.number);
            let missing = root.missing(&name, "a domain with cores, or memory of a known kind");
            topology.gaps.add(missing, "its memory is taken for ordinary memory");
        }
    }
    Ok(())
}

/// Who brought the memory of a domain.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    Device,
    Persistent,
    Cxl,
    /// By firmware, for a purpose that it does not name.
    Reserved,
}

/// Whether a domain has no cores.
fn is_bare(topology: &Topology, number: u32) -> bool {
    topology.cores.iter().all(|core| core.domain != number)
}

/// The most that memory moves which is beside cores and which nobody brought in.
fn usual_bandwidth(
    topology: &Topology,
    sources: &BTreeMap<u32, Source>,
    bare: &[bool],
) -> Bandwidth {
    let domains = topology.domains.iter().zip(bare);
    let usual = domains.filter(|(domain, bare)| {
        !**bare && !domain.memory.is_zero() && !sources.contains_key(&domain.number)
    });
    usual.map(|(domain, _)| domain.bandwidth).max().unwrap_or_default()
}

/// The domains that `dax` devices were made into.
fn dax(root: &Root) -> Result<BTreeMap<u32, Source>, ProbeError> {
    let mut sources = BTreeMap::new();
    for device in root.entries(DAX)? {
        let number = root.find_number(&format!("{DAX}/{device}/target_node"), "a memory domain")?;
        let Some(number) = number.and_then(|number| u32::try_from(number).ok()) else { continue };
        let link = root.link(&format!("{DAX}/{device}")).unwrap_or_default();
        let has = |word: &str| {
            link.iter().any(|part| part.to_str().is_some_and(|part| part.starts_with(word)))
        };
        let source = match () {
            () if has("ndbus") => Source::Persistent,
            // ACPI0017 is the root of CXL.
            () if has("ACPI0017") || has("cxl") => Source::Cxl,
            () => Source::Reserved,
        };
        sources.insert(number, source);
    }
    Ok(sources)
}

/// Bandwidth and latency as firmware states them for the nearest cores, or else (`access0`) for the
/// nearest of all that reaches for memory.
fn speeds(root: &Root, number: u32) -> Result<(Bandwidth, u32), ProbeError> {
    for class in ["access1", "access0"] {
        let folder = format!("{NODE}/node{number}/{class}/initiators");
        let number = |file: &str| root.find_number(&format!("{folder}/{file}"), "a number");
        let Some(megabytes) = number("read_bandwidth")? else { continue };
        let bytes = u64::try_from(megabytes).unwrap_or(0).saturating_mul(1_000_000);
        let nanos = number("read_latency")?.and_then(|nanos| u32::try_from(nanos).ok());
        return Ok((Bandwidth(bytes), nanos.unwrap_or(0)));
    }
    Ok((Bandwidth::ZERO, 0))
}
