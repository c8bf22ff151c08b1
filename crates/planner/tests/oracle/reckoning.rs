//! Every choice for a job with its score, by the formulas alone.
//!
//! No code of the planner is used and nothing is rounded. What a node offers
//! is asked of `fleet`: the law, and the local rule for choosing devices.

use fleet::policy::{Objective, Weighting, Weights};
use fleet::{
    Alternative, ClassId, Classes, DeviceClass, DeviceFree, DeviceGrant, DeviceIndex,
    DeviceRequest, Free, Grant, Job, Milli, Node, NodeId, Policy, Reach, ShareRule, Slots,
    Snapshot, node,
};

/// A fleet as it is while tasks are placed.
pub(crate) struct Reckoning<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) policy: &'a Policy,
    free: Vec<Free>,
}

/// One choice.
pub(crate) struct Choice {
    pub(crate) alternative: usize,
    pub(crate) node: NodeId,
    pub(crate) class: ClassId,
    pub(crate) grant: Grant,
    pub(crate) score: f64,
    /// By objective.
    pub(crate) parts: [f64; Objective::COUNT],
}

/// The classes, and how much of a channel may be held.
type Rules<'a> = (&'a Classes, Milli);

/// The least that a job could cost on this fleet.
struct Least {
    seconds: f64,
    joules: f64,
}

