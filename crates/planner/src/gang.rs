//! Gangs: all tasks that wait get a place at the same time, or none does.
//!
//! Every way to run the tasks (one alternative on one class) is tried by
//! itself, because a gang runs on like devices. Nodes are filled under the
//! lowest switch below which all tasks fit; of several such switches under the
//! one with the least room, so that the others stay whole; in it, the roomiest
//! nodes first. So tasks are as near to each other as there is room. What they
//! send each other over the network, and the slowest of the devices within a
//! node, lengthens all of them alike. Of the ways the one with the best scores
//! is taken.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use fleet::communication::{Seat, gang_step};
use fleet::snapshot::Waiting;
use fleet::{Alternative, Attachment, ClassId, Gang, NodeId, Rate};

use crate::Scratch;
use crate::demand::Demand;
use crate::effects::Choosable;
use crate::groups::{Group, GroupId};
use crate::shapes::{JobShape, ShapeId};
use crate::weigh::{Candidate, Weigher};

/// What looking for places came to.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// One for each waiting task, or none at all.
    pub(crate) members: Vec<Candidate>,
    /// How many tasks fit at the same time; at most those that wait.
    pub(crate) fit: u32,
}

/// One way to run the tasks.
#[derive(Clone, Copy)]
struct Kind<'a> {
    number: u16,
    shape: ShapeId,
    alternative: &'a Alternative,
    class: ClassId,
}

/// A node with room.
#[derive(Clone, Debug)]
struct Site {
    group: GroupId,
    node: NodeId,
    /// How many tasks it takes.
    tasks: u32,
}

/// A place for one task, before it is known how far the others are.
struct Placed {
    state: Group,
    node: NodeId,
    choosable: Choosable,
}

/// Looks for places for all tasks of a gang that wait. The shape is fresh.
pub(crate) fn gather(
    weigher: &Weigher<'_>,
    waiting: &Waiting,
    (shape, gang): (&JobShape, Gang),
    scratch: &mut Scratch,
) -> Gathered {
    let job = &waiting.job;
    let demand = Demand::new(job, shape, weigher.snapshot, weigher.policy, scratch);
    let mut found = Gathered::default();
    let mut best: Option<(Vec<u64>, Vec<Candidate>)> = None;
    for (number, one) in (0..=u16::MAX).zip(shape.iter()) {
        let alternative = &job.alternatives[usize::from(number)];
        for class in demand.classes(usize::from(number)) {
            let kind = Kind { number, shape: *one, alternative, class };
            let sites = sites(kind, (waiting.count(), gang), scratch);
            let (sites, fit) = choose(sites, (waiting.count(), gang), scratch);
            found.fit = found.fit.max(fit);
            if sites.is_empty() {
                continue;
            }
            let members = members(weigher, &demand, (kind, &sites), scratch);
            let worth = worth(&members);
            if best.as_ref().is_none_or(|(known, _)| worth > *known) {
                best = Some((worth, members));
            }
        }
    }
    found.members = best.map(|(_, members)| members).unwrap_or_default();
    found
}

/// The scores of all members together, tier by tier.
fn worth(members: &[Candidate]) -> Vec<u64> {
    let tiers = members.first().map_or(0, |member| member.tiers.len());
    let sum = |tier: usize| members.iter().map(|member| u64::from(member.tiers[tier].0)).sum();
    (0..tiers).map(sum).collect()
}

/// The nodes with room, of each group no more than all tasks could be spread over.
fn sites(kind: Kind<'_>, (tasks, gang): (u32, Gang), scratch: &mut Scratch) -> Vec<Site> {
    let limit = gang.tasks_per_node.unwrap_or(u32::MAX).min(tasks);
    let groups: Vec<GroupId> = scratch.shapes.with_room(&[kind.shape]).collect();
    let mut sites = Vec::new();
    for id in groups {
        let mut state = scratch.groups.get(id).alone(scratch.groups.get(id).first());
        let mut taken = 0;
        while taken < limit {
            let Some(choosable) = option(kind, &state, scratch) else { break };
            let grant = choosable.way.grant(kind.alternative, &state.node, &state.free);
            state.free.take(&grant);
            taken += 1;
        }
        if taken > 0 {
            let nodes = scratch.groups.get(id).nodes.iter().take(tasks as usize);
            sites.extend(nodes.map(|node| Site { group: id, node: *node, tasks: taken }));
        }
    }
    sites
}

/// How a node that is in no slot takes one more task, the most wanted way of the class.
fn option(kind: Kind<'_>, state: &Group, scratch: &mut Scratch) -> Option<Choosable> {
    let Scratch { shapes, appraiser, .. } = scratch;
    if !shapes.fits(kind.shape, state) {
        return None;
    }
    let options = appraiser.options(kind.shape, shapes, GroupId(0), state);
    options.iter().find(|option| option.way.class == kind.class).copied()
}

