//! Room on the nodes for what was granted: who is moved, so that four devices that
//! are free on four nodes become four of one node.
//!
//! A node of the model is looked at as it would be without those of its runs that
//! may be moved, the emptiest nodes first until some will do; and of the runs
//! only as many are moved as it takes, the cheapest first. Where a gang wants to
//! be near, the switches are tried one after another. Who is moved must find room
//! elsewhere by the same rules, unless who it makes room for has starved; where it
//! is placed is for the passes to say.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use fleet::snapshot::Way;
use fleet::{Alternative, Free, Grant, JobId, NodeEntry, NodeId, Run, Snapshot, TaskIndex};

use super::entrants::Entrant;
use super::lots::Lots;
use super::view::on_model;
use crate::feasible::{Devices, Rules, Ways, judge};

/// How many ways to make room are looked at for whether those who are moved find room elsewhere.
const TRIES: usize = 8;
/// How many switches are tried as the first of a gang's.
const SWITCHES: usize = 32;
/// How many nodes are looked at in one go, until there are enough ways.
const LOOKS: usize = 32;

/// For whom room is made, and what that may cost.
#[derive(Clone, Copy)]
pub(super) struct Need<'a> {
    pub(super) entrant: &'a Entrant<'a>,
    /// What it was granted.
    pub(super) way: Way,
    /// The most that those who are moved may lose together; none where it has starved.
    pub(super) gain: Option<u64>,
}

/// Makes room, for one after another.
pub(super) struct Clearing<'a> {
    snapshot: &'a Snapshot,
    entrants: &'a [Entrant<'a>],
    lots: &'a Lots<'a>,
    rules: Rules<'a>,
    /// What each entrant loses by being moved.
    losses: Vec<u64>,
    /// The runs on each node, each with the position of its entrant.
    on_node: BTreeMap<NodeId, Vec<(usize, &'a Run)>>,
    /// The tasks that are not moved, of a gang the first.
    pub(super) settled: BTreeSet<(JobId, TaskIndex)>,
    /// The nodes on which room was made, or was found for those who are moved.
    used: BTreeSet<NodeId>,
    ways: Ways,
    /// How often it was asked whether a task has room on a node.
    pub(super) steps: u64,
    steps_max: u64,
}

/// A node as it would be.
#[derive(Clone)]
struct Site {
    node: NodeId,
    tasks: u32,
    /// The positions of those who are moved, ascending.
    moved: BTreeSet<usize>,
    loss: u64,
}

/// Nodes that have room together.
struct Opening {
    sites: Vec<Site>,
    moved: BTreeSet<usize>,
    loss: u64,
}

/// Who is moved, and where that makes room.
pub(super) struct Cleared {
    /// The positions of those who are moved.
    pub(super) moved: BTreeSet<usize>,
    pub(super) nodes: BTreeSet<NodeId>,
}

impl<'a> Clearing<'a> {
    pub(super) fn new(
        snapshot: &'a Snapshot,
        (entrants, lots): (&'a [Entrant<'a>], &'a Lots<'a>),
        (rules, settled): (Rules<'a>, BTreeSet<(JobId, TaskIndex)>),
        losses: Vec<u64>,
        steps_max: u64,
    ) -> Self {
        let mut on_node: BTreeMap<NodeId, Vec<(usize, &Run)>> = BTreeMap::new();
        for (place, entrant) in entrants.iter().enumerate() {
            for run in entrant.runs.iter().filter_map(|run| snapshot.runs.get(run)) {
                on_node.entry(run.placement.node).or_default().push((place, run));
            }
        }
        let (used, ways) = (BTreeSet::new(), Ways::default());
        Self {
            snapshot,
            entrants,
            lots,
            rules,
            losses,
            on_node,
            settled,
            used,
            ways,
            steps: 0,
            steps_max,
        }
    }

    /// Who is moved so that there is room; none where that costs too much.
    pub(super) fn make(&mut self, need: Need<'_>) -> Option<Cleared> {
        let asked = self.asked(need.entrant, need.way)?;
        let mut openings = self.openings(need, &asked);
        if self.steps >= self.steps_max {
            // Where not all was asked more would be moved than it takes.
            return None;
        }
        openings.retain(|opening| {
            !opening.moved.is_empty() && need.gain.is_none_or(|gain| opening.loss <= gain)
        });
        openings.sort_by_key(|opening| (opening.loss, opening.moved.len(), opening.sites[0].node));
        let tries = openings.iter().take(TRIES);
        let elsewhere = tries.enumerate().find_map(|(number, opening)| {
            self.elsewhere(opening, &asked).map(|nodes| (number, nodes))
        });
        let (number, nodes) = match elsewhere {
            Some(found) => found,
            None if need.gain.is_none() && !openings.is_empty() => (0, BTreeSet::new()),
            None => return None,
        };
        let opening = openings.swap_remove(number);
        let sites: BTreeSet<NodeId> = opening.sites.iter().map(|site| site.node).collect();
        self.used.extend(nodes);
        self.used.extend(&sites);
        let moved = opening.moved.iter().map(|place| &self.entrants[*place]);
        self.settled.extend(moved.chain([need.entrant]).map(key));
        Some(Cleared { moved: opening.moved, nodes: sites })
    }

