//! Reading traces and clusters into cases.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context as _, ensure};
use sim::Inventory;
use sim::read::{self, GavelRates, Options};

use super::case::{Case, Entry};

/// The folder of the table and the traces.
pub const FOLDER: &str = "gavel";
/// The table of rates of the published simulations.
const TABLE: &str = "simulation_throughputs.json";
/// The models, in the order in which the reference walks through them.
pub const MODELS: [&str; 3] = ["v100", "p100", "k80"];

/// How many devices there are of each model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cluster(pub [u32; 3]);

/// The traces of which there are published results, with their clusters.
pub const TRACES: [(&str, &str, Cluster); 4] = [
    ("A", "physical_cluster/max_min_fairness.trace", Cluster([8, 16, 24])),
    ("B", "physical_cluster/minimize_makespan.trace", Cluster([8, 16, 24])),
    ("C", "generated/gen_multi_600_lam800_seed0.trace", Cluster([36, 36, 36])),
    ("D", "generated/gen_single_600_lam400_seed0.trace", Cluster([36, 36, 36])),
];

impl FromStr for Cluster {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        /// As many as one fleet may have nodes.
        const DEVICES_MAX: u32 = 1_000_000;
        let counts: Result<Vec<u32>, _> = text.split(':').map(str::parse).collect();
        match counts.map(<[u32; 3]>::try_from) {
            Ok(Ok(counts)) if counts.iter().all(|count| *count <= DEVICES_MAX) => Ok(Self(counts)),
            _ => Err("numbers of v100, p100 and k80 up to 1000000, like 36:36:36".to_owned()),
        }
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [first, second, third] = self.0;
        write!(out, "{first}:{second}:{third}")
    }
}

/// Reads the table of rates.
///
/// # Errors
/// If it is not there or makes no sense.
pub fn rates(folder: &Path) -> anyhow::Result<GavelRates> {
    let path = folder.join(FOLDER).join(TABLE);
    let read = read::gavel_rates(&path, &Options::default()).context("read the rates")?;
    Ok(read.value)
}

/// Where a published trace lies.
#[must_use]
pub fn published(folder: &Path, trace: &str) -> PathBuf {
    folder.join(FOLDER).join("traces").join(trace)
}

/// Reads a trace.
///
/// # Errors
/// If it is not there or makes no sense, or a job fits nowhere in the cluster.
pub fn case(name: &str, path: &Path, cluster: Cluster, rates: &GavelRates) -> anyhow::Result<Case> {
    let (inventory, options) = (Inventory::default(), Options::default());
    let read = read::gavel_trace(path, (rates, &inventory), &options).context("read the trace")?;
    let first = read.value.jobs.first().map_or(0.0, |job| job.arrival.as_seconds());
    let jobs = read.value.jobs.iter().map(|job| {
        // Not the job's own, which are rounded: a step more or less in a round moves the results.
        let known = rates.find(&job.name, job.tasks);
        let rate = |model: &&str| known.and_then(|known| known.get(*model)).copied();
        Entry {
            arrival: job.arrival.as_seconds() - first,
            steps: job.work.map_or(0, |work| work.0 / 1_000_000),
            devices: job.tasks,
            rates: MODELS.iter().map(|model| rate(model).unwrap_or(0.0)).collect(),
        }
    });
    let case = Case {
        name: name.to_owned(),
        models: MODELS.map(str::to_owned).to_vec(),
        capacity: cluster.0.to_vec(),
        jobs: jobs.collect(),
    };
    for (job, entry) in read.value.jobs.iter().zip(&case.jobs) {
        let fits = |(rate, room): (&f64, &u32)| *rate > 0.0 && *room >= entry.devices;
        ensure!(
            entry.rates.iter().zip(&case.capacity).any(fits),
            "place {:?} of {}: it asks for {} devices of one model on which it runs, and the \
             cluster {cluster} has not as many; give a larger one (--cluster)",
            job.name,
            path.display(),
            entry.devices
        );
    }
    Ok(case)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_three_numbers() {
        assert_eq!("36:8:0".parse(), Ok(Cluster([36, 8, 0])));
        assert_eq!(Cluster([36, 8, 0]).to_string(), "36:8:0");
        for wrong in ["36", "36:36", "1:2:3:4", "a:1:1", "", "1000001:1:1", "-1:1:1"] {
            assert!(wrong.parse::<Cluster>().is_err(), "{wrong}");
        }
    }
}
