//! Signals in sketches: numbers of nodes and classes.

use std::collections::BTreeMap;

use super::alternative::known_model;
use super::line::Line;
use super::{SketchError, WordFault};
use crate::id::NodeId;
use crate::parse::ParseError;
use crate::signal::Signal;
use crate::snapshot::Parts;

/// Takes a line with the numbers of a signal.
pub(super) fn signal(
    line: &mut Line<'_>,
    nodes: &BTreeMap<String, NodeId>,
    parts: &mut Parts,
) -> Result<(), SketchError> {
    let name = line.name("the name")?;
    let level = |line: &Line<'_>, word: &str| {
        word.parse().map_err(|source: ParseError| line.fault(word, source.into()))
    };
    let default = line.quantity("default")?.unwrap_or_default();
    let mut signal = Signal { default, ..Signal::default() };
    for (node, word) in line.prefixed("node")? {
        let id = nodes.get(node);
        let id = id.ok_or_else(|| line.fault(node, WordFault::NotAbove { what: "node" }))?;
        signal.nodes.insert(*id, level(line, word)?);
    }
    for (model, word) in line.prefixed("class")? {
        let id = known_model(line, &parts.classes, model)?;
        signal.classes.insert(id, level(line, word)?);
    }
    match parts.signals.by_name.insert(name.into(), signal) {
        None => Ok(()),
        Some(_) => Err(line.fault(name, WordFault::Twice)),
    }
}
