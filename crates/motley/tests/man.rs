//! Pages of the manual: one for each command, with all its flags.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::collections::BTreeSet;
use std::fs;

use assert_cmd::Command;
use clap::CommandFactory as _;
use motley::args::Arguments;

/// Runs the program: exit status and errors.
fn run(arguments: &[&str]) -> (i32, String) {
    let output = Command::cargo_bin("motley").unwrap().args(arguments).output().unwrap();
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The commands that are shown, by the name of their page, with their flags.
fn commands() -> Vec<(String, Vec<String>)> {
    fn add(command: &clap::Command, name: &str, found: &mut Vec<(String, Vec<String>)>) {
        let arguments = command.get_arguments().filter(|one| !one.is_hide_set());
        let flags = arguments.filter_map(clap::Arg::get_long).map(str::to_owned);
        found.push((name.to_owned(), flags.collect()));
        let is_shown = |one: &&clap::Command| !one.is_hide_set() && one.get_name() != "help";
        for inner in command.get_subcommands().filter(is_shown) {
            add(inner, &format!("{name}-{}", inner.get_name()), found);
        }
    }
    let mut command = Arguments::command();
    command.build();
    let mut found = Vec::new();
    add(&command, "motley", &mut found);
    found
}

#[test]
fn every_command_has_a_page_with_its_flags() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    let (status, errors) = run(&["man", pages.to_str().unwrap()]);
    assert_eq!(status, 0, "{errors}");
    let commands = commands();
    assert!(commands.len() > 30, "{}", commands.len());
    for (name, flags) in &commands {
        let page = fs::read_to_string(pages.join(format!("{name}.1"))).unwrap();
        // A hyphen is written so that it stays one.
        let page = page.replace("\\-", "-");
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{name}");
        for flag in flags {
            assert!(page.contains(&format!("--{flag}")), "{name}: --{flag}");
        }
    }
    let names: BTreeSet<_> = commands.iter().map(|(name, _)| format!("{name}.1")).collect();
    let files = fs::read_dir(&pages).unwrap().flatten();
    let files: BTreeSet<_> = files.map(|file| file.file_name().into_string().unwrap()).collect();
    assert_eq!(files, names, "and there is no other page");
    let submit = fs::read_to_string(pages.join("motley-submit.1")).unwrap();
    assert!(submit.contains("motley submit"), "its examples are there");
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let (status, errors) = run(&["man", "/dev/null/pages"]);
    assert!(status == 1 && errors.contains("make the folder /dev/null/pages"), "{errors}");
    assert_eq!(run(&["man"]).0, 2);
}
