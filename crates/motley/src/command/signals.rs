//! Signals: numbers from outside, for every command that plans.
//!
//! In comes the file of `--signals`, out come its numbers, with a note on each.
//! A policy that weighs a signal which the file lacks is refused, for a name
//! written wrong would else weigh nothing.

use std::path::Path;

use anyhow::bail;
use controller::policy_file;
use fleet::{Policy, Signals};
use sim::Inventory;
use sim::read::{self, Read};

use crate::render;

/// How many names of signals are told in an error.
const NAMES_TOLD_MAX: usize = 12;

/// What is known about nodes and models, and a note on each signal.
pub(super) fn read(
    path: &Path,
    inventory: &Inventory,
    options: &read::Options,
) -> anyhow::Result<Read<Signals>> {
    let mut read = read::signals(path, inventory, options)?;
    for (name, signal) in &read.value.by_name {
        let unit = if signal.unit.is_empty() { "" } else { " in " };
        read.notes.push(format!(
            "signal {name}{unit}{}: numbers of {} and {}, {} for all others",
            signal.unit,
            render::count(signal.nodes.len() as u64, "node"),
            render::count(signal.classes.len() as u64, "device model"),
            signal.default.as_f64()
        ));
    }
    Ok(read)
}

/// Refuses a policy that weighs a signal that is not there.
pub(super) fn ensure(policy: &Policy, signals: &Signals) -> anyhow::Result<()> {
    let is_absent = |name: &&String| !signals.by_name.contains_key(name.as_str());
    let Some(name) = policy.externals.iter().find(is_absent) else { return Ok(()) };
    let known = || signals.by_name.keys().map(AsRef::as_ref);
    let what = format!("weigh external({name}) under policy {}", policy.name);
    match policy_file::nearest(name, known()) {
        Some(nearest) => bail!("{what}: there is no such signal; did you mean {nearest:?}?"),
        None if signals.by_name.is_empty() => {
            bail!("{what}: there are no signals; give a file of them by --signals")
        }
        None => {
            let known = known().take(NAMES_TOLD_MAX).collect::<Vec<_>>().join(", ");
            bail!("{what}: there is no such signal; the file of --signals has {known}")
        }
    }
}
