//! Readers: files of fleets and workloads into valid types.
//!
//! In comes text in one of a few formats, told apart by its first bytes and
//! never by a file's name, gzip or not: Motley's own fleet file (TOML) and
//! workload file (TOML or JSON lines), a CSV of jobs, logs in the Standard
//! Workload Format, and the node and pod lists of the openb trace (CSV). Out
//! goes an [`Inventory`] or a [`Workload`] that nothing later needs to check,
//! or a [`ReadError`] with file, line, field, reason and what to do. Nothing is
//! dropped in silence: bad entries stop the reading, or are counted where the
//! caller wants to go on without them. `docs/files.md`
//! describes the formats.

mod datasets;
mod document;
mod draw;
mod error;
mod fault;
mod fleet_file;
mod gavel;
mod profiles;
mod topology_file;
mod job_file;
mod job_list;
mod jobs;
mod links;
mod nodes;
mod notebook;
mod openb;
mod raw;
mod signals;
mod source;
mod switches;
mod swf;
mod workload_file;
mod world_file;

use std::io::BufRead;
use std::path::Path;

use fleet::{Catalogue, Signals};

pub use error::{BadLine, Limit, ReadError};
pub use fault::Fault;
pub use gavel::GavelRates;
pub use job_list::{ColumnFault, Mapping, MappingError};
pub use swf::{SwfLabel, SwfOptions};

use crate::workload::{Inventory, Workload};
use error::{Within, Wrong};
use notebook::Notebook;
use raw::Raw;
use source::{Format, Source, open};

/// How to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Go on after a bad entry, leaving it out.
    pub skip_bad: bool,
    /// When the pods of an openb list arrive; chosen by its columns where not given.
    pub arrivals: Option<Arrivals>,
    /// Draws the streams of a workload file.
    pub seed: u64,
    /// Which columns of a CSV of jobs are which fields; columns of the fields' own names need none.
    pub columns: Vec<Mapping>,
    /// How to read a log in the Standard Workload Format.
    pub swf: SwfOptions,
}

/// When the pods of an openb list arrive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Arrivals {
    /// When they were created; they run for as long as they did.
    Timed,
    /// One a second, in the order of the list; they run without end.
    Order,
}

impl Arrivals {
    /// The name used on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Timed => "timed",
            Self::Order => "order",
        }
    }
}

/// What was read, and what was noticed meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read<T> {
    /// What was read.
    pub value: T,
    /// The first bad entries that were skipped.
    pub skipped: Vec<BadLine>,
    /// How many bad entries were skipped.
    pub skipped_count: u64,
    /// Remarks for the user, each a sentence without full stop.
    pub notes: Vec<String>,
}

/// Reads a fleet from a file.
///
/// # Errors
/// If the file cannot be read, is no fleet, or has a bad entry that is not to be skipped.
pub fn inventory(path: &Path, options: &Options) -> Result<Read<Inventory>, ReadError> {
    inventory_from(open(path)?, &path.display().to_string(), options)
}

/// Reads a workload from a file. The inventory is asked for the nodes that outages name.
///
/// # Errors
/// If the file cannot be read, is no workload, or has a bad entry that is not to be skipped.
pub fn workload(
    path: &Path,
    inventory: &Inventory,
    options: &Options,
) -> Result<Read<Workload>, ReadError> {
    workload_from(open(path)?, &path.display().to_string(), inventory, options)
}

/// Reads a catalogue of datasets on the nodes of an inventory from a file.
///
/// # Errors
/// If the file cannot be read, is no catalogue, or has a bad entry that is not to be skipped.
pub fn catalogue(
    path: &Path,
    inventory: &Inventory,
    options: &Options,
) -> Result<Read<Catalogue>, ReadError> {
    catalogue_from(open(path)?, &path.display().to_string(), inventory, options)
}

