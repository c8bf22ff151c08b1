//! Slices: the fixed parts into which some devices can be cut, such as MIG instances.
//!
//! Such a device has a row of slots. A [`Profile`] is one size of slice: how
//! many slots it covers, and at which of them it may begin. That there is enough
//! free does not say that there is a place: two small slices in the wrong slots
//! keep a large one out. Which place a slice gets is decided here: the one that
//! leaves the most places of all profiles open.

use serde::{Deserialize, Serialize};

use super::{DeviceClass, ShareRule};
use crate::job::DeviceRequest;
use crate::units::{Bytes, Milli};

/// One size of slice.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Profile {
    /// Its name, unique on its class: `3g.20gb`.
    pub name: String,
    /// Which part of the device's compute it has: what it counts as of a device.
    pub share: Milli,
    /// Its memory.
    pub memory: Bytes,
    /// How many slots it covers; at least 1.
    pub slots: u8,
    /// The slots at which it may begin, ascending.
    pub places: Vec<u8>,
}

/// Some slots of a device, one bit each.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Slots(pub u16);

/// The most slots of a device.
pub const SLOTS_MAX: u8 = 16;

impl Slots {
    /// So many slots from this one on; those beyond the last that there can be are left out.
    #[must_use]
    pub fn span(first: u8, count: u8) -> Self {
        let slots = u32::from(first)..u32::from(first) + u32::from(count);
        Self(slots.fold(0, |mask, slot| mask | 1_u16.checked_shl(slot).unwrap_or(0)))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0 == 0
    }

    /// Whether some slot is in both.
    #[must_use]
    pub fn overlap(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The slots of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// The slots that are not in the other.
    #[must_use]
    pub fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The lowest slot.
    #[must_use]
    pub fn first(self) -> u32 {
        self.0.trailing_zeros()
    }
}

impl Profile {
    /// Every place of it, as the slots that it covers there.
    pub fn placements(&self) -> impl Iterator<Item = Slots> + '_ {
        self.places.iter().map(|first| Slots::span(*first, self.slots))
    }
}

impl DeviceClass {
    /// The profile of this name.
    #[must_use]
    pub fn profile(&self, name: &str) -> Option<&Profile> {
        self.profiles.iter().find(|profile| profile.name == name)
    }

    /// The profile that a request asks for, where there is one of this name and of its size.
    #[must_use]
    pub fn profile_of(&self, request: &DeviceRequest) -> Option<&Profile> {
        let profile = self.profile(request.profile.as_deref()?)?;
        let is_size = (profile.share, profile.memory) == (request.share, request.memory);
        (is_size && self.share == ShareRule::Slices).then_some(profile)
    }

    /// Where a slice of this profile goes on a device of which these slots are taken: where it
    /// leaves the most places of all profiles open, then the lowest. Nothing where it has no place.
    #[must_use]
    pub fn place(&self, profile: &Profile, taken: Slots) -> Option<Slots> {
        let open_after = |placed: &Slots| {
            let after = taken.with(*placed);
            let all = self.profiles.iter().flat_map(Profile::placements);
            all.filter(|other| !other.overlap(after)).count()
        };
        let free = profile.placements().filter(|placed| !placed.overlap(taken));
        free.min_by_key(|placed| (std::cmp::Reverse(open_after(placed)), *placed))
    }
}
