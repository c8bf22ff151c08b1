//! Rings and lines: the order of the members in which the slowest hop is fastest.
//!
//! Found exactly for up to [`EXACT_MAX`] members, by going through the orders
//! and leaving each as soon as it is no better than the best; for more members
//! by going from each of them to the best next one.

use super::{Fabric, nanos};

/// The most members of which every order is looked at: 8 are 2,520 rings.
const EXACT_MAX: usize = 8;

/// An order under way.
struct Trail<'a> {
    fabric: &'a Fabric,
    /// What passes over a hop in each direction that is used.
    bytes: u64,
    /// In how many directions a hop is used.
    directions: u64,
    is_closed: bool,
    /// The least that any order could take.
    floor: u64,
    best: u64,
}

/// What the hops of an order come to so far.
#[derive(Clone, Copy, Default)]
struct Hops {
    /// The slowest direct one, in nanoseconds.
    slowest: u64,
    /// Those through the host.
    by_host: u64,
}

/// A step on the best ring.
pub(super) fn ring(fabric: &Fabric, bytes: u64) -> u64 {
    if fabric.members == 2 {
        // Both directions of the one hop there is.
        return line(fabric, bytes, 2);
    }
    best(fabric, bytes, 1, true)
}

/// A step on the best line, each hop of which is used in so many directions.
pub(super) fn line(fabric: &Fabric, bytes: u64, directions: u64) -> u64 {
    best(fabric, bytes, directions, false)
}

fn best(fabric: &Fabric, bytes: u64, directions: u64, is_closed: bool) -> u64 {
    let fastest = fabric.direct.iter().copied().max().unwrap_or(0);
    let floor = match fastest {
        0 => u64::MAX,
        fastest => nanos(bytes, fastest),
    };
    let floor = floor.min(fabric.by_host(bytes, directions));
    let mut trail = Trail { fabric, bytes, directions, is_closed, floor, best: u64::MAX };
    let mut order = Vec::with_capacity(fabric.members);
    let starts = if is_closed && fabric.members <= EXACT_MAX { 1 } else { fabric.members };
    for start in 0..starts {
        order.push(start);
        if fabric.members <= EXACT_MAX {
            trail.go_on(&mut order, Hops::default());
        } else {
            trail.go_greedily(&mut order);
        }
        order.clear();
    }
    trail.best
}

impl Trail<'_> {
    fn go_on(&mut self, order: &mut Vec<usize>, hops: Hops) {
        if self.best <= self.floor || self.time(hops) >= self.best {
            return;
        }
        let last = *order.last().expect("an order begins with a member");
        if order.len() == self.fabric.members {
            let hops = if self.is_closed { self.with(hops, last, order[0]) } else { hops };
            self.best = self.best.min(self.time(hops));
            return;
        }
        for next in 0..self.fabric.members {
            if !order.contains(&next) {
                let hops = self.with(hops, last, next);
                order.push(next);
                self.go_on(order, hops);
                order.pop();
            }
        }
    }

    fn go_greedily(&mut self, order: &mut Vec<usize>) {
        let mut hops = Hops::default();
        while order.len() < self.fabric.members {
            let last = *order.last().expect("an order begins with a member");
            let left = (0..self.fabric.members).filter(|next| !order.contains(next));
            let next =
                left.max_by_key(|next| (self.fabric.direct(last, *next), std::cmp::Reverse(*next)));
            let next = next.expect("fewer are in the order than there are");
            hops = self.with(hops, last, next);
            order.push(next);
        }
        if self.is_closed {
            hops = self.with(hops, order[order.len() - 1], order[0]);
        }
        self.best = self.best.min(self.time(hops));
    }

    fn with(&self, hops: Hops, one: usize, other: usize) -> Hops {
        match self.fabric.direct(one, other) {
            0 => Hops { by_host: hops.by_host + 1, ..hops },
            direct => Hops { slowest: hops.slowest.max(nanos(self.bytes, direct)), ..hops },
        }
    }

    fn time(&self, hops: Hops) -> u64 {
        hops.slowest.max(self.fabric.by_host(self.bytes, hops.by_host * self.directions))
    }
}
