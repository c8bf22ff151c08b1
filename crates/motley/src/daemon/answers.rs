//! What is asked of the daemon, and what it answers.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::Sender;

use anyhow::{Context as _, bail, ensure};
use controller::{Ledger, Request};
use fleet::{Decision, Job, JobId, NodeId, Output, RunId, Snapshot, TaskIndex, User};
use planner::Effort;
use planner::inquiry::{Inquiry, answer};
use serde::Serialize;
use serde_json::{Value, json};
use sim::Inventory;
use sim::visit::{Tasks, Visit};

use super::door::Asked;
use super::{Daemon, intake, views};
use crate::api::{Answer, Call, Chosen, Down, JOBS_MAX, JobView, StatusView, Submission};
use crate::render::explain::{self, Asked as Page};

/// The most clients that wait for the end of jobs.
const WAITING_MAX: usize = 10_000;

/// The most jobs of one listing.
const LISTED_MAX: usize = 10_000;

/// Clients that wait for the end of jobs.
#[derive(Default)]
pub(super) struct Waiting(BTreeMap<JobId, Vec<Sender<Answer>>>);

impl Waiting {
    /// Whether somebody waits for a job that has ended.
    pub(super) fn is_any_over(&self, ledger: &Ledger) -> bool {
        self.0.keys().any(|id| ledger.standing(*id).is_some_and(|it| it.ended.is_some()))
    }

    /// Answers those whose job has ended.
    pub(super) fn tell(&mut self, ended: &mut dyn FnMut(JobId) -> Option<JobView>) {
        self.0.retain(|id, replies| {
            let Some(view) = ended(*id) else { return true };
            let answer = Answer::Done(json!(view));
            for reply in replies.drain(..) {
                // A client that has gone does not want to know.
                let _ = reply.send(answer.clone());
            }
            false
        });
    }
}

impl Daemon {
    /// Answers a call, or remembers who waits for its answer.
    pub(super) fn answer(&mut self, asked: Asked) {
        let Asked { call, user, reply } = asked;
        let done = match call {
            Call::Wait { job } => match self.wait_for(&job, user, &reply) {
                Ok(None) => return,
                Ok(Some(view)) => Ok(json!(view)),
                Err(error) => Err(error),
            },
            call => self.call(call, user),
        };
        let answer = match done {
            Ok(value) => Answer::Done(value),
            Err(error) => Answer::Refused(format!("{error:#}")),
        };
        let _ = reply.send(answer);
    }

    fn call(&mut self, call: Call, user: User) -> anyhow::Result<Value> {
        match call {
            Call::Status => self.status(),
            Call::Submit { jobs } => self.submit(&jobs, user),
            Call::Jobs { ended, below, most } => self.jobs(ended, below, most),
            Call::Job { job } => done(self.look_at(self.find(&job, user)?)?),
            Call::Explain { job } => {
                let id = self.find(&job, user)?;
                self.explain(id)
            }
            Call::Plan { job } => self.plan(&job, user),
            Call::Wait { .. } => bail!("waiting is answered elsewhere"),
            Call::Cancel { jobs } => self.change(&jobs, user, Request::Cancel),
            Call::Hold { jobs } => self.change(&jobs, user, Request::Hold),
            Call::Release { jobs } => self.change(&jobs, user, Request::Release),
            Call::Nodes => {
                let ledger = self.controller.ledger();
                done(ledger.nodes().map(|entry| views::node(ledger, entry)).collect::<Vec<_>>())
            }
            Call::Drain { node } => self.change_node(&node, user, Request::Drain),
            Call::Resume { node } => self.change_node(&node, user, Request::Resume),
            Call::Output { job, task, .. } => self.output(&job, task, user),
            Call::Apply { text } => self.apply(text, user),
            Call::Down { how } => self.down(how, user),
        }
    }

    fn find(&self, named: &str, user: User) -> anyhow::Result<JobId> {
        intake::find(self.controller.ledger(), named, user)
    }

    pub(super) fn view(&self, id: JobId) -> anyhow::Result<JobView> {
        let (ledger, told) = (self.controller.ledger(), self.controller.explanation());
        views::job(ledger, told, (id, ledger.at())).context("the job is not known any more")
    }

    /// A job, and what its runs have used so far.
    fn look_at(&mut self, id: JobId) -> anyhow::Result<JobView> {
        let mut view = self.view(id)?;
        let runs: Vec<_> = self.controller.ledger().runs_of(id).map(fleet::Run::id).collect();
        for (shown, run) in view.runs.iter_mut().zip(runs) {
            shown.used = self.controller.body().usage(run).and_then(views::usage);
        }
        Ok(view)
    }

    fn status(&mut self) -> anyhow::Result<Value> {
        let mut jobs = BTreeMap::new();
        let ledger = self.controller.ledger();
        for standing in ledger.jobs().filter_map(|job| ledger.standing(job.id)) {
            *jobs.entry(views::state(&standing).to_owned()).or_insert(0) += 1;
        }
        let running = ledger.runs().count() as u64;
        let mut notes = self.notes.clone();
        notes.extend(self.trouble.clone());
        notes.extend(self.controller.body().notes().iter().cloned());
        done(StatusView {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            directory: self.place.directory().display().to_string(),
            policy: self.policy().name.clone(),
            jobs,
            running,
            notes,
        })
    }

