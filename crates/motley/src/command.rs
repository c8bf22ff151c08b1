//! The commands: from arguments to exit status.

mod check;
mod compare;
mod completions;
mod doctor;
mod explain;
mod journal;
mod live;
mod logs;
mod man;
mod run;
mod submit;
mod token;
mod top;
mod up;
mod plan;
mod front;
pub mod data;
pub mod policy;
mod signals;
mod simulate;
mod study;

use std::process::ExitCode;

use clap::Parser as _;

use crate::args::{Arguments, Command};
use crate::out;

/// Runs the program. Exit status 0: done; 1: failed; 2: the command line is wrong.
#[must_use]
pub fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Up(args) => up::up(&args),
        Command::Down(args) => up::down(&args),
        Command::Keeper(args) => up::keeper(&args),
        Command::Status(args) => live::status(&args),
        Command::Run(args) => return run::main(&args),
        Command::Submit(args) => submit::run(&args),
        Command::Jobs(args) => live::jobs(&args),
        Command::Job(args) => return live::job(args),
        Command::Top(args) => top::run(&args),
        Command::Nodes(args) => live::nodes(&args),
        Command::Node(args) => live::node(&args),
        Command::Alerts(args) => live::alerts(&args),
        Command::Doctor(args) => return finish(doctor::run(&args)),
        Command::Token(args) => token::run(args),
        Command::Journal(args) => journal::run(&args),
        Command::Simulate(args) => simulate::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Front(args) => front::run(&args),
        Command::Policy(args) => policy::run(args),
        Command::Data(args) => data::run(args),
        Command::Completions { shell } => completions::run(shell),
        Command::Man { folder } => man::run(&folder),
    };
    finish(done.map(|()| ExitCode::SUCCESS))
}

/// The status of what was done; what went wrong is printed.
fn finish(done: anyhow::Result<ExitCode>) -> ExitCode {
    match done {
        Ok(status) => status,
        Err(error) if out::is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            out::print_error(&error);
            ExitCode::FAILURE
        }
    }
}
