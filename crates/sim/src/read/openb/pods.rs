//! openb pods into a workload.

use std::collections::BTreeMap;

use fleet::{
    Alternative, Bytes, DeviceKind, DeviceRequest, Milli, MilliCores, Request, Span, Time, Work,
};

use super::super::Arrivals;
use super::super::error::{ReadError, Wrong};
use super::super::fault::Fault;
use super::super::job_file::Template;
use super::super::jobs::{JOBS_MAX, Jobs};
use super::super::notebook::Notebook;
use super::super::raw::{SPAN_MAX, check_name};
use super::super::source::Source;
use super::columns::{Row, Rows};
use crate::workload::{Inventory, Workload};

const REQUIRED: [&str; 5] = ["name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli"];
const OPTIONAL: [&str; 6] =
    ["gpu_spec", "qos", "pod_phase", "creation_time", "deletion_time", "scheduled_time"];
const TIMES: [&str; 3] = ["creation_time", "deletion_time", "scheduled_time"];
/// Who pods of a list without the column `qos` belong to.
const TENANT: &str = "openb";
/// The latest second, so that sums of times stay far from the end of time.
const SECONDS_MAX: u64 = SPAN_MAX.0 / 1_000_000;

/// What the times of the pods were like.
#[derive(Default)]
struct Tally {
    /// Pods that were never scheduled: they ran from creation to deletion.
    unscheduled: u64,
    /// Pods without deletion: they run without end.
    endless: u64,
    /// Pods of no length: they run for a second.
    instant: u64,
}

/// Reads a list of pods.
pub(in super::super) fn read_pods(
    source: Source<'_>,
    inventory: &Inventory,
    arrivals: Option<Arrivals>,
    notebook: &mut Notebook,
) -> Result<Workload, ReadError> {
    let mut rows = Rows::open(source, &REQUIRED, &OPTIONAL, notebook)?;
    let arrivals = choose_arrivals(&rows, arrivals, notebook)?;
    if rows.has("pod_phase") {
        notebook.note("column pod_phase is not used: it says how the pod once ended".to_owned());
    }
    let mut jobs = Jobs::default();
    let mut tally = Tally::default();
    let mut place = 0;
    while let Some(row) = rows.next()? {
        let second = place;
        place += 1;
        let read = |row: Row<'_>| {
            read_row(&row, arrivals, second, &mut tally).map_err(|wrong| wrong.on_line(row.line))
        };
        match row.and_then(read) {
            Ok(_) if jobs.len() == JOBS_MAX => {
                // The header is line 1, and every row has one line.
                return Err(notebook.too_many(place + 1, "jobs", JOBS_MAX));
            }
            Ok((template, arrival)) => jobs.add(template, arrival),
            Err(bad) => notebook.skip(bad)?,
        }
    }
    tally.note(notebook);
    jobs.finish(inventory, notebook)
}

fn choose_arrivals(
    rows: &Rows<'_>,
    arrivals: Option<Arrivals>,
    notebook: &mut Notebook,
) -> Result<Arrivals, ReadError> {
    let absent = TIMES.into_iter().find(|column| !rows.has(column));
    match (arrivals, absent) {
        (Some(Arrivals::Order), None) => {
            let note = "the times of the list are not used: pods arrive one a second, in order";
            notebook.note(note.to_owned());
            Ok(Arrivals::Order)
        }
        (Some(Arrivals::Timed), Some(column)) => {
            Err(ReadError::Untimed { file: notebook.file.clone(), column })
        }
        (None, Some(_)) => {
            let note = "the list has no times: pods arrive one a second, in order, and do not end";
            notebook.note(note.to_owned());
            Ok(Arrivals::Order)
        }
        (Some(arrivals), _) => Ok(arrivals),
        (None, None) => Ok(Arrivals::Timed),
    }
}

fn read_row(
    row: &Row<'_>,
    arrivals: Arrivals,
    place: u64,
    tally: &mut Tally,
) -> Result<(Template, Time), Wrong> {
    let name = row.text("name")?;
    check_name(name).map_err(|wrong| wrong.inside("name"))?;
    let tenant = match row.text("qos")? {
        "" => TENANT,
        qos => check_name(qos).map(|()| qos).map_err(|wrong| wrong.inside("qos"))?,
    };
    let alternatives = vec![alternative(row)?];
    let (arrival, work) = match arrivals {
        Arrivals::Order => (Time::seconds(place), None),
        Arrivals::Timed => times(row, tally)?,
    };
    let template = Template {
        name: name.to_owned(),
        tenant: tenant.to_owned(),
        priority: 0,
        tasks: 1,
        gang: None,
        work,
        true_work: None,
        deadline: None,
        alternatives,
        datasets: None,
    };
    Ok((template, arrival))
}