    /// What one task of an entrant asks for on the model that it was granted.
    fn asked(&self, entrant: &Entrant<'_>, way: Way) -> Option<Alternative> {
        let given = entrant.job.alternatives.get(usize::from(way.alternative))?;
        Some(on_model(given, self.lots.model(way.class)))
    }

    /// The ways to make room, in the order of the nodes or switches.
    fn openings(&mut self, need: Need<'_>, asked: &Alternative) -> Vec<Opening> {
        let gang = need.entrant.job.gang;
        let tasks = need.entrant.tasks;
        let most = gang.map_or(1, |gang| gang.tasks_per_node.unwrap_or(tasks).min(tasks));
        let nodes = self.emptiest_first(need.way);
        if gang.is_none() {
            let mut sites = Vec::new();
            for some in nodes.chunks(LOOKS) {
                sites.extend(some.iter().filter_map(|entry| self.site(entry, (need, asked), most)));
                if sites.len() >= TRIES {
                    break;
                }
            }
            return sites.into_iter().map(|site| Opening::of(vec![site])).collect();
        }
        let sites: Vec<Site> =
            nodes.iter().filter_map(|entry| self.site(entry, (need, asked), most)).collect();
        let near = gang.and_then(|gang| gang.switches).map_or(usize::MAX, |most| most as usize);
        let under = self.under_switches(sites);
        let gathered = (0..under.len().min(SWITCHES)).filter_map(|first| {
            let sites = gather(&under, (first, near), tasks)?;
            // Of the last node only what is left is wanted.
            let (last, others) = sites.split_last()?;
            let last = self.site(self.snapshot.node(last.node), (need, asked), last.tasks)?;
            Some(Opening::of(others.iter().cloned().chain([last]).collect()))
        });
        gathered.collect()
    }

    /// The sites below each of the lowest switches, the cheapest first.
    fn under_switches(&self, sites: Vec<Site>) -> Vec<Vec<Site>> {
        let mut under: BTreeMap<Option<&str>, Vec<Site>> = BTreeMap::new();
        for site in sites {
            under.entry(self.switch(site.node)).or_default().push(site);
        }
        let mut under: Vec<Vec<Site>> = under.into_values().collect();
        for sites in &mut under {
            sites.sort_by_key(|site| {
                (site.loss / u64::from(site.tasks), site.moved.len(), site.node)
            });
        }
        under.sort_by_cached_key(|sites| {
            let loss = sites.iter().map(|site| site.loss).fold(0, u64::saturating_add);
            loss / u64::from(sites.iter().map(|site| site.tasks).sum::<u32>().max(1))
        });
        under
    }

