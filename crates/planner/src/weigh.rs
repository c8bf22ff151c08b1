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
use fleet::snapshot::Waiting;
use fleet::{ClassId, Grant, Job, Micro, NodeId, Policy, Rate, Snapshot, Span};

use crate::Scratch;
use crate::demand::{Demand, Pace};
use crate::dice::Dice;
use crate::effects::Choosable;
use crate::feasible::{self, Devices, Verdict, Way};
use crate::groups::{Group, GroupId};
use crate::objective::{Choice, utilisation};
use crate::ranking::{Appraisal, Key, Weight};
use crate::score::{self, Parts, Tiers};
use crate::shapes::{JobShape, Shapes};

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
                ranking.refresh(groups, |id, group| {
                    self.appraise(demand, shape, (id, group), shapes, |alternative| {
                        let one = shape[usize::from(alternative)];
                        appraiser.options(shapes.alternative(one), id, group)
                    })
                });
                let first = match dice.are_thrown() {
                    true => dice.pick(ranking.tied(), groups),
                    false => ranking.first(),
                };
                let second = first.and_then(|(id, _)| ranking.best_but(id));
                Top { first, second, roomy: ranking.roomy() }
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
        for (id, group) in groups.iter() {
            let appraisal = self.appraise(demand, shape, (id, group), shapes, |alternative| {
                let one = shape[usize::from(alternative)];
                appraiser.kept(one, shapes.alternative(one), id, group)
            });
            roomy += if appraisal.has_room { group.count() } else { 0 };
            choices.extend(appraisal.best.map(|best| (id, best)));
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
    fn appraise<L>(
        &self,
        demand: &Demand,
        shape: &JobShape,
        (id, group): (GroupId, &Group),
        shapes: &Shapes,
        mut options: impl FnMut(u16) -> L,
    ) -> Appraisal
    where
        L: AsRef<[Choosable]>,
    {
        let mut appraisal = Appraisal::default();
        for (alternative, one) in (0..=u16::MAX).zip(shape.iter()) {
            if !shapes.has_room(*one, id) {
                continue;
            }
            appraisal.has_room = true;
            for (option, choosable) in (0..=u16::MAX).zip(options(alternative).as_ref()) {
                let class = choosable.class;
                let pace = demand.pace(usize::from(alternative), class);
                if pace.from > self.snapshot.at {
                    continue;
                }
                let (tiers, _) = self.score(demand, pace, choosable);
                let weight = Weight { tiers, alternative, node: group.first(), class, option };
                if appraisal.best.is_none_or(|best| weight.beats(&best)) {
                    appraisal.best = Some(weight);
                }
            }
        }
        appraisal
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
        let mut options = appraiser.options(shapes.alternative(one), id, groups.get(id));
        let option = options.swap_remove(usize::from(weight.option));
        let pace = demand.pace(usize::from(weight.alternative), weight.class);
        let (_, parts) = self.score(demand, pace, &option);
        candidate(weight, parts, option.grant, pace)
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
            for (_, group) in groups.iter().filter(|(id, _)| shapes.has_room(*one, *id)) {
                for way in ways(shapes.alternative(*one), group, &self.snapshot.classes) {
                    let pace = demand.pace(alternative, way.class);
                    found = Some(found.map_or(pace, |other| faster(other, pace)));
                }
            }
        }
        found.map(|pace| demand.patience(pace))
    }
}

fn ways(alternative: &fleet::Alternative, group: &Group, classes: &fleet::Classes) -> Vec<Way> {
    let Group { node, up, free, .. } = group;
    match feasible::judge(alternative, node, *up, free, classes, Devices::ByRule) {
        Verdict::Fits(ways) => ways,
        Verdict::Lacks(_) => Vec::new(),
    }
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
    classes: &fleet::Classes,
    rank: impl Fn(&Group, &Grant) -> (u32, NodeId),
) -> Weighed {
    let Scratch { groups, shapes, .. } = scratch;
    for (alternative, one) in (0..=u16::MAX).zip(shape.iter()) {
        let mut best: Option<((u32, NodeId), Way)> = None;
        let asked = shapes.alternative(*one);
        for (_, group) in groups.iter().filter(|(id, _)| shapes.has_room(*one, *id)) {
            let way = ways(asked, group, classes).into_iter().next().expect("what has room fits");
            let grant = grant(asked, way.devices.clone());
            let rank = rank(group, &grant);
            if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                best = Some((rank, way));
            }
        }
        if let Some(((_, node), way)) = best {
            let (tiers, class) = (Tiers::default(), way.class);
            let weight = Weight { tiers, alternative, node, class, option: 0 };
            let pace = demand.pace(usize::from(alternative), class);
            let parts = [Micro::ONE; Objective::COUNT];
            let best = Some(candidate(weight, parts, grant(asked, way.devices), pace));
            return Weighed { best, nodes: shapes.roomy(*one), ..Weighed::default() };
        }
    }
    Weighed::default()
}

fn grant(asked: &fleet::Alternative, devices: Vec<fleet::DeviceGrant>) -> Grant {
    Grant { cores: asked.request.cores, memory: asked.request.memory, devices }
}

/// The mean free fraction of a node after a grant, in millionths.
fn kept_free(group: &Group, grant: &Grant) -> u32 {
    let mut after = group.free.clone();
    after.take(grant);
    let fractions = utilisation::free_fractions(&group.node, &after);
    let present: Vec<f64> = fractions.into_iter().flatten().collect();
    Micro::score(present.iter().sum::<f64>() / present.len() as f64).0
}