fn alternative(row: &Row<'_>) -> Result<Alternative, Wrong> {
    let cores = row.number("cpu_milli", 1_000_000_000, "milli-cores, up to 1000000000")?;
    let memory = row.number("memory_mib", u64::MAX >> 20, "a whole number of MiB")?;
    let devices = devices(row)?;
    if cores == 0 && devices.is_none() {
        return Err(Wrong::here(Fault::NothingAsked));
    }
    let (cores, memory) = (MilliCores(cores), Bytes(memory << 20));
    let request = Request { cores, memory, devices, ..Request::default() };
    Ok(Alternative {
        request,
        labels: BTreeMap::new(),
        rates: BTreeMap::new(),
        communication: None,
    })
}

fn devices(row: &Row<'_>) -> Result<Option<DeviceRequest>, Wrong> {
    let count = row.number("num_gpu", 1024, "a whole number from 0 to 1024")?;
    let count = u32::try_from(count).expect("at most 1024");
    let milli = row.number("gpu_milli", 1000, "a whole number from 0 to 1000")?;
    let milli = u32::try_from(milli).expect("at most 1000");
    let spec = row.text("gpu_spec")?;
    let share = match (count, milli) {
        (0, 0) if spec.is_empty() => return Ok(None),
        (0, 0) => {
            let reason = "the pod asks for no GPU";
            return Err(Wrong::at("gpu_spec", Fault::Idle { reason }));
        }
        (0, 1..) => {
            let reason = "the pod asks for no GPU";
            return Err(Wrong::at("gpu_milli", Fault::Idle { reason }));
        }
        (1.., 0) => {
            let wanted = "a whole number from 1 to 1000";
            return Err(Wrong::at("gpu_milli", Fault::Range { given: "0".to_owned(), wanted }));
        }
        (2.., 1..1000) => return Err(Wrong::at("gpu_milli", Fault::ShareOfMany { count })),
        (1.., _) => Milli(milli),
    };
    let models: Vec<&str> = if spec.is_empty() { Vec::new() } else { spec.split('|').collect() };
    for model in &models {
        check_name(model).map_err(|wrong| wrong.inside("gpu_spec"))?;
    }
    Ok(Some(DeviceRequest {
        kind: DeviceKind::Gpu,
        count,
        share,
        memory: Bytes::ZERO,
        models: models.into_iter().map(str::to_owned).collect(),
        compute_units: 0,
        capability: None,
        profile: None,
    }))
}

/// When the pod arrives, and its work at one unit a second.
fn times(row: &Row<'_>, tally: &mut Tally) -> Result<(Time, Option<Work>), Wrong> {
    let wanted = "whole seconds since the start, at most a hundred years";
    let created = row.number("creation_time", SECONDS_MAX, wanted)?;
    let scheduled = row.number_if_any("scheduled_time", SECONDS_MAX, wanted)?;
    let deleted = row.number_if_any("deletion_time", SECONDS_MAX, wanted)?;
    let before = |column, given, start, earlier| {
        Wrong::at(column, Fault::EndsBefore { given, start, earlier })
    };
    if let Some(scheduled) = scheduled.filter(|scheduled| *scheduled < created) {
        return Err(before("scheduled_time", scheduled, "creation_time", created));
    }
    let (start, column) = match scheduled {
        Some(scheduled) => (scheduled, "scheduled_time"),
        None => (created, "creation_time"),
    };
    let work = match deleted {
        Some(deleted) if deleted < start => {
            return Err(before("deletion_time", deleted, column, start));
        }
        Some(deleted) => {
            tally.instant += u64::from(deleted == start);
            // The trace counts whole seconds, so a pod of length zero lived for less than one.
            Some(Work(Span::seconds((deleted - start).max(1)).0))
        }
        None => {
            tally.endless += 1;
            None
        }
    };
    tally.unscheduled += u64::from(scheduled.is_none());
    Ok((Time::seconds(created), work))
}

impl Tally {
    fn note(&self, notebook: &mut Notebook) {
        let notes = [
            (self.unscheduled, "pods were never scheduled: they run for as long as they waited"),
            (self.endless, "pods have no deletion_time: they run without end"),
            (self.instant, "pods ended in the second they started: they run for one second"),
        ];
        for (count, words) in notes.into_iter().filter(|(count, _)| *count > 0) {
            notebook.note(format!("{count} {words}"));
        }
    }
}
