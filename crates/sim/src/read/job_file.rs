//! Jobs and streams as Motley's workload files write them.
//!
//! The same text types serve TOML and JSON lines; `docs/files.md` says what
//! each field means. Out comes a [`Template`], from which jobs are made.

use std::sync::Arc;

use fleet::{
    Alternative, Bandwidth, Bytes, Classes, Communication, Datasets, DeviceKind, DeviceRequest,
    Gang, Milli, MilliCores, Pattern, Reach, Request, Span, Tenant, Time, Traffic, Work,
};
use serde::Deserialize;

use super::datasets::{self, DatasetText};
use super::error::{Within, Wrong};
use super::fault::Fault;
use super::fleet_file::kind;
use super::nodes::DEVICES_MAX;
use super::profiles;
use super::raw::{
    Raw, Strict, Table, flag, labels, moment, name, names, optional, quantity, rates,
    required_name, span, text, whole,
};

/// The most alternatives of one job; each is weighed on every group of nodes.
const ALTERNATIVES_MAX: usize = 256;
/// Who jobs without a tenant belong to.
const TENANT: &str = "default";
/// The most cores that a job may ask for: more than a node may have.
const CORES_MAX: MilliCores = MilliCores(1_000_000_000);

/// `[[job]]`, or one JSON line.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct JobText {
    pub(super) name: Option<Raw>,
    pub(super) tenant: Option<Raw>,
    pub(super) priority: Option<Raw>,
    pub(super) arrives: Option<Raw>,
    pub(super) tasks: Option<Raw>,
    pub(super) gang: Option<Raw>,
    pub(super) tasks_per_node: Option<Raw>,
    pub(super) switches: Option<Raw>,
    pub(super) work: Option<Raw>,
    pub(super) deadline: Option<Raw>,
    pub(super) inputs: Option<Vec<Strict<DatasetText>>>,
    pub(super) outputs: Option<Vec<Strict<DatasetText>>>,
    pub(super) alternative: Option<Vec<Strict<AlternativeText>>>,
}

/// `[[stream]]`: a job without `arrives`, and how its copies arrive.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StreamText {
    name: Option<Raw>,
    tenant: Option<Raw>,
    priority: Option<Raw>,
    tasks: Option<Raw>,
    gang: Option<Raw>,
    tasks_per_node: Option<Raw>,
    switches: Option<Raw>,
    work: Option<Raw>,
    deadline: Option<Raw>,
    inputs: Option<Vec<Strict<DatasetText>>>,
    outputs: Option<Vec<Strict<DatasetText>>>,
    alternative: Option<Vec<Strict<AlternativeText>>>,
    count: Option<Raw>,
    every: Option<Raw>,
    from: Option<Raw>,
    spread: Option<Raw>,
}

/// `[[job.alternative]]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AlternativeText {
    pub(super) cores: Option<Raw>,
    pub(super) memory: Option<Raw>,
    pub(super) device: Option<Strict<DeviceRequestText>>,
    pub(super) numa: Option<Raw>,
    pub(super) memory_bandwidth: Option<Raw>,
    pub(super) network_bandwidth: Option<Raw>,
    pub(super) labels: Option<Table<Raw>>,
    pub(super) rates: Option<Table<Raw>>,
    pub(super) communication: Option<Strict<CommunicationText>>,
}

/// `communication = { … }`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CommunicationText {
    pattern: Option<Raw>,
    bytes: Option<Raw>,
}

/// `device = { … }`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DeviceRequestText {
    pub(super) kind: Option<Raw>,
    pub(super) count: Option<Raw>,
    pub(super) share: Option<Raw>,
    pub(super) memory: Option<Raw>,
    pub(super) models: Option<Vec<Raw>>,
    pub(super) compute_units: Option<Raw>,
    pub(super) capability: Option<Raw>,
    pub(super) pcie_bandwidth: Option<Raw>,
    pub(super) profile: Option<Raw>,
}

/// Everything about a job but its id, its arrival and its deadline as a moment.
pub(super) struct Template {
    pub(super) name: String,
    pub(super) tenant: String,
    pub(super) priority: i32,
    pub(super) tasks: u32,
    pub(super) gang: Option<Gang>,
    pub(super) work: Option<Work>,
    /// What a task really has to do, where that is not what is declared.
    pub(super) true_work: Option<Work>,
    pub(super) deadline: Option<Span>,
    pub(super) alternatives: Vec<Alternative>,
    pub(super) datasets: Option<Arc<Datasets>>,
}

