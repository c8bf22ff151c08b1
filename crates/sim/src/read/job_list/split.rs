//! One line of a CSV file into its cells.
//!
//! A field ends on its line, quoted or not, so that a quote which is never
//! closed cannot swallow the rest of a file.

use csv_core::{ReadRecordResult, Reader, ReaderBuilder, Terminator};

use super::super::error::Wrong;
use super::super::fault::Fault;

/// Splits lines, and keeps its buffers between them.
pub(super) struct Splitter {
    reader: Reader,
    text: Vec<u8>,
    ends: Vec<usize>,
}

/// The cells of one line.
pub(super) struct Cells<'s> {
    text: &'s [u8],
    ends: &'s [usize],
}

impl Splitter {
    /// A new one.
    pub(super) fn new() -> Self {
        let reader = ReaderBuilder::new().terminator(Terminator::Any(b'\n')).build();
        Self { reader, text: Vec::new(), ends: Vec::new() }
    }

    /// The cells of a line without its end.
    pub(super) fn split(&mut self, line: &[u8]) -> Result<Cells<'_>, Wrong> {
        let quotes = line.iter().filter(|byte| **byte == b'"').count();
        if !quotes.is_multiple_of(2) {
            return Err(Wrong::here(Fault::QuoteOpen));
        }
        let commas = line.iter().filter(|byte| **byte == b',').count();
        self.text.resize(line.len(), 0);
        self.ends.resize(commas + 1, 0);
        self.reader.reset();
        let (mut read, mut written, mut cells) = (0, 0, 0);
        loop {
            // An empty input tells that the line is at its end.
            let (result, taken, put, ended) = self.reader.read_record(
                &line[read..],
                &mut self.text[written..],
                &mut self.ends[cells..],
            );
            (read, written, cells) = (read + taken, written + put, cells + ended);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record | ReadRecordResult::End => break,
                ReadRecordResult::OutputFull | ReadRecordResult::OutputEndsFull => {
                    unreachable!("cells are no longer than their line, and one more than commas")
                }
            }
        }
        Ok(Cells { text: &self.text[..written], ends: &self.ends[..cells] })
    }
}

impl<'s> Cells<'s> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The cell at this place, without the space around it.
    pub(super) fn at(&self, index: usize) -> &'s [u8] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        self.text[start..self.ends[index]].trim_ascii()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &str) -> Option<Vec<String>> {
        let mut splitter = Splitter::new();
        // The line before must not show.
        splitter.split(b"a,\"much, much\",longer,line").ok()?;
        let cells = splitter.split(line.as_bytes()).ok()?;
        let text = |index| String::from_utf8(cells.at(index).to_vec()).ok();
        (0..cells.len()).map(text).collect()
    }

    #[test]
    fn cells_end_at_commas_that_are_not_quoted() {
        for (line, expected) in [
            ("a,b", &["a", "b"][..]),
            ("a,,", &["a", "", ""]),
            (" a , \"b, c\"", &["a", "\"b", "c\""]),
            ("\"b, c\",d", &["b, c", "d"]),
            ("\"say \"\"no\"\"\",\r", &["say \"no\"", ""]),
            ("a\rb,c", &["a\rb", "c"]),
            ("one", &["one"]),
        ] {
            assert_eq!(
                cells(line).as_deref(),
                Some(&expected.iter().map(|cell| (*cell).to_owned()).collect::<Vec<_>>()[..]),
                "{line:?}"
            );
        }
    }

    #[test]
    fn a_quote_that_is_not_closed_ends_with_its_line() {
        assert_eq!(cells("a,\"b"), None);
    }
}
