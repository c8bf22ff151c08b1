//! Commands that ask the daemon and print its answer.

use std::process::ExitCode;

use serde::Serialize;
use serde_json::Value;

use super::{finish, logs};
use crate::api::{Call, Chosen, JobView, NodeView, StatusView};
use crate::args::live::{Ask, Job, Jobs, Node, One, Some};
use crate::client::Client;
use crate::daemon::Place;
use crate::{out, render};

fn client(ask: &Ask) -> anyhow::Result<Client> {
    Client::connect(&Place::choose(ask.at.directory.as_deref())?)
}

fn show<T: Serialize>(ask: &Ask, value: &T, text: impl FnOnce(&T) -> String) -> anyhow::Result<()> {
    if ask.json { out::print_json(value) } else { out::print(&text(value)) }
}

pub(super) fn status(ask: &Ask) -> anyhow::Result<()> {
    let status: StatusView = client(ask)?.ask(&Call::Status)?;
    show(ask, &status, render::live::status)
}

pub(super) fn jobs(args: &Jobs) -> anyhow::Result<()> {
    let call = Call::Jobs { ended: args.all, below: None, most: args.most };
    let jobs: Vec<JobView> = client(&args.ask)?.ask(&call)?;
    show(&args.ask, &jobs, |jobs| render::live::jobs(jobs))
}

pub(super) fn nodes(ask: &Ask) -> anyhow::Result<()> {
    let nodes: Vec<NodeView> = client(ask)?.ask(&Call::Nodes)?;
    show(ask, &nodes, |nodes| render::live::nodes(nodes))
}

pub(super) fn node(command: &Node) -> anyhow::Result<()> {
    let (named, call) = match command {
        Node::Drain(named) => (named, Call::Drain { node: named.node.clone() }),
        Node::Resume(named) => (named, Call::Resume { node: named.node.clone() }),
    };
    let place = Place::choose(named.at.directory.as_deref())?;
    Client::connect(&place)?.ask::<Value>(&call).map(drop)
}

pub(super) fn job(command: Job) -> ExitCode {
    let done = match command {
        Job::Show(one) => one_job(&one),
        Job::Explain(one) => explain(&one),
        Job::Logs(args) => logs::run(&args),
        Job::Wait(one) => return finish(wait(&one)),
        Job::Cancel(some) => change(&some, "cancelled", |jobs| Call::Cancel { jobs }),
        Job::Hold(some) => change(&some, "held", |jobs| Call::Hold { jobs }),
        Job::Release(some) => change(&some, "released", |jobs| Call::Release { jobs }),
    };
    finish(done.map(|()| ExitCode::SUCCESS))
}

fn one_job(one: &One) -> anyhow::Result<()> {
    let view: JobView = client(&one.ask)?.ask(&Call::Job { job: one.job.clone() })?;
    show(&one.ask, &view, render::live::job)
}

fn explain(one: &One) -> anyhow::Result<()> {
    let told: Value = client(&one.ask)?.ask(&Call::Explain { job: one.job.clone() })?;
    show(&one.ask, &told["page"], |_| told["text"].as_str().unwrap_or_default().to_owned())
}

fn wait(one: &One) -> anyhow::Result<ExitCode> {
    let view: JobView = client(&one.ask)?.ask(&Call::Wait { job: one.job.clone() })?;
    if one.ask.json {
        out::print_json(&view)?;
    }
    Ok(ExitCode::from(view.status))
}

fn change(some: &Some, done: &str, call: impl FnOnce(Chosen) -> Call) -> anyhow::Result<()> {
    let chosen = if some.all { Chosen::All } else { Chosen::These(some.jobs.clone()) };
    let told: Value = client(&some.ask)?.ask(&call(chosen))?;
    let count = told["jobs"].as_array().map_or(0, Vec::len) as u64;
    show(&some.ask, &told, |_| format!("{} {done}\n", render::count(count, "job")))
}
