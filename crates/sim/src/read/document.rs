//! A TOML document whose entries know their lines.
//!
//! In comes text; out come entries, each to be turned into a text type on its
//! own, so that one bad entry does not hide the others. Every fault is located:
//! from a place in the text to the path of the field, and from a path to the
//! line.

use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::error::{BadLine, Step, Wrong, list, shorten};
use super::fault::Fault;
use super::raw::Strict;

/// A parsed document.
pub(super) struct Document<'i> {
    table: DeTable<'i>,
    lines: Lines,
}

/// One value of a document, with its name.
#[derive(Clone, Copy)]
pub(super) struct Entry<'d, 'i> {
    value: &'d Spanned<DeValue<'i>>,
    lines: &'d Lines,
    /// Where its name stands, which is before the value.
    start: usize,
    /// The section and key that it is read from, for the path of a fault.
    under: [Option<&'d str>; 2],
}

/// Where each line ends.
struct Lines(Vec<usize>);

impl Lines {
    fn of(text: &str) -> Self {
        Self(text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(at, _)| at).collect())
    }

    /// The line of this byte, counted from 1.
    fn at(&self, byte: usize) -> u64 {
        self.0.partition_point(|end| *end < byte) as u64 + 1
    }
}

/// The bytes as text.
pub(super) fn decode(bytes: Vec<u8>) -> Result<String, BadLine> {
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
        Wrong::here(Fault::Encoding).on_line(line)
    })
}

impl<'i> Document<'i> {
    /// Parses the text and checks its format version and the names of its sections.
    pub(super) fn parse(text: &'i str, sections: &[&str]) -> Result<Self, BadLine> {
        let lines = Lines::of(text);
        let table = match DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let line = lines.at(error.span().map_or(0, |span| span.start));
                let detail = format!("{} (in a file read as TOML)", shorten(error.message()));
                return Err(Wrong::here(Fault::Shape { detail }).on_line(line));
            }
        };
        for key in table.keys() {
            let name: &str = key.get_ref();
            if name != "format" && !sections.contains(&name) {
                let known = list(["format"].iter().chain(sections).copied());
                let detail = format!("is not a section of this file; the sections are {known}");
                let line = lines.at(key.span().start);
                return Err(Wrong::at(name, Fault::Shape { detail }).on_line(line));
            }
        }
        let document = Self { table, lines };
        document.check_format()?;
        Ok(document)
    }

    fn check_format(&self) -> Result<(), BadLine> {
        let Some(entry) = self.section("format") else {
            let advice = "begin the file with format = 1";
            return Err(Wrong::at("format", Fault::Missing { advice }).on_line(1));
        };
        super::check_format(&entry.read_value()?).map_err(|wrong| wrong.on_line(entry.line()))
    }

    /// The section of this name.
    pub(super) fn section<'d>(&'d self, name: &'d str) -> Option<Entry<'d, 'i>> {
        let (key, value) = self.table.get_key_value(name)?;
        Some(Entry {
            value,
            lines: &self.lines,
            start: key.span().start,
            under: [Some(name), None],
        })
    }

    /// The tables of the section `[[name]]`.
    pub(super) fn list<'d>(&'d self, name: &'d str) -> Result<Vec<Entry<'d, 'i>>, BadLine> {
        let Some(section) = self.section(name) else { return Ok(Vec::new()) };
        let DeValue::Array(items) = section.value.get_ref() else {
            let detail = format!("must be a list of tables; write [[{name}]] over each");
            return Err(Wrong::at(name, Fault::Shape { detail }).on_line(section.line()));
        };
        let lines = &self.lines;
        let entry =
            |value| Entry { value, lines, start: Spanned::span(value).start, under: [None, None] };
        Ok(items.iter().map(entry).collect())
    }

    /// The tables of the section `[name.KEY]`, by key.
    pub(super) fn tables<'d>(
        &'d self,
        name: &'d str,
    ) -> Result<Vec<(&'d str, Entry<'d, 'i>)>, BadLine> {
        let Some(section) = self.section(name) else { return Ok(Vec::new()) };
        let DeValue::Table(table) = section.value.get_ref() else {
            let detail = format!("must be tables with names; write [{name}.NAME] over each");
            return Err(Wrong::at(name, Fault::Shape { detail }).on_line(section.line()));
        };
        Ok(table
            .iter()
            .map(|(key, value)| {
                let (start, key): (_, &str) = (key.span().start, key.get_ref());
                let under = [Some(name), Some(key)];
                (key, Entry { value, lines: &self.lines, start, under })
            })
            .collect())
    }
}

impl Entry<'_, '_> {
    /// The line on which it begins.
    pub(super) fn line(&self) -> u64 {
        self.lines.at(self.start)
    }

    /// The entry, a table, as a text type.
    pub(super) fn read<T: for<'de> Deserialize<'de>>(&self) -> Result<T, BadLine> {
        self.read_value().map(|Strict(text)| text)
    }

    fn read_value<T: for<'de> Deserialize<'de>>(&self) -> Result<T, BadLine> {
        let deserializer = ValueDeserializer::from(self.value.clone());
        T::deserialize(deserializer).map_err(|error| {
            let span = error.span().unwrap_or_else(|| self.value.span());
            let mut path = Vec::new();
            path_to(self.value, &span, &mut path);
            let line = if path.is_empty() { self.line() } else { self.lines.at(span.start) };
            let detail = shorten(error.message());
            self.finish(Wrong::along(path, Fault::Shape { detail }), line)
        })
    }

    /// The fault with the line of the field that its path leads to.
    pub(super) fn locate(&self, wrong: Wrong) -> BadLine {
        let mut start = self.start;
        let mut value = Some(self.value);
        for step in wrong.path() {
            value = match (step, value.map(Spanned::get_ref)) {
                (Step::Field(name), Some(DeValue::Table(table))) => {
                    let found = table.get_key_value(name.as_str());
                    start = found.map_or(start, |(key, _)| key.span().start);
                    found.map(|(_, value)| value)
                }
                (Step::Item(index), Some(DeValue::Array(items))) => {
                    let found = items.get(*index);
                    start = found.map_or(start, |item| item.span().start);
                    found
                }
                _ => None,
            };
        }
        let line = self.lines.at(start);
        self.finish(wrong, line)
    }

    fn finish(&self, wrong: Wrong, line: u64) -> BadLine {
        let outwards = self.under.iter().rev().flatten();
        outwards.fold(wrong, |wrong, name| wrong.inside(name)).on_line(line)
    }
}

/// Finds the key or value at `span` in `value`, and the path to it. The span of a table that is
/// written in parts does not hold its parts, so all are looked at.
fn path_to(value: &Spanned<DeValue<'_>>, span: &Range<usize>, path: &mut Vec<Step>) -> bool {
    let holds = |outer: Range<usize>| outer.start <= span.start && span.end <= outer.end;
    match value.get_ref() {
        DeValue::Table(table) => table.iter().any(|(key, inner)| {
            let name: &str = key.get_ref();
            path.push(Step::Field(name.to_owned()));
            let found = holds(key.span()) || path_to(inner, span, path) || inner.span() == *span;
            if !found {
                path.pop();
            }
            found
        }),
        DeValue::Array(items) => items.iter().enumerate().any(|(index, item)| {
            path.push(Step::Item(index));
            let found = path_to(item, span, path) || item.span() == *span;
            if !found {
                path.pop();
            }
            found
        }),
        _ => holds(value.span()),
    }
}
