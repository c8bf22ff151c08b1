//! How an observation changes the ledger.
//!
//! Nodes first, then runs in the order in which their states came about, then
//! receipts. What does not agree is a named drift with an action, never
//! silently absorbed.

use std::collections::BTreeSet;
use std::sync::Arc;

use fleet::snapshot::Amounts;
use fleet::{
    ClassId, Extent, Failure, Node, NodeEntry, NodeId, NodeSight, Observation, Outcome, Placement,
    Rate, Receipt, Refusal, Run, RunId, RunSight, RunState, Stage, Tenant, Time,
};

use super::{Drift, Ledger, is_active};

/// Whom runs are accounted to that nobody here ordered.
const NOBODY: &str = "unknown";

impl Ledger {
    /// Takes in what a body sees, and names what does not agree. An observation that is older than
    /// the last one (a clock was set back) holds for the time of the last one.
    pub(crate) fn observe(&mut self, observation: &Observation) -> Vec<Drift> {
        self.at = self.at.max(observation.at);
        if self.classes != observation.classes {
            let known = observation.classes.0.starts_with(&self.classes.0);
            assert!(known, "a body adds device classes and never changes or renumbers them");
            self.classes = Arc::clone(&observation.classes);
            self.everything_changed = true;
            self.has_changed = true;
        }
        let mut drifts = Vec::new();
        let named: BTreeSet<_> = observation.runs.iter().map(|sight| sight.run).collect();
        self.see_nodes(observation, &named);
        for sight in &observation.runs {
            drifts.extend(self.see_run(sight));
        }
        for receipt in &observation.receipts {
            self.see_receipt(receipt);
        }
        if observation.extent == Extent::Full {
            drifts.extend(self.miss_runs(&named));
        }
        drifts
    }

    fn see_nodes(&mut self, observation: &Observation, named: &BTreeSet<RunId>) {
        for sight in &observation.nodes {
            match sight {
                NodeSight::Up(node) => self.see_up(node, named),
                NodeSight::Lost(id) => self.see_lost(*id),
            }
        }
        if observation.extent == Extent::Full {
            let seen: BTreeSet<_> = observation.nodes.iter().map(NodeSight::id).collect();
            let unseen = |entry: &&Arc<NodeEntry>| !seen.contains(&entry.node.id);
            let missing: Vec<_> = self.nodes.iter().filter(unseen).map(|one| one.node.id).collect();
            for id in missing {
                self.see_lost(id);
            }
        }
    }

    fn see_up(&mut self, node: &Arc<Node>, named: &BTreeSet<RunId>) {
        let id = node.id;
        match self.nodes.get(id.index()) {
            None => {
                assert_eq!(id.index(), self.nodes.len(), "a body numbers its nodes without gaps");
                let free = node.capacity(&self.classes);
                let entry = NodeEntry { node: Arc::clone(node), up: false, free };
                self.nodes_mut().push(Arc::new(entry));
                self.everything_changed = true;
                self.set_up(id);
            }
            Some(_) if self.unseen.contains(&id) => self.see_back(node, named),
            Some(entry) if entry.node != *node => {
                // A node of another make under the same id: what ran there is not on it.
                self.see_lost(id);
                self.see_back(node, named);
            }
            Some(_) => {}
        }
    }

    fn see_back(&mut self, node: &Arc<Node>, named: &BTreeSet<RunId>) {
        let id = node.id;
        let free = node.capacity(&self.classes);
        let entry = NodeEntry { node: Arc::clone(node), up: false, free };
        if *self.nodes[id.index()] != entry {
            self.nodes_mut()[id.index()] = Arc::new(entry);
            self.changed_nodes.insert(id);
        }
        self.unseen.remove(&id);
        self.set_up(id);
        self.given_up.retain(|run, was| was.placement.node != id || named.contains(run));
    }

    /// Gives up the runs of a node that cannot be reached; their tasks wait again.
    fn see_lost(&mut self, id: NodeId) {
        if self.nodes.get(id.index()).is_none() || self.unseen.contains(&id) {
            return;
        }
        let on_node = |run: &&Run| run.placement.node == id;
        let lost: Vec<_> = self.runs().filter(on_node).map(Run::id).collect();
        for run in lost {
            self.give_up(run);
        }
        self.unseen.insert(id);
        self.set_up(id);
    }

    /// Lets no new work start on a node until it is resumed; what runs goes on.
    pub(crate) fn drain(&mut self, id: NodeId) {
        self.drained.insert(id);
        self.set_up(id);
    }

    /// Lets a node that was drained take work.
    pub(crate) fn resume(&mut self, id: NodeId) {
        self.drained.remove(&id);
        self.set_up(id);
    }

