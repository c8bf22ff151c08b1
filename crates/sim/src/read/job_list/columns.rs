//! The columns of a table of jobs, and the cells of its rows by field.

use std::collections::BTreeMap;

use super::super::error::{ReadError, Wrong, cell_text, list, shorten};
use super::super::fault::Fault;
use super::super::notebook::Notebook;
use super::super::raw::Raw;
use super::FIELDS;
use super::mapping::{ColumnFault, Mapping, advice, is_field};
use super::split::Cells;

/// The columns that are read.
pub(super) struct Columns {
    by_field: BTreeMap<String, Column>,
    count: usize,
}

/// One column.
struct Column {
    index: usize,
    /// What the header calls it.
    name: String,
    /// The unit of bare numbers, where it is given.
    unit: Option<String>,
}

/// One row.
pub(super) struct Row<'r> {
    columns: &'r Columns,
    cells: Cells<'r>,
}

impl Columns {
    /// The columns of this header, which stands on a line of that number.
    pub(super) fn open(
        header: &Cells<'_>,
        mappings: &[Mapping],
        line: u64,
        notebook: &mut Notebook,
    ) -> Result<Self, ReadError> {
        let name = |index| String::from_utf8_lossy(header.at(index)).into_owned();
        let names: Vec<String> = (0..header.len()).map(name).collect();
        let file = &notebook.file;
        let mapped = mapped(&names, mappings);
        let mut by_field =
            mapped.map_err(|fault| ReadError::Columns { file: file.clone(), fault })?;
        let refuse = |wrong: Wrong| notebook.refuse(wrong.on_line(line));
        let used: Vec<usize> = by_field.values().map(|column| column.index).collect();
        let mut unused = Vec::new();
        for (index, name) in names.iter().enumerate().filter(|(index, _)| !used.contains(index)) {
            if is_field(name) && !by_field.contains_key(name) {
                let column = Column { index, name: name.clone(), unit: None };
                by_field.insert(name.clone(), column);
            } else if mappings.is_empty() && !is_field(name) {
                let advice = advice(name, FIELDS);
                return Err(refuse(Wrong::at(name, Fault::NoField { advice })));
            } else {
                unused.push(index);
            }
        }
        for column in by_field.values() {
            let mut others = names.iter().enumerate().filter(|(index, _)| *index != column.index);
            if others.any(|(_, name)| *name == column.name) {
                let fault = Fault::Twice { name: shorten(&column.name), first: line };
                return Err(refuse(Wrong::at(&column.name, fault)));
            }
        }
        if !by_field.contains_key("name") {
            let advice = "the header must name this column, or --columns name=COLUMN map one";
            return Err(refuse(Wrong::at("name", Fault::Missing { advice })));
        }
        if !unused.is_empty() {
            let unused = list(unused.iter().map(|index| names[*index].as_str()));
            notebook.note(format!("columns that are not read: {unused}"));
        }
        Ok(Self { by_field, count: names.len() })
    }

    /// A row of these columns.
    pub(super) fn row<'r>(&'r self, cells: Cells<'r>) -> Result<Row<'r>, Wrong> {
        if cells.len() != self.count {
            let (given, wanted) = (cells.len() as u64, self.count as u64);
            return Err(Wrong::here(Fault::FieldCount { given, wanted }));
        }
        Ok(Row { columns: self, cells })
    }
}

fn mapped(names: &[String], mappings: &[Mapping]) -> Result<BTreeMap<String, Column>, ColumnFault> {
    let mut by_field: BTreeMap<String, Column> = BTreeMap::new();
    for mapping in mappings {
        let (field, column) = (mapping.field().to_owned(), mapping.column().to_owned());
        let Some(index) = names.iter().position(|name| *name == column) else {
            let advice = advice(&column, names.iter().map(String::as_str));
            return Err(ColumnFault::NoColumn { column, field, advice });
        };
        let unit = mapping.unit().map(str::to_owned);
        if let Some(first) = by_field.get(&field) {
            let first = first.name.clone();
            return Err(ColumnFault::FieldTwice { field, first, second: column });
        }
        by_field.insert(field, Column { index, name: column, unit });
    }
    Ok(by_field)
}

impl Row<'_> {
    /// The fields that the table has.
    pub(super) fn fields(&self) -> impl Iterator<Item = &str> {
        self.columns.by_field.keys().map(String::as_str)
    }

    /// Whether the row says anything of a field.
    pub(super) fn has(&self, field: &str) -> bool {
        self.cell(field).is_ok_and(|cell| cell.is_some())
    }

    /// A field as a text; nothing where its cell is empty or there is none.
    pub(super) fn text(&self, field: &str) -> Result<Option<Raw>, Wrong> {
        Ok(self.cell(field)?.map(|text| Raw::Text(text.to_owned())))
    }

    /// A field as a whole number where it is written like one, and as a text otherwise.
    pub(super) fn raw(&self, field: &str) -> Result<Option<Raw>, Wrong> {
        Ok(self.cell(field)?.map(|text| {
            let number = text.parse().ok().filter(|_| !text.starts_with('+'));
            number.map_or_else(|| Raw::Text(text.to_owned()), Raw::Whole)
        }))
    }

    /// A field as a text in which a bare number gets the unit of its column, else this one.
    pub(super) fn with_unit(&self, field: &str, unit: &str) -> Result<Option<Raw>, Wrong> {
        let Some(text) = self.cell(field)? else { return Ok(None) };
        let unit = self.columns.by_field[field].unit.as_deref().unwrap_or(unit);
        let is_bare = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        Ok(Some(Raw::Text(if is_bare { format!("{text}{unit}") } else { text.to_owned() })))
    }

    /// A fault of a field, told by the column in which it stands.
    pub(super) fn by_column(&self, field: String, fault: Fault) -> Wrong {
        let column = self.columns.by_field.get(&field).map(|column| &column.name);
        match column.unwrap_or(&field).as_str() {
            "" => Wrong::here(fault),
            column => Wrong::at(column, fault),
        }
    }

    fn cell(&self, field: &str) -> Result<Option<&str>, Wrong> {
        let Some(column) = self.columns.by_field.get(field) else { return Ok(None) };
        let text = cell_text(self.cells.at(column.index), &column.name)?;
        Ok((!text.is_empty()).then_some(text))
    }
}
