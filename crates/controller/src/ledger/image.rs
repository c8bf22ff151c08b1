//! The ledger as it is stored, and back.
//!
//! Only what cannot be worked out again is stored: what nodes have free, what
//! tenants hold and which jobs may be planned follow from the runs and jobs.
//! Everything is a list, so that any format can hold it.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use fleet::snapshot::{Amounts, Memory, Mix, Progress, Waiting, is_unwanted};
use fleet::{
    Alternative, Attempt, Catalogue, ClassId, Classes, Failure, Generation, Job, JobId, Node,
    NodeEntry, NodeId, Run, Serial, Signals, TaskIndex, Time, Usage,
};
use serde::{Deserialize, Serialize};

use super::Ledger;
use super::datasets::Shelves;
use super::mix::Arrivals;
use super::standing::Record;

/// Everything that a ledger knows, stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Image {
    at: Time,
    serial: Serial,
    generation: Generation,
    classes: Arc<Classes>,
    nodes: Vec<Arc<Node>>,
    unseen: Vec<NodeId>,
    drained: Vec<NodeId>,
    jobs: Vec<JobImage>,
    ended: Vec<JobId>,
    newest: Option<JobId>,
    ended_max: Option<usize>,
    runs: Vec<Arc<Run>>,
    given_up: Vec<Arc<Run>>,
    arrivals: ArrivalsImage,
    catalogue: Arc<Catalogue>,
    copies: Vec<(NodeId, Vec<Arc<str>>)>,
    #[serde(default)]
    signals: Arc<Signals>,
    #[serde(default)]
    progress: Arc<BTreeMap<JobId, BTreeMap<TaskIndex, Progress>>>,
    memory: Memory,
    changed: Serial,
    has_changed: bool,
}

/// A job, stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct JobImage {
    pub(super) job: Arc<Job>,
    pub(super) done: u32,
    pub(super) failed: u32,
    pub(super) cancelled: u32,
    pub(super) held: bool,
    pub(super) unmet: Vec<JobId>,
    pub(super) failures: Vec<(TaskIndex, u32)>,
    pub(super) attempts: Vec<(TaskIndex, Attempt)>,
    pub(super) failed_tasks: Vec<(TaskIndex, Failure)>,
    pub(super) ended: Option<Time>,
    #[serde(default, skip_serializing_if = "Usage::is_unknown")]
    pub(super) used: Usage,
    /// What of it waits.
    pub(super) waiting: Option<WaitingImage>,
}

/// What waits of a job, stored: tasks that never started, and those that start again.
pub(super) type WaitingImage = (Range<u32>, Vec<(TaskIndex, Attempt)>);

/// What arrived, stored.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct ArrivalsImage {
    pub(super) counts: Vec<(Alternative, u64)>,
    pub(super) total: u64,
    pub(super) published_total: u64,
    pub(super) published: Arc<Mix>,
    pub(super) declared: Option<Arc<Mix>>,
}

impl Image {
    /// Hands out every job, to change it.
    pub(crate) fn for_each_job(&mut self, change: &mut dyn FnMut(&mut Arc<Job>)) {
        self.jobs.iter_mut().for_each(|stored| change(&mut stored.job));
    }
}

impl Ledger {
    /// Everything that this ledger knows.
    #[must_use]
    pub fn image(&self) -> Image {
        let job = |(id, record): (&JobId, &Record)| record.image(self.waiting(*id));
        let copies = self.shelves.copies.iter();
        Image {
            at: self.at,
            serial: self.serial,
            generation: self.generation,
            classes: Arc::clone(&self.classes),
            nodes: self.nodes.iter().map(|entry| Arc::clone(&entry.node)).collect(),
            unseen: self.unseen.iter().copied().collect(),
            drained: self.drained.iter().copied().collect(),
            jobs: self.jobs.iter().map(job).collect(),
            ended: self.ended.iter().copied().collect(),
            newest: self.newest,
            ended_max: self.ended_max,
            runs: self.runs.values().cloned().collect(),
            given_up: self.given_up.values().cloned().collect(),
            arrivals: self.arrivals.image(),
            catalogue: Arc::clone(&self.shelves.catalogue),
            copies: copies.map(|(node, names)| (*node, names.iter().cloned().collect())).collect(),
            signals: Arc::clone(&self.signals),
            progress: Arc::clone(&self.progress),
            memory: self.memory.clone(),
            changed: self.changed,
            has_changed: self.has_changed,
        }
    }