    fn inventory(&self) -> Inventory {
        let ledger = self.controller.ledger();
        let nodes = ledger.nodes().map(|entry| (*entry.node).clone()).collect();
        Inventory { classes: ledger.classes().clone(), nodes }
    }

    fn submit(&mut self, told: &[Submission], user: User) -> anyhow::Result<Value> {
        ensure!(self.ending.is_none(), "the daemon is ending; submit once it is back");
        ensure!(told.len() <= JOBS_MAX, "submit at most {JOBS_MAX} jobs in one call");
        let inventory = self.inventory();
        let at = self.controller.body().now();
        let (mut requests, mut ids) = (Vec::new(), Vec::new());
        for told in told {
            let id = JobId(self.next_job + ids.len() as u64);
            let ledger = self.controller.ledger();
            let mut job = intake::job(told, user, (id, at), (&inventory, ledger))?;
            if let Some(program) = &mut job.program {
                let program = Arc::make_mut(program);
                let own = Arc::clone(&program.environment);
                program.environment = self.controller.journal().intern(own);
            }
            requests.push(Request::Submit(Arc::new(job)));
            if told.held {
                requests.push(Request::Hold(id));
            }
            ids.push(id.0);
        }
        self.controller.ask(requests)?;
        self.next_job += ids.len() as u64;
        Ok(json!({ "jobs": ids }))
    }

    fn jobs(&self, ended: bool, below: Option<u64>, most: usize) -> anyhow::Result<Value> {
        let ledger = self.controller.ledger();
        let is_open = |id| ledger.standing(id).is_some_and(|standing| standing.ended.is_none());
        let newest_first = ledger.jobs_newest_first(below.map(JobId));
        let wanted = newest_first.filter(|job| ended || is_open(job.id));
        let mut views = Vec::new();
        for job in wanted.take(most.min(LISTED_MAX)) {
            let mut view = self.view(job.id)?;
            view.runs.clear();
            views.push(view);
        }
        done(views)
    }

    fn wait_for(
        &mut self,
        named: &str,
        user: User,
        reply: &Sender<Answer>,
    ) -> anyhow::Result<Option<JobView>> {
        let known = self.controller.ledger().newest_job().unwrap_or_default();
        let id = match self.find(named, user) {
            Ok(id) => id,
            // Acknowledged, and not yet taken in by a turn.
            Err(error) => match named.parse().map(JobId) {
                Ok(id) if id > known && id.0 < self.next_job => id,
                _ => return Err(error),
            },
        };
        if let Ok(view) = self.view(id)
            && view.ended.is_some()
        {
            return Ok(Some(view));
        }
        let all: usize = self.waiting.0.values().map(Vec::len).sum();
        ensure!(all < WAITING_MAX, "{WAITING_MAX} clients wait already; ask with motley job show");
        self.waiting.0.entry(id).or_default().push(reply.clone());
        Ok(None)
    }

    fn chosen(&self, chosen: &Chosen, user: User) -> anyhow::Result<Vec<JobId>> {
        let ledger = self.controller.ledger();
        match chosen {
            Chosen::All => {
                let is_open = |id| ledger.standing(id).is_some_and(|it| it.ended.is_none());
                let mine = |job: &&Arc<Job>| intake::may_change(job, user) && is_open(job.id);
                Ok(ledger.jobs().filter(mine).map(|job| job.id).collect())
            }
            Chosen::These(named) => named.iter().map(|named| self.own(named, user)).collect(),
        }
    }

    fn own(&self, named: &str, user: User) -> anyhow::Result<JobId> {
        let id = self.find(named, user)?;
        let standing = self.controller.ledger().standing(id).context("the job is not known")?;
        ensure!(intake::may_change(standing.job, user), "job {} belongs to another user", id.0);
        Ok(id)
    }

    fn change(
        &mut self,
        chosen: &Chosen,
        user: User,
        request: fn(JobId) -> Request,
    ) -> anyhow::Result<Value> {
        let ids = self.chosen(chosen, user)?;
        let ledger = self.controller.ledger();
        let has_ended = |id: &&JobId| ledger.standing(**id).is_some_and(|it| it.ended.is_some());
        if let Some(ended) = ids.iter().find(has_ended) {
            bail!("job {} has ended; motley job show {} says how", ended.0, ended.0);
        }
        self.controller.ask(ids.iter().copied().map(request).collect())?;
        Ok(json!({ "jobs": ids.iter().map(|id| id.0).collect::<Vec<_>>() }))
    }

    fn change_node(
        &mut self,
        named: &str,
        user: User,
        request: fn(NodeId) -> Request,
    ) -> anyhow::Result<Value> {
        ensure_operator(user)?;
        let mut nodes = self.controller.ledger().nodes().map(|entry| &entry.node);
        let found = nodes.find(|node| node.name == named).map(|node| node.id);
        drop(nodes);
        let Some(id) = found else { bail!("there is no node {named:?}; motley nodes lists them") };
        self.controller.ask(vec![request(id)])?;
        Ok(json!({ "node": named }))
    }

