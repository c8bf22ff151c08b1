//! What is known about each shape of job, on each group of nodes.
//!
//! A shape is one alternative with everything in it. Verdicts and costs that
//! depend only on shape and group are worked out once and kept for as long as
//! the group is the same one (its stamp), and the mix of arrivals too where
//! they depend on it. Everything here can be forgotten without changing a plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::snapshot::Mix;
use fleet::{
    Alternative, ClassId, Classes, Grant, Job, JobId, Milli, Milliwatts, ShareRule, Snapshot,
};

use crate::feasible::{self, Verdict, Way};
use crate::groups::{Group, GroupId, Groups};
use crate::objective::{fragmentation, utilisation};

/// The most entries kept, over all shapes; at about 100 bytes each. Past it everything is
/// forgotten.
const ENTRIES_MAX: usize = 2_000_000;

/// The position of a shape among all shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ShapeId(u32);

/// The shapes of a job's alternatives, in order.
pub(crate) type JobShape = Arc<[ShapeId]>;

/// What is known about all shapes.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    classes: Arc<Classes>,
    mix: Arc<Mix>,
    mix_stamp: u64,
    ids: BTreeMap<Alternative, ShapeId>,
    tables: Vec<Table>,
    of_job: BTreeMap<JobId, (Arc<Vec<Alternative>>, JobShape)>,
    /// Unusable capacity of each group: the group's stamp, the mix's stamp, thousandths of a
    /// device.
    unusable: Vec<(u64, u64, f64)>,
}

/// What is known about one shape.
#[derive(Debug)]
struct Table {
    alternative: Alternative,
    /// By the slot of the group.
    entries: Vec<Entry>,
    /// The version of the makes that it holds for, and where the shape could run at all.
    prospects: Option<(u64, Arc<Prospects>)>,
}

/// What is known about one shape on one group.
#[derive(Debug, Default)]
pub(crate) struct Entry {
    stamp: u64,
    mix_stamp: u64,
    pub(crate) options: Options,
}

/// What a group offers a shape.
#[derive(Debug)]
pub(crate) enum Options {
    Lacks(feasible::Misfit),
    Fits(Vec<Choosable>),
}

impl Default for Options {
    fn default() -> Self {
        Self::Fits(Vec::new())
    }
}

/// One way to take a task, with what it costs.
#[derive(Debug)]
pub(crate) struct Choosable {
    pub(crate) class: ClassId,
    pub(crate) grant: Grant,
    pub(crate) added_watts: f64,
    pub(crate) stranded: f64,
    pub(crate) capacity_lost: f64,
}

/// Where a shape could run if everything were free.
#[derive(Debug, Default)]
pub(crate) struct Prospects {
    /// For each class that could run it, the least watts that it adds there.
    pub(crate) least_watts: BTreeMap<ClassId, f64>,
}

impl Shapes {
    /// Forgets what no longer holds.
    pub(crate) fn sync(&mut self, snapshot: &Snapshot, groups: &Groups) {
        if self.tables.len() * groups.slots() > ENTRIES_MAX {
            let mix_stamp = self.mix_stamp;
            *self = Self { mix_stamp, ..Self::default() };
        }
        if !Arc::ptr_eq(&self.classes, &snapshot.classes) {
            self.classes = Arc::clone(&snapshot.classes);
        }
        if !Arc::ptr_eq(&self.mix, &snapshot.mix) && self.mix != snapshot.mix {
            self.mix = Arc::clone(&snapshot.mix);
            self.mix_stamp += 1;
        }
        if self.of_job.len() > 2 * snapshot.backlog.len() + 64 {
            self.of_job.retain(|id, _| snapshot.backlog.contains_key(id));
        }
    }

    /// The shapes of a job.
    pub(crate) fn of(&mut self, job: &Job) -> JobShape {
        if let Some((alternatives, shape)) = self.of_job.get(&job.id)
            && Arc::ptr_eq(alternatives, &job.alternatives)
        {
            return Arc::clone(shape);
        }
        let shape: JobShape = job.alternatives.iter().map(|one| self.intern(one)).collect();
        self.of_job.insert(job.id, (Arc::clone(&job.alternatives), Arc::clone(&shape)));
        shape
    }

    /// The alternative that is this shape.
    pub(crate) fn alternative(&self, shape: ShapeId) -> &Alternative {
        &self.tables[shape.0 as usize].alternative
    }

