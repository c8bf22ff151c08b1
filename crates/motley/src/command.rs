//! The commands: from arguments to exit status.

mod compare;
mod completions;
mod explain;
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
        Command::Simulate(args) => simulate::run(&args),
        Command::Compare(args) => compare::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Front(args) => front::run(&args),
        Command::Policy(args) => policy::run(args),
        Command::Data(args) => data::run(args),
        Command::Completions { shell } => completions::run(shell),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if out::is_gone(&error) => ExitCode::SUCCESS,
        Err(error) => {
            out::print_error(&error);
            ExitCode::FAILURE
        }
    }
}
