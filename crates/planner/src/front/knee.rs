//! The knee of a front: where giving up a little more of one cost gains little of the others.
//!
//! Costs are laid on the range from the ideal (the least of each cost on the
//! front) to the nadir (the most of each on the front), 0 to 1. The knee is the
//! point that lies farthest before the hyperplane on which costs add up to one:
//! with two costs that is the line through the extremes of the front, with more
//! the plane through the corners that are worst in one cost and best in all
//! others. Points that are worst on the front in some cost are no knee: they
//! give it up wholly. Where the front bulges the other way no point lies before
//! the plane, and the one that is least behind it is the knee; no sum of
//! weighed costs ever finds that one.

use super::non_dominated;

/// Millionths in one.
const ONE: u64 = 1_000_000;

/// Ideal and nadir of a front.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    ideal: Vec<u32>,
    nadir: Vec<u32>,
    /// A cost whose range is less counts as the same all over the front.
    least_range: u32,
    /// Whether some point of the front is worst in no cost.
    has_knee: bool,
}

impl Frame {
    /// The frame of the front of these points; `None` where there are none. A cost of which the
    /// range on the front is less than `least_range`, or nothing, is left out of account.
    #[must_use]
    pub fn of<P: AsRef<[u32]>>(points: &[P], least_range: u32) -> Option<Self> {
        let front = non_dominated(points);
        let first = points[*front.first()?].as_ref();
        let (mut ideal, mut nadir) = (first.to_vec(), first.to_vec());
        for position in &front {
            let ends = ideal.iter_mut().zip(&mut nadir);
            for ((least, most), cost) in ends.zip(points[*position].as_ref()) {
                *least = (*least).min(*cost);
                *most = (*most).max(*cost);
            }
        }
        let mut frame = Self { ideal, nadir, least_range, has_knee: false };
        let has_extent = frame.ranges(first).next().is_some();
        let is_between = |position: &usize| !frame.gives_up(points[*position].as_ref());
        frame.has_knee = has_extent && front.iter().any(is_between);
        Some(frame)
    }

    /// Whether the front has a knee: some point that is worst in no cost, where not all are equal.
    #[must_use]
    pub fn has_knee(&self) -> bool {
        self.has_knee
    }

    /// How good a point is as a knee, in millionths: 500,000 to 1,000,000 where it is worst in no
    /// cost, below that otherwise, and within either the more the farther before the plane. What
    /// dominates another point is never less.
    #[must_use]
    pub fn value(&self, costs: &[u32]) -> u32 {
        let (mut kept, mut count) = (0, 0);
        for (cost, ideal, nadir) in self.ranges(costs) {
            kept += ONE - share(cost, ideal, nadir);
            count += 1;
        }
        let half = u64::checked_div(kept, count).unwrap_or(ONE) / 2;
        let value = if self.gives_up(costs) { half } else { ONE / 2 + half };
        u32::try_from(value).expect("no more than a million")
    }

    /// How far a point lies before the plane, in millionths of the range of one cost; behind it the
    /// number is below zero.
    #[must_use]
    pub fn distance(&self, costs: &[u32]) -> i64 {
        let shares = self.ranges(costs).map(|(cost, ideal, nadir)| share(cost, ideal, nadir));
        let (sum, count) = shares.fold((0, 0), |(sum, count), share| (sum + share, count + 1));
        let before = ONE as f64 - sum as f64;
        #[expect(clippy::cast_possible_truncation, reason = "a few millions at most")]
        let distance = (before / f64::from(count).max(1.0).sqrt()).round() as i64;
        distance
    }

    /// Whether a point is as bad as any on the front, or worse, in some cost in which they differ.
    fn gives_up(&self, costs: &[u32]) -> bool {
        self.ranges(costs).any(|(cost, _, nadir)| cost >= nadir)
    }

    /// Each cost with its ideal and nadir, without those that are much the same all over the front.
    fn ranges(&self, costs: &[u32]) -> impl Iterator<Item = (u32, u32, u32)> {
        let ends = self.ideal.iter().zip(&self.nadir);
        let all = costs.iter().zip(ends).map(|(cost, (ideal, nadir))| (*cost, *ideal, *nadir));
        let least = self.least_range.max(1);
        all.filter(move |(_, ideal, nadir)| nadir - ideal >= least)
    }
}

