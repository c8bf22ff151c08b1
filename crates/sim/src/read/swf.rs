//! The Standard Workload Format: logs of parallel machines, as the Parallel Workloads Archive
//! keeps them.
//!
//! In come comments that begin with `;` and lines of 18 numbers; out go jobs
//! that declare what their users asked for, and the truth about them, which is
//! what the log says they did. What was the outcome of the scheduler of that
//! machine, such as the waiting time, is looked at and not used. What each
//! field becomes is in `docs/files.md`.

mod header;
mod line;
mod tally;

use std::collections::{BTreeMap, BTreeSet};

use fleet::{Alternative, Bytes, Gang, MilliCores, Request, Span, Time, Work};

use super::error::{ReadError, Wrong};
use super::fault::Fault;
use super::job_file::Template;
use super::jobs::{JOBS_MAX, Jobs};
use super::notebook::Notebook;
use super::source::Source;
use crate::workload::{Inventory, Workload};
use header::Header;
use line::{Field, Line};
use tally::Tally;

/// Who jobs with neither user nor group belong to.
const TENANT: &str = "swf";
/// The most processors of one job: no machine has had as many.
const PROCESSORS_MAX: u64 = 1 << 24;

/// How to read a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwfOptions {
    /// The most cores of one task: jobs of more processors are split into equal tasks. A job is
    /// one task where this is not given.
    pub task_cores: Option<u32>,
    /// What nodes must bear as a label.
    pub labels: BTreeSet<SwfLabel>,
}

/// A field that becomes a label which the node must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwfLabel {
    /// The number of the queue, as `queue`.
    Queue,
    /// The number of the partition, as `partition`.
    Partition,
}

impl SwfLabel {
    /// The key of the label.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Partition => "partition",
        }
    }

    fn field(self) -> Field {
        match self {
            Self::Queue => Field::Queue,
            Self::Partition => Field::Partition,
        }
    }
}

/// What all lines of a log are read with.
struct Log<'a> {
    options: &'a SwfOptions,
    /// The cores of the largest node.
    widest: MilliCores,
    tally: Tally,
    /// The line of each job number.
    numbers: BTreeMap<u64, u64>,
}

/// Reads a log.
pub(super) fn read(
    source: &mut Source<'_>,
    inventory: &Inventory,
    options: &SwfOptions,
    notebook: &mut Notebook,
) -> Result<Workload, ReadError> {
    let widest = inventory.nodes.iter().map(|node| node.cores).max().unwrap_or_default();
    let mut log = Log { options, widest, tally: Tally::default(), numbers: BTreeMap::new() };
    let mut header = Header::default();
    let mut jobs = Jobs::default();
    let mut bytes = Vec::new();
    let mut number = 0;
    while source.read_line(&mut bytes)? {
        number += 1;
        let text = bytes.trim_ascii();
        if let Some(comment) = text.strip_prefix(b";") {
            header.take_in(comment).map_err(|wrong| notebook.refuse(wrong.on_line(number)))?;
            continue;
        }
        if text.is_empty() {
            continue;
        }
        log.tally.lines += 1;
        let read = Line::of(text).and_then(|line| log.job(&line, number));
        match read.map_err(|wrong| wrong.on_line(number)) {
            Ok(None) => {}
            Ok(Some(_)) if jobs.len() == JOBS_MAX => {
                return Err(notebook.too_many(number, "jobs", JOBS_MAX));
            }
            Ok(Some((template, arrival))) => jobs.add(template, arrival),
            Err(bad) => notebook.skip(bad)?,
        }
    }
    log.tally.note(notebook);
    header.note(&log.tally, notebook);
    jobs.finish(inventory, notebook)
}

