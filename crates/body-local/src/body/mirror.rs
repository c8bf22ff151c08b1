//! What the body knows of its runs, and what of that is to be told.

use fleet::{Generation, Grant, Outcome, Receipt, Refusal, RunId, RunSight, RunState, Time, Usage};

use super::LocalBody;
use crate::wire::{Ended, Piece, Reply, Running};

/// A run that was ordered and has not ended.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub(super) generation: Generation,
    pub(super) grant: Grant,
    pub(super) pieces: Vec<Piece>,
    /// Since when it runs; `None` while the keeper has not answered.
    pub(super) since: Option<Time>,
    /// What it was seen to have used.
    pub(super) usage: Usage,
}

/// What no observation has told yet.
#[derive(Debug, Default)]
pub(super) struct News {
    pub(super) sights: Vec<RunSight>,
    pub(super) receipts: Vec<Receipt>,
    /// Whether changes alone would not tell everything.
    pub(super) in_doubt: bool,
    /// Since when there is something that can wait for a while.
    pub(super) quiet_since: Option<Time>,
    is_loud: bool,
}

impl News {
    /// Whether something happened that could change a plan.
    pub(super) fn is_loud(&self) -> bool {
        self.is_loud || self.in_doubt
    }
}

impl LocalBody {
    /// Takes in what the keeper says; `true` once it is caught up.
    pub(super) fn take_in(&mut self, reply: Reply) -> bool {
        match reply {
            // Said once at the beginning, and read there.
            Reply::Greeting { .. } | Reply::TurnedAway(_) => {}
            Reply::CaughtUp => return true,
            Reply::Running(running) => self.take_in_running(*running),
            Reply::Used { run, usage } => {
                self.runs.entry(run).and_modify(|live| live.usage = usage);
            }
            Reply::Ended(ended) => self.take_in_end(*ended),
            Reply::Answer { run, generation, outcome, since } => {
                self.take_in_answer(Receipt { run, generation, outcome }, since);
            }
        }
        false
    }

    /// One that was there before this body, or is told of anew.
    fn take_in_running(&mut self, running: Running) {
        let Running { run, generation, grant, pieces, since } = running;
        if let Some(live) = self.runs.get_mut(&run) {
            live.since = Some(since);
            return;
        }
        let (since, usage) = (Some(since), Usage::default());
        if self.free.has_room_for(&grant) {
            self.free.take(&grant);
            self.cores.retake(&pieces);
            self.runs.insert(run, Live { generation, grant, pieces, since, usage });
        } else {
            // The machine was described otherwise when it started. It runs, and holds what it can.
            let grant = Grant::default();
            self.cores.retake(&pieces);
            self.runs.insert(run, Live { generation, grant, pieces, since, usage });
        }
        self.news.in_doubt = true;
    }

    fn take_in_end(&mut self, ended: Ended) {
        if ended.number <= self.heard {
            return;
        }
        self.heard = ended.number;
        self.forget(ended.run);
        self.tell_end(ended.run, ended.grant, (ended.state, ended.usage));
    }

    fn tell_end(&mut self, run: RunId, grant: Grant, (state, usage): (RunState, Usage)) {
        let node = self.settings.machine.node.id;
        self.news.sights.push(RunSight { run, node, grant, state, usage, done: None });
        self.news.is_loud = true;
    }

    fn take_in_answer(&mut self, receipt: Receipt, since: Option<Time>) {
        let live = self.runs.get_mut(&receipt.run);
        let unanswered = live.filter(|live| live.since.is_none());
        match (receipt.outcome, unanswered) {
            (Outcome::Accepted, Some(live)) if since.is_some() => {
                live.since = since;
                let (grant, node) = (live.grant.clone(), self.settings.machine.node.id);
                let state = RunState::Running(since.unwrap_or_default());
                let (run, usage) = (receipt.run, Usage::default());
                self.news.sights.push(RunSight { run, node, grant, state, usage, done: None });
            }
            // It had run, and was not started again; or it was refused.
            (_, Some(_)) => self.forget(receipt.run),
            (_, None) => {}
        }
        self.push_receipt(receipt);
    }

    pub(super) fn push_receipt(&mut self, receipt: Receipt) {
        match receipt.outcome {
            Outcome::Accepted => {
                let now = self.clock.now();
                self.news.quiet_since.get_or_insert(now);
            }
            Outcome::Refused(_) => self.news.is_loud = true,
        }
        self.news.receipts.push(receipt);
    }

    pub(super) fn refuse(&mut self, run: RunId, generation: Generation, refusal: Refusal) {
        self.push_receipt(Receipt { run, generation, outcome: Outcome::Refused(refusal) });
    }

    /// Gives back what a run held.
    pub(super) fn forget(&mut self, run: RunId) {
        if let Some(live) = self.runs.remove(&run) {
            self.free.give_back(&live.grant);
            self.cores.give_back(&live.pieces);
        }
    }

    /// Everything that runs, after what ended unobserved.
    pub(super) fn all_runs(&self, mut sights: Vec<RunSight>) -> Vec<RunSight> {
        sights.retain(|sight| !matches!(sight.state, RunState::Running(_)));
        let node = self.settings.machine.node.id;
        for (run, live) in &self.runs {
            if let Some(since) = live.since {
                let (grant, state) = (live.grant.clone(), RunState::Running(since));
                sights.push(RunSight {
                    run: *run,
                    node,
                    grant,
                    state,
                    usage: live.usage,
                    done: None,
                });
            }
        }
        sights.sort_by_key(|sight| match sight.state {
            RunState::Running(at)
            | RunState::Done(at)
            | RunState::Stopped(at)
            | RunState::Failed(at, _) => at,
        });
        sights
    }

    /// Whatever the keeper does not know any more is lost: it ended with the keeper before.
    pub(super) fn tell_lost(&mut self, runs: &[RunId]) {
        let at = self.clock.now();
        for run in runs {
            let Some(live) = self.runs.get(run).cloned() else { continue };
            self.forget(*run);
            if live.since.is_none() {
                // Nobody can say whether it had begun.
                let (run, generation) = (*run, live.generation);
                self.push_receipt(Receipt { run, generation, outcome: Outcome::Accepted });
            }
            let lost = RunState::Failed(at, fleet::Failure::Lost);
            self.tell_end(*run, live.grant, (lost, live.usage));
        }
    }
}
