//! The way back: a policy as the text of a file.

use std::fmt::Write as _;

use fleet::policy::{Allocate, Batch, ByUtilisation, Objective, Pick, Scale, Weighting, Weights};
use fleet::{Bytes, Micro, Milli, Millijoules, Policy, Powers, Span};

use super::{FORMAT, externals, order_key_name, pick_name};

/// The text of a file that [`read`](super::read) reads as an equal policy.
///
/// Whatever the policy does not read is left out: a policy that does not weigh has no tiers,
/// patience or scale in its file, and must hold [`SCALE`](super::SCALE) to be equal again. So is a
/// factor of oversubscription of 1, which changes nothing.
#[must_use]
pub fn text(policy: &Policy) -> String {
    let keys = policy.order.iter().map(|key| quote(order_key_name(*key)));
    let mut lines = vec![format!("format = {FORMAT}"), format!("name = {}", quote(&policy.name))];
    if !policy.description.is_empty() {
        lines.push(format!("description = {}", quote(&policy.description)));
    }
    lines.push(format!("order = [{}]", keys.collect::<Vec<_>>().join(", ")));
    lines.push(format!("pick = {}", quote(pick_name(policy.pick))));
    if policy.oversubscribe != Milli::WHOLE {
        lines.push(format!("oversubscribe = {}", policy.oversubscribe));
    }
    if policy.pick.weighs() {
        match &policy.allocate {
            // A job that is granted something does not wait for more.
            Some(allocate) => lines.push(format!("allocate = {}", allocate_text(allocate))),
            None => lines.push(format!("patience = {}", policy.patience)),
        }
        let may_batch = policy.pick == Pick::Weighted && policy.allocate.is_none();
        let batch = policy.batch.filter(|_| may_batch);
        if let Some(Batch { max_jobs, max_delay }) = batch {
            let max_delay = quote(&span(max_delay));
            lines.push(format!("batch = {{ max_jobs = {max_jobs}, max_delay = {max_delay} }}"));
        }
        for tier in &policy.tiers {
            lines.push(String::new());
            lines.extend(tier_lines(policy, tier));
        }
        lines.push(String::new());
        lines.extend(scale_lines(&policy.scale));
        lines.extend(external_lines(policy));
    }
    lines.push(String::new());
    lines.join("\n")
}

fn allocate_text(allocate: &Allocate) -> String {
    let Allocate { rounds, powers, moving, starvation } = *allocate;
    let Powers { fitness, brevity, lack, slowdown } = powers;
    let mut parts = Vec::new();
    parts.extend(rounds.map(|rounds| format!("rounds = {}", quote(&span(rounds)))));
    parts.push(format!("fitness = {}", thousandths(fitness)));
    let others = [("brevity", brevity), ("lack", lack), ("slowdown", slowdown)];
    let others = others.iter().filter(|(_, power)| *power != 0);
    parts.extend(others.map(|(name, power)| format!("{name} = {}", thousandths(*power))));
    if !moving.is_zero() {
        parts.push(format!("moving = {}", quote(&span(moving))));
    }
    parts.extend(starvation.map(|after| format!("starvation = {}", quote(&span(after)))));
    format!("{{ {} }}", parts.join(", "))
}

fn thousandths(power: i32) -> String {
    let sign = if power < 0 { "-" } else { "" };
    format!("{sign}{}", Milli(power.unsigned_abs()))
}

fn tier_lines(policy: &Policy, tier: &Weighting) -> Vec<String> {
    let weights = |of: &Weights| weights(policy, of);
    let heading = "[[tier]]".to_owned();
    match tier {
        Weighting::Fixed(fixed) => vec![
            heading,
            format!("rule = {}", quote("fixed")),
            format!("weights = {}", weights(fixed)),
        ],
        Weighting::Limits(limits) => vec![
            heading,
            format!("rule = {}", quote("limits")),
            format!("limits = {}", weights(limits)),
        ],
        Weighting::ByUtilisation(rule) => {
            let ByUtilisation { low, high, hysteresis, below, between, above } = rule;
            vec![
                heading,
                format!("rule = {}", quote("by-utilisation")),
                format!("low = {low}"),
                format!("high = {high}"),
                format!("hysteresis = {hysteresis}"),
                format!("below = {}", weights(below)),
                format!("between = {}", weights(between)),
                format!("above = {}", weights(above)),
            ]
        }
    }
}

fn weights(policy: &Policy, weights: &Weights) -> String {
    let weighed = Objective::ALL.into_iter().zip(weights).filter(|(_, weight)| !weight.is_zero());
    let parts = weighed.map(|(objective, weight)| {
        let name = policy.objective_name(objective);
        match objective {
            Objective::External(_) => format!("{} = {weight}", quote(&name)),
            _ => format!("{name} = {weight}"),
        }
    });
    format!("{{ {} }}", parts.collect::<Vec<_>>().join(", "))
}

fn scale_lines(scale: &Scale) -> Vec<String> {
    let Scale { completion, utilisation, fragmentation, companion, .. } = *scale;
    let Scale { rarity, energy, deadline, locality, interference, .. } = *scale;
    vec![
        "[scale]".to_owned(),
        format!("completion = {}", quote(&span(completion))),
        format!("utilisation = {utilisation}"),
        format!("fragmentation = {fragmentation}"),
        format!("companion = {companion}"),
        format!("rarity = {rarity}"),
        format!("energy = {}", quote(&energy_text(energy))),
        format!("deadline = {}", millionths(deadline)),
        format!("locality = {}", quote(&data(locality))),
        format!("interference = {}", quote(&span(interference))),
    ]
}

/// The scales of signals.
fn external_lines(policy: &Policy) -> impl Iterator<Item = String> {
    let scales = policy.externals.iter().zip(policy.scale.externals);
    scales.map(|(name, level)| format!("{} = {}", quote(&externals::key(name)), decimal(level.0)))
}

fn millionths(value: Micro) -> String {
    decimal(value.0.into())
}

fn decimal(millionths: u64) -> String {
    let decimal = format!("{}.{:06}", millionths / 1_000_000, millionths % 1_000_000);
    decimal.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// The span exactly, unlike its `Display`, which is for people.
fn span(span: Span) -> String {
    match span.0 {
        micros if micros % 1_000_000 == 0 => format!("{}s", micros / 1_000_000),
        micros if micros % 1000 == 0 => format!("{}ms", micros / 1000),
        micros => format!("{micros}us"),
    }
}

/// The amount of data exactly.
fn data(bytes: Bytes) -> String {
    match bytes.0 {
        bytes if bytes % 1_000_000_000 == 0 => format!("{}GB", bytes / 1_000_000_000),
        bytes => format!("{bytes}B"),
    }
}

fn energy_text(energy: Millijoules) -> String {
    match energy.0 {
        milli if milli % 1_000_000 == 0 => format!("{}kJ", milli / 1_000_000),
        milli if milli % 1000 == 0 => format!("{}J", milli / 1000),
        milli => format!("{milli}mJ"),
    }
}

/// A TOML string on one line.
fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}
