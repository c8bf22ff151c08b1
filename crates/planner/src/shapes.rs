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
use fleet::{
    Alternative, ClassId, Classes, Job, JobId, Milli, MilliCores, Milliwatts, ShareRule, Snapshot,
};

use crate::feasible::{self, Devices, Misfit, Rules, Standing, Ways};
use crate::groups::{Change, Group, GroupId, Groups, MakeId, Summary};

/// The most shapes that are known at a time. Past it everything is forgotten.
const SHAPES_MAX: usize = 16_384;

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
    oversubscribe: Milli,
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
    /// Whether the group in a slot has room, 64 slots a word.
    room: Vec<u64>,
    /// How many nodes have room.
    roomy: u32,
    /// By make, in the numbering of this epoch.
    standings: Vec<Option<Standing>>,
    epoch: u64,
    /// The version of the makes that it holds for, and where the shape could run at all.
    prospects: Option<(u64, Arc<Prospects>)>,
}

/// Where a shape could run if everything were free.
#[derive(Debug, Default)]
pub(crate) struct Prospects {
    /// For each class that could run it, the least watts that it adds there.
    pub(crate) least_watts: BTreeMap<ClassId, f64>,
}

impl Shapes {
    /// Forgets what no longer holds.
    pub(crate) fn sync(&mut self, snapshot: &Snapshot, oversubscribe: Milli) {
        let is_new =
            !Arc::ptr_eq(&self.classes, &snapshot.classes) || self.oversubscribe != oversubscribe;
        if self.tables.len() > SHAPES_MAX || is_new {
            let classes = Arc::clone(&snapshot.classes);
            let (epoch, judged) = (self.epoch + 1, self.judged);
            *self = Self { classes, oversubscribe, epoch, judged, ..Self::default() };
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
        let rules = Rules { classes: &self.classes, oversubscribe: self.oversubscribe };
        let slots = groups.slots();
        if table.epoch != groups.epoch {
            table.epoch = groups.epoch;
            table.standings.clear();
        }
        table.room.resize(slots.div_ceil(64), 0);
        match groups.log.since(table.cursor) {
            Some(changes) if changes.len() < 4 * slots + 64 => {
                changes.iter().for_each(|change| table.follow(*change, groups, rules));
                self.judged += changes.len() as u64;
            }
            _ => {
                table.room.fill(0);
                table.roomy = 0;
                for (slot, summary) in (0..).map(GroupId).zip(groups.summaries()) {
                    let (before, after) = (0, summary.nodes);
                    table.follow(Change { slot, before, after }, groups, rules);
                }
                self.judged += groups.count();
            }
        }
        table.cursor = groups.log.end();
    }

    /// How many nodes have room for a shape that is fresh.
    pub(crate) fn roomy(&self, shape: ShapeId) -> u32 {
        self.table(shape).roomy
    }

    /// How a shape that is fresh stands on the make of a group.
    pub(crate) fn standing(&self, shape: ShapeId, make: MakeId) -> Option<Standing> {
        self.table(shape).standings.get(make.0 as usize).copied().flatten()
    }

    /// Whether a node that is in no slot has room for a shape that is fresh.
    pub(crate) fn fits(&self, shape: ShapeId, group: &Group) -> bool {
        let asked = self.alternative(shape);
        if self.standing(shape, group.make) == Some(Standing::BySummary) {
            return feasible::misfit_by_summary(asked, &Summary::of(group)).is_none();
        }
        let Group { node, up, free, .. } = group;
        let (by_rule, ways) = (Devices::ByRule, &mut Ways::default());
        feasible::judge(asked, node, *up, free, self.rules(), by_rule, ways).is_none()
    }

    /// Whether a group has room for a shape that is fresh.
    pub(crate) fn has_room(&self, shape: ShapeId, id: GroupId) -> bool {
        self.table(shape).has_room(id)
    }

    /// The groups that have room for one of these shapes, which are fresh, in the order of slots.
    pub(crate) fn with_room(&self, shapes: &[ShapeId]) -> impl Iterator<Item = GroupId> {
        let words = shapes.iter().map(|shape| self.table(*shape).room.len()).max().unwrap_or(0);
        (0..words).flat_map(move |position| {
            let word = |shape: &ShapeId| self.table(*shape).room[position];
            let mut left = shapes.iter().fold(0, |all, shape| all | word(shape));
            std::iter::from_fn(move || {
                let bit = (left != 0).then(|| left.trailing_zeros())?;
                left &= left - 1;
                Some(GroupId(u32::try_from(64 * position).expect("few slots") + bit))
            })
        })
    }

    /// How many groups have room for one of these shapes, which are fresh.
    pub(crate) fn count_with_room(&self, shapes: &[ShapeId]) -> usize {
        let words = shapes.iter().map(|shape| self.table(*shape).room.len()).max().unwrap_or(0);
        let word = |position: usize| {
            shapes.iter().fold(0_u64, |all, shape| all | self.table(*shape).room[position])
        };
        (0..words).map(|position| word(position).count_ones() as usize).sum()
    }

    /// Why a shape that is fresh has room nowhere, for every constraint at which nodes fell out.
    pub(crate) fn fell_out(&self, shape: ShapeId, groups: &Groups) -> Vec<FellOut> {
        let table = self.table(shape);
        let mut fell_out: Vec<FellOut> = Vec::new();
        let mut last = 0;
        for (slot, summary) in (0..).map(GroupId).zip(groups.summaries()) {
            if summary.nodes == 0 {
                continue;
            }
            let misfit = table.judge(slot, groups, self.rules());
            let Misfit { constraint, asked, best } = misfit.expect("it has room nowhere");
            if fell_out.get(last).is_none_or(|found| found.constraint != constraint) {
                let known = fell_out.iter().position(|found| found.constraint == constraint);
                last = known.unwrap_or(fell_out.len());
            }
            if last == fell_out.len() {
                fell_out.push(FellOut { constraint, nodes: 0, asked, best: 0 });
            }
            fell_out[last].nodes += summary.nodes;
            fell_out[last].best = fell_out[last].best.max(best);
        }
        fell_out.sort_by_key(|found| found.constraint);
        fell_out
    }

    /// Where a shape could run if everything were free.
    pub(crate) fn prospects(&mut self, shape: ShapeId, groups: &Groups) -> Arc<Prospects> {
        let rules = Rules { classes: &self.classes, oversubscribe: self.oversubscribe };
        let table = &mut self.tables[shape.index()];
        match &table.prospects {
            Some((version, known)) if *version == groups.makes_version => Arc::clone(known),
            _ => {
                let found = Arc::new(prospects(&table.alternative, groups, rules));
                table.prospects = Some((groups.makes_version, Arc::clone(&found)));
                found
            }
        }
    }

    fn rules(&self) -> Rules<'_> {
        Rules { classes: &self.classes, oversubscribe: self.oversubscribe }
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
            room: Vec::new(),
            roomy: 0,
            standings: Vec::new(),
            epoch: 0,
            prospects: None,
        });
        id
    }
}

