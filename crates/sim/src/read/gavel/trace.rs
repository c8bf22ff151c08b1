//! A trace: one job a line, in ten columns, or in the seven of older ones.

use std::collections::BTreeMap;

use fleet::{
    Alternative, Bytes, DeviceKind, DeviceRequest, Gang, Milli, Rate, Request, Span, Time, Work,
};

use super::super::error::{ReadError, Wrong, cell_text, list, shorten};
use super::super::fault::Fault;
use super::super::job_file::Template;
use super::super::jobs::{JOBS_MAX, Jobs};
use super::super::notebook::Notebook;
use super::super::raw::{SPAN_MAX, check_name};
use super::super::source::Source;
use super::rates::GavelRates;
use crate::workload::{Inventory, Workload};

/// Who the jobs belong to.
const TENANT: &str = "gavel";
/// The most steps of a job, so that its work fits in millionths.
const STEPS_MAX: u64 = u64::MAX / 1_000_000;
/// The columns of a line.
const COLUMNS: [&str; 10] = [
    "job_type",
    "command",
    "working_directory",
    "num_steps_arg",
    "needs_data_dir",
    "total_steps",
    "scale_factor",
    "priority_weight",
    "slo",
    "arrival_time",
];
/// The columns of a line of an older trace.
const OLD_COLUMNS: [&str; 7] = [
    "job_type",
    "command",
    "num_steps_arg",
    "needs_data_dir",
    "total_steps",
    "arrival_time",
    "scale_factor",
];

/// Jobs of which something is stated that no job of ours has.
#[derive(Default)]
struct Tally {
    weighted: u64,
    promised: u64,
}

/// Reads a trace.
pub(in super::super) fn read(
    source: &mut Source<'_>,
    rates: &GavelRates,
    inventory: &Inventory,
    notebook: &mut Notebook,
) -> Result<Workload, ReadError> {
    let mut jobs = Jobs::default();
    let mut tally = Tally::default();
    let mut bytes = Vec::new();
    let mut number = 0;
    while source.read_line(&mut bytes)? {
        number += 1;
        let line = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii().is_empty() {
            continue;
        }
        let read = Line::of(line).and_then(|line| job(&line, rates, &mut tally));
        match read.map_err(|wrong| wrong.on_line(number)) {
            Ok(_) if jobs.len() == JOBS_MAX => {
                return Err(notebook.too_many(number, "jobs", JOBS_MAX));
            }
            Ok((template, arrival)) => jobs.add(template, arrival),
            Err(bad) => notebook.skip(bad)?,
        }
    }
    let notes = [
        (tally.weighted, "jobs have a priority_weight other than 1, which is not used"),
        (tally.promised, "jobs have an slo, which is not used"),
    ];
    for (count, words) in notes.into_iter().filter(|(count, _)| *count > 0) {
        notebook.note(format!("{count} {words}"));
    }
    jobs.finish(inventory, notebook)
}

/// The cells of a line, with the columns that they are of.
struct Line<'l> {
    columns: &'static [&'static str],
    cells: Vec<&'l [u8]>,
}

impl<'l> Line<'l> {
    fn of(line: &'l [u8]) -> Result<Self, Wrong> {
        let cells: Vec<_> = line.split(|byte| *byte == b'\t').collect();
        let columns = match cells.len() {
            10 => &COLUMNS[..],
            7 => &OLD_COLUMNS,
            given => return Err(Wrong::here(Fault::GavelFields { given })),
        };
        Ok(Self { columns, cells })
    }

