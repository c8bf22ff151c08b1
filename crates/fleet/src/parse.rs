//! Quantities as people write them, into exact integers.
//!
//! In comes text (`0.5` cores, `40Gi`, `1h30m`, `1.5kW`) or a number from TOML
//! or JSON; out goes the quantity in its own unit, or a [`ParseError`] that
//! says what was given, what is wrong with it and what would be right.
//! Decimals are reckoned exactly: what the unit cannot hold is refused, never
//! rounded.
//!
//! Every quantity is read by one notation: a table of the units that may
//! be written and what each is worth. Durations have two more forms, the chain
//! `1h30m` and the clock `D-HH:MM:SS`.

use std::str::FromStr;

use thiserror::Error;

use crate::units::{
    Bandwidth, Bytes, Level, Milli, MilliCores, Millijoules, Milliwatts, Rate, Span, Work,
};

/// Why a text or number is not the quantity that it should be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ParseError {
    /// Not a plain decimal number, with or without a unit.
    #[error("{what} {given:?} is not a plain decimal number; write it like {example}")]
    NotANumber {
        /// The quantity.
        what: &'static str,
        /// What was given.
        given: String,
        /// What would be right.
        example: &'static str,
    },
    /// Less than nothing.
    #[error("{what} {given:?} is negative; write it like {example}")]
    Negative {
        /// The quantity.
        what: &'static str,
        /// What was given.
        given: String,
        /// What would be right.
        example: &'static str,
    },
    /// A number without the unit that it needs.
    #[error("{what} {given:?} has no unit; write it like {example}, with one of {units}")]
    UnitMissing {
        /// The quantity.
        what: &'static str,
        /// What was given.
        given: String,
        /// What would be right.
        example: &'static str,
        /// The units there are.
        units: String,
    },
    /// A unit that the quantity does not come in.
    #[error("{what} {given:?} has the unknown unit {unit:?}; use one of {units}")]
    UnitUnknown {
        /// The quantity.
        what: &'static str,
        /// What was given.
        given: String,
        /// The unknown unit.
        unit: String,
        /// The units there are.
        units: String,
    },
    /// More decimals than the quantity holds.
    #[error("{what} {given:?} is finer than {finest}, the least step; write fewer decimals")]
    TooFine {
        /// The quantity.
        what: &'static str,
        /// What was given.
        given: String,
        /// The least step of the quantity.
        finest: &'static str,
    },
    /// More than the quantity holds.
    #[error("{what} {given:?} is too large; the most is {most}")]
    TooLarge {
        /// The quantity.
        what: &'static str,
        /// What was given.
        given: String,
        /// The largest value.
        most: String,
    },
    /// Parts of a duration that are not from large to small, or a decimal before the last.
    #[error(
        "duration {given:?} is out of order; write larger units first, each once, and decimals in \
         the last only, like 1h30m"
    )]
    OutOfOrder {
        /// What was given.
        given: String,
    },
    /// Colons that are not a time of the clock.
    #[error(
        "duration {given:?} is not a time by the clock; write D-HH:MM:SS or HH:MM:SS, minutes and \
         seconds at most 59, and hours at most 23 after days"
    )]
    NotAClock {
        /// What was given.
        given: String,
    },
}

/// How a quantity is written.
struct Notation {
    /// Its word in messages.
    what: &'static str,
    /// Its units and what each is worth in the smallest; the empty one stands for a bare number.
    units: &'static [(&'static str, u64)],
    /// A right way to write it.
    example: &'static str,
    /// The smallest unit, for people.
    finest: &'static str,
    /// The largest value in the smallest unit.
    most: u128,
}

const CORES: Notation = Notation {
    what: "number of cores",
    units: &[("", 1000)],
    example: "8 or 0.5",
    finest: "0.001",
    most: u64::MAX as u128,
};

const FRACTION: Notation = Notation {
    what: "fraction",
    units: &[("", 1000)],
    example: "1 or 0.25",
    finest: "0.001",
    most: u32::MAX as u128,
};

