//! What tasks printed.

use anyhow::bail;
use fleet::RunId;

use crate::args::live::Logs;
use crate::daemon::Place;

pub(super) fn run(args: &Logs) -> anyhow::Result<()> {
    let _ = args;
    bail!("not yet")
}

/// What of the output of a run was shown.
pub(super) struct Shown;

impl Shown {
    pub(super) fn new(_: &Place, _: RunId) -> Self {
        Self
    }

    pub(super) fn show_more(&mut self) -> anyhow::Result<()> {
        Ok(())
    }
}
