//! Weighing: every choice there is for one task, and the best of them.
//!
//! How the best is picked is the policy's: by weighted score, by rotation, or
//! by what keeps the most free. By score, jobs whose scores depend on the same
//! things have a ranking of the groups together; see [`crate::ranking`]. For a
//! job that is alone in its kind, or whose score changes with the clock, all
//! groups are gone through.

use std::ops::Bound;

use fleet::explanation::{Patience, TierInForce};
use fleet::policy::{Objective, Pick};
use fleet::snapshot::{Amounts, Waiting};
use fleet::{Alternative, ClassId, Classes, Grant, Job, Micro, NodeId, Policy, Rate, Snapshot, Span};

use crate::Scratch;
use crate::demand::{Demand, Pace};
use crate::dice::Dice;
use crate::effects::Choosable;
use crate::feasible::{self, Devices, Way, Ways};
use crate::groups::{Group, GroupId};
use crate::objective::{Choice, utilisation};
use crate::ranking::{Key, Weight};
use crate::score::{self, Parts, Tiers};
use crate::shapes::{JobShape, ShapeId, Shapes};

/// How choices are weighed in this plan.
pub(crate) struct Weigher<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) policy: &'a Policy,
    pub(crate) tiers: &'a [TierInForce],
}

/// What weighing one task came to.
#[derive(Default)]
pub(crate) struct Weighed {
    /// The choice to make, if there is one to make now.
    pub(crate) best: Option<Candidate>,
    /// The best choice on nodes unlike the chosen one.
    pub(crate) runner_up: Option<Candidate>,
    /// How many nodes have room.
    pub(crate) nodes: u32,
    /// Why no choice is made though nodes have room.
    pub(crate) patience: Option<Patience>,
}

/// One choice, decided completely.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) tiers: Tiers,
    pub(crate) parts: Parts,
    pub(crate) alternative: u16,
    pub(crate) node: NodeId,
    pub(crate) class: ClassId,
    pub(crate) grant: Grant,
    pub(crate) rate: Rate,
    pub(crate) duration: Option<Span>,
}

/// The best choice, the best on another group, and how many nodes have room.
struct Top {
    first: Option<(GroupId, Weight)>,
    second: Option<(GroupId, Weight)>,
    roomy: u32,
}

