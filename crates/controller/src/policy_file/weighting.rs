//! The tiers of a policy file.

use fleet::Milli;
use fleet::policy::{ByUtilisation, Objective, Weighting, Weights};

use super::FACTOR_MAX;
use super::error::PolicyError;
use super::table::{Field, Table};

/// How the weights of one tier are found, as the file calls it.
#[derive(Clone, Copy)]
enum Rule {
    Fixed,
    ByUtilisation,
}

const RULES: [(&str, Rule); 2] = [("fixed", Rule::Fixed), ("by-utilisation", Rule::ByUtilisation)];

/// Reads one tier.
pub(super) fn read(table: &Table<'_>) -> Result<Weighting, PolicyError> {
    match table.required("rule")?.one_of("rule", &RULES)? {
        Rule::Fixed => {
            table.accept(&["rule", "weights"])?;
            Ok(Weighting::Fixed(read_weights(&table.required("weights")?)?))
        }
        Rule::ByUtilisation => read_by_utilisation(table).map(Weighting::ByUtilisation),
    }
}

fn read_by_utilisation(table: &Table<'_>) -> Result<ByUtilisation, PolicyError> {
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
        below: read_weights(&table.required("below")?)?,
        between: read_weights(&table.required("between")?)?,
        above: read_weights(&table.required("above")?)?,
    })
}

fn read_weights(field: &Field<'_>) -> Result<Weights, PolicyError> {
    let table = field.table()?;
    table.accept_as("objective", &Objective::ALL.map(Objective::name))?;
    let mut weights = Weights::default();
    for (weight, objective) in weights.iter_mut().zip(Objective::ALL) {
        if let Some(field) = table.optional(objective.name()) {
            *weight = field.milli_within(Milli::ZERO, FACTOR_MAX, "from 0 to 1000")?;
        }
    }
    if weights.iter().all(|weight| weight.is_zero()) {
        return Err(PolicyError::Weightless { at: table.place(), field: table.name() });
    }
    Ok(weights)
}