impl Table {
    fn has_room(&self, slot: GroupId) -> bool {
        self.room[slot.index() / 64] >> (slot.index() % 64) & 1 == 1
    }

    /// Follows a change of a slot. Of several changes of one slot each looks at what has become of
    /// it after the last; the counts of nodes before and after them add up.
    fn follow(&mut self, change: Change, groups: &Groups, rules: Rules<'_>) {
        let slot = change.slot;
        self.roomy -= if self.has_room(slot) { change.before } else { 0 };
        let summary = &groups.summaries()[slot.index()];
        let has_room = summary.nodes > 0 && {
            self.stand(summary.make, groups, rules);
            self.judge(slot, groups, rules).is_none()
        };
        let (word, bit) = (slot.index() / 64, 1 << (slot.index() % 64));
        if has_room {
            self.room[word] |= bit;
            self.roomy += change.after;
        } else {
            self.room[word] &= !bit;
        }
    }

    /// Sees to it that the standing on a make is known.
    fn stand(&mut self, make: MakeId, groups: &Groups, rules: Rules<'_>) {
        let position = make.0 as usize;
        if self.standings.get(position).copied().flatten().is_some() {
            return;
        }
        self.standings.resize(groups.makes(), None);
        let (node, is_uniform) = groups.make(make);
        let found = feasible::stand(&self.alternative, node, is_uniform, rules);
        self.standings[position] = Some(found);
    }

    /// What a group on a make that was looked at lacks.
    fn judge(&self, slot: GroupId, groups: &Groups, rules: Rules<'_>) -> Option<Misfit> {
        let summary = &groups.summaries()[slot.index()];
        if !summary.up {
            return Some(feasible::refused(Constraint::Up));
        }
        match self.standings[summary.make.0 as usize].expect("the make was looked at") {
            Standing::Never(misfit) => Some(misfit),
            Standing::BySummary => feasible::misfit_by_summary(&self.alternative, summary),
            Standing::ByLook => {
                let Group { node, up, free, .. } = groups.get(slot);
                let asked = &self.alternative;
                let (by_rule, ways) = (Devices::ByRule, &mut Ways::default());
                feasible::judge(asked, node, *up, free, rules, by_rule, ways)
            }
        }
    }
}

fn prospects(alternative: &Alternative, groups: &Groups, rules: Rules<'_>) -> Prospects {
    let mut least_watts: BTreeMap<ClassId, f64> = BTreeMap::new();
    let mut ways = Ways::default();
    let (request, classes) = (&alternative.request, rules.classes);
    for node in groups.makes_up() {
        let free = node.capacity(classes);
        ways.clear();
        let by_rule = Devices::ByRule;
        feasible::judge(alternative, node, true, &free, rules, by_rule, &mut ways);
        for way in &ways.found {
            let share = request.devices.as_ref().map_or(Milli::WHOLE, |devices| devices.share);
            let may_be_awake =
                share < Milli::WHOLE && classes.get(way.class).share != ShareRule::Exclusive;
            let mut grant = way.grant(alternative, node, &free);
            // Other runs may have woken sockets and a shared device already.
            grant.cores = MilliCores::ZERO;
            if may_be_awake {
                grant.devices.clear();
            }
            let cores = node.least_core_power(request.cores);
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
