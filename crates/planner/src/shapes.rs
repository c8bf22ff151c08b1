//! What is known about each shape of job, on each group of nodes.
//!
//! A shape is one alternative with everything in it. Where it has room depends
//! only on shape and group: it is worked out once, and again for those groups
//! only that changed. What a choice does to its node depends on the arriving
//! mix and on which objectives are weighed too. Everything here can be
//! forgotten without changing a plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::explanation::{Constraint, FellOut};
use fleet::{Alternative, ClassId, Classes, Job, JobId, Milli, Milliwatts, ShareRule, Snapshot};

use crate::feasible::{self, Devices, Misfit, Standing, Verdict};
use crate::groups::{Group, GroupId, Groups};

/// The most entries kept, over all shapes; of 24 bytes each. Past it everything is forgotten.
const ENTRIES_MAX: usize = 16_000_000;

/// The position of a shape among all shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ShapeId(u32);

impl ShapeId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The shapes of a job's alternatives, in order.
pub(crate) type JobShape = Arc<[ShapeId]>;

/// What is known about all shapes.
#[derive(Debug, Default)]
pub(crate) struct Shapes {
    classes: Arc<Classes>,
    ids: BTreeMap<Alternative, ShapeId>,
    tables: Vec<Table>,
    of_job: BTreeMap<JobId, (Arc<Vec<Alternative>>, JobShape)>,
    /// Grows when shapes are numbered anew.
    pub(crate) epoch: u64,
    /// How many pairs of shape and group were judged.
    pub(crate) judged: u64,
}

/// What is known about one shape.
#[derive(Debug)]
struct Table {
    alternative: Alternative,
    /// How many changes of groups it has seen.
    cursor: u64,
    /// By the slot of the group.
    entries: Vec<Entry>,
    /// How many nodes have room.
    roomy: u32,
    /// By make, in the numbering of this epoch.
    standings: Vec<Option<Standing>>,
    epoch: u64,
    /// The version of the makes that it holds for, and where the shape could run at all.
    prospects: Option<(u64, Arc<Prospects>)>,
}

/// What is known about one shape on one group.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    stamp: u64,
    nodes: u32,
    lacks: Option<Constraint>,
    best: u64,
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
        let is_new = !Arc::ptr_eq(&self.classes, &snapshot.classes);
        if self.tables.len() * groups.slots() > ENTRIES_MAX || is_new {
            let classes = Arc::clone(&snapshot.classes);
            let (epoch, judged) = (self.epoch + 1, self.judged);
            *self = Self { classes, epoch, judged, ..Self::default() };
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
        &self.table(shape).alternative
    }

    /// Judges a shape on every group that changed since it was last asked for.
    pub(crate) fn refresh(&mut self, shape: ShapeId, groups: &Groups) {
        let table = &mut self.tables[shape.index()];
        let classes = &self.classes;
        let slots = groups.slots();
        if table.epoch != groups.epoch {
            table.epoch = groups.epoch;
            table.standings.clear();
        }
        if table.entries.len() != slots {
            table.entries.reserve_exact(slots.saturating_sub(table.entries.len()));
            table.entries.resize(slots, Entry::default());
        }
        let judged = &mut self.judged;
        match groups.log.since(table.cursor) {
            Some(changes) if changes.len() < 4 * slots + 64 => {
                changes.iter().for_each(|slot| *judged += table.look(*slot, groups, classes));
            }
            _ => {
                table.roomy = 0;
                for slot in (0..).map(GroupId).take(slots) {
                    table.entries[slot.index()].nodes = 0;
                    *judged += table.look(slot, groups, classes);
                }
            }
        }
        table.cursor = groups.log.end();
    }

    /// How many nodes have room for a shape that is fresh.
    pub(crate) fn roomy(&self, shape: ShapeId) -> u32 {
        self.table(shape).roomy
    }

    /// Whether a group has room for a shape that is fresh.
    pub(crate) fn has_room(&self, shape: ShapeId, id: GroupId) -> bool {
        let entry = &self.table(shape).entries[id.index()];
        entry.nodes > 0 && entry.lacks.is_none()
    }

    /// Why a shape that is fresh has room nowhere, for every constraint at which nodes fell out.
    pub(crate) fn fell_out(&self, shape: ShapeId, groups: &Groups) -> Vec<FellOut> {
        let table = self.table(shape);
        let mut fell_out: Vec<FellOut> = Vec::new();
        let mut last = 0;
        for (slot, entry) in (0..).map(GroupId).zip(&table.entries) {
            let Some(constraint) = entry.lacks.filter(|_| entry.nodes > 0) else { continue };
            if fell_out.get(last).is_none_or(|found| found.constraint != constraint) {
                let known = fell_out.iter().position(|found| found.constraint == constraint);
                last = known.unwrap_or(fell_out.len());
            }
            if last == fell_out.len() {
                let group = groups.get(slot);
                let asked = table.judge(group, &self.classes).map_or(0, |misfit| misfit.asked);
                fell_out.push(FellOut { constraint, nodes: 0, asked, best: 0 });
            }
            fell_out[last].nodes += entry.nodes;
            fell_out[last].best = fell_out[last].best.max(entry.best);
        }
        fell_out.sort_by_key(|found| found.constraint);
        fell_out
    }

    /// Where a shape could run if everything were free.
    pub(crate) fn prospects(&mut self, shape: ShapeId, groups: &Groups) -> Arc<Prospects> {
        let table = &mut self.tables[shape.index()];
        match &table.prospects {
            Some((version, known)) if *version == groups.makes_version => Arc::clone(known),
            _ => {
                let found = Arc::new(prospects(&table.alternative, groups, &self.classes));
                table.prospects = Some((groups.makes_version, Arc::clone(&found)));
                found
            }
        }
    }

    fn table(&self, shape: ShapeId) -> &Table {
        &self.tables[shape.index()]
    }

    fn intern(&mut self, alternative: &Alternative) -> ShapeId {
        if let Some(id) = self.ids.get(alternative) {
            return *id;
        }
        let id = ShapeId(u32::try_from(self.tables.len()).expect("fewer than 2^32 shapes"));
        self.ids.insert(alternative.clone(), id);
        self.tables.push(Table {
            alternative: alternative.clone(),
            cursor: 0,
            entries: Vec::new(),
            roomy: 0,
            standings: Vec::new(),
            epoch: 0,
            prospects: None,
        });
        id
    }
}

