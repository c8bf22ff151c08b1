//! Crates: who names whom, and what all have in common.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::files::{FILES, File, expect_none, file, root};
use crate::rust::words_found;

/// Which crates of the workspace each crate may name, and does. A new arrow is a change of
/// design: it needs a record in `docs/decisions` before it is added here.
pub(crate) const ARROWS: [(&str, &[&str]); 9] = [
    ("fleet", &[]),
    ("planner", &["fleet"]),
    ("probe", &["fleet"]),
    ("controller", &["fleet", "planner"]),
    ("body-local", &["fleet"]),
    ("server", &["fleet"]),
    ("sim", &["controller", "fleet", "planner"]),
    ("motley", &["body-local", "controller", "fleet", "planner", "probe", "server", "sim"]),
    ("bench", &["controller", "fleet", "planner", "server", "sim"]),
];

/// What the innermost crates may take from elsewhere, tests not counted: they stay nearly free of
/// other people's code, so that they can be read to the end.
const OUTSIDE: [(&str, &[&str]); 2] = [
    ("fleet", &["serde", "thiserror"]),
    ("planner", &["hashbrown", "libm", "rand_chacha", "rustc-hash"]),
];

/// Crates that know no clock, no chance and no hash order.
pub(crate) const PURE: [&str; 3] = ["fleet", "planner", "controller"];

/// A crate of the workspace, as cargo sees it.
struct Crate {
    name: String,
    folder: String,
    /// Crates of the workspace that it names, tests counted.
    inner: BTreeSet<String>,
    /// Crates from elsewhere that it names, tests not counted.
    outer: BTreeSet<String>,
}

fn crates() -> Vec<Crate> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let arguments = ["metadata", "--offline", "--no-deps", "--format-version", "1"];
    let output = Command::new(cargo).args(arguments).current_dir(root()).output();
    let output = output.expect("cargo runs, since it runs this test");
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo writes JSON");
    let packages = metadata["packages"].as_array().expect("a workspace has packages");
    packages.iter().map(read_crate).collect()
}

fn read_crate(package: &Value) -> Crate {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let manifest = PathBuf::from(text(&package["manifest_path"]));
    let folder = manifest.parent().and_then(Path::file_name).unwrap_or_default();
    let (mut inner, mut outer) = (BTreeSet::new(), BTreeSet::new());
    for dependency in package["dependencies"].as_array().into_iter().flatten() {
        if dependency["path"].is_string() {
            inner.insert(text(&dependency["name"]));
        } else if dependency["kind"] != "dev" {
            outer.insert(text(&dependency["name"]));
        }
    }
    let folder = folder.to_string_lossy().into_owned();
    Crate { name: text(&package["name"]), folder, inner, outer }
}

fn arrow_findings(one: &Crate) -> Vec<String> {
    let manifest = format!("crates/{}/Cargo.toml:1", one.folder);
    let Some((_, allowed)) = ARROWS.iter().find(|(name, _)| *name == one.name) else {
        return vec![format!(
            "{manifest}: crate `{}` is not among the arrows of tidy.rs",
            one.name
        )];
    };
    let mut findings = Vec::new();
    if !one.inner.iter().eq(allowed.iter()) {
        let found = &one.inner;
        findings.push(format!("{manifest}: names the crates {found:?}, and may name {allowed:?}"));
    }
    let outside = OUTSIDE.iter().find(|(name, _)| *name == one.name);
    let is_barred = |name: &&String| outside.is_some_and(|(_, may)| !may.contains(&name.as_str()));
    for name in one.outer.iter().filter(is_barred) {
        findings.push(format!("{manifest}: takes `{name}` from outside, which it may not"));
    }
    findings
}

#[test]
fn crates_name_each_other_only_along_the_arrows() {
    let crates = crates();
    assert_eq!(crates.len(), ARROWS.len(), "every crate among the arrows is there");
    expect_none(crates.iter().flat_map(arrow_findings));
}

#[test]
fn a_crate_is_called_like_its_folder() {
    let differs = crates().into_iter().filter(|one| one.folder != one.name);
    expect_none(
        differs.map(|one| format!("crates/{}/Cargo.toml:1: is `{}`", one.folder, one.name)),
    );
}