impl Weigher<'_> {
    /// Weighs every choice for one task of a job on the groups as they are now.
    pub(crate) fn weigh(
        &self,
        waiting: &Waiting,
        shape: &JobShape,
        rotation: Option<NodeId>,
        dice: &mut Dice,
        scratch: &mut Scratch,
    ) -> Weighed {
        for one in shape.iter() {
            scratch.shapes.refresh(*one, &scratch.groups);
        }
        if shape.iter().all(|one| scratch.shapes.roomy(*one) == 0) {
            return Weighed::default();
        }
        let job = &waiting.job;
        let demand = Demand::new(job, shape, self.snapshot, self.policy, scratch);
        let classes = &self.snapshot.classes;
        match self.policy.pick {
            Pick::Weighted => self.by_score(waiting, &demand, shape, dice, scratch),
            Pick::Rotation => by_list(&demand, shape, scratch, classes, |group, _| {
                let after = Bound::Excluded(rotation.unwrap_or(NodeId(u32::MAX)));
                match group.nodes.range((after, Bound::Unbounded)).next() {
                    Some(next) => (0, *next),
                    None => (1, group.first()),
                }
            }),
            Pick::Spread => by_list(&demand, shape, scratch, classes, |group, grant| {
                (Micro::ONE.0 - kept_free(group, grant), group.first())
            }),
        }
    }

    /// Whether the score of a job's choices changes with the clock.
    pub(crate) fn is_timed(&self, job: &Job) -> bool {
        let deadline = Objective::Deadline.position();
        job.deadline.is_some() && self.tiers.iter().any(|tier| !tier.weights[deadline].is_zero())
    }

    fn by_score(
        &self,
        waiting: &Waiting,
        demand: &Demand,
        shape: &JobShape,
        dice: &mut Dice,
        scratch: &mut Scratch,
    ) -> Weighed {
        let Scratch { groups, shapes, appraiser, rankings, .. } = &mut *scratch;
        let spared = demand.spared(self.snapshot.at);
        let is_alone = spared.is_empty();
        let key = Key { shape: JobShape::clone(shape), work: waiting.job.work, spared };
        let is_lasting = waiting.job.work.is_none() || waiting.count() > 1;
        let ranking =
            if self.is_timed(&waiting.job) { None } else { rankings.get(&key, is_lasting) };
        let top = match ranking {
            Some(ranking) => {
                ranking.refresh(groups, shapes, shape, |id| {
                    let group = groups.get(id);
                    self.best_on(demand, shape, (id, group), shapes, |one, consider| {
                        appraiser.options(one, shapes, id, group).iter().for_each(consider);
                    })
                });
                let mut first = ranking.first(groups);
                if let Some((_, best)) = first.filter(|_| dice.are_thrown()) {
                    let tied = ranking.while_wanted(groups, |weight| weight.ties(&best));
                    first = dice.pick(tied, groups);
                }
                let second = first.and_then(|(id, _)| ranking.best_but(id, groups));
                let roomy = match &shape[..] {
                    [one] => shapes.roomy(*one),
                    several => {
                        let nodes = |id: GroupId| groups.summaries()[id.index()].nodes;
                        shapes.with_room(several).map(nodes).sum()
                    }
                };
                Top { first, second, roomy }
            }
            None => self.go_through(demand, shape, dice, scratch),
        };
        let mut weighed = Weighed { nodes: top.roomy, ..Weighed::default() };
        weighed.best = top.first.map(|choice| self.complete(choice, demand, shape, scratch));
        weighed.runner_up = top.second.map(|choice| self.complete(choice, demand, shape, scratch));
        if top.first.is_none() && !is_alone {
            weighed.patience = self.fastest_spared(demand, shape, scratch);
        }
        weighed
    }

    /// The best choices by a look at every group.
    fn go_through(
        &self,
        demand: &Demand,
        shape: &JobShape,
        dice: &mut Dice,
        scratch: &mut Scratch,
    ) -> Top {
        let Scratch { groups, shapes, appraiser, .. } = &mut *scratch;
        let mut choices: Vec<(GroupId, Weight)> = Vec::new();
        let mut roomy = 0;
        for id in shapes.with_room(shape) {
            let group = groups.get(id);
            let best = self.best_on(demand, shape, (id, group), shapes, |one, consider| {
                appraiser.kept(one, shapes, id, group).iter().for_each(consider);
            });
            roomy += group.count();
            choices.extend(best.map(|best| (id, best)));
        }
        let best = |choices: &mut dyn Iterator<Item = (GroupId, Weight)>| {
            choices.reduce(|one, other| if other.1.beats(&one.1) { other } else { one })
        };
        let mut first = best(&mut choices.iter().copied());
        if let Some((_, least)) = first.filter(|_| dice.are_thrown()) {
            let tied = choices.iter().filter(|(_, weight)| weight.ties(&least));
            first = dice.pick(tied.copied().collect(), groups);
        }
        let second = first.and_then(|(id, _)| {
            best(&mut choices.iter().copied().filter(|(other, _)| *other != id))
        });
        Top { first, second, roomy }
    }

    /// The best choice on one group.
    fn best_on(
        &self,
        demand: &Demand,
        shape: &JobShape,
        (id, group): (GroupId, &Group),
        shapes: &Shapes,
        mut options: impl FnMut(ShapeId, &mut dyn FnMut(&Choosable)),
    ) -> Option<Weight> {
        let mut best: Option<Weight> = None;
        for (alternative, one) in (0..=u16::MAX).zip(shape.iter()) {
            if !shapes.has_room(*one, id) {
                continue;
            }
            let mut option = 0;
            options(*one, &mut |choosable| {
                let class = choosable.way.class;
                let pace = demand.pace(usize::from(alternative), class);
                let number = option;
                option += 1;
                if pace.from > self.snapshot.at {
                    return;
                }
                let (tiers, _) = self.score(demand, pace, choosable);
                let node = group.first();
                let weight = Weight { tiers, alternative, node, class, option: number };
                if best.is_none_or(|best| weight.beats(&best)) {
                    best = Some(weight);
                }
            });
        }
        best
    }

    fn score(&self, demand: &Demand, pace: Pace, option: &Choosable) -> (Tiers, Parts) {
        let choice = Choice { seconds: pace.seconds, effects: option.effects };
        score::score(&demand.ask, &choice, self.tiers, &self.policy.scale)
    }

    fn complete(
        &self,
        (id, weight): (GroupId, Weight),
        demand: &Demand,
        shape: &JobShape,
        scratch: &mut Scratch,
    ) -> Candidate {
        let Scratch { groups, shapes, appraiser, .. } = scratch;
        let one = shape[usize::from(weight.alternative)];
        let group = groups.get(id);
        let option = appraiser.options(one, shapes, id, group)[usize::from(weight.option)];
        let pace = demand.pace(usize::from(weight.alternative), weight.class);
        let (_, parts) = self.score(demand, pace, &option);
        let grant = option.way.grant(shapes.alternative(one), &group.node, &group.free);
        candidate(weight, parts, grant, pace)
    }

    /// What the job is spared that would be fastest of what has room.
    fn fastest_spared(
        &self,
        demand: &Demand,
        shape: &JobShape,
        scratch: &mut Scratch,
    ) -> Option<Patience> {
        let mut found: Option<Pace> = None;
        let Scratch { groups, shapes, .. } = &*scratch;
        for (alternative, one) in shape.iter().enumerate() {
            for id in shapes.with_room(&[*one]) {
                let group = groups.get(id);
                for way in ways(shapes.alternative(*one), group, &self.snapshot.classes) {
                    let pace = demand.pace(alternative, way.class);
                    found = Some(found.map_or(pace, |other| faster(other, pace)));
                }
            }
        }
        found.map(|pace| demand.patience(pace))
    }
}

