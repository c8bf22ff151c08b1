//! The tiers of a policy file.

use fleet::Milli;
use fleet::policy::{ByUtilisation, Objective, Pick, Weighting, Weights};

use super::FACTOR_MAX;
use super::error::PolicyError;
use super::externals::{self, key};
use super::table::{Field, Table};

/// How the weights of one tier are found, as the file calls it.
#[derive(Clone, Copy)]
enum Rule {
    Fixed,
    ByUtilisation,
    Limits,
}

const RULES: [(&str, Rule); 3] =
    [("fixed", Rule::Fixed), ("by-utilisation", Rule::ByUtilisation), ("limits", Rule::Limits)];

/// Reads one tier of a policy that picks like this and weighs these signals.
pub(super) fn read(
    table: &Table<'_>,
    pick: Pick,
    externals: &[String],
) -> Result<Weighting, PolicyError> {
    match table.required("rule")?.one_of("rule", &RULES)? {
        Rule::Fixed => {
            table.accept(&["rule", "weights"])?;
            Ok(Weighting::Fixed(read_weights(&table.required("weights")?, pick, externals)?))
        }
        Rule::ByUtilisation => {
            read_by_utilisation(table, pick, externals).map(Weighting::ByUtilisation)
        }
        Rule::Limits => {
            table.accept(&["rule", "limits"])?;
            Ok(Weighting::Limits(read_limits(&table.required("limits")?, externals)?))
        }
    }
}

fn read_by_utilisation(
    table: &Table<'_>,
    pick: Pick,
    externals: &[String],
) -> Result<ByUtilisation, PolicyError> {
    table.accept(&["rule", "low", "high", "hysteresis", "below", "between", "above"])?;
    let fraction = |field: &Field<'_>| field.milli_within(Milli::ZERO, Milli::WHOLE, "at most 1");
    let low = fraction(&table.required("low")?)?;
    let high = fraction(&table.required("high")?)?;
    // Nothing is under 0 or over 1: such a regime would never be entered.
    if low.is_zero() || low >= high || high >= Milli::WHOLE {
        return Err(PolicyError::Thresholds { at: table.place(), low, high });
    }
    let field = table.required("hysteresis")?;
    let hysteresis = fraction(&field)?;
    let apart = high - low;
    if hysteresis.saturating_mul(2) >= apart {
        let limit = Milli(apart.0.div_ceil(2));
        return Err(PolicyError::Hysteresis { at: field.place(), found: hysteresis, limit });
    }
    Ok(ByUtilisation {
        low,
        high,
        hysteresis,
        below: read_weights(&table.required("below")?, pick, externals)?,
        between: read_weights(&table.required("between")?, pick, externals)?,
        above: read_weights(&table.required("above")?, pick, externals)?,
    })
}

fn read_weights(
    field: &Field<'_>,
    pick: Pick,
    externals: &[String],
) -> Result<Weights, PolicyError> {
    let table = field.table()?;
    let weights = read_each(&table, externals, |field| {
        let weight = field.milli_within(Milli::ZERO, FACTOR_MAX, "from 0 to 1000")?;
        // A knee is the same whatever its objectives weigh: a weight would not be read.
        if pick == Pick::Knee && !weight.is_zero() && weight != Milli::WHOLE {
            return Err(field.wrong("1 or 0 with pick = \"knee\", which has no weights"));
        }
        Ok(weight)
    })?;
    if weights.iter().all(|weight| weight.is_zero()) {
        return Err(PolicyError::Weightless { at: table.place(), field: table.name() });
    }
    Ok(weights)
}

fn read_limits(field: &Field<'_>, externals: &[String]) -> Result<Weights, PolicyError> {
    let table = field.table()?;
    let limits = read_each(&table, externals, |field| {
        field.milli_within(Milli(1), Milli::WHOLE, "above 0 and at most 1")
    })?;
    if limits.iter().all(|limit| limit.is_zero()) {
        return Err(PolicyError::Limitless { at: table.place(), field: table.name() });
    }
    Ok(limits)
}

/// Reads a number for each objective that is named; zero for the others.
fn read_each(
    table: &Table<'_>,
    externals: &[String],
    read: impl Fn(&Field<'_>) -> Result<Milli, PolicyError>,
) -> Result<Weights, PolicyError> {
    externals::accept(table, "objective", externals)?;
    let mut numbers = Weights::default();
    for (number, objective) in numbers.iter_mut().zip(Objective::ALL) {
        let name = match objective {
            Objective::External(slot) => externals.get(slot.index()).map(|name| key(name)),
            _ => Some(objective.name().to_owned()),
        };
        if let Some(field) = name.and_then(|name| table.optional(&name)) {
            *number = read(&field)?;
        }
    }
    Ok(numbers)
}
