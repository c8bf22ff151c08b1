//! What the explanations said about a few kinds of job, kept for a reader.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fleet::explanation::{Choice, StillWaiting, TierInForce};
use fleet::{Decision, Job, JobId, Placement, Time};

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
    /// Tasks of it wait.
    Waits(StillWaiting),
}

/// The first placement and the first wait of each kind of job: of jobs with one name.
#[derive(Debug, Default)]
pub(super) struct Tellings<'a> {
    pub(super) told: Vec<Told>,
    names: BTreeMap<JobId, &'a str>,
    kinds_max: usize,
    placed: BTreeSet<&'a str>,
    waited: BTreeSet<&'a str>,
}

impl<'a> Tellings<'a> {
    /// Listens for at most `kinds_max` placements and as many waits.
    pub(super) fn about(jobs: &'a [Arc<Job>], kinds_max: usize) -> Self {
        let listened = if kinds_max > 0 { jobs } else { &[] };
        let names: BTreeMap<_, _> =
            listened.iter().map(|job| (job.id, job.name.as_str())).collect();
        let distinct: BTreeSet<_> = names.values().collect();
        let kinds_max = kinds_max.min(distinct.len());
        Self { names, kinds_max, ..Self::default() }
    }

    /// Keeps what a turn says for the first time.
    pub(super) fn hear(&mut self, at: Time, decision: &Decision) {
        let explanation = &decision.explanation;
        let placements = decision.plan.placements.iter().zip(&explanation.choices);
        for (placement, choice) in placements {
            if self.placed.len() >= self.kinds_max {
                break;
            }
            let job = placement.run.job;
            if self.names.get(&job).is_some_and(|name| self.placed.insert(name)) {
                let (placement, choice) = (Box::new(placement.clone()), Box::new(choice.clone()));
                let what = What::Placed(placement, choice, explanation.tiers.clone());
                self.told.push(Told { at, job, what });
            }
        }
        for waiting in &explanation.waiting {
            if self.waited.len() >= self.kinds_max {
                break;
            }
            let job = waiting.job;
            if self.names.get(&job).is_some_and(|name| self.waited.insert(name)) {
                self.told.push(Told { at, job, what: What::Waits(waiting.clone()) });
            }
        }
    }
}