    /// The text of a column; empty where this kind of trace has no such column.
    fn text(&self, column: &'static str) -> Result<&'l str, Wrong> {
        let place = self.columns.iter().position(|name| *name == column);
        place.map_or(Ok(""), |place| cell_text(self.cells[place].trim_ascii(), column))
    }

    /// A whole number above zero.
    fn count(&self, column: &'static str, most: u64, wanted: &'static str) -> Result<u64, Wrong> {
        let text = self.text(column)?;
        match text.parse() {
            Ok(number) if (1..=most).contains(&number) => Ok(number),
            _ => Err(Wrong::at(column, Fault::Range { given: quoted(text), wanted })),
        }
    }

    /// Whether a column has another number than the one of jobs that ask for nothing.
    fn differs(&self, column: &'static str, plain: f64) -> Result<bool, Wrong> {
        let text = self.text(column)?;
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() => Ok((number - plain).abs() > f64::EPSILON),
            Err(_) if text.is_empty() => Ok(false),
            _ => Err(Wrong::at(column, Fault::Type { given: quoted(text), wanted: "a number" })),
        }
    }

    fn arrival(&self) -> Result<Time, Wrong> {
        let text = self.text("arrival_time")?;
        match format!("{text}s").parse::<Span>() {
            Ok(span) if span <= SPAN_MAX => Ok(Time::ZERO.after(span)),
            Ok(_) => {
                let wanted = "at most a hundred years, in seconds";
                Err(Wrong::at("arrival_time", Fault::Range { given: quoted(text), wanted }))
            }
            Err(error) => Err(Wrong::at("arrival_time", Fault::Quantity(error))),
        }
    }
}

fn quoted(text: &str) -> String {
    format!("{:?}", shorten(text))
}

fn job(line: &Line<'_>, rates: &GavelRates, tally: &mut Tally) -> Result<(Template, Time), Wrong> {
    let kind = line.text("job_type")?;
    check_name(kind).map_err(|wrong| wrong.inside("job_type"))?;
    let steps = line.count("total_steps", STEPS_MAX, "a whole number of steps above zero")?;
    let wanted = "a whole number of devices from 1 to 4294967295";
    let devices = line.count("scale_factor", u32::MAX.into(), wanted)?;
    let devices = u32::try_from(devices).expect("at most the largest");
    let arrival = line.arrival()?;
    tally.weighted += u64::from(line.differs("priority_weight", 1.0)?);
    tally.promised += u64::from(line.differs("slo", -1.0)?);
    let template = Template {
        name: kind.to_owned(),
        tenant: TENANT.to_owned(),
        priority: 0,
        tasks: devices,
        gang: (devices > 1).then(Gang::default),
        work: Some(Work(steps * 1_000_000)),
        true_work: None,
        deadline: None,
        alternatives: vec![alternative(kind, devices, rates)?],
        datasets: None,
    };
    Ok((template, arrival))
}

/// One device for each task, with the rates of the whole job.
fn alternative(kind: &str, devices: u32, rates: &GavelRates) -> Result<Alternative, Wrong> {
    let Some(found) = rates.find(kind, devices) else {
        let counts: Vec<_> = rates.counts(kind).map(|count| count.to_string()).collect();
        let (column, fault) = if counts.is_empty() {
            ("job_type", Fault::KindUnknown { kind: shorten(kind), known: list(rates.kinds()) })
        } else {
            let known = list(counts.iter().map(String::as_str));
            ("scale_factor", Fault::CountUnknown { kind: shorten(kind), count: devices, known })
        };
        return Err(Wrong::at(column, fault));
    };
    if found.is_empty() {
        let reason = "the table has a rate of zero for this job on every model";
        return Err(Wrong::here(Fault::Idle { reason }));
    }
    let request = DeviceRequest {
        kind: DeviceKind::Gpu,
        count: 1,
        share: Milli::WHOLE,
        memory: Bytes::ZERO,
        models: Vec::new(),
        compute_units: 0,
        capability: None,
        profile: None,
    };
    Ok(Alternative {
        request: Request { devices: Some(request), ..Request::default() },
        labels: BTreeMap::new(),
        rates: found.iter().map(|(model, rate)| (model.clone(), rounded(*rate))).collect(),
        communication: None,
    })
}

/// Measured rates have more places than ours, so that they are rounded to the nearest.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the reader's bounds")]
fn rounded(rate: f64) -> Rate {
    Rate((rate * 1e6).round() as u64)
}
