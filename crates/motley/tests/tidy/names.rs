//! Names: the glossary is law.

use std::collections::{BTreeMap, BTreeSet};

use crate::crates::{ARROWS, PURE};
use crate::files::{FILES, File, expect_none, expect_none_in_files, file};
use crate::rust::{Type, spoken, types, words};

/// Words that fit every type and therefore say nothing about any.
const EMPTY_WORDS: &str =
    "base context data handler helper impl info manager processor service util utils wrapper";

/// Words in names of types that are no things and so need no entry in the glossary.
const LITTLE_WORDS: [&str; 4] = ["by", "in", "of", "still"];

/// A row of a table, with its line.
type Row<'a> = (usize, Vec<&'a str>);

/// The rows of the table under this heading, without its head.
fn rows<'a>(page: &'a File, heading: &str) -> Vec<Row<'a>> {
    let lines = page.text.lines().enumerate();
    let below = lines.skip_while(|(_, line)| *line != heading).skip(1);
    let table = below.take_while(|(_, line)| !line.starts_with('#'));
    let rows = table.filter(|(_, line)| line.starts_with('|')).skip(2);
    let cells = |line: &'a str| line.trim_matches('|').split('|').map(str::trim).collect();
    rows.map(|(index, line)| (index + 1, cells(line))).collect()
}

fn glossary() -> (&'static File, Vec<Row<'static>>, Vec<Row<'static>>) {
    let page = file("docs/glossary.md");
    let (used, unused) = (rows(page, "## Words"), rows(page, "## Words that we do not use"));
    assert!(!used.is_empty() && !unused.is_empty(), "docs/glossary.md:1: a table is missing");
    (page, used, unused)
}

/// The words that the first cell of a row explains: `runner-up` is *runner up*.
fn explained(cell: &str) -> Vec<String> {
    let word = cell.split(" (").next().unwrap_or(cell);
    word.split(", ").map(|word| word.to_lowercase().replace('-', " ")).collect()
}

#[test]
fn the_glossary_is_sorted_and_explains_each_word_once() {
    let (page, used, unused) = glossary();
    expect_none([row_findings(page, &used, 3), row_findings(page, &unused, 2)].concat());
    let explained: BTreeSet<_> = used.iter().flat_map(|(_, cells)| explained(cells[0])).collect();
    let both = unused.iter().filter(|(_, cells)| explained.contains(cells[0]));
    expect_none(both.map(|(line, cells)| page.finding(*line, &format!("uses `{}`", cells[0]))));
}

