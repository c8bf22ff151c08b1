//! The inside of a node as the world knows it: what is taken of each memory domain, channel and
//! slot of a device, and how much a run is slowed by memory that is not near.
//!
//! An account of its own, by its own reckoning. The world takes it that a run first touches its
//! memory where it runs: of the bytes in a domain, as large a part as the cores there are of all
//! its cores is near, and the rest is far from the domain in which most of its cores are. Far
//! bytes cost as much more as the distance says, for the part of its time that the run moves data:
//! what it moves ÷ (what it moves + the bandwidth of that domain), or half where that is not known.

use std::collections::BTreeSet;

use fleet::{Classes, DeviceClass, Grant, Milli, Node, Rate, Request, Slots, Span, Topology};

/// One, in the unit in which slowness is reckoned.
pub(super) const MILLION: u64 = 1_000_000;

/// What is taken of each memory domain and channel of a node, and what there is.
#[derive(Clone, Debug, Default)]
pub(super) struct Inside {
    domains: Vec<Taken>,
    channels: Vec<Moving>,
    /// By device, where some device can be cut, how it can and is; else nothing.
    cut: Vec<Option<Cut>>,
}

/// A device that can be cut into slices: every place of every slice, and which slots are taken.
#[derive(Clone, Debug)]
struct Cut {
    places: Vec<BTreeSet<u32>>,
    taken: BTreeSet<u32>,
}

impl Cut {
    fn of(class: &DeviceClass) -> Option<Self> {
        let places = class.profiles.iter().flat_map(|profile| {
            let place = |first: &u8| (0..profile.slots).map(|at| u32::from(first + at)).collect();
            profile.places.iter().map(place)
        });
        let places: Vec<_> = places.collect();
        (!places.is_empty()).then_some(Self { places, taken: BTreeSet::new() })
    }

    /// Takes these slots; whether they are a place and nobody has one of them.
    fn take(&mut self, slots: Slots) -> bool {
        let slots = each(slots);
        let fits = self.places.contains(&slots) && self.taken.is_disjoint(&slots);
        self.taken.extend(slots);
        fits
    }
}

/// The numbers of some slots.
fn each(slots: Slots) -> BTreeSet<u32> {
    (0..16).filter(|at| slots.0 & (1 << at) != 0).collect()
}

/// Bytes a second over one channel.
#[derive(Clone, Copy, Debug)]
struct Moving {
    now: u64,
    passes: u64,
}

impl Moving {
    /// Adds to it; whether that still passes with the channel so many thousandths over what it is
    /// made for.
    fn add(&mut self, more: u64, thousandths: u64) -> bool {
        self.now = self.now.saturating_add(more);
        u128::from(self.now) * 1000 <= u128::from(self.passes) * u128::from(thousandths)
    }
}

#[derive(Clone, Copy, Debug)]
struct Taken {
    millicores: u64,
    millicores_max: u64,
    bytes: u64,
    bytes_max: u64,
    /// What its memory moves; nothing where it is not known what it can.
    moving: Option<Moving>,
}

impl Inside {
    /// A node on which nothing runs.
    pub(super) fn of(node: &Node, classes: &Classes) -> Self {
        let domains = node.topology.iter().flat_map(|topology| &topology.domains);
        let empty = |domain: &fleet::Domain| Taken {
            millicores: 0,
            millicores_max: domain.cores.0,
            bytes: 0,
            bytes_max: domain.memory.0,
            moving: (domain.bandwidth.0 > 0)
                .then_some(Moving { now: 0, passes: domain.bandwidth.0 }),
        };
        let topology = node.topology.as_deref();
        let switches = topology.iter().flat_map(|found| &found.pcie).map(|one| one.bandwidth.0);
        let nics = topology.iter().flat_map(|found| &found.nics).map(|one| one.bandwidth.0);
        let channels = switches.chain(nics).map(|passes| Moving { now: 0, passes }).collect();
        let cut = node.devices.iter().map(|class| Cut::of(classes.get(*class)));
        let mut cut: Vec<Option<Cut>> = cut.collect();
        if cut.iter().all(Option::is_none) {
            cut.clear();
        }
        Self { domains: domains.map(empty).collect(), channels, cut }
    }

    /// Takes what a run is granted, or nothing where it does not fit or is not all said. Channels
    /// may be filled to so many thousandths.
    pub(super) fn take(&mut self, grant: &Grant, thousandths: u64) -> bool {
        let mut after = self.clone();
        let fits = after.take_domains(grant, thousandths)
            && grant.devices.iter().all(|held| {
                match after.cut.get_mut(usize::from(held.device.0)) {
                    Some(Some(cut)) if held.share < Milli::WHOLE || held.slots.0 != 0 => {
                        cut.take(held.slots)
                    }
                    Some(Some(cut)) => cut.taken.is_empty(),
                    Some(None) | None => held.slots.0 == 0,
                }
            })
            && grant.channels.iter().all(|held| {
                let channel = after.channels.get_mut(usize::from(held.channel.0));
                channel.is_some_and(|channel| channel.add(held.bandwidth.0, thousandths))
            });
        if fits {
            *self = after;
        }
        fits
    }

