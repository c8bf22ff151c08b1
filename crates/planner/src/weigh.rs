//! Weighing: every choice there is for one task, and the best of them.
//!
//! One pass over the groups of equal nodes. How the best is picked is the
//! policy's: by weighted score, by rotation, or by what keeps the most free.

use std::ops::Bound;

use fleet::explanation::{Patience, TierInForce};
use fleet::policy::Pick;
use fleet::{ClassId, Grant, Job, Micro, NodeId, Policy, Rate, Snapshot, Span};

use crate::Scratch;
use crate::demand::{Demand, Pace};
use crate::groups::{Group, GroupId};
use crate::objective::{Choice, utilisation};
use crate::score::{self, Parts, Tiers};
use crate::shapes::{Choosable, JobShape, Options};

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

/// One choice, as far as it takes to compare it.
#[derive(Clone, Copy)]
struct Weight {
    tiers: Tiers,
    parts: Parts,
    alternative: usize,
    node: NodeId,
    class: ClassId,
    group: GroupId,
}

impl Weight {
    /// Whether it goes before another one: the larger score, then the lower alternative, node,
    /// class.
    fn beats(&self, other: &Self) -> bool {
        let names = |one: &Self| (one.alternative, one.node, one.class);
        self.tiers > other.tiers || (self.tiers == other.tiers && names(self) < names(other))
    }
}

impl Weigher<'_> {
    /// Weighs every choice for one task of `job` on the groups as they are now.
    pub(crate) fn weigh(
        &self,
        job: &Job,
        shape: &JobShape,
        rotation: Option<NodeId>,
        scratch: &mut Scratch,
    ) -> Weighed {
        let demand = Demand::new(job, shape, self.snapshot, self.policy, scratch);
        match self.policy.pick {
            Pick::Weighted => self.by_score(&demand, shape, scratch),
            Pick::Rotation => by_list(&demand, shape, scratch, |group, _| {
                let after = Bound::Excluded(rotation.unwrap_or(NodeId(u32::MAX)));
                match group.nodes.range((after, Bound::Unbounded)).next() {
                    Some(next) => (0, *next),
                    None => (1, group.first()),
                }
            }),
            Pick::Spread => by_list(&demand, shape, scratch, |group, option| {
                (Micro::ONE.0 - kept_free(group, &option.grant), group.first())
            }),
        }
    }

    fn by_score(&self, demand: &Demand, shape: &JobShape, scratch: &mut Scratch) -> Weighed {
        let Scratch { groups, shapes } = &mut *scratch;
        let mut weighed = Weighed::default();
        let mut top = [None, None];
        let mut early: Option<Pace> = None;
        for (group_id, group) in groups.iter() {
            let mut has_room = false;
            let mut best: Option<Weight> = None;
            for (alternative, one) in shape.iter().enumerate() {
                let Options::Fits(options) = shapes.options(*one, group_id, group) else {
                    continue;
                };
                has_room = true;
                for option in options {
                    let pace = demand.pace(alternative, option.class);
                    if pace.from > self.snapshot.at {
                        early = Some(early.map_or(pace, |other| faster(other, pace)));
                        continue;
                    }
                    let (tiers, parts) = self.score(demand, pace, option);
                    let (node, class) = (group.first(), option.class);
                    let weight = Weight { tiers, parts, alternative, node, class, group: group_id };
                    if best.is_none_or(|best| weight.beats(&best)) {
                        best = Some(weight);
                    }
                }
            }
            weighed.nodes += if has_room { group.count() } else { 0 };
            offer(&mut top, best);
        }
        let [first, second] = top;
        weighed.best = first.map(|weight| complete(&weight, demand, shape, scratch));
        weighed.runner_up = second.map(|weight| complete(&weight, demand, shape, scratch));
        if first.is_none() {
            weighed.patience = early.map(|pace| demand.patience(pace));
        }
        weighed
    }

    fn score(&self, demand: &Demand, pace: Pace, option: &Choosable) -> (Tiers, Parts) {
        let choice = Choice {
            seconds: pace.seconds,
            added_watts: option.added_watts,
            stranded: option.stranded,
            capacity_lost: option.capacity_lost,
        };
        score::score(&demand.ask, &choice, self.tiers, &self.policy.scale)
    }
}

/// Puts the best choice of one group among the best two of all groups.
fn offer(top: &mut [Option<Weight>; 2], weight: Option<Weight>) {
    let Some(weight) = weight else { return };
    if top[0].is_none_or(|first| weight.beats(&first)) {
        top[1] = top[0].replace(weight);
    } else if top[1].is_none_or(|second| weight.beats(&second)) {
        top[1] = Some(weight);
    }
}

fn faster(one: Pace, other: Pace) -> Pace {
    if (other.duration, other.class) < (one.duration, one.class) { other } else { one }
}

/// The first alternative that has room anywhere, where `rank` is least.
fn by_list(
    demand: &Demand,
    shape: &JobShape,
    scratch: &mut Scratch,
    rank: impl Fn(&Group, &Choosable) -> (u32, NodeId),
) -> Weighed {
    for (alternative, one) in shape.iter().enumerate() {
        let Scratch { groups, shapes } = &mut *scratch;
        let mut best: Option<((u32, NodeId), Weight)> = None;
        let mut nodes = 0;
        for (group_id, group) in groups.iter() {
            let Options::Fits(options) = shapes.options(*one, group_id, group) else { continue };
            let option = options.first().expect("what fits has a way");
            nodes += group.count();
            let rank = rank(group, option);
            if best.is_none_or(|(least, _)| rank < least) {
                let (tiers, parts) = (Tiers::default(), [Micro::ONE; _]);
                let (node, class) = (rank.1, option.class);
                let weight = Weight { tiers, parts, alternative, node, class, group: group_id };
                best = Some((rank, weight));
            }
        }
        if let Some((_, weight)) = best {
            let best = Some(complete(&weight, demand, shape, scratch));
            return Weighed { best, nodes, ..Weighed::default() };
        }
    }
    Weighed::default()
}

/// The mean free fraction of a node after a grant, in millionths.
fn kept_free(group: &Group, grant: &Grant) -> u32 {
    let mut after = group.free.clone();
    after.take(grant);
    let fractions = utilisation::free_fractions(&group.node, &after);
    let present: Vec<f64> = fractions.into_iter().flatten().collect();
    Micro::score(present.iter().sum::<f64>() / present.len() as f64).0
}

fn complete(
    weight: &Weight,
    demand: &Demand,
    shape: &JobShape,
    scratch: &mut Scratch,
) -> Candidate {
    let Scratch { groups, shapes } = scratch;
    let group = groups.get(weight.group);
    let options = shapes.options(shape[weight.alternative], weight.group, group);
    let Options::Fits(options) = options else { unreachable!("a choice has room") };
    let option = options.iter().find(|option| option.class == weight.class);
    let pace = demand.pace(weight.alternative, weight.class);
    Candidate {
        tiers: weight.tiers,
        parts: weight.parts,
        alternative: u16::try_from(weight.alternative).expect("a job has few alternatives"),
        node: weight.node,
        class: weight.class,
        grant: option.expect("a choice has a way").grant.clone(),
        rate: pace.rate,
        duration: pace.duration,
    }
}
