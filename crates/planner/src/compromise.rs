//! Compromise: choices where the pick is the knee.
//!
//! How good a choice is depends on the others there are: each tier looks at the
//! choices that are best in the tiers before it, in the objectives that it
//! weighs. So there is no ranking to keep, and every choice on every group is
//! gone through for every task. Scores are whole millionths, so the knee is
//! found in whole numbers. Where all that is not dominated is worst in some
//! objective there is no knee, and the mean of the scores decides.

use fleet::Micro;
use fleet::explanation::{TierInForce, TierValue};
use fleet::policy::Objective;

use crate::Scratch;
use crate::demand::Demand;
use crate::front::{Frame, non_dominated};
use crate::groups::GroupId;
use crate::ranking::Weight;
use crate::score::Parts;
use crate::shapes::JobShape;
use crate::weigh::{Weigher, sites};

/// A thousandth: scores that differ by less say nothing of what is given up.
const RANGE_MIN: u32 = 1000;

/// A choice with its scores.
struct Scored {
    id: GroupId,
    weight: Weight,
    parts: Parts,
}

impl Weigher<'_> {
    /// The best choice on every group, and on every node that holds an input, in no order that a
    /// decision may depend on.
    pub(crate) fn all_by_knee(
        &self,
        demand: &Demand,
        shape: &JobShape,
        scratch: &mut Scratch,
    ) -> Vec<(GroupId, Weight)> {
        let Scratch { groups, shapes, appraiser, .. } = scratch;
        let mut choices: Vec<Scored> = Vec::new();
        for (id, node) in sites(demand, shape, groups, shapes) {
            let group = groups.get(id);
            let options = |one, consider: &mut dyn FnMut(&_)| {
                if shapes.has_room(one, id) {
                    appraiser.kept(one, shapes, id, group).iter().for_each(consider);
                }
            };
            self.each_of((demand, shape), (group, node), options, |weight, parts| {
                choices.push(Scored { id, weight, parts });
            });
        }
        settle(&mut choices, self.tiers);
        let mut best: Vec<(GroupId, Weight)> = Vec::new();
        for Scored { id, weight, .. } in choices {
            match best.last_mut() {
                Some((last, before)) if *last == id && before.node == weight.node => {
                    if weight.beats(before) {
                        *before = weight;
                    }
                }
                _ => best.push((id, weight)),
            }
        }
        best
    }
}

/// Gives every choice its value in the tiers of which the value is the knee.
fn settle(choices: &mut [Scored], tiers: &[TierInForce]) {
    let mut leaders: Vec<usize> = (0..choices.len()).collect();
    for (position, tier) in tiers.iter().enumerate() {
        if tier.value == TierValue::Knee {
            settle_tier(choices, &leaders, (position, tier));
        }
        let value = |one: &usize| choices[*one].weight.tiers[position];
        let best = leaders.iter().map(value).max();
        leaders.retain(|one| Some(choices[*one].weight.tiers[position]) == best);
    }
}

fn settle_tier(choices: &mut [Scored], leaders: &[usize], (position, tier): (usize, &TierInForce)) {
    let costs: Vec<_> = leaders.iter().map(|one| costs(&choices[*one], tier)).collect();
    let on_front = non_dominated(&costs);
    let front: Vec<_> = on_front.iter().map(|one| costs[*one]).collect();
    if let Some(frame) = Frame::of(&front, RANGE_MIN).filter(Frame::has_knee) {
        for choice in choices.iter_mut() {
            let value = frame.value(&self::costs(choice, tier));
            choice.weight.tiers[position] = Micro(value.max(1));
        }
    }
    // What is dominated is never more than what dominates it; rounded it may be as much.
    let mut is_dominated = vec![true; leaders.len()];
    on_front.iter().for_each(|one| is_dominated[*one] = false);
    for (leader, _) in leaders.iter().zip(is_dominated).filter(|(_, dominated)| *dominated) {
        let value = &mut choices[*leader].weight.tiers[position];
        *value = Micro(value.0.saturating_sub(1).max(1));
    }
}

/// What a choice falls short of a score of one by each objective that a tier weighs.
fn costs(choice: &Scored, tier: &TierInForce) -> [u32; Objective::COUNT] {
    let mut costs = [0; Objective::COUNT];
    for ((cost, part), weight) in costs.iter_mut().zip(choice.parts).zip(tier.weights) {
        if !weight.is_zero() {
            *cost = Micro::ONE.0 - part.0;
        }
    }
    costs
}
