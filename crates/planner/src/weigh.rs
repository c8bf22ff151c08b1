//! Weighing: every choice there is for one task, and the best of them.
//!
//! How the best is picked is the policy's: by weighted score, by rotation, or
//! by what keeps the most free. By score, jobs whose scores depend on the same
//! things have a ranking of the groups together; see [`crate::ranking`]. For a
//! job that is alone in its kind, whose score changes with the clock, or that
//! reads what only some nodes hold, all groups are gone through; see [`local`].

mod local;

pub(crate) use local::sites;

use std::ops::Bound;

use fleet::explanation::{Patience, TierInForce};
use fleet::policy::{EXTERNALS_MAX, Objective, Pick};
use fleet::snapshot::{Amounts, Waiting};
use fleet::{
    Alternative, ClassId, Grant, Job, Micro, NodeId, Policy, Rate, Signal, Snapshot, Span,
};

use crate::Scratch;
use crate::demand::{Demand, Pace};
use crate::dice::Dice;
use crate::effects::Choosable;
use crate::feasible::{self, Devices, Rules, Way, Ways};
use crate::groups::{Group, GroupId, Groups};
use crate::objective::{Choice, Effects, interference, remote, utilisation};
use crate::ranking::{Key, Ranking, Weight};
use crate::score::{Parts, Scoring, Tiers};
use crate::shapes::{JobShape, ShapeId};

/// How choices are weighed in this plan.
pub(crate) struct Weigher<'a> {
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) policy: &'a Policy,
    pub(crate) tiers: &'a [TierInForce],
    scoring: Scoring<'a>,
    /// By slot, the signals that are weighed, where there are such; empty where none is.
    externals: Vec<Option<&'a Signal>>,
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

