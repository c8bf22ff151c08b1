//! What is asked of the daemon, and what it answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context as _, bail, ensure};
use controller::journal::JournalError;
use controller::{ApplyError, AskError, Ledger, Request};
use fleet::{Attempt, Job, JobId, NodeId, Output, RunId, TaskIndex};
use serde::Serialize;
use serde_json::{Value, json};
use server::api::{
    Answer, Call, Caller, Chosen, Denial, Down, JOBS_MAX, JobFilter, JobPage, JobView, Kind,
    NodePage, NodeView, Numbers, StatusView, Submission,
};
use server::{Asked, Desk, Reply};
use sim::Inventory;

use super::intake::Known;
use super::keys::Keyed;
use super::views::Viewer;
use super::{Daemon, intake, views};

/// The most clients that wait for the end of jobs.
const WAITING_MAX: usize = 10_000;

/// Clients that wait for the end of jobs.
#[derive(Default)]
pub(super) struct Waiting(BTreeMap<JobId, Vec<Reply>>);

impl Waiting {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Remembers who waits, and forgets who waits no more.
    fn add(&mut self, id: JobId, reply: Reply) -> Result<(), Reply> {
        if self.0.values().map(Vec::len).sum::<usize>() >= WAITING_MAX {
            self.0.values_mut().for_each(|replies| replies.retain(|reply| !reply.is_gone()));
            self.0.retain(|_, replies| !replies.is_empty());
        }
        if self.0.values().map(Vec::len).sum::<usize>() >= WAITING_MAX {
            return Err(reply);
        }
        let replies = self.0.entry(id).or_default();
        replies.retain(|reply| !reply.is_gone());
        replies.push(reply);
        Ok(())
    }

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
                reply.send(answer.clone());
            }
            false
        });
    }
}

/// Whether a call looks at jobs, or names some: it is to find those that were just acknowledged.
fn is_about_jobs(call: &Call) -> bool {
    let names = |job: &Submission| job.after.iter().any(|(named, _)| !named.starts_with('#'));
    match call {
        Call::Jobs { .. }
        | Call::Job { .. }
        | Call::Explain { .. }
        | Call::Wait { .. }
        | Call::Cancel { .. }
        | Call::Hold { .. }
        | Call::Release { .. }
        | Call::Output { .. } => true,
        Call::Submit { jobs, .. } => jobs.iter().any(names),
        Call::Plan { job } => names(job),
        Call::Status
        | Call::Nodes { .. }
        | Call::Drain { .. }
        | Call::Resume { .. }
        | Call::Policy
        | Call::Apply { .. }
        | Call::Timeline { .. }
        | Call::Front
        | Call::Figures
        | Call::Alerts
        | Call::Down { .. } => false,
    }
}

impl Daemon {
    /// Answers what lies at the desk. What is left over is about jobs, of which some were
    /// acknowledged and taken in by no turn yet: it is to be answered after the next one.
    pub(super) fn answer_all(&mut self, desk: &mut Desk) -> Vec<Asked> {
        let mut later = Vec::new();
        for asked in desk.take() {
            let newest = self.controller.ledger().newest_job().map_or(0, |id| id.0);
            match newest + 1 < self.next_job && is_about_jobs(&asked.call) {
                true => later.push(asked),
                false => self.answer(asked),
            }
        }
        later
    }

    /// Answers a call, or remembers who waits for its answer.
    pub(super) fn answer(&mut self, asked: Asked) {
        let Asked { call, caller, reply } = asked;
        let user = caller.user.uid;
        let (done, reply) = match call {
            Call::Wait { job } => match self.wait_for(&job, caller, reply) {
                Some(answered) => answered,
                None => return,
            },
            Call::Explain { job } => {
                let work = self.find(&job, caller).and_then(|id| self.explain(id));
                return self.aside.answer(work, reply, user);
            }
            Call::Plan { job } => {
                let work = self.plan(&job, caller);
                return self.aside.answer(work, reply, user);
            }
            Call::Timeline { since } => {
                let work = self.timeline(since);
                return self.aside.answer(Ok(work), reply, user);
            }
            Call::Front => {
                let work = self.front();
                return self.aside.answer(work, reply, user);
            }
            Call::Figures => return reply.send(Answer::Measured(self.figures())),
            call => (self.call(call, caller), reply),
        };
        reply.send(answer_of(done));
    }

