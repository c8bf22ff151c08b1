//! `[[device.MODEL.profile]]` of a fleet file: the sizes of slices that a device can be cut into,
//! and what a job asks of them.

use std::collections::BTreeSet;

use fleet::device::{SLOTS_MAX, mig_profiles};
use fleet::{Bytes, Classes, DeviceClass, DeviceRequest, Milli, Profile, ShareRule};
use serde::Deserialize;

use super::error::{Within, Wrong, list};
use super::fault::Fault;
use super::raw::{Raw, Strict, optional, required_name, text, whole};

/// The most profiles of one class.
const PROFILES_MAX: usize = 64;

/// `[[device.MODEL.profile]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProfileText {
    name: Option<Raw>,
    share: Option<Raw>,
    memory: Option<Raw>,
    slots: Option<Raw>,
    places: Option<Vec<Raw>>,
}

/// What decides how devices of a class may be divided.
pub(super) struct Division<'a> {
    pub(super) model: &'a str,
    pub(super) memory: Bytes,
    pub(super) profiles: Option<&'a [Strict<ProfileText>]>,
}

impl Division<'_> {
    /// The rule by its word, and the profiles where devices are cut into slices.
    pub(super) fn read(&self, share: Option<&Raw>) -> Result<(ShareRule, Vec<Profile>), Wrong> {
        let word = match share {
            Some(raw) => {
                text(raw, "\"exclusive\", \"milli\", \"slices\" or \"mig\"").within("share")?
            }
            None => "exclusive",
        };
        let own = self.profiles.unwrap_or_default();
        let idle = |reason| Wrong::at("profile", Fault::Idle { reason });
        match word {
            "slices" => Ok((ShareRule::Slices, profiles(own, self.memory).within("profile")?)),
            "mig" if !own.is_empty() => {
                Err(idle("share = \"mig\" names the known ones; for others write \"slices\""))
            }
            "mig" => {
                let known = mig_profiles(self.model, self.memory).ok_or_else(|| {
                    let (model, memory) = (self.model.to_owned(), self.memory.to_string());
                    Wrong::at("share", Fault::MigUnknown { model, memory })
                })?;
                Ok((ShareRule::Slices, known))
            }
            "exclusive" | "milli" if !own.is_empty() => {
                Err(idle("only a device with share = \"slices\" is cut into slices"))
            }
            "exclusive" => Ok((ShareRule::Exclusive, Vec::new())),
            "milli" => Ok((ShareRule::Milli, Vec::new())),
            given => {
                let (given, words) = (given.to_owned(), "exclusive, milli, slices, mig".to_owned());
                Err(Wrong::at("share", Fault::Word { given, words }))
            }
        }
    }
}

/// The profiles of a class with so much memory.
fn profiles(texts: &[Strict<ProfileText>], memory: Bytes) -> Result<Vec<Profile>, Wrong> {
    if texts.is_empty() {
        let advice = "share = \"slices\" needs at least one profile";
        return Err(Wrong::here(Fault::Missing { advice }));
    }
    if texts.len() > PROFILES_MAX {
        let given = texts.len().to_string();
        return Err(Wrong::here(Fault::Range { given, wanted: "at most 64 of them" }));
    }
    let mut names = BTreeSet::new();
    let mut profiles = Vec::with_capacity(texts.len());
    for (at, Strict(text)) in texts.iter().enumerate() {
        let profile = profile(text, memory).within_item(at)?;
        if !names.insert(profile.name.clone()) {
            let fault = Fault::ProfileTwice { name: profile.name };
            return Err(Wrong::at("name", fault)).within_item(at);
        }
        profiles.push(profile);
    }
    Ok(profiles)
}

fn profile(told: &ProfileText, whole_memory: Bytes) -> Result<Profile, Wrong> {
    let name = required_name(told.name.as_ref(), "name", "give each profile a name")?;
    let missing = |field, advice| Wrong::at(field, Fault::Missing { advice });
    let share: Option<Milli> = optional(told.share.as_ref(), "share")?;
    let share = share.ok_or_else(|| missing("share", "say which part of the device it is"))?;
    if share.is_zero() || share > Milli::WHOLE {
        let wanted = "a share above 0 and up to 1";
        return Err(Wrong::at("share", Fault::Range { given: share.to_string(), wanted }));
    }
    let memory: Bytes = optional(told.memory.as_ref(), "memory")?.unwrap_or_default();
    if memory > whole_memory {
        let wanted = "a size that the device has";
        return Err(Wrong::at("memory", Fault::Range { given: memory.to_string(), wanted }));
    }
    let raw =
        told.slots.as_ref().ok_or_else(|| missing("slots", "say how many slots it covers"))?;
    let slots = whole(raw, 1_u8, SLOTS).within("slots")?;
    let places = told.places.as_deref().unwrap_or_default();
    if places.is_empty() {
        return Err(missing("places", "list the slots at which it may begin, from 0"));
    }
    let place = |(at, raw): (usize, &Raw)| {
        let first = whole(raw, 0_u8, PLACE).within_item(at)?;
        match first.checked_add(slots).is_some_and(|end| end <= SLOTS_MAX) {
            true => Ok(first),
            false => {
                let fault = Fault::Range { given: raw.to_string(), wanted: PLACE };
                Err(Wrong::here(fault)).within_item(at)
            }
        }
    };
    let places: BTreeSet<u8> =
        places.iter().enumerate().map(place).collect::<Result<_, _>>().within("places")?;
    let places = places.into_iter().collect();
    Ok(Profile { name: name.to_owned(), share, memory, slots, places })
}

const SLOTS: &str = "a whole number of slots from 1 to 16";
const PLACE: &str = "a slot from which it ends within 16 slots, counted from 0";

/// Gives a request for a slice the share and the memory that its profile has on the classes that
/// will do.
pub(super) fn size(devices: &mut DeviceRequest, classes: &Classes) -> Result<(), Wrong> {
    let Some(name) = devices.profile.clone() else { return Ok(()) };
    let of_model =
        |class: &&DeviceClass| devices.models.is_empty() || devices.models.contains(&class.model);
    let of_kind = classes.0.iter().filter(|class| class.kind == devices.kind).filter(of_model);
    let mut found = of_kind.filter_map(|class| Some((class, class.profile(&name)?)));
    let Some((class, profile)) = found.next() else {
        let all = classes.0.iter().flat_map(|class| &class.profiles);
        let names: BTreeSet<&str> = all.map(|profile| profile.name.as_str()).collect();
        let known = match names.is_empty() {
            true => "no device of the fleet is cut into slices".to_owned(),
            false => format!("the fleet has {}", list(names.into_iter())),
        };
        return Err(Wrong::here(Fault::ProfileUnknown { name, known }));
    };
    let differs = |(_, other): &(&DeviceClass, &Profile)| {
        (other.share, other.memory) != (profile.share, profile.memory)
    };
    if let Some((other, _)) = found.find(differs) {
        let models = format!("{} and {}", class.model, other.model);
        return Err(Wrong::here(Fault::ProfileUneven { name, models }));
    }
    (devices.share, devices.memory) = (profile.share, profile.memory);
    Ok(())
}
