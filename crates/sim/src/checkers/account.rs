//! What is held, by whom, and whether everybody agrees.

use std::collections::{BTreeMap, BTreeSet};

use controller::{Ledger, Turn};
use fleet::{
    Bandwidth, Bytes, DeviceFree, DomainFree, Free, Grant, JobId, Milli, MilliCores, NodeEntry,
    NodeId, RunId, Snapshot, Stage,
};

use super::{Breach, stops};
use crate::world::{Effect, Running, TruthView};

/// What is held of one node, added up wide enough that nothing overflows.
#[derive(Debug, Default)]
struct Held {
    cores: u64,
    memory: u64,
    devices: BTreeMap<u16, (u64, u64)>,
    /// By device, every slot that a slice covers, once for each that does.
    slots: BTreeMap<u16, Vec<u32>>,
    domains: BTreeMap<u16, (u64, u64, u64)>,
    channels: BTreeMap<u16, u64>,
}

impl Held {
    fn add(&mut self, grant: &Grant) {
        self.cores = self.cores.saturating_add(grant.cores.0);
        self.memory = self.memory.saturating_add(grant.memory.0);
        for held in &grant.devices {
            let (share, memory) = self.devices.entry(held.device.0).or_default();
            *share = share.saturating_add(u64::from(held.share.0));
            *memory = memory.saturating_add(held.memory.0);
            let covered = (0..16).filter(|at| held.slots.0 >> at & 1 == 1);
            self.slots.entry(held.device.0).or_default().extend(covered);
        }
        for held in &grant.domains {
            let (cores, memory, load) = self.domains.entry(held.domain.0).or_default();
            *cores = cores.saturating_add(held.cores.0);
            *memory = memory.saturating_add(held.memory.0);
            *load = load.saturating_add(held.load.0);
        }
        for held in &grant.channels {
            let load = self.channels.entry(held.channel.0).or_default();
            *load = load.saturating_add(held.bandwidth.0);
        }
    }
}

/// Nothing is oversubscribed, by what really runs.
pub(super) fn capacity(truth: &TruthView<'_>, oversubscribe: Milli, breaches: &mut Vec<Breach>) {
    let filled = |passes: u64| {
        let filled = u128::from(passes) * u128::from(oversubscribe.0) / 1000;
        u64::try_from(filled).unwrap_or(u64::MAX)
    };
    let mut held: BTreeMap<NodeId, Held> = BTreeMap::new();
    for running in truth.runs.values() {
        held.entry(running.node).or_default().add(&running.grant);
    }
    for (id, held) in held {
        let node = &truth.stations[id.index()].node;
        let mut require = |what: &str, held: u64, has: u64| {
            if held > has {
                breaches.push(Breach::Oversubscribed {
                    node: id,
                    what: what.to_owned(),
                    held,
                    has,
                });
            }
        };
        require("millicores", held.cores, node.cores.0);
        require("bytes of memory", held.memory, node.memory.0);
        for (device, (share, memory)) in held.devices {
            let class =
                node.devices.get(usize::from(device)).map(|class| truth.classes.get(*class));
            let has = class.map_or((0, 0), |class| (1000, class.memory.0));
            require(&format!("thousandths of device #{device}"), share, has.0);
            require(&format!("bytes of device #{device}"), memory, has.1);
        }
        for (device, slots) in held.slots {
            let distinct: BTreeSet<u32> = slots.iter().copied().collect();
            let (covered, has) = (slots.len() as u64, distinct.len() as u64);
            require(&format!("slots of device #{device}"), covered, has);
        }
        for (domain, (cores, memory, load)) in held.domains {
            let of_node = node.topology.as_ref();
            let found = of_node.and_then(|found| found.domains.get(usize::from(domain)));
            let has = found.map_or((0, 0), |domain| (domain.cores.0, domain.memory.0));
            let passes = found.map_or(0, |domain| domain.bandwidth.0);
            let passes = if passes == 0 { u64::MAX } else { filled(passes) };
            require(&format!("bytes a second of the memory of domain d{domain}"), load, passes);
            require(&format!("millicores of domain d{domain}"), cores, has.0);
            require(&format!("bytes of domain d{domain}"), memory, has.1);
        }
        for (channel, load) in held.channels {
            let of_node = node.topology.as_ref();
            let passes = of_node.and_then(|found| {
                let switches = found.pcie.iter().map(|switch| switch.bandwidth.0);
                let nics = found.nics.iter().map(|nic| nic.bandwidth.0);
                switches.chain(nics).nth(usize::from(channel))
            });
            require(
                &format!("bytes a second of channel ch{channel}"),
                load,
                filled(passes.unwrap_or(0)),
            );
        }
    }
}

