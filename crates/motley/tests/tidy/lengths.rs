//! Lengths: of files, functions and lines.

use crate::crates::lines_that_count;
use crate::files::{File, expect_none_in_files, file};
use crate::rust::{is_of_word, words_of};

const FILE_LINES_MAX: usize = 600;
const FUNCTION_LINES_MAX: usize = 60;
const LINE_LETTERS_MAX: usize = 100;

#[test]
fn files_functions_and_lines_are_short() {
    expect_none_in_files(|file| match file.is_rust() {
        true => [file_length(file), function_lengths(file), line_lengths(file)].concat(),
        false => Vec::new(),
    });
    assert!(lines_that_count(file("rustfmt.toml")).contains(&"max_width = 100"));
}

/// Tests are not counted: they grow with what they test, and nobody reads them from the top.
fn file_length(file: &File) -> Vec<String> {
    if file.path.ends_with("/tests.rs") || file.path.contains("/tests/") {
        return Vec::new();
    }
    let lines: Vec<_> = file.text.lines().collect();
    let is_start = |two: &[&str]| two[0] == "#[cfg(test)]" && two[1].starts_with("mod ");
    let length = lines.windows(2).position(is_start).unwrap_or(lines.len());
    let rule = format!("has {length} lines before its tests; split it by {FILE_LINES_MAX}");
    if length > FILE_LINES_MAX { vec![file.finding(length, &rule)] } else { Vec::new() }
}

fn function_lengths(file: &File) -> Vec<String> {
    let mut findings = Vec::new();
    for (at, _) in file.code.match_indices("fn ") {
        let is_part = file.code[..at].chars().next_back().is_some_and(is_of_word);
        let Some(length) = function_length(&file.code[at..]).filter(|_| !is_part) else { continue };
        if length > FUNCTION_LINES_MAX {
            let name = words_of(&file.code[at + 3..]).next().unwrap_or_default();
            let line = file.code[..at].matches('\n').count() + 1;
            let rule = format!("`{name}` has {length} lines, and may have {FUNCTION_LINES_MAX}");
            findings.push(file.finding(line, &rule));
        }
    }
    findings
}

/// The lines from a function's name to its closing brace; `None` where it has no body.
fn function_length(code: &str) -> Option<usize> {
    let (mut nested, mut braces) = (0, 0);
    for (index, letter) in code.char_indices() {
        match letter {
            '(' | '[' => nested += 1,
            ')' | ']' => nested -= 1,
            ';' if nested == 0 && braces == 0 => return None,
            '{' => braces += 1,
            '}' => {
                braces -= 1;
                if braces == 0 {
                    return Some(code[..index].matches('\n').count() + 1);
                }
            }
            _ => {}
        }
    }
    None
}

/// Tables in documentation and lines with a string cannot be broken; the formatter leaves them too.
fn line_lengths(file: &File) -> Vec<String> {
    let is_whole = |line: &str| line.contains('"') || line.trim_start().starts_with("//! |");
    let is_long = |line: &str| line.chars().count() > LINE_LETTERS_MAX && !is_whole(line);
    let long = file.text.lines().enumerate().filter(|(_, line)| is_long(line));
    let rule = format!("the line is longer than {LINE_LETTERS_MAX} letters");
    long.map(|(index, _)| file.finding(index + 1, &rule)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(text: &str) -> File {
        File::new("crates/a/src/b.rs", text, 0)
    }

    #[test]
    fn a_long_file_is_found_and_its_tests_are_not_counted() {
        let long = "//\n".repeat(FILE_LINES_MAX);
        assert!(file_length(&source(&long)).is_empty());
        assert_eq!(file_length(&source(&format!("{long}//\n"))).len(), 1);
        let tests = format!("#[cfg(test)]\nmod tests {{\n{long}}}\n");
        assert!(file_length(&source(&tests)).is_empty());
        let early = format!("#[cfg(test)]\nuse a;\n{long}");
        assert_eq!(file_length(&source(&early)).len(), 1);
    }

    #[test]
    fn a_long_function_is_found() {
        let function = |lines: usize| {
            format!("trait A {{\n fn a(b: [u8; 4]);\n fn b() {{\n{}}}\n}}", "{ }\n".repeat(lines))
        };
        assert!(function_lengths(&source(&function(FUNCTION_LINES_MAX - 2))).is_empty());
        assert_eq!(
            function_lengths(&source(&function(FUNCTION_LINES_MAX - 1))),
            ["crates/a/src/b.rs:3: `b` has 61 lines, and may have 60"]
        );
    }

    #[test]
    fn a_long_line_is_found() {
        let line = "ä".repeat(LINE_LETTERS_MAX);
        assert!(line_lengths(&source(&line)).is_empty());
        assert_eq!(line_lengths(&source(&format!("\n{line}ä"))).len(), 1);
        assert!(line_lengths(&source(&format!("//! | {line} |"))).is_empty());
    }
}