/// The ways of the local rule.
fn ways(alternative: &Alternative, group: &Group, classes: &Classes) -> Vec<Way> {
    let Group { node, up, free, .. } = group;
    let mut ways = Ways::default();
    feasible::judge(alternative, node, *up, free, classes, Devices::ByRule, &mut ways);
    ways.found
}

fn candidate(weight: Weight, parts: Parts, grant: Grant, pace: Pace) -> Candidate {
    Candidate {
        tiers: weight.tiers,
        parts,
        alternative: weight.alternative,
        node: weight.node,
        class: weight.class,
        grant,
        rate: pace.rate,
        duration: pace.duration,
    }
}

fn faster(one: Pace, other: Pace) -> Pace {
    if (other.duration, other.class) < (one.duration, one.class) { other } else { one }
}

/// The first alternative that has room anywhere, where `rank` is least.
fn by_list(
    demand: &Demand,
    shape: &JobShape,
    scratch: &Scratch,
    classes: &Classes,
    rank: impl Fn(&Group, &Grant) -> (u32, NodeId),
) -> Weighed {
    let Scratch { groups, shapes, .. } = scratch;
    for (alternative, one) in (0..=u16::MAX).zip(shape.iter()) {
        let mut best: Option<((u32, NodeId), ClassId, Grant)> = None;
        let asked = shapes.alternative(*one);
        for id in shapes.with_room(&[*one]) {
            let group = groups.get(id);
            let way = ways(asked, group, classes).into_iter().next().expect("what has room fits");
            let grant = way.grant(asked, &group.node, &group.free);
            let rank = rank(group, &grant);
            if best.as_ref().is_none_or(|(least, ..)| rank < *least) {
                best = Some((rank, way.class, grant));
            }
        }
        if let Some(((_, node), class, grant)) = best {
            let tiers = Tiers::default();
            let weight = Weight { tiers, alternative, node, class, option: 0 };
            let pace = demand.pace(usize::from(alternative), class);
            let parts = [Micro::ONE; Objective::COUNT];
            let best = Some(candidate(weight, parts, grant, pace));
            return Weighed { best, nodes: shapes.roomy(*one), ..Weighed::default() };
        }
    }
    Weighed::default()
}

/// The mean free fraction of a node after a grant, in millionths.
fn kept_free(group: &Group, grant: &Grant) -> u32 {
    let mut after = group.free.clone();
    after.take(grant);
    let fractions = utilisation::free_fractions(&group.node, Amounts::of_free(&after));
    let present: Vec<f64> = fractions.into_iter().flatten().collect();
    Micro::score(present.iter().sum::<f64>() / present.len() as f64).0
}
