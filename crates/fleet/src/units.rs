//! Exact quantities.
//!
//! Capacities, times and rates are integers in a fixed small unit, so that
//! sums never drift and equal inputs give equal bytes on every machine.
//! Floats appear only inside an objective, and leave it as a [`Micro`] score.
//!
//! Arithmetic that cannot be meant (less than nothing free, overflow) is a bug
//! and stops the program; where a caller may legitimately hit the edge there
//! is a `saturating_` form.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::{Deserialize, Serialize};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $inner:ty) => {
        $(#[$doc])*
        #[derive(
            Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize,
        )]
        #[serde(transparent)]
        pub struct $name(pub $inner);

        impl $name {
            /// Nothing of it.
            pub const ZERO: Self = Self(0);

            /// The difference, or nothing where `other` is larger.
            #[must_use]
            pub fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// The sum, or the largest value where it does not fit.
            #[must_use]
            pub fn saturating_add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            /// The product, or the largest value where it does not fit.
            #[must_use]
            pub fn saturating_mul(self, times: $inner) -> Self {
                Self(self.0.saturating_mul(times))
            }

            /// The difference, or nothing at all where `other` is larger.
            #[must_use]
            pub fn checked_sub(self, other: Self) -> Option<Self> {
                self.0.checked_sub(other.0).map(Self)
            }

            /// Whether there is none of it.
            #[must_use]
            pub fn is_zero(self) -> bool {
                self.0 == 0
            }
        }

        impl Add for $name {
            type Output = Self;
            fn add(self, other: Self) -> Self {
                Self(self.0.checked_add(other.0).expect(concat!(stringify!($name), " overflow")))
            }
        }

        impl Sub for $name {
            type Output = Self;
            fn sub(self, other: Self) -> Self {
                Self(self.0.checked_sub(other.0).expect(concat!("less than no ", stringify!($name))))
            }
        }

        impl AddAssign for $name {
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl SubAssign for $name {
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
                items.fold(Self::ZERO, |total, item| total + item)
            }
        }
    };
}

quantity!(
    /// Processor time per time, in thousandths of one core.
    MilliCores, u64
);
quantity!(
    /// An amount of memory or data, in bytes.
    Bytes, u64
);
quantity!(
    /// Thousandths of one whole thing: a share of a device (1..=1000), a weight, a fraction.
    Milli, u32
);
quantity!(
    /// Data over time, in bytes per second.
    Bandwidth, u64
);
quantity!(
    /// Electric power, in thousandths of a watt.
    Milliwatts, u64
);
quantity!(
    /// Energy, in thousandths of a joule.
    Millijoules, u128
);
quantity!(
    /// A length of time, in microseconds.
    Span, u64
);
quantity!(
    /// A moment, in microseconds since the fleet's epoch (in the simulator: since its start).
    Time, u64
);
quantity!(
    /// An amount of work in millionths of the job's own unit (steps, samples, seconds on a
    /// reference).
    Work, u64
);
quantity!(
    /// Speed, in millionths of a work unit per second.
    Rate, u64
);
quantity!(
    /// The number of a signal, in millionths of the signal's own unit.
    Level, u64
);
quantity!(
    /// Millionths of one: a score in (0, 1] is 1..=1_000_000.
    Micro, u32
);

impl Milli {
    /// One whole.
    pub const WHOLE: Self = Self(1000);
}

impl Micro {
    /// One.
    pub const ONE: Self = Self(1_000_000);

    /// Rounds a score in (0, 1] to millionths; what is not above zero becomes the least score.
    #[must_use]
    pub fn score(value: f64) -> Self {
        let scaled = (value * 1e6).round();
        if scaled >= 1e6 {
            Self::ONE
        } else if scaled >= 1.0 {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "within 1..1e6 by the two tests above"
            )]
            Self(scaled as u32)
        } else {
            Self(1)
        }
    }
}

impl Span {
    /// The longest span there is; stands for "no end known".
    pub const MAX: Self = Self(u64::MAX);

    /// A span of whole seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds * 1_000_000)
    }

    /// The span in seconds, for objectives and reports.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Time {
    /// A moment given in whole seconds.
    #[must_use]
    pub const fn seconds(seconds: u64) -> Self {
        Self(seconds * 1_000_000)
    }

    /// The moment in seconds, for reports.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The moment `span` later; the far end of time where that does not fit.
    #[must_use]
    pub fn after(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }

    /// How long it has been since `earlier`; nothing where that lies ahead.
    #[must_use]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Work {
    /// How long this work takes at `rate`, rounded up to the microsecond; `None` at a rate of zero.
    #[must_use]
    pub fn duration(self, rate: Rate) -> Option<Span> {
        if rate.is_zero() {
            return None;
        }
        let micros = (u128::from(self.0) * 1_000_000).div_ceil(u128::from(rate.0));
        Some(Span(u64::try_from(micros).unwrap_or(u64::MAX)))
    }
}

impl Level {
    /// The number, for objectives and reports.
    #[must_use]
    pub fn as_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }
}

