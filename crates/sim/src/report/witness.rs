//! A witness: what the turns of a simulation knew, kept for its report.
//!
//! It stands between the loop and the planning function and sees every
//! snapshot and decision on their way; it changes neither. The log of a world
//! cannot say why jobs waited, or what the free capacity was still good for:
//! that is known in a turn only. What it keeps is bounded.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::explanation::StillWaiting;
use fleet::snapshot::Amounts;
use fleet::{Decision, Free, JobId, NodeId, Policy, Reason, Snapshot, Time};
use planner::Effort;
use planner::objective::outlook::Outlook;

use super::reasons::{Why, why};

/// The most moments at which fragmentation is looked at: looking costs nodes × shapes.
const LOOKS_MAX: usize = 480;

/// Sees every turn of one simulation.
#[derive(Debug, Default)]
pub struct Witness {
    pub(super) looks: Vec<Look>,
    /// The least time between two looks; doubled, in effect, whenever there are too many.
    gap: u64,
    waited: BTreeMap<Why, Waited>,
    /// When, and how many tasks then waited for which reason.
    latest: Option<(Time, BTreeMap<Why, u64>)>,
}

/// Fragmentation at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Look {
    pub(super) at: Time,
    /// Expected unusable ÷ all device capacity of the nodes that are up.
    pub(super) unusable: f64,
}

/// For how long tasks waited for one reason.
#[derive(Clone, Debug)]
pub(super) struct Waited {
    pub(super) why: Why,
    /// Tasks × microseconds.
    pub(super) task_micros: u128,
    /// The most tasks that waited so at once.
    pub(super) tasks_max: u64,
    /// The first job that did, with its reason in full.
    pub(super) example: JobId,
    pub(super) reason: Arc<Reason>,
}

impl Witness {
    /// Plans by `planning`, and sees what it was given and what it decided.
    pub fn see(
        &mut self,
        (snapshot, policy, effort): (&Snapshot, &Policy, Effort),
        planning: &mut dyn FnMut(&Snapshot, &Policy, Effort) -> Decision,
    ) -> Decision {
        let decision = planning(snapshot, policy, effort);
        self.hear(snapshot.at, &decision.explanation.waiting);
        self.look(snapshot, &decision);
        decision
    }

    fn hear(&mut self, at: Time, waiting: &[StillWaiting]) {
        self.pass(at);
        let mut now: BTreeMap<Why, u64> = BTreeMap::new();
        let mut last: Option<(&Arc<Reason>, Why)> = None;
        for one in waiting {
            // Jobs that wait for the same reason share it, and mostly stand together.
            let known = last.filter(|(reason, _)| Arc::ptr_eq(reason, &one.reason));
            let why = known.map_or_else(|| why(&one.reason), |(_, why)| why);
            last = Some((&one.reason, why));
            *now.entry(why).or_default() += u64::from(one.tasks);
            self.waited.entry(why).or_insert_with(|| Waited {
                why,
                task_micros: 0,
                tasks_max: 0,
                example: one.job,
                reason: Arc::clone(&one.reason),
            });
        }
        for (why, tasks) in &now {
            if let Some(waited) = self.waited.get_mut(why) {
                waited.tasks_max = waited.tasks_max.max(*tasks);
            }
        }
        self.latest = Some((at, now));
    }

    /// Lets those who wait wait until now.
    fn pass(&mut self, at: Time) {
        let Some((since, tasks)) = &self.latest else { return };
        let span = at.since(*since);
        for (why, tasks) in tasks {
            if let Some(waited) = self.waited.get_mut(why) {
                waited.task_micros += u128::from(*tasks) * u128::from(span.0);
            }
        }
    }

    /// Notes fragmentation as it is once the decision is carried out.
    fn look(&mut self, snapshot: &Snapshot, decision: &Decision) {
        let last = self.looks.last().map(|look| look.at);
        if last.is_some_and(|last| snapshot.at.since(last).0 < self.gap.max(1)) {
            return;
        }
        let Some(unusable) = unusable(snapshot, decision) else { return };
        self.looks.push(Look { at: snapshot.at, unusable });
        if self.looks.len() >= LOOKS_MAX {
            let whole = snapshot.at.since(self.looks[0].at).0;
            self.gap = (whole / (LOOKS_MAX as u64 / 2)).max(1);
            let mut position = 0;
            self.looks.retain(|_| {
                position += 1;
                position % 2 == 1
            });
        }
    }

    /// For how long tasks waited for which reason, to the end of the simulation; longest first.
    pub(super) fn waited(&self, end: Time) -> Vec<Waited> {
        let mut closed = Self { waited: self.waited.clone(), ..Self::default() };
        closed.latest.clone_from(&self.latest);
        closed.pass(end);
        let mut waited: Vec<_> = closed.waited.into_values().collect();
        waited.sort_by_key(|one| (std::cmp::Reverse(one.task_micros), one.why));
        waited
    }
}

/// None where no device is up, or nothing has arrived that the mix could know.
fn unusable(snapshot: &Snapshot, decision: &Decision) -> Option<f64> {
    let mut taken: BTreeMap<NodeId, Free> = BTreeMap::new();
    for placement in &decision.plan.placements {
        let entry = snapshot.nodes.get(placement.node.index())?;
        let free = taken.entry(placement.node).or_insert_with(|| entry.free.clone());
        // A plan is checked after this; one with a fault ends the simulation.
        if free.has_room_for(&placement.grant) {
            free.take(&placement.grant);
        }
    }
    let outlook = Outlook::new(&snapshot.mix, &snapshot.classes);
    let (mut unusable, mut whole) = (0.0, 0.0);
    for entry in snapshot.nodes.iter().filter(|entry| entry.up) {
        let free = taken.get(&entry.node.id).unwrap_or(&entry.free);
        unusable += outlook.unusable(&entry.node, Amounts::of_free(free), &free.devices);
        whole += 1000.0 * entry.node.devices.len() as f64;
    }
    (whole > 0.0 && !snapshot.mix.shapes.is_empty()).then(|| unusable / whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(job: u64, tasks: u32, reason: Reason) -> StillWaiting {
        StillWaiting { job: JobId(job), tasks, reason: Arc::new(reason) }
    }

    #[test]
    fn tasks_wait_for_their_reason_until_the_next_turn_says_otherwise() {
        let mut witness = Witness::default();
        let batch = Reason::Batch(Time::seconds(9));
        witness.hear(Time::seconds(1), &[waits(1, 3, Reason::Effort), waits(2, 1, batch)]);
        witness.hear(Time::seconds(5), &[waits(1, 2, Reason::Effort)]);
        let waited = witness.waited(Time::seconds(15));
        let told: Vec<_> =
            waited.iter().map(|one| (one.why, one.task_micros, one.tasks_max)).collect();
        assert_eq!(told, [(Why::Effort, 32_000_000, 3), (Why::Batch, 4_000_000, 1)]);
        assert_eq!(waited[0].example, JobId(1));
    }
}