    /// A node is up if it can be seen and takes work.
    pub(super) fn set_up(&mut self, id: NodeId) {
        let up = self.is_seen(id) && !self.drained.contains(&id);
        let Some(entry) = self.nodes.get(id.index()).filter(|entry| entry.up != up) else { return };
        let capacity = Amounts::of_node(&entry.node);
        let here = self.runs().filter(|run| run.placement.node == id);
        let held: Vec<_> = here.map(|run| Amounts::of_grant(&run.placement.grant)).collect();
        Arc::make_mut(&mut self.nodes_mut()[id.index()]).up = up;
        self.changed_nodes.insert(id);
        let change = if up { Amounts::add } else { Amounts::subtract };
        change(&mut self.capacity, capacity);
        for amounts in held {
            change(&mut self.held, amounts);
        }
    }

    /// Whether a node is there, drained or not.
    fn is_seen(&self, id: NodeId) -> bool {
        self.nodes.get(id.index()).is_some() && !self.unseen.contains(&id)
    }

    fn see_run(&mut self, sight: &RunSight) -> Option<Drift> {
        match sight.state {
            RunState::Running(since) => match self.runs.get(&sight.run) {
                None => self.see_unexpected(sight, since),
                Some(run) if !is_as_placed(run, sight) => Some(self.see_elsewhere(sight, since)),
                Some(run) => {
                    let is_ordered = run.stage == Stage::Ordered;
                    if let Some(done) = sight.done {
                        self.note_progress(sight.run, done);
                    }
                    if is_ordered {
                        let run = self.runs_mut().get_mut(&sight.run).expect("just found");
                        let run = Arc::make_mut(run);
                        run.stage = Stage::Running;
                        run.since = since;
                    }
                    None
                }
            },
            RunState::Done(_) => {
                self.note_usage(sight);
                self.see_done(sight.run);
                None
            }
            RunState::Stopped(at) => {
                self.note_usage(sight);
                self.keep_progress(sight.run, (sight.done, at));
                self.see_stopped(sight.run);
                None
            }
            RunState::Failed(_, failure) => {
                self.note_usage(sight);
                self.see_failed(sight.run, failure);
                None
            }
        }
    }

    /// Takes down what a run used that has ended, once: a run is forgotten when its end is told.
    fn note_usage(&mut self, sight: &RunSight) {
        let is_known = self.runs.contains_key(&sight.run) || self.given_up.contains_key(&sight.run);
        if let Some(record) = self.jobs.get_mut(&sight.run.job).filter(|_| is_known) {
            record.used = record.used.and(sight.usage);
        }
    }

    /// A run is there that the ledger does not hold: given up before, or never ordered.
    fn see_unexpected(&mut self, sight: &RunSight, since: Time) -> Option<Drift> {
        let (id, node) = (sight.run, sight.node);
        if !self.is_seen(node) {
            // Seen before its node was: the node's own return names it again.
            return None;
        }
        if !self.holding(&sight.grant, node) {
            return Some(Drift::Overfull(id, node));
        }
        let Some(given_up) = self.given_up.remove(&id) else {
            let stranger = self.stranger(sight, since);
            self.start(stranger);
            return Some(Drift::Unknown(id, node));
        };
        if !is_as_placed(&given_up, sight) {
            let stranger = self.stranger(sight, since);
            self.start(stranger);
            return Some(Drift::Elsewhere(id, node));
        }
        let mut run = Run { since, ..Run::clone(&given_up) };
        if is_active(&given_up) && self.waits_after(id) {
            self.remove_waiting(id.job, id.task);
            run.stage = Stage::Running;
            self.start(run);
            Some(Drift::Recovered(id, node))
        } else {
            run.stage = Stage::Stray;
            self.start(run);
            Some(Drift::Stray(id, node))
        }
    }

    /// A run is not where it was ordered to, or not with what it was granted. What runs there was
    /// never checked, so it is stopped.
    fn see_elsewhere(&mut self, sight: &RunSight, since: Time) -> Drift {
        let (id, node) = (sight.run, sight.node);
        let was_active = self.runs.get(&id).is_some_and(|run| is_active(run));
        self.release(id);
        if was_active {
            self.wait_again(id);
        }
        if !self.is_seen(node) || !self.holding(&sight.grant, node) {
            return Drift::Overfull(id, node);
        }
        let stranger = self.stranger(sight, since);
        self.start(stranger);
        Drift::Elsewhere(id, node)
    }

    fn stranger(&self, sight: &RunSight, since: Time) -> Run {
        let node = &self.nodes[sight.node.index()].node;
        let class = |device: &fleet::DeviceGrant| node.devices.get(device.device.index()).copied();
        let class: ClassId = sight.grant.devices.first().and_then(class).unwrap_or(node.cpu);
        let placement = Placement {
            run: sight.run,
            alternative: 0,
            node: sight.node,
            class,
            grant: sight.grant.clone(),
            rate: Rate::ZERO,
            duration: None,
        };
        let tenant = Tenant::new(NOBODY);
        let (stage, generation) = (Stage::Stray, self.generation);
        Run { placement, tenant, stage, since, generation }
    }