    /// What a group offers a shape.
    pub(crate) fn options(&mut self, shape: ShapeId, id: GroupId, group: &Group) -> &Options {
        let slot = id.index();
        let known = &self.tables[shape.0 as usize].entries;
        let fresh = known.get(slot).is_some_and(|entry| {
            entry.stamp == group.stamp
                && (entry.mix_stamp == self.mix_stamp || matches!(entry.options, Options::Lacks(_)))
        });
        if !fresh {
            let entry = self.work_out(shape, id, group);
            let entries = &mut self.tables[shape.0 as usize].entries;
            if entries.len() <= slot {
                entries.resize_with(slot + 1, Entry::default);
            }
            entries[slot] = entry;
        }
        &self.tables[shape.0 as usize].entries[slot].options
    }

    /// Where a shape could run if everything were free.
    pub(crate) fn prospects(&mut self, shape: ShapeId, groups: &Groups) -> Arc<Prospects> {
        let table = &mut self.tables[shape.0 as usize];
        match &table.prospects {
            Some((version, known)) if *version == groups.makes_version => Arc::clone(known),
            _ => {
                let found = Arc::new(prospects(&table.alternative, groups, &self.classes));
                table.prospects = Some((groups.makes_version, Arc::clone(&found)));
                found
            }
        }
    }

    fn intern(&mut self, alternative: &Alternative) -> ShapeId {
        if let Some(id) = self.ids.get(alternative) {
            return *id;
        }
        let id = ShapeId(u32::try_from(self.tables.len()).expect("fewer than 2^32 shapes"));
        self.ids.insert(alternative.clone(), id);
        let alternative = alternative.clone();
        self.tables.push(Table { alternative, entries: Vec::new(), prospects: None });
        id
    }

    fn work_out(&mut self, shape: ShapeId, id: GroupId, group: &Group) -> Entry {
        let alternative = &self.tables[shape.0 as usize].alternative;
        let judged =
            feasible::judge(alternative, &group.node, group.up, &group.free, &self.classes);
        let options = match judged {
            Verdict::Lacks(misfit) => Options::Lacks(misfit),
            Verdict::Fits(ways) => {
                let unusable = self.unusable(id, group);
                let alternative = &self.tables[shape.0 as usize].alternative;
                let cost = |way| self.cost(alternative, group, unusable, way);
                Options::Fits(ways.into_iter().map(cost).collect())
            }
        };
        Entry { stamp: group.stamp, mix_stamp: self.mix_stamp, options }
    }

    fn unusable(&mut self, id: GroupId, group: &Group) -> f64 {
        let slot = id.index();
        if self.unusable.len() <= slot {
            self.unusable.resize(slot + 1, (0, 0, 0.0));
        }
        let (stamp, mix_stamp, known) = self.unusable[slot];
        if stamp == group.stamp && mix_stamp == self.mix_stamp {
            return known;
        }
        let found = fragmentation::unusable(&group.node, &group.free, &self.mix, &self.classes);
        self.unusable[slot] = (group.stamp, self.mix_stamp, found);
        found
    }

    fn cost(&self, alternative: &Alternative, group: &Group, unusable: f64, way: Way) -> Choosable {
        let request = &alternative.request;
        let grant = Grant { cores: request.cores, memory: request.memory, devices: way.devices };
        let mut after = group.free.clone();
        after.take(&grant);
        let added = group.node.added_draw(&group.free, &grant, &self.classes);
        let unusable_after = fragmentation::unusable(&group.node, &after, &self.mix, &self.classes);
        Choosable {
            class: way.class,
            added_watts: watts(added),
            stranded: utilisation::stranded(&group.node, &after),
            capacity_lost: fragmentation::capacity_lost(unusable, unusable_after, &grant),
            grant,
        }
    }
}

fn prospects(alternative: &Alternative, groups: &Groups, classes: &Classes) -> Prospects {
    let mut least_watts: BTreeMap<ClassId, f64> = BTreeMap::new();
    for node in groups.makes_up() {
        let free = node.capacity(classes);
        let Verdict::Fits(ways) = feasible::judge(alternative, node, true, &free, classes) else {
            continue;
        };
        let request = &alternative.request;
        for way in ways {
            let share = request.devices.as_ref().map_or(Milli::WHOLE, |devices| devices.share);
            let may_be_awake =
                share < Milli::WHOLE && classes.get(way.class).share == ShareRule::Milli;
            let devices = if may_be_awake { Vec::new() } else { way.devices };
            let grant = Grant { cores: request.cores, memory: request.memory, devices };
            let added = watts(node.added_draw(&free, &grant, classes));
            let least = least_watts.entry(way.class).or_insert(added);
            *least = least.min(added);
        }
    }
    Prospects { least_watts }
}

fn watts(power: Milliwatts) -> f64 {
    power.0 as f64 / 1e3
}