/// How the jobs of a stream arrive.
pub(super) struct Arriving {
    pub(super) count: u64,
    pub(super) every: Span,
    pub(super) from: Time,
    pub(super) spread: Milli,
}

/// A job and its arrival.
pub(super) fn job(text: JobText) -> Result<(Template, Time), Wrong> {
    let arrival = moment(text.arrives.as_ref(), "arrives")?;
    Ok((template(&text)?, arrival))
}

/// A stream.
pub(super) fn stream(text: StreamText) -> Result<(Template, Arriving), Wrong> {
    let job = JobText {
        name: text.name,
        tenant: text.tenant,
        priority: text.priority,
        arrives: None,
        tasks: text.tasks,
        gang: text.gang,
        tasks_per_node: text.tasks_per_node,
        switches: text.switches,
        work: text.work,
        deadline: text.deadline,
        inputs: text.inputs,
        outputs: text.outputs,
        alternative: text.alternative,
    };
    let template = template(&job)?;
    let missing = |field, advice| Wrong::at(field, Fault::Missing { advice });
    let count = text.count.as_ref();
    let count = count.ok_or_else(|| missing("count", "give the number of jobs"))?;
    let count = whole(count, 1, "a whole number from 1").within("count")?;
    let every = text.every.as_ref();
    let every = every.ok_or_else(|| missing("every", "give the mean gap, like \"2m\""))?;
    let gap = span(every).within("every")?;
    if gap.is_zero() {
        let wanted = "a span above zero";
        return Err(Wrong::at("every", Fault::Range { given: every.to_string(), wanted }));
    }
    let spread = text.spread.as_ref().map(below_one).transpose().within("spread")?;
    if template.work.is_none() && spread.is_some() {
        let reason = "the stream has no `work` to vary";
        return Err(Wrong::at("spread", Fault::Idle { reason }));
    }
    let from = moment(text.from.as_ref(), "from")?;
    Ok((template, Arriving { count, every: gap, from, spread: spread.unwrap_or_default() }))
}

/// A fraction from 0 up to but not including 1.
pub(super) fn below_one(raw: &Raw) -> Result<Milli, Wrong> {
    let fraction = quantity::<Milli>(raw)?;
    if fraction >= Milli::WHOLE {
        let wanted = "a fraction from 0 to 0.999";
        return Err(Wrong::here(Fault::Range { given: raw.to_string(), wanted }));
    }
    Ok(fraction)
}

fn template(text: &JobText) -> Result<Template, Wrong> {
    let name_ = required_name(text.name.as_ref(), "name", "give each job a name")?;
    let tenant = text.tenant.as_ref().map(name).transpose().within("tenant")?.unwrap_or(TENANT);
    let priority = text.priority.as_ref().map(|raw| {
        whole(raw, i32::MIN, "a whole number from -2147483648 to 2147483647").within("priority")
    });
    let tasks = text
        .tasks
        .as_ref()
        .map(|raw| whole(raw, 1, "a whole number from 1 to 4294967295").within("tasks"));
    let work: Option<Work> = optional(text.work.as_ref(), "work")?;
    if work.is_some_and(Work::is_zero) {
        let wanted = "an amount above zero, or leave it out for a job without end";
        return Err(Wrong::at("work", Fault::Range { given: "0".to_owned(), wanted }));
    }
    let deadline = text.deadline.as_ref().map(span).transpose().within("deadline")?;
    if deadline.is_some_and(Span::is_zero) {
        return Err(Wrong::at("deadline", Fault::DeadlineBeforeArrival));
    }
    if deadline.is_some() && work.is_none() {
        let reason = "a job without `work` has no end that could be late";
        return Err(Wrong::at("deadline", Fault::Idle { reason }));
    }
    Ok(Template {
        name: name_.to_owned(),
        tenant: tenant.to_owned(),
        priority: priority.transpose()?.unwrap_or(0),
        tasks: tasks.transpose()?.unwrap_or(1),
        gang: gang(text)?,
        work,
        true_work: None,
        deadline,
        alternatives: alternatives(text.alternative.as_deref()).within("alternative")?,
        datasets: datasets::of_job(text.inputs.as_deref(), text.outputs.as_deref())?,
    })
}

