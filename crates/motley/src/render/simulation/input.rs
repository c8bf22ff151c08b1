//! What was simulated.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use fleet::{DeviceKind, MilliCores};
use serde::Serialize;
use sim::read::Read;
use sim::{Inventory, Workload};

use crate::render::words;

/// Where fleet and jobs come from, how large they are, and what was noticed when reading them.
#[derive(Debug, Serialize)]
pub struct Input {
    is_bundled: bool,
    seed: u64,
    seeds: u32,
    nodes: usize,
    cores: f64,
    /// Devices other than cores, by model.
    devices: BTreeMap<String, usize>,
    jobs: usize,
    tasks: u64,
    tenants: usize,
    rate_error: f64,
    notes: Vec<String>,
    /// The first bad entries that were left out.
    skipped: Vec<String>,
    skipped_count: u64,
}

impl Input {
    /// The bundled fleet and jobs.
    #[must_use]
    pub fn bundled(seed: u64, seeds: u32) -> Self {
        Self { is_bundled: true, ..Self::files(seed, seeds) }
    }

    /// Files.
    #[must_use]
    pub fn files(seed: u64, seeds: u32) -> Self {
        Self {
            is_bundled: false,
            seed,
            seeds,
            nodes: 0,
            cores: 0.0,
            devices: BTreeMap::new(),
            jobs: 0,
            tasks: 0,
            tenants: 0,
            rate_error: 0.0,
            notes: Vec::new(),
            skipped: Vec::new(),
            skipped_count: 0,
        }
    }

    /// Notes what was noticed when reading, and gives what was read.
    pub fn take_in<T>(&mut self, file: &Path, read: Read<T>) -> T {
        let Read { value, skipped, skipped_count, notes } = read;
        self.notes.extend(notes);
        let file = file.display();
        self.skipped.extend(skipped.iter().map(|line| format!("{file}, {line}")));
        self.skipped_count += skipped_count;
        value
    }

    /// Notes something that readers of the report should know.
    pub fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// Notes how large fleet and jobs are; the jobs of the first seed count.
    pub fn note_jobs(&mut self, inventory: &Inventory, workload: &Workload) {
        if self.jobs > 0 {
            return;
        }
        self.nodes = inventory.nodes.len();
        self.cores = inventory.nodes.iter().map(|node| node.cores.0 as f64 / 1000.0).sum();
        for class in inventory.nodes.iter().flat_map(|node| &node.devices) {
            let class = inventory.classes.get(*class);
            if class.kind != DeviceKind::Cpu {
                *self.devices.entry(class.model.clone()).or_default() += 1;
            }
        }
        self.jobs = workload.jobs.len();
        self.tasks = workload.jobs.iter().map(|job| u64::from(job.tasks)).sum();
        self.tenants = workload.jobs.iter().map(|job| &job.tenant).collect::<BTreeSet<_>>().len();
        self.rate_error = f64::from(workload.truth.rate_error.0) / 1000.0;
    }

    /// A paragraph.
    #[must_use]
    pub(in crate::render) fn text(&self) -> String {
        let devices: Vec<_> =
            self.devices.iter().map(|(model, count)| format!("{count} {model}")).collect();
        let cores = MilliCores(self.thousandths());
        let mut text = format!("Fleet: {}, {cores} cores", words::count(self.nodes as u64, "node"));
        if !devices.is_empty() {
            text.push_str(&format!(", {}", devices.join(", ")));
        }
        text.push_str(&format!(
            ". Jobs: {} ({}) of {}.\n",
            self.jobs,
            words::count(self.tasks, "task"),
            words::count(self.tenants as u64, "tenant")
        ));
        text.push_str(&match self.seeds {
            1 => format!("Seed {}.", self.seed),
            seeds => {
                let last = self.seed + u64::from(seeds) - 1;
                format!("Means over seeds {} to {last}.", self.seed)
            }
        });
        if self.rate_error > 0.0 {
            let percent = self.rate_error * 100.0;
            text.push_str(&format!(
                " Declared rates are wrong by up to {percent} %, unknown to the planner."
            ));
        }
        text.push('\n');
        self.add_remarks(&mut text);
        text
    }

    fn add_remarks(&self, text: &mut String) {
        for note in &self.notes {
            text.push_str(&format!("Note: {note}.\n"));
        }
        if self.skipped_count > 0 {
            let count = words::count(self.skipped_count, "bad entry");
            let count = count.replace("entrys", "entries");
            text.push_str(&format!("Left out: {count}.\n"));
            for line in &self.skipped {
                text.push_str(&format!("  {line}\n"));
            }
            if self.skipped_count > self.skipped.len() as u64 {
                let more = self.skipped_count - self.skipped.len() as u64;
                text.push_str(&format!("  and {more} more\n"));
            }
        }
    }

    fn thousandths(&self) -> u64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a sum of cores, far below 2^53 thousandths"
        )]
        let thousandths = (self.cores * 1000.0).round() as u64;
        thousandths
    }
}
