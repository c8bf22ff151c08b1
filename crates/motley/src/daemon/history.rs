//! What went where lately, and why: kept while the daemon runs.

use std::collections::{BTreeMap, VecDeque};

use controller::Ledger;
use fleet::explanation::{Choice, TierInForce};
use fleet::{Attempt, JobId, Placement, Run, RunId, RunState, TaskIndex, Time};
use sim::scenario::{Told, What};
use sim::visit::PLACED_MAX;

/// So many runs that have ended are known.
const ENDED_MAX: usize = 5_000;

/// Of so many placements it is known why they were made.
const TOLD_MAX: usize = 20_000;

/// Runs that have ended, and why runs went where they went.
#[derive(Default)]
pub(super) struct History {
    ended: VecDeque<Ended>,
    told: BTreeMap<RunId, Told>,
    /// The placements that are told, the oldest first.
    order: VecDeque<RunId>,
}

/// A run that has ended.
pub(super) struct Ended {
    pub(super) run: Run,
    pub(super) name: String,
    /// The number of the first task of its job.
    pub(super) first: u32,
    pub(super) at: Time,
}

impl History {
    /// Keeps what a turn placed, under these weights, and what it saw to have ended.
    pub(super) fn hear(
        &mut self,
        placed: Vec<(Placement, Choice)>,
        ended: Vec<(Run, RunState)>,
        (ledger, tiers): (&Ledger, &[TierInForce]),
    ) {
        for (placement, choice) in placed {
            let (id, at) = (placement.run, ledger.at());
            let what = What::Placed(Box::new(placement), Box::new(choice), tiers.to_vec());
            if self.told.insert(id, Told { at, job: id.job, what }).is_none() {
                self.order.push_back(id);
            }
        }
        while self.order.len() > TOLD_MAX {
            let oldest = self.order.pop_front();
            oldest.and_then(|oldest| self.told.remove(&oldest));
        }
        for (run, state) in ended {
            let (RunState::Running(at)
            | RunState::Done(at)
            | RunState::Stopped(at)
            | RunState::Failed(at, _)) = state;
            let job = ledger.standing(run.id().job);
            let first = job.as_ref().and_then(|standing| standing.job.program.as_deref());
            let first = first.map_or(0, |program| program.first);
            let name = job.map_or(String::new(), |standing| standing.job.name.clone());
            self.ended.push_back(Ended { run, name, first, at });
        }
        let surplus = self.ended.len().saturating_sub(ENDED_MAX);
        self.ended.drain(..surplus);
    }

    /// The runs that have ended, in the order in which it was seen.
    pub(super) fn ended(&self) -> impl Iterator<Item = &Ended> {
        self.ended.iter()
    }

    /// Why runs of a job went where they went, the latest ones, and how many of them are known.
    pub(super) fn told(&self, job: JobId) -> (Vec<Told>, u64) {
        let first = RunId { job, task: TaskIndex(0), attempt: Attempt(0) };
        let next = RunId { job: JobId(job.0 + 1), ..first };
        let mut told: Vec<_> = self.told.range(first..next).map(|(_, told)| told.clone()).collect();
        told.sort_by_key(|told| told.at);
        let count = told.len() as u64;
        (told.split_off(told.len().saturating_sub(PLACED_MAX)), count)
    }
}
