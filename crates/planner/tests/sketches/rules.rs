//! Policies for sketches, each as plain as its test allows.

use fleet::policy::{
    ByUtilisation, EXTERNALS_MAX, Objective, OrderKey, Pick, Scale, Weighting, Weights,
};
use fleet::{Bytes, Level, Micro, Milli, Millijoules, Policy, Span};

/// First in, weighed by this objective alone, without patience.
pub(crate) fn by(objective: Objective) -> Policy {
    Policy {
        name: "sketch".to_owned(),
        description: String::new(),
        order: vec![OrderKey::FirstIn],
        pick: Pick::Weighted,
        externals: Vec::new(),
        tiers: vec![Weighting::Fixed(only(objective))],
        patience: Milli::ZERO,
        oversubscribe: Milli::WHOLE,
        scale: Scale {
            completion: Span::seconds(60),
            utilisation: Milli(100),
            fragmentation: Milli(1000),
            companion: Milli(1000),
            rarity: Milli(10_000),
            energy: Millijoules(1_000_000),
            deadline: Micro(50_000),
            locality: Bytes(10_000_000_000),
            interference: Span::seconds(60),
            externals: [Level(1_000_000); EXTERNALS_MAX],
        },
        batch: None,
        allocate: None,
    }
}

/// First in, on the lowest node that keeps the most free.
pub(crate) fn spread() -> Policy {
    Policy { pick: Pick::Spread, ..by(Objective::Completion) }
}

/// In this order, on the lowest node that keeps the most free.
pub(crate) fn ordered(order: &[OrderKey]) -> Policy {
    Policy { order: order.to_vec(), ..spread() }
}

/// All weight on one objective.
pub(crate) fn only(objective: Objective) -> Weights {
    Objective::ALL.map(|one| if one == objective { Milli::WHOLE } else { Milli::ZERO })
}

/// Energy while the fleet is nearly idle, utilisation when it is nearly full, completion in
/// between.
pub(crate) fn moving() -> ByUtilisation {
    ByUtilisation {
        low: Milli(300),
        high: Milli(800),
        hysteresis: Milli(50),
        below: only(Objective::Energy),
        between: only(Objective::Completion),
        above: only(Objective::Utilisation),
    }
}

pub(crate) fn by_utilisation(rule: ByUtilisation) -> Policy {
    Policy { tiers: vec![Weighting::ByUtilisation(rule)], ..by(Objective::Completion) }
}
