//! The jobs of a workload as they are put together.
//!
//! Shares what many jobs have in common (alternatives, tenants), draws the
//! arrivals of streams, and in the end gives ids by arrival, then by place in
//! the file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::{Alternative, Job, JobId, Restart, Span, Tenant, Time, Work};

use super::draw::Dice;
use super::error::{ReadError, Wrong, list};
use super::fault::Fault;
use super::job_file::{Arriving, Template};
use super::notebook::Notebook;
use super::raw::SPAN_MAX;
use crate::workload::{Inventory, Truth, Workload};

/// The most jobs.
pub(super) const JOBS_MAX: u64 = 10_000_000;

/// Jobs so far. Until all are there, the id of each is its place.
#[derive(Default)]
pub(super) struct Jobs {
    jobs: Vec<Job>,
    true_work: BTreeMap<JobId, Work>,
    shapes: BTreeSet<Arc<Vec<Alternative>>>,
    tenants: BTreeSet<Arc<str>>,
    streams: BTreeSet<String>,
}

impl Jobs {
    /// How many there are.
    pub(super) fn len(&self) -> u64 {
        self.jobs.len() as u64
    }

    /// Adds one job.
    pub(super) fn add(&mut self, template: Template, arrival: Time) {
        let (work, deadline) = (template.work, template.deadline);
        if let Some(work) = template.true_work {
            self.true_work.insert(JobId(self.len()), work);
        }
        let make = self.make(template);
        self.arrive(&make, arrival, work, deadline);
    }

    /// Draws and adds the jobs of a stream. The first arrives one gap after `from`; the gaps are
    /// exponential. Gaps and work are drawn apart and by the stream's name, so that neither another
    /// stream nor a spread moves the arrivals, and more jobs only follow after the others.
    pub(super) fn add_stream(
        &mut self,
        template: Template,
        arriving: &Arriving,
        seed: u64,
    ) -> Result<(), Wrong> {
        if self.streams.contains(&template.name) {
            let reason = "another stream has this name, and would draw the same arrivals";
            return Err(Wrong::at("name", Fault::Idle { reason }));
        }
        let mut gaps = Dice::new(seed, "stream gaps", &template.name);
        let mut factors = Dice::new(seed, "stream work", &template.name);
        let mut at = arriving.from;
        let mut drawn = Vec::new();
        for _ in 0..arriving.count {
            at = at.after(gaps.exponential(arriving.every));
            if at.0 > SPAN_MAX.0 {
                return Err(Wrong::here(Fault::StreamTooLong { most: SPAN_MAX }));
            }
            let work = template.work.map(|work| factors.spread(work, arriving.spread));
            drawn.push((at, work));
        }
        self.streams.insert(template.name.clone());
        let deadline = template.deadline;
        let make = self.make(template);
        for (at, work) in drawn {
            self.arrive(&make, at, work, deadline);
        }
        Ok(())
    }

    /// What the jobs of a template have in common, shared with others where it is the same.
    fn make(&mut self, mut template: Template) -> Job {
        let tenant = match self.tenants.get(template.tenant.as_str()) {
            Some(known) => Tenant(Arc::clone(known)),
            None => {
                let tenant = template.tenant();
                self.tenants.insert(Arc::clone(&tenant.0));
                tenant
            }
        };
        let alternatives = match self.shapes.get(&template.alternatives) {
            Some(known) => Arc::clone(known),
            None => {
                let shape = template.take_alternatives();
                self.shapes.insert(Arc::clone(&shape));
                shape
            }
        };
        Job {
            id: JobId::default(),
            name: template.name,
            tenant,
            priority: template.priority,
            arrival: Time::default(),
            tasks: template.tasks,
            gang: template.gang,
            work: None,
            deadline: None,
            alternatives,
            datasets: template.datasets,
            program: None,
            restart: Restart::default(),
            after: Vec::new(),
        }
    }

    fn arrive(&mut self, make: &Job, arrival: Time, work: Option<Work>, within: Option<Span>) {
        let (id, deadline) = (JobId(self.len()), within.map(|span| arrival.after(span)));
        self.jobs.push(Job { id, arrival, work, deadline, ..make.clone() });
    }

    /// The jobs with their ids, and their true work. Notes the models that jobs name and no node
    /// has.
    pub(super) fn finish(
        mut self,
        inventory: &Inventory,
        notebook: &mut Notebook,
    ) -> Result<Workload, ReadError> {
        if self.jobs.is_empty() {
            return Err(notebook.empty("job"));
        }
        self.note_absent_models(inventory, notebook);
        self.jobs.sort_by_key(|job| job.arrival);
        let mut truth = Truth::default();
        let mut jobs = Vec::with_capacity(self.jobs.len());
        for (id, job) in (0..).map(JobId).zip(self.jobs) {
            if let Some(work) = self.true_work.get(&job.id) {
                truth.work.insert(id, *work);
            }
            jobs.push(Arc::new(Job { id, ..job }));
        }
        Ok(Workload { jobs, truth, outages: Vec::new() })
    }

    fn note_absent_models(&self, inventory: &Inventory, notebook: &mut Notebook) {
        let named: BTreeSet<&str> = self.shapes.iter().flat_map(|shape| models(shape)).collect();
        note_absent("jobs name", &named, inventory, notebook);
    }
}

/// Notes those of the models named that no node has.
pub(super) fn note_absent(
    who: &str,
    named: &BTreeSet<&str>,
    inventory: &Inventory,
    notebook: &mut Notebook,
) {
    let nodes = inventory.nodes.iter();
    let used: BTreeSet<_> = nodes.flat_map(|node| node.devices.iter().chain([&node.cpu])).collect();
    let present: BTreeSet<&str> =
        used.into_iter().map(|class| inventory.classes.get(*class).model.as_str()).collect();
    let absent: Vec<&str> = named.difference(&present).copied().collect();
    if !absent.is_empty() {
        let names = list(absent.iter().copied());
        notebook.note(format!("{who} {} models that no node has: {names}", absent.len()));
    }
}

/// The models that alternatives name.
fn models(shape: &[Alternative]) -> impl Iterator<Item = &str> {
    shape.iter().flat_map(|alternative| {
        let devices = alternative.request.devices.iter();
        let wanted = devices.flat_map(|devices| &devices.models);
        alternative.rates.keys().chain(wanted).map(String::as_str)
    })
}
