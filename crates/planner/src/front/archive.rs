//! An archive: few points that stand for all that were ever offered.
//!
//! Costs are laid on a grid of boxes; the archive keeps one point of each box
//! that no other box dominates. A box is one unit wide at first, so that the
//! points kept are just those that nothing dominates. When there would be more
//! than [`KEPT_MAX`], boxes become twice as wide until there are not.
//!
//! The law: of the points that were offered, whatever their order, the archive
//! keeps for every box that no other dominates the first along the curve of
//! `along_curve`, at the width that its boxes have. So order decides nothing
//! but how wide boxes became, and nothing at all where they stayed one unit
//! wide; and no point that was offered is better than some kept one by a box or
//! more. It holds because wide boxes are made of whole narrow ones, and because
//! of two points the one in the box that dominates comes first along the curve.

use std::cmp::Ordering;

use super::{along_curve, dominates, is_within};

/// The most points that an archive keeps.
pub const KEPT_MAX: usize = 100;

/// The most costs of a point: so many that boxes grow wide enough to be few.
pub const COSTS_MAX: usize = 8;

/// Points, each with what it stands for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive<T> {
    /// The points kept, in the order of the curve.
    points: Vec<(Vec<u32>, T)>,
    /// Boxes are two to the power of this wide.
    doublings: u32,
}

impl<T: Ord> Archive<T> {
    /// An archive without points.
    #[must_use]
    pub fn new() -> Self {
        Self { points: Vec::new(), doublings: 0 }
    }

    /// Offers a point. Of points with equal costs the one with the least value is kept.
    ///
    /// # Panics
    /// If there are more than [`COSTS_MAX`] costs.
    pub fn offer(&mut self, costs: Vec<u32>, value: T) {
        assert!(costs.len() <= COSTS_MAX, "an archive of {} costs has no bound", costs.len());
        if !self.takes(&costs, &value) {
            return;
        }
        let doublings = self.doublings;
        let own = in_boxes(&costs, doublings);
        self.points.retain(|(other, _)| !is_within(&own, &in_boxes(other, doublings)));
        let place = self.points.partition_point(|(other, _)| along_curve(other, &costs).is_lt());
        self.points.insert(place, (costs, value));
        while self.points.len() > KEPT_MAX {
            self.widen();
        }
    }

    /// The points kept, with what each stands for.
    pub fn points(&self) -> impl ExactSizeIterator<Item = (&[u32], &T)> {
        self.points.iter().map(|(costs, value)| (costs.as_slice(), value))
    }

    /// How wide a box is, in units of cost.
    #[must_use]
    pub fn width(&self) -> u32 {
        1 << self.doublings
    }

    /// Whether no point kept stands for this one.
    fn takes(&self, costs: &[u32], value: &T) -> bool {
        let own = in_boxes(costs, self.doublings);
        self.points.iter().all(|(other, kept)| {
            let others = in_boxes(other, self.doublings);
            if own == others {
                let order = along_curve(costs, other).then_with(|| value.cmp(kept));
                order == Ordering::Less
            } else {
                !dominates(&others, &own)
            }
        })
    }

    /// Makes boxes twice as wide. After 31 times each cost has two boxes left: of eight costs no
    /// more than 70 boxes then do not dominate each other.
    fn widen(&mut self) {
        self.doublings += 1;
        assert!(self.doublings < u32::BITS, "so wide boxes are few");
        for (costs, value) in std::mem::take(&mut self.points) {
            // They come in the order of the curve: what dominates is there already.
            if self.takes(&costs, &value) {
                self.points.push((costs, value));
            }
        }
    }
}

fn in_boxes(costs: &[u32], doublings: u32) -> Vec<u32> {
    costs.iter().map(|cost| cost >> doublings).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::front::non_dominated;

    fn archive(points: &[Vec<u32>]) -> Archive<usize> {
        let mut archive = Archive::new();
        for (position, costs) in points.iter().enumerate() {
            archive.offer(costs.clone(), position);
        }
        archive
    }

    fn kept(archive: &Archive<usize>) -> Vec<Vec<u32>> {
        archive.points().map(|(costs, _)| costs.to_vec()).collect()
    }

    /// What the law says is kept, by the law alone: of every box the first along the curve, and of
    /// these the ones whose box no other dominates.
    fn by_law(points: &[Vec<u32>], doublings: u32) -> Vec<Vec<u32>> {
        let mut sorted = points.to_vec();
        sorted.sort_by(|one, other| along_curve(one, other));
        let mut boxes: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
        for costs in sorted {
            let own = in_boxes(&costs, doublings);
            if !boxes.iter().any(|(other, _)| *other == own) {
                boxes.push((own, costs));
            }
        }
        let front = |(own, _): &&(Vec<u32>, Vec<u32>)| {
            !boxes.iter().any(|(other, _)| dominates(other, own))
        };
        boxes.iter().filter(front).map(|(_, costs)| costs.clone()).collect()
    }

    /// Many points near a bent surface, so that most are not dominated.
    fn points() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let one = (0..1000u32, 0..1000u32, 0..60u32)
            .prop_map(|(left, right, above)| vec![left, right, 2000 - left - right + above]);
        proptest::collection::vec(one, 0..400)
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn an_archive_keeps_what_the_law_says_in_whatever_order(
            (points, shuffled) in points().prop_flat_map(|points| {
                (Just(points.clone()), Just(points).prop_shuffle())
            }),
        ) {
            for order in [&points, &shuffled] {
                let archive = archive(order);
                prop_assert!(archive.points().len() <= KEPT_MAX);
                prop_assert_eq!(kept(&archive), by_law(&points, archive.doublings));
            }
        }

        #[test]
        fn no_point_offered_is_better_than_all_kept_by_a_box(points in points()) {
            let archive = archive(&points);
            let width = archive.width();
            for costs in &points {
                let stands_for = |kept: &[u32]| {
                    kept.iter().zip(costs).all(|(kept, cost)| *kept < cost + width)
                };
                prop_assert!(archive.points().any(|(kept, _)| stands_for(kept)), "{:?}", costs);
            }
        }

        #[test]
        fn few_points_are_kept_as_they_are(
            points in proptest::collection::vec(proptest::collection::vec(0..9u32, 2), 0..60),
        ) {
            let archive = archive(&points);
            prop_assert_eq!(archive.width(), 1);
            let mut front: Vec<_> =
                non_dominated(&points).into_iter().map(|one| points[one].clone()).collect();
            front.dedup();
            let mut found = kept(&archive);
            found.sort();
            prop_assert_eq!(found, front);
        }
    }

    #[test]
    fn boxes_widen_only_when_there_are_too_many_points() {
        let line = |count: u32| (0..count).map(|at| vec![at, count - at]).collect::<Vec<_>>();
        assert_eq!((archive(&line(100)).points().len(), archive(&line(100)).width()), (100, 1));
        let wider = archive(&line(101));
        assert_eq!(wider.width(), 2);
        assert!(wider.points().len() <= 51, "{}", wider.points().len());
    }

    #[test]
    fn of_equal_points_the_least_value_is_kept() {
        let mut archive = Archive::new();
        for value in [3, 1, 2] {
            archive.offer(vec![5, 5], value);
        }
        assert_eq!(archive.points().collect::<Vec<_>>(), [([5, 5].as_slice(), &1)]);
    }
}
