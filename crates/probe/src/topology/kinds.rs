//! Kinds of cores: which are fast and which are thrifty.
//!
//! Kernels say it in four ways, of which the first that tells cores apart is
//! believed: a list for each kind (Intel), the capacity (ARM, and x86 of late),
//! the highest performance that firmware states, the highest clock. In the last
//! three, cores of one kind differ a little, since some reach a higher clock
//! than their equals; kinds differ much.

use fleet::Milli;

use super::{CPU, CoreKind, Topology, find_list};
use crate::error::ProbeError;
use crate::numbers::Numbers;
use crate::root::Root;

/// How the kinds of cores were told apart, or how it is known that there is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum KindSource {
    /// Nobody says; all cores are taken to be alike.
    None,
    /// By the lists `cpu_core`, `cpu_atom` and `cpu_lowpower`.
    Lists,
    /// By `cpu_capacity`.
    Capacity,
    /// By `acpi_cppc/highest_perf`.
    Firmware,
    /// By `cpufreq/cpuinfo_max_freq`.
    Clock,
}

const NUMBERS: [(KindSource, &str); 3] = [
    (KindSource::Capacity, "cpu_capacity"),
    (KindSource::Firmware, "acpi_cppc/highest_perf"),
    (KindSource::Clock, "cpufreq/cpuinfo_max_freq"),
];

/// Of two neighbours in the sorted list of what cores can do, the lower is of a lesser kind if it
/// has less than this part of the upper, in thousandths. Turbo clocks of equal cores are within 5 %
/// (Intel) and 2 % from one to the next (AMD); the kinds of ARM and Intel are 35 % and more apart.
const KIN: i64 = 800;

/// Fills in the kinds and the strengths of the cores.
pub(super) fn tell(root: &Root, topology: &mut Topology) -> Result<(), ProbeError> {
    let lists = thrifty(root)?;
    let mut best: Option<(KindSource, Vec<i64>)> = None;
    for (source, file) in NUMBERS {
        let Some(values) = values(root, topology, file)? else { continue };
        let tells = boundary(&values).is_some();
        if tells || best.is_none() {
            best = Some((source, values));
        }
        if tells {
            break;
        }
    }
    if let Some((source, values)) = &best {
        topology.kinds = *source;
        let bound = boundary(values).unwrap_or(i64::MIN);
        let most = values.iter().copied().max().unwrap_or(1);
        for (core, value) in topology.cores.iter_mut().zip(values) {
            core.kind = kind(*value < bound);
            core.strength = u32::try_from(value.saturating_mul(1000) / most).ok().map(Milli);
        }
    }
    if let Some(thrifty) = lists {
        topology.kinds = KindSource::Lists;
        for core in &mut topology.cores {
            core.kind = kind(core.threads.iter().any(|thread| thrifty.has(thread.number)));
        }
    } else if best.is_none() {
        let name = format!("{CPU}/cpu0/{}", NUMBERS[0].1);
        let missing = root.missing(&name, "what the core can do");
        topology.gaps.add(missing, "all cores are taken to be of one kind");
    }
    Ok(())
}

fn kind(is_thrifty: bool) -> CoreKind {
    if is_thrifty { CoreKind::Efficient } else { CoreKind::Performance }
}

/// The threads of thrifty cores, where there are lists.
fn thrifty(root: &Root) -> Result<Option<Numbers>, ProbeError> {
    if find_list(root, "sys/devices/cpu_core/cpus")?.is_none() {
        return Ok(None);
    }
    let mut thrifty = Numbers::default();
    for name in ["cpu_atom", "cpu_lowpower"] {
        let list = find_list(root, &format!("sys/devices/{name}/cpus"))?;
        thrifty.add(&list.unwrap_or_default());
    }
    Ok(Some(thrifty))
}

/// What each core can do by one kind of file; `None` where a core has none.
fn values(root: &Root, topology: &Topology, file: &str) -> Result<Option<Vec<i64>>, ProbeError> {
    const EXPECTED: &str = "a number above zero";
    let mut values = Vec::new();
    for core in &topology.cores {
        let name = format!("{CPU}/cpu{}/{file}", core.threads[0].number);
        match root.find_number(&name, EXPECTED)? {
            None => return Ok(None),
            // Firmware of virtual machines states zeros.
            Some(..=0) => return Ok(None),
            Some(value) => values.push(value),
        }
    }
    Ok(Some(values))
}

/// The least that a core of the highest kind can do; `None` where all are of one kind.
fn boundary(values: &[i64]) -> Option<i64> {
    let mut values = values.to_vec();
    values.sort_unstable_by(|one, other| other.cmp(one));
    let gap = |two: &&[i64]| two[1].saturating_mul(1000) < two[0].saturating_mul(KIN);
    values.windows(2).find(gap).map(|two| two[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn favoured_cores_are_no_kind_of_their_own() {
        assert_eq!(boundary(&[64, 67, 39, 64, 39]), Some(64));
        assert_eq!(boundary(&[236, 231, 226, 201, 181, 166]), None);
        assert_eq!(boundary(&[1024, 446, 862]), Some(862));
        assert_eq!(boundary(&[5]), None);
        assert_eq!(boundary(&[]), None);
    }
}
