//! Alternatives of jobs, and placements that grant what one asks.

use std::collections::BTreeMap;

use super::line::Line;
use super::{SketchError, WordFault, slices};
use crate::communication::{Communication, Pattern};
use crate::device::{Classes, DeviceKind};
use crate::id::{Attempt, ClassId, DeviceIndex, RunId, TaskIndex};
use crate::job::{Alternative, DeviceRequest, Job, Reach, Request, Traffic};
use crate::node::{DeviceGrant, Grant, Node};
use crate::parse::ParseError;
use crate::plan::Placement;
use crate::units::Milli;

/// Takes the words of one alternative.
pub(super) fn alternative(
    line: &mut Line<'_>,
    classes: &Classes,
) -> Result<Alternative, SketchError> {
    let cores = line.quantity("cores")?;
    let memory = line.quantity("mem")?.unwrap_or_default();
    let devices = devices(line, classes)?;
    if cores.is_none() && devices.is_none() {
        return Err(line.fault(line.item(), WordFault::Missing { what: "cores= or a device" }));
    }
    let mut rates = BTreeMap::new();
    for (model, rate) in line.prefixed("rate")? {
        known_model(line, classes, model)?;
        let rate = rate.parse().map_err(|source: ParseError| line.fault(rate, source.into()))?;
        rates.insert(model.to_owned(), rate);
    }
    let cores = cores.unwrap_or_default();
    let (reach, traffic) = (reach(line)?, traffic(line)?);
    let request = Request { cores, memory, devices, reach, traffic };
    let communication = communication(line)?;
    Ok(Alternative { request, labels: labels(line)?, rates, communication })
}

/// Takes `talk=PATTERN*BYTES`.
fn communication(line: &mut Line<'_>) -> Result<Option<Communication>, SketchError> {
    let Some(word) = line.value("talk")? else { return Ok(None) };
    let what = "a pattern with bytes for every unit of work";
    let fault = || line.fault(word, WordFault::Malformed { what, example: "talk=ring*100MB" });
    let (name, bytes) = word.split_once('*').ok_or_else(fault)?;
    let pattern = Pattern::from_name(name).ok_or_else(fault)?;
    let bytes = bytes.parse().map_err(|source: ParseError| line.fault(bytes, source.into()))?;
    Ok(Some(Communication { pattern, bytes }))
}

/// Takes the labels.
pub(super) fn labels(line: &mut Line<'_>) -> Result<BTreeMap<String, String>, SketchError> {
    let own = |(key, value): (&str, &str)| (key.to_owned(), value.to_owned());
    Ok(line.prefixed("label")?.into_iter().map(own).collect())
}

fn reach(line: &mut Line<'_>) -> Result<Reach, SketchError> {
    match line.value("numa")? {
        None => Ok(Reach::Any),
        Some("single") => Ok(Reach::Single),
        Some(word) => {
            let fault = WordFault::Malformed { what: "a reach", example: "numa=single" };
            Err(line.fault(word, fault))
        }
    }
}

fn traffic(line: &mut Line<'_>) -> Result<Traffic, SketchError> {
    Ok(Traffic {
        memory: line.quantity("membw")?.unwrap_or_default(),
        pcie: line.quantity("pciebw")?.unwrap_or_default(),
        network: line.quantity("netbw")?.unwrap_or_default(),
    })
}

fn devices(line: &mut Line<'_>, classes: &Classes) -> Result<Option<DeviceRequest>, SketchError> {
    let mut asked: Option<(DeviceKind, u32)> = None;
    for kind in DeviceKind::ALL.into_iter().filter(|kind| *kind != DeviceKind::Cpu) {
        let Some(count) = line.number(kind.name())? else { continue };
        if asked.is_some() {
            return Err(line.fault(kind.name(), WordFault::Twice));
        }
        asked = Some((kind, count));
    }
    let share = line.quantity("share")?;
    let memory = line.quantity("devmem")?;
    let models = line.value("model")?;
    let compute_units = line.number("units")?;
    let capability = line.value("cap")?.map(str::to_owned);
    let slice = slices::asked(line, classes)?;
    let Some((kind, count)) = asked else {
        let constrained = share.is_some() || memory.is_some() || compute_units.is_some();
        let constrained = constrained || slice.is_some();
        if constrained || models.is_some() || capability.is_some() {
            return Err(line.fault(line.item(), WordFault::WithoutDevice));
        }
        return Ok(None);
    };
    if slice.is_some() && (share.is_some() || memory.is_some() || count != 1) {
        return Err(line.fault("profile", WordFault::ShareOfSeveral));
    }
    let (profile, share, memory) = match slice {
        Some((name, share, memory)) => (Some(name), share, memory),
        None => (None, share.unwrap_or(Milli::WHOLE), memory.unwrap_or_default()),
    };
    if count == 0 || share.is_zero() || share > Milli::WHOLE {
        let fault = WordFault::Malformed { what: "some of a device", example: "gpu=1 share=0.5" };
        return Err(line.fault(kind.name(), fault));
    }
    if share < Milli::WHOLE && count > 1 {
        return Err(line.fault("share", WordFault::ShareOfSeveral));
    }
    let models: Vec<_> = models.into_iter().flat_map(|models| models.split(',')).collect();
    for model in &models {
        known_model(line, classes, model)?;
    }
    Ok(Some(DeviceRequest {
        kind,
        count,
        share,
        memory,
        models: models.into_iter().map(str::to_owned).collect(),
        compute_units: compute_units.unwrap_or_default(),
        capability,
        profile,
    }))
}