/// Where between ideal and nadir a cost lies, in millionths.
fn share(cost: u32, ideal: u32, nadir: u32) -> u64 {
    let above = u64::from(cost.saturating_sub(ideal));
    (above * ONE / u64::from(nadir - ideal)).min(ONE)
}

/// The position of the knee of these points; of equal ones the one with the least costs, then the
/// first. `None` where every point of the front is worst in some cost.
#[must_use]
pub fn knee<P: AsRef<[u32]>>(points: &[P]) -> Option<usize> {
    let frame = Frame::of(points, 1).filter(Frame::has_knee)?;
    let value = |position: usize| frame.value(points[position].as_ref());
    // The front ascends by costs and position, and the first of equals is wanted.
    non_dominated(points).into_iter().reduce(
        |one, other| {
            if value(other) > value(one) { other } else { one }
        },
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::front::dominates;

    #[test]
    fn the_knee_lies_farthest_before_the_line_through_the_extremes() {
        let points = [[0, 100], [10, 40], [30, 20], [60, 15], [100, 0]];
        assert_eq!(knee(&points), Some(1));
        let frame = Frame::of(&points, 1).unwrap();
        assert_eq!(points.map(|one| frame.distance(&one)), [0, 353_553, 353_553, 176_777, 0]);
    }

    #[test]
    fn on_a_bulge_the_knee_is_the_point_least_behind_the_line() {
        let points = [[0, 100], [60, 60], [85, 55], [100, 0]];
        assert_eq!(knee(&points), Some(1));
        assert_eq!(Frame::of(&points, 1).unwrap().distance(&points[1]), -141_421);
    }

    #[test]
    fn extremes_alone_have_no_knee() {
        assert_eq!(knee(&[[0, 100], [100, 0]]), None);
        assert_eq!(knee(&[[3, 3], [3, 3], [4, 3]]), None);
        assert_eq!(knee::<[u32; 2]>(&[]), None);
    }

    #[test]
    fn a_cost_that_hardly_differs_is_left_out_of_account() {
        let points = [[0, 100, 7], [30, 20, 9], [100, 0, 8]];
        assert!(!Frame::of(&points, 1).unwrap().has_knee());
        let frame = Frame::of(&points, 3).unwrap();
        assert!(frame.has_knee());
        assert_eq!(points.map(|one| frame.value(&one)), [250_000, 875_000, 250_000]);
    }

    #[test]
    fn dominated_points_do_not_move_the_knee() {
        let front = [[0, 100], [10, 40], [60, 15], [100, 0]];
        let all = [[0, 100], [10, 40], [60, 15], [100, 0], [900, 900], [100, 1], [10, 41]];
        assert_eq!((knee(&front), knee(&all)), (Some(1), Some(1)));
    }

    #[test]
    fn with_three_costs_the_plane_goes_through_the_corners() {
        let points = [[0, 90, 100], [100, 0, 90], [90, 100, 0], [40, 45, 50], [70, 70, 20]];
        assert_eq!(knee(&points), Some(3));
        let frame = Frame::of(&points, 1).unwrap();
        assert_eq!(frame.distance(&[100, 0, 0]), 0);
        assert_eq!(frame.distance(&[0, 0, 0]), 577_350);
    }

    proptest! {
        #[test]
        fn what_dominates_has_no_less_value(
            points in proptest::collection::vec(proptest::array::uniform3(0..9u32), 1..12),
        ) {
            let frame = Frame::of(&points, 1).unwrap();
            for one in &points {
                for other in points.iter().filter(|other| dominates(one, *other)) {
                    prop_assert!(frame.value(one) >= frame.value(other), "{one:?} {other:?}");
                }
            }
        }

        #[test]
        fn the_knee_is_the_same_in_every_unit(
            points in proptest::collection::vec(proptest::array::uniform2(0..50u32), 1..12),
        ) {
            let scaled: Vec<_> = points.iter().map(|[one, other]| [one * 60, *other]).collect();
            prop_assert_eq!(knee(&points), knee(&scaled));
        }
    }
}
