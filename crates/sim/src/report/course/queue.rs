//! The tasks that wait, by the model that each is declared to run fastest on.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{ClassId, Job, JobId, RunId, TaskIndex, Time};
use serde::Serialize;

use super::track::Track;
use crate::scenario::Outcome;
use crate::workload::{Inventory, Workload};
use crate::world::{Event, Makes};

/// Where bins of waits end, in seconds; a last one has no end.
const ENDS: [u64; 8] = [1, 10, 60, 300, 900, 3600, 14_400, 86_400];

/// How many tasks waited about so long.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WaitBin {
    /// From this long on.
    pub from_seconds: u64,
    /// Less than this long; none for the last.
    pub to_seconds: Option<u64>,
    /// How many tasks.
    pub tasks: u64,
}

/// The queue over time, and how long tasks were in it.
pub(super) struct Queue {
    pub(super) by_class: Vec<Track>,
    pub(super) for_none: Track,
    pub(super) never_started: u64,
    counts: [u64; ENDS.len() + 1],
}

/// How one task stands.
#[derive(Default)]
struct Standing {
    running: u32,
    is_done: bool,
    was_started: bool,
}

/// Reads a log.
struct Reader<'a> {
    queue: Queue,
    jobs: BTreeMap<JobId, (&'a Job, Option<ClassId>)>,
    tasks: BTreeMap<(JobId, TaskIndex), Standing>,
}

impl Queue {
    /// The queue along the log of a simulation.
    pub(super) fn of(
        inventory: &Inventory,
        workload: &Workload,
        outcome: &Outcome,
        horizon: Time,
    ) -> Self {
        let makes = Makes::of(inventory);
        let queue = Self {
            by_class: inventory.classes.0.iter().map(|_| Track::until(horizon)).collect(),
            for_none: Track::until(horizon),
            never_started: 0,
            counts: [0; ENDS.len() + 1],
        };
        let mut reader = Reader { queue, jobs: BTreeMap::new(), tasks: BTreeMap::new() };
        let mut jobs = workload.jobs.iter().filter(|job| job.arrival <= outcome.at).peekable();
        for entry in &outcome.log {
            while let Some(job) = jobs.next_if(|job| job.arrival <= entry.at) {
                reader.arrive(job, &makes);
            }
            reader.read(entry.at, &entry.event);
        }
        for job in jobs {
            reader.arrive(job, &makes);
        }
        reader.queue
    }

    /// How long tasks waited for their first start.
    pub(super) fn waits(&self) -> Vec<WaitBin> {
        let bin = |(position, tasks): (usize, &u64)| WaitBin {
            from_seconds: position.checked_sub(1).map_or(0, |before| ENDS[before]),
            to_seconds: ENDS.get(position).copied(),
            tasks: *tasks,
        };
        self.counts.iter().enumerate().map(bin).collect()
    }

    fn add(&mut self, class: Option<ClassId>, at: Time, tasks: f64) {
        match class {
            Some(class) => self.by_class[class.index()].add(at, tasks),
            None => self.for_none.add(at, tasks),
        }
    }
}

impl<'a> Reader<'a> {
    fn arrive(&mut self, job: &'a Arc<Job>, makes: &Makes<'_>) {
        let class = fastest(job, makes);
        self.jobs.insert(job.id, (job, class));
        self.queue.add(class, job.arrival, f64::from(job.tasks));
        self.queue.never_started += u64::from(job.tasks);
    }

    fn read(&mut self, at: Time, event: &Event) {
        match event {
            Event::Started(start) => self.start(at, start.run),
            Event::Done { run, .. } => self.end(at, *run, true),
            Event::Failed { run, .. } | Event::Stopped { run, .. } | Event::Killed { run } => {
                self.end(at, *run, false);
            }
            Event::Refused { .. } | Event::Crashed(_) | Event::Parted(_) | Event::Back(_) => {}
        }
    }

    fn start(&mut self, at: Time, run: RunId) {
        let Some((job, class)) = self.jobs.get(&run.job) else { return };
        let task = self.tasks.entry((run.job, run.task)).or_default();
        let waited = task.running == 0 && !task.is_done;
        task.running += 1;
        if waited {
            self.queue.add(*class, at, -1.0);
        }
        if !std::mem::replace(&mut task.was_started, true) {
            let seconds = at.since(job.arrival).0 / 1_000_000;
            let bin = ENDS.iter().position(|end| seconds < *end).unwrap_or(ENDS.len());
            self.queue.counts[bin] += 1;
            self.queue.never_started -= 1;
        }
    }

    fn end(&mut self, at: Time, run: RunId, is_done: bool) {
        let Some((_, class)) = self.jobs.get(&run.job) else { return };
        let task = self.tasks.entry((run.job, run.task)).or_default();
        task.running = task.running.saturating_sub(1);
        task.is_done |= is_done;
        if task.running == 0 && !task.is_done {
            self.queue.add(*class, at, 1.0);
        }
    }
}

/// The class on which a task is declared to run fastest, if that were empty; the first of equals.
fn fastest(job: &Job, makes: &Makes<'_>) -> Option<ClassId> {
    let ways = job.alternatives.iter();
    let classes =
        ways.flat_map(|way| makes.classes_for(way).into_iter().map(move |class| (way, class)));
    let rates = classes
        .filter_map(|(way, class)| Some((way.rate(&makes.classes.get(class).model)?, class)));
    let best = rates.max_by_key(|(rate, class)| (*rate, std::cmp::Reverse(*class)));
    best.map(|(_, class)| class)
}