/// The class of this model.
pub(super) fn known_model(
    line: &Line<'_>,
    classes: &Classes,
    model: &str,
) -> Result<ClassId, SketchError> {
    classes.find(model).ok_or_else(|| line.fault(model, WordFault::NotAbove { what: "class" }))
}

/// Reads `job/task.attempt`, with the job's name.
pub(super) fn run_name<'a>(
    line: &Line<'_>,
    word: &'a str,
) -> Result<(&'a str, TaskIndex, Attempt), SketchError> {
    let split = || {
        let (job, rest) = word.rsplit_once('/')?;
        let (task, attempt) = rest.split_once('.')?;
        Some((job, TaskIndex(task.parse().ok()?), Attempt(attempt.parse().ok()?)))
    };
    let fault = WordFault::Malformed { what: "a run", example: "train/0.0" };
    split().ok_or_else(|| line.fault(word, fault))
}

/// Takes `alt=`, `dev=` and `in=`, and places a run of the job on the node with what that asks.
pub(super) fn placement(
    line: &mut Line<'_>,
    classes: &Classes,
    (job, task, attempt): (&Job, TaskIndex, Attempt),
    node: &Node,
) -> Result<Placement, SketchError> {
    if task.0 >= job.tasks {
        let fault = WordFault::TaskUnknown { tasks: job.tasks };
        return Err(line.fault(&task.to_string(), fault));
    }
    let index = line.number("alt")?.unwrap_or_default();
    let alternative = job.alternatives.get(usize::from(index)).ok_or_else(|| {
        let fault = WordFault::AlternativeUnknown { alternatives: job.alternatives.len() };
        line.fault(&format!("alt={index}"), fault)
    })?;
    let devices = granted(line, classes, alternative.request.devices.as_ref(), node)?;
    let class = devices.first().map_or(node.cpu, |held| node.devices[held.device.index()]);
    let model = &classes.get(class).model;
    let rate = alternative
        .rate(model)
        .ok_or_else(|| line.fault(&node.name, WordFault::WithoutRate { model: model.clone() }))?;
    let request = &alternative.request;
    let (domains, channels) = super::inside::granted(line, request, &devices, node)?;
    let (cores, memory) = (request.cores, request.memory);
    Ok(Placement {
        run: RunId { job: job.id, task, attempt },
        alternative: index,
        node: node.id,
        class,
        grant: Grant { cores, memory, devices, domains, channels },
        rate,
        duration: job.work.and_then(|work| work.duration(rate)),
    })
}

fn granted(
    line: &mut Line<'_>,
    classes: &Classes,
    request: Option<&DeviceRequest>,
    node: &Node,
) -> Result<Vec<DeviceGrant>, SketchError> {
    let word = line.value("dev")?;
    let asked = request.map_or(0, |request| request.count);
    let mut held = Vec::new();
    for index in word.into_iter().flat_map(|word| word.split(',')) {
        let profile = request.and_then(|request| request.profile.as_deref());
        let slots = profile.map(|name| {
            let found = classes.iter().find_map(|(_, class)| class.profile(name));
            found.map_or(0, |profile| profile.slots)
        });
        let (device, slots) = slices::held(line, index, slots)?;
        let device = DeviceIndex(device);
        if device.index() >= node.devices.len() {
            let fault = WordFault::DeviceUnknown { devices: node.devices.len() };
            return Err(line.fault(index, fault));
        }
        held.extend(request.map(|request| DeviceGrant {
            device,
            share: request.share,
            memory: request.memory,
            slots,
        }));
    }
    if held.len() != asked as usize || (request.is_none() && word.is_some()) {
        let word = word.unwrap_or(line.item());
        return Err(line.fault(word, WordFault::DeviceCount { asked }));
    }
    Ok(held)
}