const RATE: Notation = Notation {
    what: "rate",
    units: &[("", 1_000_000)],
    example: "2 or 0.125",
    finest: "0.000001",
    most: u64::MAX as u128,
};

const LEVEL: Notation = Notation { what: "number of a signal", example: "3.5 or 0", ..RATE };

const WORK: Notation = Notation { what: "work", ..RATE };

const SIZE: Notation = Notation {
    what: "size",
    units: &[
        ("", 1),
        ("B", 1),
        ("K", 1_000),
        ("KB", 1_000),
        ("k", 1_000),
        ("kB", 1_000),
        ("Ki", 1 << 10),
        ("KiB", 1 << 10),
        ("M", 1_000_000),
        ("MB", 1_000_000),
        ("Mi", 1 << 20),
        ("MiB", 1 << 20),
        ("G", 1_000_000_000),
        ("GB", 1_000_000_000),
        ("Gi", 1 << 30),
        ("GiB", 1 << 30),
        ("T", 1_000_000_000_000),
        ("TB", 1_000_000_000_000),
        ("Ti", 1 << 40),
        ("TiB", 1 << 40),
        ("P", 1_000_000_000_000_000),
        ("PB", 1_000_000_000_000_000),
        ("Pi", 1 << 50),
        ("PiB", 1 << 50),
    ],
    example: "40Gi or 40GB",
    finest: "one byte",
    most: u64::MAX as u128,
};

const BANDWIDTH: Notation = Notation {
    what: "bandwidth",
    units: &[
        ("B/s", 1),
        ("kB/s", 1_000),
        ("KB/s", 1_000),
        ("KiB/s", 1 << 10),
        ("MB/s", 1_000_000),
        ("MiB/s", 1 << 20),
        ("GB/s", 1_000_000_000),
        ("GiB/s", 1 << 30),
        ("TB/s", 1_000_000_000_000),
        ("TiB/s", 1 << 40),
        ("Mbit/s", 125_000),
        ("Gbit/s", 125_000_000),
        ("Tbit/s", 125_000_000_000),
    ],
    example: "25GB/s or 100Gbit/s",
    finest: "one byte per second",
    most: u64::MAX as u128,
};

/// Small to large: a chain like `1h30m` must go down this table.
const DURATION: Notation = Notation {
    what: "duration",
    units: &[
        ("us", 1),
        ("ms", 1_000),
        ("s", 1_000_000),
        ("m", 60_000_000),
        ("h", 3_600_000_000),
        ("d", 86_400_000_000),
    ],
    example: "90s or 1h30m",
    finest: "one microsecond",
    most: u64::MAX as u128,
};

const POWER: Notation = Notation {
    what: "power",
    units: &[("mW", 1), ("W", 1_000), ("kW", 1_000_000), ("MW", 1_000_000_000)],
    example: "50W or 1.5kW",
    finest: "one milliwatt",
    most: u64::MAX as u128,
};

const ENERGY: Notation = Notation {
    what: "energy",
    units: &[
        ("mJ", 1),
        ("J", 1_000),
        ("kJ", 1_000_000),
        ("MJ", 1_000_000_000),
        ("GJ", 1_000_000_000_000),
        ("Wh", 3_600_000),
        ("kWh", 3_600_000_000),
        ("MWh", 3_600_000_000_000),
    ],
    example: "100kJ or 1kWh",
    finest: "one millijoule",
    most: u128::MAX,
};

macro_rules! from_text {
    ($name:ident, $inner:ty, $read:expr) => {
        impl FromStr for $name {
            type Err = ParseError;

            fn from_str(text: &str) -> Result<Self, ParseError> {
                let value = $read(text)?;
                Ok(Self(<$inner>::try_from(value).expect("the notation bounds the value")))
            }
        }
    };
}

