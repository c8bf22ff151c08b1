//! What is kept of the work of tasks that are stopped.

use std::collections::BTreeMap;

use fleet::{JobId, Rate, RunId, RunState, Span, TaskIndex, Time, Work};

use super::{Running, World};

/// What was done of tasks when they were last stopped.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    restart: Option<Span>,
    done: BTreeMap<(JobId, TaskIndex), Work>,
}

/// One run's part of its task's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Leg {
    /// What was done before.
    done: Work,
    /// When it really goes on.
    begins: Time,
    rate: Rate,
}

impl Kept {
    /// Where going on costs so much; nothing is kept where it is nothing.
    pub(super) fn new(restart: Option<Span>) -> Self {
        Self { restart, done: BTreeMap::new() }
    }

    pub(super) fn restart(&self) -> Option<Span> {
        self.restart
    }

    /// What is left of the work of a task, and what it costs to go on.
    pub(super) fn left(&self, run: RunId, work: Work) -> (Work, Span) {
        match self.done.get(&(run.job, run.task)) {
            Some(done) => (work.saturating_sub(*done), self.restart.unwrap_or_default()),
            None => (work, Span::ZERO),
        }
    }

    /// The part of a run that really goes on then.
    pub(super) fn leg(&self, run: RunId, begins: Time, rate: Rate) -> Leg {
        let done = self.done.get(&(run.job, run.task)).copied().unwrap_or_default();
        Leg { done, begins, rate }
    }
}

impl World {
    /// Takes down what is kept of a run that is stopped now.
    pub(super) fn keep(&mut self, run: RunId, running: &Running) -> Option<Work> {
        self.kept.restart?;
        let done = match &running.progress {
            Some(progress) => progress.done_by(self.clock),
            None => running.from.done_by(self.clock),
        };
        self.kept.done.insert((run.job, run.task), done);
        Some(done)
    }

    /// What has ended has no use for what was kept.
    pub(super) fn forget_kept(&mut self, run: RunId, state: RunState) {
        if matches!(state, RunState::Done(_)) {
            self.kept.done.remove(&(run.job, run.task));
        }
    }
}

impl Leg {
    fn done_by(&self, now: Time) -> Work {
        let micros = u128::from(now.since(self.begins).0);
        let more = micros * u128::from(self.rate.0) / 1_000_000;
        self.done.saturating_add(Work(u64::try_from(more).unwrap_or(u64::MAX)))
    }
}