    /// Which run's output is meant, and whether its job has ended.
    fn output(&self, named: &str, task: Option<u32>, user: User) -> anyhow::Result<Value> {
        let (id, ledger) = (self.own(named, user)?, self.controller.ledger());
        let standing = ledger.standing(id).context("the job is not known")?;
        let program = standing.job.program.as_deref().context("the job runs no program")?;
        match &program.output {
            Output::Kept => {}
            Output::Discarded => bail!("the output of job {} is not kept", id.0),
            Output::Files(file, _) => bail!(
                "the output of job {} goes into files like {file} in {}",
                id.0,
                program.directory
            ),
        }
        let (first, task) = (program.first, task.unwrap_or(program.first));
        let index = task.checked_sub(first).filter(|index| *index < standing.job.tasks);
        let Some(index) = index.map(TaskIndex) else {
            let last = u64::from(first) + u64::from(standing.job.tasks) - 1;
            bail!("job {} has the tasks {first} to {last}, and no task {task}", id.0);
        };
        let attempt = ledger.latest_attempt(id, index).unwrap_or_default();
        let run = RunId { job: id, task: index, attempt };
        done((run, standing.ended.is_some()))
    }

    fn apply(&mut self, text: String, user: User) -> anyhow::Result<Value> {
        ensure_operator(user)?;
        let policy = controller::policy_file::read("the policy", &text)?;
        ensure!(
            policy.externals.is_empty(),
            "the policy weighs signals, and a daemon has no file of signals yet"
        );
        let name = policy.name.clone();
        self.controller.apply(policy, text)?;
        Ok(json!({ "policy": name }))
    }

    fn down(&mut self, how: Down, user: User) -> anyhow::Result<Value> {
        ensure_operator(user)?;
        // What its user drained stays drained.
        if how == Down::Drain && !self.controller.ledger().is_drained(NodeId(0)) {
            self.place.note_ending()?;
            self.controller.ask(vec![Request::Drain(NodeId(0))])?;
        }
        self.ending = Some(how);
        Ok(json!({ "running": self.controller.ledger().runs().count() }))
    }

    fn explain(&mut self, id: JobId) -> anyhow::Result<Value> {
        let snapshot = self.controller.snapshot();
        let decision = self.controller.plan(&snapshot);
        let standing = self.controller.ledger().standing(id).context("the job is not known")?;
        let job = Arc::clone(standing.job);
        self.page(job, snapshot, decision)
    }

    fn plan(&mut self, told: &Submission, user: User) -> anyhow::Result<Value> {
        let (id, at) = (JobId(self.next_job), self.controller.body().now());
        let inventory = self.inventory();
        let ledger = self.controller.ledger();
        let job = Arc::new(intake::job(told, user, (id, at), (&inventory, ledger))?);
        let snapshot = self.controller.snapshot_with(&job);
        let decision = self.controller.plan(&snapshot);
        self.page(job, snapshot, decision)
    }

    /// The page about a job, as JSON and as text.
    fn page(&self, job: Arc<Job>, snapshot: Snapshot, decision: Decision) -> anyhow::Result<Value> {
        let (ledger, id) = (self.controller.ledger(), job.id);
        let tally = ledger.tally(id).unwrap_or_default();
        let placed = decision.plan.placements.iter().filter(|it| it.run.job == id).count();
        let placed = u32::try_from(placed).unwrap_or(u32::MAX);
        let waits = snapshot.backlog.get(&id).map_or(0, |waiting| waiting.count());
        let (waiting, running) = (waits.saturating_sub(placed), tally.running + placed);
        let tasks = Tasks { waiting, running, done: tally.done };
        let (policy, effort) = (self.policy(), Effort::DEFAULT);
        let inquiry = Inquiry { snapshot: &snapshot, decision: &decision, policy, effort, job: id };
        let answer = if waiting > 0 { answer(&inquiry, None) } else { None };
        let visit = Visit {
            job,
            snapshot,
            decision,
            placed: Vec::new(),
            placed_count: 0,
            tasks,
            ended: Vec::new(),
            ending: None,
        };
        let jobs: Vec<Arc<Job>> = ledger.jobs().cloned().collect();
        let page = explain::page(&Page {
            inventory: &self.inventory(),
            jobs: &jobs,
            policy,
            seed: effort.seed.unwrap_or_default(),
            visit: &visit,
            answer: answer.as_ref(),
            past: None,
            remarks: &[],
            now: Some(ledger.at()),
        });
        Ok(json!({ "page": page, "text": explain::text(&page) }))
    }
}

/// Whether a user may change what concerns everybody.
fn ensure_operator(user: User) -> anyhow::Result<()> {
    let own = rustix::process::geteuid().as_raw();
    ensure!(user.uid == 0 || user.uid == own, "only the daemon's own user and root may do that");
    Ok(())
}

fn done(value: impl Serialize) -> anyhow::Result<Value> {
    Ok(serde_json::to_value(value)?)
}
