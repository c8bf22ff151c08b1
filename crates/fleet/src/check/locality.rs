//! Whether a job that waits for a node with its inputs is better off there.
//!
//! Everything is reckoned again: what the node will have free by the declared
//! ends of what runs there, how long what is missing takes to fetch, and when
//! the task would end there and elsewhere.

use super::Fault;
use super::placements::{may_take_longer, time_for};
use super::reasons::{Place, rooms};
use crate::explanation::Locality;
use crate::id::NodeId;
use crate::job::Job;
use crate::node::{Free, Node};
use crate::plan::Placement;
use crate::snapshot::Snapshot;
use crate::units::{Milli, Span, Time};

/// What there will be once the plan is carried out.
pub(super) struct Prospect<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) placements: &'a [Placement],
    /// What is then free of every node.
    pub(super) left: &'a [Free],
    /// How much of a channel may be held.
    pub(super) oversubscribe: Milli,
}

/// Adds what is not true of the reason.
pub(super) fn check(prospect: &Prospect<'_>, job: &Job, told: &Locality, faults: &mut Vec<Fault>) {
    let Locality { node, until, end, end_elsewhere, .. } = *told;
    let (snapshot, job_id) = (prospect.snapshot, job.id);
    if until <= snapshot.at {
        faults.push(Fault::LocalityOver { job: job_id, until, at: snapshot.at });
    }
    if !holds_input(snapshot, job, node) {
        faults.push(Fault::LocalityOfNoHolder { job: job_id, node });
        return;
    }
    if prospect.ends(job, node, snapshot.at).next().is_some() {
        faults.push(Fault::LocalityOfRoom { job: job_id, node });
    }
    let found = prospect.ends(job, node, until).map(|(end, _)| end).min();
    if found.is_none_or(|found| end < found) {
        faults.push(Fault::LocalityEnd { job: job_id, node, told: end, found });
    }
    check_elsewhere(prospect, job, told, faults);
    if end >= end_elsewhere {
        faults.push(Fault::LocalityWithoutGain { job: job_id, end, end_elsewhere });
    }
}

/// Whether the task would end then on the node that it declines, and nowhere sooner that has room.
/// A slower class may end sooner: patience spares the job those.
fn check_elsewhere(prospect: &Prospect<'_>, job: &Job, told: &Locality, faults: &mut Vec<Fault>) {
    let Locality { elsewhere, end_elsewhere, .. } = *told;
    let (snapshot, job_id) = (prospect.snapshot, job.id);
    let may_be_later = prospect.may_take_longer(job, elsewhere);
    let is_found = |end: Time| end == end_elsewhere || (may_be_later && end < end_elsewhere);
    let ends = prospect.ends(job, elsewhere, snapshot.at).filter(|(end, _)| is_found(*end));
    let Some(duration) = ends.map(|(_, duration)| duration).max() else {
        let (node, told) = (elsewhere, end_elsewhere);
        faults.push(Fault::LocalityElsewhere { job: job_id, node, told });
        return;
    };
    for node in (0..).map(NodeId).take(snapshot.nodes.len()) {
        let mut ends = prospect.ends(job, node, snapshot.at);
        let is_sooner = |(end, of): &(Time, Span)| *end < end_elsewhere && *of <= duration;
        if let Some((found, _)) = ends.find(is_sooner).filter(|_| !may_be_later) {
            let told = end_elsewhere;
            faults.push(Fault::LocalityElsewhereSooner { job: job_id, node, told, found });
            return;
        }
    }
}

impl Prospect<'_> {
    /// When a task would end on the node if it began there `at` this time, on each class that then
    /// has room, and how long it would run.
    fn ends(&self, job: &Job, node: NodeId, at: Time) -> impl Iterator<Item = (Time, Span)> {
        let mut ends = Vec::new();
        if let Some(entry) = self.snapshot.nodes.get(node.index()) {
            let free = self.free_at(node, at);
            let oversubscribe = self.oversubscribe;
            let place = Place { node: &entry.node, free: &free, up: entry.up, oversubscribe };
            let staging = staging(self.snapshot, job, &entry.node);
            for alternative in job.alternatives.iter() {
                for (_, rate) in rooms(self.snapshot, alternative, &place) {
                    let duration = job.work.map(|work| time_for(work, rate));
                    ends.extend(duration.map(|span| (at.after(staging).after(span), span)));
                }
            }
        }
        ends.into_iter()
    }

    /// What is free of the node at a time, if everything ends as declared and nothing else starts.
    /// What should have ended by now and has not is not believed to end at all.
    fn free_at(&self, node: NodeId, at: Time) -> Free {
        let now = self.snapshot.at;
        let mut free = self.left[node.index()].clone();
        let runs = self.snapshot.runs.values().map(|run| (&run.placement, run.since));
        let planned = self.placements.iter().map(|placement| (placement, now));
        for (placement, since) in runs.chain(planned) {
            let end = placement.duration.map(|span| since.after(span));
            if placement.node == node && end.is_some_and(|end| end > now && end <= at) {
                free.give_back(&placement.grant);
            }
        }
        free
    }

    fn may_take_longer(&self, job: &Job, node: NodeId) -> bool {
        let entry = self.snapshot.nodes.get(node.index());
        entry.is_some_and(|entry| {
            job.alternatives.iter().any(|way| may_take_longer(way, &entry.node))
        })
    }
}

fn holds_input(snapshot: &Snapshot, job: &Job, node: NodeId) -> bool {
    let holds = |name: &str| {
        snapshot.catalogue.get(name).is_some_and(|holding| holding.nodes.contains(&node))
    };
    job.inputs().iter().any(|input| holds(&input.name))
}

/// How long it takes to fetch what the node does not hold of the job's inputs, one after the other:
/// each from the fastest node that is up and holds it, else from outside.
fn staging(snapshot: &Snapshot, job: &Job, node: &Node) -> Span {
    let mut micros: u128 = 0;
    for input in job.inputs() {
        let (mut size, mut network) = (input.size.0, node.network.0);
        if let Some(holding) = snapshot.catalogue.get(&input.name) {
            if holding.nodes.contains(&node.id) {
                continue;
            }
            size = size.min(holding.size.0);
            let entries = holding.nodes.iter().filter_map(|id| snapshot.nodes.get(id.index()));
            let sources = entries.filter(|entry| entry.up).map(|entry| entry.node.network.0);
            // Of an end that nobody knows, the other one decides.
            let known = |ends: [u64; 2]| ends.into_iter().filter(|end| *end > 0).min().unwrap_or(0);
            let speeds: Vec<u64> = sources.map(|source| known([source, node.network.0])).collect();
            network = match speeds.iter().min() {
                None => network,
                Some(0) => 0,
                Some(_) => *speeds.iter().max().unwrap_or(&0),
            };
        }
        micros += (u128::from(size) * 1_000_000).div_ceil(u128::from(network.max(1)))
            * u128::from(network > 0);
    }
    Span(u64::try_from(micros).unwrap_or(u64::MAX))
}