impl<'a> Weigher<'a> {
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        policy: &'a Policy,
        tiers: &'a [TierInForce],
    ) -> Self {
        let scoring = Scoring::new(tiers, &policy.scale);
        let externals = policy.externals.iter().take(EXTERNALS_MAX);
        let signals = &snapshot.signals.by_name;
        let externals = externals.map(|name| signals.get(name.as_str())).collect();
        Self { snapshot, policy, tiers, scoring, externals }
    }
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
        let rules = self.rules();
        match self.policy.pick {
            Pick::Weighted | Pick::Knee => self.by_score(waiting, &demand, shape, dice, scratch),
            Pick::Rotation => by_list(&demand, shape, scratch, rules, |group, _| {
                let after = Bound::Excluded(rotation.unwrap_or(NodeId(u32::MAX)));
                match group.nodes.range((after, Bound::Unbounded)).next() {
                    Some(next) => (0, *next),
                    None => (1, group.first()),
                }
            }),
            Pick::Spread => by_list(&demand, shape, scratch, rules, |group, grant| {
                (Micro::ONE.0 - kept_free(group, grant), group.first())
            }),
        }
    }

    pub(crate) fn rules(&self) -> Rules<'_> {
        let (classes, oversubscribe) = (&*self.snapshot.classes, self.policy.oversubscribe);
        Rules { classes, oversubscribe }
    }

    /// Whether a ranking can tell the best choice for a job: its scores change neither with the
    /// clock nor from one node of a group to another.
    pub(crate) fn is_ranked(&self, job: &Job) -> bool {
        let weighs_deadlines =
            |tier: &TierInForce| !tier.weights[Objective::Deadline.position()].is_zero();
        let is_timed = job.deadline.is_some() && self.tiers.iter().any(weighs_deadlines);
        !is_timed && job.inputs().is_empty()
    }

    /// The best choices for a job, the best first, each on another node; at most `count`.
    pub(crate) fn best_choices(
        &self,
        waiting: &Waiting,
        shape: &JobShape,
        count: usize,
        scratch: &mut Scratch,
    ) -> (Demand, Vec<(GroupId, Weight)>) {
        let demand = Demand::new(&waiting.job, shape, self.snapshot, self.policy, scratch);
        let mut taken = 0;
        let groups = self.ranked(waiting, &demand, shape, scratch, |ranking, groups| {
            ranking.while_wanted(groups, |_| {
                taken += 1;
                taken <= count
            })
        });
        let groups = groups.unwrap_or_else(|| self.all_choices(&demand, shape, scratch));
        let mut choices = Vec::with_capacity(count);
        for (id, weight) in groups {
            let group = scratch.groups.get(id);
            match &demand.staging {
                None => {
                    let nodes = group.nodes.iter().take(count);
                    choices.extend(nodes.map(|node| (id, weight.on(*node))));
                }
                Some(staging) => {
                    let nodes = staging.alike(group, weight.node).take(count);
                    choices.extend(nodes.map(|node| (id, weight.on(node))));
                }
            }
        }
        choices.sort_by(|(_, one), (_, other)| one.order(other));
        choices.truncate(count);
        (demand, choices)
    }

    /// The best choice on a node that is in no slot.
    pub(crate) fn best_in_state(
        &self,
        demand: &Demand,
        shape: &JobShape,
        group: &Group,
        scratch: &mut Scratch,
    ) -> Option<Weight> {
        let Scratch { shapes, appraiser, .. } = scratch;
        self.best_of(demand, shape, (group, group.first()), |one, consider| {
            if shapes.fits(one, group) {
                appraiser.options(one, shapes, GroupId(0), group).iter().for_each(consider);
            }
        })
    }

    /// What a task gets by a choice on a node that is in no slot, and what the node's unusable
    /// capacity grows by.
    pub(crate) fn take_option(
        &self,
        shape: ShapeId,
        weight: Weight,
        group: &Group,
        scratch: &mut Scratch,
    ) -> (Grant, i64) {
        let Scratch { shapes, appraiser, .. } = scratch;
        let options = appraiser.options(shape, shapes, GroupId(0), group);
        let way = options[usize::from(weight.option)].way;
        let grant = way.grant(shapes.alternative(shape), &group.node, &group.free);
        let growth = appraiser.growth(group, &grant);
        (grant, growth)
    }

    fn by_score(
        &self,
        waiting: &Waiting,
        demand: &Demand,
        shape: &JobShape,
        dice: &mut Dice,
        scratch: &mut Scratch,
    ) -> Weighed {
        let spares_some = !demand.spared(self.snapshot.at).is_empty();
        let top = self.ranked(waiting, demand, shape, scratch, |ranking, groups| {
            let mut first = ranking.first(groups);
            if let Some((_, best)) = first.filter(|_| dice.are_thrown()) {
                let tied = ranking.while_wanted(groups, |weight| weight.ties(&best));
                first = dice.pick(tied, groups);
            }
            let second = first.and_then(|(id, _)| ranking.best_but(id, groups));
            [first, second]
        });
        let [first, second] = match top {
            Some(top) => top,
            None => self.go_through(demand, shape, dice, scratch),
        };
        let mut weighed = Weighed { nodes: roomy(shape, scratch), ..Weighed::default() };
        weighed.best = first.map(|choice| self.complete(choice, demand, shape, scratch));
        weighed.runner_up = second.map(|choice| self.complete(choice, demand, shape, scratch));
        if first.is_none() && spares_some {
            weighed.patience = self.fastest_spared(demand, shape, scratch);
        }
        weighed
    }

    /// Asks the ranking for jobs like this one, brought up to date; `None` where there is none.
    fn ranked<T>(
        &self,
        waiting: &Waiting,
        demand: &Demand,
        shape: &JobShape,
        scratch: &mut Scratch,
        ask: impl FnOnce(&mut Ranking, &Groups) -> T,
    ) -> Option<T> {
        if self.policy.pick == Pick::Knee || !self.is_ranked(&waiting.job) {
            return None;
        }
        let Scratch { groups, shapes, appraiser, rankings, .. } = scratch;
        let spared = demand.spared(self.snapshot.at);
        let key = Key { shape: JobShape::clone(shape), work: waiting.job.work, spared };
        let is_lasting = waiting.job.work.is_none() || waiting.count() > 1;
        let ranking = rankings.get(&key, is_lasting)?;
        ranking.refresh(groups, shapes, shape, |id| {
            let group = groups.get(id);
            self.best_of(demand, shape, (group, group.first()), |one, consider| {
                if shapes.has_room(one, id) {
                    appraiser.options(one, shapes, id, group).iter().for_each(consider);
                }
            })
        });
        Some(ask(ranking, groups))
    }

    /// The best choice and the best on another group, by a look at every group.
    fn go_through(
        &self,
        demand: &Demand,
        shape: &JobShape,
        dice: &mut Dice,
        scratch: &mut Scratch,
    ) -> [Option<(GroupId, Weight)>; 2] {
        let choices = match self.policy.pick {
            Pick::Knee => self.all_by_knee(demand, shape, scratch),
            _ => self.all_choices(demand, shape, scratch),
        };
        let best = |choices: &mut dyn Iterator<Item = (GroupId, Weight)>| {
            choices.reduce(|one, other| if other.1.beats(&one.1) { other } else { one })
        };
        let mut first = best(&mut choices.iter().copied());
        if let Some((_, least)) = first.filter(|_| dice.are_thrown()) {
            let tied = choices.iter().filter(|(_, weight)| weight.ties(&least));
            let tied = tied.copied().collect();
            first = match &demand.staging {
                None => dice.pick(tied, &scratch.groups),
                Some(staging) => dice.pick_one(local::spread(tied, staging, &scratch.groups)),
            };
        }
        let second = first.and_then(|(id, weight)| {
            let is_alike = |(other, one): &(GroupId, Weight)| {
                let staging = demand.staging.as_ref();
                *other == id && staging.is_none_or(|them| them.are_alike(weight.node, one.node))
            };
            best(&mut choices.iter().copied().filter(|choice| !is_alike(choice)))
        });
        [first, second]
    }

    /// The best choice on every group, in no order that a decision may depend on.
    fn all_choices(
        &self,
        demand: &Demand,
        shape: &JobShape,
        scratch: &mut Scratch,
    ) -> Vec<(GroupId, Weight)> {
        if let Some(staging) = &demand.staging {
            return self.local_choices(demand, staging, shape, scratch);
        }
        let Scratch { groups, shapes, appraiser, .. } = scratch;
        let mut choices: Vec<(GroupId, Weight)> = Vec::new();
        for id in shapes.with_room(shape) {
            let group = groups.get(id);
            let best = self.best_of(demand, shape, (group, group.first()), |one, consider| {
                if shapes.has_room(one, id) {
                    appraiser.kept(one, shapes, id, group).iter().for_each(consider);
                }
            });
            choices.extend(best.map(|best| (id, best)));
        }
        choices
    }

    /// The best choice on a node of a group.
    fn best_of(
        &self,
        demand: &Demand,
        shape: &JobShape,
        (group, node): (&Group, NodeId),
        options: impl FnMut(ShapeId, &mut dyn FnMut(&Choosable)),
    ) -> Option<Weight> {
        let mut best: Option<Weight> = None;
        self.each_of((demand, shape), (group, node), options, |weight, _| {
            if best.is_none_or(|best| weight.beats(&best)) {
                best = Some(weight);
            }
        });
        best
    }

    /// Gives every choice on a node of a group, with its scores, to `take`.
    pub(crate) fn each_of(
        &self,
        (demand, shape): (&Demand, &JobShape),
        (group, node): (&Group, NodeId),
        mut options: impl FnMut(ShapeId, &mut dyn FnMut(&Choosable)),
        mut take: impl FnMut(Weight, Parts),
    ) {
        for (alternative, one) in (0..=u16::MAX).zip(shape.iter()) {
            let mut option = 0;
            options(*one, &mut |choosable| {
                let class = choosable.way.class;
                let pace = demand.pace(usize::from(alternative), class);
                let number = option;
                option += 1;
                if pace.from > self.snapshot.at {
                    return;
                }
                let effects = effects_on(choosable, demand, (group, node));
                let (tiers, parts) = self.score(demand, pace, (effects, node));
                take(Weight { tiers, alternative, node, class, option: number }, parts);
            });
        }
    }

    fn score(
        &self,
        demand: &Demand,
        pace: Pace,
        (effects, node): (Effects, NodeId),
    ) -> (Tiers, Parts) {
        let mut levels = [0.0; EXTERNALS_MAX];
        let count = self.externals.len();
        for (level, signal) in levels.iter_mut().zip(&self.externals) {
            *level = signal.map_or(0.0, |signal| signal.level(node, pace.class).as_f64());
        }
        let seconds = effects.seconds(pace.seconds);
        let choice = Choice { seconds, effects, levels: &levels[..count] };
        self.scoring.score(&demand.ask, &choice)
    }

    /// A task of a gang on the only node of this state with this grant, in the way that is told.
    pub(crate) fn member(
        &self,
        demand: &Demand,
        (alternative, pace): (u16, Pace),
        (state, grant): (&Group, Grant),
        option: &Choosable,
    ) -> Candidate {
        let node = state.first();
        let effects = effects_on(option, demand, (state, node));
        let (tiers, parts) = self.score(demand, pace, (effects, node));
        let weight = Weight { tiers, node, alternative, class: pace.class, option: 0 };
        let duration = pace.duration.map(|span| lengthened(span, &effects));
        Candidate { duration, ..candidate(weight, parts, grant, pace) }
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
        let effects = effects_on(&option, demand, (group, weight.node));
        let (_, parts) = self.score(demand, pace, (effects, weight.node));
        let grant = option.way.grant(shapes.alternative(one), &group.node, &group.free);
        let duration = pace.duration.map(|span| lengthened(span, &effects));
        Candidate { duration, ..candidate(weight, parts, grant, pace) }
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
                for way in ways(shapes.alternative(*one), group, self.rules()) {
                    let pace = demand.pace(alternative, way.class);
                    found = Some(found.map_or(pace, |other| faster(other, pace)));
                }
            }
        }
        found.map(|pace| demand.patience(pace))
    }
}

