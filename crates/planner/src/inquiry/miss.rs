//! Misses: the nodes that fall short by least.
//!
//! A reason says at which constraint a node fell out first. Here every
//! constraint that it does not meet is found, by asking again with each one
//! that was found lowered to what the node offers. Nodes that lack fewer things
//! come first, then those that lack the smaller part of them.

use fleet::explanation::Constraint;
use fleet::snapshot::Waiting;
use fleet::{Alternative, Bandwidth, Milli, NodeEntry, NodeId};

use super::{Inquiry, suppose};
use crate::feasible::{self, Devices, Rules, Ways};

/// The most misses that are told.
const MISSES_MAX: usize = 3;

/// The most alternatives that are looked at: the first ones, which are the most wanted.
const ALTERNATIVES_MAX: usize = 8;

/// Nodes that lack the same for one alternative.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Miss {
    /// Which alternative.
    pub alternative: u16,
    /// Everything that they lack, in the order in which it is asked.
    pub lacks: Vec<Lack>,
    /// The nodes, ascending.
    pub nodes: Vec<NodeId>,
}

/// One thing that a node lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lack {
    /// The constraint that is not met.
    pub constraint: Constraint,
    /// What was asked, in the constraint's unit; 1 where it is a yes or no.
    pub asked: u64,
    /// What the node offers; 0 where it is a yes or no.
    pub offered: u64,
}

/// The misses nearest to a start of one more task, once the plan is carried out. None where a node
/// has room and the job waits for another reason.
pub(super) fn nearest(inquiry: &Inquiry<'_>, waiting: &Waiting) -> Vec<Miss> {
    let mut after = inquiry.snapshot.clone();
    suppose::carry_out(&mut after, &inquiry.decision.plan);
    let mut misses: Vec<(Distance, Miss)> = Vec::new();
    for (alternative, index) in waiting.job.alternatives.iter().zip(0_u16..).take(ALTERNATIVES_MAX)
    {
        for entry in after.nodes.iter() {
            let (classes, oversubscribe) = (&*after.classes, inquiry.policy.oversubscribe);
            let rules = Rules { classes, oversubscribe };
            let Some(lacks) = lacks(alternative, entry, rules) else { return Vec::new() };
            add(&mut misses, index, lacks, entry.node.id);
        }
    }
    misses.sort_by(|(one, a), (other, b)| {
        (one, a.alternative, &a.nodes).cmp(&(other, b.alternative, &b.nodes))
    });
    misses.truncate(MISSES_MAX);
    misses.into_iter().map(|(_, miss)| miss).collect()
}

/// How far a node is from taking a task: devices of another kind or without such slices last, then
/// how many things it lacks, then which parts of them, in millionths.
type Distance = (bool, usize, u64);

/// Adds a node to the misses, of which only the nearest few are kept.
fn add(misses: &mut Vec<(Distance, Miss)>, alternative: u16, lacks: Vec<Lack>, node: NodeId) {
    let is_same =
        |miss: &&mut (Distance, Miss)| miss.1.alternative == alternative && miss.1.lacks == lacks;
    if let Some((_, known)) = misses.iter_mut().find(is_same) {
        known.nodes.push(node);
        return;
    }
    let distance = distance(&lacks);
    if misses.len() >= MISSES_MAX {
        let Some(farthest) = (0..misses.len()).max_by_key(|index| misses[*index].0) else { return };
        if misses[farthest].0 <= distance {
            return;
        }
        misses.remove(farthest);
    }
    misses.push((distance, Miss { alternative, lacks, nodes: vec![node] }));
}

fn distance(lacks: &[Lack]) -> Distance {
    let is_other =
        |lack: &Lack| matches!(lack.constraint, Constraint::Kind(_) | Constraint::Profile);
    let is_kind = lacks.iter().any(is_other);
    let part = |lack: &Lack| {
        let missing = u128::from(lack.asked.saturating_sub(lack.offered)) * 1_000_000;
        u64::try_from(missing.div_ceil(u128::from(lack.asked.max(1)))).unwrap_or(1_000_000)
    };
    (is_kind, lacks.len(), lacks.iter().map(part).sum())
}