/// The nodes to be filled, each with the tasks it gets; none where not all fit. Also how many fit
/// in all.
fn choose(sites: Vec<Site>, (tasks, gang): (u32, Gang), scratch: &Scratch) -> (Vec<Site>, u32) {
    let attachment = |site: &Site| scratch.groups.get(site.group).node.attachment.clone();
    let switch = |site: &Site, level: usize| {
        let attachment = attachment(site)?;
        Some(attachment.switches.get(level)?.switch.clone())
    };
    let heights = sites.iter().map(|site| attachment(site).map_or(0, |one| one.switches.len()));
    let height = heights.max().unwrap_or(0);
    // Below one node, below each switch from the lowest level up, below all of them.
    for level in 0..height + 2 {
        let mut below: BTreeMap<(bool, Option<String>, Option<NodeId>), Vec<Site>> =
            BTreeMap::new();
        for site in &sites {
            let name = match level {
                0 => Some((true, None, Some(site.node))),
                _ if level == height + 1 => Some((true, None, None)),
                _ => switch(site, level - 1).map(|name| (true, Some(name), None)),
            };
            if let Some(name) = name {
                below.entry(name).or_default().push(site.clone());
            }
        }
        let room = |sites: &[Site]| sites.iter().map(|site| u64::from(site.tasks)).sum::<u64>();
        let roomy = below.into_values().filter(|sites| room(sites) >= u64::from(tasks));
        let mut roomy: Vec<Vec<Site>> = roomy.collect();
        roomy.sort_by_key(|sites| room(sites));
        for sites in roomy {
            let sites = fill(sites, (tasks, gang), scratch);
            if !sites.is_empty() {
                return (sites, tasks);
            }
        }
    }
    (Vec::new(), most(&sites, (tasks, gang), scratch))
}

/// The name of the lowest switch above a node.
fn lowest(site: &Site, scratch: &Scratch) -> Option<String> {
    let attachment = scratch.groups.get(site.group).node.attachment.as_ref()?;
    attachment.switches.first().map(|uplink| uplink.switch.clone())
}

/// How much room there is below each of the lowest switches.
fn rooms(sites: &[Site], scratch: &Scratch) -> BTreeMap<Option<String>, u64> {
    let mut rooms = BTreeMap::new();
    for site in sites {
        *rooms.entry(lowest(site, scratch)).or_default() += u64::from(site.tasks);
    }
    rooms
}

/// The nodes that take all tasks: below the roomiest of the lowest switches first, and there on the
/// roomiest nodes, the last of them the tightest that suffices. None where that takes more switches
/// than the gang wants.
fn fill(mut sites: Vec<Site>, (tasks, gang): (u32, Gang), scratch: &Scratch) -> Vec<Site> {
    let rooms = rooms(&sites, scratch);
    sites.sort_by_cached_key(|site| {
        let switch = lowest(site, scratch);
        (Reverse(rooms[&switch]), switch, Reverse(site.tasks), site.node)
    });
    let mut filled: Vec<Site> = Vec::new();
    let mut under = BTreeSet::new();
    let mut left = tasks;
    let mut rest = sites.into_iter().peekable();
    while let Some(mut site) = rest.next() {
        if left == 0 {
            break;
        }
        let switch = lowest(&site, scratch);
        // Where one node takes all that is left, the tightest below the same switch does.
        while site.tasks >= left
            && rest.peek().is_some_and(|next| {
                next.tasks >= left && next.tasks < site.tasks && lowest(next, scratch) == switch
            })
        {
            site = rest.next().expect("it was just looked at");
        }
        site.tasks = site.tasks.min(left);
        left -= site.tasks;
        under.insert(switch);
        filled.push(site);
    }
    let is_near = gang.switches.is_none_or(|most| under.len() <= most as usize);
    if left == 0 && is_near { filled } else { Vec::new() }
}

/// How many tasks fit below as many switches as the gang wants.
fn most(sites: &[Site], (tasks, gang): (u32, Gang), scratch: &Scratch) -> u32 {
    let mut rooms: Vec<u64> = rooms(sites, scratch).into_values().collect();
    rooms.sort_unstable_by_key(|room| Reverse(*room));
    let switches = gang.switches.map_or(usize::MAX, |most| most as usize);
    let most: u64 = rooms.iter().take(switches).sum();
    u32::try_from(most).unwrap_or(u32::MAX).min(tasks)
}

/// The tasks on these nodes, decided completely.
fn members(
    weigher: &Weigher<'_>,
    demand: &Demand,
    (kind, sites): (Kind<'_>, &[Site]),
    scratch: &mut Scratch,
) -> Vec<Candidate> {
    let mut placed = Vec::new();
    for site in sites {
        let mut state = scratch.groups.get(site.group).alone(site.node);
        for _ in 0..site.tasks {
            let choosable = option(kind, &state, scratch).expect("the node takes so many tasks");
            let before = state.alone(site.node);
            let grant = choosable.way.grant(kind.alternative, &state.node, &state.free);
            state.free.take(&grant);
            placed.push(Placed { state: before, node: site.node, choosable });
        }
    }
    let pace = demand.pace(usize::from(kind.number), kind.class);
    // Who talks to others is as slow as the slowest of them.
    let within = placed.iter().map(|one| one.choosable.effects.stretch).fold(0.0, f64::max);
    let talks = kind.alternative.communication.is_some();
    let shared = talks.then(|| within + between(kind.alternative, pace.rate, &placed));
    let member = |one: &Placed| {
        let mut choosable = one.choosable;
        choosable.effects.stretch = shared.unwrap_or(choosable.effects.stretch);
        let grant = choosable.way.grant(kind.alternative, &one.state.node, &one.state.free);
        weigher.member(demand, (kind.number, pace), (&one.state, grant), &choosable)
    };
    placed.iter().map(member).collect()
}

/// By what part tasks take longer because of what they send each other over the network.
fn between(alternative: &Alternative, rate: Rate, placed: &[Placed]) -> f64 {
    let Some(communication) = &alternative.communication else { return 0.0 };
    fn seat(one: &Placed) -> Seat<'_> {
        let attachment: Option<&Attachment> = one.state.node.attachment.as_deref();
        Seat { node: one.node, attachment }
    }
    let seats: Vec<Seat<'_>> = placed.iter().map(seat).collect();
    rate.0 as f64 / 1e6 * gang_step(communication, &seats) as f64 / 1e9
}
