//! One line of a log: 18 numbers, of which −1 says that it is not known.

use fleet::{Bytes, Span};

use super::super::error::{Wrong, shorten};
use super::super::fault::Fault;
use super::super::raw::SPAN_MAX;

/// The fields, in the order of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Field {
    JobNumber,
    SubmitTime,
    WaitTime,
    RunTime,
    AllocatedProcessors,
    AverageCpuTime,
    UsedMemory,
    RequestedProcessors,
    RequestedTime,
    RequestedMemory,
    Status,
    User,
    Group,
    Executable,
    Queue,
    Partition,
    PrecedingJob,
    ThinkTime,
}

/// How the fields are called in messages, in their order.
const NAMES: [&str; 18] = [
    "job_number",
    "submit_time",
    "wait_time",
    "run_time",
    "allocated_processors",
    "average_cpu_time",
    "used_memory",
    "requested_processors",
    "requested_time",
    "requested_memory",
    "status",
    "user",
    "group",
    "executable",
    "queue",
    "partition",
    "preceding_job",
    "think_time",
];

impl Field {
    /// Its name in messages.
    pub(super) fn name(self) -> &'static str {
        NAMES[self as usize]
    }
}

/// The fields of a line.
pub(super) struct Line<'l>([&'l str; 18]);

/// How a job ended, or what else a line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Unknown,
    Failed,
    Completed,
    /// A part of a job that was swapped out and in again; another line has the whole.
    Part,
    Cancelled,
}

impl Status {
    /// Whether the line is of a part of a job.
    pub(super) fn is_part(self) -> bool {
        self == Self::Part
    }

    /// Whether a job of this status and run time never ran.
    pub(super) fn never_ran(self, ran: Option<Span>) -> bool {
        match self {
            Self::Cancelled => ran.is_none_or(Span::is_zero),
            Self::Failed => ran.is_none(),
            Self::Unknown | Self::Completed | Self::Part => false,
        }
    }
}

impl<'l> Line<'l> {
    /// The fields of this text.
    pub(super) fn of(text: &'l [u8]) -> Result<Self, Wrong> {
        let text = std::str::from_utf8(text).map_err(|_| Wrong::here(Fault::Encoding))?;
        let fields: Vec<&str> = text.split_ascii_whitespace().take(19).collect();
        match fields.try_into() {
            Ok(fields) => Ok(Self(fields)),
            Err(_) => {
                let given = text.split_ascii_whitespace().count();
                Err(Wrong::here(Fault::SwfFields { given }))
            }
        }
    }

    /// A field as it stands.
    pub(super) fn text(&self, field: Field) -> &'l str {
        self.0[field as usize]
    }

    /// Checks the fields that are not used otherwise.
    pub(super) fn check_unused(&self) -> Result<(), Wrong> {
        for field in [
            Field::WaitTime,
            Field::AverageCpuTime,
            Field::Executable,
            Field::Queue,
            Field::Partition,
            Field::PrecedingJob,
            Field::ThinkTime,
        ] {
            self.number(field)?;
        }
        Ok(())
    }

    /// Whether a field is known.
    pub(super) fn knows(&self, field: Field) -> bool {
        self.number(field).is_ok_and(|number| number.is_some())
    }

    /// How the job ended.
    pub(super) fn status(&self) -> Result<Status, Wrong> {
        Ok(match self.whole(Field::Status, 5)? {
            None => Status::Unknown,
            Some(0) => Status::Failed,
            Some(1) => Status::Completed,
            Some(5) => Status::Cancelled,
            Some(_) => Status::Part,
        })
    }

    /// A whole number of at most `most`, where it is known.
    pub(super) fn whole(&self, field: Field, most: u64) -> Result<Option<u64>, Wrong> {
        let Some(text) = self.number(field)? else { return Ok(None) };
        if text.contains('.') {
            let wanted = "a whole number, or -1 where it is not known";
            return Err(of_type(field, text, wanted));
        }
        match text.parse::<u64>() {
            Ok(number) if number <= most => Ok(Some(number)),
            _ => Err(too_large(field, text)),
        }
    }

    /// The same, where 0 says as well that it is not known.
    pub(super) fn whole_above_zero(&self, field: Field, most: u64) -> Result<Option<u64>, Wrong> {
        Ok(self.whole(field, most)?.filter(|number| *number > 0))
    }

    /// A number of seconds, where it is known.
    pub(super) fn span(&self, field: Field) -> Result<Option<Span>, Wrong> {
        let Some(text) = self.number(field)? else { return Ok(None) };
        match format!("{text}s").parse::<Span>() {
            Ok(span) if span <= SPAN_MAX => Ok(Some(span)),
            Ok(_) => Err(too_large(field, text)),
            Err(error) => Err(Wrong::at(field.name(), Fault::Quantity(error))),
        }
    }

    /// A number of kilobytes, where it is known.
    pub(super) fn size(&self, field: Field) -> Result<Option<Bytes>, Wrong> {
        let Some(text) = self.number(field)? else { return Ok(None) };
        let size = format!("{text}Ki").parse();
        size.map(Some).map_err(|error| Wrong::at(field.name(), Fault::Quantity(error)))
    }

    /// The text of a number that is known.
    fn number(&self, field: Field) -> Result<Option<&'l str>, Wrong> {
        /// Enough for every number of a log, and little enough to repeat.
        const DIGITS_MAX: usize = 40;
        let text = self.text(field);
        let (sign, digits) = text.split_at(usize::from(text.starts_with('-')));
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, "0"));
        let is_number =
            |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if text.len() > DIGITS_MAX || !is_number(whole) || !is_number(decimals) {
            return Err(of_type(field, text, "a number, or -1 where it is not known"));
        }
        match sign {
            "" => Ok(Some(text)),
            _ if whole == "1" && decimals.trim_end_matches('0').is_empty() => Ok(None),
            _ => {
                let wanted = "a number that is not negative, or -1 where it is not known";
                Err(Wrong::at(field.name(), Fault::Range { given: text.to_owned(), wanted }))
            }
        }
    }
}

fn of_type(field: Field, text: &str, wanted: &'static str) -> Wrong {
    Wrong::at(field.name(), Fault::Type { given: format!("{:?}", shorten(text)), wanted })
}

fn too_large(field: Field, text: &str) -> Wrong {
    let wanted = match field {
        Field::Status => "a whole number from 0 to 5, or -1 where it is not known",
        Field::RequestedProcessors | Field::AllocatedProcessors => "at most 16777216 processors",
        Field::SubmitTime | Field::RunTime | Field::RequestedTime => {
            "at most a hundred years, in seconds"
        }
        _ => "at most 18446744073709551615",
    };
    Wrong::at(field.name(), Fault::Range { given: text.to_owned(), wanted })
}
