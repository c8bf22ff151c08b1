//! From arguments to output: the only place that prints.

use std::io::{self, Write as _};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Parser as _;

use crate::args::{Arguments, Command};
use crate::{api, crashes, kills, local, openb, place, rounds, speed, stages};

/// Runs the program.
#[must_use]
pub fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let chain: Vec<_> = error.chain().map(ToString::to_string).collect();
            // Where even this fails there is nobody left to tell.
            let _ = writeln!(io::stderr().lock(), "error: failed to {}", chain.join(": "));
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let mut broken = None;
    let (text, records, json) = match &arguments.command {
        Command::Openb(asked) => {
            let folder = place::folder(asked.data.clone())?;
            let (text, records) = openb::run(&folder, asked)?;
            (text, records, asked.json)
        }
        Command::Speed(asked) => {
            let folder = place::folder(asked.data.clone())?;
            let (text, records) = speed::run(&folder, asked)?;
            (text, records, asked.json)
        }
        Command::Rounds(asked) => {
            let folder = place::folder(asked.data.clone())?;
            let (text, records) = rounds::run(&folder, asked)?;
            (text, records, asked.json)
        }
        Command::Local(asked) => {
            let (text, records) = local::run(asked)?;
            (text, records, asked.json)
        }
        Command::Stages(asked) => {
            let (text, records) = stages::run(asked)?;
            (text, records, asked.json)
        }
        Command::Api(asked) => {
            let (text, records) = api::run(asked)?;
            (text, records, asked.json)
        }
        Command::Stamp { file } => return local::write_stamp(file),
        Command::Crashes(asked) => {
            let crashed = crashes::run(asked)?;
            broken = crashed.broken;
            (crashed.text, crashed.records, asked.json)
        }
        Command::Kills(asked) => {
            let killed = kills::run(asked)?;
            broken = killed.broken;
            (killed.text, killed.records, asked.json)
        }
    };
    if json {
        let text = serde_json::to_string_pretty(&records).context("write the result as JSON")?;
        print(&format!("{text}\n"))?;
    } else {
        print(&text)?;
    }
    match broken {
        None => Ok(()),
        Some(broken) => bail!("keep every law\n{broken}"),
    }
}

fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("write the output")
}
