//! Datasets in sketches: where they are, and what jobs read and write.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::line::Line;
use super::{SketchError, WordFault};
use crate::dataset::{Catalogue, Dataset, Datasets, Holding};
use crate::id::NodeId;
use crate::parse::ParseError;
use crate::units::Bytes;

/// Takes a line that says where a dataset is.
pub(super) fn data(
    line: &mut Line<'_>,
    nodes: &BTreeMap<String, NodeId>,
    catalogue: &mut Catalogue,
) -> Result<(), SketchError> {
    let name = line.name("the name")?;
    let word = line.name("the size")?;
    let size = size(line, word)?;
    let mut held = BTreeSet::new();
    for word in line.rest() {
        let node = nodes.get(word);
        let node = node.ok_or_else(|| line.fault(word, WordFault::NotAbove { what: "node" }))?;
        held.insert(*node);
    }
    let holding = Arc::new(Holding { size, nodes: held });
    match catalogue.holdings.insert(name.into(), holding) {
        None => Ok(()),
        Some(_) => Err(line.fault(name, WordFault::Twice)),
    }
}

/// Takes `in=` and `out=`.
pub(super) fn of_job(line: &mut Line<'_>) -> Result<Option<Arc<Datasets>>, SketchError> {
    let (inputs, outputs) = (list(line, "in")?, list(line, "out")?);
    if inputs.is_empty() && outputs.is_empty() {
        return Ok(None);
    }
    Ok(Some(Arc::new(Datasets { inputs, outputs })))
}

fn list(line: &mut Line<'_>, key: &str) -> Result<Vec<Dataset>, SketchError> {
    let mut found: Vec<Dataset> = Vec::new();
    for word in line.value(key)?.into_iter().flat_map(|words| words.split(',')) {
        let fault = WordFault::Malformed { what: "a dataset", example: "in=images:500GB" };
        let (name, amount) = word.split_once(':').ok_or_else(|| line.fault(word, fault))?;
        if found.iter().any(|other| &*other.name == name) {
            return Err(line.fault(name, WordFault::Twice));
        }
        found.push(Dataset { name: name.into(), size: size(line, amount)? });
    }
    Ok(found)
}

fn size(line: &Line<'_>, word: &str) -> Result<Bytes, SketchError> {
    word.parse().map_err(|source: ParseError| line.fault(word, source.into()))
}