/// How the tasks belong together.
fn gang(text: &JobText) -> Result<Option<Gang>, Wrong> {
    let is_gang = text.gang.as_ref().map(flag).transpose().within("gang")?.unwrap_or(false);
    let limit = |raw: Option<&Raw>, field| {
        let wanted = "a whole number from 1 to 4294967295";
        raw.map(|raw| whole(raw, 1, wanted)).transpose().within(field)
    };
    let tasks_per_node = limit(text.tasks_per_node.as_ref(), "tasks_per_node")?;
    let switches = limit(text.switches.as_ref(), "switches")?;
    if is_gang {
        return Ok(Some(Gang { tasks_per_node, switches }));
    }
    let reason = "only the tasks of a gang are kept near each other; set `gang = true`";
    match (tasks_per_node, switches) {
        (None, None) => Ok(None),
        (Some(_), _) => Err(Wrong::at("tasks_per_node", Fault::Idle { reason })),
        (None, Some(_)) => Err(Wrong::at("switches", Fault::Idle { reason })),
    }
}

fn alternatives(texts: Option<&[Strict<AlternativeText>]>) -> Result<Vec<Alternative>, Wrong> {
    let texts = texts.unwrap_or(&[]);
    if texts.is_empty() {
        let advice = "give at least one way to run the job";
        return Err(Wrong::here(Fault::Missing { advice }));
    }
    if texts.len() > ALTERNATIVES_MAX {
        let given = texts.len().to_string();
        return Err(Wrong::here(Fault::Range { given, wanted: "at most 256 of them" }));
    }
    let numbered = texts.iter().enumerate();
    numbered.map(|(index, Strict(text))| alternative(text).within_item(index)).collect()
}

fn alternative(told: &AlternativeText) -> Result<Alternative, Wrong> {
    let cores = optional::<MilliCores>(told.cores.as_ref(), "cores")?.unwrap_or_default();
    let devices = told.device.as_ref().map(device_request).transpose().within("device")?;
    if cores.is_zero() && devices.is_none() {
        return Err(Wrong::here(Fault::NothingAsked));
    }
    if cores > CORES_MAX {
        let wanted = "at most 1000000 cores";
        return Err(Wrong::at("cores", Fault::Range { given: cores.to_string(), wanted }));
    }
    let memory = optional::<Bytes>(told.memory.as_ref(), "memory")?.unwrap_or_default();
    Ok(Alternative {
        request: Request {
            cores,
            memory,
            devices,
            reach: reach(told.numa.as_ref()).within("numa")?,
            traffic: traffic(told, memory)?,
        },
        labels: labels(told.labels.as_ref())?,
        rates: told.rates.as_ref().map(rates).transpose().within("rates")?.unwrap_or_default(),
        communication: told
            .communication
            .as_ref()
            .map(communication)
            .transpose()
            .within("communication")?,
    })
}

fn communication(Strict(told): &Strict<CommunicationText>) -> Result<Communication, Wrong> {
    let advice = "say who sends to whom, like \"ring\"";
    let given = told.pattern.as_ref();
    let given = given.ok_or_else(|| Wrong::at("pattern", Fault::Missing { advice }))?;
    let pattern = Pattern::from_name(name(given).within("pattern")?).ok_or_else(|| {
        let wanted = "ring, tree, all-to-all, pipeline, neighbour or parameter-server";
        Wrong::at("pattern", Fault::Range { given: given.to_string(), wanted })
    })?;
    let bytes: Option<Bytes> = optional(told.bytes.as_ref(), "bytes")?;
    let advice = "give what each member shares for every unit of work, like \"100MB\"";
    let bytes = bytes.ok_or_else(|| Wrong::at("bytes", Fault::Missing { advice }))?;
    Ok(Communication { pattern, bytes })
}

fn reach(raw: Option<&Raw>) -> Result<Reach, Wrong> {
    match raw.map(|raw| text(raw, "\"any\" or \"single\"")).transpose()? {
        None | Some("any") => Ok(Reach::Any),
        Some("single") => Ok(Reach::Single),
        Some(given) => {
            let words = "any, single".to_owned();
            Err(Wrong::here(Fault::Word { given: given.to_owned(), words }))
        }
    }
}

