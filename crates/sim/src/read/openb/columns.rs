//! Rows of a CSV file whose header names the columns.

use super::super::error::{BadLine, ReadError, Within, Wrong, cell_text, list, shorten};
use super::super::fault::Fault;
use super::super::notebook::Notebook;
use super::super::source::{Bounded, Source, failure};

/// The rows of a list.
pub(super) struct Rows<'a> {
    reader: csv::Reader<std::io::BufReader<Bounded<'a>>>,
    record: csv::ByteRecord,
    columns: Vec<String>,
    file: String,
    gzip: bool,
}

/// One row.
pub(super) struct Row<'r> {
    record: &'r csv::ByteRecord,
    columns: &'r [String],
    /// Its line.
    pub(super) line: u64,
}

impl<'a> Rows<'a> {
    /// Reads the header. Each column must be one of `required` or `optional`, and all of
    /// `required` must be there.
    pub(super) fn open(
        source: Source<'a>,
        required: &[&str],
        optional: &[&str],
        notebook: &Notebook,
    ) -> Result<Self, ReadError> {
        let Source { file, bytes, gzip, .. } = source;
        let mut reader = csv::ReaderBuilder::new().quoting(false).from_reader(bytes);
        let header = match reader.byte_headers() {
            Ok(header) => header.clone(),
            Err(error) => return Err(broken(error, &file, gzip)),
        };
        let columns = check_header(&header, required, optional);
        let columns = columns.map_err(|wrong| notebook.refuse(wrong.on_line(1)))?;
        Ok(Self { reader, record: csv::ByteRecord::new(), columns, file, gzip })
    }

    /// Whether the list has this column.
    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.iter().any(|known| known == column)
    }

    /// The next row; a bad one is the inner error.
    pub(super) fn next(&mut self) -> Result<Option<Result<Row<'_>, BadLine>>, ReadError> {
        match self.reader.read_byte_record(&mut self.record) {
            Ok(false) => Ok(None),
            Ok(true) => {
                let line = self.record.position().map_or(0, csv::Position::line);
                Ok(Some(Ok(Row { record: &self.record, columns: &self.columns, line })))
            }
            Err(error) => match error.kind() {
                csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
                    let fault = Fault::FieldCount { given: *len, wanted: *expected_len };
                    let line = pos.as_ref().map_or(0, csv::Position::line);
                    Ok(Some(Err(Wrong::here(fault).on_line(line))))
                }
                _ => Err(broken(error, &self.file, self.gzip)),
            },
        }
    }
}

fn check_header(
    header: &csv::ByteRecord,
    required: &[&str],
    optional: &[&str],
) -> Result<Vec<String>, Wrong> {
    let mut columns: Vec<String> = Vec::new();
    for bytes in header {
        let column = String::from_utf8_lossy(bytes).into_owned();
        if columns.contains(&column) {
            let fault = Fault::Twice { name: shorten(&column), first: 1 };
            return Err(Wrong::at(&column, fault));
        }
        if !required.iter().chain(optional).any(|known| *known == column) {
            let known = list(required.iter().chain(optional).copied());
            return Err(Wrong::at(&column, Fault::ColumnUnknown { known }));
        }
        columns.push(column);
    }
    match required.iter().find(|needed| !columns.iter().any(|column| column == *needed)) {
        Some(needed) => {
            let advice = "the header must name this column";
            Err(Wrong::at(needed, Fault::Missing { advice }))
        }
        None => Ok(columns),
    }
}

fn broken(error: csv::Error, file: &str, gzip: bool) -> ReadError {
    let source = match error.into_kind() {
        csv::ErrorKind::Io(source) => source,
        other => std::io::Error::other(format!("{other:?}")),
    };
    failure(file.to_owned(), gzip, source)
}

impl Row<'_> {
    /// The text of a column; empty where the list does not have it.
    pub(super) fn text(&self, column: &str) -> Result<&str, Wrong> {
        let index = self.columns.iter().position(|known| known == column);
        let bytes = index.and_then(|index| self.record.get(index)).unwrap_or_default();
        cell_text(bytes, column)
    }

    /// The whole number of a column, at most `most`.
    pub(super) fn number(
        &self,
        column: &str,
        most: u64,
        wanted: &'static str,
    ) -> Result<u64, Wrong> {
        let text = self.text(column)?;
        if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
            let given = format!("{:?}", shorten(text));
            return Err(Wrong::here(Fault::Type { given, wanted })).within(column);
        }
        match text.parse::<u64>() {
            Ok(number) if number <= most => Ok(number),
            _ => Err(Wrong::at(column, Fault::Range { given: shorten(text), wanted })),
        }
    }

    /// The same, or nothing where the column is empty.
    pub(super) fn number_if_any(
        &self,
        column: &str,
        most: u64,
        wanted: &'static str,
    ) -> Result<Option<u64>, Wrong> {
        match self.text(column)? {
            "" => Ok(None),
            _ => self.number(column, most, wanted).map(Some),
        }
    }
}