/// Reads a fleet from a reader; `file` is its name in messages.
///
/// # Errors
/// As for [`inventory`].
pub fn inventory_from(
    reader: impl BufRead,
    file: &str,
    options: &Options,
) -> Result<Read<Inventory>, ReadError> {
    let mut source = Source::detect(reader, file)?;
    let mut notebook = Notebook::new(file, options.skip_bad);
    let advice = match source.format {
        Format::OpenbNodes => {
            let inventory = openb::read_nodes(source, &mut notebook)?;
            return Ok(notebook.finish(inventory));
        }
        Format::Toml => {
            let inventory = fleet_file::read(source.read_all()?, &mut notebook)?;
            return Ok(notebook.finish(inventory));
        }
        Format::JobList => {
            "give it as the jobs; a node list has the columns sn,cpu_milli,memory_mib,gpu,model"
        }
        Format::OpenbPods | Format::JsonLines | Format::Swf => "give it as the jobs",
    };
    let wanted = "a fleet file or an openb node list";
    Err(ReadError::WrongKind { file: source.file, found: source.format.words(), wanted, advice })
}

/// Reads a workload from a reader; `file` is its name in messages.
///
/// # Errors
/// As for [`workload`].
pub fn workload_from(
    reader: impl BufRead,
    file: &str,
    inventory: &Inventory,
    options: &Options,
) -> Result<Read<Workload>, ReadError> {
    let mut source = Source::detect(reader, file)?;
    if !options.columns.is_empty() && source.format.is_csv() {
        source.format = Format::JobList;
    }
    check_options(options, &source)?;
    let mut notebook = Notebook::new(file, options.skip_bad);
    let workload = match source.format {
        Format::OpenbPods => openb::read_pods(source, inventory, options.arrivals, &mut notebook)?,
        Format::JobList => job_list::read(&mut source, inventory, &options.columns, &mut notebook)?,
        Format::JsonLines => workload_file::read_json_lines(&mut source, inventory, &mut notebook)?,
        Format::Swf => swf::read(&mut source, inventory, &options.swf, &mut notebook)?,
        Format::Toml => {
            let bytes = source.read_all()?;
            workload_file::read_toml(bytes, inventory, options.seed, &mut notebook)?
        }
        Format::OpenbNodes => {
            let found = source.format.words();
            let (wanted, advice) = ("a workload file or an openb pod list", "give it as the fleet");
            return Err(ReadError::WrongKind { file: source.file, found, wanted, advice });
        }
    };
    Ok(notebook.finish(workload))
}

/// Whether a file is a list of openb pods, of which the arrivals can be chosen.
///
/// # Errors
/// If the file cannot be read.
pub fn is_pod_list(path: &Path) -> Result<bool, ReadError> {
    let source = Source::detect(open(path)?, &path.display().to_string())?;
    Ok(source.format == Format::OpenbPods)
}

/// Refuses options that a file of this format would not be read by.
fn check_options(options: &Options, source: &Source<'_>) -> Result<(), ReadError> {
    let (file, format) = (source.file.clone(), source.format);
    if options.arrivals.is_some() && !matches!(format, Format::OpenbNodes | Format::OpenbPods) {
        return Err(ReadError::ArrivalsGiven { file });
    }
    let of_swf = "a log in the Standard Workload Format";
    let idle = [
        (!options.columns.is_empty(), Format::JobList, "a map of columns", "a CSV of jobs"),
        (options.swf.task_cores.is_some(), Format::Swf, "the size of tasks", of_swf),
        (!options.swf.labels.is_empty(), Format::Swf, "a choice of labels", of_swf),
    ];
    match idle.into_iter().find(|(is_given, only, ..)| *is_given && *only != format) {
        Some((_, _, option, only)) => {
            Err(ReadError::OptionIdle { file, option, only, found: format.words() })
        }
        None => Ok(()),
    }
}

/// Reads a catalogue from a reader; `file` is its name in messages.
///
/// # Errors
/// As for [`catalogue`].
pub fn catalogue_from(
    reader: impl BufRead,
    file: &str,
    inventory: &Inventory,
    options: &Options,
) -> Result<Read<Catalogue>, ReadError> {
    let bytes = toml(reader, file, "a catalogue of datasets")?;
    let mut notebook = Notebook::new(file, options.skip_bad);
    let catalogue = datasets::read(bytes, inventory, &mut notebook)?;
    Ok(notebook.finish(catalogue))
}

