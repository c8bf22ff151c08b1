//! A CSV of jobs: one a line, under a header that names the fields.
//!
//! A header may use Motley's own names, or columns of any name are mapped to
//! them. A line becomes the same text type as a job of a workload file, so that
//! it is read and refused by the same rules; what is wrong is told by the
//! column in which it stands. `docs/files.md` lists the fields.

mod columns;
mod mapping;
mod split;

use std::collections::BTreeMap;

use fleet::{Classes, Span, Time, Work};

use super::error::{ReadError, Step, Wrong};
use super::fault::Fault;
use super::job_file::{AlternativeText, DeviceRequestText, JobText, Template, job};
use super::jobs::{JOBS_MAX, Jobs};
use super::notebook::Notebook;
use super::raw::{Raw, Strict, Table, quantity, span};
use super::source::Source;
use crate::workload::{Inventory, Workload};
use columns::{Columns, Row};
pub use mapping::{ColumnFault, Mapping, MappingError};
use split::Splitter;

/// The fields of a job, in the order in which they are listed. `label.KEY` and `rate.MODEL` come
/// on top.
const FIELDS: [&str; 23] = [
    "name",
    "tenant",
    "priority",
    "arrives",
    "tasks",
    "work",
    "duration",
    "true_work",
    "true_duration",
    "deadline",
    "cores",
    "memory",
    "gpus",
    "tpus",
    "fpgas",
    "npus",
    "qpus",
    "share",
    "device_memory",
    "models",
    "compute_units",
    "capability",
    "profile",
];
/// The fields that count devices, with their kinds.
const COUNTS: [(&str, &str); 5] =
    [("gpus", "gpu"), ("tpus", "tpu"), ("fpgas", "fpga"), ("npus", "npu"), ("qpus", "qpu")];
/// The fields that say more of devices.
const OF_DEVICES: [&str; 6] =
    ["share", "device_memory", "models", "compute_units", "capability", "profile"];
/// What begins a field that is one of many.
const LABEL: &str = "label.";
const RATE: &str = "rate.";

/// Reads a list of jobs.
pub(super) fn read(
    source: &mut Source<'_>,
    inventory: &Inventory,
    mappings: &[Mapping],
    notebook: &mut Notebook,
) -> Result<Workload, ReadError> {
    let (mut splitter, mut bytes, mut number) = (Splitter::new(), Vec::new(), 0);
    let mut columns = None;
    let mut jobs = Jobs::default();
    while source.read_line(&mut bytes)? {
        number += 1;
        let text = bytes.trim_ascii_end();
        if text.is_empty() {
            continue;
        }
        let cells = splitter.split(text).map_err(|wrong| wrong.on_line(number));
        let Some(columns) = &columns else {
            let cells = cells.map_err(|bad| notebook.refuse(bad))?;
            columns = Some(Columns::open(&cells, mappings, number, notebook)?);
            continue;
        };
        let read = cells.and_then(|cells| {
            let row = columns.row(cells);
            row.and_then(|row| read_row(&row, &inventory.classes))
                .map_err(|wrong| wrong.on_line(number))
        });
        match read {
            Ok(_) if jobs.len() == JOBS_MAX => {
                return Err(notebook.too_many(number, "jobs", JOBS_MAX));
            }
            Ok((template, arrival)) => jobs.add(template, arrival),
            Err(bad) => notebook.skip(bad)?,
        }
    }
    jobs.finish(inventory, notebook)
}

fn read_row(row: &Row<'_>, classes: &Classes) -> Result<(Template, Time), Wrong> {
    let text = job_text(row)?;
    let truly = true_work(row, text.work.is_some())?;
    let sized = job(text).and_then(|(template, arrival)| Ok((template.sized(classes)?, arrival)));
    let (mut template, arrival) =
        sized.map_err(|wrong| row.by_column(field_of(&wrong, row), wrong.fault))?;
    template.true_work = truly.filter(|work| template.work != Some(*work));
    Ok((template, arrival))
}

/// The row as a job of a workload file has it.
fn job_text(row: &Row<'_>) -> Result<JobText, Wrong> {
    let work = match (row.raw("work")?, duration(row, "duration")?) {
        (Some(_), Some(_)) => {
            let reason = "the row has `work`, which says it already";
            return Err(row.by_column("duration".to_owned(), Fault::Idle { reason }));
        }
        (work, None) => work,
        (None, Some(Work(micros))) => {
            Some(Raw::Text(format!("{}.{:06}", micros / 1_000_000, micros % 1_000_000)))
        }
    };
    let way = AlternativeText {
        cores: row.raw("cores")?,
        memory: row.with_unit("memory", "B")?,
        device: device_text(row)?.map(Strict),
        labels: table(row, LABEL)?,
        rates: table(row, RATE)?,
        numa: None,
        memory_bandwidth: None,
        network_bandwidth: None,
        communication: None,
    };
    Ok(JobText {
        name: row.text("name")?,
        tenant: row.text("tenant")?,
        priority: row.raw("priority")?,
        arrives: row.with_unit("arrives", "s")?,
        tasks: row.raw("tasks")?,
        work,
        deadline: row.with_unit("deadline", "s")?,
        gang: None,
        tasks_per_node: None,
        switches: None,
        inputs: None,
        outputs: None,
        alternative: Some(vec![Strict(way)]),
    })
}