#[test]
fn the_model_world_names_only_fleet() {
    let begins = ["crates/sim/src/world", "crates/sim/src/modelled"];
    let is_world = |file: &&File| begins.iter().any(|begin| file.path.starts_with(begin));
    let worlds = FILES.iter().filter(is_world);
    expect_none(worlds.flat_map(world_findings));
}

fn world_findings(file: &File) -> Vec<String> {
    words_found(file, &["planner", "controller"], "a world decides nothing, so it names only fleet")
}

#[test]
fn pure_crates_share_one_list_of_bans() {
    expect_none(ban_findings(&PURE.map(|name| file(&format!("crates/{name}/clippy.toml")))));
    let (root, first) = (lines_that_count(file("clippy.toml")), "crates/fleet/clippy.toml");
    let repeated = lines_that_count(file(first));
    let missing = root.iter().filter(|line| !repeated.contains(line));
    expect_none(missing.map(|line| format!("{first}:1: does not repeat the root's `{line}`")));
}

fn ban_findings(lists: &[&File]) -> Vec<String> {
    let expected = lines_that_count(lists[0]);
    let differs = lists.iter().filter(|list| lines_that_count(list) != expected);
    differs.map(|list| list.finding(1, &format!("is not equal to {}", lists[0].path))).collect()
}

pub(crate) fn lines_that_count(file: &File) -> Vec<&str> {
    let counts = |line: &&str| !line.is_empty() && !line.starts_with('#');
    file.text.lines().map(str::trim).filter(counts).collect()
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let manifests: Vec<_> = FILES.iter().filter(|file| is_manifest(&file.path)).collect();
    expect_none(manifests.iter().flat_map(|file| lint_findings(file)));
    let workspace = lines_that_count(file("Cargo.toml"));
    for lint in ["unsafe_code = \"deny\"", "allow_attributes = \"warn\"", "unwrap_used = \"warn\""]
    {
        assert!(workspace.contains(&lint), "Cargo.toml:1: the lint `{lint}` is not on");
    }
}

fn is_manifest(path: &str) -> bool {
    path.starts_with("crates/") && path.ends_with("/Cargo.toml")
}

fn lint_findings(file: &File) -> Vec<String> {
    let lines = lines_that_count(file);
    let takes = lines.windows(2).any(|two| two == ["[lints]", "workspace = true"]);
    if takes { Vec::new() } else { vec![file.finding(1, "does not take the workspace's lints")] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, inner: &[&str], outer: &[&str]) -> Crate {
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Crate {
            name: name.to_owned(),
            folder: name.to_owned(),
            inner: set(inner),
            outer: set(outer),
        }
    }

    #[test]
    fn an_arrow_too_many_or_too_few_is_found() {
        assert!(arrow_findings(&named("planner", &["fleet"], &["libm"])).is_empty());
        for wrong in [
            named("fleet", &["planner"], &[]),
            named("planner", &[], &[]),
            named("planner", &["controller", "fleet"], &[]),
            named("planner", &["fleet"], &["rand"]),
            named("fleet", &[], &["tokio"]),
            named("helpers", &[], &[]),
        ] {
            assert_eq!(arrow_findings(&wrong).len(), 1, "{}", wrong.name);
        }
    }

    #[test]
    fn a_world_that_decides_is_found() {
        let findings = |text: &str| world_findings(&File::new("world.rs", text, 0));
        assert!(findings("use fleet::Body; // never a planner").is_empty());
        assert_eq!(
            findings("use fleet::{Body,\nNode};\nuse controller::Ledger;"),
            ["world.rs:3: `controller`: a world decides nothing, so it names only fleet"]
        );
        assert_eq!(findings("let plan = planner::plan();").len(), 1);
    }

    #[test]
    fn unlike_bans_and_missing_lints_are_found() {
        let list = |path, text| File::new(path, text, 0);
        let (one, other) = (list("a", "# why\nx = 1\n"), list("b", "x = 1\n\n"));
        assert!(ban_findings(&[&one, &other]).is_empty());
        assert_eq!(ban_findings(&[&one, &list("c", "x = 2")]), ["c:1: is not equal to a"]);
        assert!(lint_findings(&list("d", "[lints]\nworkspace = true")).is_empty());
        assert_eq!(lint_findings(&list("d", "[dependencies]")).len(), 1);
    }
}
