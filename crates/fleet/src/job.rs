//! Jobs: what is asked for.
//!
//! A job has one or more [`Alternative`]s, each a full way to run one of its
//! tasks ("one A100" or "16 cores"), with the rates declared for it. An array
//! is one job with a count of tasks, never a million objects.
//!
//! A rate is what was *declared*. How fast the job really runs is known to the
//! world only.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::communication::Communication;
use crate::dataset::Datasets;
use crate::device::{Classes, DeviceClass, DeviceKind};
use crate::id::{ClassId, JobId, Tenant};
use crate::node::Node;
use crate::program::{Dependency, Program, Restart};
use crate::units::{Bandwidth, Bytes, Milli, MilliCores, Rate, Span, Time, Work};

/// One job, as submitted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// Its id.
    pub id: JobId,
    /// Its name, for people; need not be unique.
    pub name: String,
    /// Who it is accounted to.
    pub tenant: Tenant,
    /// Larger goes first where the policy orders by priority.
    pub priority: i32,
    /// When it was submitted.
    pub arrival: Time,
    /// How many equal tasks it has; at least 1.
    pub tasks: u32,
    /// Whether its tasks start together or not at all, and how far apart they may be.
    pub gang: Option<Gang>,
    /// Work of one task; `None` where it has no known end (a service).
    pub work: Option<Work>,
    /// When its last task should have ended.
    pub deadline: Option<Time>,
    /// The ways to run one task, most wanted first; at least one.
    pub alternatives: Arc<Vec<Alternative>>,
    /// What its tasks read and write, where it says so.
    pub datasets: Option<Arc<Datasets>>,
    /// What its tasks run, where the body starts processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Arc<Program>>,
    /// When a task that did not do its work runs again.
    #[serde(default)]
    pub restart: Restart,
    /// The jobs that must have ended before it begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub after: Vec<Dependency>,
}

/// How the tasks of a job belong together: all that wait start at the same time, on devices of one
/// class, as near to each other as there is room, and none goes on alone. A gang waits for no
/// faster class: patience does not apply to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Gang {
    /// The most tasks on one node.
    pub tasks_per_node: Option<u32>,
    /// The most switches under which the nodes may hang, counted at the lowest level.
    pub switches: Option<u32>,
}

/// One way to run a task.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Alternative {
    /// What it needs of one node.
    pub request: Request,
    /// Labels the node must carry, with these values.
    pub labels: BTreeMap<String, String>,
    /// Work per second of one task with this request, by device model; see [`Alternative::rate`].
    pub rates: BTreeMap<String, Rate>,
    /// What its members send each other for every unit of work; its members are its devices, and
    /// the tasks of a gang.
    pub communication: Option<Communication>,
}

/// What one task needs of one node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Request {
    /// Cores.
    pub cores: MilliCores,
    /// Memory.
    pub memory: Bytes,
    /// Devices other than cores, if any.
    pub devices: Option<DeviceRequest>,
    /// Over how many memory domains of the node it may reach.
    #[serde(default, skip_serializing_if = "Reach::is_any")]
    pub reach: Reach,
    /// What it moves in a second.
    #[serde(default, skip_serializing_if = "Traffic::is_none")]
    pub traffic: Traffic,
}

/// Over how many memory domains of a node one task may reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// Over as many as it takes; the fewer and the nearer the better.
    #[default]
    Any,
    /// One: its cores, its memory and its devices are all of the same domain.
    Single,
}

impl Reach {
    /// Whether it may reach over several.
    #[must_use]
    pub fn is_any(&self) -> bool {
        *self == Self::Any
    }
}

/// What one task moves in a second, as declared; zero where nothing is stated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct Traffic {
    /// From and to the memory of the node.
    pub memory: Bandwidth,
    /// Between the memory of the node and each of its devices.
    pub pcie: Bandwidth,
    /// From and to other nodes.
    pub network: Bandwidth,
}

impl Traffic {
    /// Whether nothing is stated.
    #[must_use]
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// What one task needs of the devices of one node. All devices given to one task are of one class.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceRequest {
    /// The kind; never `cpu`.
    pub kind: DeviceKind,
    /// How many; at least 1.
    pub count: u32,
    /// How much of each: 1..=1000; less than a whole one only with a count of 1.
    pub share: Milli,
    /// Device memory needed on each.
    pub memory: Bytes,
    /// Models that will do; any where empty.
    pub models: Vec<String>,
    /// Least compute units of one device (CUDA cores and the like).
    pub compute_units: u32,
    /// A capability that the device must have.
    pub capability: Option<String>,
    /// The profile of which it is to be a slice; share and memory are then those of the profile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
}

impl Request {
    /// Whether it matters to the request what a node is like inside.
    #[must_use]
    pub fn looks_inside(&self) -> bool {
        !self.reach.is_any() || !self.traffic.is_none()
    }
}

impl Alternative {
    /// The declared rate on this model. Where no rates are declared it is one work unit a second
    /// everywhere; where some are, a model that is not among them (or has a rate of zero) cannot
    /// run it.
    #[must_use]
    pub fn rate(&self, model: &str) -> Option<Rate> {
        if self.rates.is_empty() {
            return Some(Rate(1_000_000));
        }
        self.rates.get(model).copied().filter(|rate| !rate.is_zero())
    }

    /// The classes of a node that could decide this alternative's rate: the distinct classes of its
    /// devices of the kind asked for, or its cores where no devices are asked for. Ascending.
    #[must_use]
    pub fn classes_on(&self, node: &Node, classes: &Classes) -> Vec<ClassId> {
        match &self.request.devices {
            None => vec![node.cpu],
            Some(request) => {
                let of_kind = |class: &&ClassId| classes.get(**class).kind == request.kind;
                let mut found: Vec<_> = node.devices.iter().filter(of_kind).copied().collect();
                found.sort_unstable();
                found.dedup();
                found
            }
        }
    }

    /// How long one task of `work` is declared to take on this model.
    #[must_use]
    pub fn duration(&self, work: Work, model: &str) -> Option<Span> {
        work.duration(self.rate(model)?)
    }
}

impl DeviceRequest {
    /// Whether devices of this class meet every constraint on the class itself.
    #[must_use]
    pub fn accepts(&self, class: &DeviceClass) -> bool {
        class.kind == self.kind
            && (self.models.is_empty() || self.models.contains(&class.model))
            && class.memory >= self.memory
            && class.compute_units >= self.compute_units
            && self.capability.as_ref().is_none_or(|name| class.capabilities.contains(name))
            && (self.profile.is_none() || class.profile_of(self).is_some())
    }
}
