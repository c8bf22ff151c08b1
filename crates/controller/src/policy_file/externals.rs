//! Signals in policy files: `"external(NAME)"` among weights and scales.
//!
//! The names of all tiers together, in order, are the slots of the policy.

use std::collections::BTreeSet;

use fleet::policy::{EXTERNALS_MAX, ExternalSlot, Objective, Weighting, Weights};
use fleet::{Level, Milli, Policy};

use super::error::PolicyError;
use super::table::{Field, Table};

/// Every name that tiers weigh, ascending.
pub(super) fn names(tiers: &[Field<'_>]) -> Result<Vec<String>, PolicyError> {
    let mut names = BTreeSet::new();
    for tier in tiers {
        let tier = tier.table()?;
        for vector in ["weights", "limits", "below", "between", "above"] {
            let Some(field) = tier.optional(vector) else { continue };
            for key in field.table()?.keys() {
                if let Some(name) = name_in(key) {
                    names.insert(name.to_owned());
                }
            }
        }
        if names.len() > EXTERNALS_MAX {
            return Err(PolicyError::Externals { at: tier.place(), found: names.len() });
        }
    }
    Ok(names.into_iter().collect())
}

/// The name in `external(NAME)`.
pub(super) fn name_in(key: &str) -> Option<&str> {
    let name = key.strip_prefix("external(")?.strip_suffix(')')?;
    let is_name = !name.trim().is_empty() && !name.chars().any(char::is_control);
    (is_name && !name.contains(['(', ')'])).then_some(name)
}

/// The σ of every slot.
pub(super) fn scales(
    table: &Table<'_>,
    externals: &[String],
) -> Result<[Level; EXTERNALS_MAX], PolicyError> {
    let mut scales = super::SCALE.externals;
    for (scale, name) in scales.iter_mut().zip(externals) {
        if let Some(field) = table.optional(&key(name)) {
            *scale = field.level()?;
            field.refuse_zero(scale.is_zero())?;
        }
    }
    Ok(scales)
}

/// The policy without the signals that no tier weighs, which nobody would have to know; the others
/// move into their slots.
#[must_use]
pub fn without_idle_signals(mut policy: Policy) -> Policy {
    let slots = || (0..EXTERNALS_MAX).filter_map(ExternalSlot::at);
    let position = |slot| Objective::External(slot).position();
    let mut is_weighed = [false; EXTERNALS_MAX];
    for weights in policy.tiers.iter_mut().flat_map(vectors) {
        for slot in slots() {
            is_weighed[slot.index()] |= !weights[position(slot)].is_zero();
        }
    }
    let weighed = || slots().filter(|slot| is_weighed[slot.index()]);
    for weights in policy.tiers.iter_mut().flat_map(vectors) {
        let before = *weights;
        slots().for_each(|slot| weights[position(slot)] = Milli::ZERO);
        slots()
            .zip(weighed())
            .for_each(|(to, from)| weights[position(to)] = before[position(from)]);
    }
    let before = std::mem::replace(&mut policy.scale.externals, super::SCALE.externals);
    for (to, from) in slots().zip(weighed()) {
        policy.scale.externals[to.index()] = before[from.index()];
    }
    let mut weighed = is_weighed.into_iter();
    policy.externals.retain(|_| weighed.next().unwrap_or(false));
    policy
}

fn vectors(tier: &mut Weighting) -> Vec<&mut Weights> {
    match tier {
        Weighting::Fixed(weights) | Weighting::Limits(weights) => vec![weights],
        Weighting::ByUtilisation(rule) => vec![&mut rule.below, &mut rule.between, &mut rule.above],
    }
}

/// What a signal is called in a policy file.
pub(super) fn key(name: &str) -> String {
    format!("external({name})")
}

/// Refuses every key but the objectives that have a name of their own and the signals that some
/// tier weighs; `what` is what a key of this table is.
pub(super) fn accept(
    table: &Table<'_>,
    what: &'static str,
    externals: &[String],
) -> Result<(), PolicyError> {
    let is_named = |objective: &Objective| !matches!(objective, Objective::External(_));
    let named: Vec<_> = Objective::ALL.into_iter().filter(is_named).map(Objective::name).collect();
    let is_weighed =
        |word: &str| name_in(word).is_some_and(|name| externals.iter().any(|one| one == name));
    table.accept_all(what, &named, is_weighed)
}
