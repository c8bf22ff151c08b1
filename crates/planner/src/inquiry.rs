//! Inquiries: what would have to be otherwise for a job to start, and when it is expected to.
//!
//! In comes the snapshot of one moment, what was decided there, and a job; out
//! goes an [`Answer`]: the nodes that came nearest, the smallest change of each
//! kind with which one more of its tasks would start now, and the time at which
//! one is expected to start. Whatever is said was asked of [`crate::plan`] on a
//! snapshot in which that one thing is otherwise, so that it holds for queue,
//! policy and patience too. The number of plans is bounded. Nothing is changed
//! and nothing is remembered.

pub mod miss;
pub mod remedy;
pub mod suppose;
pub mod timeline;

use fleet::snapshot::Waiting;
use fleet::{Decision, JobId, Policy, Snapshot};

use crate::Effort;
use miss::Miss;
use remedy::Remedies;
use timeline::{Forecast, PastError};

/// A question about one job at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Inquiry<'a> {
    /// The moment.
    pub snapshot: &'a Snapshot,
    /// What was decided there.
    pub decision: &'a Decision,
    /// By which policy.
    pub policy: &'a Policy,
    /// With which effort.
    pub effort: Effort,
    /// The job that is asked about.
    pub job: JobId,
}

/// What can be said about tasks that the decision leaves waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The nodes that fall short by least, nearest first, once the plan is carried out.
    pub misses: Vec<Miss>,
    /// The smallest changes with which one more task would start now.
    pub remedies: Remedies,
    /// When one more task is expected to start.
    pub forecast: Forecast,
}

/// Answers for the tasks that the decision leaves waiting; nothing where it leaves none.
#[must_use]
pub fn answer(inquiry: &Inquiry<'_>, past: Option<&PastError>) -> Option<Answer> {
    let waiting = inquiry.waiting()?;
    if inquiry.started() >= waiting.count() as usize {
        return None;
    }
    Some(Answer {
        misses: miss::nearest(inquiry, waiting),
        remedies: remedy::find(inquiry, waiting),
        forecast: timeline::forecast(inquiry, past),
    })
}

impl<'a> Inquiry<'a> {
    /// The tasks of the job that waited when the decision was made.
    #[must_use]
    pub fn waiting(&self) -> Option<&'a Waiting> {
        self.snapshot.backlog.get(&self.job).map(AsRef::as_ref)
    }

    /// How many tasks of the job the decision starts.
    #[must_use]
    pub fn started(&self) -> usize {
        starts(self.decision, self.job)
    }
}

/// How many tasks of a job a decision starts.
fn starts(decision: &Decision, job: JobId) -> usize {
    decision.plan.placements.iter().filter(|placement| placement.run.job == job).count()
}