impl<'a> Reckoning<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot, policy: &'a Policy) -> Self {
        let free = snapshot.nodes.iter().map(|entry| entry.free.clone()).collect();
        Self { snapshot, policy, free }
    }

    pub(crate) fn take(&mut self, node: NodeId, grant: &Grant) {
        self.free[node.index()].take(grant);
    }

    pub(crate) fn give_back(&mut self, node: NodeId, grant: &Grant) {
        self.free[node.index()].give_back(grant);
    }

    pub(crate) fn choices(&self, job: &Job) -> Vec<Choice> {
        let least = self.least(job);
        let mut choices = Vec::new();
        for (alternative, asked) in job.alternatives.iter().enumerate() {
            for entry in self.snapshot.nodes.iter().filter(|entry| entry.up) {
                let (node, free) = (&entry.node, &self.free[entry.node.id.index()]);
                for (class, grant) in ways(asked, node, free, self.rules()) {
                    let parts = self.parts(job, (asked, class), (node, free, &grant), &least);
                    let score = mean(weights(self.policy), parts);
                    let node = node.id;
                    choices.push(Choice { alternative, node, class, grant, score, parts });
                }
            }
        }
        choices
    }

    fn rules(&self) -> Rules<'_> {
        (&self.snapshot.classes, self.policy.oversubscribe)
    }

    fn least(&self, job: &Job) -> Least {
        let classes = &self.snapshot.classes;
        let mut least = Least { seconds: f64::INFINITY, joules: f64::INFINITY };
        for asked in job.alternatives.iter() {
            for entry in self.snapshot.nodes.iter().filter(|entry| entry.up) {
                let node = &entry.node;
                for (class, grant) in ways(asked, node, &node.capacity(classes), self.rules()) {
                    let seconds = self.seconds(job, asked, class);
                    // A device that may be shared may be awake for another already.
                    let awake = grant.devices.iter().any(|held| held.share < Milli::WHOLE);
                    let devices = if awake { 0.0 } else { device_watts(&grant, node, classes) };
                    let watts = least_core_watts(&grant, node) + devices;
                    least.seconds = least.seconds.min(seconds);
                    least.joules = least.joules.min(watts * seconds);
                }
            }
        }
        least
    }

    /// Millionths of the only signal's unit.
    fn noise(&self, node: &Node, class: ClassId) -> f64 {
        let signal = &self.snapshot.signals.by_name["noise"];
        let of_class = signal.classes.get(&class).unwrap_or(&signal.default);
        signal.nodes.get(&node.id).unwrap_or(of_class).0 as f64
    }

    /// Bytes of the inputs that a node does not hold.
    fn moved(&self, job: &Job, node: &Node) -> f64 {
        let missing =
            job.inputs().iter().map(|input| match self.snapshot.catalogue.get(&input.name) {
                None => input.size.0,
                Some(holding) if holding.nodes.contains(&node.id) => 0,
                Some(holding) => input.size.0.min(holding.size.0),
            });
        missing.sum::<u64>() as f64
    }

    /// Seconds that it takes to fetch them, on nodes whose networks are all alike.
    fn staging(&self, job: &Job, node: &Node) -> f64 {
        if node.network.is_zero() { 0.0 } else { self.moved(job, node) / node.network.0 as f64 }
    }

    fn seconds(&self, job: &Job, asked: &Alternative, class: ClassId) -> f64 {
        let rate = asked.rate(&self.snapshot.classes.get(class).model).expect("a way has a rate");
        job.work.expect("tiny jobs have work").0 as f64 / rate.0 as f64
    }

    fn parts(
        &self,
        job: &Job,
        (asked, class): (&Alternative, ClassId),
        (node, free, grant): (&Node, &Free, &Grant),
        least: &Least,
    ) -> [f64; Objective::COUNT] {
        let classes = &self.snapshot.classes;
        let mut after = free.clone();
        after.take(grant);
        let running = self.seconds(job, asked, class)
            * (slower(asked, node, grant) + crowded(node, &after, grant));
        let seconds = running + self.staging(job, node);
        let asleep =
            |device: &&DeviceGrant| free.devices[device.device.index()].share == Milli::WHOLE;
        let woken = grant.devices.iter().filter(asleep).copied().collect();
        let woken = Grant { devices: woken, ..grant.clone() };
        let cores = core_watts(node, &after) - core_watts(node, free);
        let watts = cores + device_watts(&woken, node, classes);
        let taken: f64 = grant.devices.iter().map(|held| f64::from(held.share.0)).sum();
        let lost = taken + self.unusable(node, &after) - self.unusable(node, free);
        let scale = &self.policy.scale;
        let (bound_missed, missed) = match job.deadline {
            None => (0.0, 0.0),
            Some(deadline) => {
                let slack = (deadline.0 as f64 - self.snapshot.at.0 as f64) / 1e6;
                (miss(slack, least.seconds), miss(slack, seconds))
            }
        };
        [
            part(least.seconds, seconds, scale.completion.0 as f64 / 1e6),
            part(0.0, stranded(node, &after), f64::from(scale.utilisation.0)),
            part(0.0, lost.max(0.0), f64::from(scale.fragmentation.0)),
            part(0.0, self.accompanied(free) - self.accompanied(&after), scale.companion.0.into()),
            part(0.0, self.rarity(node, free, &after), f64::from(scale.rarity.0) / 1e3),
            part(least.joules, watts * seconds, scale.energy.0 as f64 / 1e3),
            part(bound_missed, missed, f64::from(scale.deadline.0) / 1e6),
            part(0.0, self.moved(job, node), scale.locality.0 as f64),
            part(0.0, seconds * imposed(node, free, grant), scale.interference.0 as f64 / 1e6),
            part(0.0, self.noise(node, class), scale.externals[0].0 as f64),
            1.0,
            1.0,
            1.0,
            1.0,
            1.0,
            1.0,
            1.0,
        ]
    }

    /// Thousandths of a device that have with them the cores and memory that arrivals bring.
    fn accompanied(&self, free: &Free) -> f64 {
        let share: f64 = free.devices.iter().map(|left| f64::from(left.share.0)).sum();
        let (mut cores, mut memory, mut devices) = (0.0, 0.0, 0.0);
        for shape in &self.snapshot.mix.shapes {
            let (count, request) = (shape.count as f64, &shape.shape.request);
            cores += count * request.cores.0 as f64;
            memory += count * request.memory.0 as f64;
            let asked = request.devices.as_ref();
            devices += count * asked.map_or(0.0, |one| f64::from(one.count * one.share.0));
        }
        let of = |free: u64, arriving: f64| match arriving > 0.0 && devices > 0.0 {
            true => free as f64 * devices / arriving,
            false => f64::INFINITY,
        };
        share.min(of(free.cores.0, cores)).min(of(free.memory.0, memory))
    }

    /// How rare the node is that is broken up, or zero.
    fn rarity(&self, node: &Node, free: &Free, after: &Free) -> f64 {
        let whole = free.devices.iter().filter(|left| left.share == Milli::WHOLE).count();
        let some_left = after.devices.iter().any(|left| left.share > Milli::ZERO);
        if node.devices.is_empty() || whole < node.devices.len() || !some_left {
            return 0.0;
        }
        let up = || self.snapshot.nodes.iter().filter(|entry| entry.up).map(|entry| &entry.node);
        let as_large = |other: &&std::sync::Arc<Node>| {
            other.cores >= node.cores
                && other.memory >= node.memory
                && other.devices.len() >= node.devices.len()
        };
        up().count() as f64 / up().filter(as_large).count() as f64
    }

    /// Expected thousandths of a device that what arrives here cannot use.
    fn unusable(&self, node: &Node, free: &Free) -> f64 {
        if node.devices.is_empty() {
            return 0.0;
        }
        let (mut sum, mut count) = (0.0, 0.0);
        for shape in &self.snapshot.mix.shapes {
            sum += shape.count as f64 * unusable_for(&shape.shape, node, free, self.snapshot);
            count += shape.count as f64;
        }
        sum / count
    }
}