/// Reads signals about the nodes and models of an inventory from a file.
///
/// # Errors
/// If the file cannot be read, has no signals, or has a bad one that is not to be skipped.
pub fn signals(
    path: &Path,
    inventory: &Inventory,
    options: &Options,
) -> Result<Read<Signals>, ReadError> {
    signals_from(open(path)?, &path.display().to_string(), inventory, options)
}

/// Reads signals from a reader; `file` is its name in messages.
///
/// # Errors
/// As for [`signals()`].
pub fn signals_from(
    reader: impl BufRead,
    file: &str,
    inventory: &Inventory,
    options: &Options,
) -> Result<Read<Signals>, ReadError> {
    let bytes = toml(reader, file, "a file of signals")?;
    let mut notebook = Notebook::new(file, options.skip_bad);
    let signals = signals::read(bytes, inventory, &mut notebook)?;
    Ok(notebook.finish(signals))
}

/// Reads Gavel's table of rates from a file.
///
/// # Errors
/// If the file cannot be read, is no such table, or has a bad entry that is not to be skipped.
pub fn gavel_rates(path: &Path, options: &Options) -> Result<Read<GavelRates>, ReadError> {
    gavel_rates_from(open(path)?, &path.display().to_string(), options)
}

/// Reads Gavel's table of rates from a reader; `file` is its name in messages.
///
/// # Errors
/// As for [`gavel_rates`].
pub fn gavel_rates_from(
    reader: impl BufRead,
    file: &str,
    options: &Options,
) -> Result<Read<GavelRates>, ReadError> {
    let mut source = Source::detect(reader, file)?;
    if source.format != Format::JsonLines {
        let (found, wanted) = (source.format.words(), "a table of rates in JSON");
        let advice = "give simulation_throughputs.json, or a file of that form";
        return Err(ReadError::WrongKind { file: source.file, found, wanted, advice });
    }
    let mut notebook = Notebook::new(file, options.skip_bad);
    let rates = gavel::read_rates(&mut source, &mut notebook)?;
    Ok(notebook.finish(rates))
}

/// Reads the jobs of a trace of Gavel's from a file. The table has their rates; the inventory is
/// asked for the models of the nodes.
///
/// # Errors
/// If the file cannot be read, or has a bad line that is not to be skipped.
pub fn gavel_trace(
    path: &Path,
    known: (&GavelRates, &Inventory),
    options: &Options,
) -> Result<Read<Workload>, ReadError> {
    gavel_trace_from(open(path)?, &path.display().to_string(), known, options)
}

/// Reads the jobs of a trace of Gavel's from a reader; `file` is its name in messages.
///
/// # Errors
/// As for [`gavel_trace`].
pub fn gavel_trace_from(
    reader: impl BufRead,
    file: &str,
    (rates, inventory): (&GavelRates, &Inventory),
    options: &Options,
) -> Result<Read<Workload>, ReadError> {
    let mut source = Source::detect(reader, file)?;
    let mut notebook = Notebook::new(file, options.skip_bad);
    let workload = gavel::read_trace(&mut source, rates, inventory, &mut notebook)?;
    Ok(notebook.finish(workload))
}

/// The bytes of a file that can be nothing but TOML.
fn toml(reader: impl BufRead, file: &str, wanted: &'static str) -> Result<Vec<u8>, ReadError> {
    let mut source = Source::detect(reader, file)?;
    if source.format != Format::Toml {
        let (found, advice) = (source.format.words(), "give it as the fleet or the jobs");
        return Err(ReadError::WrongKind { file: source.file, found, wanted, advice });
    }
    source.read_all()
}

/// Refuses a format version other than 1, the only one so far.
fn check_format(raw: &Raw) -> Result<(), Wrong> {
    match raw {
        Raw::Whole(1) => Ok(()),
        _ => Err(Wrong::here(Fault::Version { given: raw.to_string() })).within("format"),
    }
}
