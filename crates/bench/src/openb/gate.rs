//! The gate: how far what we measure is from what was published.
//!
//! Only once the policies that draw nothing agree with their published results
//! does any other comparison on this protocol mean something.

use super::curve::Curve;
use super::figures::Figures;
use super::published::{MeanCurves, Published};

/// The most that a figure may be off, in percentage points.
pub const MOST: f64 = 0.03;

/// The seeds that the published mean curves are of.
const CURVE_SEEDS: std::ops::RangeInclusive<u64> = 42..=51;

/// How far off each policy is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gate {
    /// One for each policy that is compared.
    pub rows: Vec<Row>,
}

/// How far off one policy is, in percentage points.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The policy.
    pub name: String,
    /// The largest difference of a seed at 130 % load.
    pub by_seed: Option<f64>,
    /// The largest difference of the mean curve of what is allocated.
    pub allocated: Option<f64>,
    /// The largest difference of the mean curve of what is unusable, of all GPUs.
    pub fragmented: Option<f64>,
    /// The largest difference of the mean curve of what is unusable, of what is free.
    pub fragmented_of_free: Option<f64>,
}

impl Gate {
    /// The largest difference of a seed at 130 % load.
    #[must_use]
    pub fn by_seed(&self) -> Option<f64> {
        self.rows.iter().filter_map(|row| row.by_seed).reduce(f64::max)
    }

    /// The largest difference of a mean curve.
    #[must_use]
    pub fn curves(&self) -> Option<f64> {
        let curves = |row: &Row| [row.allocated, row.fragmented, row.fragmented_of_free];
        self.rows.iter().flat_map(curves).flatten().reduce(f64::max)
    }
}

/// Compares what can be compared.
#[must_use]
pub fn compare(figures: &[Figures], published: &Published) -> Gate {
    let rows = figures.iter().filter_map(|figures| row(figures, published)).collect();
    Gate { rows }
}

fn row(figures: &Figures, published: &Published) -> Option<Row> {
    let name = figures.contender.name();
    let differences = figures.by_seed.iter().filter_map(|(seed, outcome)| {
        let theirs = published.at_130(name, *seed)?;
        Some((outcome.curves.allocated.at(130)? - theirs).abs())
    });
    let by_seed = differences.reduce(f64::max);
    let same_seeds = figures.by_seed.iter().map(|(seed, _)| *seed).eq(CURVE_SEEDS);
    let curves = published.curves(name).filter(|_| same_seeds);
    let largest = |theirs: fn(&MeanCurves) -> &[f64], ours: fn(&Figures) -> Vec<&Curve>| {
        curves.map(|curves| largest_difference(theirs(curves), &ours(figures)))
    };
    let row = Row {
        name: name.to_owned(),
        by_seed,
        allocated: largest(|one| &one.alloc_pct, |one| one.curves(|curves| &curves.allocated)),
        fragmented: largest(
            |one| &one.frag_amount_pct_of_gpus,
            |one| one.curves(|curves| &curves.fragmented),
        ),
        fragmented_of_free: largest(
            |one| &one.frag_ratio_pct,
            |one| one.curves(|curves| &curves.fragmented_of_free),
        ),
    };
    (by_seed.is_some() || curves.is_some()).then_some(row)
}

/// The largest difference between a published curve and the mean of ours.
fn largest_difference(theirs: &[f64], ours: &[&Curve]) -> f64 {
    let difference = |(load, theirs): (usize, &f64)| {
        let mean = super::curve::mean(ours.iter().map(|curve| curve.at(load)));
        mean.map_or(f64::INFINITY, |mean| (mean - theirs).abs())
    };
    theirs.iter().enumerate().map(difference).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_compared_point_by_point_with_the_mean() {
        let (mut one, mut other) = (Curve::default(), Curve::default());
        for (load, value) in [(0, 1.0), (1, 2.0)] {
            one.add(load, value);
            other.add(load, value + 1.0);
        }
        assert_eq!(largest_difference(&[1.5, 2.25], &[&one, &other]), 0.25);
        assert_eq!(largest_difference(&[1.5, 2.5, 3.0], &[&one, &other]), f64::INFINITY);
    }
}
