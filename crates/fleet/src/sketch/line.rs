//! One line of a sketch, word by word.
//!
//! Readers take the words they know; [`Line::finish`] refuses what is left, so
//! that no word is ever ignored.

use std::collections::BTreeSet;
use std::str::FromStr;

use super::{SketchError, WordFault};
use crate::parse::ParseError;

/// The words of a line that were not read yet.
pub(super) struct Line<'a> {
    number: usize,
    item: &'a str,
    words: Vec<&'a str>,
}

impl<'a> Line<'a> {
    /// The words of a line; nothing where there are none.
    pub(super) fn new(number: usize, text: &'a str) -> Option<Self> {
        let code = text.split('#').next().unwrap_or_default();
        let mut words = code.split_whitespace();
        let item = words.next()?;
        Some(Self { number, item, words: words.collect() })
    }

    /// The first word, which says what the line is.
    pub(super) fn item(&self) -> &'a str {
        self.item
    }

    /// Which line it is, from 1.
    pub(super) fn position(&self) -> usize {
        self.number
    }

    /// An error at this word.
    pub(super) fn fault(&self, word: &str, fault: WordFault) -> SketchError {
        SketchError::Line { line: self.number, word: word.into(), fault }
    }

    /// Takes the next word, which must be no `key=value`.
    pub(super) fn name(&mut self, what: &'static str) -> Result<&'a str, SketchError> {
        match self.words.first() {
            Some(word) if !word.contains('=') => Ok(self.words.remove(0)),
            _ => Err(self.fault(self.item, WordFault::Missing { what })),
        }
    }

    /// Takes all words that are left.
    pub(super) fn rest(&mut self) -> Vec<&'a str> {
        std::mem::take(&mut self.words)
    }

    /// Takes the value of `key=value`.
    pub(super) fn value(&mut self, key: &str) -> Result<Option<&'a str>, SketchError> {
        let matches = |word: &&str| word.split_once('=').is_some_and(|(found, _)| found == key);
        let Some(position) = self.words.iter().position(matches) else {
            return Ok(None);
        };
        let word = self.words.remove(position);
        if self.words.iter().any(matches) {
            return Err(self.fault(key, WordFault::Twice));
        }
        match word.split_once('=') {
            Some((_, value)) if !value.is_empty() => Ok(Some(value)),
            _ => Err(self.fault(word, WordFault::Missing { what: "the value" })),
        }
    }

    /// Takes the quantity of `key=quantity`.
    pub(super) fn quantity<T>(&mut self, key: &str) -> Result<Option<T>, SketchError>
    where
        T: FromStr<Err = ParseError>,
    {
        let Some(value) = self.value(key)? else { return Ok(None) };
        match value.parse() {
            Ok(quantity) => Ok(Some(quantity)),
            Err(source) => Err(self.fault(value, source.into())),
        }
    }

    /// Takes the whole number of `key=number`.
    pub(super) fn number<T: FromStr>(&mut self, key: &str) -> Result<Option<T>, SketchError> {
        let Some(value) = self.value(key)? else { return Ok(None) };
        self.whole(value).map(Some)
    }

    /// Reads a whole number.
    pub(super) fn whole<T: FromStr>(&self, word: &str) -> Result<T, SketchError> {
        let fault = WordFault::Malformed { what: "a whole number of this range", example: "3" };
        word.parse().map_err(|_| self.fault(word, fault))
    }

    /// Takes every `prefix.key=value`.
    pub(super) fn prefixed(
        &mut self,
        prefix: &str,
    ) -> Result<Vec<(&'a str, &'a str)>, SketchError> {
        let split = |word: &'a str| word.strip_prefix(prefix)?.strip_prefix('.')?.split_once('=');
        let mut found: Vec<(&str, &str)> = Vec::new();
        let mut keys = BTreeSet::new();
        for (key, value) in self.words.iter().filter_map(|word| split(word)) {
            if key.is_empty() || value.is_empty() {
                return Err(self.fault(prefix, WordFault::Missing { what: "the key or value" }));
            }
            if !keys.insert(key) {
                return Err(self.fault(key, WordFault::Twice));
            }
            found.push((key, value));
        }
        self.words.retain(|word| split(word).is_none());
        Ok(found)
    }

    /// Takes a word that stands alone; whether it was there.
    pub(super) fn flag(&mut self, flag: &str) -> bool {
        let position = self.words.iter().position(|word| *word == flag);
        position.map(|position| self.words.remove(position)).is_some()
    }

    /// Takes `x3`.
    pub(super) fn times(&mut self) -> Option<u32> {
        let times = |word: &&str| word.strip_prefix('x')?.parse().ok();
        let position = self.words.iter().position(|word| times(word).is_some())?;
        times(&self.words.remove(position))
    }

    /// Refuses the words that nobody took.
    pub(super) fn finish(self) -> Result<(), SketchError> {
        match self.words.first() {
            Some(word) => {
                Err(self.fault(word, WordFault::UnknownWord { item: self.item.to_owned() }))
            }
            None => Ok(()),
        }
    }
}