    fn call(&mut self, call: Call, caller: Caller) -> anyhow::Result<Value> {
        match call {
            Call::Status => self.status(),
            Call::Submit { jobs, key } => self.submit(&jobs, key, caller),
            Call::Jobs { filter, below, most } => self.jobs(&filter, below, most),
            Call::Job { job } => done(self.look_at(self.find(&job, caller)?)?),
            Call::Alerts => self.alert_views(),
            Call::Wait { .. }
            | Call::Explain { .. }
            | Call::Plan { .. }
            | Call::Timeline { .. }
            | Call::Front
            | Call::Figures => bail!("it is answered elsewhere"),
            Call::Cancel { jobs } => self.change(&jobs, caller, Request::Cancel),
            Call::Hold { jobs } => self.change(&jobs, caller, Request::Hold),
            Call::Release { jobs } => self.change(&jobs, caller, Request::Release),
            Call::Nodes { from, most } => self.nodes(from, most),
            Call::Drain { node } => self.change_node(&node, Request::Drain),
            Call::Resume { node } => self.change_node(&node, Request::Resume),
            Call::Output { job, task, attempt } => self.output(&job, (task, attempt), caller),
            Call::Policy => self.policy_view(),
            Call::Apply { text } => self.apply(text),
            Call::Down { how } => self.down(how),
        }
    }

    fn find(&self, named: &str, caller: Caller) -> anyhow::Result<JobId> {
        self.known(caller).find(named)
    }

