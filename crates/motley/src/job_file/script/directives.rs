//! The `#SBATCH` lines of a script: which options they give, with their lines.
//!
//! As sbatch does it, only lines before the first command count, and of an
//! option that is given twice the last one does.

use std::collections::BTreeMap;

use super::super::Fault;
use super::options::{Known, Takes, long, short};

/// What begins a directive.
const MARK: &str = "#SBATCH";

/// The options of a script.
#[derive(Debug, Default)]
pub(super) struct Directives {
    /// By long name.
    given: BTreeMap<&'static str, Given>,
    /// What was found wrong.
    pub(super) faults: Vec<Fault>,
    /// Directives that do not count.
    pub(super) notes: Vec<Fault>,
}

/// An option as it was given.
#[derive(Debug)]
struct Given {
    line: u64,
    /// As it was written: `-n` or `--ntasks`.
    written: String,
    value: String,
}

impl Directives {
    /// Those of this script.
    pub(super) fn of(text: &str) -> Self {
        let mut directives = Self::default();
        let mut is_over = false;
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(rest) = line.strip_prefix(MARK)
                && rest.starts_with(char::is_whitespace)
            {
                if is_over {
                    let text = "comes after the first command, where sbatch does not read it";
                    directives.notes.push(Fault::new(number, MARK, text));
                } else {
                    directives.add(number, rest);
                }
            }
            is_over |= !line.trim_start().is_empty() && !line.trim_start().starts_with('#');
        }
        directives
    }

    fn add(&mut self, line: u64, text: &str) {
        let Some(words) = shlex::split(text) else {
            let text = "has a quote that is not closed";
            self.faults.push(Fault::new(line, MARK, text));
            return;
        };
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if let Err(fault) = self.option(line, &word, &mut words) {
                self.faults.push(fault);
            }
        }
    }

    /// One option, with its value, which may be the next word.
    fn option(
        &mut self,
        line: u64,
        word: &str,
        rest: &mut impl Iterator<Item = String>,
    ) -> Result<(), Fault> {
        if let Some(named) = word.strip_prefix("--") {
            let (name, value) = match named.split_once('=') {
                Some((name, value)) => (name, Some(value.to_owned())),
                None => (named, None),
            };
            let known = long(name).map_err(|text| Fault::new(line, format!("--{name}"), text))?;
            return self.give((line, format!("--{name}")), known, value, rest);
        }
        let Some(letters) = word.strip_prefix('-').filter(|letters| !letters.is_empty()) else {
            let text = "is no option; a value with spaces is written in quotes";
            return Err(Fault::new(line, word, text));
        };
        for (at, letter) in letters.char_indices() {
            let written = format!("-{letter}");
            let known = short(letter).map_err(|text| Fault::new(line, &written, text))?;
            if known.takes == Takes::Nothing {
                self.give((line, written), known, None, rest)?;
                continue;
            }
            let attached = &letters[at + letter.len_utf8()..];
            let value = (!attached.is_empty()).then(|| attached.to_owned());
            return self.give((line, written), known, value, rest);
        }
        Ok(())
    }

    fn give(
        &mut self,
        (line, written): (u64, String),
        known: &'static Known,
        value: Option<String>,
        rest: &mut impl Iterator<Item = String>,
    ) -> Result<(), Fault> {
        let value = match (known.takes, value) {
            (Takes::Nothing, None) | (Takes::Perhaps, None) => String::new(),
            (Takes::Nothing, Some(_)) => {
                return Err(Fault::new(line, written, "takes no value"));
            }
            (_, Some(value)) => value,
            (Takes::Value, None) => match rest.next() {
                Some(value) => value,
                None => return Err(Fault::new(line, written, "needs a value")),
            },
        };
        if let Some(nearest) = known.refused {
            return Err(Fault::new(line, written, format!("is not supported: {nearest}")));
        }
        // Of what says the opposite the last counts too.
        let (name, value) = match known.long {
            "no-requeue" => ("requeue", "no".to_owned()),
            name => (name, value),
        };
        self.given.insert(name, Given { line, written, value });
        Ok(())
    }

    /// Whether an option is given.
    pub(super) fn has(&self, name: &str) -> bool {
        self.given.contains_key(name)
    }

    /// The option as `read` takes it; a fault where it does not.
    pub(super) fn read<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let given = self.given.get(name)?;
        match read(&given.value) {
            Ok(value) => Some(value),
            Err(text) => {
                self.faults.push(Fault::new(given.line, &given.written, text));
                None
            }
        }
    }

    /// The option as text that is not empty.
    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        self.read(name, |text| match text.trim() {
            "" => Err("needs a value".to_owned()),
            text => Ok(text.to_owned()),
        })
    }

    /// A fault of an option that is given.
    pub(super) fn refuse(&mut self, name: &str, text: impl Into<String>) {
        if let Some(Given { line, written, .. }) = self.given.get(name) {
            self.faults.push(Fault::new(*line, written, text));
        }
    }
}
