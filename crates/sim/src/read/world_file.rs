//! The truth about a workload, as files write it: `[world]` or a JSON line.
//!
//! Comes last, since it speaks of jobs and nodes by name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::{Alternative, Job, Milli, NodeId, Rate, Time};
use serde::Deserialize;

use super::error::{ReadError, Within, Wrong};
use super::fault::Fault;
use super::job_file::below_one;
use super::jobs::note_absent;
use super::notebook::Notebook;
use super::raw::{
    Raw, Strict, Table, moment, optional, quantity, rates, required_name, span, text,
};
use crate::workload::{Inventory, Outage, OutageKind, Truth};

/// The strongest effect: nobody means more.
const STRENGTH_MAX: Milli = Milli(1_000_000);

/// The most that declared work may be wrong by: nobody means more.
const WORK_ERROR_MAX: Milli = Milli(100_000);

/// `[world]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorldText {
    rate_error: Option<Raw>,
    contention: Option<Raw>,
    restart: Option<Raw>,
    work_error: Option<Raw>,
    remote_memory: Option<Raw>,
    rates: Option<Table<Table<Raw>>>,
    outage: Option<Vec<Strict<OutageText>>>,
}

/// `[[world.outage]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OutageText {
    node: Option<Raw>,
    at: Option<Raw>,
    lasts: Option<Raw>,
    kind: Option<Raw>,
}

/// What the world knows, and outages by time. Each wrong part goes to `bad`, which may end it.
pub(super) fn world(
    world: &WorldText,
    jobs: &[Arc<Job>],
    inventory: &Inventory,
    mut bad: impl FnMut(Wrong) -> Result<(), ReadError>,
) -> Result<(Truth, Vec<Outage>), ReadError> {
    let mut truth = Truth::default();
    match world.rate_error.as_ref().map(below_one).transpose().within("rate_error") {
        Ok(error) => truth.rate_error = error.unwrap_or(Milli::ZERO),
        Err(wrong) => bad(wrong)?,
    }
    match optional(world.contention.as_ref(), "contention") {
        Ok(contention) => truth.contention = contention.unwrap_or(Milli::WHOLE),
        Err(wrong) => bad(wrong)?,
    }
    match world.remote_memory.as_ref().map(strength).transpose().within("remote_memory") {
        Ok(strength) => truth.remote_memory = strength.unwrap_or(Milli::WHOLE),
        Err(wrong) => bad(wrong)?,
    }
    match world.restart.as_ref().map(span).transpose().within("restart") {
        Ok(restart) => truth.restart = restart,
        Err(wrong) => bad(wrong)?,
    }
    match world.work_error.as_ref().map(factor).transpose().within("work_error") {
        Ok(factor) => truth.work_error = factor.unwrap_or(Milli::WHOLE),
        Err(wrong) => bad(wrong)?,
    }
    let named = match &world.rates {
        Some(table) => ways_by_name(jobs, table),
        None => BTreeMap::new(),
    };
    for (name, table) in world.rates.iter().flat_map(|table| &table.0) {
        match true_rates(name, table, named.get(name.as_str())).within(name).within("rates") {
            Ok(rates) => _ = truth.rates.insert(name.clone(), rates),
            Err(wrong) => bad(wrong)?,
        }
    }
    let mut outages = Vec::new();
    let mut taken = BTreeMap::new();
    let nodes: BTreeMap<&str, NodeId> =
        inventory.nodes.iter().map(|node| (node.name.as_str(), node.id)).collect();
    for (index, Strict(text)) in world.outage.iter().flatten().enumerate() {
        let read = outage(text, &nodes).and_then(|outage| keep_apart(outage, text, &mut taken));
        match read.within_item(index).within("outage") {
            Ok(outage) => outages.push(outage),
            Err(wrong) => bad(wrong)?,
        }
    }
    outages.sort_unstable();
    Ok((truth, outages))
}

/// How strong an effect is against what the model of the world says.
fn strength(raw: &Raw) -> Result<Milli, Wrong> {
    let strength = quantity::<Milli>(raw)?;
    if strength > STRENGTH_MAX {
        let wanted = "a factor from 0 to 1000";
        return Err(Wrong::here(Fault::Range { given: raw.to_string(), wanted }));
    }
    Ok(strength)
}

