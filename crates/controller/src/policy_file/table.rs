//! A TOML table with what is needed to say where something is wrong with it.

use std::ops::Range;
use std::str::FromStr;

use fleet::parse::ParseError;
use fleet::{Level, Micro, Milli, Work};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{Place, PolicyError};
use super::nearest::nearest;

/// The text of a file, and what it is called.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) file: &'a str,
    pub(super) text: &'a str,
}

impl<'a> Source<'a> {
    pub(super) fn parse(self) -> Result<Spanned<DeTable<'a>>, PolicyError> {
        DeTable::parse(self.text).map_err(|error| PolicyError::Syntax {
            at: self.place(error.span().map_or(0, |span| span.start)),
            detail: error.message().lines().collect::<Vec<_>>().join(", "),
        })
    }

    /// The line of a position in the text.
    fn place(self, position: usize) -> Place {
        let before = self.text.as_bytes().iter().take(position);
        let line = 1 + before.filter(|byte| **byte == b'\n').count();
        Place { file: self.file.to_owned(), line }
    }
}

/// One table of the file.
pub(super) struct Table<'a> {
    source: Source<'a>,
    /// What its fields are called: empty, or with a point at the end.
    path: String,
    /// Where it begins.
    start: usize,
    fields: &'a DeTable<'a>,
}

impl<'a> Table<'a> {
    pub(super) fn whole(source: Source<'a>, document: &'a Spanned<DeTable<'a>>) -> Self {
        Self { source, path: String::new(), start: 0, fields: document.get_ref() }
    }

    pub(super) fn place(&self) -> Place {
        self.source.place(self.start)
    }

    /// What the table is called, for messages.
    pub(super) fn name(&self) -> String {
        self.path.trim_end_matches('.').to_owned()
    }

    /// Refuses every field but these.
    pub(super) fn accept(&self, valid: &[&'static str]) -> Result<(), PolicyError> {
        self.accept_as("field", valid)
    }

    /// Refuses every key but these; `what` is what a key of this table is.
    pub(super) fn accept_as(
        &self,
        what: &'static str,
        valid: &[&'static str],
    ) -> Result<(), PolicyError> {
        self.accept_all(what, valid, |_| false)
    }

    /// The same, and what `also` says of a key.
    pub(super) fn accept_all(
        &self,
        what: &'static str,
        valid: &[&'static str],
        also: impl Fn(&str) -> bool,
    ) -> Result<(), PolicyError> {
        let is_valid = |key: &str| valid.contains(&key) || also(key);
        let mut strange: Vec<_> =
            self.fields.keys().filter(|key| !is_valid(key.get_ref())).collect();
        strange.sort_by_key(|key| key.span().start);
        match strange.first() {
            None => Ok(()),
            Some(key) => {
                Err(unknown(self.source.place(key.span().start), what, key.get_ref(), valid))
            }
        }
    }

    /// The names of its fields.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.fields.keys().map(|key| &**key.get_ref())
    }

    pub(super) fn required(&self, name: &str) -> Result<Field<'a>, PolicyError> {
        self.optional(name).ok_or_else(|| PolicyError::Missing {
            at: self.place(),
            field: format!("{}{name}", self.path),
        })
    }

    pub(super) fn optional(&self, name: &str) -> Option<Field<'a>> {
        let (key, value) = self.fields.get_key_value(name)?;
        let path = format!("{}{name}", self.path);
        Some(Field { source: self.source, path, key: key.span(), value })
    }
}

/// One field, or one item of a list.
pub(super) struct Field<'a> {
    source: Source<'a>,
    path: String,
    key: Range<usize>,
    value: &'a Spanned<DeValue<'a>>,
}

impl<'a> Field<'a> {
    pub(super) fn place(&self) -> Place {
        self.source.place(self.key.start)
    }

