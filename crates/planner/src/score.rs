//! Score: one vector per choice, and the weights that make it one number per tier.
//!
//! Also here: which weights are in force. Where they move with how busy the
//! fleet is, the regime of the last plan comes with the snapshot and the next
//! one goes back with the plan, so that the planner itself remembers nothing.

use fleet::explanation::{TierInForce, TierValue};
use fleet::policy::{ByUtilisation, Objective, Pick, Regime, Scale, TIERS_MAX, Weighting, Weights};
use fleet::{Micro, Milli, Policy, Snapshot};

use crate::objective::{self, Ask, Choice};

/// The values of a choice, tier by tier; unused tiers are zero.
pub(crate) type Tiers = [Micro; TIERS_MAX];

/// The score of every objective, in the order of [`Objective::ALL`].
pub(crate) type Parts = [Micro; Objective::COUNT];

/// The weights in force for this plan.
pub(crate) fn tiers_in_force(snapshot: &Snapshot, policy: &Policy) -> Vec<TierInForce> {
    if !policy.pick.weighs() {
        return Vec::new();
    }
    let value = if policy.pick == Pick::Knee { TierValue::Knee } else { TierValue::Mean };
    let busy = snapshot.held.busy(&snapshot.capacity);
    let tier = |(position, weighting): (usize, &Weighting)| match weighting {
        Weighting::Fixed(weights) => TierInForce { value, regime: None, weights: *weights },
        Weighting::Limits(limits) => {
            TierInForce { value: TierValue::Limits, regime: None, weights: *limits }
        }
        Weighting::ByUtilisation(rule) => {
            let last = snapshot.memory.regimes.get(position).copied().unwrap_or_default();
            let regime = next_regime(last, busy, rule);
            TierInForce { value, regime: Some(regime), weights: weights_of(rule, regime) }
        }
    };
    policy.tiers.iter().take(TIERS_MAX).enumerate().map(tier).collect()
}

/// The regimes that the next plan must know.
pub(crate) fn regimes(tiers: &[TierInForce]) -> Vec<Regime> {
    tiers.iter().map(|tier| tier.regime.unwrap_or_default()).collect()
}

/// The regime after `last`, now that the fleet is this busy.
fn next_regime(last: Regime, busy: Milli, rule: &ByUtilisation) -> Regime {
    let low = match last {
        Regime::Below => rule.low.saturating_add(rule.hysteresis),
        Regime::Between | Regime::Above => rule.low,
    };
    let high = match last {
        Regime::Above => rule.high.saturating_sub(rule.hysteresis),
        Regime::Between | Regime::Below => rule.high,
    };
    if busy < low {
        Regime::Below
    } else if busy > high {
        Regime::Above
    } else {
        Regime::Between
    }
}

fn weights_of(rule: &ByUtilisation, regime: Regime) -> Weights {
    match regime {
        Regime::Below => rule.below,
        Regime::Between => rule.between,
        Regime::Above => rule.above,
    }
}

/// What choices are scored by.
pub(crate) struct Scoring<'a> {
    tiers: &'a [TierInForce],
    scale: &'a Scale,
    /// The objectives that some tier weighs, with their positions.
    weighed: Vec<(usize, Objective)>,
}

impl<'a> Scoring<'a> {
    pub(crate) fn new(tiers: &'a [TierInForce], scale: &'a Scale) -> Self {
        let is_weighed = |(position, _): &(usize, Objective)| {
            tiers.iter().any(|tier| !tier.weights[*position].is_zero())
        };
        let weighed = Objective::ALL.into_iter().enumerate().filter(is_weighed).collect();
        Self { tiers, scale, weighed }
    }

    /// Scores one choice: every objective that some tier weighs, and the value of each tier. For
    /// the knee, which one choice alone does not have, it is the mean.
    pub(crate) fn score(&self, ask: &Ask, choice: &Choice<'_>) -> (Tiers, Parts) {
        let mut parts = [Micro::ONE; Objective::COUNT];
        for (position, objective) in &self.weighed {
            parts[*position] = objective::score(*objective, ask, choice, self.scale);
        }
        let mut values = [Micro::ZERO; TIERS_MAX];
        for (value, tier) in values.iter_mut().zip(self.tiers) {
            *value = match tier.value {
                TierValue::Mean | TierValue::Knee => {
                    weighted_mean(&tier.weights, &parts, &self.weighed)
                }
                TierValue::Limits => kept(&tier.weights, &parts),
            };
        }
        (values, parts)
    }
}

