//! Policies: how a site wants its fleet used, as data.
//!
//! A policy says in which order jobs are looked at, how one choice is picked
//! among those that are possible, what each objective weighs, and on which
//! scale a cost counts as small. Reading one from a file is `controller::policy_file`.

use serde::{Deserialize, Serialize};

use crate::units::{Bytes, Level, Micro, Milli, Millijoules, Span};

/// The most tiers that a policy may have.
pub const TIERS_MAX: usize = 4;

/// The most signals that a policy may weigh: each makes vectors of scores longer.
pub const EXTERNALS_MAX: usize = 8;

/// A site's rules for choosing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// What it is for, in a sentence.
    pub description: String,
    /// The order of the queue: the first key decides, the next breaks its ties, the job's id the
    /// last.
    pub order: Vec<OrderKey>,
    /// How one choice is picked among the possible ones.
    pub pick: Pick,
    /// Weighted sums in strict order: a later one decides only where all before it are equal. At
    /// most [`TIERS_MAX`]. Read where the pick weighs; see [`Pick::weighs`].
    pub tiers: Vec<Weighting>,
    /// How long a job waits for a faster device before it takes a slower one, as a multiple of the
    /// time that the slower one would cost it. Zero: it never waits.
    pub patience: Milli,
    /// How much of a channel inside a node (memory bandwidth, PCIe, NIC) tasks may hold together,
    /// as a part of what passes: at least one whole.
    pub oversubscribe: Milli,
    /// The signals that it weighs, by slot: see [`Objective::External`]. At most [`EXTERNALS_MAX`].
    pub externals: Vec<String>,
    /// Reference amounts: see [`Scale`].
    pub scale: Scale,
    /// Whether arrivals are gathered and planned together.
    pub batch: Option<Batch>,
    /// Whether devices are divided among all jobs over time, what runs included.
    pub allocate: Option<Allocate>,
}

/// How devices are divided among jobs over time: who runs now, on what, and who waits.
///
/// Worths are products of powers; see `planner::apportion::worth`. Only where a body keeps the work
/// of what it stops; see [`crate::Body::keeps_work`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Allocate {
    /// For how long devices are divided; above zero. What is free in between is given away without
    /// a stop. Where it is missing they are divided anew whenever a job or node comes or goes.
    pub rounds: Option<Span>,
    /// The powers of what makes a share worth something.
    pub powers: Powers,
    /// What a job loses each time that it is moved to another class, or begins again.
    pub moving: Span,
    /// After waiting for so long a job goes before all that have not; above zero. Where it is
    /// missing nobody does, and a job may wait for as long as others are worth more.
    pub starvation: Option<Span>,
}

/// The powers to which what is known of a job counts in the worth of a share, each at most
/// [`Powers::MAX`] thousandths either way. One that is zero counts for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Powers {
    /// Of the rate there as a part of the best; not below zero.
    pub fitness: i32,
    /// Of being soon done; below zero, of being long.
    pub brevity: i32,
    /// Of having got little of the time since it arrived, reckoned at the best rate; below zero, of
    /// having got much.
    pub lack: i32,
    /// Of how many times longer it takes, from its arrival on, than it would have taken alone.
    pub slowdown: i32,
}

impl Powers {
    /// The most that a power may be, in thousandths: larger ones would leave only the extremes in
    /// order.
    pub const MAX: i32 = 4000;
}

/// Arrivals that are planned together, in whichever order does best.
///
/// Jobs that arrived since the last batch wait until they have `max_jobs` tasks together or the
/// first of them has waited `max_delay`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// How many tasks make a batch full: 2..=64.
    pub max_jobs: u32,
    /// How long the first of a batch waits at most; above zero.
    pub max_delay: Span,
}

/// One key of the queue's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderKey {
    /// Earlier arrival first.
    FirstIn,
    /// Larger priority first.
    Priority,
    /// The tenant with the least dominant share of the fleet first, counted anew after each
    /// placement.
    FairShare,
}

/// How one choice is picked among the possible ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// The largest weighted score; ties to the lowest alternative, node, class.
    Weighted,
    /// The knee of the choices in the objectives of each tier, whatever their weights; ties as for
    /// `Weighted`.
    Knee,
    /// The first alternative that is possible anywhere, on the next node after the one used last.
    Rotation,
    /// The first alternative that is possible anywhere, on the node that keeps the most free.
    Spread,
}

impl Pick {
    /// Whether choices are compared by the scores of objectives, tier by tier.
    #[must_use]
    pub fn weighs(self) -> bool {
        matches!(self, Self::Weighted | Self::Knee)
    }
}

/// The objectives. Adding one means a module in `planner::objective` and a row in
/// `docs/objectives.md`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// Seconds until the task has ended.
    Completion,
    /// Capacity left stranded on the node.
    Utilisation,
    /// Capacity made unusable for the jobs that arrive here.
    Fragmentation,
    /// Devices left without the cores and memory that arrive with jobs here.
    Companion,
    /// Breaking up a node of which few are as large.
    Rarity,
    /// Energy caused.
    Energy,
    /// Chance of missing the deadline.
    Deadline,
    /// Data moved to where the task runs.
    Locality,
    /// Delay of those who move data over the same channels.
    Interference,
    /// What a signal says about where the task runs; the policy names the signal in this slot.
    External(ExternalSlot),
}