fn traffic(told: &AlternativeText, memory: Bytes) -> Result<Traffic, Wrong> {
    let moved = optional::<Bandwidth>(told.memory_bandwidth.as_ref(), "memory_bandwidth")?;
    if moved.is_some() && memory.is_zero() {
        let reason = "what asks for no `memory` moves nothing from or to it";
        return Err(Wrong::at("memory_bandwidth", Fault::Idle { reason }));
    }
    let network = optional(told.network_bandwidth.as_ref(), "network_bandwidth")?;
    let devices = told.device.as_ref();
    let pcie = devices.and_then(|Strict(devices)| devices.pcie_bandwidth.as_ref());
    Ok(Traffic {
        memory: moved.unwrap_or_default(),
        pcie: optional(pcie, "pcie_bandwidth").within("device")?.unwrap_or_default(),
        network: network.unwrap_or_default(),
    })
}

fn device_request(Strict(text): &Strict<DeviceRequestText>) -> Result<DeviceRequest, Wrong> {
    let kind = kind(text.kind.as_ref())?;
    if kind == DeviceKind::Cpu {
        let reason = "processors are asked for by `cores`";
        return Err(Wrong::at("kind", Fault::Idle { reason }));
    }
    let wanted = "a whole number from 1 to 1024";
    let count = text.count.as_ref().map(|raw| match whole(raw, 1_u32, wanted)? {
        count if count as usize > DEVICES_MAX => {
            Err(Wrong::here(Fault::Range { given: raw.to_string(), wanted }))
        }
        count => Ok(count),
    });
    let count = count.transpose().within("count")?.unwrap_or(1);
    let share = optional(text.share.as_ref(), "share")?.unwrap_or(Milli::WHOLE);
    if share.is_zero() || share > Milli::WHOLE {
        let wanted = "a share above 0 and up to 1";
        return Err(Wrong::at("share", Fault::Range { given: share.to_string(), wanted }));
    }
    if share < Milli::WHOLE && count > 1 {
        return Err(Wrong::at("share", Fault::ShareOfMany { count }));
    }
    let profile = text.profile.as_ref().map(name).transpose().within("profile")?;
    if profile.is_some() {
        refuse_beside_profile(text)?;
    }
    let units = text.compute_units.as_ref();
    let units = units.map(|raw| whole(raw, 0_u32, "a whole number from 0 to 4294967295"));
    Ok(DeviceRequest {
        kind,
        count,
        share,
        memory: optional(text.memory.as_ref(), "memory")?.unwrap_or_default(),
        models: names(text.models.as_ref(), "models")?,
        compute_units: units.transpose().within("compute_units")?.unwrap_or(0),
        capability: text
            .capability
            .as_ref()
            .map(|raw| name(raw).map(str::to_owned))
            .transpose()
            .within("capability")?,
        profile: profile.map(str::to_owned),
    })
}

/// A slice is one part of one device, of a size that its profile says.
fn refuse_beside_profile(text: &DeviceRequestText) -> Result<(), Wrong> {
    let is_several = |count: &Raw| *count != Raw::Whole(1);
    let given = [
        ("count", text.count.as_ref().is_some_and(is_several), "a profile is of one device"),
        ("share", text.share.is_some(), "the profile says which part of the device it is"),
        ("memory", text.memory.is_some(), "the profile says how much memory it has"),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        Some((field, _, reason)) => Err(Wrong::at(field, Fault::Idle { reason })),
        None => Ok(()),
    }
}

impl Template {
    /// The same with slices of the sizes that they have on the fleet.
    pub(super) fn sized(mut self, classes: &Classes) -> Result<Self, Wrong> {
        for (at, way) in self.alternatives.iter_mut().enumerate() {
            if let Some(devices) = &mut way.request.devices {
                let sized = profiles::size(devices, classes);
                sized.within("profile").within("device").within_item(at).within("alternative")?;
            }
        }
        Ok(self)
    }

    /// Who its jobs are accounted to.
    pub(super) fn tenant(&self) -> Tenant {
        Tenant::new(&self.tenant)
    }

    /// Its alternatives, to be shared.
    pub(super) fn take_alternatives(&mut self) -> Arc<Vec<Alternative>> {
        Arc::new(std::mem::take(&mut self.alternatives))
    }
}