    /// The value as it is written.
    pub(super) fn source_text(&self) -> &'a str {
        self.source.text.get(self.value.span()).unwrap_or_default()
    }

    /// The refusal of the value.
    pub(super) fn wrong(&self, wanted: &'static str) -> PolicyError {
        PolicyError::Value {
            at: self.place(),
            field: self.path.clone(),
            found: clip(self.source_text()),
            wanted,
        }
    }

    pub(super) fn string(&self) -> Result<&'a str, PolicyError> {
        match self.value.get_ref() {
            DeValue::String(string) => Ok(string),
            _ => Err(self.wrong("text in quotes")),
        }
    }

    pub(super) fn table(&self) -> Result<Table<'a>, PolicyError> {
        match self.value.get_ref() {
            DeValue::Table(fields) => Ok(Table {
                source: self.source,
                path: format!("{}.", self.path),
                start: self.key.start,
                fields,
            }),
            _ => Err(self.wrong("a table")),
        }
    }

    /// The items of a list.
    pub(super) fn items(&self) -> Result<Vec<Field<'a>>, PolicyError> {
        match self.value.get_ref() {
            DeValue::Array(items) => Ok(items.iter().map(|item| self.item(item)).collect()),
            _ => Err(self.wrong("a list")),
        }
    }

    fn item(&self, value: &'a Spanned<DeValue<'a>>) -> Field<'a> {
        Field { source: self.source, path: self.path.clone(), key: value.span(), value }
    }

    /// The value that a word stands for; `what` is what the word is.
    pub(super) fn one_of<T: Copy>(
        &self,
        what: &'static str,
        valid: &[(&'static str, T)],
    ) -> Result<T, PolicyError> {
        let word = self.string()?;
        let found = valid.iter().find(|(name, _)| *name == word);
        let names = || valid.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let value = found.ok_or_else(|| unknown(self.place(), what, word, &names()))?;
        Ok(value.1)
    }

    /// The quantity that `text` stands for.
    pub(super) fn quantity<T>(&self, text: &str) -> Result<T, PolicyError>
    where
        T: FromStr<Err = ParseError>,
    {
        text.parse().map_err(|source| PolicyError::Quantity {
            at: self.place(),
            field: self.path.clone(),
            source: Box::new(source),
        })
    }

    /// A number in thousandths, from `least` to `most`; `wanted` says so in words.
    pub(super) fn milli_within(
        &self,
        least: Milli,
        most: Milli,
        wanted: &'static str,
    ) -> Result<Milli, PolicyError> {
        let value: Milli = self.quantity(self.number()?)?;
        if value < least || value > most {
            return Err(self.wrong(wanted));
        }
        Ok(value)
    }

    /// A number in thousandths that may be below zero, from `least` to `most`; `wanted` says so in
    /// words.
    pub(super) fn thousandths_within(
        &self,
        least: i32,
        most: i32,
        wanted: &'static str,
    ) -> Result<i32, PolicyError> {
        let number = self.number()?;
        let (size, sign) = number.strip_prefix('-').map_or((number, 1), |size| (size, -1));
        let size: Milli = self.quantity(size)?;
        let value = i32::try_from(size.0).ok().map(|size| sign * size);
        let value = value.filter(|value| (least..=most).contains(value));
        value.ok_or_else(|| self.wrong(wanted))
    }

    /// A whole number from `least` to `most`; `wanted` says so in words.
    pub(super) fn whole_within(
        &self,
        least: u32,
        most: u32,
        wanted: &'static str,
    ) -> Result<u32, PolicyError> {
        let value = self.number()?.parse::<u32>().ok();
        value.filter(|value| (least..=most).contains(value)).ok_or_else(|| self.wrong(wanted))
    }

    /// A number above 0, at most 1, in millionths.
    pub(super) fn probability(&self) -> Result<Micro, PolicyError> {
        // Work is the quantity that is read in millionths; its message would speak of work.
        let millionths = self.number()?.parse::<Work>().ok();
        let value = millionths.and_then(|work| u32::try_from(work.0).ok()).map(Micro);
        value
            .filter(|value| !value.is_zero() && *value <= Micro::ONE)
            .ok_or_else(|| self.wrong("above 0 and at most 1, with at most 6 decimals"))
    }

    /// The number of a signal.
    pub(super) fn level(&self) -> Result<Level, PolicyError> {
        self.quantity(self.number()?)
    }

    pub(super) fn refuse_zero(&self, is_zero: bool) -> Result<(), PolicyError> {
        if is_zero { Err(self.wrong("above 0")) } else { Ok(()) }
    }

    /// The digits of a number, as written but for underscores: decimals are read exactly.
    fn number(&self) -> Result<&'a str, PolicyError> {
        match self.value.get_ref() {
            DeValue::Integer(number) if number.radix() == 10 => Ok(number.as_str()),
            DeValue::Float(number) => Ok(number.as_str()),
            _ => Err(self.wrong("a number")),
        }
    }
}

fn unknown(at: Place, what: &'static str, word: &str, valid: &[&'static str]) -> PolicyError {
    PolicyError::Unknown {
        at,
        what,
        word: clip(word),
        nearest: nearest(word, valid.iter().copied()),
        valid: valid.to_vec(),
    }
}

/// The first line of what was written, and no more than fits in a message.
fn clip(written: &str) -> String {
    const LETTERS_MAX: usize = 60;
    let line = written.lines().next().unwrap_or_default();
    if line.len() == written.len() && line.chars().count() <= LETTERS_MAX {
        return line.to_owned();
    }
    line.chars().take(LETTERS_MAX).chain(['…']).collect()
}