from_text!(MilliCores, u64, |text| read(&CORES, text));
from_text!(Milli, u32, |text| read(&FRACTION, text));
from_text!(Rate, u64, |text| read(&RATE, text));
from_text!(Work, u64, |text| read(&WORK, text));
from_text!(Level, u64, |text| read(&LEVEL, text));
from_text!(Bytes, u64, |text| read(&SIZE, text));
from_text!(Bandwidth, u64, |text| read(&BANDWIDTH, text));
from_text!(Milliwatts, u64, |text| read(&POWER, text));
from_text!(Millijoules, u128, |text| read(&ENERGY, text));
from_text!(Span, u64, read_duration);

macro_rules! from_number {
    ($name:ident, $inner:ty, $notation:expr) => {
        impl $name {
            /// The quantity that a number in TOML or JSON stands for.
            ///
            /// # Errors
            /// If it is not finite, negative, too large, or has more decimals than the quantity
            /// holds.
            pub fn from_number(number: f64) -> Result<Self, ParseError> {
                let value = convert(&$notation, number)?;
                Ok(Self(<$inner>::try_from(value).expect("the notation bounds the value")))
            }
        }
    };
}

from_number!(MilliCores, u64, CORES);
from_number!(Milli, u32, FRACTION);
from_number!(Rate, u64, RATE);
from_number!(Work, u64, WORK);
from_number!(Level, u64, LEVEL);

/// The value of `text` in the smallest unit of the notation: a decimal number with one unit.
fn read(notation: &Notation, text: &str) -> Result<u128, ParseError> {
    let (number, unit) = split_unit(text);
    let worth = worth(notation, number, unit, text)?;
    scale(notation, number, worth, text)
}

/// The value of a duration in microseconds, in any of its three forms.
fn read_duration(text: &str) -> Result<u128, ParseError> {
    if text.contains(':') {
        return read_clock(text);
    }
    let mut rest = text;
    let mut total: u128 = 0;
    let mut last = u64::MAX;
    loop {
        let (number, tail) = split_unit(rest);
        let (unit, tail) = tail.split_at(tail.find(starts_number).unwrap_or(tail.len()));
        let worth = worth(&DURATION, number, unit, text)?;
        if worth >= last || (number.contains('.') && !tail.is_empty()) {
            return Err(ParseError::OutOfOrder { given: text.into() });
        }
        total = total.saturating_add(scale(&DURATION, number, worth, text)?);
        if tail.is_empty() {
            return within(&DURATION, total, text);
        }
        (rest, last) = (tail, worth);
    }
}

/// `D-HH:MM:SS` or `HH:MM:SS`.
fn read_clock(text: &str) -> Result<u128, ParseError> {
    let wrong = || ParseError::NotAClock { given: text.into() };
    let (days, clock) = match text.split_once('-') {
        Some((days, clock)) => (Some(days), clock),
        None => (None, text),
    };
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    let [hours, minutes, seconds] =
        clock.split(':').collect::<Vec<_>>().try_into().map_err(|_| wrong())?;
    let all = [days.unwrap_or("0"), hours, minutes, seconds];
    if all.iter().any(|part| part.is_empty() || !digits(part)) {
        return Err(wrong());
    }
    if all[2].len() != 2 || all[3].len() != 2 || minutes > "59" || seconds > "59" {
        return Err(wrong());
    }
    if days.is_some() && (hours.len() != 2 || hours > "23") {
        return Err(wrong());
    }
    let mut total: u128 = 0;
    for (part, unit) in all.into_iter().zip(["d", "h", "m", "s"]) {
        let worth = worth(&DURATION, part, unit, text)?;
        total = total.saturating_add(scale(&DURATION, part, worth, text)?);
    }
    within(&DURATION, total, text)
}

