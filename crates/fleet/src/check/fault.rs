//! What can be wrong with a decision.

use std::fmt;

use thiserror::Error;

use crate::device::DeviceKind;
use crate::explanation::{Constraint, FellOut};
use crate::id::{
    Attempt, ChannelIndex, ClassId, DeviceIndex, DomainIndex, JobId, NodeId, RunId, Serial,
    TaskIndex,
};
use crate::plan::StopCause;
use crate::run::Stage;
use crate::units::{Bandwidth, Bytes, Micro, Milli, Rate, Span, Time};

/// One way in which a decision breaks the law.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[expect(missing_docs, reason = "fields are what their names and the variant's sentence say")]
pub enum Fault {
    /// The plan was made from another snapshot.
    #[error("plan was made from snapshot {plan}, not {snapshot}")]
    OtherSnapshot { plan: Serial, snapshot: Serial },
    /// The plan asks to be woken at a time that is not ahead.
    #[error("plan asks to be woken at {} µs, which is not after {} µs", wake.0, at.0)]
    WakeInThePast { wake: Time, at: Time },
    /// The plan does not ask to be woken when a job's patience or its batch ends.
    #[error(
        "plan asks to be woken at {:?} µs, and the wait of job {job} ends at {} µs",
        wake.map(|wake| wake.0), until.0
    )]
    WakeAfterPatience { wake: Option<Time>, job: JobId, until: Time },

    /// The job of a placement has no tasks waiting.
    #[error("run {run} is of a job that does not wait")]
    JobDoesNotWait { run: RunId },
    /// The task of a placement does not wait.
    #[error("run {run} is of a task that does not wait")]
    TaskDoesNotWait { run: RunId },
    /// Another attempt at the task is next.
    #[error("run {run} is not the next attempt at its task, which is {next}")]
    WrongAttempt { run: RunId, next: Attempt },
    /// The task is started twice by one plan.
    #[error("task {task} of job {job} is started twice")]
    TaskTwice { job: JobId, task: TaskIndex },
    /// The job has no such alternative.
    #[error("run {run} uses alternative {alternative} of a job with {alternatives}")]
    AlternativeUnknown { run: RunId, alternative: u16, alternatives: usize },

    /// The fleet has no such node.
    #[error("run {run} is placed on node {node}, which is not there")]
    NodeUnknown { run: RunId, node: NodeId },
    /// The node does not take work.
    #[error("run {run} is placed on node {node}, which is not up")]
    NodeNotUp { run: RunId, node: NodeId },
    /// The node does not carry a label, or with another value.
    #[error("run {run} asks for label {label} = {asked}, and node {node} has {found:?}")]
    LabelUnmet { run: RunId, node: NodeId, label: String, asked: String, found: Option<String> },
    /// The fleet has no such class.
    #[error("run {run} is reckoned on class {class}, which is not there")]
    ClassUnknown { run: RunId, class: ClassId },
    /// No device of the node is of the class.
    #[error("run {run} is reckoned on class {class}, of which node {node} has no device")]
    ClassNotOnNode { run: RunId, node: NodeId, class: ClassId },
    /// No devices are asked for, so the node's cores decide the rate.
    #[error("run {run} asks for no devices and is reckoned on {class}, not on the cores {cores}")]
    ClassNotCores { run: RunId, class: ClassId, cores: ClassId },

    /// The grant is not what the alternative asks.
    #[error("run {run} asks for {asked} {part} and is granted {granted}")]
    GrantDiffers { run: RunId, part: Part, asked: u64, granted: u64 },
    /// The node has no such device.
    #[error("run {run} is granted device {device}, which node {node} does not have")]
    DeviceUnknown { run: RunId, node: NodeId, device: DeviceIndex },
    /// One grant names a device twice.
    #[error("run {run} is granted device {device} of node {node} twice")]
    DeviceTwice { run: RunId, node: NodeId, device: DeviceIndex },
    /// The devices of a grant are not ascending.
    #[error("run {run} is granted device {device} of node {node} out of order")]
    DeviceOutOfOrder { run: RunId, node: NodeId, device: DeviceIndex },
    /// A granted device is not of the class that was reckoned with.
    #[error("run {run} is reckoned on {class}, and device {device} of node {node} is of {found}")]
    DeviceOfOtherClass {
        run: RunId,
        node: NodeId,
        device: DeviceIndex,
        class: ClassId,
        found: ClassId,
    },
    /// The class is of another kind.
    #[error("run {run} asks for kind {asked}, and class {class} is of kind {found}")]
    KindUnmet { run: RunId, class: ClassId, asked: DeviceKind, found: DeviceKind },
    /// The class is of none of the models.
    #[error("run {run} asks for one of {asked:?}, and class {class} is {found:?}")]
    ModelUnmet { run: RunId, class: ClassId, asked: Vec<String>, found: String },
    /// The devices have less memory.
    #[error("run {run} asks for device memory {asked}, and class {class} has {found}")]
    DeviceMemoryUnmet { run: RunId, class: ClassId, asked: Bytes, found: Bytes },
    /// The devices have fewer compute units.
    #[error("run {run} asks for {asked} compute units, and class {class} has {found}")]
    ComputeUnitsUnmet { run: RunId, class: ClassId, asked: u32, found: u32 },
    /// The devices do not have the capability.
    #[error("run {run} asks for {asked:?}, which class {class} cannot do")]
    CapabilityUnmet { run: RunId, class: ClassId, asked: String },
    /// A part of a device that is only given whole.
    #[error("run {run} is granted {share} of device {device} of node {node}, which is exclusive")]
    ShareOfExclusive { run: RunId, node: NodeId, device: DeviceIndex, share: Milli },
    /// The node has no such memory domain.
    #[error("run {run} is granted a part of domain {domain}, which node {node} does not have")]
    DomainUnknown { run: RunId, node: NodeId, domain: DomainIndex },
    /// The memory domains of a grant are not ascending, or one is there twice.
    #[error("run {run} is granted domain {domain} of node {node} twice or out of order")]
    DomainOutOfOrder { run: RunId, node: NodeId, domain: DomainIndex },
    /// What must be in one memory domain is not.
    #[error("run {run} asks to be in one memory domain, and on node {node} it is not")]
    DomainsSeveral { run: RunId, node: NodeId },
    /// A channel is held otherwise than the devices and what is stated ask.
    #[error(
        "run {run} moves {asked} over channel {channel} of node {node} and is granted {granted}"
    )]
    ChannelDiffers {
        run: RunId,
        node: NodeId,
        channel: ChannelIndex,
        asked: Bandwidth,
        granted: Bandwidth,
    },
    /// The node has no such channel, or it is named twice or out of order.
    #[error(
        "run {run} is granted channel {channel} of node {node}, unknown, twice or out of order"
    )]
    ChannelOutOfOrder { run: RunId, node: NodeId, channel: ChannelIndex },
    /// What is stated for the network is not granted of one NIC.
    #[error("run {run} moves {asked} over the network and is granted {granted} of {nics} NICs")]
    NicsDiffer { run: RunId, asked: Bandwidth, granted: Bandwidth, nics: usize },
    /// A slice is asked for that the class cannot be cut into, or another size is granted.
    #[error(
        "run {run} asks for a slice {asked:?}, which class {class} cannot be cut into like this"
    )]
    ProfileUnmet { run: RunId, class: ClassId, asked: String },
    /// The slots of a grant are none at which the slice may be.
    #[error(
        "run {run} is granted slots {slots:#b} of device {device}, where the slice has no place"
    )]
    SlotsMisplaced { run: RunId, device: DeviceIndex, slots: u16 },
    /// The slots of a grant are taken.
    #[error("run {run} is granted slots {slots:#b} of device {device}, and {taken:#b} are taken")]
    SlotsTaken { run: RunId, device: DeviceIndex, slots: u16, taken: u16 },
    /// More is granted than is left by the runs of the snapshot and the placements before.
    #[error("run {run} is granted {asked} {part} of node {node}, which has {left} left")]
    Over { run: RunId, node: NodeId, part: Part, asked: u64, left: u64 },
    /// The alternative cannot run on the class.
    #[error("run {run} is reckoned on class {class}, for which no rate is declared")]
    RateUndeclared { run: RunId, class: ClassId },
    /// The rate is not the declared one.
    #[error("run {run} is reckoned at rate {}, and {} is declared", planned.0, declared.0)]
    RateDiffers { run: RunId, planned: Rate, declared: Rate },
    /// The duration is not the work over the rate.
    #[error(
        "run {run} is planned to take {planned:?}, and its work at its rate takes {reckoned:?}"
    )]
    DurationDiffers { run: RunId, planned: Option<Span>, reckoned: Option<Span> },

    /// A run to stop is not there.
    #[error("stop of run {run}, which is not there")]
    StopOfNoRun { run: RunId },
    /// A run is stopped twice by one plan.
    #[error("stop of run {run} is given twice")]
    StopTwice { run: RunId },
    /// The stops are not ascending.
    #[error("stop of run {run} is out of order")]
    StopOutOfOrder { run: RunId },
    /// A run is stopped for a cause that it does not give.
    #[error("stop of run {run} as {cause:?}, and it is {stage:?}")]
    StopWithoutCause { run: RunId, stage: Stage, cause: StopCause },
    /// Only some tasks of a gang are started.
    #[error("gang {job} starts {tasks} of its {waits} tasks")]
    GangPartly { job: JobId, tasks: usize, waits: usize },
    /// Tasks of a gang are started while others hold something.
    #[error("gang {job} starts tasks while run {run} is there")]
    GangRuns { job: JobId, run: RunId },
    /// Tasks of a gang are started in unlike ways.
    #[error("gang {job} starts in {ways} ways, of different alternatives or classes")]
    GangUnlike { job: JobId, ways: usize },
    /// More tasks of a gang are on one node than it wants.
    #[error("gang {job} starts {tasks} tasks on node {node}, and wants at most {most} there")]
    GangOnNode { job: JobId, node: NodeId, tasks: u32, most: u32 },
    /// A gang is spread over more switches than it wants.
    #[error("gang {job} is spread over {switches} switches, and wants at most {most}")]
    GangUnderSwitches { job: JobId, switches: usize, most: u32 },
    /// A gang waits for room though all of it would fit.
    #[error("gang {job} waits for room for {asked} tasks, and {fit} fit")]
    GangRoom { job: JobId, asked: u32, fit: u64 },
    /// A reason for waiting speaks of a gang, and is not true.
    #[error("job {job} is told to wait for its gang, which is not true")]
    GangReason { job: JobId },
    /// A task of a gang is stopped because a round is over, and others go on.
    #[error("run {run} is stopped because a round is over, and run {other} of its gang is not")]
    RoundOfGang { run: RunId, other: RunId },
    /// Devices are divided, and something is started that was not granted.
    #[error("run {run} is started on {class}, which its task was not granted")]
    RoundNotGranted { run: RunId, class: ClassId },
    /// More is granted of the devices of a model, or of its cores, than there is.
    #[error("{granted} thousandths of {model} are granted, and there are {capacity}")]
    RoundOverGranted { model: String, granted: u64, capacity: u64 },
    /// A reason for waiting speaks of a round, and is not true.
    #[error("job {job} is told to wait for a round, which is not true")]
    RoundReason { job: JobId },
    /// A run that nobody wants is not stopped.
    #[error("run {run} is {stage:?} and is not stopped")]
    StopMissing { run: RunId, stage: Stage },

    /// A placement is not explained.
    #[error("start of run {run} is not explained")]
    ChoiceMissing { run: RunId },
    /// A choice without a placement.
    #[error("run {run} is explained and not started")]
    ChoiceOfNone { run: RunId },
    /// A choice in the place of another.
    #[error("start of run {placed} is explained by the choice of {explained}")]
    ChoiceOfOther { placed: RunId, explained: RunId },
    /// A score is not within (0, 1].
    #[error("choice of run {run} has a score of {} millionths", score.0)]
    ScoreOutOfRange { run: RunId, score: Micro },
    /// The runner-up is on a node that is not there.
    #[error("runner-up of run {run} is on node {node}, which is not there")]
    RunnerUpNode { run: RunId, node: NodeId },
    /// The runner-up is an alternative that the job does not have.
    #[error("runner-up of run {run} is alternative {alternative} of a job with {alternatives}")]
    RunnerUpAlternative { run: RunId, alternative: u16, alternatives: usize },
    /// The runner-up scored more than the choice.
    #[error("choice of run {run} scored {chosen:?}, and its runner-up {runner_up:?}")]
    RunnerUpBetter { run: RunId, chosen: Vec<Micro>, runner_up: Vec<Micro> },

    /// A job still waits and nothing says why.
    #[error("job {job} has {tasks} tasks waiting and no reason")]
    ReasonMissing { job: JobId, tasks: u32 },
    /// A reason for a job that does not wait any more.
    #[error("job {job} has a reason and no task waiting")]
    ReasonOfNone { job: JobId },
    /// The reasons are not ascending by job, or a job has two.
    #[error("reason of job {job} is out of order or given twice")]
    ReasonOutOfOrder { job: JobId },
    /// Another number of tasks waits.
    #[error("job {job} is said to have {told} tasks waiting, and has {waiting}")]
    ReasonCount { job: JobId, told: u32, waiting: u32 },
    /// The tallies are not one for each alternative, in order.
    #[error("job {job} with {alternatives} alternatives has tallies of {told:?}")]
    TallyOfOther { job: JobId, alternatives: usize, told: Vec<u16> },
    /// A tally does not count every node once.
    #[error("tally of job {job}, alternative {alternative}, counts {told} nodes of {nodes}")]
    TallySum { job: JobId, alternative: u16, told: u64, nodes: u64 },
    /// The constraints of a tally are not ascending, or one is there twice.
    #[error("tally of job {job}, alternative {alternative}, has {constraint:?} out of order")]
    TallyOutOfOrder { job: JobId, alternative: u16, constraint: Constraint },
    /// No node fell out at a constraint of a tally, or what was offered would have been enough.
    #[error(
        "tally of job {job}, alternative {alternative}, has {} nodes out at {:?} with {} asked and \
         {} offered", told.nodes, told.constraint, told.asked, told.best
    )]
    TallyIdle { job: JobId, alternative: u16, told: FellOut },

    /// A job waits for room, and there is room.
    #[error(
        "job {job} is said to find no room, and node {node} has room on {class} for alternative {alternative}"
    )]
    RoomUnused { job: JobId, alternative: u16, node: NodeId, class: ClassId },
    /// Counting again comes to something else.
    #[error(
        "tally of job {job}, alternative {alternative}, at {:?}: told {}, {}, {}; counted {}, {}, {} \
         (nodes, asked, best)",
        counted.constraint, told.nodes, told.asked, told.best, counted.nodes, counted.asked,
        counted.best
    )]
    TallyDiffers { job: JobId, alternative: u16, told: FellOut, counted: FellOut },
    /// A job waits for a faster device until a time that has come.
    #[error("job {job} is patient until {} µs, and it is {} µs", until.0, at.0)]
    PatienceOver { job: JobId, until: Time, at: Time },
    /// A job waits for its batch until a time that has come.
    #[error("job {job} waits for its batch until {} µs, and it is {} µs", until.0, at.0)]
    BatchOver { job: JobId, until: Time, at: Time },
    /// A job waits for a node with its inputs until a time that has come.
    #[error("job {job} waits for a node until {} µs, and it is {} µs", until.0, at.0)]
    LocalityOver { job: JobId, until: Time, at: Time },
    /// A job waits for a node that holds none of its inputs.
    #[error("job {job} waits for node {node}, which holds none of its inputs")]
    LocalityOfNoHolder { job: JobId, node: NodeId },
    /// A job waits for a node that has room.
    #[error("job {job} waits for node {node}, which has room")]
    LocalityOfRoom { job: JobId, node: NodeId },
    /// A job would not have ended by then on the node that it waits for.
    #[error("job {job} is said to end on node {node} at {} µs, and does at {found:?}", told.0)]
    LocalityEnd { job: JobId, node: NodeId, told: Time, found: Option<Time> },
    /// A job would not end then on the node that it declines.
    #[error("job {job} is said to end on node {node} at {} µs, and does not", told.0)]
    LocalityElsewhere { job: JobId, node: NodeId, told: Time },
    /// A job would end sooner elsewhere than is said.
    #[error(
        "job {job} is said to end elsewhere at {} µs, and would at {} µs on node {node}",
        told.0, found.0
    )]
    LocalityElsewhereSooner { job: JobId, node: NodeId, told: Time, found: Time },
    /// A job waits for a node on which it ends no sooner.
    #[error(
        "job {job} waits to end at {} µs, and would end at {} µs elsewhere",
        end.0, end_elsewhere.0
    )]
    LocalityWithoutGain { job: JobId, end: Time, end_elsewhere: Time },
    /// A job waits for a device that is no faster.
    #[error("job {job} is patient for {best}, and is offered {offered}")]
    PatienceForNoFaster { job: JobId, best: Span, offered: Span },
    /// A job waits for a device that is not the fastest.
    #[error("job {job} is patient for {told} on class {best}, and class {class} takes {found}")]
    PatienceForSlower { job: JobId, best: ClassId, told: Span, class: ClassId, found: Span },
    /// A job declines a device that has no room.
    #[error("job {job} is said to decline class {class}, which has no room")]
    PatienceWithoutRoom { job: JobId, class: ClassId },
    /// A job is said to be offered less than it is.
    #[error(
        "job {job} is said to be offered {told} at best, and class {class} has room for {found}"
    )]
    PatienceOfferedFaster { job: JobId, class: ClassId, told: Span, found: Span },
    /// A duration that no alternative is declared to take on the class, or not on any node that is
    /// up, were it empty.
    #[error("job {job} is said to take {told} on class {class}, which no alternative does")]
    PatienceDuration { job: JobId, class: ClassId, told: Span },
}

