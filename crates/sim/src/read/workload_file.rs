//! Motley's workload files: TOML or JSON lines into a workload.
//!
//! TOML is held whole; JSON lines are read one by one. Jobs come first, in the
//! order of the file, then streams; the world is looked at last.

use serde::Deserialize;

use super::document::{Document, decode};
use super::error::{BadLine, ReadError, Wrong, shorten};
use super::fault::Fault;
use super::job_file::{JobText, StreamText, job, stream};
use super::jobs::{JOBS_MAX, Jobs};
use super::notebook::Notebook;
use super::raw::{Raw, Strict};
use super::source::Source;
use super::world_file::{WorldText, note_absent_models, world};
use crate::workload::{Inventory, Workload};

/// Reads a workload in TOML.
pub(super) fn read_toml(
    bytes: Vec<u8>,
    inventory: &Inventory,
    seed: u64,
    notebook: &mut Notebook,
) -> Result<Workload, ReadError> {
    let text = decode(bytes).map_err(|bad| notebook.refuse(bad))?;
    let document = Document::parse(&text, &["job", "stream", "world"]);
    let document = document.map_err(|bad| notebook.refuse(bad))?;
    let mut jobs = Jobs::default();
    for entry in document.list("job").map_err(|bad| notebook.refuse(bad))? {
        let read = |text: JobText| {
            let read = job(text)
                .and_then(|(template, arrival)| Ok((template.sized(&inventory.classes)?, arrival)));
            read.map_err(|wrong| entry.locate(wrong))
        };
        match entry.read().and_then(read) {
            Ok(_) if jobs.len() == JOBS_MAX => return Err(too_many(entry.line(), notebook)),
            Ok((template, arrival)) => jobs.add(template, arrival),
            Err(bad) => notebook.skip(bad)?,
        }
    }
    for entry in document.list("stream").map_err(|bad| notebook.refuse(bad))? {
        let read = |text: StreamText| {
            let read = stream(text).and_then(|(template, arriving)| {
                Ok((template.sized(&inventory.classes)?, arriving))
            });
            read.map_err(|wrong| entry.locate(wrong))
        };
        let added = match entry.read().and_then(read) {
            Ok((_, arriving)) if arriving.count > JOBS_MAX - jobs.len() => {
                return Err(too_many(entry.line(), notebook));
            }
            Ok((template, arriving)) => {
                jobs.add_stream(template, &arriving, seed).map_err(|wrong| entry.locate(wrong))
            }
            Err(bad) => Err(bad),
        };
        if let Err(bad) = added {
            notebook.skip(bad)?;
        }
    }
    let workload = jobs.finish(inventory, notebook)?;
    let Some(entry) = document.section("world") else { return Ok(workload) };
    match entry.read::<WorldText>() {
        Ok(text) => {
            let bad = |wrong| notebook.skip(entry.locate(wrong));
            let (truth, outages) = world(&text, &workload.jobs, inventory, bad)?;
            note_absent_models(&truth, inventory, notebook);
            Ok(Workload { jobs: workload.jobs, truth, outages })
        }
        Err(bad) => {
            notebook.skip(bad)?;
            Ok(workload)
        }
    }
}

/// Reads a workload in JSON lines.
pub(super) fn read_json_lines(
    source: &mut Source<'_>,
    inventory: &Inventory,
    notebook: &mut Notebook,
) -> Result<Workload, ReadError> {
    let mut jobs = Jobs::default();
    let mut told: Option<(WorldText, u64)> = None;
    let mut bytes = Vec::new();
    let mut line = 0;
    let mut is_first = true;
    while source.read_line(&mut bytes)? {
        line += 1;
        let text = bytes.trim_ascii();
        if text.is_empty() {
            continue;
        }
        match read_line(text, line) {
            Ok(Line::Format) if is_first => {}
            Ok(Line::Format) => {
                let reason = "the format stands in the first line only";
                notebook.skip(Wrong::at("format", Fault::Idle { reason }).on_line(line))?;
            }
            Ok(Line::World(text)) => match &told {
                Some((_, first)) => {
                    let fault = Fault::Twice { name: "world".to_owned(), first: *first };
                    notebook.skip(Wrong::here(fault).on_line(line))?;
                }
                None => told = Some((*text, line)),
            },
            Ok(Line::Job(_)) if jobs.len() == JOBS_MAX => return Err(too_many(line, notebook)),
            Ok(Line::Job(text)) => match job(*text)
                .and_then(|(template, arrival)| Ok((template.sized(&inventory.classes)?, arrival)))
            {
                Ok((template, arrival)) => jobs.add(template, arrival),
                Err(wrong) => notebook.skip(wrong.on_line(line))?,
            },
            Err(bad) if bad.field == "format" => return Err(notebook.refuse(bad)),
            Err(bad) => notebook.skip(bad)?,
        }
        is_first = false;
    }
    let workload = jobs.finish(inventory, notebook)?;
    let Some((text, line)) = told else { return Ok(workload) };
    let bad = |wrong: Wrong| notebook.skip(wrong.inside("world").on_line(line));
    let (truth, outages) = world(&text, &workload.jobs, inventory, bad)?;
    note_absent_models(&truth, inventory, notebook);
    Ok(Workload { jobs: workload.jobs, truth, outages })
}

fn too_many(line: u64, notebook: &Notebook) -> ReadError {
    notebook.too_many(line, "jobs", JOBS_MAX)
}

/// One JSON line.
enum Line {
    Format,
    World(Box<WorldText>),
    Job(Box<JobText>),
}

/// `{"format": 1}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FormatLine {
    format: Raw,
}

/// `{"world": {…}}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WorldLine {
    world: Strict<WorldText>,
}

fn read_line(text: &[u8], line: u64) -> Result<Line, BadLine> {
    let in_object = text.strip_prefix(b"{").unwrap_or_default().trim_ascii_start();
    if in_object.starts_with(b"\"format\"") {
        let FormatLine { format } = read_json(text, line)?;
        super::check_format(&format).map_err(|wrong| wrong.on_line(line))?;
        Ok(Line::Format)
    } else if in_object.starts_with(b"\"world\"") {
        let WorldLine { world: Strict(world) } = read_json(text, line)?;
        Ok(Line::World(Box::new(world)))
    } else {
        read_json(text, line).map(Line::Job)
    }
}

fn read_json<T: for<'de> Deserialize<'de>>(text: &[u8], line: u64) -> Result<T, BadLine> {
    serde_json::from_slice(text).map(|Strict(read)| read).map_err(|error| {
        // The parser was given one line and counts it as the first.
        let words = error.to_string();
        let place = format!(" at line {} column {}", error.line(), error.column());
        let words = shorten(words.strip_suffix(&place).unwrap_or(&words));
        let column = error.column();
        let fault = Fault::Shape { detail: format!("{words} (column {column})") };
        match words.split('`').nth(1).filter(|_| names_a_field(&words)) {
            Some(field) => Wrong::at(field, fault).on_line(line),
            None => Wrong::here(fault).on_line(line),
        }
    })
}

/// Whether a message of the parser begins with the name of the field at fault.
fn names_a_field(words: &str) -> bool {
    ["unknown field `", "duplicate field `"].iter().any(|start| words.starts_with(start))
}
