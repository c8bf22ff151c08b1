//! `motley doctor`: whether this machine is fit for a daemon.

use std::process::ExitCode;

use crate::args::live::Ask;
use crate::daemon::Place;
use crate::doctor::{self, Health};
use crate::{out, render};

/// Exit status 1 if something does not work.
pub(super) fn run(ask: &Ask) -> anyhow::Result<ExitCode> {
    let report = doctor::examine(&Place::choose(ask.at.directory.as_deref())?);
    if ask.json {
        out::print_json(&report)?;
    } else {
        out::print(&render::doctor::report(&report))?;
    }
    let is_ill = report.count(Health::Failure) > 0;
    Ok(if is_ill { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