/// A length of time as work: at a rate of one, a second is one unit.
fn duration(row: &Row<'_>, field: &str) -> Result<Option<Work>, Wrong> {
    let Some(raw) = row.with_unit(field, "s")? else { return Ok(None) };
    let span: Span = span(&raw).map_err(|wrong| row.by_column(field.to_owned(), wrong.fault))?;
    Ok(Some(Work(span.0)))
}

/// What a task really has to do, where the row says.
fn true_work(row: &Row<'_>, has_end: bool) -> Result<Option<Work>, Wrong> {
    let by_span = duration(row, "true_duration")?.map(|work| ("true_duration", "duration", work));
    let raw = row.raw("true_work")?;
    let by_work = raw.as_ref().map(quantity::<Work>).transpose();
    let by_work = by_work.map_err(|wrong| row.by_column("true_work".to_owned(), wrong.fault))?;
    let given = by_span.or(by_work.map(|work| ("true_work", "work", work)));
    let Some((field, declared, work)) = given else { return Ok(None) };
    let wrong = |fault| Err(row.by_column(field.to_owned(), fault));
    if by_span.is_some() && by_work.is_some() {
        return wrong(Fault::Idle { reason: "the row has `true_work`, which says it already" });
    }
    if !has_end || row.raw(declared)?.is_none() {
        let reason = match declared {
            "work" => "it stands against the `work` that is declared, and the row has none",
            _ => "it stands against the `duration` that is declared, and the row has none",
        };
        return wrong(Fault::Idle { reason });
    }
    if work.is_zero() {
        return wrong(Fault::Range { given: "0".to_owned(), wanted: "more than nothing" });
    }
    Ok(Some(work))
}

/// The devices that a row asks for.
fn device_text(row: &Row<'_>) -> Result<Option<DeviceRequestText>, Wrong> {
    let mut counted: Option<(&str, Raw)> = None;
    for (field, kind) in COUNTS {
        let Some(count) = row.raw(field)?.filter(|count| *count != Raw::Whole(0)) else { continue };
        if counted.is_some() {
            let reason = "a job has devices of one kind, and the row counts another already";
            return Err(row.by_column(field.to_owned(), Fault::Idle { reason }));
        }
        counted = Some((kind, count));
    }
    let Some((kind, count)) = counted else {
        for field in OF_DEVICES {
            if row.raw(field)?.is_some() {
                let reason = "the row asks for no device";
                return Err(row.by_column(field.to_owned(), Fault::Idle { reason }));
            }
        }
        return Ok(None);
    };
    let models = row.text("models")?.map(|models| match models {
        Raw::Text(names) => names.split('|').map(|name| Raw::Text(name.to_owned())).collect(),
        other => vec![other],
    });
    Ok(Some(DeviceRequestText {
        kind: Some(Raw::Text(kind.to_owned())),
        count: Some(count),
        share: row.raw("share")?,
        memory: row.with_unit("device_memory", "B")?,
        models,
        compute_units: row.raw("compute_units")?,
        capability: row.text("capability")?,
        pcie_bandwidth: None,
        profile: row.text("profile")?,
    }))
}

/// The columns that begin with `start`, by the rest of their names.
fn table(row: &Row<'_>, start: &str) -> Result<Option<Table<Raw>>, Wrong> {
    let mut table = BTreeMap::new();
    for field in row.fields().filter(|field| field.starts_with(start)) {
        let value = if start == LABEL { row.text(field)? } else { row.raw(field)? };
        if let Some(value) = value {
            table.insert(field[start.len()..].to_owned(), value);
        }
    }
    Ok((!table.is_empty()).then_some(Table(table)))
}

/// The field of a row that became the field of a workload file at the end of this path.
fn field_of(wrong: &Wrong, row: &Row<'_>) -> String {
    let names: Vec<&str> = wrong
        .path()
        .filter_map(|step| match step {
            Step::Field(name) => Some(name.as_str()),
            Step::Item(_) => None,
        })
        .collect();
    match names[..] {
        ["work"] if row.has("duration") => "duration".to_owned(),
        ["alternative", "rates", model] => format!("{RATE}{model}"),
        ["alternative", "labels", key] => format!("{LABEL}{key}"),
        ["alternative", "device", "memory"] => "device_memory".to_owned(),
        ["alternative", "device", "count"] => {
            let is_given = |field: &str| {
                row.raw(field).is_ok_and(|raw| raw.is_some_and(|raw| raw != Raw::Whole(0)))
            };
            let counted = COUNTS.iter().find(|(field, _)| is_given(field));
            counted.map_or("gpus", |(field, _)| field).to_owned()
        }
        ["alternative"] | [] => String::new(),
        [.., last] => last.to_owned(),
    }
}
