//! Measures one setting in a process of its own, which is this program again.
//!
//! Its peak of memory then is that of the setting and of nothing else, and no
//! setting finds memory that another has left in pieces.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, ensure};

use super::measure::Measured;
use super::setting::Setting;

/// Measures a setting until this many placements were timed.
///
/// # Errors
/// If the process cannot be started, or fails.
pub fn measure(folder: &Path, setting: Setting, placements: u32) -> anyhow::Result<Measured> {
    let program = std::env::current_exe().context("find this program")?;
    let output = Command::new(program)
        .arg("speed")
        .arg("--data")
        .arg(folder)
        .args(["--placements", &placements.to_string()])
        .args(["--alone", &setting.to_string()])
        .stderr(Stdio::inherit())
        .output()
        .context("start a process")?;
    ensure!(output.status.success(), "wait for its process: {}", output.status);
    serde_json::from_slice(&output.stdout).context("read what its process printed")
}
