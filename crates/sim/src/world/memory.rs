//! What a world remembers of the orders it was given.
//!
//! With it an order may come twice, or late, and is carried out once: the same
//! order gets the same answer, an older one than what was carried out since is
//! refused, and so is an attempt that a later one has overtaken.

use std::collections::BTreeMap;

use fleet::{Action, Attempt, Generation, JobId, Order, Outcome, Refusal, RunId, TaskIndex};

/// What is remembered.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    newest: Generation,
    answers: BTreeMap<RunId, Answer>,
    latest: BTreeMap<(JobId, TaskIndex), Attempt>,
}

/// What came of the orders about one run.
#[derive(Clone, Copy, Debug)]
struct Answer {
    generation: Generation,
    last: Last,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    Started,
    Stopped,
    RefusedToStart(Refusal),
}

impl Memory {
    /// The answer that this order must get without anything being done, if there is one.
    pub(super) fn answer(&self, order: &Order) -> Option<Outcome> {
        let stale = Some(Outcome::Refused(Refusal::StaleGeneration));
        match (self.answers.get(&order.run), &order.action) {
            (Some(known), _) if order.generation < known.generation => stale,
            (Some(Answer { last: Last::Started, .. }), Action::Start { .. })
            | (Some(Answer { last: Last::Stopped, .. }), Action::Stop(_)) => {
                Some(Outcome::Accepted)
            }
            // An attempt is started at most once, ever.
            (Some(Answer { last: Last::Stopped, .. }), Action::Start { .. }) => stale,
            (Some(known), Action::Start { .. }) if order.generation == known.generation => {
                let Last::RefusedToStart(refusal) = known.last else { return None };
                Some(Outcome::Refused(refusal))
            }
            (None, _) if order.generation < self.newest => stale,
            (_, Action::Start { .. }) if self.is_overtaken(order.run) => stale,
            _ => None,
        }
    }

    /// Remembers what came of an order that had no answer yet.
    pub(super) fn note(&mut self, order: &Order, outcome: Outcome) {
        let last = match (&order.action, outcome) {
            (Action::Start { .. }, Outcome::Accepted) => {
                self.latest.insert((order.run.job, order.run.task), order.run.attempt);
                Last::Started
            }
            (Action::Stop(_), Outcome::Accepted) => Last::Stopped,
            (Action::Start { .. }, Outcome::Refused(refusal)) => Last::RefusedToStart(refusal),
            // A stop that was refused may be tried again.
            (Action::Stop(_), Outcome::Refused(_)) => return,
        };
        if outcome == Outcome::Accepted {
            self.newest = self.newest.max(order.generation);
        }
        self.answers.insert(order.run, Answer { generation: order.generation, last });
    }

    fn is_overtaken(&self, run: RunId) -> bool {
        self.latest.get(&(run.job, run.task)).is_some_and(|latest| *latest > run.attempt)
    }
}