/// At most one attempt of a task goes on in full sight, and what is unwanted is stopped.
pub(super) fn attempts(
    truth: &TruthView<'_>,
    snapshot: &Snapshot,
    turn: &Turn,
    breaches: &mut Vec<Breach>,
) {
    let stopped: BTreeSet<RunId> =
        turn.orders.iter().filter(|order| stops(order, order.run)).map(|order| order.run).collect();
    let mut before: Option<RunId> = None;
    for (run, running) in truth.runs {
        if !truth.stations[running.node.index()].is_up() || stopped.contains(run) {
            continue;
        }
        if let Some(other) = before
            && (other.job, other.task) == (run.job, run.task)
        {
            breaches.push(Breach::TwoAttempts { run: *run, other: other.attempt.0 });
        }
        before = Some(*run);
    }
    for (id, run) in snapshot.runs.iter() {
        let is_in_sight = truth.stations[run.placement.node.index()].is_up();
        let is_unwanted = matches!(run.stage, Stage::Stray | Stage::Cancelled);
        if is_unwanted && is_in_sight && !stopped.contains(id) {
            breaches.push(Breach::UnwantedGoesOn { run: *id });
        }
    }
}

/// On nodes that can be reached, the snapshot holds exactly what ran when it was sealed.
pub(super) fn held(truth: &TruthView<'_>, snapshot: &Snapshot, breaches: &mut Vec<Breach>) {
    let is_up = |node: NodeId| truth.stations[node.index()].is_up();
    let observed = runs_when_observed(truth);
    for (id, running) in &observed {
        if !is_up(running.node) {
            continue;
        }
        match snapshot.runs.get(id) {
            None => breaches.push(Breach::Unheld { run: *id, node: running.node }),
            Some(run) => {
                let placement = &run.placement;
                if (placement.node, &placement.grant) != (running.node, &running.grant) {
                    let (node, held_on) = (running.node, placement.node);
                    breaches.push(Breach::Misplaced { run: *id, node, held_on });
                }
            }
        }
    }
    for (id, run) in snapshot.runs.iter() {
        let node = run.placement.node;
        if is_up(node) && !observed.contains_key(id) {
            breaches.push(Breach::Missing { run: *id, node });
        }
    }
    for station in truth.stations {
        let node = station.node.id;
        if snapshot.node(node).up != station.is_up() {
            breaches.push(Breach::NodeState { node, in_world: station.is_up() });
        }
    }
    let seen = observed.values().filter(|running| is_up(running.node));
    let seen = seen.map(|running| (running.node, &running.grant));
    let entries = snapshot.nodes.iter().map(AsRef::as_ref);
    free(truth, seen, entries.filter(|entry| is_up(entry.node.id)), breaches);
}

/// In the ledger, what is not free of a node is what the runs there hold.
pub(super) fn ledger(truth: &TruthView<'_>, ledger: &Ledger, breaches: &mut Vec<Breach>) {
    let held = ledger.runs().map(|run| (run.placement.node, &run.placement.grant));
    free(truth, held, ledger.nodes(), breaches);
}

