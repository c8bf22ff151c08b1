//! Signals as files write them: numbers of nodes and of device models.

use std::collections::BTreeMap;

use fleet::signal::SIGNALS_MAX;
use fleet::{ClassId, Level, NodeId, Signal, Signals};
use serde::Deserialize;

use super::datasets::{ids, node_id};
use super::document::{Document, decode};
use super::error::{ReadError, Within, Wrong, list};
use super::fault::Fault;
use super::notebook::Notebook;
use super::raw::{Raw, Table, check_name, name, optional, quantity};
use crate::workload::Inventory;

/// `[signal.NAME]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SignalText {
    unit: Option<Raw>,
    default: Option<Raw>,
    node: Option<Table<Raw>>,
    class: Option<Table<Raw>>,
}

/// Reads a file of signals.
pub(super) fn read(
    bytes: Vec<u8>,
    inventory: &Inventory,
    notebook: &mut Notebook,
) -> Result<Signals, ReadError> {
    let text = decode(bytes).map_err(|bad| notebook.refuse(bad))?;
    let document = Document::parse(&text, &["signal"]).map_err(|bad| notebook.refuse(bad))?;
    let entries = document.tables("signal").map_err(|bad| notebook.refuse(bad))?;
    let ids = ids(inventory);
    let mut signals = Signals::default();
    for (name, entry) in &entries {
        if signals.by_name.len() == SIGNALS_MAX {
            return Err(notebook.too_many(entry.line(), "signals", SIGNALS_MAX as u64));
        }
        let read = entry.read::<SignalText>().and_then(|text| {
            signal(name, &text, &ids, inventory).map_err(|wrong| entry.locate(wrong))
        });
        match read {
            Ok(signal) => _ = signals.by_name.insert((*name).into(), signal),
            Err(bad) => notebook.skip(bad)?,
        }
    }
    if signals.by_name.is_empty() {
        return Err(notebook.empty("[signal.NAME]"));
    }
    Ok(signals)
}

fn signal(
    name_: &str,
    text: &SignalText,
    ids: &BTreeMap<&str, NodeId>,
    inventory: &Inventory,
) -> Result<Signal, Wrong> {
    check_name(name_)?;
    if name_.contains([')', '(']) {
        let reason = "policies write external(NAME), so a name has no brackets";
        return Err(Wrong::here(Fault::Idle { reason }));
    }
    let default: Option<Level> = optional(text.default.as_ref(), "default")?;
    let mut nodes = BTreeMap::new();
    for (node, raw) in text.node.iter().flat_map(|table| &table.0) {
        let read = node_id(node, ids).and_then(|id| Ok((id, quantity::<Level>(raw)?)));
        let (id, level) = read.within(node).within("node")?;
        nodes.insert(id, level);
    }
    let mut classes = BTreeMap::new();
    for (model, raw) in text.class.iter().flat_map(|table| &table.0) {
        let read = class_id(model, inventory).and_then(|id| Ok((id, quantity::<Level>(raw)?)));
        let (id, level) = read.within(model).within("class")?;
        classes.insert(id, level);
    }
    if nodes.is_empty() && classes.is_empty() {
        let advice = "give numbers, like node.NAME = 3.5 or class.MODEL = 1";
        return Err(Wrong::here(Fault::Missing { advice }));
    }
    let unit = text.unit.as_ref().map(name).transpose().within("unit")?.unwrap_or_default();
    Ok(Signal { unit: unit.to_owned(), default: default.unwrap_or_default(), nodes, classes })
}

fn class_id(model: &str, inventory: &Inventory) -> Result<ClassId, Wrong> {
    inventory.classes.find(model).ok_or_else(|| {
        let known = list(inventory.classes.0.iter().map(|class| class.model.as_str()));
        Wrong::here(Fault::ClassUnlike { model: model.to_owned(), known })
    })
}