impl Table {
    /// Looks again at a slot, and returns how many judgements that took.
    fn look(&mut self, slot: GroupId, groups: &Groups, classes: &Classes) -> u64 {
        let mut entry = self.entries[slot.index()];
        if entry.lacks.is_none() {
            self.roomy -= entry.nodes;
        }
        let mut judged = 0;
        match groups.find(slot) {
            None => entry.nodes = 0,
            Some(group) => {
                entry.nodes = group.count();
                if entry.stamp != group.stamp {
                    self.stand(group, groups, classes);
                    let misfit = self.judge(group, classes);
                    entry.stamp = group.stamp;
                    entry.lacks = misfit.map(|misfit| misfit.constraint);
                    entry.best = misfit.map_or(0, |misfit| misfit.best);
                    judged = 1;
                }
            }
        }
        if entry.lacks.is_none() {
            self.roomy += entry.nodes;
        }
        self.entries[slot.index()] = entry;
        judged
    }

    /// Sees to it that the standing on the make of a group is known.
    fn stand(&mut self, group: &Group, groups: &Groups, classes: &Classes) {
        let make = group.make.0 as usize;
        if self.standings.len() <= make {
            self.standings.resize(groups.makes(), None);
        }
        if self.standings[make].is_none() {
            let is_uniform = group.glance.is_some();
            let found = feasible::stand(&self.alternative, &group.node, is_uniform, classes);
            self.standings[make] = Some(found);
        }
    }

    fn judge(&self, group: &Group, classes: &Classes) -> Option<Misfit> {
        let standing = self.standings[group.make.0 as usize].expect("the make was looked at");
        match standing {
            _ if !group.up => Some(feasible::refused(Constraint::Up)),
            Standing::Never(misfit) => Some(misfit),
            Standing::AtAGlance => {
                let glance = group.glance.unwrap_or_default();
                feasible::glance_misfit(&self.alternative, &group.free, glance)
            }
            Standing::ByLook => {
                let judged = feasible::judge(
                    &self.alternative,
                    &group.node,
                    group.up,
                    &group.free,
                    classes,
                    Devices::ByRule,
                );
                match judged {
                    Verdict::Lacks(misfit) => Some(misfit),
                    Verdict::Fits(_) => None,
                }
            }
        }
    }
}

fn prospects(alternative: &Alternative, groups: &Groups, classes: &Classes) -> Prospects {
    let mut least_watts: BTreeMap<ClassId, f64> = BTreeMap::new();
    for node in groups.makes_up() {
        let free = node.capacity(classes);
        let judged = feasible::judge(alternative, node, true, &free, classes, Devices::ByRule);
        let Verdict::Fits(ways) = judged else { continue };
        let request = &alternative.request;
        for way in ways {
            let share = request.devices.as_ref().map_or(Milli::WHOLE, |devices| devices.share);
            let may_be_awake =
                share < Milli::WHOLE && classes.get(way.class).share == ShareRule::Milli;
            let devices = if may_be_awake { Vec::new() } else { way.devices };
            // Other runs may have woken the sockets already.
            let cores = node.least_core_power(request.cores);
            let grant = fleet::Grant { devices, ..fleet::Grant::default() };
            let added = watts(cores + node.added_draw(&free, &grant, classes));
            let least = least_watts.entry(way.class).or_insert(added);
            *least = least.min(added);
        }
    }
    Prospects { least_watts }
}

/// Power in watts.
pub(crate) fn watts(power: Milliwatts) -> f64 {
    power.0 as f64 / 1e3
}