    /// A run did its work. That counts, whichever attempt it was, unless another's counted before.
    fn see_done(&mut self, id: RunId) {
        let held = self.release(id);
        let given_up = self.given_up.remove(&id);
        let is_ours = self.jobs.contains_key(&id.job);
        let Some(ended) = held.as_ref().or(given_up.as_ref()).filter(|_| is_ours) else { return };
        // Whichever attempt it was, what it wrote is there.
        self.shelves.note(&self.jobs[&id.job].job, id.task, ended.placement.node);
        // A run that was given up keeps its old stage and is not active: its task waits or went on.
        let was_active = held.is_some_and(|run| is_active(&run));
        let other = self.active_run(id.job, id.task);
        let waits = self.is_waiting(id.job, id.task);
        if was_active || other.is_some() || waits {
            self.remove_waiting(id.job, id.task);
            self.remove_progress(id);
            if let Some(other) = other {
                self.set_stage(other, Stage::Stray);
            }
            self.count_done(id.job);
        }
    }

    /// A run failed by itself. That counts, unless it was given up before and its task went on.
    fn see_failed(&mut self, id: RunId, failure: Failure) {
        self.lose_progress(id);
        let given_up = self.given_up.remove(&id);
        let held = self.release(id);
        let was_given_up = held.is_none() && given_up.is_some_and(|run| is_active(&run));
        if was_given_up && self.waits_after(id) {
            self.remove_waiting(id.job, id.task);
            self.count_failed(id, failure);
        } else if held.is_some_and(|run| is_active(&run)) {
            self.count_failed(id, failure);
        }
    }

    /// Whether the next attempt at the task of a run waits.
    fn waits_after(&self, id: RunId) -> bool {
        self.waiting(id.job).is_some_and(|waiting| {
            waiting.again.get(&id.task).is_some_and(|next| next.0 == id.attempt.0 + 1)
        })
    }

    fn see_stopped(&mut self, id: RunId) {
        self.given_up.remove(&id);
        let was_active = self.runs.get(&id).is_some_and(|run| is_active(run));
        if self.release(id).is_some() && was_active {
            self.wait_again(id);
        }
    }

    /// Everything was seen: what should run and was not named is not there.
    fn miss_runs(&mut self, named: &BTreeSet<RunId>) -> Vec<Drift> {
        let missing = |run: &&Run| !named.contains(&run.id()) && run.stage != Stage::Ordered;
        let missing: Vec<_> = self
            .runs()
            .filter(missing)
            .map(|run| (run.id(), run.placement.node, run.stage))
            .collect();
        let unseen = &self.unseen;
        let may_be_there = |run: &Run| unseen.contains(&run.placement.node);
        self.given_up.retain(|id, run| named.contains(id) || may_be_there(run));
        let mut drifts = Vec::new();
        for (id, node, stage) in missing {
            self.release(id);
            self.lose_progress(id);
            match stage {
                Stage::Running => self.count_failed(id, Failure::Lost),
                Stage::Recalled => self.wait_again(id),
                _ => {}
            }
            if !matches!(stage, Stage::Stopping | Stage::Recalled) {
                drifts.push(Drift::Vanished(id, node));
            }
        }
        drifts
    }

    fn see_receipt(&mut self, receipt: &Receipt) {
        let Some(run) = self.runs.get(&receipt.run) else { return };
        match (receipt.outcome, run.stage) {
            // Accepted: from now on a full observation that does not name it means that it is gone.
            (Outcome::Accepted, Stage::Ordered) if run.generation == receipt.generation => {
                self.set_stage(receipt.run, Stage::Running);
            }
            (Outcome::Refused(_), Stage::Ordered) if run.generation == receipt.generation => {
                self.release(receipt.run);
                self.wait_again(receipt.run);
            }
            (Outcome::Refused(Refusal::UnknownRun), Stage::Stopping) => {
                self.release(receipt.run);
            }
            (Outcome::Refused(Refusal::UnknownRun), Stage::Recalled) => {
                self.release(receipt.run);
                self.wait_again(receipt.run);
            }
            (Outcome::Refused(_), Stage::Recalled) => {
                self.set_stage(receipt.run, Stage::Running);
            }
            (Outcome::Refused(_), Stage::Stopping) => {
                let is_cancelled =
                    self.jobs.get(&receipt.run.job).is_some_and(|it| it.cancelled > 0);
                let stage = if is_cancelled { Stage::Cancelled } else { Stage::Stray };
                self.set_stage(receipt.run, stage);
            }
            _ => {}
        }
    }
}

/// Whether a run is seen where it was placed, with what it was granted.
fn is_as_placed(run: &Run, sight: &RunSight) -> bool {
    run.placement.node == sight.node && run.placement.grant == sight.grant
}