fn row_findings(page: &File, rows: &[Row<'_>], cells: usize) -> Vec<String> {
    let is_bad = |row: &&Row<'_>| row.1.len() != cells || row.1.iter().any(|cell| cell.is_empty());
    let bad = rows.iter().filter(is_bad);
    let mut findings: Vec<_> = bad
        .map(|(line, _)| page.finding(*line, &format!("the row has not {cells} cells")))
        .collect();
    for two in rows.windows(2) {
        let (before, after) = (two[0].1[0].to_lowercase(), two[1].1[0].to_lowercase());
        if before >= after {
            let rule = format!("`{after}` does not come after `{before}`");
            findings.push(page.finding(two[1].0, &rule));
        }
    }
    findings
}

#[test]
fn the_glossary_names_only_code_that_exists() {
    let (page, used, _) = glossary();
    let mut known: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (name, _) in ARROWS {
        let files = FILES.iter().filter(|file| file.is_in_crate(name));
        known
            .insert(name, files.flat_map(|file| words(&file.code)).map(|(_, word)| word).collect());
    }
    expect_none(used.iter().flat_map(|row| name_findings(page, row, &known)));
}

fn name_findings(
    page: &File,
    row: &Row<'_>,
    known: &BTreeMap<&str, BTreeSet<&str>>,
) -> Vec<String> {
    let (line, cells) = row;
    let path = cells.last().map_or("", |cell| cell.trim_matches('`'));
    let mut parts = path.split("::");
    let names = parts.next().and_then(|name| known.get(name));
    if names.is_some_and(|names| parts.all(|part| names.contains(part))) {
        return Vec::new();
    }
    vec![page.finding(*line, &format!("`{path}` is not in the code"))]
}

#[test]
fn public_types_of_fleet_are_made_of_words_of_the_glossary() {
    let (_, used, _) = glossary();
    let words: BTreeSet<_> = used.iter().flat_map(|(_, cells)| explained(cells[0])).collect();
    let fleet = FILES.iter().filter(|file| file.is_in_crate("fleet"));
    expect_none(fleet.flat_map(|file| unexplained_types(file, &words)));
}

fn unexplained_types(file: &File, words: &BTreeSet<String>) -> Vec<String> {
    let public = types(file).into_iter().filter(|one| one.is_public);
    let unknown = public.filter(|one| !is_made_of(&spoken(one.name), words));
    let rule = |name| format!("`{name}` is not made of words in docs/glossary.md");
    unknown.map(|one| file.finding(one.line, &rule(one.name))).collect()
}

fn is_made_of(name: &[String], words: &BTreeSet<String>) -> bool {
    let is_known = |part: &[String]| {
        let part = part.join(" ");
        let singular = part.strip_suffix(if part.ends_with("sses") { "es" } else { "s" });
        let is_little = LITTLE_WORDS.contains(&part.as_str());
        is_little || words.contains(&part) || singular.is_some_and(|one| words.contains(one))
    };
    let rest_is_made = |count: usize| is_known(&name[..count]) && is_made_of(&name[count..], words);
    name.is_empty() || (1..=name.len()).any(rest_is_made)
}

#[test]
fn no_type_is_named_with_an_unused_word() {
    let (_, _, unused) = glossary();
    let unused: Vec<_> = unused.iter().map(|(_, cells)| cells[0]).collect();
    let empty: Vec<_> = EMPTY_WORDS.split(' ').collect();
    expect_none_in_files(|file| badly_named_types(file, &empty));
    let pure = FILES.iter().filter(|file| PURE.iter().any(|name| file.is_in_crate(name)));
    expect_none(pure.flat_map(|file| badly_named_types(file, &unused)));
}

fn badly_named_types(file: &File, unused: &[&str]) -> Vec<String> {
    let is_bad =
        |one: &Type<'_>| spoken(one.name).iter().any(|word| unused.contains(&word.as_str()));
    let bad = types(file).into_iter().filter(is_bad);
    bad.map(|one| file.finding(one.line, &format!("`{}` uses an unused word", one.name))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "## Words\n\n| word | meaning |\n| --- | --- |\n| run | one |\n| Job | two |\n\
                        | job | |\n\n## More\n\n| no | row |\n";

    #[test]
    fn rows_out_of_order_twice_or_with_empty_cells_are_found() {
        let page = File::new("g.txt", PAGE, 0);
        let rows = rows(&page, "## Words");
        assert_eq!(
            row_findings(&page, &rows, 2),
            [
                "g.txt:7: the row has not 2 cells",
                "g.txt:6: `job` does not come after `run`",
                "g.txt:7: `job` does not come after `job`"
            ]
        );
        assert!(row_findings(&page, &rows[..1], 2).is_empty());
    }

    #[test]
    fn a_name_that_is_not_in_the_code_is_found() {
        let page = File::new("g.txt", "", 0);
        let known = BTreeMap::from([("fleet", BTreeSet::from(["job", "Job"]))]);
        let findings = |path: &'static str| name_findings(&page, &(1, vec![path]), &known);
        assert!(findings("`fleet::job::Job`").is_empty());
        for wrong in ["`fleet::Jobs`", "`planner::Job`", "", "`fleet::jobs::Job`"] {
            assert_eq!(findings(wrong).len(), 1, "{wrong}");
        }
    }

    #[test]
    fn a_type_without_an_entry_is_found() {
        let words = ["class", "device", "fell out", "request"].map(str::to_owned).into();
        let file = |text| File::new("a.rs", text, 0);
        let known = "pub struct DeviceRequest; pub enum FellOut {} pub struct Classes;";
        assert!(unexplained_types(&file(known), &words).is_empty());
        assert!(unexplained_types(&file("struct Quirk;"), &words).is_empty());
        let rule = "is not made of words in docs/glossary.md";
        assert_eq!(
            unexplained_types(&file("\npub struct DeviceQuirk;"), &words),
            [format!("a.rs:2: `DeviceQuirk` {rule}")]
        );
    }

    #[test]
    fn a_badly_named_type_is_found() {
        let unused = ["manager", "pod"];
        let findings = |text| badly_named_types(&File::new("a.rs", text, 0), &unused);
        assert!(findings("struct Podium; // a Manager").is_empty());
        assert_eq!(findings("enum JobManager {}"), ["a.rs:1: `JobManager` uses an unused word"]);
        assert_eq!(findings("type PodId = u8;").len(), 1);
    }
}
