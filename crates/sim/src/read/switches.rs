//! Switches of the network, as fleet files write them, and how nodes hang on them.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{Attachment, Bandwidth, Uplink};
use serde::Deserialize;

use super::document::Entry;
use super::error::{ReadError, Within, Wrong, list};
use super::fault::Fault;
use super::notebook::Notebook;
use super::raw::{Raw, check_name, name, optional};

/// The most switches above one node.
const HEIGHT_MAX: usize = 16;
/// The most switches of a fleet.
const SWITCHES_MAX: usize = 100_000;

/// `[switch.NAME]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SwitchText {
    uplink: Option<Raw>,
    parent: Option<Raw>,
}

/// The switches of a fleet: by name, the way up from each.
#[derive(Debug, Default)]
pub(super) struct Switches {
    ways: BTreeMap<String, Vec<Uplink>>,
}

/// One switch as it was read.
struct Switch {
    uplink: Option<Bandwidth>,
    parent: Option<String>,
}

impl Switches {
    /// Reads every switch and finds its way up.
    pub(super) fn read(
        entries: &[(&str, Entry<'_, '_>)],
        notebook: &mut Notebook,
    ) -> Result<Self, ReadError> {
        let mut switches: BTreeMap<&str, Switch> = BTreeMap::new();
        for (name, entry) in entries {
            if switches.len() == SWITCHES_MAX {
                return Err(notebook.too_many(entry.line(), "switches", SWITCHES_MAX as u64));
            }
            let read = |text: SwitchText| switch(name, &text).map_err(|wrong| entry.locate(wrong));
            match entry.read().and_then(read) {
                Ok(switch) => drop(switches.insert(name, switch)),
                Err(bad) => notebook.skip(bad)?,
            }
        }
        let mut ways = BTreeMap::new();
        for (name, entry) in entries {
            if !switches.contains_key(name) {
                continue;
            }
            match way_up(name, &switches) {
                Ok(way) => drop(ways.insert((*name).to_owned(), way)),
                Err(wrong) => notebook.skip(entry.locate(wrong))?,
            }
        }
        Ok(Self { ways })
    }

    /// How a node hangs in the network; nothing where nothing is said.
    pub(super) fn attachment(
        &self,
        interface: Option<&Raw>,
        switch: Option<&Raw>,
    ) -> Result<Option<Arc<Attachment>>, Wrong> {
        let interface = above_zero(interface, "interface")?;
        let Some(raw) = switch else {
            let alone = |interface| Attachment { interface: Some(interface), switches: Vec::new() };
            return Ok(interface.map(alone).map(Arc::new));
        };
        let named = name(raw).within("switch")?;
        let Some(way) = self.ways.get(named) else {
            let known = list(self.ways.keys().map(String::as_str));
            let fault = Fault::SwitchUnknown { name: named.to_owned(), known };
            return Err(Wrong::at("switch", fault));
        };
        Ok(Some(Arc::new(Attachment { interface, switches: way.clone() })))
    }
}

fn switch(called: &str, text: &SwitchText) -> Result<Switch, Wrong> {
    check_name(called)?;
    let parent = text.parent.as_ref().map(name).transpose().within("parent")?;
    Ok(Switch {
        uplink: above_zero(text.uplink.as_ref(), "uplink")?,
        parent: parent.map(str::to_owned),
    })
}

fn above_zero(raw: Option<&Raw>, field: &'static str) -> Result<Option<Bandwidth>, Wrong> {
    let given: Option<Bandwidth> = optional(raw, field)?;
    if given.is_some_and(Bandwidth::is_zero) {
        let (given, wanted) = ("0B/s".to_owned(), "a bandwidth above zero, or leave it out");
        return Err(Wrong::at(field, Fault::Range { given, wanted }));
    }
    Ok(given)
}

/// A switch and those above it.
fn way_up(from: &str, switches: &BTreeMap<&str, Switch>) -> Result<Vec<Uplink>, Wrong> {
    let mut way: Vec<Uplink> = Vec::new();
    let mut next = Some(from);
    while let Some(name) = next {
        if way.iter().any(|uplink| uplink.switch == name) {
            let fault = Fault::SwitchCircle { name: name.to_owned() };
            return Err(Wrong::at("parent", fault));
        }
        if way.len() == HEIGHT_MAX {
            let wanted = "a parent below fewer than 16 others";
            return Err(Wrong::at("parent", Fault::Range { given: name.to_owned(), wanted }));
        }
        let Some(switch) = switches.get(name) else {
            let known = list(switches.keys().copied());
            let fault = Fault::SwitchUnknown { name: name.to_owned(), known };
            return Err(Wrong::at("parent", fault));
        };
        way.push(Uplink { switch: name.to_owned(), bandwidth: switch.uplink });
        next = switch.parent.as_deref();
    }
    Ok(way)
}