/// What is free of these nodes is what they have less what is held.
fn free<'a>(
    truth: &TruthView<'_>,
    held: impl Iterator<Item = (NodeId, &'a Grant)>,
    entries: impl Iterator<Item = &'a NodeEntry>,
    breaches: &mut Vec<Breach>,
) {
    let mut by_node: BTreeMap<NodeId, Held> = BTreeMap::new();
    for (node, grant) in held {
        by_node.entry(node).or_default().add(grant);
    }
    for entry in entries {
        let node = entry.node.id;
        let held = by_node.remove(&node).unwrap_or_default();
        if free_of(truth, node, &held).as_ref() != Some(&entry.free) {
            breaches.push(Breach::FreeDiffers { node });
        }
    }
}

/// What is left of a node; `None` where more is held than there is.
fn free_of(truth: &TruthView<'_>, id: NodeId, held: &Held) -> Option<Free> {
    let node = &truth.stations[id.index()].node;
    let mut devices = Vec::with_capacity(node.devices.len());
    for (device, class) in (0_u16..).zip(&node.devices) {
        let (share, memory) = held.devices.get(&device).copied().unwrap_or_default();
        let share = u32::try_from(share).ok().and_then(|share| 1000_u32.checked_sub(share))?;
        let memory = truth.classes.get(*class).memory.0.checked_sub(memory)?;
        let covered = held.slots.get(&device).into_iter().flatten();
        let slots = fleet::Slots(covered.fold(0, |mask, slot| mask | 1 << slot));
        devices.push(DeviceFree { share: Milli(share), memory: Bytes(memory), slots });
    }
    let of_node = node.topology.iter().flat_map(|topology| &topology.domains);
    let mut domains = Vec::new();
    for (position, domain) in (0_u16..).zip(of_node) {
        let (cores, memory, load) = held.domains.get(&position).copied().unwrap_or_default();
        domains.push(DomainFree {
            cores: MilliCores(domain.cores.0.checked_sub(cores)?),
            memory: Bytes(domain.memory.0.checked_sub(memory)?),
            load: Bandwidth(load),
        });
    }
    let channels = node.topology.as_ref().map_or(0, |found| found.pcie.len() + found.nics.len());
    let load = |channel| Bandwidth(held.channels.get(&channel).copied().unwrap_or(0));
    let loads = (0_u16..).map(load).take(channels).collect();
    Some(Free {
        cores: MilliCores(node.cores.0.checked_sub(held.cores)?),
        memory: Bytes(node.memory.0.checked_sub(held.memory)?),
        devices,
        domains,
        loads,
    })
}

/// What ran at the moment of the latest observation: orders changed it since, time did not.
fn runs_when_observed<'a>(truth: &'a TruthView<'_>) -> BTreeMap<RunId, &'a Running> {
    let mut runs: BTreeMap<RunId, &Running> =
        truth.runs.iter().map(|(run, running)| (*run, running)).collect();
    for effect in truth.effects.iter().rev() {
        match effect {
            Effect::Started(run) => {
                runs.remove(run);
            }
            Effect::Stopped(run, running) => {
                runs.insert(*run, running);
            }
        }
    }
    runs
}

/// Every job that still has tasks waiting after this plan has a reason for all of them.
pub(super) fn reasons(snapshot: &Snapshot, turn: &Turn, breaches: &mut Vec<Breach>) {
    let mut placed: BTreeMap<JobId, u32> = BTreeMap::new();
    for placement in &turn.decision.plan.placements {
        *placed.entry(placement.run.job).or_default() += 1;
    }
    let explained: BTreeMap<JobId, u32> = turn
        .decision
        .explanation
        .waiting
        .iter()
        .map(|waiting| (waiting.job, waiting.tasks))
        .collect();
    for (job, waiting) in snapshot.backlog.iter() {
        let tasks = waiting.count().saturating_sub(placed.get(job).copied().unwrap_or(0));
        let told = explained.get(job).copied().unwrap_or(0);
        if told < tasks {
            breaches.push(Breach::NoReason { job: *job, tasks: tasks - told });
        }
    }
}
