//! What can be wrong with one value, and what to do about it.

use fleet::parse::ParseError;
use fleet::{DeviceKind, MilliCores, Span, TopologyFault};
use thiserror::Error;

/// What is wrong with one value, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// A field that must be there is not.
    #[error("is missing; {advice}")]
    Missing {
        /// What to do.
        advice: &'static str,
    },
    /// A value of the wrong type.
    #[error("is {given}, but must be {wanted}")]
    Type {
        /// What was given.
        given: String,
        /// What would be right.
        wanted: &'static str,
    },
    /// A number that is too small or too large.
    #[error("is {given}; give {wanted}")]
    Range {
        /// What was given.
        given: String,
        /// What would be right.
        wanted: &'static str,
    },
    /// Not the quantity that it should be.
    #[error("{0}")]
    Quantity(ParseError),
    /// A word that is not one of a few.
    #[error("is {given:?}; use one of {words}")]
    Word {
        /// What was given.
        given: String,
        /// What would be right.
        words: String,
    },
    /// A name that is empty or has control characters.
    #[error("is {given:?}; a name has at least one character and no control characters")]
    Name {
        /// What was given.
        given: String,
    },
    /// The text is not TOML or JSON, or has a field that does not belong.
    #[error("{detail}")]
    Shape {
        /// What the parser said.
        detail: String,
    },
    /// A text of a table that is longer than any name or number.
    #[error("a text of {given} bytes; at most {most}")]
    TextLong {
        /// How long it is.
        given: usize,
        /// How long it may be.
        most: usize,
    },
    /// Bytes that are not UTF-8.
    #[error("is not UTF-8 text; save the file in that encoding")]
    Encoding,
    /// A format version that this reader does not know.
    #[error("is {given}, but this reader knows format 1 only; use a newer motley")]
    Version {
        /// What was given.
        given: String,
    },
    /// Two entries of one name where it must be unique.
    #[error("{name:?} is given twice, first in line {first}; rename one")]
    Twice {
        /// The name.
        name: String,
        /// Where it was given first.
        first: u64,
    },
    /// A node with a device class that the file does not describe.
    #[error("the model {model:?} is not described; add [device.{model}] or use one of {known}")]
    ModelUnknown {
        /// The model.
        model: String,
        /// The models there are.
        known: String,
    },
    /// A processor where another device belongs, or the other way round.
    #[error("{model:?} is a {kind}; {advice}")]
    KindWrong {
        /// The model.
        model: String,
        /// Its kind.
        kind: DeviceKind,
        /// What to do.
        advice: &'static str,
    },
    /// A field that has no meaning together with another.
    #[error("has no effect here: {reason}; leave it out")]
    Idle {
        /// Why not.
        reason: &'static str,
    },
    /// More power idle than busy.
    #[error("idle power is larger than busy power; swap them or correct one")]
    PowerFalls,
    /// Two profiles of one name on one class.
    #[error("the profile {name:?} is given twice; rename one")]
    ProfileTwice {
        /// The name.
        name: String,
    },
    /// A slice into which no device that would do can be cut.
    #[error("no device that would do has the profile {name:?}; {known}")]
    ProfileUnknown {
        /// The name.
        name: String,
        /// What there is.
        known: String,
    },
    /// A device of which it is not known which slices it can be cut into.
    #[error(
        "no MIG profiles are known of {model:?} with {memory} of memory, only of an A100 with 40 or \
         80 GB and an H100 with 80 GB; write share = \"slices\" and the profiles"
    )]
    MigUnknown {
        /// The model.
        model: String,
        /// How much memory it has.
        memory: String,
    },
    /// A profile that is of two sizes.
    #[error(
        "the profile {name:?} is not of the same size on {models}; name the models that will do"
    )]
    ProfileUneven {
        /// The name.
        name: String,
        /// Two models that differ.
        models: String,
    },
    /// Something inside a node that cannot be.
    #[error("{0}; correct one of the two")]
    Topology(TopologyFault),
    /// All nodes together are more than a total can hold.
    #[error("the fleet's total of {what} passes the largest number there is; correct the entry")]
    Total {
        /// Of what.
        what: &'static str,
    },
    /// A share of several devices.
    #[error("a share below 1 goes with a count of 1, not {count}; ask for whole devices or one")]
    ShareOfMany {
        /// The count.
        count: u32,
    },
    /// A job that asks for nothing.
    #[error("asks for neither cores nor a device; give at least one")]
    NothingAsked,
    /// A deadline that cannot be met.
    #[error("the deadline is not after the arrival; it is a span counted from there, like \"2h\"")]
    DeadlineBeforeArrival,
    /// A stream that runs on for too long.
    #[error("the stream's last job would arrive after {most}; lower `count` or `every`")]
    StreamTooLong {
        /// The latest arrival there may be.
        most: Span,
    },
    /// A switch that is not described.
    #[error("the switch {name:?} is not described; add [switch.{name}] or use one of {known}")]
    SwitchUnknown {
        /// The switch.
        name: String,
        /// Those that are described.
        known: String,
    },
    /// A switch above itself.
    #[error("the switch {name:?} is above itself; give the highest switch no `parent`")]
    SwitchCircle {
        /// The switch.
        name: String,
    },
    /// An outage of a node that is not there.
    #[error("the fleet has no node {name:?}")]
    NodeUnknown {
        /// The name.
        name: String,
    },
    /// A node that is not in the fleet.
    #[error("the fleet has no node {name:?}{}", hint(nearest.as_deref()))]
    NodeUnlike {
        /// The name.
        name: String,
        /// The name of a node that it is most like.
        nearest: Option<String>,
    },
    /// A device model that is not in the fleet.
    #[error("the fleet has no model {model:?}; use one of {known}")]
    ClassUnlike {
        /// The model.
        model: String,
        /// The models there are.
        known: String,
    },
    /// True rates of a job that is not there.
    #[error("no job or stream has the name {name:?}")]
    JobUnknown {
        /// The name.
        name: String,
    },
    /// A true rate on a model on which no job of that name could run.
    #[error("no job named {name:?} has a rate for {model:?}; declare one, or leave this one out")]
    RateUnread {
        /// The name.
        name: String,
        /// The model.
        model: String,
    },
    /// Two outages of one node at a time.
    #[error("overlaps with another outage of {name}; join them or move one")]
    OutageOverlap {
        /// The node.
        name: String,
    },
    /// A pod that ends before it starts.
    #[error("is {given}, before {start}, which is {earlier}")]
    EndsBefore {
        /// What was given.
        given: u64,
        /// The column that should be earlier.
        start: &'static str,
        /// What that is.
        earlier: u64,
    },
    /// A line with too many or too few fields.
    #[error("has {given} fields, but the header has {wanted}")]
    FieldCount {
        /// How many it has.
        given: u64,
        /// How many it should have.
        wanted: u64,
    },
    /// A column that is not part of the format.
    #[error("is not a column of this format; the columns are {known}")]
    ColumnUnknown {
        /// The columns there are.
        known: String,
    },
    /// A column of a job list that is no field of a job.
    #[error("is not a field of a job; {advice}, or map the columns (--columns FIELD=COLUMN)")]
    NoField {
        /// What to do.
        advice: String,
    },
    /// A quote that is not closed on its line.
    #[error(
        "has a quote that is not closed; a field ends on its line, and \"\" stands for a quote"
    )]
    QuoteOpen,
    /// A line of a log that has not the fields of its format.
    #[error("has {given} fields, but a line of the Standard Workload Format has 18")]
    SwfFields {
        /// How many it has.
        given: usize,
    },
    /// A line of a trace that has not the fields of its format.
    #[error("has {given} fields, but a line of a trace of Gavel's has 10, or 7 in older ones")]
    GavelFields {
        /// How many it has.
        given: usize,
    },
    /// A kind of job of which there are no rates.
    #[error("the table of rates has no job {kind:?}; add it, or use one of {known}")]
    KindUnknown {
        /// The kind of job.
        kind: String,
        /// The kinds there are.
        known: String,
    },
    /// A number of devices for which there are no rates.
    #[error("the table of rates has {kind:?} on {known} devices, not on {count}; add them")]
    CountUnknown {
        /// The kind of job.
        kind: String,
        /// How many devices were asked for.
        count: u32,
        /// The numbers there are.
        known: String,
    },
    /// A version of a log that this reader does not know.
    #[error("is {given:?}, but this reader knows the Standard Workload Format up to version 2")]
    SwfVersion {
        /// What was given.
        given: String,
    },
    /// A job that no node can hold.
    #[error(
        "asks for {cores} cores on one node, and no node has more than {most}; split such jobs \
         into tasks (--task-cores N), or leave them out (--skip-bad)"
    )]
    TooWide {
        /// How many it asks for.
        cores: u64,
        /// The cores of the largest node.
        most: MilliCores,
    },
}

/// The word to write instead, where there is one.
fn hint(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| format!("; did you mean {nearest:?}?"))
}