    pub(super) fn known(&self, caller: Caller) -> Known<'_> {
        Known::new(self.controller.ledger(), caller)
    }

    pub(super) fn viewer(&self) -> Viewer<'_> {
        let viewer = Viewer::new(self.controller.ledger(), self.controller.explanation());
        viewer.with(&self.sensors)
    }

    fn view(&self, id: JobId) -> anyhow::Result<JobView> {
        let view = self.viewer().job(id);
        view.with_context(|| missing("the job is not known any more"))
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
        notes.extend(self.alarms.notes().cloned());
        notes.extend(self.controller.body().notes().iter().cloned());
        done(StatusView {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            pid: std::process::id(),
            directory: self.place.directory().display().to_string(),
            address: self.server.address().map(|address| format!("http://{address}")),
            policy: self.policy().name.clone(),
            jobs,
            running,
            ended_tasks: self.counts.ended_tasks(),
            notes,
            phases: self.meter.view(),
        })
    }

    /// The fleet as jobs are read against it, which rarely changes.
    pub(super) fn inventory(&mut self) -> Arc<Inventory> {
        let ledger = self.controller.ledger();
        let inventory = self.inventory.get_or_insert_with(|| {
            let nodes = ledger.nodes().map(|entry| (*entry.node).clone()).collect();
            Arc::new(Inventory { classes: ledger.classes().clone(), nodes })
        });
        Arc::clone(inventory)
    }

    fn submit(
        &mut self,
        told: &[Submission],
        key: Option<String>,
        caller: Caller,
    ) -> anyhow::Result<Value> {
        if self.ending.is_some() {
            let why = "the daemon is ending; submit once it is back";
            return Err(Denial::new(Kind::Unavailable, why).into());
        }
        intake::check_bounds(told)?;
        let keyed = key.map(|key| Keyed::new(&key, caller.user, told)).transpose()?;
        let now = self.controller.body().now();
        let notes = self.controller.journal().notes();
        let known = keyed.as_ref().map(|keyed| keyed.known(notes, now)).transpose()?;
        if let Some(jobs) = known.flatten() {
            return done(Numbers { jobs });
        }
        let inventory = self.inventory();
        let at = self.controller.body().now();
        let (first, known) = (self.next_job, self.known(caller));
        let read = |(place, told)| {
            let earlier = first..first + place as u64;
            intake::job(told, (earlier, at), (&inventory, &known))
        };
        let jobs: Vec<_> = told.iter().enumerate().map(read).collect::<anyhow::Result<_>>()?;
        let (mut requests, mut ids) = (Vec::new(), Vec::new());
        for (mut job, told) in jobs.into_iter().zip(told) {
            let id = job.id;
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
        let names = (JobId(self.next_job), ids.len());
        let notes = self.controller.journal().notes();
        let notes = keyed.map(|keyed| keyed.notes(notes, names, at)).transpose()?;
        self.controller.ask_noting(requests, notes.unwrap_or_default())?;
        self.next_job += ids.len() as u64;
        self.counts.submitted(ids.len());
        done(Numbers { jobs: ids })
    }

    fn jobs(&self, filter: &JobFilter, below: Option<u64>, most: usize) -> anyhow::Result<Value> {
        let JobFilter { ended, state, name, tenant } = filter;
        let (ledger, viewer) = (self.controller.ledger(), self.viewer());
        let is_wanted = |job: &&Arc<Job>| {
            let Some(standing) = ledger.standing(job.id) else { return false };
            let word = views::state(&standing);
            // To ask for those that failed is to ask for what has ended.
            let may_have_ended = *ended || state.as_deref() == Some(word);
            (may_have_ended || standing.ended.is_none())
                && state.as_deref().is_none_or(|state| state == word)
                && name.as_deref().is_none_or(|name| job.name.contains(name))
                && tenant.as_deref().is_none_or(|tenant| job.tenant.to_string() == tenant)
        };
        let mut wanted = ledger.jobs_newest_first(below.map(JobId)).filter(is_wanted);
        let mut jobs: Vec<JobView> =
            wanted.by_ref().take(most).filter_map(|job| viewer.job(job.id)).collect();
        jobs.iter_mut().for_each(|job| job.runs.clear());
        let next = wanted.next().and(jobs.last()).map(|last| last.id);
        done(JobPage { jobs, next })
    }

    fn nodes(&self, from: usize, most: usize) -> anyhow::Result<Value> {
        let (ledger, viewer) = (self.controller.ledger(), self.viewer());
        let ids = ledger.nodes().map(|entry| entry.node.id).skip(from).take(most);
        let nodes: Vec<NodeView> = ids.filter_map(|id| viewer.node(id)).collect();
        let next = (ledger.nodes().count() > from.saturating_add(nodes.len()))
            .then_some(from + nodes.len());
        done(NodePage { nodes, next })
    }

    /// An answer that is known already, or none yet: then it is remembered who waits.
    fn wait_for(
        &mut self,
        named: &str,
        caller: Caller,
        reply: Reply,
    ) -> Option<(anyhow::Result<Value>, Reply)> {
        let known = self.controller.ledger().newest_job().unwrap_or_default();
        let id = match self.find(named, caller) {
            Ok(id) => id,
            // Acknowledged, and not yet taken in by a turn.
            Err(error) => match named.parse().map(JobId) {
                Ok(id) if id > known && id.0 < self.next_job => id,
                _ => return Some((Err(error), reply)),
            },
        };
        if let Ok(view) = self.view(id)
            && view.ended.is_some()
        {
            return Some((done(view), reply));
        }
        let full = || {
            let why = format!("{WAITING_MAX} clients wait already; ask with motley job show");
            Err(Denial::new(Kind::Unavailable, why).into())
        };
        self.waiting.add(id, reply).err().map(|reply| (full(), reply))
    }

    fn chosen(&self, chosen: &Chosen, caller: Caller) -> anyhow::Result<Vec<JobId>> {
        let ledger = self.controller.ledger();
        match chosen {
            Chosen::All(false) => bail!("`all` is false: give true, or name jobs"),
            Chosen::All(true) => {
                let is_open = |id| ledger.standing(id).is_some_and(|it| it.ended.is_none());
                let mine = |job: &&Arc<Job>| intake::may_change(job, caller) && is_open(job.id);
                Ok(ledger.jobs().filter(mine).map(|job| job.id).collect())
            }
            Chosen::Jobs(named) => {
                ensure!(!named.is_empty(), "name at least one job");
                ensure!(named.len() <= JOBS_MAX, "name at most {JOBS_MAX} jobs in one call");
                let known = self.known(caller);
                named.iter().map(|named| self.own(named, &known)).collect()
            }
        }
    }

    fn own(&self, named: &str, known: &Known<'_>) -> anyhow::Result<JobId> {
        let id = known.find(named)?;
        let standing = self.controller.ledger().standing(id);
        let standing = standing.with_context(|| missing("the job is not known"))?;
        if !intake::may_change(standing.job, known.caller) {
            let why = format!("job {} belongs to another user", id.0);
            return Err(Denial::new(Kind::Forbidden, why).into());
        }
        Ok(id)
    }

    fn change(
        &mut self,
        chosen: &Chosen,
        caller: Caller,
        request: fn(JobId) -> Request,
    ) -> anyhow::Result<Value> {
        let ids = self.chosen(chosen, caller)?;
        let ledger = self.controller.ledger();
        let has_ended = |id: &&JobId| ledger.standing(**id).is_some_and(|it| it.ended.is_some());
        if let Some(ended) = ids.iter().find(has_ended) {
            let why = format!("job {} has ended; motley job show {} says how", ended.0, ended.0);
            return Err(Denial::new(Kind::Conflict, why).into());
        }
        self.controller.ask(ids.iter().copied().map(request).collect())?;
        Ok(json!({ "jobs": ids.iter().map(|id| id.0).collect::<Vec<_>>() }))
    }

    fn change_node(
        &mut self,
        named: &str,
        request: fn(NodeId) -> Request,
    ) -> anyhow::Result<Value> {
        let mut nodes = self.controller.ledger().nodes().map(|entry| &entry.node);
        let found = nodes.find(|node| node.name == named).map(|node| node.id);
        drop(nodes);
        let none = || missing(format!("there is no node {named:?}; motley nodes lists them"));
        let id = found.with_context(none)?;
        self.controller.ask(vec![request(id)])?;
        Ok(json!({ "node": named }))
    }

    /// Which run's output is meant, the latest attempt at its task, and whether its job has ended.
    fn output(
        &self,
        named: &str,
        (task, attempt): (Option<u32>, Option<u32>),
        caller: Caller,
    ) -> anyhow::Result<Value> {
        let (id, ledger) = (self.own(named, &self.known(caller))?, self.controller.ledger());
        let standing = ledger.standing(id).with_context(|| missing("the job is not known"))?;
        let nothing = |why: String| Denial::new(Kind::Conflict, why);
        let program = standing.job.program.as_deref();
        let program = program.with_context(|| nothing("the job runs no program".to_owned()))?;
        let (id_text, directory) = (id.0, &program.directory);
        match &program.output {
            Output::Kept => {}
            Output::Discarded => {
                let why = format!("the output of job {id_text} is not kept");
                return Err(nothing(why).into());
            }
            Output::Files(file, _) => {
                let why = format!(
                    "the output of job {id_text} goes into files like {file} in {directory}"
                );
                return Err(nothing(why).into());
            }
        }
        let (first, task) = (program.first, task.unwrap_or(program.first));
        let index = task.checked_sub(first).filter(|index| *index < standing.job.tasks);
        let Some(index) = index.map(TaskIndex) else {
            let last = u64::from(first) + u64::from(standing.job.tasks) - 1;
            let why = format!("job {} has the tasks {first} to {last}, and no task {task}", id.0);
            return Err(missing(why).into());
        };
        let latest = ledger.latest_attempt(id, index).unwrap_or_default();
        let attempt = attempt.map_or(latest, Attempt);
        if attempt > latest {
            let (attempt, latest) = (attempt.0, latest.0);
            let why = format!("task {task} was tried up to attempt {latest}, and not {attempt}");
            return Err(missing(why).into());
        }
        let run = RunId { job: id, task: index, attempt };
        done((run, latest.0, standing.ended.is_some()))
    }

    fn apply(&mut self, text: String) -> anyhow::Result<Value> {
        let policy = controller::policy_file::read("the policy", &text)?;
        ensure!(
            policy.externals.is_empty(),
            "the policy weighs signals, and a daemon has no file of signals yet"
        );
        let name = policy.name.clone();
        self.controller.apply(policy, text).map_err(|error| match error {
            ApplyError::WorkLost(refused) => anyhow::Error::new(refused),
            ApplyError::Journal(error) => error.into(),
        })?;
        self.tell_of_policy();
        Ok(json!({ "policy": name }))
    }

    fn down(&mut self, how: Down) -> anyhow::Result<Value> {
        // What its user drained stays drained.
        let ledger = self.controller.ledger();
        let nodes = ledger.nodes().map(|entry| entry.node.id);
        let open: Vec<NodeId> = nodes.filter(|id| !ledger.is_drained(*id)).collect();
        if how == Down::Drain && !open.is_empty() {
            self.place.note_ending(&open)?;
            self.controller.ask(open.into_iter().map(Request::Drain).collect())?;
        }
        self.ending = Some(how);
        Ok(json!({ "running": self.controller.ledger().runs().count() }))
    }
}