/// A part of a grant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Cores, in thousandths.
    Cores,
    /// Memory, in bytes.
    Memory,
    /// The number of devices.
    Devices,
    /// The share of a device, in thousandths.
    Share(DeviceIndex),
    /// The memory of a device, in bytes.
    DeviceMemory(DeviceIndex),
    /// The cores of all memory domains together, or of one, in thousandths.
    DomainCores(Option<DomainIndex>),
    /// The memory of all memory domains together, or of one, in bytes.
    DomainMemory(Option<DomainIndex>),
    /// What the memory of a domain can move, in bytes a second.
    DomainLoad(DomainIndex),
    /// What passes a channel, in bytes a second.
    Channel(ChannelIndex),
}

impl fmt::Display for Part {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cores => out.write_str("thousandths of a core"),
            Self::Memory => out.write_str("bytes of memory"),
            Self::Devices => out.write_str("devices"),
            Self::Share(device) => write!(out, "thousandths of device {device}"),
            Self::DeviceMemory(device) => write!(out, "bytes of the memory of device {device}"),
            Self::DomainCores(None) => out.write_str("thousandths of a core in domains"),
            Self::DomainCores(Some(one)) => write!(out, "thousandths of a core of domain {one}"),
            Self::DomainMemory(None) => out.write_str("bytes of memory in domains"),
            Self::DomainLoad(one) => write!(out, "bytes a second of the memory of domain {one}"),
            Self::Channel(one) => write!(out, "bytes a second of channel {one}"),
            Self::DomainMemory(Some(one)) => write!(out, "bytes of the memory of domain {one}"),
        }
    }
}
