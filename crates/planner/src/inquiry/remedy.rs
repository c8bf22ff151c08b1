//! Remedies: the smallest changes with which one more task of a job would start now.
//!
//! Each kind is looked for by itself: fewer cores, less memory, fewer devices,
//! a smaller share, less device memory, a smaller slice, a smaller gang (the largest amount that
//! starts, exact to its unit, by halving), another model, a label dropped, one run gone (the
//! one that has run for the least time). A remedy is told only after
//! [`crate::plan`] has started one more task with it, on the same snapshot
//! under the same policy; the same plan with one unit more has not.

mod probe;

use std::cmp::Reverse;

use fleet::snapshot::Waiting;
use fleet::{
    Alternative, Bytes, ClassId, DeviceRequest, JobId, Milli, MilliCores, Profile, Rate, Run,
    RunId, Snapshot, Span, Stage,
};

use super::{Inquiry, suppose};
use crate::feasible::{self, Devices, Rules, Ways};
use probe::Probe;

/// The most plans that looking for remedies costs. One amount takes 40 at most, so that this is
/// enough for every kind of several alternatives.
pub const PLANS_MAX: u32 = 600;

/// The most alternatives of which the request is changed: the first ones, the most wanted.
const ALTERNATIVES_MAX: usize = 8;

/// The most runs of which is asked whether the job would start without them.
const RUNS_MAX: usize = 64;

/// A change with which one more task would start.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Remedy {
    /// Labels are not asked for.
    Labels {
        /// In which alternative.
        alternative: u16,
        /// Which ones, by key.
        keys: Vec<String>,
    },
    /// One more model will do.
    Model {
        /// In which alternative.
        alternative: u16,
        /// The class of the model.
        class: ClassId,
        /// The rate that was supposed there, where rates are declared: the best declared one.
        rate: Option<Rate>,
    },
    /// Fewer cores.
    Cores {
        /// In which alternative.
        alternative: u16,
        /// The most with which a task starts.
        cores: MilliCores,
    },
    /// Less memory.
    Memory {
        /// In which alternative.
        alternative: u16,
        /// The most with which a task starts.
        memory: Bytes,
    },
    /// Fewer devices.
    Devices {
        /// In which alternative.
        alternative: u16,
        /// The most with which a task starts.
        count: u32,
    },
    /// A smaller share of one device.
    Share {
        /// In which alternative.
        alternative: u16,
        /// The largest with which a task starts.
        share: Milli,
    },
    /// Less device memory on each device.
    DeviceMemory {
        /// In which alternative.
        alternative: u16,
        /// The most with which a task starts.
        memory: Bytes,
    },
    /// A smaller slice.
    Profile {
        /// In which alternative.
        alternative: u16,
        /// A class that can be cut into it.
        class: ClassId,
        /// The largest with which a task starts.
        profile: String,
    },
    /// A smaller gang.
    Tasks {
        /// The most tasks that start together.
        tasks: u32,
    },
    /// A run is gone, and its task does not come back.
    Eviction {
        /// Which one.
        run: RunId,
        /// For how long it has run, which would be lost.
        lost: Span,
    },
}

/// What was found, and how thoroughly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Remedies {
    /// What would help, by alternative and kind; each by itself.
    pub found: Vec<Remedy>,
    /// How many plans that took.
    pub plans: u32,
    /// Whether every alternative and every run was asked about.
    pub is_complete: bool,
}

impl Remedy {
    /// The snapshot in which the remedy is applied to a job.
    #[must_use]
    pub fn apply(&self, snapshot: &Snapshot, job: JobId) -> Snapshot {
        let mut changed = snapshot.clone();
        if let Self::Eviction { run, .. } = self {
            suppose::end(&mut changed, *run);
        } else if let Self::Tasks { tasks } = self {
            suppose::ask_for_tasks(&mut changed, job, *tasks);
        } else if let Some(waiting) = snapshot.backlog.get(&job) {
            let mut alternatives = waiting.job.alternatives.to_vec();
            self.change(&mut alternatives, snapshot);
            suppose::ask(&mut changed, job, alternatives);
        }
        changed.changes = fleet::Changes::default();
        changed
    }

