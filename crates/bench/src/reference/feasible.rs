//! Whether a node has room for a task, and if not, at which constraint it falls out.
//!
//! The constraints are asked in the order of [`Constraint`], as the law wants
//! it told.

use fleet::explanation::Constraint;
use fleet::{Alternative, Classes, DeviceClass, DeviceFree, DeviceRequest, Milli, ShareRule};

use super::site::Site;

/// The first constraint that is not met.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Misfit {
    pub(super) constraint: Constraint,
    pub(super) asked: u64,
    pub(super) best: u64,
}

/// Where the node falls out; nothing where it has room.
pub(super) fn misfit(alternative: &Alternative, site: &Site, classes: &Classes) -> Option<Misfit> {
    judge(alternative, site, classes).err()
}

fn judge(alternative: &Alternative, site: &Site, classes: &Classes) -> Result<(), Misfit> {
    met(Constraint::Up, site.up)?;
    let labels = &site.node.labels;
    let carried = alternative.labels.iter().all(|(key, value)| labels.get(key) == Some(value));
    met(Constraint::Labels, carried)?;
    let request = &alternative.request;
    let class = match &request.devices {
        None => classes.get(site.node.cpu),
        Some(devices) => judge_class(devices, site, classes)?,
    };
    met(Constraint::Rate, alternative.rate(&class.model).is_some())?;
    enough(Constraint::Cores, request.cores.0, site.node.cores.0)?;
    enough(Constraint::Memory, request.memory.0, site.node.memory.0)?;
    if let Some(devices) = &request.devices {
        enough(Constraint::Devices, devices.count.into(), site.shares.len() as u64)?;
    }
    enough(Constraint::FreeCores, request.cores.0, site.free.cores.0)?;
    enough(Constraint::FreeMemory, request.memory.0, site.free.memory.0)?;
    match &request.devices {
        Some(devices) => judge_free_devices(devices, &site.free.devices),
        None => Ok(()),
    }
}

fn judge_class<'a>(
    request: &DeviceRequest,
    site: &Site,
    classes: &'a Classes,
) -> Result<&'a DeviceClass, Misfit> {
    let of_kind = site.class.map(|class| classes.get(class));
    let Some(class) = of_kind.filter(|class| class.kind == request.kind) else {
        return Err(Misfit { constraint: Constraint::Kind(request.kind), asked: 1, best: 0 });
    };
    let models = &request.models;
    met(Constraint::Model, models.is_empty() || models.contains(&class.model))?;
    enough(Constraint::DeviceMemory, request.memory.0, class.memory.0)?;
    enough(Constraint::ComputeUnits, request.compute_units.into(), class.compute_units.into())?;
    let capability = request.capability.as_ref();
    let is_capable = capability.is_none_or(|name| class.capabilities.contains(name));
    met(Constraint::Capability, is_capable)?;
    let is_whole = request.share >= Milli::WHOLE;
    met(Constraint::Sharing, is_whole || class.share != ShareRule::Exclusive)?;
    Ok(class)
}

fn judge_free_devices(request: &DeviceRequest, devices: &[DeviceFree]) -> Result<(), Misfit> {
    let wanted = u64::from(request.count);
    let with_share = || devices.iter().filter(|left| left.share >= request.share);
    let found = with_share().count() as u64;
    if request.share >= Milli::WHOLE {
        enough(Constraint::FreeDevices, wanted, found)?;
    } else if found < wanted {
        let best = devices.iter().map(|left| left.share.0).max().unwrap_or(0);
        enough(Constraint::FreeShare, request.share.0.into(), best.into())?;
    }
    let with_memory = with_share().filter(|left| left.memory >= request.memory).count() as u64;
    if with_memory < wanted {
        let best = with_share().map(|left| left.memory.0).max().unwrap_or(0);
        enough(Constraint::FreeDeviceMemory, request.memory.0, best)?;
    }
    Ok(())
}

fn met(constraint: Constraint, is_met: bool) -> Result<(), Misfit> {
    if is_met { Ok(()) } else { Err(Misfit { constraint, asked: 1, best: 0 }) }
}

fn enough(constraint: Constraint, asked: u64, best: u64) -> Result<(), Misfit> {
    if best >= asked { Ok(()) } else { Err(Misfit { constraint, asked, best }) }
}
