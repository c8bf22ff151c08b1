//! Jobs that read what only some nodes hold.
//!
//! Every node that holds an input is weighed for itself, the rest of each group
//! once. And where all that hold it are full: whether a task ends sooner if it
//! waits for one of them than if it fetches its inputs to where there is room
//! now. That is asked only where the policy weighs `completion`.

use fleet::explanation::Locality;
use fleet::policy::{Objective, Pick, Weighting, Weights};
use fleet::snapshot::Waiting;
use fleet::{NodeId, Policy, Span, Time};

use super::{Weigher, effects_on, lengthened};
use crate::Scratch;
use crate::demand::Demand;
use crate::expected::{Expected, Promise};
use crate::feasible::{self, Devices, Ways};
use crate::groups::{GroupId, Groups};
use crate::ranking::Weight;
use crate::shapes::{JobShape, Shapes};
use crate::staging::Staging;

/// The most tasks of one job that are reckoned with one by one while they wait for nodes; those
/// after them wait with them.
const TASKS_MAX: u32 = 64;

/// Tied choices, each on one of the nodes that it stands for.
pub(super) fn spread(
    tied: Vec<(GroupId, Weight)>,
    staging: &Staging,
    groups: &Groups,
) -> Vec<(GroupId, Weight)> {
    let nodes = |(id, weight): (GroupId, Weight)| {
        let alike = staging.alike(groups.get(id), weight.node);
        alike.map(move |node| (id, weight.on(node))).collect::<Vec<_>>()
    };
    tied.into_iter().flat_map(nodes).collect()
}

/// One node of each kind of those that have room: all that hold an input, and of every group one
/// that holds none.
fn kinds(
    staging: &Staging,
    shape: &JobShape,
    groups: &Groups,
    shapes: &Shapes,
) -> Vec<(GroupId, NodeId)> {
    let rest = |id: GroupId| Some((id, staging.first_without(groups.get(id))?));
    let mut kinds: Vec<_> = shapes.with_room(shape).filter_map(rest).collect();
    let has_room = |id: GroupId| shape.iter().any(|one| shapes.has_room(*one, id));
    let holders = staging.holders().map(|node| (groups.group_of(node), node));
    kinds.extend(holders.filter(|(id, _)| has_room(*id)));
    kinds
}

/// The nodes that stand for all that have room: of every group one, and where a job reads something
/// those that are unlike the others to it.
pub(crate) fn sites(
    demand: &Demand,
    shape: &JobShape,
    groups: &Groups,
    shapes: &Shapes,
) -> Vec<(GroupId, NodeId)> {
    match &demand.staging {
        Some(staging) => kinds(staging, shape, groups, shapes),
        None => shapes.with_room(shape).map(|id| (id, groups.get(id).first())).collect(),
    }
}

/// Whether a policy weighs an objective, if only in another regime: what is placed now may change
/// that, and what waits would then have to be placed as well.
fn is_weighed(objective: Objective, policy: &Policy) -> bool {
    let is_in = |weights: &Weights| !weights[objective.position()].is_zero();
    policy.tiers.iter().any(|tier| match tier {
        Weighting::Fixed(weights) | Weighting::Limits(weights) => is_in(weights),
        Weighting::ByUtilisation(rule) => {
            [&rule.below, &rule.between, &rule.above].map(is_in).contains(&true)
        }
    })
}

/// The end of a task.
#[derive(Clone, Copy)]
struct End {
    at: Time,
    node: NodeId,
    /// How long it takes to fetch what is missing there.
    fetch: Span,
}

impl End {
    fn comes_before(self, other: Option<Self>) -> bool {
        other.is_none_or(|other| (self.at, self.node) < (other.at, other.node))
    }
}

