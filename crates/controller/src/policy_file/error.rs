//! What may be wrong with a policy file.

use std::fmt;

use fleet::Milli;
use fleet::parse::ParseError;
use thiserror::Error;

/// Where in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file, as it was called when it was read.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}:{}", self.file, self.line)
    }
}

/// Why a text is not a policy.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PolicyError {
    /// It is not TOML.
    #[error("{at}: {detail}")]
    Syntax {
        /// Where.
        at: Place,
        /// What the TOML reader says, on one line.
        detail: String,
    },
    /// It is of a version of the form that is not known.
    #[error("{at}: format {found} is unknown; this program reads format {known}")]
    Format {
        /// Where.
        at: Place,
        /// The version, as written.
        found: String,
        /// The version that is read.
        known: u32,
    },
    /// A word that is not one of those that may stand there.
    #[error("{at}: unknown {what} {word:?}; {}", hint(*nearest, valid))]
    Unknown {
        /// Where.
        at: Place,
        /// What it would have been: a field, an objective, a rule.
        what: &'static str,
        /// The word.
        word: String,
        /// The valid word that it is most like.
        nearest: Option<&'static str>,
        /// Every valid word.
        valid: Vec<&'static str>,
    },
    /// A field that must be there is not.
    #[error("{at}: field {field:?} is missing")]
    Missing {
        /// Where its table begins.
        at: Place,
        /// The field.
        field: String,
    },
    /// A field that nothing would read.
    #[error(
        "{at}: field {field:?} is read with pick = {} only, and pick is {pick:?}",
        quoted(with)
    )]
    Unread {
        /// Where.
        at: Place,
        /// The field.
        field: &'static str,
        /// The picks with which it is read.
        with: Vec<&'static str>,
        /// How the policy picks.
        pick: &'static str,
    },
    /// A field that cannot stand beside another.
    #[error("{at}: field {field:?} cannot stand beside {by:?}")]
    Excluded {
        /// Where.
        at: Place,
        /// The field.
        field: &'static str,
        /// The other.
        by: &'static str,
    },
    /// A value that is of another type, or outside its bounds.
    #[error("{at}: {field} is {found}, and should be {wanted}")]
    Value {
        /// Where.
        at: Place,
        /// The field.
        field: String,
        /// The value, as written.
        found: String,
        /// What would be right.
        wanted: &'static str,
    },
    /// A value that cannot be read as its quantity.
    #[error("{at}: {field}")]
    Quantity {
        /// Where.
        at: Place,
        /// The field.
        field: String,
        /// What is wrong with it.
        #[source]
        source: Box<ParseError>,
    },
    /// A word that stands twice in a list of different ones.
    #[error("{at}: {word:?} stands twice in {field:?}")]
    Repeated {
        /// Where it stands again.
        at: Place,
        /// The list.
        field: &'static str,
        /// The word.
        word: &'static str,
    },
    /// Too many tiers, or none.
    #[error("{at}: {found} tiers, and there may be 1 to {}", fleet::policy::TIERS_MAX)]
    TierCount {
        /// Where.
        at: Place,
        /// How many there are.
        found: usize,
    },
    /// Limits that are none.
    #[error("{at}: {field} has no limit, so every choice would keep it")]
    Limitless {
        /// Where.
        at: Place,
        /// The limits.
        field: String,
    },
    /// More signals than a policy may weigh.
    #[error("{at}: {found} signals are weighed, and there may be {}", fleet::policy::EXTERNALS_MAX)]
    Externals {
        /// Where the tier begins with which there are too many.
        at: Place,
        /// How many there are.
        found: usize,
    },
    /// Weights that are all zero.
    #[error("{at}: {field} has no weight above 0, so nothing would be weighed")]
    Weightless {
        /// Where.
        at: Place,
        /// The vector.
        field: String,
    },
    /// Thresholds that leave a regime which is never entered.
    #[error("{at}: low is {low} and high is {high}, and should be 0 < low < high < 1")]
    Thresholds {
        /// Where the tier begins.
        at: Place,
        /// The lower one.
        low: Milli,
        /// The upper one.
        high: Milli,
    },
    /// Hysteresis so wide that a regime would last into the next but one.
    #[error("{at}: hysteresis is {found}, and should be under {limit}, half of high − low")]
    Hysteresis {
        /// Where.
        at: Place,
        /// What it is.
        found: Milli,
        /// Half the distance between the thresholds, rounded up.
        limit: Milli,
    },
}

/// `"weighted" or "knee"`.
fn quoted(words: &[&str]) -> String {
    words.iter().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(" or ")
}

/// The word to write instead, or all that there are.
fn hint(nearest: Option<&str>, valid: &[&str]) -> String {
    match nearest {
        Some(word) => format!("did you mean {word:?}?"),
        None => format!("it may be {}", valid.join(", ")),
    }
}
