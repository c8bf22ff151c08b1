//! A trace with its orders of arrival, from files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, ensure};
use fleet::{Classes, Job, Node};
use serde::Deserialize;
use sim::read::{self, Arrivals, Options};

use crate::place;
use crate::reference::typical::Typical;

/// The folder of the node and pod lists.
pub const LISTS: &str = "alibaba-openb-gpu-v2023";

/// The folder of the orders and published results.
pub const ORDERS: &str = "openb-fgd-orders";

/// The nodes of the cluster: those with GPUs.
pub const NODES: &str = "openb_node_list_gpu_node.csv";

/// Nodes, pods and in which orders they come.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The device classes.
    pub classes: Arc<Classes>,
    /// The nodes in the order of their list, which is that of their names.
    pub nodes: Vec<Node>,
    /// The pods in the order of their list.
    pub pods: Vec<Arc<Job>>,
    /// The typical pods.
    pub typical: Arc<Typical>,
    /// The orders by seed.
    pub orders: BTreeMap<u64, Order>,
}

/// In which order pods arrive, and which nodes win ties.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
pub struct Order {
    /// The pod of each arrival, by its position in the list.
    pub order: Vec<usize>,
    /// The rank of each node in the order of the list; the smallest wins.
    pub node_priority: Vec<u32>,
}

/// Reads a trace.
///
/// # Errors
/// If a file is missing or makes no sense, or an order is not of these nodes and pods.
pub fn read(folder: &Path, name: &str) -> anyhow::Result<Trace> {
    let options = Options { arrivals: Some(Arrivals::Order), ..Options::default() };
    let lists = folder.join(LISTS);
    let inventory = read::inventory(&lists.join(NODES), &options).context("read the nodes")?;
    let inventory = inventory.value;
    let file = format!("openb_pod_list_{name}.csv");
    let text = place::read(&lists, &file).context("read the pods")?;
    let workload = read::workload_from(text.as_bytes(), &file, &inventory, &options)
        .context("read the pods")?;
    let pods = workload.value.jobs;
    let text = place::read(&folder.join(ORDERS), &format!("{name}.json"))
        .context("read the orders of arrival")?;
    let orders: BTreeMap<u64, Order> =
        serde_json::from_str(&text).context("read the orders of arrival")?;
    for (seed, order) in &orders {
        check(order, inventory.nodes.len(), pods.len())
            .with_context(|| format!("read the order of seed {seed}"))?;
    }
    let asked = pods.iter().filter_map(|pod| pod.alternatives.first());
    Ok(Trace {
        typical: Arc::new(Typical::of(asked, &inventory.classes)),
        classes: Arc::new(inventory.classes),
        nodes: inventory.nodes,
        pods,
        orders,
    })
}

fn check(order: &Order, nodes: usize, pods: usize) -> anyhow::Result<()> {
    let mut ranks = order.node_priority.clone();
    ranks.sort_unstable();
    ensure!(
        ranks.iter().copied().eq(0..u32::try_from(nodes).unwrap_or(u32::MAX)),
        "the {} ranks are not those of {nodes} nodes, each once",
        ranks.len()
    );
    let beyond = order.order.iter().find(|pod| **pod >= pods);
    ensure!(beyond.is_none(), "pod {beyond:?} is not one of {pods}");
    Ok(())
}