/// Everything that a node lacks for one task; nothing where it has room.
fn lacks(alternative: &Alternative, entry: &NodeEntry, rules: Rules<'_>) -> Option<Vec<Lack>> {
    let (mut lowered, mut up) = (alternative.clone(), entry.up);
    let mut lacks: Vec<Lack> = Vec::new();
    loop {
        let ways = &mut Ways::default();
        let (node, free, by_rule) = (&entry.node, &entry.free, Devices::ByRule);
        let misfit = feasible::judge(&lowered, node, up, free, rules, by_rule, ways);
        let Some(misfit) = misfit else { break };
        // Each is lowered to what is offered and so met from then on; one that came back could not
        // be lowered.
        let is_known = lacks.iter().any(|lack| lack.constraint == misfit.constraint);
        if is_known {
            break;
        }
        let (constraint, offered) = (misfit.constraint, misfit.best);
        let asked = amount(alternative, constraint).unwrap_or(misfit.asked);
        lacks.push(Lack { constraint, asked, offered });
        match constraint {
            Constraint::Up => up = true,
            _ if !lower(&mut lowered, constraint, offered, entry) => break,
            _ => {}
        }
    }
    (!lacks.is_empty()).then_some(lacks)
}

/// How much an alternative asks of what a constraint is about, where that may have been lowered.
fn amount(alternative: &Alternative, constraint: Constraint) -> Option<u64> {
    let request = &alternative.request;
    let devices = request.devices.as_ref();
    match constraint {
        Constraint::Cores | Constraint::FreeCores => Some(request.cores.0),
        Constraint::Memory | Constraint::FreeMemory => Some(request.memory.0),
        Constraint::Devices | Constraint::FreeDevices => devices.map(|one| one.count.into()),
        Constraint::DeviceMemory | Constraint::FreeDeviceMemory => devices.map(|one| one.memory.0),
        Constraint::MemoryBandwidth | Constraint::FreeMemoryBandwidth => {
            Some(request.traffic.memory.0)
        }
        Constraint::NetworkBandwidth | Constraint::FreeNetworkBandwidth => {
            Some(request.traffic.network.0)
        }
        _ => None,
    }
}

/// Lowers what is asked to what a node offers; whether that can be done.
fn lower(
    alternative: &mut Alternative,
    constraint: Constraint,
    offered: u64,
    entry: &NodeEntry,
) -> bool {
    let request = &mut alternative.request;
    let milli = Milli(u32::try_from(offered).unwrap_or(u32::MAX));
    match (constraint, &mut request.devices) {
        (Constraint::Labels, _) => {
            let has = &entry.node.labels;
            alternative.labels.retain(|key, value| has.get(key) == Some(value));
        }
        (Constraint::Rate, _) => alternative.rates.clear(),
        (Constraint::Cores | Constraint::FreeCores, _) => request.cores.0 = offered,
        (Constraint::Memory | Constraint::FreeMemory, _) => request.memory.0 = offered,
        (Constraint::Model, Some(devices)) => devices.models.clear(),
        (Constraint::DeviceMemory | Constraint::FreeDeviceMemory, Some(devices)) => {
            devices.memory.0 = offered;
        }
        (Constraint::ComputeUnits, Some(devices)) => {
            devices.compute_units = u32::try_from(offered).unwrap_or(u32::MAX);
        }
        (Constraint::Capability, Some(devices)) => devices.capability = None,
        (Constraint::Sharing, Some(devices)) => {
            (devices.share, devices.profile) = (Milli::WHOLE, None);
        }
        (Constraint::Devices | Constraint::FreeDevices, Some(devices)) if offered > 0 => {
            devices.count = u32::try_from(offered).unwrap_or(u32::MAX);
        }
        (Constraint::FreeShare, Some(devices)) if offered > 0 => devices.share = milli,
        (Constraint::MemoryBandwidth | Constraint::FreeMemoryBandwidth, _) => {
            request.traffic.memory = Bandwidth(offered);
        }
        (Constraint::NetworkBandwidth | Constraint::FreeNetworkBandwidth, _) => {
            request.traffic.network = Bandwidth(offered);
        }
        _ => return false,
    }
    true
}