    /// The nodes of a model, those first of which most is free.
    fn emptiest_first(&self, way: Way) -> Vec<&'a NodeEntry> {
        let nodes = self.snapshot.nodes.iter().map(AsRef::as_ref);
        let mut nodes: Vec<&NodeEntry> =
            nodes.filter(|entry: &&NodeEntry| self.lots.has(entry, way.class)).collect();
        nodes.sort_by_cached_key(|entry| {
            let devices = entry.node.devices.iter().zip(&entry.free.devices);
            let of_lot = devices.filter(|(class, _)| self.lots.is_one(**class, way.class));
            let free: u64 = of_lot.map(|(_, left)| u64::from(left.share.0)).sum();
            (Reverse((free, entry.free.cores, entry.free.memory)), entry.node.id)
        });
        nodes
    }

    fn switch(&self, node: NodeId) -> Option<&'a str> {
        let attachment = self.snapshot.nodes[node.index()].node.attachment.as_deref()?;
        attachment.switches.first().map(|uplink| uplink.switch.as_str())
    }

    /// A node without as many of its runs as it takes for up to so many tasks.
    fn site(
        &mut self,
        entry: &NodeEntry,
        (need, asked): (Need<'_>, &Alternative),
        most: u32,
    ) -> Option<Site> {
        let node = entry.node.id;
        if !entry.up || self.used.contains(&node) {
            return None;
        }
        let mut movable: Vec<(usize, &Run)> = self.on_node.get(&node).cloned().unwrap_or_default();
        movable.retain(|(place, _)| self.may_move(&self.entrants[*place], need));
        movable.sort_by_key(|(place, run)| {
            let devices = run.placement.grant.devices.iter();
            let held: u64 = devices.map(|held| u64::from(held.share.0)).sum();
            (self.losses[*place], held, *place)
        });
        let mut free = entry.free.clone();
        movable.iter().for_each(|(_, run)| free.give_back(&run.placement.grant));
        let tasks = self.fit(entry, (asked, &mut free.clone()), most);
        if tasks == 0 {
            return None;
        }
        // Those who lose most stay, if there is room without them going; of those who lose as much
        // those who hold most, since others find room more easily.
        let mut moved = BTreeSet::new();
        for (place, run) in movable.into_iter().rev() {
            let grant = &run.placement.grant;
            let mut with = free.clone();
            with.take(grant);
            if self.fit(entry, (asked, &mut with.clone()), tasks) == tasks {
                free = with;
            } else {
                moved.insert(place);
            }
        }
        let loss = moved.iter().map(|place| self.losses[*place]).fold(0, u64::saturating_add);
        Some(Site { node, tasks, moved, loss })
    }

    /// Who runs may be moved if all of it does; gangs only for one that has starved.
    fn may_move(&self, entrant: &Entrant<'_>, need: Need<'_>) -> bool {
        let is_free = entrant.held.is_some() && !entrant.is_pinned && !entrant.is_leaving;
        let is_gang = entrant.job.gang.is_some();
        is_free && (!is_gang || need.gain.is_none()) && !self.settled.contains(&key(entrant))
    }

    /// How many tasks have room, up to so many, and what is free once they are there.
    fn fit(
        &mut self,
        entry: &NodeEntry,
        (asked, free): (&Alternative, &mut Free),
        most: u32,
    ) -> u32 {
        for tasks in 0..most {
            let Some(grant) = self.grant(entry, asked, free) else { return tasks };
            free.take(&grant);
        }
        most
    }

    /// What one task would get.
    fn grant(&mut self, entry: &NodeEntry, asked: &Alternative, free: &Free) -> Option<Grant> {
        if self.steps >= self.steps_max {
            return None;
        }
        self.steps += 1;
        self.ways.clear();
        let (node, ways, rules) = (&entry.node, &mut self.ways, self.rules);
        let misfit = judge(asked, node, entry.up, free, rules, Devices::ByRule, ways);
        let way = ways.found.first().filter(|_| misfit.is_none())?;
        Some(way.grant(asked, node, free))
    }

    /// The nodes on which those who are moved have room once that was made; none where they have
    /// not.
    fn elsewhere(&mut self, opening: &Opening, asked: &Alternative) -> Option<BTreeSet<NodeId>> {
        let mut free: BTreeMap<NodeId, Free> = BTreeMap::new();
        for place in &opening.moved {
            let runs = self.entrants[*place].runs.iter();
            for run in runs.filter_map(|run| self.snapshot.runs.get(run)) {
                let node = run.placement.node;
                let known = free.entry(node);
                let left = known.or_insert_with(|| self.snapshot.node(node).free.clone());
                left.give_back(&run.placement.grant);
            }
        }
        for site in &opening.sites {
            let entry = self.snapshot.node(site.node);
            let left = free.entry(site.node).or_insert_with(|| entry.free.clone());
            let mut state = left.clone();
            if self.fit(entry, (asked, &mut state), site.tasks) < site.tasks {
                return None;
            }
            free.insert(site.node, state);
        }
        let mut found = BTreeSet::new();
        for place in &opening.moved {
            let entrant = &self.entrants[*place];
            let way = entrant.held?;
            let asked = self.asked(entrant, way)?;
            for _ in 0..entrant.tasks {
                found.insert(self.find(&asked, way, &mut free)?);
            }
        }
        Some(found)
    }

    /// The first node with room for one more task, which is taken.
    fn find(
        &mut self,
        asked: &Alternative,
        way: Way,
        free: &mut BTreeMap<NodeId, Free>,
    ) -> Option<NodeId> {
        for entry in self.snapshot.nodes.iter() {
            let node = entry.node.id;
            if !self.lots.has(entry, way.class) || self.used.contains(&node) {
                continue;
            }
            let known = free.get(&node).unwrap_or(&entry.free);
            if let Some(grant) = self.grant(entry, asked, known) {
                free.entry(node).or_insert_with(|| entry.free.clone()).take(&grant);
                return Some(node);
            }
        }
        None
    }
}

impl Opening {
    fn of(sites: Vec<Site>) -> Self {
        let moved: BTreeSet<usize> = sites.iter().flat_map(|site| site.moved.clone()).collect();
        let loss = sites.iter().map(|site| site.loss).fold(0, u64::saturating_add);
        Self { sites, moved, loss }
    }
}

fn key(entrant: &Entrant<'_>) -> (JobId, TaskIndex) {
    (entrant.job.id, entrant.task)
}

/// Nodes for so many tasks, the cheapest first: below one switch, and where that is not enough
/// below the next cheapest, up to so many. None where there are not enough.
fn gather(under: &[Vec<Site>], (first, near): (usize, usize), tasks: u32) -> Option<Vec<Site>> {
    let others = under.iter().enumerate().filter(|(place, _)| *place != first);
    let switches = [&under[first]].into_iter().chain(others.map(|(_, sites)| sites)).take(near);
    let (mut found, mut left) = (Vec::new(), tasks);
    for site in switches.flatten() {
        let tasks = site.tasks.min(left);
        left -= tasks;
        found.push(Site { tasks, ..site.clone() });
        if left == 0 {
            return Some(found);
        }
    }
    None
}
