//! Whether a slice is one that its device can be cut into, at a place where it may be and that
//! nobody has taken.

use super::Fault;
use crate::device::{DeviceClass, ShareRule};
use crate::job::DeviceRequest;
use crate::node::{DeviceFree, Free, Grant};
use crate::plan::Placement;

/// Checks the size and the place of what is granted as a slice, and that nothing else is one.
pub(super) fn check(
    placement: &Placement,
    request: &DeviceRequest,
    model: &DeviceClass,
    faults: &mut Vec<Fault>,
) {
    let Placement { run, class, ref grant, .. } = *placement;
    let asked = request.profile.as_deref();
    let found = asked.and_then(|asked| model.profiles.iter().find(|one| one.name == asked));
    if let Some(asked) = asked {
        let is_size = |(share, memory)| (share, memory) == (request.share, request.memory);
        let fits = found.is_some_and(|profile| is_size((profile.share, profile.memory)));
        if model.share != ShareRule::Slices || !fits {
            faults.push(Fault::ProfileUnmet { run, class, asked: asked.to_owned() });
            return;
        }
    }
    for held in &grant.devices {
        let covers =
            |first: u8, slots: u8| (0..slots).fold(0_u32, |mask, at| mask | 1 << (first + at));
        let is_place = match found {
            Some(profile) => profile
                .places
                .iter()
                .any(|first| covers(*first, profile.slots) == u32::from(held.slots.0)),
            None => held.slots.0 == 0,
        };
        if !is_place {
            let (device, slots) = (held.device, held.slots.0);
            faults.push(Fault::SlotsMisplaced { run, device, slots });
        }
    }
}

/// Takes the slots of a grant from what is left.
pub(super) fn take(placement: &Placement, left: &mut Free, faults: &mut Vec<Fault>) {
    for held in &placement.grant.devices {
        let device = held.device;
        let Some(free) = left.devices.get(usize::from(device.0)) else { continue };
        let (slots, taken) = (held.slots.0, free.slots.0);
        if slots & taken != 0 {
            faults.push(Fault::SlotsTaken { run: placement.run, device, slots, taken });
        }
    }
    leave(left, &placement.grant);
}

/// What is taken once a grant is.
pub(super) fn leave(left: &mut Free, grant: &Grant) {
    for held in &grant.devices {
        if let Some(free) = left.devices.get_mut(usize::from(held.device.0)) {
            free.slots.0 |= held.slots.0;
        }
    }
}

/// Whether one of these devices has a place for the slice that is asked for.
pub(super) fn one_has_place(
    request: &DeviceRequest,
    model: &DeviceClass,
    devices: &[&DeviceFree],
) -> bool {
    let Some(asked) = &request.profile else { return true };
    let found = model.profiles.iter().find(|profile| profile.name == *asked);
    found.is_some_and(|profile| {
        profile.places.iter().any(|first| {
            let is_open = |device: &&&DeviceFree| {
                (*first..*first + profile.slots).all(|slot| device.slots.0 >> slot & 1 == 0)
            };
            devices.iter().find(is_open).is_some()
        })
    })
}

/// The slots that the slice which is asked for gets where these are taken: the rule of
/// [`DeviceClass::place`], reckoned again. None where nothing is asked for, or has no place.
pub(super) fn best_place(request: &DeviceRequest, model: &DeviceClass, taken: u16) -> u16 {
    let bits =
        |first: u8, slots: u8| (first..first + slots).fold(0_u16, |mask, slot| mask | 1 << slot);
    let open = |taken: u16| {
        let mut open = 0;
        for profile in &model.profiles {
            let places = profile.places.iter().map(|first| bits(*first, profile.slots));
            open += places.filter(|place| place & taken == 0).count();
        }
        open
    };
    let mut best: Option<(usize, u16)> = None;
    let asked = request.profile.as_deref();
    for profile in model.profiles.iter().filter(|one| Some(&*one.name) == asked) {
        for place in profile.places.iter().map(|first| bits(*first, profile.slots)) {
            let left = open(taken | place);
            if place & taken == 0 && best.is_none_or(|(most, _)| left > most) {
                best = Some((left, place));
            }
        }
    }
    best.map_or(0, |(_, place)| place)
}
