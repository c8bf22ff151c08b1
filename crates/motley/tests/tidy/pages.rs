//! Pages: links and mentions lead somewhere.

use std::collections::BTreeSet;

use crate::files::{FILES, File, expect_none_in_files};
use crate::rust::is_of_word;

#[test]
fn every_link_and_every_mention_of_a_page_leads_somewhere() {
    expect_none_in_files(|file| [link_findings(file, &FILES), mention_findings(file)].concat());
}

/// The lines of a page outside of blocks of code, with code inside lines taken out.
fn prose(page: &str) -> Vec<(usize, String)> {
    let mut is_code = false;
    let mut prose = Vec::new();
    for (index, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            prose.push((index + 1, line.split('`').step_by(2).collect::<Vec<_>>().join("``")));
        }
    }
    prose
}

fn link_findings(file: &File, files: &[File]) -> Vec<String> {
    let mut findings = Vec::new();
    if !file.path.ends_with(".md") {
        return findings;
    }
    for (line, text) in prose(&file.text) {
        for link in text.split("](").skip(1) {
            let target = link.split([')', ' ']).next().unwrap_or_default();
            let is_elsewhere = target.contains("://") || target.starts_with("mailto:");
            if !is_elsewhere && !leads_somewhere(target, file, files) {
                findings.push(file.finding(line, &format!("the link `{target}` leads nowhere")));
            }
        }
    }
    findings
}

fn leads_somewhere(target: &str, from: &File, files: &[File]) -> bool {
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let path = if path.is_empty() { from.path.clone() } else { resolve(from.folder(), path) };
    let is_folder =
        |file: &File| file.path.starts_with(&format!("{}/", path.trim_end_matches('/')));
    match files.iter().find(|file| file.path == path) {
        Some(page) => anchor.is_empty() || anchors(&page.text).contains(anchor),
        None => anchor.is_empty() && files.iter().any(is_folder),
    }
}

/// A path from a folder, without `.` and `..`.
fn resolve(folder: &str, path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// What the headings of a page are called in links.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = page.lines().filter(|line| line.starts_with('#'));
    let name = |heading: &str| -> String {
        let text = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = text.chars().filter(|letter| is_of_word(*letter) || " -".contains(*letter));
        kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
    };
    headings.map(name).collect()
}

/// Names of pages in any text: from the root, or from the folder of the text.
fn mention_findings(file: &File) -> Vec<String> {
    let mut findings = BTreeSet::new();
    for (index, line) in file.text.lines().enumerate() {
        for word in line.split(|letter| !is_of_word(letter) && !"./:-".contains(letter)) {
            let page = word.trim_end_matches(['.', ':']);
            let is_page = page.strip_suffix(".md").is_some_and(|stem| !stem.is_empty());
            let is_there = |path: &str| FILES.iter().any(|file| file.path == path);
            let is_known =
                || is_there(&resolve("", page)) || is_there(&resolve(file.folder(), page));
            if is_page && !page.contains("://") && !is_known() {
                findings.insert(file.finding(index + 1, &format!("there is no page `{page}`")));
            }
        }
    }
    findings.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The end of a page's name, apart so that this file mentions no missing page.
    const END: &str = "md";

    #[test]
    fn a_link_that_leads_nowhere_is_found() {
        let page = |path: String, text: &str| File::new(&path, text, 0);
        let there = page(format!("docs/b.{END}"), "# One thing, *two*\n");
        let findings = |text: &str| {
            let from = page(format!("docs/a.{END}"), text);
            link_findings(&from, std::slice::from_ref(&there)).len()
        };
        assert_eq!(findings(&format!("[b](b.{END}#one-thing-two), [c](../docs/), `[d](e)`")), 0);
        assert_eq!(findings("[f](https://example.org/g)\n```\n[h](i)\n```\n"), 0);
        assert_eq!(findings(&format!("[b](b.{END}#three)")), 1);
        assert_eq!(findings("[j](k.txt) and\n[l](../m)"), 2);
    }

    #[test]
    fn a_mention_of_a_page_that_is_not_there_is_found() {
        let findings = |text: &str| mention_findings(&File::new("docs/a.rs", text, 0));
        let good =
            format!("README.{END}, `docs/glossary.{END}`; glossary.{END}. https://x.y/z.{END}");
        assert!(findings(&good).is_empty());
        assert_eq!(
            findings(&format!("\nsee `docs/gone.{END}`.")),
            [format!("docs/a.rs:2: there is no page `docs/gone.{END}`")]
        );
    }
}