impl Log<'_> {
    /// The job of a line, or nothing where the line is of no job that ran.
    fn job(&mut self, line: &Line<'_>, number: u64) -> Result<Option<(Template, Time)>, Wrong> {
        line.check_unused()?;
        let status = line.status()?;
        let ran = line.span(Field::RunTime)?;
        if status.is_part() {
            self.tally.parts += 1;
            return Ok(None);
        }
        if status.never_ran(ran) {
            self.tally.never_ran += 1;
            return Ok(None);
        }
        let advice = "a job that is not cancelled has a run time";
        let ran = ran.ok_or_else(|| missing(Field::RunTime, advice))?;
        let arrival = line.span(Field::SubmitTime)?;
        let advice = "say when the job was submitted, in seconds";
        let arrival = arrival.ok_or_else(|| missing(Field::SubmitTime, advice))?;
        let (tasks, request) = self.request(line)?;
        // The log counts whole seconds, so a job of length zero ran for less than one.
        let truly = if ran.is_zero() { Span::seconds(1) } else { ran };
        let declared = line.span(Field::RequestedTime)?.filter(|span| !span.is_zero());
        let work = Work(declared.unwrap_or(truly).0);
        let labels = self.options.labels.iter().filter_map(|label| {
            let value = line.whole(label.field(), u64::MAX).transpose()?;
            Some(value.map(|value| (label.name().to_owned(), value.to_string())))
        });
        let labels = labels.collect::<Result<_, _>>()?;
        let tenant = tenant(line)?;
        let name = self.take_number(line, number)?;
        self.tally.take_in(line, status, (declared, ran));
        self.tally.take_in_width(request.cores, tasks);
        let template = Template {
            name,
            tenant,
            priority: 0,
            tasks,
            // Processors of one job of a log work together.
            gang: (tasks > 1).then(Gang::default),
            work: Some(work),
            true_work: Some(Work(truly.0)).filter(|truly| *truly != work),
            deadline: None,
            alternatives: vec![Alternative {
                request,
                labels,
                rates: BTreeMap::new(),
                communication: None,
            }],
            datasets: None,
        };
        Ok(Some((template, Time::ZERO.after(arrival))))
    }

    /// The job's number, which no line before may have had.
    fn take_number(&mut self, line: &Line<'_>, at: u64) -> Result<String, Wrong> {
        let advice = "every job has a number of its own";
        let number = line.whole(Field::JobNumber, u64::MAX)?;
        let number = number.ok_or_else(|| missing(Field::JobNumber, advice))?;
        match self.numbers.insert(number, at) {
            None => Ok(number.to_string()),
            Some(first) => {
                self.numbers.insert(number, first);
                let name = number.to_string();
                Err(Wrong::at(Field::JobNumber.name(), Fault::Twice { name, first }))
            }
        }
    }

    /// How many tasks, and what each asks for.
    fn request(&self, line: &Line<'_>) -> Result<(u32, Request), Wrong> {
        let requested = line.whole_above_zero(Field::RequestedProcessors, PROCESSORS_MAX)?;
        let allocated = line.whole_above_zero(Field::AllocatedProcessors, PROCESSORS_MAX)?;
        let field = match requested {
            Some(_) => Field::RequestedProcessors,
            None => Field::AllocatedProcessors,
        };
        let advice = "say how many processors the job asked for or held";
        let processors = requested.or(allocated).ok_or_else(|| missing(field, advice))?;
        let most = self.options.task_cores.map_or(processors, u64::from);
        let cores = largest_divisor(processors, most);
        if MilliCores(cores * 1000) > self.widest {
            let most = self.widest;
            return Err(Wrong::at(field.name(), Fault::TooWide { cores, most }));
        }
        let memory = self.memory(line, cores)?;
        let tasks = u32::try_from(processors / cores).expect("not more than the processors");
        Ok((tasks, Request { cores: MilliCores(cores * 1000), memory, ..Request::default() }))
    }

    /// The memory of a task of so many cores; the log has it for each processor.
    fn memory(&self, line: &Line<'_>, cores: u64) -> Result<Bytes, Wrong> {
        let known = |field| line.size(field).map(|size| size.filter(|size| !size.is_zero()));
        let (requested, used) = (known(Field::RequestedMemory)?, known(Field::UsedMemory)?);
        let field = match requested {
            Some(_) => Field::RequestedMemory,
            None => Field::UsedMemory,
        };
        let each = requested.or(used).unwrap_or_default();
        let all = each.0.checked_mul(cores).map(Bytes);
        all.ok_or_else(|| {
            let wanted = "less, since all processors together have more than 2^64 bytes";
            Wrong::at(field.name(), Fault::Range { given: line.text(field).to_owned(), wanted })
        })
    }
}

/// Who the job is accounted to: its user, else its group.
fn tenant(line: &Line<'_>) -> Result<String, Wrong> {
    let (user, group) = (line.whole(Field::User, u64::MAX)?, line.whole(Field::Group, u64::MAX)?);
    Ok(match (user, group) {
        (Some(user), _) => format!("user-{user}"),
        (None, Some(group)) => format!("group-{group}"),
        (None, None) => TENANT.to_owned(),
    })
}

/// The largest divisor of a number that is not above `most`, so that equal parts make up the whole.
fn largest_divisor(number: u64, most: u64) -> u64 {
    let low = (1..=number.isqrt()).filter(|low| number.is_multiple_of(*low));
    let both = low.flat_map(|low| [low, number / low]);
    both.filter(|divisor| *divisor <= most).max().unwrap_or(1)
}

fn missing(field: Field, advice: &'static str) -> Wrong {
    Wrong::at(field.name(), Fault::Missing { advice })
}

#[cfg(test)]
mod tests {
    use super::largest_divisor;

    #[test]
    fn parts_are_as_large_as_may_be_and_make_up_the_whole() {
        for (number, most, expected) in
            [(16, 8, 8), (16, 16, 16), (12, 5, 4), (13, 12, 1), (1, 9, 1), (36, 6, 6), (90, 44, 30)]
        {
            assert_eq!(largest_divisor(number, most), expected, "{number} in parts of {most}");
        }
    }
}
