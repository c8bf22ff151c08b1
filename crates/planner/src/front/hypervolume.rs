//! The hypervolume: how much of the space below a reference some point is better than.
//!
//! Exact, in whole units, for up to [`OBJECTIVES_MAX`] costs: costs have 32
//! bits, and four of them multiplied have 128. It is cut into slices along the
//! last cost, in each of which the points at or below it count in the others.
//! It never shrinks when a point is added, and the order of points is nothing
//! to it.

use super::non_dominated;

/// The most costs of a point.
pub const OBJECTIVES_MAX: usize = 4;

/// The volume of all that some point is better than and that is better than the reference. A point
/// that is not below the reference in every cost adds nothing.
///
/// # Panics
/// If there are no costs, more than [`OBJECTIVES_MAX`], or points of another length.
#[must_use]
pub fn hypervolume<P: AsRef<[u32]>>(points: &[P], reference: &[u32]) -> u128 {
    let count = reference.len();
    assert!((1..=OBJECTIVES_MAX).contains(&count), "a volume of {count} costs is not exact");
    let mut below: Vec<&[u32]> = points.iter().map(AsRef::as_ref).collect();
    below.retain(|costs| {
        assert_eq!(costs.len(), count, "points and reference are in the same objectives");
        costs.iter().zip(reference).all(|(cost, limit)| cost < limit)
    });
    volume(&below, reference)
}

fn volume(points: &[&[u32]], reference: &[u32]) -> u128 {
    let [others @ .., limit] = reference else { return u128::from(!points.is_empty()) };
    // What is dominated adds nothing, and slices are fewer without it.
    let mut points: Vec<&[u32]> = non_dominated(points).into_iter().map(|at| points[at]).collect();
    points.sort_by_key(|costs| costs.last().copied());
    let mut total = 0;
    let mut below: Vec<&[u32]> = Vec::with_capacity(points.len());
    for (position, costs) in points.iter().enumerate() {
        let (last, rest) = costs.split_last().expect("as many costs as the reference");
        below.push(rest);
        let next = points.get(position + 1).and_then(|next| next.last()).unwrap_or(limit);
        if next > last {
            total += u128::from(next - last) * volume(&below, others);
        }
    }
    total
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// By inclusion and exclusion over every set of points: another way to the same number.
    fn by_inclusion(points: &[Vec<u32>], reference: &[u32]) -> i128 {
        let mut total = 0;
        for set in 1..1_u32 << points.len() {
            let chosen = || (0..points.len()).filter(|one| set & (1 << one) != 0);
            let side = |objective: usize| {
                let worst = chosen().map(|one| points[one][objective]).max();
                i128::from(reference[objective].saturating_sub(worst.expect("not empty")))
            };
            let volume: i128 = (0..reference.len()).map(side).product();
            total += if set.count_ones() % 2 == 1 { volume } else { -volume };
        }
        total
    }

    /// Up to eight points of so many costs.
    fn points(costs: usize) -> impl Strategy<Value = Vec<Vec<u32>>> {
        proptest::collection::vec(proptest::collection::vec(0..12u32, costs), 0..8)
    }

    fn exact(points: &[Vec<u32>], costs: usize) -> u128 {
        hypervolume(points, &vec![10; costs])
    }

    proptest! {
        #[test]
        fn the_volume_is_that_of_inclusion_and_exclusion(
            points in (1..=4usize).prop_flat_map(points),
        ) {
            let costs = points.first().map_or(1, Vec::len);
            let reference = vec![10; costs];
            prop_assert_eq!(exact(&points, costs) as i128, by_inclusion(&points, &reference));
        }

        #[test]
        fn the_volume_grows_with_points_and_does_not_depend_on_their_order(
            (points, shuffled) in points(3).prop_flat_map(|points| {
                (Just(points.clone()), Just(points).prop_shuffle())
            }),
        ) {
            prop_assert_eq!(exact(&points, 3), exact(&shuffled, 3));
            for count in 1..=points.len() {
                prop_assert!(exact(&points[..count], 3) >= exact(&points[..count - 1], 3));
            }
        }
    }

    #[test]
    fn known_volumes_are_found() {
        assert_eq!(hypervolume(&[[1, 3], [2, 2], [3, 1]], &[4, 4]), 6);
        assert_eq!(hypervolume(&[[0, 0, 0]], &[2, 3, 4]), 24);
        assert_eq!(hypervolume(&[[0, 0, 1], [1, 1, 0]], &[2, 2, 2]), 5);
        assert_eq!(hypervolume(&[[0_u32, 5]], &[5, 5]), 0);
        assert_eq!(hypervolume::<[u32; 2]>(&[], &[5, 5]), 0);
        let most = u128::from(u32::MAX);
        assert_eq!(hypervolume(&[[0; 4]], &[u32::MAX; 4]), most * most * most * most);
    }
}
