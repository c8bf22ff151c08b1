//! Completions for shells.

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::args::Arguments;
use crate::out;

/// Prints the completions. They are made in memory first: the generator panics on a broken pipe.
pub(super) fn run(shell: Shell) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "motley", &mut script);
    out::print(&String::from_utf8_lossy(&script))
}
