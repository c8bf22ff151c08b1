//! Strays: what should not be in the repository.

use crate::files::{File, expect_none_in_files};
use crate::rust::{is_of_word, words_found, words_of};

const TOP_LEVEL: [&str; 16] = [
    ".ci",
    ".gitignore",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE",
    "README.md",
    "clippy.toml",
    "crates",
    "deploy",
    "docs",
    "fuzz",
    "rustfmt.toml",
    "scenarios",
];

/// Larger data belongs beside the repository, not in it.
const FILE_BYTES_MAX: usize = 500_000;

/// Put together here so that this file does not find itself.
const TO_DO: &str = concat!("TO", "DO");
const ABSOLUTE: [&str; 4] =
    [concat!("/wo", "rk/"), concat!("/ro", "ot/"), concat!("/ho", "me/"), concat!("/Us", "ers/")];

#[test]
fn nothing_lies_about() {
    expect_none_in_files(stray_findings);
}

fn stray_findings(file: &File) -> Vec<String> {
    let mut findings = Vec::new();
    let top = file.path.split('/').next().unwrap_or_default();
    if !TOP_LEVEL.contains(&top) {
        findings
            .push(file.finding(1, &format!("`{top}` is not among the known entries of tidy.rs")));
    }
    if file.bytes > FILE_BYTES_MAX {
        findings.push(file.finding(1, &format!("is larger than {FILE_BYTES_MAX} bytes")));
    }
    findings
}

/// The notes of those who work here, which nobody else can read.
const PRIVATE: &str = concat!("shared/", "design");

#[test]
fn no_text_knows_the_machine_that_it_was_written_on() {
    expect_none_in_files(place_findings);
}

fn place_findings(file: &File) -> Vec<String> {
    let mut findings = Vec::new();
    for (index, line) in file.text.lines().enumerate() {
        if line.contains(PRIVATE) {
            findings.push(file.finding(index + 1, "names notes that are not in the repository"));
        }
        for place in ABSOLUTE {
            let is_continued = |letter: char| is_of_word(letter) || ".-~}".contains(letter);
            let mut starts =
                line.match_indices(place).map(|(at, _)| line[..at].chars().next_back());
            if starts.any(|before| !before.is_some_and(is_continued)) {
                findings.push(file.finding(index + 1, &format!("has the absolute path `{place}`")));
            }
        }
    }
    findings
}

#[test]
fn nothing_is_left_for_later_without_an_issue() {
    expect_none_in_files(later_findings);
}

fn later_findings(file: &File) -> Vec<String> {
    let is_open = |line: &str| {
        let later = words_of(line).find(|word| [TO_DO, concat!("FIX", "ME")].contains(word));
        let after = later.and_then(|word| line.split_once(word)).map_or("", |(_, after)| after);
        let mut numbers = after.split('#').skip(1);
        later.is_some() && !numbers.any(|number| number.starts_with(|at: char| at.is_ascii_digit()))
    };
    let open = file.text.lines().enumerate().filter(|(_, line)| is_open(line));
    let rule = format!("a {TO_DO} names its issue: {TO_DO}(#12)");
    open.map(|(index, _)| file.finding(index + 1, &rule)).collect()
}

#[test]
fn no_test_is_ignored() {
    expect_none_in_files(ignored_findings);
}

fn ignored_findings(file: &File) -> Vec<String> {
    let rule = "assert what happens today and say that it is wrong, instead of ignoring the test";
    let is_attribute = |line: &str| {
        let line: String = line.split_whitespace().collect();
        line.contains("#[ignore") || line.contains("cfg_attr") && line.contains(",ignore")
    };
    let is_doc = |line: &str| {
        let line = line.trim_start();
        line.starts_with("//") && line.contains("```ignore")
    };
    let lines = file.code.lines().zip(file.text.lines()).enumerate();
    let ignored = lines.filter(|(_, (code, text))| is_attribute(code) || is_doc(text));
    ignored.map(|(index, _)| file.finding(index + 1, rule)).collect()
}

#[test]
fn unsafe_code_is_in_one_file_a_crate() {
    expect_none_in_files(unsafe_findings);
}

fn unsafe_findings(file: &File) -> Vec<String> {
    match file.path.ends_with("/src/sys.rs") {
        true => Vec::new(),
        false => words_found(file, &["unsafe"], "it goes into the crate's `sys.rs`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &str) -> File {
        File::new("crates/a.rs", text, text.len())
    }

    #[test]
    fn a_stray_or_large_file_is_found() {
        assert!(stray_findings(&file("")).is_empty());
        assert_eq!(stray_findings(&File::new("notes.txt", "", 0)).len(), 1);
        assert_eq!(stray_findings(&File::new("docs/a.csv", "", FILE_BYTES_MAX + 1)).len(), 1);
    }

    #[test]
    fn an_absolute_path_is_found() {
        for place in ABSOLUTE {
            assert_eq!(place_findings(&file(&format!("\n`{place}x`"))).len(), 1, "{place}");
            assert!(place_findings(&file(&format!("..{place}x, a{place}"))).is_empty(), "{place}");
        }
    }

    #[test]
    fn private_notes_are_found() {
        let findings = place_findings(&file(&format!("see ../{PRIVATE}")));
        assert_eq!(findings, ["crates/a.rs:1: names notes that are not in the repository"]);
    }

    #[test]
    fn work_left_without_an_issue_is_found() {
        let findings = |rest: &str| later_findings(&file(&format!("// {TO_DO}{rest}"))).len();
        assert_eq!(findings("(#12): more"), 0);
        assert_eq!(findings("S are many"), 0);
        assert_eq!(findings(": more"), 1);
        assert_eq!(findings(": see # 12"), 1);
    }

    #[test]
    fn an_ignored_test_is_found() {
        assert!(ignored_findings(&file("// #[ignore]\nlet ignore = \"#[ignore]\";")).is_empty());
        for wrong in
            ["#[ignore]", "#[ ignore = \"slow\"]", "#[cfg_attr(a, ignore)]", "/// ```ignore"]
        {
            assert_eq!(ignored_findings(&file(wrong)).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn unsafe_code_is_found() {
        assert!(unsafe_findings(&file("// unsafe\n#![deny(unsafe_code)] \"unsafe\"")).is_empty());
        let findings = unsafe_findings(&file("fn a() {\n unsafe { b() }\n}"));
        assert_eq!(findings, ["crates/a.rs:2: `unsafe`: it goes into the crate's `sys.rs`"]);
    }
}
