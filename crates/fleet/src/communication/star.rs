//! Trees, servers, and everybody with everybody: patterns without an order to be found.

use super::{Fabric, nanos};

/// A step on the best tree: with the links from the fastest down to some, and the host between
/// what they leave apart.
pub(super) fn tree(fabric: &Fabric, bytes: u64) -> u64 {
    let members = fabric.members;
    let mut links: Vec<(u64, usize, usize)> = (0..members)
        .flat_map(|one| (one + 1..members).map(move |other| (one, other)))
        .map(|(one, other)| (fabric.direct(one, other), one, other))
        .filter(|(bandwidth, ..)| *bandwidth > 0)
        .collect();
    links.sort_unstable_by_key(|(bandwidth, one, other)| {
        (std::cmp::Reverse(*bandwidth), *one, *other)
    });
    // Everything through the host, then with one link more at a time.
    let mut part_of: Vec<usize> = (0..members).collect();
    let mut parts = members as u64;
    let mut best = fabric.by_host(bytes, 2 * (parts - 1));
    for (bandwidth, one, other) in links {
        let (from, to) = (part_of[one], part_of[other]);
        if from == to {
            continue;
        }
        part_of.iter_mut().filter(|part| **part == from).for_each(|part| *part = to);
        parts -= 1;
        let by_host = fabric.by_host(bytes, 2 * (parts - 1));
        best = best.min(nanos(bytes, bandwidth).max(by_host));
    }
    best
}

/// A step in which each sends so many bytes to each other.
pub(super) fn all_to_all(fabric: &Fabric, bytes: u64) -> u64 {
    let mut slowest = 0;
    let mut by_host = 0;
    for one in 0..fabric.members {
        for other in (0..fabric.members).filter(|other| *other != one) {
            match fabric.direct(one, other) {
                0 => by_host += 1,
                direct => slowest = slowest.max(nanos(bytes, direct)),
            }
        }
    }
    slowest.max(fabric.by_host(bytes, by_host))
}

/// A step with the best server: all send to it, and it sends to all.
pub(super) fn server(fabric: &Fabric, bytes: u64) -> u64 {
    let with = |server: usize| {
        let others = (0..fabric.members).filter(|other| *other != server);
        let mut slowest = 0;
        let mut by_host = 0;
        for other in others {
            match fabric.direct(server, other) {
                0 => by_host += 2,
                direct => slowest = slowest.max(nanos(bytes, direct)),
            }
        }
        slowest.max(fabric.by_host(bytes, by_host))
    };
    (0..fabric.members).map(with).min().unwrap_or(0)
}
