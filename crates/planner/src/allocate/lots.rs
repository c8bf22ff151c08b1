//! What is divided: the devices of each model, and the cores of each.

use std::collections::{BTreeMap, BTreeSet};

use fleet::snapshot::Way;
use fleet::{Alternative, ClassId, DeviceClass, DeviceKind, Job, NodeEntry, Rate, Snapshot};

use super::entrants::Entrant;
use crate::Scratch;
use crate::apportion::Lot;
use crate::apportion::worth;

/// The lots of a fleet, by kind and model.
pub(super) struct Lots<'a> {
    /// How much there is of each on nodes that are up: thousandths of devices, or of cores.
    pub(super) capacity: Vec<u64>,
    /// The lot of each class that a node has.
    of_class: Vec<Option<usize>>,
    /// The classes of each lot, ascending.
    classes: Vec<Vec<ClassId>>,
    models: &'a [DeviceClass],
}

/// What could be given to an entrant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) way: Way,
    pub(super) lot: usize,
    /// How much of the lot.
    pub(super) amount: u64,
    pub(super) rate: Rate,
}

impl<'a> Lots<'a> {
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let all = &snapshot.classes.0;
        let mut numbers: BTreeMap<(DeviceKind, &str), usize> = BTreeMap::new();
        let mut lots = Self {
            capacity: Vec::new(),
            of_class: vec![None; all.len()],
            classes: Vec::new(),
            models: all,
        };
        for (number, class) in (0..=u16::MAX).zip(all) {
            let next = numbers.len();
            let lot = *numbers.entry((class.kind, &class.model)).or_insert(next);
            if lot == next {
                lots.capacity.push(0);
                lots.classes.push(Vec::new());
            }
            lots.of_class[usize::from(number)] = Some(lot);
            lots.classes[lot].push(ClassId(number));
        }
        for entry in snapshot.nodes.iter().filter(|entry| entry.up) {
            lots.add(entry.node.cpu, entry.node.cores.0);
            entry.node.devices.iter().for_each(|class| lots.add(*class, 1000));
        }
        lots
    }

    fn add(&mut self, class: ClassId, amount: u64) {
        if let Some(lot) = self.lot(class) {
            self.capacity[lot] = self.capacity[lot].saturating_add(amount);
        }
    }

    pub(super) fn lot(&self, class: ClassId) -> Option<usize> {
        self.of_class.get(class.index()).copied().flatten()
    }

    /// The model of a class.
    pub(super) fn model(&self, class: ClassId) -> &'a str {
        &self.models[class.index()].model
    }

    /// Whether a node has something of the lot of a class.
    pub(super) fn has(&self, entry: &NodeEntry, class: ClassId) -> bool {
        let mut classes = entry.node.devices.iter().chain([&entry.node.cpu]);
        classes.any(|one| self.is_one(*one, class))
    }

    /// Whether two classes are of one lot.
    pub(super) fn is_one(&self, one: ClassId, other: ClassId) -> bool {
        self.lot(one).is_some() && self.lot(one) == self.lot(other)
    }

    /// The lot that a way draws on, and how much it takes of it.
    pub(super) fn amount(&self, entrant: &Entrant<'_>, way: Way) -> (usize, u64) {
        let lot = self.lot(way.class).unwrap_or_default();
        let alternative = entrant.job.alternatives.get(usize::from(way.alternative));
        (lot, alternative.map_or(0, amount_of).saturating_mul(u64::from(entrant.tasks)))
    }

    /// The same way by the class that speaks for its lot.
    pub(super) fn canonical(&self, way: Way) -> Way {
        let class = self.lot(way.class).map_or(way.class, |lot| self.classes[lot][0]);
        Way { class, ..way }
    }

    /// All that could be given to so many tasks of a job, in the order of its alternatives and then
    /// of the lots: what some node that is up would take if it were empty. More than there is of a
    /// lot is left out.
    pub(super) fn offers(&self, (job, tasks): (&Job, u32), scratch: &mut Scratch) -> Vec<Offer> {
        let mut offers = Vec::new();
        let shape = scratch.shapes.of(job);
        let ways = (0..=u16::MAX).zip(job.alternatives.iter()).zip(shape.iter());
        for ((number, alternative), shape) in ways {
            let amount = amount_of(alternative).saturating_mul(u64::from(tasks));
            let prospects = scratch.shapes.prospects(*shape, &scratch.groups);
            let lots: BTreeSet<usize> =
                prospects.least_watts.keys().filter_map(|class| self.lot(*class)).collect();
            for lot in lots.into_iter().filter(|lot| amount <= self.capacity[*lot]) {
                let class = self.classes[lot][0];
                let Some(rate) = alternative.rate(&self.models[class.index()].model) else {
                    continue;
                };
                offers.push(Offer { way: Way { alternative: number, class }, lot, amount, rate });
            }
        }
        offers
    }
}

impl Offer {
    /// The same in the units in which lots are divided.
    pub(super) fn in_units(&self, units: &[u64]) -> worth::Offer {
        let devices = u32::try_from(self.amount / units[self.lot]).unwrap_or(u32::MAX);
        worth::Offer { lot: Lot(self.lot), devices, rate: self.rate }
    }
}

/// How much a task takes of what is divided. A task that asks for no core takes next to nothing.
fn amount_of(alternative: &Alternative) -> u64 {
    match &alternative.request.devices {
        Some(devices) => u64::from(devices.count) * u64::from(devices.share.0),
        None => alternative.request.cores.0.max(1),
    }
}

/// The largest unit of each lot of which every offer is a whole number of times.
pub(super) fn units(entrants: &[&Entrant<'_>], lots: usize) -> Vec<u64> {
    let mut units = vec![0; lots];
    for offer in entrants.iter().flat_map(|entrant| entrant.offers.iter()) {
        units[offer.lot] = greatest_common_divisor(units[offer.lot], offer.amount);
    }
    units.into_iter().map(|unit| unit.max(1)).collect()
}

fn greatest_common_divisor(one: u64, other: u64) -> u64 {
    if other == 0 { one } else { greatest_common_divisor(other, one % other) }
}
