//! What a keeper remembers of orders, so that an old one does nothing and one that comes twice is
//! carried out once.

use std::collections::BTreeSet;

use fleet::{Generation, RunId};

/// What is remembered beside the tasks that run and the ends that are to be told.
#[derive(Debug, Default)]
pub(super) struct Memory {
    /// The term of the latest body.
    pub(super) term: u64,
    newest: Generation,
    /// The newest generation when the first body greeted: what was ordered up to it was ordered
    /// of a keeper before this one.
    first: Option<Generation>,
    /// Runs that were started by the newest generation. Those of older ones need no memory: an
    /// order to start one is refused for its age.
    started: BTreeSet<RunId>,
}

impl Memory {
    /// Whether an order about a run that is not known is too old to be carried out.
    pub(super) fn is_stale(&self, generation: Generation) -> bool {
        generation < self.newest
    }

    /// A body greeted, which knows of this generation.
    pub(super) fn note_greeting(&mut self, newest: Generation) {
        self.first.get_or_insert(newest);
        self.note(newest);
    }

    /// Whether an order about a run that is not known may have been carried out by a keeper that
    /// is gone.
    pub(super) fn is_of_another(&self, generation: Generation) -> bool {
        generation > Generation::default() && self.first.is_some_and(|first| generation <= first)
    }

    /// Whether the newest generation started this run.
    pub(super) fn has_started(&self, run: RunId) -> bool {
        self.started.contains(&run)
    }

    /// An order of this generation was carried out, or a body knows of it.
    pub(super) fn note(&mut self, generation: Generation) {
        if generation > self.newest {
            self.newest = generation;
            self.started.clear();
        }
    }

    /// A run was started by an order of this generation.
    pub(super) fn note_start(&mut self, run: RunId, generation: Generation) {
        self.note(generation);
        self.started.insert(run);
    }
}
