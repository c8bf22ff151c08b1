//! `allocate`: devices divided among jobs over time.

use fleet::policy::Allocate;
use fleet::{Powers, Span};

use super::error::PolicyError;
use super::table::{Field, Table};

/// What a policy cannot say beside `allocate`: a job that waits for a faster device or for others
/// to be placed with it would leave idle what was granted to it.
const EXCLUDED: [&str; 2] = ["patience", "batch"];

pub(super) const FIELDS: [&str; 7] =
    ["rounds", "fitness", "brevity", "lack", "slowdown", "moving", "starvation"];

/// `allocate` of a policy, where it has one.
pub(super) fn read(policy: &Table<'_>) -> Result<Option<Allocate>, PolicyError> {
    let Some(field) = policy.optional("allocate") else { return Ok(None) };
    for name in EXCLUDED {
        if let Some(excluded) = policy.optional(name) {
            return Err(PolicyError::Excluded {
                at: excluded.place(),
                field: name,
                by: "allocate",
            });
        }
    }
    let table = field.table()?;
    table.accept(&FIELDS)?;
    Ok(Some(Allocate {
        rounds: span(&table, "rounds")?,
        powers: Powers {
            fitness: match table.optional("fitness") {
                Some(field) => power(&field, 0, "from 0 to 4")?,
                None => 1000,
            },
            brevity: either_way(&table, "brevity")?,
            lack: either_way(&table, "lack")?,
            slowdown: either_way(&table, "slowdown")?,
        },
        moving: match table.optional("moving") {
            Some(field) => field.quantity(field.string()?)?,
            None => Span::ZERO,
        },
        starvation: span(&table, "starvation")?,
    }))
}

/// A span above zero, where it is given.
fn span(table: &Table<'_>, name: &'static str) -> Result<Option<Span>, PolicyError> {
    let Some(field) = table.optional(name) else { return Ok(None) };
    let span: Span = field.quantity(field.string()?)?;
    field.refuse_zero(span.is_zero())?;
    Ok(Some(span))
}

fn either_way(table: &Table<'_>, name: &'static str) -> Result<i32, PolicyError> {
    match table.optional(name) {
        Some(field) => power(&field, -Powers::MAX, "from -4 to 4"),
        None => Ok(0),
    }
}

fn power(field: &Field<'_>, least: i32, wanted: &'static str) -> Result<i32, PolicyError> {
    field.thousandths_within(least, Powers::MAX, wanted)
}