pub(crate) fn weights(policy: &Policy) -> &Weights {
    match &policy.tiers[0] {
        Weighting::Fixed(weights) => weights,
        Weighting::ByUtilisation(_) | Weighting::Limits(_) => {
            panic!("tiny policies have fixed weights")
        }
    }
}

fn mean(weights: &Weights, parts: [f64; Objective::COUNT]) -> f64 {
    let total: f64 = weights.iter().map(|weight| f64::from(weight.0)).sum();
    weights.iter().zip(parts).map(|(weight, part)| f64::from(weight.0) * part).sum::<f64>() / total
}

fn part(bound: f64, cost: f64, sigma: f64) -> f64 {
    ((bound + sigma) / (cost + sigma)).min(1.0)
}

fn miss(slack: f64, seconds: f64) -> f64 {
    if slack <= 0.0 { 1.0 } else { 1.0 / (1.0 + (slack / seconds).powi(8)) }
}

fn stranded(node: &Node, free: &Free) -> f64 {
    let share: u64 = free.devices.iter().map(|left| u64::from(left.share.0)).sum();
    let amounts = [
        (free.cores.0, node.cores.0),
        (free.memory.0, node.memory.0),
        (share, 1000 * node.devices.len() as u64),
    ];
    let present = amounts.into_iter().filter(|(_, whole)| *whole > 0);
    let mut fractions: Vec<f64> = present.map(|(part, whole)| part as f64 / whole as f64).collect();
    fractions.sort_by(f64::total_cmp);
    1000.0 * (fractions[fractions.len() - 1] - fractions[0])
}

/// The least that the cores of a grant can add.
fn least_core_watts(grant: &Grant, node: &Node) -> f64 {
    let extra = (node.power.busy.0 - node.power.idle.0) as f64 / 1e3;
    match node.socket.0 {
        0 => extra * grant.cores.0 as f64 / node.cores.0 as f64,
        socket => {
            let sockets = node.cores.0.div_ceil(socket) as f64;
            extra * (grant.cores.0 / socket) as f64 / sockets
        }
    }
}

/// What the held cores of a node add to its idle power.
fn core_watts(node: &Node, free: &Free) -> f64 {
    let extra = (node.power.busy.0 - node.power.idle.0) as f64 / 1e3;
    let held = node.cores.0 - free.cores.0;
    match node.socket.0 {
        0 => extra * held as f64 / node.cores.0 as f64,
        socket => extra * held.div_ceil(socket) as f64 / node.cores.0.div_ceil(socket) as f64,
    }
}

fn device_watts(grant: &Grant, node: &Node, classes: &Classes) -> f64 {
    let watts = |held: &DeviceGrant| {
        let power = classes.get(node.devices[held.device.index()]).power;
        (power.busy.0 - power.idle.0) as f64 / 1e3
    };
    grant.devices.iter().map(watts).sum()
}

/// The free thousandths of a device that a shape cannot use.
fn unusable_for(shape: &Alternative, node: &Node, free: &Free, snapshot: &Snapshot) -> f64 {
    let all: f64 = free.devices.iter().map(|left| f64::from(left.share.0)).sum();
    let Some(wanted) = &shape.request.devices else { return all };
    let enough = shape.request.cores <= free.cores && shape.request.memory <= free.memory;
    if !enough || !carries(shape, node) {
        return all;
    }
    let suits = |index: &usize| {
        let (left, class) = (free.devices[*index], snapshot.classes.get(node.devices[*index]));
        left.share >= wanted.share
            && left.memory >= wanted.memory
            && divides(wanted, class.share)
            && !places(wanted, class, left.slots).is_empty()
            && wanted.accepts(class)
            && shape.rate(&class.model).is_some()
    };
    let suiting: Vec<usize> = (0..node.devices.len()).filter(suits).collect();
    let of_class = |class| suiting.iter().filter(|it| node.devices[**it] == class).count();
    let usable = suiting.iter().filter(|it| {
        let suiting_too = of_class(node.devices[**it]);
        suiting_too >= wanted.count as usize
    });
    all - usable.map(|index| f64::from(free.devices[*index].share.0)).sum::<f64>()
}