/// How many nodes have room for one of these shapes.
pub(crate) fn roomy(shape: &JobShape, scratch: &Scratch) -> u32 {
    let Scratch { groups, shapes, .. } = scratch;
    match &shape[..] {
        [one] => shapes.roomy(*one),
        several => {
            let nodes = |id: GroupId| groups.summaries()[id.index()].nodes;
            shapes.with_room(several).map(nodes).sum()
        }
    }
}

/// The ways of the local rule.
fn ways(alternative: &Alternative, group: &Group, rules: Rules<'_>) -> Vec<Way> {
    let Group { node, up, free, .. } = group;
    let mut ways = Ways::default();
    feasible::judge(alternative, node, *up, free, rules, Devices::ByRule, &mut ways);
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

/// What an option does on this node of its group.
fn effects_on(option: &Choosable, demand: &Demand, (group, node): (&Group, NodeId)) -> Effects {
    match &demand.staging {
        None => option.effects,
        Some(staging) => staging.with_fetch(option.effects, node, &group.node),
    }
}

/// How long what is declared to take this long takes in all.
fn lengthened(span: Span, effects: &Effects) -> Span {
    if effects.stretch == 0.0 && effects.delay == 0.0 {
        return span;
    }
    let micros = |seconds: f64, rounded: fn(f64) -> f64| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "neither is negative, and what is too long is as long as can be"
        )]
        let micros = rounded(seconds * 1e6) as u64;
        Span(micros)
    };
    // What was not exact in floats must not make it shorter; and a delay of whole microseconds,
    // which comes out exact by rounding, must not make it longer than it says.
    let stretched = if effects.stretch == 0.0 {
        span
    } else {
        micros(span.as_seconds() * (1.0 + effects.stretch), f64::ceil).max(span)
    };
    stretched.saturating_add(micros(effects.delay, f64::round))
}

