//! Explanations: why a plan is as it is.
//!
//! Typed, bounded and true. Words are made where people read them; here are
//! only the facts: for a run that is started its score and the runner-up, for
//! a job that waits how many nodes fell out at which constraint, and what was
//! asked against the best that was offered.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::device::DeviceKind;
use crate::id::{ClassId, JobId, NodeId, RunId};
use crate::policy::{Objective, Regime, Weights};
use crate::units::{Micro, Milli, Span, Time};

/// Why a plan is as it is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Explanation {
    /// How busy the fleet was, as the weights see it.
    pub busy: Milli,
    /// The weights in force, tier by tier.
    pub tiers: Vec<TierInForce>,
    /// How much of a channel the plan may hold, as a part of what passes.
    #[serde(default)]
    pub oversubscribe: Milli,
    /// One for each placement of the plan, in the same order.
    pub choices: Vec<Choice>,
    /// One for each job that still has tasks waiting, ascending.
    pub waiting: Vec<StillWaiting>,
    /// Work done to find the plan: one step is one alternative of one job weighed on one group of
    /// equal nodes. The same whether or not a cache was warm.
    pub steps: u64,
}

/// The weights of one tier in this plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierInForce {
    /// How the value of a choice in this tier is found.
    pub value: TierValue,
    /// The regime, where the weights move.
    pub regime: Option<Regime>,
    /// The weights, or the limits.
    pub weights: Weights,
}

/// How the value of a choice in one tier is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TierValue {
    /// The mean of its scores, by weight.
    #[default]
    Mean,
    /// One where its scores keep every limit, else one less the mean of what they fall short.
    Limits,
    /// How near it is to the knee of all choices there are; see `planner::front::knee`.
    Knee,
}

/// Why a run is started where it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Choice {
    /// The run.
    pub run: RunId,
    /// What its choice scored.
    pub score: Score,
    /// How many nodes could have taken it, over all alternatives that were weighed.
    pub nodes: u32,
    /// The best of the other choices, on nodes unlike the chosen one. None where there is no other,
    /// or where the policy did not weigh them.
    pub runner_up: Option<RunnerUp>,
}

/// The score of one choice.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Score {
    /// The value of each tier, compared in this order; see [`TierValue`]. Empty where the policy
    /// does not weigh.
    pub tiers: Vec<Micro>,
    /// The score of every objective, in the order of [`Objective::ALL`]; one that no tier weighs is
    /// not computed and reads as one.
    pub parts: [Micro; Objective::COUNT],
}

/// A choice that was nearly made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerUp {
    /// Which alternative.
    pub alternative: u16,
    /// Which node.
    pub node: NodeId,
    /// The class that would have decided the rate.
    pub class: ClassId,
    /// What it scored.
    pub score: Score,
}

/// A job that still has tasks waiting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StillWaiting {
    /// The job.
    pub job: JobId,
    /// How many of its tasks wait.
    pub tasks: u32,
    /// Why; shared by jobs that wait for the same reason.
    pub reason: Arc<Reason>,
}

/// Why a job waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// No node can take one more of its tasks, once this plan is carried out.
    NoRoom(Vec<Tally>),
    /// A node could take it, but on a device so much slower that it is better to wait for now.
    Patience(Patience),
    /// The plan's effort ran out before it was looked at.
    Effort,
    /// It is planned together with others that may arrive until then.
    Batch(Time),
    /// A node could take it, but it ends sooner where its inputs are.
    Locality(Locality),
    /// Not all tasks of the gang find room at the same time.
    Gang(GangRoom),
    /// Others of its gang still hold something; all start together once they have stopped.
    Recalled,
    /// Devices were divided among all jobs for a while, and this one has nothing, or waits for what
    /// it has.
    Round(RoundWait),
}

/// How a job that waits stands in the division of devices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RoundWait {
    /// When devices are divided anew at the latest; none where that is whenever a job or node comes
    /// or goes.
    pub until: Option<Time>,
    /// A class of which it has devices, and waits until they are free on nodes that will do.
    pub granted: Option<ClassId>,
    /// Where it has devices: the job that is placed before all others because room is being made
    /// for it, itself or another.
    #[serde(default)]
    pub nominated: Option<JobId>,
    /// Where it has nothing: what it came nearest to, if anything was worth something to it.
    pub outbid: Option<Outbid>,
}