fn carries(asked: &Alternative, node: &Node) -> bool {
    asked.labels.iter().all(|(key, value)| node.labels.get(key) == Some(value))
}

fn divides(wanted: &DeviceRequest, rule: ShareRule) -> bool {
    match wanted.profile {
        Some(_) => rule == ShareRule::Slices,
        None => wanted.share == Milli::WHOLE || rule == ShareRule::Milli,
    }
}

/// Every place where a slice could be on a device of which these slots are taken; no slots, once,
/// where none is asked for.
fn places(wanted: &DeviceRequest, class: &DeviceClass, taken: Slots) -> Vec<Slots> {
    let Some(name) = &wanted.profile else { return vec![Slots::default()] };
    let profiles = class.profiles.iter().filter(|profile| profile.name == *name);
    let all = profiles.flat_map(|profile| {
        profile.places.iter().map(|first| {
            let covered = (*first..first + profile.slots).map(|slot| 1_u16 << slot);
            Slots(covered.sum())
        })
    });
    all.filter(|slots| slots.0 & taken.0 == 0).collect()
}

/// Every slice that could be granted, on every device at every place.
fn slices(
    (wanted, id): (&DeviceRequest, ClassId),
    node: &Node,
    free: &Free,
    classes: &Classes,
) -> Vec<Vec<DeviceGrant>> {
    let class = classes.get(id);
    let devices = node.devices.iter().zip(&free.devices).zip(0..);
    let suits = devices.filter(|((of, left), _)| {
        **of == id && left.share >= wanted.share && left.memory >= wanted.memory
    });
    let grant = |((_, left), device): ((&ClassId, &DeviceFree), u16)| {
        let (share, memory) = (wanted.share, wanted.memory);
        let device = DeviceIndex(device);
        let places = places(wanted, class, left.slots).into_iter();
        places.map(move |slots| vec![DeviceGrant { device, share, memory, slots }])
    };
    suits.flat_map(grant).collect()
}

/// Every class of the node on which there is room, with what would be granted.
fn ways(
    asked: &Alternative,
    node: &Node,
    free: &Free,
    (classes, oversubscribe): Rules<'_>,
) -> Vec<(ClassId, Grant)> {
    if !carries(asked, node) {
        return Vec::new();
    }
    let request = &asked.request;
    let grant = |devices: Vec<DeviceGrant>, domain| {
        let (cores, memory) = (request.cores, request.memory);
        let bounds = node::Bounds { single: domain, oversubscribe };
        let domains = node::domain_grants(node, free, request, &devices, bounds);
        let held = (&devices[..], &domains[..]);
        let channels = node::channel_grants(node, free, request, held, bounds);
        Grant { cores, memory, devices, domains, channels }
    };
    if request.reach == Reach::Single && !free.domains.is_empty() {
        return in_one_domain(asked, node, free, (classes, oversubscribe))
            .into_iter()
            .map(|(class, devices, domain)| (class, grant(devices, Some(domain))))
            .collect();
    }
    let way = |class: ClassId| {
        let choices = match &request.devices {
            _ if asked.rate(&classes.get(class).model).is_none() => Vec::new(),
            None => vec![Vec::new()],
            Some(devices) if !devices.accepts(classes.get(class)) => Vec::new(),
            Some(devices) if devices.profile.is_some() => {
                slices((devices, class), node, free, classes)
            }
            Some(devices) => {
                let mut choices = Vec::new();
                node::device_choices(node, free, classes, devices, class, &mut choices);
                let choices = choices.into_iter();
                choices.map(|choice| choice.grants(node, free, devices, class)).collect()
            }
        };
        choices.into_iter().map(move |devices| (class, devices))
    };
    let (cores, memory) = (request.cores, request.memory);
    if cores > free.cores || memory > free.memory || !moves(asked, node, free, oversubscribe) {
        return Vec::new();
    }
    let ways = asked.classes_on(node, classes).into_iter().flat_map(way);
    let ways = ways.map(|(class, devices)| (class, grant(devices, None)));
    ways.filter(|(_, grant)| free.has_room_for(grant)).collect()
}

