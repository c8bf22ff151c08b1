//! Any policy that a file can hold is written so that it reads back equal.

use proptest::prelude::*;

use super::*;

fn weights() -> impl Strategy<Value = Weights> {
    proptest::array::uniform8(0..=1_000_000u32)
        .prop_map(|weights| weights.map(Milli))
        .prop_filter("some weight is above zero", |weights| weights.iter().any(|w| !w.is_zero()))
}

fn weighting() -> impl Strategy<Value = Weighting> {
    let thresholds = (1..998u32)
        .prop_flat_map(|low| (Just(low), low + 1..1000))
        .prop_flat_map(|(low, high)| (Just(low), Just(high), 0..(high - low).div_ceil(2)));
    let moving = (thresholds, weights(), weights(), weights()).prop_map(
        |((low, high, hysteresis), below, between, above)| {
            let [low, high, hysteresis] = [low, high, hysteresis].map(Milli);
            Weighting::ByUtilisation(ByUtilisation { low, high, hysteresis, below, between, above })
        },
    );
    let limits = proptest::array::uniform8(0..=1000u32)
        .prop_map(|limits| limits.map(Milli))
        .prop_filter("some limit is above zero", |limits| limits.iter().any(|one| !one.is_zero()));
    prop_oneof![weights().prop_map(Weighting::Fixed), moving, limits.prop_map(Weighting::Limits)]
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
    (parts, 1..=u64::MAX).prop_map(|(parts, locality)| {
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
    let tiers = proptest::collection::vec(weighting(), 1..=4);
    let batch = (2..=64u32, 1..=u64::MAX)
        .prop_map(|(max_jobs, delay)| Batch { max_jobs, max_delay: Span(delay) });
    let factors = (0..=1_000_000u32, 1000..=100_000u32);
    let rest = (factors, scale(), proptest::option::of(batch));
    let head = ("[a-zé\"\\\\]{1,12}", any::<String>(), order, pick);
    (head, tiers, rest).prop_map(|(head, tiers, ((patience, oversubscribe), scale, batch))| {
        let (name, description, order, pick) = head;
        let oversubscribe = Milli(oversubscribe);
        if pick.weighs() {
            let (tiers, batch) = match pick {
                Pick::Knee => (tiers.into_iter().map(without_weights).collect(), None),
                _ => (tiers, batch),
            };
            let patience = Milli(patience);
            return Policy {
                name,
                description,
                order,
                pick,
                tiers,
                patience,
                oversubscribe,
                scale,
                batch,
            };
        }
        let (tiers, patience) = (Vec::new(), Milli::ZERO);
        Policy {
            name,
            description,
            order,
            pick,
            tiers,
            patience,
            oversubscribe,
            scale: SCALE,
            batch: None,
        }
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