    /// The ledger of which this is the image; nothing of it has been sealed yet.
    ///
    /// # Errors
    /// If parts of the image do not fit together: what is wrong.
    pub fn of_image(image: Image) -> Result<Self, &'static str> {
        let mut ledger = Self {
            at: image.at,
            serial: image.serial,
            generation: image.generation,
            classes: image.classes,
            unseen: image.unseen.into_iter().collect(),
            drained: image.drained.into_iter().collect(),
            ended: image.ended.into_iter().collect(),
            newest: image.newest,
            ended_max: image.ended_max,
            arrivals: Arrivals::of_image(image.arrivals),
            shelves: Shelves::new(Arc::unwrap_or_clone(image.catalogue)),
            signals: image.signals,
            progress: image.progress,
            memory: image.memory,
            changed: image.changed,
            everything_changed: true,
            ..Self::default()
        };
        let copies = image.copies.into_iter();
        ledger.shelves.copies = copies.map(|(node, names)| (node, VecDeque::from(names))).collect();
        for (node, id) in image.nodes.into_iter().zip((0..=u32::MAX).map(NodeId)) {
            let is_known = |class: &ClassId| class.index() < ledger.classes.0.len();
            if node.id != id || !is_known(&node.cpu) || !node.devices.iter().all(is_known) {
                return Err("a node does not fit its place or its classes");
            }
            let free = node.capacity(&ledger.classes);
            ledger.nodes_mut().push(Arc::new(NodeEntry { node, up: false, free }));
            ledger.set_up(id);
        }
        for stored in image.jobs {
            ledger.restore_job(stored)?;
        }
        for run in image.runs {
            ledger.restore_run(run)?;
        }
        ledger.given_up = image.given_up.into_iter().map(|run| (run.id(), run)).collect();
        ledger.has_changed = image.has_changed;
        Ok(ledger)
    }

    fn restore_job(&mut self, mut stored: JobImage) -> Result<(), &'static str> {
        let id = stored.job.id;
        self.share_request(&mut stored.job);
        if let Some((fresh, again)) = stored.waiting.clone() {
            if fresh.end > stored.job.tasks {
                return Err("a job has fewer tasks than wait");
            }
            let job = Arc::clone(&stored.job);
            let again: BTreeMap<_, _> = again.into_iter().collect();
            let waiting = Arc::new(Waiting { job, fresh, again });
            let is_parked = stored.held || !stored.unmet.is_empty();
            let place = if is_parked { &mut self.parked } else { self.backlog_mut() };
            place.insert(id, waiting);
        }
        for other in &stored.unmet {
            self.followers.entry(*other).or_default().insert(id);
        }
        match self.jobs.insert(id, Record::of_image(stored)) {
            Some(_) => Err("a job is named twice"),
            None => Ok(()),
        }
    }

    fn restore_run(&mut self, run: Arc<Run>) -> Result<(), &'static str> {
        let (id, node) = (run.id(), run.placement.node);
        let Some(entry) = self.nodes.get(node.index()) else { return Err("a run is nowhere") };
        if !entry.free.has_room_for(&run.placement.grant) || self.runs.contains_key(&id) {
            return Err("a run holds what there is not, or is named twice");
        }
        let amounts = Amounts::of_grant(&run.placement.grant);
        Arc::make_mut(&mut self.tenants).entry(run.tenant.clone()).or_default().add(amounts);
        self.change_free(node, |free| free.take(&run.placement.grant));
        if self.nodes[node.index()].up {
            self.held.add(amounts);
        }
        if is_unwanted(run.stage) {
            Arc::make_mut(&mut self.unwanted).insert(id);
        }
        self.note_running_job(id.job);
        self.runs_mut().insert(id, run);
        Ok(())
    }
}
