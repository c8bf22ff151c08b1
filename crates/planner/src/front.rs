//! Fronts: what is left of many things with several costs when what is worse in all is put away.
//!
//! A thing is a vector of costs, less being better: whole numbers of at most 32
//! bits, so that every sum and product here is exact. In come such vectors, out
//! go those that no other [dominates], the best of them to have where one is
//! wanted ([`knee`]), how much they reach ([`hypervolume`]), and few that
//! stand for many ([`Archive`]). Nothing here knows what the costs mean:
//! scores of choices and figures of simulations alike.
//!
//! [dominates]: dominates

mod archive;
mod hypervolume;
mod knee;

use std::cmp::Ordering;

pub use archive::{Archive, COSTS_MAX, KEPT_MAX};
pub use hypervolume::{OBJECTIVES_MAX, hypervolume};
pub use knee::{Frame, knee};

/// Whether one is at most the other in every cost, and less in some: a strict partial order.
#[must_use]
pub fn dominates(one: &[u32], other: &[u32]) -> bool {
    is_within(one, other) && one != other
}

/// Whether one is at most the other in every cost.
fn is_within(one: &[u32], other: &[u32]) -> bool {
    debug_assert_eq!(one.len(), other.len(), "costs are in the same objectives");
    one.iter().zip(other).all(|(one, other)| one <= other)
}

/// The positions of those that no other dominates, ascending by costs, then by position. Equal ones
/// stand side by side.
#[must_use]
pub fn non_dominated<P: AsRef<[u32]>>(points: &[P]) -> Vec<usize> {
    let costs = |position: usize| points[position].as_ref();
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|one, other| costs(*one).cmp(costs(*other)).then(one.cmp(other)));
    let mut front: Vec<usize> = Vec::new();
    // What dominates a point stands before it; of equal ones the first is asked for all.
    let mut distinct: Vec<usize> = Vec::new();
    for position in order {
        match distinct.last() {
            Some(last) if costs(*last) == costs(position) => front.push(position),
            _ if distinct.iter().any(|one| dominates(costs(*one), costs(position))) => {}
            _ => {
                distinct.push(position);
                front.push(position);
            }
        }
    }
    front
}

/// An order in which what dominates comes first, and what is close stays close: along the Z-order
/// curve of Morton, which compares in that cost in which two differ by the larger power of two.
fn along_curve(one: &[u32], other: &[u32]) -> Ordering {
    let mut largest = (0, Ordering::Equal);
    for (one, other) in one.iter().zip(other) {
        let differs = one ^ other;
        // Whether its highest bit is above that of the largest so far.
        if largest.0 < differs && largest.0 < (largest.0 ^ differs) {
            largest = (differs, one.cmp(other));
        }
    }
    largest.1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn costs() -> impl Strategy<Value = [u32; 3]> {
        [0..6u32, 0..6u32, 0..6u32]
    }

    proptest! {
        #[test]
        fn dominance_is_a_strict_partial_order(a in costs(), b in costs(), c in costs()) {
            prop_assert!(!dominates(&a, &a));
            prop_assert!(!(dominates(&a, &b) && dominates(&b, &a)));
            prop_assert!(!(dominates(&a, &b) && dominates(&b, &c)) || dominates(&a, &c));
        }

        #[test]
        fn what_dominates_comes_first_along_the_curve(
            a in any::<[u32; 3]>(), b in any::<[u32; 3]>(), c in any::<[u32; 3]>(),
        ) {
            let least = [0, 1, 2].map(|cost| a[cost].min(b[cost]));
            prop_assert_eq!(along_curve(&least, &a) == Ordering::Equal, least == a);
            prop_assert!(least == a || along_curve(&least, &a) == Ordering::Less);
            prop_assert_eq!(along_curve(&a, &b), along_curve(&b, &a).reverse());
            let ascends = along_curve(&a, &b).is_le() && along_curve(&b, &c).is_le();
            prop_assert!(!ascends || along_curve(&a, &c).is_le());
        }

        #[test]
        fn the_front_is_what_nothing_dominates(
            points in proptest::collection::vec(costs(), 0..30),
        ) {
            let mut found = non_dominated(&points);
            found.sort_unstable();
            let beats = |other: &[u32; 3], one: &usize| dominates(other, &points[*one]);
            let is_free = |one: &&usize| !points.iter().any(|other| beats(other, one));
            let all: Vec<usize> = (0..points.len()).collect();
            prop_assert_eq!(found, all.iter().filter(is_free).copied().collect::<Vec<_>>());
        }
    }

    #[test]
    fn the_curve_compares_by_the_cost_that_differs_most() {
        assert_eq!(along_curve(&[7, 0], &[0, 8]), Ordering::Less);
        assert_eq!(along_curve(&[8, 0], &[0, 8]), Ordering::Greater);
        assert_eq!(along_curve(&[3, 5], &[3, 5]), Ordering::Equal);
    }
}