/// What one of this unit is worth, in the smallest.
fn worth(notation: &Notation, number: &str, unit: &str, given: &str) -> Result<u64, ParseError> {
    let Notation { what, example, .. } = *notation;
    if given.starts_with('-') {
        return Err(ParseError::Negative { what, given: given.into(), example });
    }
    if number.is_empty() {
        return Err(not_a_number(notation, given));
    }
    if let Some((_, worth)) = notation.units.iter().find(|(name, _)| *name == unit) {
        return Ok(*worth);
    }
    if notation.units.len() == 1 {
        return Err(not_a_number(notation, given));
    }
    let names: Vec<_> = notation.units.iter().map(|(name, _)| *name).collect();
    let units = names.join(" ").trim_start().to_owned();
    Err(match unit {
        "" => ParseError::UnitMissing { what, given: given.into(), example, units },
        _ => ParseError::UnitUnknown { what, given: given.into(), unit: unit.into(), units },
    })
}

/// `number` times `worth`, exactly.
fn scale(notation: &Notation, number: &str, worth: u64, given: &str) -> Result<u128, ParseError> {
    /// Decimals that can be reckoned with; no unit holds more.
    const PLACES_MAX: usize = 18;
    let (whole, decimals) = number.split_once('.').unwrap_or((number, "0"));
    if whole.is_empty() || decimals.is_empty() || decimals.contains('.') {
        return Err(not_a_number(notation, given));
    }
    let decimals = decimals.trim_end_matches('0');
    if decimals.len() > PLACES_MAX {
        return Err(too_fine(notation, given));
    }
    let divisor = (0..decimals.len()).fold(1, |power: u128, _| power * 10);
    let fraction = decimals.parse().unwrap_or(0) * u128::from(worth);
    if fraction % divisor != 0 {
        return Err(too_fine(notation, given));
    }
    let whole = whole.parse::<u128>().ok().and_then(|whole| whole.checked_mul(worth.into()));
    let total = whole.and_then(|whole| whole.checked_add(fraction / divisor));
    within(notation, total.ok_or_else(|| too_large(notation, given))?, given)
}

/// The value that a float stands for, in the smallest unit of a notation of bare numbers.
///
/// A float is exact enough if it is the one nearest to a decimal that the quantity holds, or
/// misses it by less than a millionth of the smallest unit.
fn convert(notation: &Notation, number: f64) -> Result<u128, ParseError> {
    let Notation { what, example, .. } = *notation;
    let given = || number.to_string();
    if !number.is_finite() {
        return Err(not_a_number(notation, &given()));
    }
    if number < 0.0 {
        return Err(ParseError::Negative { what, given: given(), example });
    }
    let worth = notation.units[0].1 as f64;
    let scaled = number * worth;
    let rounded = scaled.round();
    if rounded >= notation.most as f64 + 1.0 {
        return Err(too_large(notation, &given()));
    }
    if (scaled - rounded).abs() >= 1e-6 && rounded / worth != number {
        return Err(too_fine(notation, &given()));
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "whole, not negative and within the notation's bound by the tests above"
    )]
    let value = rounded as u128;
    within(notation, value, &given())
}

fn within(notation: &Notation, value: u128, given: &str) -> Result<u128, ParseError> {
    if value > notation.most {
        return Err(too_large(notation, given));
    }
    Ok(value)
}

/// The leading digits and points, and what follows.
fn split_unit(text: &str) -> (&str, &str) {
    text.split_at(text.find(|letter| !starts_number(letter)).unwrap_or(text.len()))
}

fn starts_number(letter: char) -> bool {
    letter.is_ascii_digit() || letter == '.'
}

fn not_a_number(notation: &Notation, given: &str) -> ParseError {
    let Notation { what, example, .. } = *notation;
    ParseError::NotANumber { what, given: given.into(), example }
}

fn too_fine(notation: &Notation, given: &str) -> ParseError {
    let Notation { what, finest, .. } = *notation;
    ParseError::TooFine { what, given: given.into(), finest }
}

/// The most is told in the largest unit that is written, rounded down.
fn too_large(notation: &Notation, given: &str) -> ParseError {
    let (unit, worth) = notation.units.iter().max_by_key(|(_, worth)| *worth).unwrap_or(&("", 1));
    let most = format!("{}{unit}", notation.most / u128::from(*worth));
    ParseError::TooLarge { what: notation.what, given: given.into(), most }
}

#[cfg(test)]
mod tests;
