//! What the explanations said about a few jobs, kept for a reader.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::explanation::{Choice, StillWaiting, TierInForce};
use fleet::{Decision, Job, JobId, Placement, Reason, Time};

/// Most tellings kept about one job: its first ones.
const TOLD_MAX: usize = 64;

/// What was said about a job at one time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// When.
    pub at: Time,
    /// About which job.
    pub job: JobId,
    /// What.
    pub what: What,
}

/// What can be said about a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// One of its tasks is started here, for this score, with these weights in force.
    Placed(Box<Placement>, Box<Choice>, Vec<TierInForce>),
    /// Tasks of it wait, and the reason is new.
    Waits(StillWaiting),
}

/// Tellings about the first jobs of a workload.
#[derive(Debug, Default)]
pub(super) struct Tellings {
    pub(super) told: Vec<Told>,
    listeners: BTreeMap<JobId, Listener>,
}

#[derive(Debug, Default)]
struct Listener {
    count: usize,
    reason: Option<Arc<Reason>>,
}

impl Tellings {
    /// Listens for the first `jobs_max` of these jobs.
    pub(super) fn about(jobs: &[Arc<Job>], jobs_max: usize) -> Self {
        let listeners = jobs.iter().take(jobs_max).map(|job| (job.id, Listener::default()));
        Self { told: Vec::new(), listeners: listeners.collect() }
    }

    /// Keeps what a turn says about them.
    pub(super) fn hear(&mut self, at: Time, decision: &Decision) {
        if self.listeners.is_empty() {
            return;
        }
        let explanation = &decision.explanation;
        for (placement, choice) in decision.plan.placements.iter().zip(&explanation.choices) {
            let job = placement.run.job;
            if let Some(listener) = self.listeners.get_mut(&job)
                && listener.count < TOLD_MAX
            {
                listener.count += 1;
                let (placement, choice) = (Box::new(placement.clone()), Box::new(choice.clone()));
                let what = What::Placed(placement, choice, explanation.tiers.clone());
                self.told.push(Told { at, job, what });
            }
        }
        for waiting in &explanation.waiting {
            let job = waiting.job;
            if let Some(listener) = self.listeners.get_mut(&job)
                && listener.count < TOLD_MAX
                && listener.reason.as_ref() != Some(&waiting.reason)
            {
                listener.count += 1;
                listener.reason = Some(Arc::clone(&waiting.reason));
                self.told.push(Told { at, job, what: What::Waits(waiting.clone()) });
            }
        }
    }
}
