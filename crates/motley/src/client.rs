//! The client's side: what the program asks of a daemon.

use anyhow::{Context as _, bail};
use serde::de::DeserializeOwned;
use server::api::{
    AlertView, Chosen, Down, DownRequest, Explained, JobPage, JobView, NodeName, NodePage, Numbers,
    PolicyName, PolicyText, Printed, Running, Scope, StatusView, Submission, Submissions,
    TokenMade, TokenRequest, TokenView,
};
use server::client::{Ask, ClientError, part};

use crate::daemon::Place;

/// For how long the end of a job is waited for in one call, in seconds.
const WAIT: u64 = 3_600;

/// A connection to the daemon.
pub struct Client(server::client::Client);

/// What a task printed on one stream, and from where on.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    /// The number of the task; that of the first where there is none.
    pub task: Option<u32>,
    /// What it printed as errors, in place of its output.
    pub errors: bool,
    /// Of this attempt at the task; of the latest where there is none.
    pub attempt: Option<u32>,
    /// From this byte of that attempt on.
    pub from: u64,
}

impl Client {
    /// Finds the daemon of a directory.
    ///
    /// # Errors
    /// If none answers: how to start one.
    pub fn connect(place: &Place) -> anyhow::Result<Self> {
        let directory = place.directory().display();
        match server::client::Client::connect(&place.socket()) {
            Ok(client) => Ok(Self(client)),
            Err(ClientError::Nobody(error)) => match error.kind() {
                std::io::ErrorKind::NotFound | std::io::ErrorKind::ConnectionRefused => bail!(
                    "reach the daemon in {directory}: none runs there; start one with: motley up \
                     --detach"
                ),
                _ => Err(error).with_context(|| format!("reach the daemon in {directory}")),
            },
            Err(error) => Err(error).with_context(|| format!("reach the daemon in {directory}")),
        }
    }

    fn ask<T: DeserializeOwned>(&mut self, verb: &str, ask: &Ask) -> anyhow::Result<T> {
        match self.0.ask(ask) {
            Ok(answer) => Ok(answer),
            Err(ClientError::Refused(refused)) => bail!("{verb}: {refused}"),
            Err(error @ ClientError::Broken(_)) => bail!("hear from the daemon: {error}"),
            Err(error) => Err(error.into()),
        }
    }

    /// How the daemon is.
    ///
    /// # Errors
    /// If it refuses, or is gone; so for all that follow.
    pub fn status(&mut self) -> anyhow::Result<StatusView> {
        self.ask("ask how the daemon is", &Ask::get("/v1/status"))
    }

    /// Submits jobs: their numbers.
    ///
    /// # Errors
    /// If they are refused; then none is taken in.
    pub fn submit(&mut self, jobs: Vec<Submission>) -> anyhow::Result<Vec<u64>> {
        let ask = Ask::post("/v1/jobs").telling(&Submissions { jobs });
        self.ask("submit", &ask).map(|numbers: Numbers| numbers.jobs)
    }

    /// Lists jobs, the newest first.
    ///
    /// # Errors
    /// If it is refused.
    pub fn jobs(&mut self, ended: bool, most: usize) -> anyhow::Result<Vec<JobView>> {
        let mut jobs = Vec::new();
        let mut below = String::new();
        while jobs.len() < most {
            let limit = (most - jobs.len()).min(server::api::JOBS_MAX);
            let path = format!("/v1/jobs?ended={ended}&limit={limit}{below}");
            let page: JobPage = self.ask("list jobs", &Ask::get(path))?;
            jobs.extend(page.jobs);
            let Some(next) = page.next else { break };
            below = format!("&below={next}");
        }
        Ok(jobs)
    }

    /// One job in full.
    ///
    /// # Errors
    /// If it is not known.
    pub fn job(&mut self, job: &str) -> anyhow::Result<JobView> {
        self.ask("show the job", &Ask::get(format!("/v1/jobs/{}", part(job))))
    }

    /// Why a job waits or went where it went.
    ///
    /// # Errors
    /// If it is not known.
    pub fn explain(&mut self, job: &str) -> anyhow::Result<Explained> {
        self.ask("explain the job", &Ask::get(format!("/v1/jobs/{}/explanation", part(job))))
    }

    /// What would happen to a job.
    ///
    /// # Errors
    /// If it makes no sense.
    pub fn plan(&mut self, job: &Submission) -> anyhow::Result<Explained> {
        self.ask("plan the job", &Ask::post("/v1/plan").telling(job))
    }

    /// The job once it has ended.
    ///
    /// # Errors
    /// If it is not known.
    pub fn wait(&mut self, job: &str) -> anyhow::Result<JobView> {
        let ask = Ask::get(format!("/v1/jobs/{}/end?timeout={WAIT}", part(job)));
        loop {
            let view: JobView = self.ask("wait for the job", &ask)?;
            if view.ended.is_some() {
                return Ok(view);
            }
        }
    }

