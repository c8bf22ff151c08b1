//! The board on which orders are tried.
//!
//! Before the first try the best choices of every member are listed, more of
//! them than there are tasks: in a try a task takes the first that is on a node
//! that no task before it took from, or a better one on a node that one did.
//! What a node comes to is worked out once for each state that it gets into.

use std::collections::BTreeMap;

use fleet::snapshot::Waiting;
use fleet::{Free, NodeId};

use crate::Scratch;
use crate::demand::Demand;
use crate::groups::{Group, GroupId};
use crate::ranking::Weight;
use crate::shapes::JobShape;
use crate::weigh::Weigher;

/// What an order came to, the better the larger.
pub(super) type Worth = (u64, i64, u64, u64);

/// The position of a state among all that nodes got into.
type StateId = usize;

/// A node as tasks left it.
struct State {
    group: Group,
    /// What its unusable capacity grew by since the batch began, in millionths of a device.
    unusable: i64,
    /// By member, the best choice; worked out when it is asked for.
    best: Vec<Known>,
    /// By member, what the node comes to when that choice is taken.
    next: Vec<Option<StateId>>,
}

/// What is known about a member on a node.
#[derive(Clone, Copy)]
enum Known {
    Unasked,
    NoRoom,
    Best(Weight),
}

/// A job of the batch.
struct Member<'a> {
    shape: &'a JobShape,
    demand: Demand,
    tasks: u32,
    /// Its best choices as the batch begins, the best first, each on another node.
    list: Vec<(GroupId, Weight)>,
}

/// The steps ran out.
struct Spent;

/// What is free, and what was found out about it.
pub(super) struct Board<'a> {
    weigher: &'a Weigher<'a>,
    scratch: &'a mut Scratch,
    members: Vec<Member<'a>>,
    states: Vec<State>,
    /// The states in which nodes are at the beginning of a try, once they were needed.
    starts: BTreeMap<NodeId, StateId>,
    known: BTreeMap<(NodeId, Free), StateId>,
    left: u64,
    spent: u64,
}

impl<'a> Board<'a> {
    pub(super) fn new(
        members: &'a [(&Waiting, JobShape)],
        weigher: &'a Weigher<'a>,
        steps: u64,
        scratch: &'a mut Scratch,
    ) -> Self {
        let tasks: usize = members.iter().map(|(waiting, _)| waiting.count() as usize).sum();
        let member = |(waiting, shape): &'a (&Waiting, JobShape)| {
            let (demand, list) = weigher.best_choices(waiting, shape, tasks + 1, scratch);
            Member { shape, demand, tasks: waiting.count(), list }
        };
        let members = members.iter().map(member).collect();
        let (states, starts, known) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        Self { weigher, scratch, members, states, starts, known, left: steps, spent: 0 }
    }

    /// How many choices were weighed.
    pub(super) fn steps(&self) -> u64 {
        self.spent
    }

    /// Places the members in this order, each where it is best then; `None` where the steps run
    /// out.
    pub(super) fn play(&mut self, order: &[usize]) -> Option<Worth> {
        let mut touched: Vec<(NodeId, StateId)> = Vec::new();
        let (mut share, mut cores, mut scores) = (0, 0, 0);
        for member in order {
            for _ in 0..self.members[*member].tasks {
                let Some((weight, state)) = self.best(*member, &touched).ok()? else { break };
                let next = self.take(*member, weight, state);
                touched.retain(|(node, _)| *node != weight.node);
                touched.push((weight.node, next));
                scores += u64::from(weight.tiers[0].0);
                let alternative = usize::from(weight.alternative);
                let shape = self.members[*member].shape[alternative];
                let request = &self.scratch.shapes.alternative(shape).request;
                cores += request.cores.0;
                let devices = request.devices.as_ref();
                share += devices.map_or(0, |one| u64::from(one.count) * u64::from(one.share.0));
            }
        }
        let unusable: i64 = touched.iter().map(|(_, state)| self.states[*state].unusable).sum();
        Some((share, -unusable, cores, scores))
    }

    /// The best choice of a member, with the state of its node before it.
    fn best(
        &mut self,
        member: usize,
        touched: &[(NodeId, StateId)],
    ) -> Result<Option<(Weight, StateId)>, Spent> {
        let mut best: Option<(Weight, StateId)> = None;
        for (_, state) in touched {
            if let Some(weight) = self.best_in(member, *state)?
                && best.is_none_or(|(best, _)| weight.beats(&best))
            {
                best = Some((weight, *state));
            }
        }
        let is_touched = |node: NodeId| touched.iter().any(|(other, _)| *other == node);
        let list = &self.members[member].list;
        let untouched = list.iter().find(|(_, weight)| !is_touched(weight.node)).copied();
        let Some((group, weight)) = untouched else { return Ok(best) };
        if best.is_some_and(|(best, _)| best.beats(&weight)) {
            return Ok(best);
        }
        let state = self.start(group, weight.node);
        self.states[state].best[member] = Known::Best(weight);
        Ok(Some((weight, state)))
    }

    fn best_in(&mut self, member: usize, state: StateId) -> Result<Option<Weight>, Spent> {
        match self.states[state].best[member] {
            Known::NoRoom => return Ok(None),
            Known::Best(weight) => return Ok(Some(weight)),
            Known::Unasked => {}
        }
        let Member { shape, demand, .. } = &self.members[member];
        let cost = shape.len() as u64;
        self.left = self.left.checked_sub(cost).ok_or(Spent)?;
        self.spent += cost;
        let group = &self.states[state].group;
        let best = self.weigher.best_in_state(demand, shape, group, self.scratch);
        self.states[state].best[member] = best.map_or(Known::NoRoom, Known::Best);
        Ok(best)
    }

    /// The state of a node at the beginning.
    fn start(&mut self, group: GroupId, node: NodeId) -> StateId {
        if let Some(known) = self.starts.get(&node) {
            return *known;
        }
        let alone = self.scratch.groups.get(group).alone(node);
        let id = self.enter(alone, 0);
        self.starts.insert(node, id);
        id
    }

    /// What a node comes to when a member takes its best choice there.
    fn take(&mut self, member: usize, best: Weight, state: StateId) -> StateId {
        if let Some(known) = self.states[state].next[member] {
            return known;
        }
        let shape = self.members[member].shape[usize::from(best.alternative)];
        let State { group, unusable, .. } = &self.states[state];
        let (grant, grown) = self.weigher.take_option(shape, best, group, self.scratch);
        let unusable = unusable + grown;
        let mut after = group.alone(best.node);
        after.free.take(&grant);
        let known = self.known.get(&(best.node, after.free.clone())).copied();
        let next = known.unwrap_or_else(|| self.enter(after, unusable));
        self.states[state].next[member] = Some(next);
        next
    }

    fn enter(&mut self, group: Group, unusable: i64) -> StateId {
        let id = self.states.len();
        self.known.insert((group.first(), group.free.clone()), id);
        let count = self.members.len();
        let (best, next) = (vec![Known::Unasked; count], vec![None; count]);
        self.states.push(State { group, unusable, best, next });
        id
    }
}