/// By which factor something is more or less at the most.
fn factor(raw: &Raw) -> Result<Milli, Wrong> {
    let factor = quantity::<Milli>(raw)?;
    if !(Milli::WHOLE..=WORK_ERROR_MAX).contains(&factor) {
        let wanted = "a factor from 1 to 100";
        return Err(Wrong::here(Fault::Range { given: raw.to_string(), wanted }));
    }
    Ok(factor)
}

/// What the jobs of each name that has true rates declare, without what is declared again.
fn ways_by_name<'a>(
    jobs: &'a [Arc<Job>],
    wanted: &Table<Table<Raw>>,
) -> BTreeMap<&'a str, BTreeSet<&'a Arc<Vec<Alternative>>>> {
    let mut named: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for job in jobs.iter().filter(|job| wanted.0.contains_key(&job.name)) {
        named.entry(job.name.as_str()).or_default().insert(&job.alternatives);
    }
    named
}

/// True rates, each of which replaces one that is declared.
fn true_rates(
    name: &str,
    table: &Table<Raw>,
    declared: Option<&BTreeSet<&Arc<Vec<Alternative>>>>,
) -> Result<BTreeMap<String, Rate>, Wrong> {
    let unknown = || Wrong::here(Fault::JobUnknown { name: name.to_owned() });
    let declared = declared.ok_or_else(unknown)?;
    let rates = rates(table)?;
    for model in rates.keys() {
        let mut ways = declared.iter().flat_map(|ways| ways.iter());
        if !ways.any(|way| way.rate(model).is_some()) {
            let (name, at) = (name.to_owned(), model);
            return Err(Wrong::at(at, Fault::RateUnread { name, model: model.clone() }));
        }
    }
    Ok(rates)
}

/// Notes the models of true rates that no node has: nothing will read those.
pub(super) fn note_absent_models(truth: &Truth, inventory: &Inventory, notebook: &mut Notebook) {
    let named = truth.rates.values().flat_map(BTreeMap::keys).map(String::as_str).collect();
    note_absent("true rates name", &named, inventory, notebook);
}

fn outage(told: &OutageText, nodes: &BTreeMap<&str, NodeId>) -> Result<Outage, Wrong> {
    let missing = |field, advice| Wrong::at(field, Fault::Missing { advice });
    let name = required_name(told.node.as_ref(), "node", "name the node that is lost")?;
    let unknown = || Wrong::at("node", Fault::NodeUnknown { name: name.to_owned() });
    let node = *nodes.get(name).ok_or_else(unknown)?;
    let at = told.at.as_ref().ok_or_else(|| missing("at", "say when, like \"1h\""))?;
    let at = moment(Some(at), "at")?;
    let lasts = told.lasts.as_ref();
    let lasts = lasts.ok_or_else(|| missing("lasts", "say how long, like \"10m\""))?;
    let lasts = span(lasts).within("lasts")?;
    if lasts.is_zero() {
        let wanted = "a span above zero";
        return Err(Wrong::at("lasts", Fault::Range { given: lasts.to_string(), wanted }));
    }
    let kind = told.kind.as_ref();
    let kind = kind.ok_or_else(|| missing("kind", "say \"crash\" or \"partition\""))?;
    let kind = match text(kind, "\"crash\" or \"partition\"").within("kind")? {
        "crash" => OutageKind::Crash,
        "partition" => OutageKind::Partition,
        given => {
            let words = "crash, partition".to_owned();
            return Err(Wrong::at("kind", Fault::Word { given: given.to_owned(), words }));
        }
    };
    Ok(Outage { at, node, lasts, kind })
}

/// Refuses an outage that overlaps with one before; `taken` holds when each begins and ends.
fn keep_apart(
    outage: Outage,
    text: &OutageText,
    taken: &mut BTreeMap<(NodeId, Time), Time>,
) -> Result<Outage, Wrong> {
    let (begin, end) = ((outage.node, outage.at), outage.at.after(outage.lasts));
    let before = taken.range(..=begin).next_back();
    let after = taken.range(begin..).next();
    let overlaps_before =
        before.is_some_and(|((node, _), ends)| *node == outage.node && *ends >= outage.at);
    let overlaps_after = after.is_some_and(|((node, at), _)| *node == outage.node && *at <= end);
    if overlaps_before || overlaps_after {
        let name = text.node.as_ref().map_or_else(String::new, ToString::to_string);
        return Err(Wrong::here(Fault::OutageOverlap { name }));
    }
    taken.insert(begin, end);
    Ok(outage)
}
