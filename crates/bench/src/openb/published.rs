//! What was published, from the files beside the orders.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use super::trace::ORDERS;
use crate::place;

/// The published policies that draw nothing, by our name and by theirs.
pub const EXACT: [(&str, &str); 5] = [
    ("dot-prod", "DotProd"),
    ("gpu-clustering", "GpuClustering"),
    ("gpu-packing", "GpuPacking"),
    ("best-fit", "BestFit"),
    ("fgd", "FGD"),
];

/// Published results of one trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Published {
    /// Allocated at 130 % load by policy and seed, in percent.
    by_seed: BTreeMap<(String, u64), f64>,
    /// Allocated at 100 % and at 130 % load by policy, mean of seeds 42–51, in percent.
    means: BTreeMap<String, (Option<f64>, Option<f64>)>,
    /// Mean curves by policy, of the trace `default` only.
    curves: BTreeMap<String, MeanCurves>,
}

/// Mean curves of one policy over seeds 42–51, by arrived load in percent.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
pub struct MeanCurves {
    /// Allocated, in percent of all GPUs.
    pub alloc_pct: Vec<f64>,
    /// Unusable, in percent of all GPUs.
    pub frag_amount_pct_of_gpus: Vec<f64>,
    /// Unusable, in percent of what is free.
    pub frag_ratio_pct: Vec<f64>,
}

#[derive(Debug, Deserialize)]
struct Row {
    trace: String,
    policy: String,
    seed: String,
    alloc_at_100_pct: Option<f64>,
    alloc_at_130_pct: Option<f64>,
}

/// Reads what was published of a trace.
///
/// # Errors
/// If a file is missing or makes no sense.
pub fn read(folder: &Path, trace: &str) -> anyhow::Result<Published> {
    let folder = folder.join(ORDERS);
    let text = place::read(&folder, "reference.csv").context("read the published results")?;
    let mut published = Published::default();
    for row in csv::Reader::from_reader(text.as_bytes()).into_deserialize() {
        let row: Row = row.context("read the published results")?;
        if row.trace == trace {
            published.enter(row);
        }
    }
    if trace == "default" {
        let text = place::read(&folder, "reference_default_curves.json")
            .context("read the published curves")?;
        published.curves = serde_json::from_str(&text).context("read the published curves")?;
    }
    Ok(published)
}

impl Published {
    /// Allocated at 130 % load, in percent.
    #[must_use]
    pub fn at_130(&self, name: &str, seed: u64) -> Option<f64> {
        self.by_seed.get(&(theirs(name)?.to_owned(), seed)).copied()
    }

    /// Allocated at 100 % and at 130 % load, mean of seeds 42–51, in percent.
    #[must_use]
    pub fn means(&self, name: &str) -> (Option<f64>, Option<f64>) {
        let theirs = if name == "random" { Some("Random") } else { theirs(name) };
        theirs.and_then(|name| self.means.get(name)).copied().unwrap_or_default()
    }

    /// The mean curves of seeds 42–51.
    #[must_use]
    pub fn curves(&self, name: &str) -> Option<&MeanCurves> {
        self.curves.get(theirs(name)?)
    }

    fn enter(&mut self, row: Row) {
        match (row.seed.parse(), row.alloc_at_130_pct) {
            (Ok(seed), Some(allocated)) => {
                self.by_seed.insert((row.policy, seed), allocated);
            }
            _ => {
                self.means.insert(row.policy, (row.alloc_at_100_pct, row.alloc_at_130_pct));
            }
        }
    }
}

fn theirs(name: &str) -> Option<&'static str> {
    EXACT.iter().find(|(ours, _)| *ours == name).map(|(_, theirs)| *theirs)
}