/// That there is no such thing.
pub(super) fn missing(why: impl Into<String>) -> Denial {
    Denial::new(Kind::Missing, why)
}

/// What is answered, with what is wrong told as well as the error knows it.
pub(super) fn answer_of(done: anyhow::Result<Value>) -> Answer {
    match done {
        Ok(value) => Answer::Done(value),
        Err(error) => {
            let is_ours = error.is::<AskError>() || error.is::<JournalError>();
            let known = error.downcast_ref::<Denial>().map(|refusal| refusal.kind);
            let other = if is_ours { Kind::Unavailable } else { Kind::Invalid };
            Answer::Refused(Denial::new(known.unwrap_or(other), format!("{error:#}")))
        }
    }
}

pub(super) fn done(value: impl Serialize) -> anyhow::Result<Value> {
    Ok(serde_json::to_value(value)?)
}

#[cfg(test)]
mod tests {
    use serde_json::from_value;

    use super::*;

    #[test]
    fn whatever_names_a_job_waits_for_those_that_were_acknowledged() {
        let submission = |after: Value| -> Submission {
            let told = json!({
                "job": {}, "arguments": ["true"], "directory": "/", "after": after,
            });
            from_value(told).unwrap()
        };
        let job = || "7".to_owned();
        let chosen = || Chosen::Jobs(vec![job()]);
        let submit = |after: Value| Call::Submit { jobs: vec![submission(after)], key: None };
        let plan = |after: Value| Call::Plan { job: Box::new(submission(after)) };
        for (call, expected) in [
            (Call::Job { job: job() }, true),
            (Call::Explain { job: job() }, true),
            (Call::Wait { job: job() }, true),
            (Call::Output { job: job(), task: None, attempt: None }, true),
            (Call::Cancel { jobs: chosen() }, true),
            (Call::Hold { jobs: chosen() }, true),
            (Call::Release { jobs: chosen() }, true),
            (submit(json!([["7", "done"]])), true),
            (plan(json!([["7", "any"]])), true),
            // These name nothing, or a job of their own call.
            (submit(json!([])), false),
            (submit(json!([["#1", "done"]])), false),
            (plan(json!([])), false),
            (Call::Status, false),
            (Call::Down { how: Down::Leave }, false),
        ] {
            assert_eq!(is_about_jobs(&call), expected, "{call:?}");
        }
    }
}