impl Milliwatts {
    /// Energy drawn at this power over `span`, rounded down to the millijoule.
    #[must_use]
    pub fn over(self, span: Span) -> Millijoules {
        Millijoules(u128::from(self.0) * u128::from(span.0) / 1_000_000)
    }
}

impl Millijoules {
    /// The energy in joules, for objectives and reports.
    #[must_use]
    pub fn as_joules(self) -> f64 {
        self.0 as f64 / 1e3
    }
}

impl fmt::Display for MilliCores {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_thousandths(out, self.0)
    }
}

impl fmt::Display for Milli {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_thousandths(out, u64::from(self.0))
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 4] =
            [("Ti", 1 << 40), ("Gi", 1 << 30), ("Mi", 1 << 20), ("Ki", 1 << 10)];
        match UNITS.iter().find(|(_, size)| self.0 >= *size) {
            Some((unit, size)) if self.0.is_multiple_of(*size) => {
                write!(out, "{}{unit}", self.0 / size)
            }
            Some((unit, size)) => write!(out, "{:.1}{unit}", self.0 as f64 / *size as f64),
            None => write!(out, "{}", self.0),
        }
    }
}

impl fmt::Display for Bandwidth {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 4] = [
            ("TB/s", 1_000_000_000_000),
            ("GB/s", 1_000_000_000),
            ("MB/s", 1_000_000),
            ("kB/s", 1_000),
        ];
        match UNITS.iter().find(|(_, size)| self.0 >= *size) {
            Some((unit, size)) if self.0.is_multiple_of(*size) => {
                write!(out, "{}{unit}", self.0 / size)
            }
            Some((unit, size)) => write!(out, "{:.1}{unit}", self.0 as f64 / *size as f64),
            None => write!(out, "{}B/s", self.0),
        }
    }
}

impl fmt::Display for Span {
    /// At most the two largest units: `2d3h`, `1h30m`, `45.5s`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0 / 1_000_000;
        let (days, hours, minutes) = (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60);
        match (days, hours, minutes) {
            (1.., 0, _) => write!(out, "{days}d"),
            (1.., ..) => write!(out, "{days}d{hours}h"),
            (0, 1.., 0) => write!(out, "{hours}h"),
            (0, 1.., _) => write!(out, "{hours}h{minutes}m"),
            (0, 0, 1..) if seconds.is_multiple_of(60) => write!(out, "{minutes}m"),
            (0, 0, 1..) => write!(out, "{minutes}m{}s", seconds % 60),
            _ if self.0.is_multiple_of(1_000_000) => write!(out, "{seconds}s"),
            _ if self.0 < 1000 => write!(out, "{}us", self.0),
            _ => {
                let text = format!("{:.3}", self.as_seconds());
                write!(out, "{}s", text.trim_end_matches('0').trim_end_matches('.'))
            }
        }
    }
}

fn write_thousandths(out: &mut fmt::Formatter<'_>, thousandths: u64) -> fmt::Result {
    let (whole, rest) = (thousandths / 1000, thousandths % 1000);
    if rest == 0 {
        write!(out, "{whole}")
    } else {
        write!(out, "{whole}.{}", format!("{rest:03}").trim_end_matches('0'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_rounds_up_and_has_no_end_at_rate_zero() {
        assert_eq!(Work(10).duration(Rate(3)), Some(Span(3_333_334)));
        assert_eq!(Work(10).duration(Rate(0)), None);
        assert_eq!(Work(u64::MAX).duration(Rate(1)), Some(Span::MAX));
    }

    #[test]
    fn quantities_print_as_people_write_them() {
        assert_eq!(MilliCores(1500).to_string(), "1.5");
        assert_eq!(Bytes(40 << 30).to_string(), "40Gi");
        assert_eq!(Bytes(1 << 29).to_string(), "512Mi");
        assert_eq!(Bytes(3 << 29).to_string(), "1.5Gi");
        assert_eq!(Bandwidth(25_000_000_000).to_string(), "25GB/s");
        assert_eq!(Bandwidth(1_969_230_769).to_string(), "2.0GB/s");
        assert_eq!(Bandwidth(999).to_string(), "999B/s");
        assert_eq!(Span::seconds(90).to_string(), "1m30s");
        assert_eq!(Span::seconds(5400).to_string(), "1h30m");
        assert_eq!(Span::seconds(86_400 * 2).to_string(), "2d");
        assert_eq!(Span(45_500_000).to_string(), "45.5s");
        assert_eq!(Span(10_000_001).to_string(), "10s");
        assert_eq!(Span(1).to_string(), "1us");
        assert_eq!(Span(1_000).to_string(), "0.001s");
        assert_eq!(Milli(460).to_string(), "0.46");
    }

    #[test]
    fn scores_stay_above_zero_and_at_most_one() {
        assert_eq!(Micro::score(2.0), Micro::ONE);
        assert_eq!(Micro::score(0.0), Micro(1));
        assert_eq!(Micro::score(f64::NAN), Micro(1));
        assert_eq!(Micro::score(0.25), Micro(250_000));
    }

    #[test]
    #[should_panic(expected = "less than no MilliCores")]
    fn less_than_nothing_is_a_bug() {
        let _ = MilliCores(1) - MilliCores(2);
    }
}
