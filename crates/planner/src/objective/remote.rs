//! Remote memory: by what part a task takes longer because its memory is not near its cores.
//!
//! Stretch: β × (λ − 1), and zero where λ is less than one. β is the part of each second in which
//! the memory of its cores' own domains works for the task: the bandwidth that it states ÷ theirs,
//! at most one. λ is how many times slower it moves data where its memory really is: the mean of
//! [`Topology::bandwidth_factor`] over its cores and its bytes, as if every core touched every byte
//! alike. The part that is not moving data does not get slower.
//!
//! Where nothing is stated, or the bandwidth of the domains is not known, the stretch is zero. That
//! what is moved goes up in proportion to the distance is Little's law with a fixed number of
//! requests in flight; the distances are those of ACPI's SLIT, which are relative latencies.

use fleet::{Grant, Node, Request, Topology};

/// The stretch of a task with this grant.
#[must_use]
pub fn stretch(node: &Node, request: &Request, grant: &Grant) -> f64 {
    let stated = request.traffic.memory;
    let Some(topology) = node.topology.as_deref().filter(|_| !stated.is_zero()) else { return 0.0 };
    let own = own_bandwidth(topology, grant);
    if own <= 0.0 || grant.memory.is_zero() {
        return 0.0;
    }
    let bound = (stated.0 as f64 / own).min(1.0);
    bound * (slowness(topology, grant) - 1.0).max(0.0)
}

/// The bandwidth of the domains in which the cores are, each by its part of them; zero where one is
/// not known.
fn own_bandwidth(topology: &Topology, grant: &Grant) -> f64 {
    let cores = grant.cores.0 as f64;
    let with_cores = || grant.domains.iter().filter(|held| !held.cores.is_zero());
    let bandwidth = |held: &fleet::DomainGrant| topology.domains[held.domain.index()].bandwidth;
    if with_cores().any(|held| bandwidth(held).is_zero()) {
        return 0.0;
    }
    with_cores().map(|held| held.cores.0 as f64 / cores * bandwidth(held).0 as f64).sum()
}

/// How many times slower data moves than if all of it were near.
fn slowness(topology: &Topology, grant: &Grant) -> f64 {
    let (cores, memory) = (grant.cores.0 as f64, grant.memory.0 as f64);
    let mut mean = 0.0;
    for near in &grant.domains {
        for far in &grant.domains {
            let factor = topology.bandwidth_factor(near.domain, far.domain) as f64 / 1e3;
            mean += near.cores.0 as f64 / cores * (far.memory.0 as f64 / memory) * factor;
        }
    }
    mean
}
