//! What a setting is measured on: nodes and shapes, from files.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use fleet::{Alternative, Classes, Node};
use sim::Inventory;
use sim::read::{self, Arrivals, Options};

use super::setting::Setting;
use super::shapes::Frequency;
use super::{fleet_of, shapes};
use crate::openb::trace::{LISTS, NODES};
use crate::place;

/// How the names of pod lists begin and end.
const LIST: (&str, &str) = ("openb_pod_list_", ".csv");

/// The pod list whose shapes come first.
const FIRST: &str = "openb_pod_list_default.csv";

/// Nodes, and the shapes that jobs are drawn from.
#[derive(Clone, Debug)]
pub struct Input {
    /// The device classes.
    pub classes: Arc<Classes>,
    /// The nodes; the one with id `i` at position `i`.
    pub nodes: Vec<Arc<Node>>,
    /// The shapes, all distinct; at least one.
    pub shapes: Vec<Alternative>,
}

impl Input {
    /// Reads what a setting needs.
    ///
    /// # Errors
    /// If a file is missing or makes no sense, or there are not so many shapes.
    pub fn read(folder: &Path, setting: Setting) -> anyhow::Result<Self> {
        let lists = folder.join(LISTS);
        let options = Options::default();
        let inventory = read::inventory(&lists.join(NODES), &options).context("read the nodes")?;
        let inventory = inventory.value;
        ensure!(!inventory.nodes.is_empty(), "read the nodes: there are none");
        let count = usize::try_from(setting.shapes)?;
        let mut first = Frequency::new();
        count_shapes(&lists, FIRST, &inventory, &mut first)?;
        let mut set = shapes::most_frequent(&first, count);
        if set.len() < count {
            let mut others = Frequency::new();
            for file in other_lists(&lists)? {
                count_shapes(&lists, &file, &inventory, &mut others)?;
            }
            let bases = if others.is_empty() { &first } else { &others };
            ensure!(!bases.is_empty(), "read the pods: there are none");
            shapes::extend(&mut set, count, bases, (&inventory.nodes, &inventory.classes))?;
        }
        Ok(Self {
            nodes: fleet_of::nodes(&inventory.nodes, setting.nodes),
            classes: Arc::new(inventory.classes),
            shapes: set,
        })
    }
}

/// Adds the shapes of a list. The pods themselves are let go before the next list is read.
fn count_shapes(
    lists: &Path,
    file: &str,
    inventory: &Inventory,
    frequency: &mut Frequency,
) -> anyhow::Result<()> {
    let options = Options { arrivals: Some(Arrivals::Order), ..Options::default() };
    let text = place::read(lists, file).context("read the pods")?;
    let pods = read::workload_from(text.as_bytes(), file, inventory, &options);
    for pod in pods.context("read the pods")?.value.jobs {
        for shape in pod.alternatives.iter() {
            *frequency.entry(shape.clone()).or_default() += 1;
        }
    }
    Ok(())
}

/// The names of the other pod lists, without what packing adds, ascending.
fn other_lists(lists: &Path) -> anyhow::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    let entries = std::fs::read_dir(lists).with_context(|| format!("open {}", lists.display()))?;
    for entry in entries {
        let name = entry.context("read the folder of pod lists")?.file_name();
        let name = name.to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        if name.starts_with(LIST.0) && name.ends_with(LIST.1) && name != FIRST {
            names.insert(name.to_owned());
        }
    }
    Ok(names)
}
