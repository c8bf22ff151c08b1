//! What the world's log must not show.

use std::collections::{BTreeMap, BTreeSet};

use fleet::{Action, Attempt, Generation, JobId, NodeId, Order, Plan, RunId, TaskIndex};

use super::Breach;
use crate::world::{Entry, Event, Start};

/// What the log has shown so far, and what was ordered.
#[derive(Debug, Default)]
pub(super) struct History {
    read: usize,
    ordered: BTreeMap<RunId, NodeId>,
    newest: Generation,
    latest: BTreeMap<(JobId, TaskIndex), Attempt>,
    done: BTreeMap<JobId, Completions>,
}

/// The tasks of one job that were done, each with the attempt that was first.
#[derive(Debug, Default)]
struct Completions {
    runs: BTreeSet<RunId>,
    tasks: BTreeMap<TaskIndex, FirstDone>,
    in_sight: BTreeSet<TaskIndex>,
}

#[derive(Clone, Copy, Debug)]
struct FirstDone {
    attempt: Attempt,
    unseen: bool,
}

impl History {
    /// Notes what may have been ordered though nobody says so.
    pub(super) fn expect(&mut self, plan: &Plan) {
        for placement in &plan.placements {
            self.ordered.insert(placement.run, placement.node);
        }
    }

    /// Reads what the log says since the last turn.
    pub(super) fn read(&mut self, log: &[Entry], orders: &[Order], breaches: &mut Vec<Breach>) {
        for order in orders {
            if let Action::Start { placement, .. } = &order.action {
                self.ordered.insert(order.run, placement.node);
            }
        }
        for entry in &log[self.read..] {
            match &entry.event {
                Event::Started(start) => self.started(start, breaches),
                Event::Stopped { run, generation } => {
                    self.carried_out(*run, *generation, breaches);
                }
                Event::Done { run, unseen } => self.done(*run, *unseen, breaches),
                Event::Failed { .. }
                | Event::Killed { .. }
                | Event::Refused { .. }
                | Event::Crashed(_)
                | Event::Parted(_)
                | Event::Back(_) => {}
            }
        }
        self.read = log.len();
    }

    /// How many tasks of a job were done in full sight, and how many at all.
    pub(super) fn completions(&self, job: JobId) -> (u32, u32) {
        let count = |many: usize| u32::try_from(many).unwrap_or(u32::MAX);
        self.done
            .get(&job)
            .map_or((0, 0), |done| (count(done.in_sight.len()), count(done.tasks.len())))
    }

    fn started(&mut self, start: &Start, breaches: &mut Vec<Breach>) {
        let (run, node) = (start.run, start.node);
        if self.ordered.get(&run) != Some(&node) {
            breaches.push(Breach::Unordered { run, node });
        }
        self.carried_out(run, start.generation, breaches);
        if let Some(latest) = self.latest.insert((run.job, run.task), run.attempt)
            && latest >= run.attempt
        {
            breaches.push(Breach::AttemptFell { run, latest: latest.0 });
        }
    }

    fn carried_out(&mut self, run: RunId, generation: Generation, breaches: &mut Vec<Breach>) {
        if generation < self.newest {
            let (carried_out, newest) = (generation, self.newest);
            breaches.push(Breach::GenerationFell { run, carried_out, newest });
        }
        self.newest = self.newest.max(generation);
    }

    fn done(&mut self, run: RunId, unseen: bool, breaches: &mut Vec<Breach>) {
        let done = self.done.entry(run.job).or_default();
        if !done.runs.insert(run) {
            breaches.push(Breach::DoneTwice { run });
            return;
        }
        if !unseen {
            done.in_sight.insert(run.task);
        }
        match done.tasks.get(&run.task) {
            Some(first) if !unseen && !first.unseen => {
                breaches.push(Breach::TaskDoneTwice { run, earlier: first.attempt.0 });
            }
            Some(_) => {}
            None => {
                done.tasks.insert(run.task, FirstDone { attempt: run.attempt, unseen });
            }
        }
    }
}
