//! A world that does what it is told, and what the dice say.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::snapshot::Parts;
use fleet::{
    Action, Classes, Extent, Failure, Node, NodeSight, Observation, Order, Outcome, Receipt,
    Refusal, RunId, RunSight, RunState, Span, Time, Usage,
};

use crate::draw::Dice;

/// The world: what is up, what runs, and what was told.
pub(crate) struct World {
    pub(crate) nodes: Vec<(Node, bool)>,
    pub(crate) runs: BTreeMap<RunId, RunSight>,
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) told: Vec<Order>,
    pub(crate) at: Time,
}

impl World {
    /// The next observation: what became of the orders, then what happened.
    pub(crate) fn observe(&mut self, classes: &Arc<Classes>, dice: &mut Dice) -> Observation {
        self.at = self.at.after(Span::seconds(dice.below(30) as u64));
        let mut seen = Vec::new();
        for order in std::mem::take(&mut self.told) {
            self.carry_out(&order, dice.below(8) == 7, &mut seen);
        }
        if dice.below(2) == 1
            && let Some(sight) = self.end_one(dice)
        {
            seen.push(sight);
        }
        let nodes = self.lose_or_return(&mut seen, dice);
        let receipts = std::mem::take(&mut self.receipts);
        let (at, classes) = (self.at, Arc::clone(classes));
        let runs = self.visible(seen);
        Observation { at, extent: Extent::Changes, classes, nodes, runs, receipts }
    }

    fn carry_out(&mut self, order: &Order, refuses: bool, seen: &mut Vec<RunSight>) {
        let (run, generation) = (order.run, order.generation);
        let known = self.runs.contains_key(&run);
        let outcome = match &order.action {
            Action::Start { .. } if refuses => Outcome::Refused(Refusal::Engine),
            Action::Start { placement, .. } => {
                let (node, grant) = (placement.node, placement.grant.clone());
                let sight = RunSight {
                    run,
                    node,
                    grant,
                    state: RunState::Running(self.at),
                    usage: Usage::default(),
                    done: None,
                };
                self.runs.insert(run, sight.clone());
                seen.push(sight);
                Outcome::Accepted
            }
            Action::Stop(_) if !known => Outcome::Refused(Refusal::UnknownRun),
            Action::Stop(_) => {
                seen.extend(self.end(run, RunState::Stopped(self.at)));
                Outcome::Accepted
            }
        };
        self.receipts.push(Receipt { run, generation, outcome });
    }

    fn end_one(&mut self, dice: &mut Dice) -> Option<RunSight> {
        let run = *self.runs.keys().nth(dice.below(self.runs.len()))?;
        let state = match dice.below(6) {
            5 => RunState::Failed(self.at, Failure::Status(1)),
            4 => RunState::Failed(self.at, Failure::Lost),
            _ => RunState::Done(self.at),
        };
        self.end(run, state)
    }

    fn end(&mut self, run: RunId, state: RunState) -> Option<RunSight> {
        let sight = self.runs.get(&run)?;
        let is_up = self.nodes[sight.node.index()].1;
        // What ends out of sight is not there when its node is back.
        let sight = self.runs.remove(&run)?;
        is_up.then_some(RunSight { state, ..sight })
    }

    fn lose_or_return(&mut self, seen: &mut Vec<RunSight>, dice: &mut Dice) -> Vec<NodeSight> {
        if dice.below(3) != 2 {
            return Vec::new();
        }
        let id = dice.below(self.nodes.len());
        let (node, up) = &mut self.nodes[id];
        *up = !*up;
        if !*up {
            return vec![NodeSight::Lost(node.id)];
        }
        seen.extend(self.runs.values().filter(|sight| sight.node == node.id).cloned());
        vec![NodeSight::Up(Arc::new(node.clone()))]
    }

    /// What is seen of runs: nothing on nodes that are lost.
    fn visible(&self, mut seen: Vec<RunSight>) -> Vec<RunSight> {
        seen.retain(|sight| self.nodes[sight.node.index()].1);
        seen
    }
}

/// Everything at the start: every node up, nothing running.
pub(crate) fn first_sight(parts: &Parts, classes: &Arc<Classes>, at: Time) -> Observation {
    let up = |(node, _): &(Node, bool)| NodeSight::Up(Arc::new(node.clone()));
    let (extent, classes) = (Extent::Full, Arc::clone(classes));
    let nodes = parts.nodes.iter().map(up).collect();
    Observation { at, extent, classes, nodes, runs: Vec::new(), receipts: Vec::new() }
}
