//! Modelled nodes of a daemon: from a fleet file to nodes beside the machine.
//!
//! The file is the one that simulations read. Its nodes are numbered after the
//! machine, and one that was there before keeps its number, as device classes
//! do; so a daemon that is started again, also with a file that has changed,
//! finds what it left. The file is copied into the daemon's directory, and is
//! in force until another one is given or none is wanted.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use body_local::Machine;
use controller::Ledger;
use fleet::{ClassId, Classes, Job, JobId, Node, NodeId};
use sim::Inventory;
use sim::modelled::ModelledNodes;
use sim::read;

use super::{Place, machine};

/// The most modelled nodes.
pub(super) const NODES_MAX: usize = 10_000;

/// The largest file.
const FILE_MAX: u64 = 32 << 20;

/// The label by which jobs choose between this machine and nodes that are only modelled.
pub(super) const LABEL: &str = "world";

/// Its value on the machine.
pub(super) const REAL: &str = "real";

/// Its value on modelled nodes.
pub(super) const MODELLED: &str = "modelled";

/// Which nodes are modelled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// Those that were, when the daemon ran last.
    #[default]
    AsBefore,
    /// None.
    Without,
    /// Those of this file.
    Of(PathBuf),
}

/// The nodes to model, numbered; their classes are added to those of the machine. A file that was
/// given is kept, once it is known to be sound.
pub(super) fn find(
    model: &Model,
    place: &Place,
    machine: &mut Machine,
    ledger: &Ledger,
) -> anyhow::Result<Vec<Arc<Node>>> {
    let kept = place.model();
    let path = match model {
        Model::Of(path) => path,
        Model::AsBefore if kept.exists() => &kept,
        Model::AsBefore => return Ok(Vec::new()),
        Model::Without => {
            if kept.exists() {
                fs::remove_file(&kept).with_context(|| format!("remove {}", kept.display()))?;
            }
            return Ok(Vec::new());
        }
    };
    let bytes = bytes_of(path)?;
    let options = read::Options::default();
    let name = path.display().to_string();
    let inventory = read::inventory_from(&bytes[..], &name, &options)?.value;
    let nodes = number(inventory, machine, ledger)
        .with_context(|| format!("model the nodes of {}", path.display()))?;
    if *path != kept {
        place.write_synced(&kept, &bytes)?;
    }
    Ok(nodes)
}

/// The nodes with what the journal says that they run.
pub(super) fn take_up(nodes: Vec<Arc<Node>>, classes: &Classes, ledger: &Ledger) -> ModelledNodes {
    let mut modelled = ModelledNodes::new(nodes, classes);
    let jobs: BTreeMap<JobId, &Job> = ledger.jobs().map(|job| (job.id, &**job)).collect();
    for run in ledger.runs() {
        modelled.resume(run, jobs.get(&run.id().job).copied());
    }
    modelled
}

/// What whoever asks how the daemon is should know.
pub(super) fn note(nodes: usize) -> String {
    let nodes = if nodes == 1 { "1 node is".to_owned() } else { format!("{nodes} nodes are") };
    format!(
        "{nodes} modelled: tasks run no program there; --label {LABEL}={REAL} keeps a job on this \
         machine"
    )
}

fn bytes_of(path: &Path) -> anyhow::Result<Vec<u8>> {
    let read = || format!("read {}", path.display());
    let length = fs::metadata(path).with_context(read)?.len();
    ensure!(length <= FILE_MAX, "read {}: it is larger than {FILE_MAX} bytes", path.display());
    fs::read(path).with_context(read)
}

fn number(
    inventory: Inventory,
    machine: &mut Machine,
    ledger: &Ledger,
) -> anyhow::Result<Vec<Arc<Node>>> {
    let Inventory { classes, nodes } = inventory;
    ensure!(
        nodes.len() <= NODES_MAX,
        "it has {} nodes, and a daemon models at most {NODES_MAX}",
        nodes.len()
    );
    let own = &machine.node;
    for class in own.devices.iter().chain([&own.cpu]).map(|class| machine.classes.get(*class)) {
        let same = classes.0.iter().find(|other| other.model == class.model);
        ensure!(
            same.is_none_or(|other| other == class),
            "its device {:?} is not as that of this machine; give it another name",
            class.model
        );
    }
    let mut known = (*machine.classes).clone();
    let numbers = machine::numbers(&mut known, &classes)?;
    machine.classes = Arc::new(known);
    let before: BTreeMap<String, NodeId> =
        ledger.nodes().skip(1).map(|entry| (entry.node.name.clone(), entry.node.id)).collect();
    let mut next = ledger.nodes().count().max(1);
    let mut numbered = Vec::with_capacity(nodes.len());
    for node in nodes {
        ensure!(
            node.name != machine.node.name,
            "its node {:?} has the name of this machine; give it another",
            node.name
        );
        ensure!(
            !node.labels.contains_key(LABEL),
            "its node {:?} has the label {LABEL:?}, which modelled nodes get by themselves",
            node.name
        );
        let id = match before.get(&node.name) {
            Some(id) => *id,
            None => {
                next += 1;
                NodeId(u32::try_from(next - 1).context("too many nodes, now and before")?)
            }
        };
        numbered.push(Arc::new(renumbered(node, id, &numbers)));
    }
    numbered.sort_by_key(|node| node.id);
    Ok(numbered)
}

fn renumbered(mut node: Node, id: NodeId, numbers: &[ClassId]) -> Node {
    node.id = id;
    node.cpu = numbers[node.cpu.index()];
    node.devices.iter_mut().for_each(|class| *class = numbers[class.index()]);
    node.labels.insert(LABEL.to_owned(), MODELLED.to_owned());
    node
}