    /// Changes what is asked.
    fn change(&self, alternatives: &mut [Alternative], snapshot: &Snapshot) {
        let Some(asked) =
            self.alternative().and_then(|index| alternatives.get_mut(usize::from(index)))
        else {
            return;
        };
        let request = &mut asked.request;
        let devices = request.devices.as_mut();
        match (self, devices) {
            (Self::Labels { keys, .. }, _) => asked.labels.retain(|key, _| !keys.contains(key)),
            (Self::Model { class, rate, .. }, devices) => {
                let model = &snapshot.classes.get(*class).model;
                if let Some(devices) = devices
                    && !devices.models.is_empty()
                    && !devices.models.contains(model)
                {
                    devices.models.push(model.clone());
                }
                if let Some(rate) = rate {
                    asked.rates.insert(model.clone(), *rate);
                }
            }
            (Self::Cores { cores, .. }, _) => request.cores = *cores,
            (Self::Memory { memory, .. }, _) => request.memory = *memory,
            (Self::Devices { count, .. }, Some(devices)) => devices.count = *count,
            (Self::Share { share, .. }, Some(devices)) => devices.share = *share,
            (Self::DeviceMemory { memory, .. }, Some(devices)) => devices.memory = *memory,
            (Self::Profile { class, profile, .. }, Some(devices)) => {
                let sized = snapshot.classes.get(*class).profile(profile);
                if let Some(Profile { share, memory, .. }) = sized {
                    (devices.share, devices.memory) = (*share, *memory);
                    devices.profile = Some(profile.clone());
                }
            }
            (
                Self::Devices { .. }
                | Self::Share { .. }
                | Self::DeviceMemory { .. }
                | Self::Profile { .. }
                | Self::Tasks { .. }
                | Self::Eviction { .. },
                _,
            ) => {}
        }
    }

    /// The alternative that it changes.
    #[must_use]
    pub fn alternative(&self) -> Option<u16> {
        match self {
            Self::Labels { alternative, .. }
            | Self::Model { alternative, .. }
            | Self::Cores { alternative, .. }
            | Self::Memory { alternative, .. }
            | Self::Devices { alternative, .. }
            | Self::Share { alternative, .. }
            | Self::DeviceMemory { alternative, .. }
            | Self::Profile { alternative, .. } => Some(*alternative),
            Self::Tasks { .. } | Self::Eviction { .. } => None,
        }
    }
}

/// Finds the smallest remedy of each kind, for each alternative.
pub(super) fn find(inquiry: &Inquiry<'_>, waiting: &Waiting) -> Remedies {
    let mut probe = Probe::new(inquiry);
    let mut found = Vec::new();
    let alternatives = waiting.job.alternatives.iter().zip(0_u16..);
    for (asked, alternative) in alternatives.take(ALTERNATIVES_MAX) {
        found.extend(labels(asked, alternative, &mut probe));
        found.append(&mut models(asked, alternative, &mut probe));
        found.append(&mut amounts(asked, alternative, &mut probe));
        found.extend(slice(asked, alternative, &mut probe));
    }
    if waiting.job.gang.is_some() {
        let tasks = |amount| Remedy::Tasks { tasks: u32::try_from(amount).unwrap_or(u32::MAX) };
        found.extend(probe.largest(1..waiting.count().into(), tasks));
    }
    let (eviction, asked_all) = eviction(waiting, &mut probe);
    found.extend(eviction);
    let is_complete =
        asked_all && !probe.is_spent && waiting.job.alternatives.len() <= ALTERNATIVES_MAX;
    Remedies { found, plans: probe.plans, is_complete }
}

/// One label, or all of them where no single one is enough.
fn labels(asked: &Alternative, alternative: u16, probe: &mut Probe<'_>) -> Option<Remedy> {
    let all: Vec<String> = asked.labels.keys().cloned().collect();
    let singles = all.iter().map(|key| vec![key.clone()]);
    let several = (all.len() > 1).then(|| all.clone());
    let remedies = singles.chain(several).map(|keys| Remedy::Labels { alternative, keys });
    remedies.into_iter().find(|remedy| probe.helps(remedy))
}

/// Every model that would do if only it were named.
fn models(asked: &Alternative, alternative: u16, probe: &mut Probe<'_>) -> Vec<Remedy> {
    let snapshot = probe.snapshot();
    let best = asked.rates.values().copied().filter(|rate| !rate.is_zero()).max();
    let mut classes: Vec<ClassId> = snapshot
        .nodes
        .iter()
        .flat_map(|entry| asked.classes_on(&entry.node, &snapshot.classes))
        .collect();
    classes.sort_unstable();
    classes.dedup();
    let is_new = |class: &ClassId| {
        let model = &snapshot.classes.get(*class).model;
        let devices = asked.request.devices.as_ref();
        let is_named =
            devices.is_none_or(|one| one.models.is_empty() || one.models.contains(model));
        !is_named || asked.rate(model).is_none()
    };
    let remedy = |class: ClassId| {
        let is_rated = asked.rate(&snapshot.classes.get(class).model).is_some();
        Remedy::Model { alternative, class, rate: best.filter(|_| !is_rated) }
    };
    let remedies: Vec<Remedy> = classes.into_iter().filter(is_new).map(remedy).collect();
    remedies.into_iter().filter(|remedy| probe.helps(remedy)).collect()
}