    /// Cancels, holds or releases jobs: their numbers.
    ///
    /// # Errors
    /// If one is not known, has ended or belongs to somebody else; then none is changed.
    pub fn change(&mut self, change: Change, jobs: &Chosen) -> anyhow::Result<Numbers> {
        let verb = change.verb();
        self.ask(verb, &Ask::post(format!("/v1/{verb}")).telling(jobs))
    }

    /// All nodes.
    ///
    /// # Errors
    /// If it is refused.
    pub fn nodes(&mut self) -> anyhow::Result<Vec<server::api::NodeView>> {
        let mut nodes = Vec::new();
        loop {
            let from = nodes.len();
            let limit = server::api::NODES_MAX;
            let ask = Ask::get(format!("/v1/nodes?from={from}&limit={limit}"));
            let page: NodePage = self.ask("list nodes", &ask)?;
            nodes.extend(page.nodes);
            if page.next.is_none() {
                return Ok(nodes);
            }
        }
    }

    /// Drains a node, or lets it take work again.
    ///
    /// # Errors
    /// If it is not known, or whoever asks may not.
    pub fn change_node(&mut self, change: NodeChange, node: &str) -> anyhow::Result<()> {
        let word = change.word();
        let ask = Ask::post(format!("/v1/nodes/{}/{word}", part(node)));
        self.ask(&format!("{word} the node"), &ask).map(|_: NodeName| ())
    }

    /// A part of what a task printed.
    ///
    /// # Errors
    /// If it is not known, or not kept.
    pub fn output(&mut self, job: &str, spot: Spot) -> anyhow::Result<Printed> {
        let Spot { task, errors, attempt, from } = spot;
        let stream = if errors { "errors" } else { "output" };
        let mut path = format!("/v1/jobs/{}/output?stream={stream}&from={from}", part(job));
        if let Some(task) = task {
            path.push_str(&format!("&task={task}"));
        }
        if let Some(attempt) = attempt {
            path.push_str(&format!("&attempt={attempt}"));
        }
        self.ask("find the output", &Ask::get(path))
    }

    /// Plans by this policy from now on: its name.
    ///
    /// # Errors
    /// If it cannot be read, or whoever asks may not.
    pub fn apply(&mut self, text: String) -> anyhow::Result<String> {
        let ask = Ask::put("/v1/policy").telling(&PolicyText { text });
        self.ask("apply the policy", &ask).map(|named: PolicyName| named.policy)
    }

    /// Ends the daemon: how many tasks run.
    ///
    /// # Errors
    /// If whoever asks may not.
    pub fn down(&mut self, how: Down) -> anyhow::Result<u64> {
        let ask = Ask::post("/v1/down").telling(&DownRequest { how });
        self.ask("end the daemon", &ask).map(|running: Running| running.running)
    }

    /// The alerts, and how each stands.
    ///
    /// # Errors
    /// If it is refused.
    pub fn alerts(&mut self) -> anyhow::Result<Vec<AlertView>> {
        self.ask("list alerts", &Ask::get("/v1/alerts"))
    }

    /// The tokens.
    ///
    /// # Errors
    /// If whoever asks may not.
    pub fn tokens(&mut self) -> anyhow::Result<Vec<TokenView>> {
        self.ask("list tokens", &Ask::get("/v1/tokens"))
    }

    /// Makes a token.
    ///
    /// # Errors
    /// If its name is taken, or whoever asks may not.
    pub fn make_token(
        &mut self,
        name: &str,
        scope: Scope,
        seconds: Option<u64>,
    ) -> anyhow::Result<TokenMade> {
        let wanted = TokenRequest { name: name.to_owned(), scope, seconds };
        self.ask("create a token", &Ask::post("/v1/tokens").telling(&wanted))
    }

    /// Revokes a token.
    ///
    /// # Errors
    /// If there is none of this name, or it is somebody else's.
    pub fn revoke_token(&mut self, name: &str) -> anyhow::Result<TokenView> {
        self.ask("revoke the token", &Ask::delete(format!("/v1/tokens/{}", part(name))))
    }
}

/// What is done to jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// They do not run any more.
    Cancel,
    /// No more of their tasks are started.
    Hold,
    /// They may run again.
    Release,
}

impl Change {
    fn verb(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Hold => "hold",
            Self::Release => "release",
        }
    }
}

/// What is done to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeChange {
    /// Nothing more is started on it.
    Drain,
    /// It takes work again.
    Resume,
}

impl NodeChange {
    fn word(self) -> &'static str {
        match self {
            Self::Drain => "drain",
            Self::Resume => "resume",
        }
    }
}
