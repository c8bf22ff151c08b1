//! Batches: which arrivals wait to be planned together.
//!
//! Whatever arrived after the last batch was released waits until there are
//! enough tasks for the next, or the first of them has waited long enough; then
//! all of them are released. When that was is in the plan's memory.

use fleet::policy::Batch;
use fleet::snapshot::Waiting;
use fleet::{Job, Policy, Snapshot, Time};

/// Jobs that are held back in this plan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Gate {
    /// Jobs that arrived by then are not held back.
    released: Option<Time>,
    /// When the others are planned at the latest.
    pub(crate) until: Time,
}

impl Gate {
    /// Whether a job is held back.
    pub(crate) fn holds(&self, job: &Job) -> bool {
        self.released.is_none_or(|released| job.arrival > released)
    }
}

/// Whether arrivals are held back, and until when jobs are released with this plan.
pub(crate) fn gate(snapshot: &Snapshot, policy: &Policy) -> (Option<Gate>, Option<Time>) {
    let released = snapshot.memory.released;
    let Some(Batch { max_jobs, max_delay }) = policy.batch else { return (None, None) };
    let is_new = |waiting: &&Waiting| released.is_none_or(|then| waiting.job.arrival > then);
    let new = || snapshot.backlog.values().map(AsRef::as_ref).filter(is_new);
    let arrivals = || new().map(|waiting| waiting.job.arrival);
    let (Some(first), Some(last)) = (arrivals().min(), arrivals().max()) else {
        return (None, released);
    };
    let tasks: u64 = new().map(|waiting| u64::from(waiting.count())).sum();
    let until = first.after(max_delay);
    if tasks >= u64::from(max_jobs) || until <= snapshot.at {
        return (None, Some(last));
    }
    (Some(Gate { released, until }), released)
}
