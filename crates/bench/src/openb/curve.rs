//! Curves: what was measured after each arrival, averaged over arrivals of one load.

/// The largest load of a curve, in percent.
pub const LOAD_MAX: usize = 130;

/// Values by load in whole percent, averaged.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    sums: Vec<f64>,
    counts: Vec<u32>,
}

impl Default for Curve {
    fn default() -> Self {
        Self { sums: vec![0.0; LOAD_MAX + 1], counts: vec![0; LOAD_MAX + 1] }
    }
}

impl Curve {
    /// Counts a value at this load, unless it is beyond the end.
    pub fn add(&mut self, load: usize, value: f64) {
        if let (Some(sum), Some(count)) = (self.sums.get_mut(load), self.counts.get_mut(load)) {
            *sum += value;
            *count += 1;
        }
    }

    /// The mean at this load; nothing where no arrival had it.
    #[must_use]
    pub fn at(&self, load: usize) -> Option<f64> {
        let count = self.counts.get(load).copied().filter(|count| *count > 0)?;
        Some(self.sums[load] / f64::from(count))
    }
}

/// A load in percent, rounded to whole ones, half up.
#[must_use]
pub fn load_of(arrived: u64, capacity: u64) -> usize {
    let twice = (200 * arrived + capacity).checked_div(2 * capacity).unwrap_or(0);
    usize::try_from(twice).unwrap_or(usize::MAX)
}

/// The mean of several values; nothing where there are none, or one is missing.
#[must_use]
pub fn mean(values: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let values: Option<Vec<f64>> = values.collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_rounded_to_whole_percents() {
        assert_eq!(load_of(0, 1000), 0);
        assert_eq!(load_of(4, 1000), 0);
        assert_eq!(load_of(5, 1000), 1);
        assert_eq!(load_of(14, 1000), 1);
        assert_eq!(load_of(1300, 1000), 130);
    }

    #[test]
    fn curve_averages_arrivals_of_one_load_and_ends() {
        let mut curve = Curve::default();
        curve.add(2, 1.0);
        curve.add(2, 4.0);
        curve.add(LOAD_MAX + 1, 9.0);
        assert_eq!(curve.at(2), Some(2.5));
        assert_eq!(curve.at(3), None);
        assert_eq!(curve.at(LOAD_MAX + 1), None);
    }

    #[test]
    fn mean_of_what_is_missing_is_missing() {
        assert_eq!(mean([Some(1.0), Some(3.0)].into_iter()), Some(2.0));
        assert_eq!(mean([Some(1.0), None].into_iter()), None);
        assert_eq!(mean(std::iter::empty()), None);
    }
}
