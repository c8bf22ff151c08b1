//! Which column of a foreign table is which field of a job.

use std::fmt;
use std::str::FromStr;

use controller::policy_file::nearest;
use fleet::{Bytes, Span};
use thiserror::Error;

use super::super::error::{list, shorten};
use super::{FIELDS, LABEL, RATE};

/// A column that is read as a field: `cores=ncpus`, or `memory=mem_mb:MiB` where bare numbers in
/// that column have a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mapping {
    field: String,
    column: String,
    unit: Option<String>,
}

/// Why a text maps no column.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MappingError {
    /// Not two names with `=` between.
    #[error("{given:?} maps no column; write FIELD=COLUMN, like cores=ncpus")]
    Form {
        /// What was given.
        given: String,
    },
    /// The field is none of a job.
    #[error("a job has no field {field:?}; {advice}")]
    NoField {
        /// The field.
        field: String,
        /// What to do.
        advice: String,
    },
}

/// Why columns cannot be mapped as asked.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ColumnFault {
    /// The header has no such column.
    #[error("the header has no column {column:?} to read as {field}; {advice}")]
    NoColumn {
        /// The column.
        column: String,
        /// What it was to be read as.
        field: String,
        /// What to do.
        advice: String,
    },
    /// Two columns for one field.
    #[error("{field} is mapped to two columns, {first:?} and {second:?}; choose one")]
    FieldTwice {
        /// The field.
        field: String,
        /// The first column.
        first: String,
        /// The other.
        second: String,
    },
}

impl Mapping {
    /// The field of a job.
    pub(super) fn field(&self) -> &str {
        &self.field
    }

    /// The column of the table.
    pub(super) fn column(&self) -> &str {
        &self.column
    }

    /// The unit of bare numbers.
    pub(super) fn unit(&self) -> Option<&str> {
        self.unit.as_deref()
    }
}

impl FromStr for Mapping {
    type Err = MappingError;

    fn from_str(text: &str) -> Result<Self, MappingError> {
        let form = || MappingError::Form { given: shorten(text) };
        let (field, column) = text.split_once('=').ok_or_else(form)?;
        let (field, column) = (field.trim(), column.trim());
        if field.is_empty() || column.is_empty() {
            return Err(form());
        }
        if !is_field(field) {
            let (field, advice) = (shorten(field), advice(field, FIELDS));
            return Err(MappingError::NoField { field, advice });
        }
        let (column, unit) = match column.rsplit_once(':') {
            Some((column, unit)) if !column.is_empty() && is_unit(field, unit) => {
                (column, Some(unit.to_owned()))
            }
            _ => (column, None),
        };
        Ok(Self { field: field.to_owned(), column: column.to_owned(), unit })
    }
}

impl fmt::Display for Mapping {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}={}", self.field, self.column)?;
        self.unit.as_ref().map_or(Ok(()), |unit| write!(out, ":{unit}"))
    }
}

/// Whether a job has this field.
pub(super) fn is_field(field: &str) -> bool {
    let is_of_many = |start: &str| field.strip_prefix(start).is_some_and(|rest| !rest.is_empty());
    FIELDS.contains(&field) || is_of_many(LABEL) || is_of_many(RATE)
}

/// Whether numbers of the field may come in this unit.
fn is_unit(field: &str, unit: &str) -> bool {
    let one = format!("1{unit}");
    match field {
        "memory" | "device_memory" => one.parse::<Bytes>().is_ok(),
        "arrives" | "duration" | "true_duration" | "deadline" => one.parse::<Span>().is_ok(),
        _ => false,
    }
}

/// What to do about a name that is not among these.
pub(super) fn advice<'a>(name: &str, known: impl IntoIterator<Item = &'a str> + Clone) -> String {
    match nearest(name, known.clone()) {
        Some(nearest) => format!("did you mean {:?}?", shorten(nearest)),
        None => format!("there are {}", list(known.into_iter())),
    }
}