/// One less the mean of what the parts fall short of their limits, rounded so that it is one only
/// where every limit is kept.
fn kept(limits: &Weights, parts: &Parts) -> Micro {
    let (mut short, mut count) = (0, 0);
    for (limit, part) in limits.iter().zip(parts).filter(|(limit, _)| !limit.is_zero()) {
        short += (u64::from(limit.0) * 1000).saturating_sub(u64::from(part.0));
        count += 1;
    }
    let mean = short.div_ceil(count.max(1));
    let left = u64::from(Micro::ONE.0).saturating_sub(mean).max(1);
    Micro(u32::try_from(left).expect("no more than one"))
}

/// The mean of the parts by weight, rounded down; the least score where nothing weighs anything.
/// What is not among `weighed` has no weight.
fn weighted_mean(weights: &Weights, parts: &Parts, weighed: &[(usize, Objective)]) -> Micro {
    let (mut total, mut sum): (u64, u64) = (0, 0);
    for (position, _) in weighed {
        let weight = u64::from(weights[*position].0);
        total += weight;
        sum += weight * u64::from(parts[*position].0);
    }
    let mean = sum.checked_div(total).unwrap_or(0).max(1);
    Micro(u32::try_from(mean).expect("a mean of scores is a score"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rule() -> ByUtilisation {
        let weights = [Milli(1); Objective::COUNT];
        ByUtilisation {
            low: Milli(300),
            high: Milli(800),
            hysteresis: Milli(50),
            below: weights,
            between: weights,
            above: weights,
        }
    }

    #[test]
    fn regime_holds_until_the_threshold_is_passed_by_the_hysteresis() {
        let next = |last, busy| next_regime(last, Milli(busy), &rule());
        assert_eq!(next(Regime::Between, 299), Regime::Below);
        assert_eq!(next(Regime::Between, 300), Regime::Between);
        assert_eq!(next(Regime::Below, 349), Regime::Below);
        assert_eq!(next(Regime::Below, 350), Regime::Between);
        assert_eq!(next(Regime::Between, 801), Regime::Above);
        assert_eq!(next(Regime::Above, 750), Regime::Between);
        assert_eq!(next(Regime::Above, 751), Regime::Above);
        assert_eq!(next(Regime::Below, 900), Regime::Above);
        assert_eq!(next(Regime::Above, 100), Regime::Below);
    }

    #[test]
    fn mean_weighs_by_thousandths_and_stays_a_score() {
        let mut weights = [Milli::ZERO; Objective::COUNT];
        weights[0] = Milli(750);
        weights[1] = Milli(250);
        let mut parts = [Micro::ONE; Objective::COUNT];
        parts[0] = Micro(400_000);
        let all: Vec<_> = Objective::ALL.into_iter().enumerate().collect();
        assert_eq!(weighted_mean(&weights, &parts, &all), Micro(550_000));
        assert_eq!(weighted_mean(&[Milli::ZERO; Objective::COUNT], &parts, &all), Micro(1));
    }

    #[test]
    fn limits_are_kept_to_the_millionth() {
        let mut limits = [Milli::ZERO; Objective::COUNT];
        let mut parts = [Micro(1); Objective::COUNT];
        assert_eq!(kept(&limits, &parts), Micro::ONE);
        (limits[0], limits[5]) = (Milli(400), Milli(900));
        (parts[0], parts[5]) = (Micro(400_000), Micro(900_000));
        assert_eq!(kept(&limits, &parts), Micro::ONE);
        parts[5] = Micro(899_999);
        assert_eq!(kept(&limits, &parts), Micro(999_999));
        parts[0] = Micro(100_000);
        assert_eq!(kept(&limits, &parts), Micro(849_999));
    }
}
