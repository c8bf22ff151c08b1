//! What users ask in the course of a simulation, and when.

use std::sync::Arc;

use controller::Request;
use fleet::{Job, JobId, Time};

/// The jobs of a workload as they arrive, and the jobs that are cancelled.
#[derive(Debug)]
pub(super) struct Requests<'a> {
    jobs: &'a [Arc<Job>],
    cancels: Vec<(Time, JobId)>,
}

impl<'a> Requests<'a> {
    /// Everything that will be asked; jobs by arrival.
    pub(super) fn new(jobs: &'a [Arc<Job>], mut cancels: Vec<(Time, JobId)>) -> Self {
        cancels.sort_unstable_by(|one, other| other.cmp(one));
        Self { jobs, cancels }
    }

    /// The jobs that have arrived since this was last asked.
    pub(super) fn arrivals(&mut self, at: Time) -> &'a [Arc<Job>] {
        let due = self.jobs.partition_point(|job| job.arrival <= at);
        let (arrived, left) = self.jobs.split_at(due);
        self.jobs = left;
        arrived
    }

    /// What has been cancelled since this was last asked.
    pub(super) fn cancels(&mut self, at: Time) -> Vec<Request> {
        let due = self.cancels.partition_point(|(when, _)| *when > at);
        let due = self.cancels.split_off(due);
        due.into_iter().rev().map(|(_, job)| Request::Cancel(job)).collect()
    }

    /// When something is asked next.
    pub(super) fn next(&self) -> Option<Time> {
        let arrival = self.jobs.first().map(|job| job.arrival);
        let cancel = self.cancels.last().map(|(when, _)| *when);
        arrival.into_iter().chain(cancel).min()
    }
}
