//! How far tasks have got, where a body keeps the work of what it stops.
//!
//! Known is what bodies tell: of runs that were stopped what is kept, of runs
//! that go on what is done. What a run did since it was last stopped is gone
//! when the run is.

use std::sync::Arc;

use fleet::snapshot::Progress;
use fleet::{JobId, RunId, Time, Work};

use super::{Ledger, is_active};

impl Ledger {
    /// Takes down what a run has done that goes on.
    pub(super) fn note_progress(&mut self, id: RunId, done: Work) {
        if !self.runs.get(&id).is_some_and(|run| is_active(run)) {
            return;
        }
        let (known, at) = (self.progress_of(id), self.at);
        self.set_progress(
            id,
            Progress { done, at, kept: known.map_or(Work(0), |known| known.kept) },
        );
    }

    /// Takes down what is kept of a run that was stopped; nothing where its body does not say.
    pub(super) fn keep_progress(&mut self, id: RunId, (kept, at): (Option<Work>, Time)) {
        if !self.runs.get(&id).is_some_and(|run| is_active(run)) {
            return;
        }
        match kept {
            Some(done) => self.set_progress(id, Progress { done, at, kept: done }),
            None => self.remove_progress(id),
        }
    }

    /// What a run did since it was last stopped is gone.
    pub(super) fn lose_progress(&mut self, id: RunId) {
        if let Some(known) = self.progress_of(id).filter(|known| known.done != known.kept) {
            let at = self.at;
            self.set_progress(id, Progress { done: known.kept, at, ..known });
        }
    }

    /// Forgets how far the tasks of a job had got.
    pub(super) fn forget_progress(&mut self, job: JobId) {
        if self.progress.contains_key(&job) {
            Arc::make_mut(&mut self.progress).remove(&job);
        }
    }

    /// Lets the job of a run that holds something be known to who plans.
    pub(super) fn note_running_job(&mut self, id: JobId) {
        if self.running_jobs.contains_key(&id) {
            return;
        }
        if let Some(record) = self.jobs.get(&id) {
            let job = Arc::clone(&record.job);
            Arc::make_mut(&mut self.running_jobs).insert(id, job);
        }
    }

    fn progress_of(&self, id: RunId) -> Option<Progress> {
        self.progress.get(&id.job)?.get(&id.task).copied()
    }

    fn set_progress(&mut self, id: RunId, progress: Progress) {
        if !self.jobs.contains_key(&id.job) || self.progress_of(id) == Some(progress) {
            return;
        }
        self.has_changed = true;
        Arc::make_mut(&mut self.progress).entry(id.job).or_default().insert(id.task, progress);
    }

    /// Forgets how far the task of a run had got.
    pub(super) fn remove_progress(&mut self, id: RunId) {
        if self.progress_of(id).is_none() {
            return;
        }
        self.has_changed = true;
        let progress = Arc::make_mut(&mut self.progress);
        if let Some(tasks) = progress.get_mut(&id.job) {
            tasks.remove(&id.task);
            if tasks.is_empty() {
                progress.remove(&id.job);
            }
        }
    }
}
