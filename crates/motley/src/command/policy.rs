//! Policies: list, show, check; and [`find`], by which other commands name one.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use controller::policy_file;
use fleet::Policy;
use serde::Serialize;

use crate::client::Client;
use crate::daemon::Place;
use crate::{args, out, render};

pub(super) fn run(command: args::Policy) -> anyhow::Result<()> {
    match command {
        args::Policy::List { json } => list(json),
        args::Policy::Show { policy, json } => show(&policy, json),
        args::Policy::Check { files, json } => check(&files, json),
        args::Policy::Apply { policy, at } => apply(&policy, &at),
    }
}

/// The policy that a user names: a shipped one by its name, else a file.
///
/// A shipped policy wins over a file of the same name; `./name` means the file.
///
/// # Errors
/// If there is neither, or the file is not a policy.
pub fn find(name: &str) -> anyhow::Result<Policy> {
    if let Some(policy) = policy_file::shipped(name) {
        return Ok(policy);
    }
    let path = Path::new(name);
    let is_path = name.contains(std::path::MAIN_SEPARATOR) || path.extension().is_some();
    if is_path || path.exists() {
        return read(path).with_context(|| format!("read the policy {name:?}"));
    }
    let names = || policy_file::SHIPPED.iter().map(|(name, _)| *name);
    match policy_file::nearest(name, names()) {
        Some(nearest) => bail!("find the policy {name:?}: did you mean {nearest:?}?"),
        None => bail!(
            "find the policy {name:?}: there is no such file, and the policies that come with the \
             program are {}",
            names().collect::<Vec<_>>().join(", ")
        ),
    }
}

/// What a policy file may have at most: far more than any has, so that a wrong file is soon
/// refused.
const FILE_BYTES_MAX: u64 = 1 << 20;

fn read(path: &Path) -> anyhow::Result<Policy> {
    let mut text = String::new();
    File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_string(&mut text)?;
    ensure!(text.len() as u64 <= FILE_BYTES_MAX, "it is larger than 1 MiB");
    Ok(policy_file::read(&path.to_string_lossy(), &text)?)
}

/// Tells the daemon to plan by a policy.
fn apply(name: &str, at: &args::live::At) -> anyhow::Result<()> {
    let text = policy_file::text(&find(name)?);
    let mut client = Client::connect(&Place::choose(at.directory.as_deref())?)?;
    let named = client.apply(text)?;
    out::print(&format!("policy {named} is in force\n"))
}

fn list(json: bool) -> anyhow::Result<()> {
    let names = policy_file::SHIPPED.iter().map(|(name, _)| *name);
    let policies: Vec<_> = names.filter_map(policy_file::shipped).collect();
    if json {
        return out::print_json(&policies.iter().map(document).collect::<Result<Vec<_>, _>>()?);
    }
    out::print(&render::policies(&policies))
}

fn show(name: &str, json: bool) -> anyhow::Result<()> {
    let policy = find(name)?;
    if json {
        return out::print_json(&document(&policy)?);
    }
    out::print(&policy_file::text(&policy))
}

/// The policy's file as a document: with the names, words and units of the file.
fn document(policy: &Policy) -> anyhow::Result<toml::Table> {
    policy_file::text(policy).parse().context("read a policy that was just written")
}

/// What became of one file.
#[derive(Serialize)]
struct Checked {
    file: String,
    /// The policy's name, where the file is one.
    name: Option<String>,
    /// What is wrong with it, otherwise.
    error: Option<String>,
}

fn check(files: &[PathBuf], json: bool) -> anyhow::Result<()> {
    let checked: Vec<_> = files.iter().map(|path| check_one(path)).collect();
    if json {
        out::print_json(&checked)?;
    } else {
        let lines: Vec<_> = checked.iter().map(line).collect();
        out::print(&lines.concat())?;
    }
    let bad = checked.iter().filter(|one| one.error.is_some()).count();
    ensure!(bad == 0, "read {bad} of {} policy files", files.len());
    Ok(())
}

fn check_one(path: &Path) -> Checked {
    let file = path.to_string_lossy().into_owned();
    match read(path) {
        Ok(policy) => Checked { file, name: Some(policy.name), error: None },
        Err(error) => Checked { file, name: None, error: Some(format!("{error:#}")) },
    }
}

/// An error that says where it is already begins with the file.
fn line(checked: &Checked) -> String {
    let Checked { file, name, error } = checked;
    match error {
        None => format!("{file}: ok, policy {:?}\n", name.as_deref().unwrap_or_default()),
        Some(error) if error.starts_with(&format!("{file}:")) => format!("{error}\n"),
        Some(error) => format!("{file}: {error}\n"),
    }
}