fn faster(one: Pace, other: Pace) -> Pace {
    if (other.duration, other.class) < (one.duration, one.class) { other } else { one }
}

/// A choice by list: its rank, its class, what is granted, and by what part it takes longer.
type Listed = ((u32, NodeId), ClassId, (Grant, f64));

/// The first alternative that has room anywhere, where `rank` is least.
fn by_list(
    demand: &Demand,
    shape: &JobShape,
    scratch: &Scratch,
    rules: Rules<'_>,
    rank: impl Fn(&Group, &Grant) -> (u32, NodeId),
) -> Weighed {
    let Scratch { groups, shapes, .. } = scratch;
    for (alternative, one) in (0..=u16::MAX).zip(shape.iter()) {
        let mut best: Option<Listed> = None;
        let asked = shapes.alternative(*one);
        for id in shapes.with_room(&[*one]) {
            let group = groups.get(id);
            let way = ways(asked, group, rules).into_iter().next().expect("what has room fits");
            let grant = way.grant(asked, &group.node, &group.free);
            let rank = rank(group, &grant);
            if best.as_ref().is_none_or(|(least, ..)| rank < *least) {
                let crowding = interference::crowding(&group.node, &group.free, &grant);
                let far = remote::stretch(&group.node, &asked.request, &grant);
                let stretch = far + crowding.own;
                best = Some((rank, way.class, (grant, stretch)));
            }
        }
        if let Some(((_, node), class, (grant, stretch))) = best {
            let tiers = Tiers::default();
            let weight = Weight { tiers, alternative, node, class, option: 0 };
            let pace = demand.pace(usize::from(alternative), class);
            let parts = [Micro::ONE; Objective::COUNT];
            let effects = Effects { stretch, ..Effects::default() };
            let duration = pace.duration.map(|span| lengthened(span, &effects));
            let best = Some(Candidate { duration, ..candidate(weight, parts, grant, pace) });
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
