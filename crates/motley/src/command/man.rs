//! Pages of the manual, made of what `--help` is made of.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use clap::CommandFactory as _;

use crate::args::Arguments;

/// Writes a page for the program and for each command into a folder, which is made where there is
/// none.
pub(super) fn run(folder: &Path) -> anyhow::Result<()> {
    let at = || folder.display();
    fs::create_dir_all(folder).with_context(|| format!("make the folder {}", at()))?;
    clap_mangen::generate_to(Arguments::command(), folder)
        .with_context(|| format!("write pages into {}", at()))
}
