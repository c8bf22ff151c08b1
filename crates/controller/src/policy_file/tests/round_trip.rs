//! Any policy that a file can hold is written so that it reads back equal.

use proptest::prelude::*;

use super::*;

/// So many slots have a weight above zero: a signal that nothing weighs has no slot.
fn weights(slots: usize) -> impl Strategy<Value = Weights> {
    let named = proptest::collection::vec(0..=1_000_000u32, Objective::COUNT - EXTERNALS_MAX);
    let external = proptest::collection::vec(1..=1_000_000u32, slots);
    (named, external)
        .prop_map(|(named, external)| weights_of(&[named, external].concat()))
        .prop_filter("some weight is above zero", |weights| weights.iter().any(|w| !w.is_zero()))
}

fn weighting(slots: usize) -> impl Strategy<Value = Weighting> {
    let thresholds = (1..998u32)
        .prop_flat_map(|low| (Just(low), low + 1..1000))
        .prop_flat_map(|(low, high)| (Just(low), Just(high), 0..(high - low).div_ceil(2)));
    let moving = (thresholds, weights(slots), weights(slots), weights(slots)).prop_map(
        |((low, high, hysteresis), below, between, above)| {
            let [low, high, hysteresis] = [low, high, hysteresis].map(Milli);
            Weighting::ByUtilisation(ByUtilisation { low, high, hysteresis, below, between, above })
        },
    );
    // Of signals, those that have a slot are limited in every tier.
    let limits = proptest::collection::vec(0..=1000u32, Objective::COUNT - EXTERNALS_MAX);
    let limits = (limits, proptest::collection::vec(1..=1000u32, slots))
        .prop_map(|(named, external)| weights_of(&[named, external].concat()))
        .prop_filter("some limit is above zero", |limits| limits.iter().any(|one| !one.is_zero()));
    let fixed = weights(slots).prop_map(Weighting::Fixed);
    prop_oneof![fixed, moving, limits.prop_map(Weighting::Limits)]
}

/// A tier of a knee: every weight above zero is one.
fn without_weights(tier: Weighting) -> Weighting {
    let whole = |weights: Weights| {
        weights.map(|weight| if weight.is_zero() { weight } else { Milli::WHOLE })
    };
    match tier {
        Weighting::Fixed(weights) => Weighting::Fixed(whole(weights)),
        Weighting::Limits(limits) => Weighting::Limits(limits),
        Weighting::ByUtilisation(rule) => Weighting::ByUtilisation(ByUtilisation {
            below: whole(rule.below),
            between: whole(rule.between),
            above: whole(rule.above),
            ..rule
        }),
    }
}

fn scale() -> impl Strategy<Value = Scale> {
    let devices = [1..=u32::MAX, 1..=u32::MAX, 1..=u32::MAX];
    let parts = (1..=u64::MAX, 1..=1000u32, devices, 1..=u128::MAX, 1..=1_000_000u32);
    let externals = proptest::array::uniform8((1..=u64::MAX).prop_map(Level));
    let last = (1..=u64::MAX, 1..=u64::MAX, externals);
    (parts, last).prop_map(|(parts, (locality, interference, externals))| {
        let (completion, utilisation, devices, energy, deadline) = parts;
        Scale {
            completion: Span(completion),
            utilisation: Milli(utilisation),
            fragmentation: Milli(devices[0]),
            companion: Milli(devices[1]),
            rarity: Milli(devices[2]),
            energy: Millijoules(energy),
            deadline: Micro(deadline),
            locality: Bytes(locality),
            interference: Span(interference),
            externals,
        }
    })
}

/// Any policy that a file can hold.
fn policy() -> impl Strategy<Value = Policy> {
    let keys = vec![OrderKey::FirstIn, OrderKey::Priority, OrderKey::FairShare];
    let order = proptest::sample::subsequence(keys, 1..=3).prop_shuffle();
    let pick = prop_oneof![
        Just(Pick::Weighted),
        Just(Pick::Knee),
        Just(Pick::Rotation),
        Just(Pick::Spread)
    ];
    let tiers = (0..=EXTERNALS_MAX)
        .prop_flat_map(|slots| (Just(slots), proptest::collection::vec(weighting(slots), 1..=4)));
    let batch = (2..=64u32, 1..=u64::MAX)
        .prop_map(|(max_jobs, delay)| Batch { max_jobs, max_delay: Span(delay) });
    let factors = (0..=1_000_000u32, 1000..=100_000u32);
    let rest = (factors, scale(), proptest::option::of(batch), proptest::option::of(allocate()));
    let head = ("[a-zé\"\\\\]{1,12}", any::<String>(), order, pick);
    (head, tiers, rest).prop_map(
        |(head, (slots, tiers), ((patience, oversubscribe), mut scale, batch, allocate))| {
            let (name, description, order, pick) = head;
            let oversubscribe = Milli(oversubscribe);
            if pick.weighs() {
                let externals = (0..slots).map(|slot| format!("signal {slot}")).collect();
                scale.externals[slots..].fill(Level(1_000_000));
                let (tiers, batch) = match pick {
                    Pick::Knee => (tiers.into_iter().map(without_weights).collect(), None),
                    _ => (tiers, batch),
                };
                // What is divided is neither waited for nor gathered.
                let (patience, batch) = match allocate {
                    Some(_) => (Milli::ZERO, None),
                    None => (Milli(patience), batch),
                };
                return Policy {
                    externals,
                    name,
                    description,
                    order,
                    pick,
                    tiers,
                    patience,
                    oversubscribe,
                    scale,
                    batch,
                    allocate,
                };
            }
            let policy = plain((name, description), order, pick);
            Policy { oversubscribe, ..policy }
        },
    )
}

/// A policy that does not weigh.
fn plain((name, description): (String, String), order: Vec<OrderKey>, pick: Pick) -> Policy {
    Policy {
        name,
        description,
        order,
        pick,
        tiers: Vec::new(),
        patience: Milli::ZERO,
        oversubscribe: Milli::WHOLE,
        scale: SCALE,
        externals: Vec::new(),
        batch: None,
        allocate: None,
    }
}

fn allocate() -> impl Strategy<Value = Allocate> {
    let span = || proptest::option::of((1..=u64::MAX).prop_map(Span));
    let power = -Powers::MAX..=Powers::MAX;
    let powers = (0..=Powers::MAX, power.clone(), power.clone(), power);
    (span(), powers, any::<u64>(), span()).prop_map(|(rounds, powers, moving, starvation)| {
        let (fitness, brevity, lack, slowdown) = powers;
        let powers = Powers { fitness, brevity, lack, slowdown };
        Allocate { rounds, powers, moving: Span(moving), starvation }
    })
}

proptest! {
    #[test]
    fn a_policy_that_is_written_reads_back_equal(policy in policy()) {
        let written = text(&policy);
        let again = read("p.toml", &written).map_err(|error| chain(&error));
        prop_assert_eq!(again, Ok(policy), "{}", written);
    }

    #[test]
    fn no_text_makes_reading_panic(
        lines in proptest::collection::vec("[a-z]{1,8} = [\\[\\]{}\"a-z0-9.,= -]{0,12}", 0..6),
    ) {
        let _ = read("p.toml", &lines.join("\n"));
        let _ = read("p.toml", &format!("{WEIGHTED}{}", lines.join("\n")));
    }
}
