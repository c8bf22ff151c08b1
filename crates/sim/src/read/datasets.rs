//! Datasets as files write them: what jobs read and write, and the catalogue.
//!
//! A catalogue file says which nodes of a fleet hold what: `[[data]]` with name,
//! size and nodes. A job's `inputs` and `outputs` name datasets that no file
//! needs to know: those come from outside the fleet, or from another job.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use controller::policy_file::nearest;
use fleet::dataset::DATASETS_MAX;
use fleet::{Bytes, Catalogue, Dataset, Datasets, Holding, NodeId};
use serde::Deserialize;

use super::document::{Document, decode};
use super::error::{ReadError, Within, Wrong};
use super::fault::Fault;
use super::notebook::Notebook;
use super::raw::{Raw, Strict, name, optional, required_name};
use crate::workload::Inventory;

/// The most inputs of a job, and the most outputs.
const OF_JOB_MAX: usize = 64;

/// One of `inputs` or `outputs`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DatasetText {
    name: Option<Raw>,
    size: Option<Raw>,
}

/// `[[data]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HoldingText {
    name: Option<Raw>,
    size: Option<Raw>,
    on: Option<Vec<Raw>>,
}

/// What a job reads and writes; nothing where it names neither.
pub(super) fn of_job(
    inputs: Option<&[Strict<DatasetText>]>,
    outputs: Option<&[Strict<DatasetText>]>,
) -> Result<Option<Arc<Datasets>>, Wrong> {
    let datasets = Datasets {
        inputs: list(inputs.unwrap_or(&[])).within("inputs")?,
        outputs: list(outputs.unwrap_or(&[])).within("outputs")?,
    };
    Ok((datasets != Datasets::default()).then(|| Arc::new(datasets)))
}

fn list(texts: &[Strict<DatasetText>]) -> Result<Vec<Dataset>, Wrong> {
    if texts.len() > OF_JOB_MAX {
        let given = texts.len().to_string();
        return Err(Wrong::here(Fault::Range { given, wanted: "at most 64 of them" }));
    }
    let mut datasets: Vec<Dataset> = Vec::with_capacity(texts.len());
    for (index, Strict(text)) in texts.iter().enumerate() {
        let (name, size) = named(text.name.as_ref(), text.size.as_ref()).within_item(index)?;
        if datasets.iter().any(|other| &*other.name == name) {
            let reason = "the list names this dataset before";
            return Err(Wrong::at("name", Fault::Idle { reason })).within_item(index);
        }
        datasets.push(Dataset { name: name.into(), size });
    }
    Ok(datasets)
}

fn named<'a>(name: Option<&'a Raw>, size: Option<&Raw>) -> Result<(&'a str, Bytes), Wrong> {
    let name = required_name(name, "name", "give each dataset a name")?;
    let advice = "give its size, like \"500GB\"";
    let bytes: Option<Bytes> = optional(size, "size")?;
    let bytes = bytes.ok_or_else(|| Wrong::at("size", Fault::Missing { advice }))?;
    if bytes.is_zero() {
        let wanted = "a size above zero";
        return Err(Wrong::at("size", Fault::Range { given: "0".to_owned(), wanted }));
    }
    Ok((name, bytes))
}

/// Reads a catalogue file.
pub(super) fn read(
    bytes: Vec<u8>,
    inventory: &Inventory,
    notebook: &mut Notebook,
) -> Result<Catalogue, ReadError> {
    let text = decode(bytes).map_err(|bad| notebook.refuse(bad))?;
    let document = Document::parse(&text, &["data"]).map_err(|bad| notebook.refuse(bad))?;
    let entries = document.list("data").map_err(|bad| notebook.refuse(bad))?;
    let ids = ids(inventory);
    let mut lines: BTreeMap<String, u64> = BTreeMap::new();
    let mut catalogue = Catalogue::default();
    for entry in &entries {
        if catalogue.holdings.len() == DATASETS_MAX {
            return Err(notebook.too_many(entry.line(), "datasets", DATASETS_MAX as u64));
        }
        let read = entry
            .read::<HoldingText>()
            .and_then(|text| holding(&text, &ids, &lines).map_err(|wrong| entry.locate(wrong)));
        match read {
            Ok((name, holding)) => {
                lines.insert(name.clone(), entry.line());
                catalogue.holdings.insert(name.into(), Arc::new(holding));
            }
            Err(bad) => notebook.skip(bad)?,
        }
    }
    if catalogue.holdings.is_empty() {
        return Err(notebook.empty("[[data]]"));
    }
    Ok(catalogue)
}

/// The nodes of a fleet by name.
pub(super) fn ids(inventory: &Inventory) -> BTreeMap<&str, NodeId> {
    inventory.nodes.iter().map(|node| (node.name.as_str(), node.id)).collect()
}

fn holding(
    text: &HoldingText,
    ids: &BTreeMap<&str, NodeId>,
    lines: &BTreeMap<String, u64>,
) -> Result<(String, Holding), Wrong> {
    let (name_, size) = named(text.name.as_ref(), text.size.as_ref())?;
    if let Some(first) = lines.get(name_) {
        let fault = Fault::Twice { name: name_.to_owned(), first: *first };
        return Err(Wrong::at("name", fault));
    }
    let advice = "name the nodes that hold it, like [\"node-a\"]";
    let on = text.on.as_ref().filter(|on| !on.is_empty());
    let on = on.ok_or_else(|| Wrong::at("on", Fault::Missing { advice }))?;
    let mut nodes = BTreeSet::new();
    for (index, raw) in on.iter().enumerate() {
        let node = name(raw).and_then(|name| node_id(name, ids)).within_item(index).within("on")?;
        if !nodes.insert(node) {
            let reason = "the list names this node before";
            return Err(Wrong::here(Fault::Idle { reason })).within_item(index).within("on");
        }
    }
    Ok((name_.to_owned(), Holding { size, nodes }))
}

/// The node of this name, or the name that it is most like.
pub(super) fn node_id(name: &str, ids: &BTreeMap<&str, NodeId>) -> Result<NodeId, Wrong> {
    ids.get(name).copied().ok_or_else(|| {
        let nearest = nearest(name, ids.keys().copied()).map(str::to_owned);
        Wrong::here(Fault::NodeUnlike { name: name.to_owned(), nearest })
    })
}
