//! Confidence intervals of a mean.
//!
//! Values that were drawn independently come in, such as the differences of
//! two policies seed by seed; out goes where the mean of all values that could
//! be drawn is likely to lie, by Student's t with one degree of freedom less
//! than there are values. It takes the mean of the values for normal, which
//! holds for few seeds only where the differences themselves are nearly so.

use serde::Serialize;
use statrs::distribution::{ContinuousCDF as _, StudentsT};

use super::mean;

/// How often such an interval holds what it is meant to hold.
pub const CONFIDENCE: f64 = 0.95;

/// Where a mean is likely to lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// The interval of the mean of these values at [`CONFIDENCE`], two-sided. None for fewer than
    /// two: one value says nothing of how much they differ.
    #[must_use]
    pub fn of_mean(values: &[f64]) -> Option<Self> {
        let freedom = values.len().checked_sub(1).filter(|freedom| *freedom > 0)? as f64;
        let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
        let mean = mean(values);
        let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / freedom;
        let error = (variance / values.len() as f64).sqrt();
        let reach = student.inverse_cdf(f64::midpoint(CONFIDENCE, 1.0)) * error;
        Some(Self { low: mean - reach, high: mean + reach })
    }

    /// Whether a mean of zero is unlikely.
    #[must_use]
    pub fn excludes_zero(&self) -> bool {
        self.low > 0.0 || self.high < 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reach ÷ (standard deviation ÷ √n) is the quantile, here from published tables of t.
    #[test]
    fn reach_is_the_tabled_quantile_of_t() {
        for (count, quantile) in [(2_u32, 12.706_205), (3, 4.302_653), (10, 2.262_157)] {
            let values: Vec<f64> = (0..count).map(f64::from).collect();
            let number = f64::from(count);
            // The variance of 0, 1, …, n − 1 with the divisor n − 1.
            let deviation = (number * (number + 1.0) / 12.0).sqrt();
            let interval = Interval::of_mean(&values).unwrap();
            let reach = (interval.high - interval.low) / 2.0;
            assert!((reach / (deviation / number.sqrt()) - quantile).abs() < 1e-5, "{count}");
            assert!(
                (f64::midpoint(interval.low, interval.high) - (number - 1.0) / 2.0).abs() < 1e-9
            );
        }
    }

    #[test]
    fn fewer_than_two_values_have_no_interval() {
        assert_eq!(Interval::of_mean(&[]), None);
        assert_eq!(Interval::of_mean(&[3.0]), None);
    }

    #[test]
    fn equal_values_leave_no_doubt() {
        let interval = Interval::of_mean(&[-2.0; 5]).unwrap();
        assert_eq!(interval, Interval { low: -2.0, high: -2.0 });
        assert!(interval.excludes_zero());
        assert!(!Interval::of_mean(&[0.0; 5]).unwrap().excludes_zero());
        assert!(!Interval::of_mean(&[-1.0, 1.0, 0.5]).unwrap().excludes_zero());
    }
}