impl Weigher<'_> {
    /// The best choice on every node that holds an input and on the rest of every group.
    pub(super) fn local_choices(
        &self,
        demand: &Demand,
        staging: &Staging,
        shape: &JobShape,
        scratch: &mut Scratch,
    ) -> Vec<(GroupId, Weight)> {
        let Scratch { groups, shapes, appraiser, .. } = scratch;
        let mut choices = Vec::new();
        for (id, node) in kinds(staging, shape, groups, shapes) {
            let group = groups.get(id);
            let best = self.best_of(demand, shape, (group, node), |one, consider| {
                if shapes.has_room(one, id) {
                    appraiser.kept(one, shapes, id, group).iter().for_each(consider);
                }
            });
            choices.extend(best.map(|best| (id, best)));
        }
        choices
    }

    /// Why tasks of a job wait for a node that holds inputs, if all of so many do; they then hold
    /// their places. Nothing where one of them may as well be placed now, or has no room.
    pub(crate) fn locality(
        &self,
        waiting: &Waiting,
        tasks: u32,
        expected: &mut Expected<'_>,
        scratch: &mut Scratch,
    ) -> Option<Locality> {
        let weighs =
            self.policy.pick == Pick::Weighted && is_weighed(Objective::Completion, self.policy);
        if waiting.job.inputs().is_empty() || waiting.job.work.is_none() || !weighs {
            return None;
        }
        let shape = scratch.shapes.of(&waiting.job);
        for one in shape.iter() {
            scratch.shapes.refresh(*one, &scratch.groups);
        }
        let demand = Demand::new(&waiting.job, &shape, self.snapshot, self.policy, scratch);
        let now = self.first_end(&demand, &shape, scratch)?;
        let mut first = None;
        // Where what there is now has everything, nothing is gained by waiting for data.
        let most = if now.fetch.is_zero() { 0 } else { tasks.min(TASKS_MAX) };
        for _ in 0..most {
            let (end, promise) = self.first_end_later(&demand, &shape, expected, scratch)?;
            if end.at >= now.at {
                return None;
            }
            let (node, until) = (end.node, promise.from);
            expected.promise(node, promise);
            let (elsewhere, end_elsewhere) = (now.node, now.at);
            first = first.or(Some(Locality { node, until, end: end.at, elsewhere, end_elsewhere }));
        }
        first
    }

    /// Where a task ends first of all that has room now.
    fn first_end(&self, demand: &Demand, shape: &JobShape, scratch: &mut Scratch) -> Option<End> {
        let staging = demand.staging.as_ref()?;
        let Scratch { groups, shapes, appraiser, .. } = scratch;
        let mut first: Option<End> = None;
        for (id, node) in kinds(staging, shape, groups, shapes) {
            let group = groups.get(id);
            let fetch = staging.fetch(node, &group.node).span;
            for (alternative, one) in shape.iter().enumerate() {
                if !shapes.has_room(*one, id) {
                    continue;
                }
                for option in appraiser.kept(*one, shapes, id, group) {
                    let pace = demand.pace(alternative, option.way.class);
                    let Some(duration) = pace.duration else { continue };
                    let effects = effects_on(option, demand, (group, node));
                    let at = self.snapshot.at.after(lengthened(duration, &effects));
                    let end = End { at, node, fetch };
                    if pace.from <= self.snapshot.at && end.comes_before(first) {
                        first = Some(end);
                    }
                }
            }
        }
        first
    }

    /// Where a task ends first of the nodes that hold an input and are full, with the place that it
    /// takes there.
    fn first_end_later(
        &self,
        demand: &Demand,
        shape: &JobShape,
        expected: &Expected<'_>,
        scratch: &Scratch,
    ) -> Option<(End, Promise)> {
        let staging = demand.staging.as_ref()?;
        let Scratch { groups, shapes, .. } = scratch;
        let mut first: Option<(End, Promise)> = None;
        for node in staging.holders() {
            let id = groups.group_of(node);
            if shape.iter().any(|one| shapes.has_room(*one, id)) {
                continue;
            }
            let group = groups.get(id);
            let fetch = staging.fetch(node, &group.node).span;
            for (from, free) in expected.course(node, &group.free) {
                for (alternative, one) in shape.iter().enumerate() {
                    let asked = shapes.alternative(*one);
                    let (mut ways, rules) = (Ways::default(), self.rules());
                    let by_rule = Devices::ByRule;
                    feasible::judge(asked, &group.node, true, &free, rules, by_rule, &mut ways);
                    for way in &ways.found {
                        let pace = demand.pace(alternative, way.class);
                        let Some(duration) = pace.duration else { continue };
                        let at = from.after(fetch).after(duration);
                        let end = End { at, node, fetch };
                        if pace.from <= from && end.comes_before(first.as_ref().map(|(it, _)| *it))
                        {
                            let grant = way.grant(asked, &group.node, &free);
                            first = Some((end, Promise { from, to: at, grant }));
                        }
                    }
                }
            }
        }
        first
    }
}