/// The position of a signal among those that a policy weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ExternalSlot(u8);

impl ExternalSlot {
    /// The slot at this position; nothing past the last.
    #[must_use]
    pub fn at(position: usize) -> Option<Self> {
        u8::try_from(position).ok().filter(|_| position < EXTERNALS_MAX).map(Self)
    }

    /// The position.
    #[must_use]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl Objective {
    /// How many have names of their own.
    const NAMED: usize = 9;

    /// How many there are.
    pub const COUNT: usize = Self::NAMED + EXTERNALS_MAX;

    /// Every objective, in the order of vectors of scores.
    pub const ALL: [Self; Self::COUNT] = [
        Self::Completion,
        Self::Utilisation,
        Self::Fragmentation,
        Self::Companion,
        Self::Rarity,
        Self::Energy,
        Self::Deadline,
        Self::Locality,
        Self::Interference,
        Self::External(ExternalSlot(0)),
        Self::External(ExternalSlot(1)),
        Self::External(ExternalSlot(2)),
        Self::External(ExternalSlot(3)),
        Self::External(ExternalSlot(4)),
        Self::External(ExternalSlot(5)),
        Self::External(ExternalSlot(6)),
        Self::External(ExternalSlot(7)),
    ];

    /// Its position in [`Self::ALL`] and in vectors of scores.
    #[must_use]
    pub fn position(self) -> usize {
        match self {
            Self::Completion => 0,
            Self::Utilisation => 1,
            Self::Fragmentation => 2,
            Self::Companion => 3,
            Self::Rarity => 4,
            Self::Energy => 5,
            Self::Deadline => 6,
            Self::Locality => 7,
            Self::Interference => 8,
            Self::External(slot) => Self::NAMED + slot.index(),
        }
    }

    /// The name used in policies; of an external one see [`Policy::objective_name`].
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completion => "completion",
            Self::Utilisation => "utilisation",
            Self::Fragmentation => "fragmentation",
            Self::Companion => "companion",
            Self::Rarity => "rarity",
            Self::Energy => "energy",
            Self::Deadline => "deadline",
            Self::Locality => "locality",
            Self::Interference => "interference",
            Self::External(_) => "external",
        }
    }
}

impl Policy {
    /// The name of an objective as this policy writes it.
    #[must_use]
    pub fn objective_name(&self, objective: Objective) -> String {
        match objective {
            Objective::External(slot) => match self.externals.get(slot.index()) {
                Some(signal) => format!("external({signal})"),
                None => objective.name().to_owned(),
            },
            _ => objective.name().to_owned(),
        }
    }
}

/// The weight of every objective, in the order of [`Objective::ALL`], in thousandths.
pub type Weights = [Milli; Objective::COUNT];

/// How the weights of one tier are found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weighting {
    /// Always these.
    Fixed(Weights),
    /// By how busy the fleet is.
    ByUtilisation(ByUtilisation),
    /// No weights: the least score that a choice should have by each objective, none where it is
    /// zero. Choices that keep all limits are equal here; of the others the one goes first that
    /// falls short of them the least.
    Limits(Weights),
}

/// Three vectors of weights, chosen by how busy the fleet is, with hysteresis.
///
/// How busy: the larger of allocated ÷ total cores and allocated ÷ total devices, of nodes that
/// are up. The regime changes to `Below` under `low`, to `Above` over `high`; it leaves them again
/// only once the threshold is passed by `hysteresis`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ByUtilisation {
    /// Under this the fleet is in the regime `Below`.
    pub low: Milli,
    /// Over this the fleet is in the regime `Above`.
    pub high: Milli,
    /// How far past a threshold a regime lasts.
    pub hysteresis: Milli,
    /// Weights in the regime `Below`.
    pub below: Weights,
    /// Weights in the regime `Between`.
    pub between: Weights,
    /// Weights in the regime `Above`.
    pub above: Weights,
}

/// How busy the fleet is, as the weights see it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Regime {
    /// Nearly idle.
    Below,
    /// In between.
    #[default]
    Between,
    /// Nearly full.
    Above,
}

/// Reference amounts σ of the score `(best + σ) ÷ (cost + σ)`: about what counts as a small cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Scale {
    /// For completion.
    pub completion: Span,
    /// For utilisation: a share of the node.
    pub utilisation: Milli,
    /// For fragmentation: thousandths of a device.
    pub fragmentation: Milli,
    /// For companion: thousandths of a device.
    pub companion: Milli,
    /// For rarity: a number of nodes, in thousandths.
    pub rarity: Milli,
    /// For energy.
    pub energy: Millijoules,
    /// For deadline: a probability.
    pub deadline: Micro,
    /// For locality: data.
    pub locality: Bytes,
    /// For interference: the delay of others.
    pub interference: Span,
    /// For each external slot: a number of its signal, above zero.
    pub externals: [Level; EXTERNALS_MAX],
}
