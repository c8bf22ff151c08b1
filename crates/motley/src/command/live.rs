//! Commands that ask the daemon and print its answer.

use std::process::ExitCode;

use serde::Serialize;
use server::api::Chosen;

use super::{check, finish, logs};
use crate::args::live::{Ask, Job, Jobs, Node, One, Some};
use crate::client::{Change, Client, NodeChange};
use crate::daemon::Place;
use crate::{out, render};

pub(super) fn client(ask: &Ask) -> anyhow::Result<Client> {
    Client::connect(&Place::choose(ask.at.directory.as_deref())?)
}

pub(super) fn show<T: Serialize>(
    ask: &Ask,
    value: &T,
    text: impl FnOnce(&T) -> String,
) -> anyhow::Result<()> {
    if ask.json { out::print_json(value) } else { out::print(&text(value)) }
}

pub(super) fn status(ask: &Ask) -> anyhow::Result<()> {
    let status = client(ask)?.status()?;
    show(ask, &status, render::live::status)
}

pub(super) fn jobs(args: &Jobs) -> anyhow::Result<()> {
    let jobs = client(&args.ask)?.jobs(args.all, args.most)?;
    show(&args.ask, &jobs, |jobs| render::live::jobs(jobs))
}

pub(super) fn nodes(ask: &Ask) -> anyhow::Result<()> {
    let nodes = client(ask)?.nodes()?;
    show(ask, &nodes, |nodes| render::live::nodes(nodes))
}

pub(super) fn alerts(ask: &Ask) -> anyhow::Result<()> {
    let alerts = client(ask)?.alerts()?;
    show(ask, &alerts, |alerts| render::live::alerts(alerts))
}

pub(super) fn node(command: &Node) -> anyhow::Result<()> {
    let (named, change) = match command {
        Node::Drain(named) => (named, NodeChange::Drain),
        Node::Resume(named) => (named, NodeChange::Resume),
    };
    let place = Place::choose(named.at.directory.as_deref())?;
    Client::connect(&place)?.change_node(change, &named.node)
}

pub(super) fn job(command: Job) -> ExitCode {
    let done = match command {
        Job::Show(one) => one_job(&one),
        Job::Explain(one) => explain(&one),
        Job::Check(args) => check::run(&args),
        Job::Logs(args) => logs::run(&args),
        Job::Wait(one) => return finish(wait(&one)),
        Job::Cancel(some) => change(&some, "cancelled", Change::Cancel),
        Job::Hold(some) => change(&some, "held", Change::Hold),
        Job::Release(some) => change(&some, "released", Change::Release),
    };
    finish(done.map(|()| ExitCode::SUCCESS))
}

fn one_job(one: &One) -> anyhow::Result<()> {
    let view = client(&one.ask)?.job(&one.job)?;
    show(&one.ask, &view, render::live::job)
}

fn explain(one: &One) -> anyhow::Result<()> {
    let told = client(&one.ask)?.explain(&one.job)?;
    show(&one.ask, &told.page, |_| told.text.clone())
}

fn wait(one: &One) -> anyhow::Result<ExitCode> {
    let view = client(&one.ask)?.wait(&one.job)?;
    if one.ask.json {
        out::print_json(&view)?;
    }
    Ok(ExitCode::from(view.status))
}

fn change(some: &Some, done: &str, change: Change) -> anyhow::Result<()> {
    let chosen = if some.all { Chosen::All(true) } else { Chosen::Jobs(some.jobs.clone()) };
    let told = client(&some.ask)?.change(change, &chosen)?;
    let count = told.jobs.len() as u64;
    show(&some.ask, &told, |_| format!("{} {done}\n", render::count(count, "job")))
}