/// The largest amounts that are less than what is asked and would start.
fn amounts(asked: &Alternative, alternative: u16, probe: &mut Probe<'_>) -> Vec<Remedy> {
    let request = &asked.request;
    let devices = request.devices.as_ref();
    // What a slice has, its profile says.
    let divisible = devices.filter(|one| one.profile.is_none());
    let most = |one: fn(&DeviceRequest) -> u64| devices.map_or(0, one);
    // What asks for no device asks for some part of a core.
    let least_cores = u64::from(devices.is_none());
    let narrow = |amount: u64| u32::try_from(amount).unwrap_or(u32::MAX);
    let cores = |amount| Remedy::Cores { alternative, cores: MilliCores(amount) };
    let memory = |amount| Remedy::Memory { alternative, memory: Bytes(amount) };
    let count = |amount| Remedy::Devices { alternative, count: narrow(amount) };
    let share = |amount| Remedy::Share { alternative, share: Milli(narrow(amount)) };
    let device_memory = |amount| Remedy::DeviceMemory { alternative, memory: Bytes(amount) };
    // Only a single device is divided.
    let whole = if divisible.is_some_and(|one| one.count == 1) {
        most(|one| one.share.0.into())
    } else {
        0
    };
    let found = [
        probe.largest(least_cores..request.cores.0, cores),
        probe.largest(0..request.memory.0, memory),
        probe.largest(1..most(|one| one.count.into()), count),
        probe.largest(1..whole, share),
        probe.largest(0..divisible.map_or(0, |one| one.memory.0), device_memory),
    ];
    found.into_iter().flatten().collect()
}

/// The largest slice that is no larger than what is asked and would start: by its share, then its
/// memory, then its name.
fn slice(asked: &Alternative, alternative: u16, probe: &mut Probe<'_>) -> Option<Remedy> {
    let devices = asked.request.devices.as_ref()?;
    let name = devices.profile.as_ref()?;
    let snapshot = probe.snapshot();
    let mut smaller: Vec<_> = snapshot
        .classes
        .iter()
        .filter(|(_, class)| class.kind == devices.kind)
        .flat_map(|(id, class)| class.profiles.iter().map(move |profile| (profile, id)))
        .map(|(one, class)| (Reverse((one.share, one.memory)), &one.name, class))
        .filter(|(size, other, _)| size.0 <= (devices.share, devices.memory) && *other != name)
        .collect();
    smaller.sort_unstable();
    let remedy = |(_, profile, class): (_, &String, _)| Remedy::Profile {
        alternative,
        class,
        profile: profile.clone(),
    };
    smaller.into_iter().map(remedy).find(|remedy| probe.helps(remedy))
}

/// The run that has run for the least time of those without which a task would start; and whether
/// all runs were asked about. Of many runs those are asked about first that make room in their own
/// place.
fn eviction(waiting: &Waiting, probe: &mut Probe<'_>) -> (Option<Remedy>, bool) {
    let snapshot = probe.snapshot();
    let holds = |run: &&Run| matches!(run.stage, Stage::Ordered | Stage::Running);
    let all = || snapshot.runs.values().map(AsRef::as_ref).filter(holds);
    let is_few = all().count() <= RUNS_MAX;
    let after = probe.after();
    let mut runs: Vec<(Span, RunId)> = all()
        .filter(|run| is_few || makes_room(run, waiting, &after, probe.oversubscribe()))
        .map(|run| (snapshot.at.since(run.since), run.id()))
        .collect();
    runs.sort_unstable();
    runs.truncate(RUNS_MAX);
    let remedies = runs.into_iter().map(|(lost, run)| Remedy::Eviction { run, lost });
    (remedies.into_iter().find(|remedy| probe.helps(remedy)), is_few)
}

/// Whether a node has room for a task once a run there is gone.
fn makes_room(run: &Run, waiting: &Waiting, after: &Snapshot, oversubscribe: Milli) -> bool {
    let entry = after.node(run.placement.node);
    let mut free = entry.free.clone();
    free.give_back(&run.placement.grant);
    let has_room = |asked: &Alternative| {
        let (node, ways) = (&entry.node, &mut Ways::default());
        let by_rule = Devices::ByRule;
        let rules = Rules { classes: &after.classes, oversubscribe };
        feasible::judge(asked, node, entry.up, &free, rules, by_rule, ways).is_none()
    };
    waiting.job.alternatives.iter().any(has_room)
}