    fn take_domains(&mut self, grant: &Grant, thousandths: u64) -> bool {
        if self.domains.is_empty() {
            return grant.domains.is_empty();
        }
        let (mut millicores, mut bytes) = (0_u64, 0_u64);
        for held in &grant.domains {
            let Some(taken) = self.domains.get_mut(usize::from(held.domain.0)) else {
                return false;
            };
            taken.millicores = taken.millicores.saturating_add(held.cores.0);
            taken.bytes = taken.bytes.saturating_add(held.memory.0);
            let moves = taken.moving.as_mut();
            let passes = moves.is_none_or(|moving| moving.add(held.load.0, thousandths));
            let fits = taken.millicores <= taken.millicores_max && taken.bytes <= taken.bytes_max;
            if !(passes && fits) {
                return false;
            }
            millicores += held.cores.0;
            bytes += held.memory.0;
        }
        (millicores, bytes) == (grant.cores.0, grant.memory.0)
    }

    /// How many times what passes the fullest of the channels that a run with this grant holds is
    /// asked of it; one where all of it passes.
    pub(super) fn crowding(&self, grant: &Grant) -> f64 {
        let domains = grant.domains.iter().filter(|held| held.load.0 > 0);
        let domains = domains.filter_map(|held| self.domains[usize::from(held.domain.0)].moving);
        let channels = grant.channels.iter().map(|held| self.channels[usize::from(held.channel.0)]);
        let filled = |moving: Moving| moving.now as f64 / moving.passes as f64;
        domains.chain(channels).map(filled).fold(1.0, f64::max)
    }

    /// Gives back what a run was granted.
    pub(super) fn give_back(&mut self, grant: &Grant) {
        for held in &grant.domains {
            let taken = &mut self.domains[usize::from(held.domain.0)];
            taken.millicores -= held.cores.0;
            taken.bytes -= held.memory.0;
            if let Some(moving) = &mut taken.moving {
                moving.now -= held.load.0;
            }
        }
        for held in &grant.channels {
            self.channels[usize::from(held.channel.0)].now -= held.bandwidth.0;
        }
        for held in &grant.devices {
            if let Some(Some(cut)) = self.cut.get_mut(usize::from(held.device.0)) {
                cut.taken.retain(|slot| !each(held.slots).contains(slot));
            }
        }
    }
}

/// Whether a run with this grant moves anything over channels of its node.
pub(super) fn moves(grant: &Grant) -> bool {
    !grant.channels.is_empty() || grant.domains.iter().any(|held| held.load.0 > 0)
}

/// How long a run with this grant takes, in millionths of what it would take with everything near.
/// `strength` is how much stronger the effect is than the model says.
pub(super) fn slowed(
    topology: &Topology,
    request: &Request,
    grant: &Grant,
    strength: Milli,
) -> u64 {
    let moved = u128::from(request.traffic.memory.0);
    let most = grant.domains.iter().max_by_key(|held| (held.cores, std::cmp::Reverse(held.domain)));
    let Some(home) = most.filter(|_| moved > 0 && grant.memory.0 > 0 && grant.cores.0 > 0) else {
        return MILLION;
    };
    let part = |of: u64, all: u64| u128::from(of) * u128::from(MILLION) / u128::from(all);
    let mut far = 0_u128;
    for held in &grant.domains {
        let near = part(held.cores.0, grant.cores.0);
        let bytes = part(held.memory.0, grant.memory.0).saturating_sub(near);
        let row = topology.distances.get(usize::from(home.domain.0));
        let distance = row.and_then(|row| row.get(usize::from(held.domain.0)));
        let away = distance.map_or(10, |distance| u128::from(distance.saturating_sub(10)));
        far += bytes * if held.domain == home.domain { 0 } else { away } / 10;
    }
    let bandwidth = u128::from(topology.domains[usize::from(home.domain.0)].bandwidth.0);
    let moving = match bandwidth {
        0 => u128::from(MILLION) / 2,
        known => moved * u128::from(MILLION) / (moved + known),
    };
    let more = far * moving / u128::from(MILLION) * u128::from(strength.0) / 1000;
    MILLION.saturating_add(u64::try_from(more).unwrap_or(u64::MAX))
}

/// The rate of what takes so many millionths of its time.
pub(super) fn slower(rate: Rate, millionths: u64) -> Rate {
    let slowed = u128::from(rate.0) * u128::from(MILLION) / u128::from(millionths.max(1));
    Rate(u64::try_from(slowed).unwrap_or(u64::MAX))
}

/// The span times so many millionths, rounded up.
pub(super) fn longer(span: Span, millionths: u64) -> Span {
    let micros = u128::from(span.0) * u128::from(millionths);
    Span(u64::try_from(micros.div_ceil(u128::from(MILLION))).unwrap_or(u64::MAX))
}