/// Whether there is memory enough from and to which the task can move what it states: it moves as
/// much of it as it has of its memory there.
fn moves(asked: &Alternative, node: &Node, free: &Free, oversubscribe: Milli) -> bool {
    let (wanted, stated) = (asked.request.memory.0, asked.request.traffic.memory.0);
    let Some(topology) = node.topology.as_ref().filter(|_| stated > 0 && wanted > 0) else {
        return true;
    };
    let can_have = topology.domains.iter().zip(&free.domains).map(|(domain, left)| {
        let most = domain.bandwidth.0 * u64::from(oversubscribe.0) / 1000;
        let part = u128::from(most.saturating_sub(left.load.0)) * u128::from(wanted);
        u128::from(left.memory.0).min(part / u128::from(stated))
    });
    can_have.sum::<u128>() >= u128::from(wanted)
}

/// Every choice of devices in every domain that has all that is asked, whatever is nearest.
fn in_one_domain(
    asked: &Alternative,
    node: &Node,
    free: &Free,
    (classes, oversubscribe): Rules<'_>,
) -> Vec<(ClassId, Vec<DeviceGrant>, fleet::DomainIndex)> {
    let request = &asked.request;
    let mut found = Vec::new();
    for (domain, left) in (0..).map(fleet::DomainIndex).zip(&free.domains) {
        let moves = node.topology.as_ref().expect("domains are of a topology").domains
            [usize::from(domain.0)]
        .bandwidth
        .0;
        let load = left.load.0 + request.traffic.memory.0;
        let is_full = moves > 0 && load * 1000 > moves * u64::from(oversubscribe.0);
        if left.cores < request.cores || left.memory < request.memory || is_full {
            continue;
        }
        let bounds = node::Bounds { single: Some(domain), oversubscribe };
        for class in asked.classes_on(node, classes) {
            let inside = node::usable(node, free, (request, class), bounds);
            if asked.rate(&classes.get(class).model).is_none() {
                continue;
            }
            match &request.devices {
                None => found.push((class, Vec::new(), domain)),
                Some(devices) if devices.accepts(classes.get(class)) => {
                    let mut choices = Vec::new();
                    node::device_choices(node, &inside, classes, devices, class, &mut choices);
                    let grants =
                        |choice: node::DeviceChoice| choice.grants(node, &inside, devices, class);
                    found.extend(choices.into_iter().map(|one| (class, grants(one), domain)));
                }
                Some(_) => {}
            }
        }
    }
    found
}

/// How many times longer a task takes whose bytes are not where its cores are.
fn slower(asked: &Alternative, node: &Node, grant: &Grant) -> f64 {
    let stated = asked.request.traffic.memory.0 as f64;
    let Some(topology) = node.topology.as_ref().filter(|_| stated > 0.0) else { return 1.0 };
    let (cores, memory) = (grant.cores.0 as f64, grant.memory.0 as f64);
    let bandwidth = |at: usize| topology.domains[at].bandwidth.0 as f64;
    let (mut own, mut times) = (0.0, 0.0);
    for from in &grant.domains {
        let (near, part) = (usize::from(from.domain.0), from.cores.0 as f64 / cores);
        own += part * bandwidth(near);
        for to in &grant.domains {
            let far = usize::from(to.domain.0);
            let ratio = if near == far { 1.0 } else { bandwidth(near) / bandwidth(far) };
            let distance = f64::from(topology.distances[near][far]) / 10.0;
            times += part * to.memory.0 as f64 / memory * distance * ratio;
        }
    }
    1.0 + (stated / own).min(1.0) * (times - 1.0).max(0.0)
}

/// By what part a task takes longer whose memory is asked for more than it moves; `after` is what
/// is left once it is there.
fn crowded(node: &Node, after: &Free, grant: &Grant) -> f64 {
    let Some(topology) = &node.topology else { return 0.0 };
    let asked = grant.domains.iter().filter(|held| held.load.0 > 0).map(|held| {
        let at = usize::from(held.domain.0);
        (after.domains[at].load.0 as f64, topology.domains[at].bandwidth.0 as f64)
    });
    let more = asked.filter(|(_, moves)| *moves > 0.0).map(|(load, moves)| load / moves);
    more.fold(1.0, f64::max) - 1.0
}

/// The seconds that others lose for each of the task: how many times longer they take once it is
/// there than before. There are no channels but memory on tiny nodes.
fn imposed(node: &Node, free: &Free, grant: &Grant) -> f64 {
    let Some(topology) = &node.topology else { return 0.0 };
    let lost = grant.domains.iter().map(|held| {
        let at = usize::from(held.domain.0);
        let (load, moves) = (free.domains[at].load.0, topology.domains[at].bandwidth.0);
        if load == 0 || moves == 0 {
            return 0.0;
        }
        let times = |load: u64| (load as f64 / moves as f64).max(1.0);
        times(load + held.load.0) - times(load)
    });
    lost.sum()
}
