//! Pages about one job: why it waits or went where it went, and what would start it.

use std::sync::Arc;

use anyhow::Context as _;
use controller::TaskTally;
use fleet::{Job, JobId, Policy, Snapshot, Time};
use planner::inquiry::{Inquiry, answer};
use planner::{Effort, Scratch, plan};
use serde_json::Value;
use server::api::{Caller, Explained, Submission};
use sim::Inventory;
use sim::scenario::Told;
use sim::visit::{Tasks, Visit};

use super::answers::{done, missing};
use super::aside::Work;
use super::{Daemon, intake};
use crate::render::explain::{self, Asked as Page};

impl Daemon {
    /// Why a job waits or went where it went.
    pub(super) fn explain(&mut self, id: JobId) -> anyhow::Result<Work> {
        let snapshot = self.controller.snapshot();
        let standing = self.controller.ledger().standing(id);
        let standing = standing.with_context(|| missing("the job is not known"))?;
        let job = Arc::clone(standing.job);
        Ok(self.question(job, snapshot))
    }

    /// What would happen to a job.
    pub(super) fn plan(&mut self, told: &Submission, caller: Caller) -> anyhow::Result<Work> {
        let (earlier, at) = (self.next_job..self.next_job, self.controller.body().now());
        let inventory = self.inventory();
        let known = self.known(caller);
        let job = Arc::new(intake::job(told, (earlier, at), (&inventory, &known))?);
        let snapshot = self.controller.snapshot_with(&job);
        Ok(self.question(job, snapshot))
    }

    fn question(&mut self, job: Arc<Job>, snapshot: Snapshot) -> Work {
        let inventory = self.inventory();
        let ledger = self.controller.ledger();
        let question = Question {
            tally: ledger.tally(job.id).unwrap_or_default(),
            told: self.history.told(job.id),
            jobs: ledger.jobs().cloned().collect(),
            policy: self.policy().clone(),
            now: ledger.at(),
            inventory,
            snapshot,
            job,
        };
        Box::new(move || question.answer())
    }
}

/// Everything that a page is made from.
struct Question {
    job: Arc<Job>,
    snapshot: Snapshot,
    tally: TaskTally,
    /// Why its latest runs went where they went, and how many are known.
    told: (Vec<Told>, u64),
    jobs: Vec<Arc<Job>>,
    inventory: Arc<Inventory>,
    policy: Policy,
    now: Time,
}

impl Question {
    /// The page, as JSON and as text.
    fn answer(self) -> anyhow::Result<Value> {
        let Self { job, snapshot, tally, told, jobs, inventory, policy, now } = self;
        let (id, effort) = (job.id, Effort::DEFAULT);
        let decision = plan(&snapshot, &policy, effort, &mut Scratch::default());
        let placed = decision.plan.placements.iter().filter(|it| it.run.job == id).count();
        let placed = u32::try_from(placed).unwrap_or(u32::MAX);
        let waits = snapshot.backlog.get(&id).map_or(0, |waiting| waiting.count());
        let (waiting, running) = (waits.saturating_sub(placed), tally.running + placed);
        let tasks = Tasks { waiting, running, done: tally.done };
        let asked =
            Inquiry { snapshot: &snapshot, decision: &decision, policy: &policy, effort, job: id };
        let answer = if waiting > 0 { answer(&asked, None) } else { None };
        let (placed, placed_count) = told;
        let (ended, ending) = (Vec::new(), None);
        let visit = Visit { job, snapshot, decision, placed, placed_count, tasks, ended, ending };
        let page = explain::page(&Page {
            inventory: &inventory,
            jobs: &jobs,
            policy: &policy,
            seed: effort.seed.unwrap_or_default(),
            visit: &visit,
            answer: answer.as_ref(),
            past: None,
            remarks: &[],
            now: Some(now),
        });
        done(Explained { page: serde_json::to_value(&page)?, text: explain::text(&page) })
    }
}