/// The share of devices that a job came nearest to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Outbid {
    /// Which class.
    pub class: ClassId,
    /// What it was worth to the policy, in hundred-millionths of an hour's work at the best rate.
    pub worth: u64,
    /// What others gave for as much of that class.
    pub price: u64,
}

/// How much of a gang finds room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GangRoom {
    /// How many tasks must start together.
    pub asked: u32,
    /// How many could; fewer than that, and at least 1.
    pub fit: u32,
}

/// Which nodes fell out for one alternative.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Which alternative.
    pub alternative: u16,
    /// Every constraint at which nodes fell out, in the order of [`Constraint`]. The counts add up
    /// to the number of nodes in the fleet.
    pub fell_out: Vec<FellOut>,
}

/// Nodes that fell out at one constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FellOut {
    /// The constraint.
    pub constraint: Constraint,
    /// How many nodes met every constraint before it, and not this one.
    pub nodes: u32,
    /// What was asked, in the constraint's unit; 1 where it is a yes or no.
    pub asked: u64,
    /// The best that any of these nodes offers, in the same unit; 0 where it is a yes or no.
    pub best: u64,
}

/// What a node must meet, in the order in which it is asked.
///
/// Of the classes that a node's devices belong to, the one that meets most constraints speaks for
/// the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Constraint {
    /// The node is up.
    Up,
    /// The node carries the labels.
    Labels,
    /// The node has devices of the kind.
    Kind(DeviceKind),
    /// They are of a model asked for.
    Model,
    /// Each has the device memory, in bytes.
    DeviceMemory,
    /// Each has the compute units.
    ComputeUnits,
    /// Each has the capability.
    Capability,
    /// Each may be shared, where a share is asked for.
    Sharing,
    /// Each can be cut into slices of the profile, of its size.
    Profile,
    /// A rate is declared for the model.
    Rate,
    /// The node has the cores, in thousandths.
    Cores,
    /// The node has the memory, in bytes.
    Memory,
    /// The node has the number of such devices.
    Devices,
    /// One memory domain of the node has all of it, where it must be in one.
    Domain,
    /// The memory that it may have can move what the task does, in bytes a second.
    MemoryBandwidth,
    /// Enough devices could each be reached with what the task moves.
    PcieBandwidth,
    /// One NIC of the node passes what the task moves, in bytes a second.
    NetworkBandwidth,
    /// The cores are free, in thousandths.
    FreeCores,
    /// The memory is free, in bytes.
    FreeMemory,
    /// Enough whole devices are free.
    FreeDevices,
    /// The share of one device is free, in thousandths.
    FreeShare,
    /// The device memory is free on enough devices that have the share, in bytes.
    FreeDeviceMemory,
    /// Of the devices that have as much free, one has a place for the slice.
    FreeSlots,
    /// One memory domain of the node has all of it free, where it must be in one.
    FreeDomain,
    /// The memory that it may have can still move what the task does, in bytes a second.
    FreeMemoryBandwidth,
    /// Enough devices can still be reached, each with what the task moves.
    FreePcieBandwidth,
    /// One NIC of the node still passes what the task moves, in bytes a second.
    FreeNetworkBandwidth,
}

impl Constraint {
    /// Whether it stays unmet however many runs end: the node would not do even when empty.
    #[must_use]
    pub fn is_lasting(self) -> bool {
        self > Self::Up && self < Self::FreeCores
    }
}

/// Waiting for a faster device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patience {
    /// The fastest class of this fleet for the job.
    pub best: ClassId,
    /// How long a task takes there.
    pub best_duration: Span,
    /// The fastest class that has room now.
    pub offered: ClassId,
    /// How long a task would take there.
    pub offered_duration: Span,
    /// From when on the offered class would be taken.
    pub until: Time,
}

/// Waiting for a node that holds inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Locality {
    /// The node: it holds an input, and is full.
    pub node: NodeId,
    /// When what runs there is declared to have ended, as far as the task needs it.
    pub until: Time,
    /// When the task would have ended if it started there then.
    pub end: Time,
    /// The node on which it would end first of those that have room now.
    pub elsewhere: NodeId,
    /// When it would have ended there, with everything fetched that is missing there.
    pub end_elsewhere: Time,
}
