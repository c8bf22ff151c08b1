//! Signals in policy files.

use super::*;

fn policy(weights: &str, scale: &str) -> Result<Policy, PolicyError> {
    let tier = format!("[[tier]]\nrule = \"fixed\"\nweights = {{ {weights} }}\n");
    read("p.toml", &format!("{WEIGHTED}{tier}{scale}"))
}

fn refusal(weights: &str, scale: &str) -> String {
    policy(weights, scale).unwrap_err().to_string()
}

const NOISE: &str = "\"external(queue-noise)\" = 0.3";

#[test]
fn signals_have_weights_and_scales_by_name() {
    let read = policy(
        &format!("{NOISE}, completion = 1, \"external(a b)\" = 2"),
        "[scale]\n\"external(queue-noise)\" = 0.5\n",
    );
    let read = read.unwrap();
    assert_eq!(read.externals, ["a b", "queue-noise"]);
    let Weighting::Fixed(weights) = read.tiers[0] else { panic!("it is fixed") };
    let weight = |slot| weights[Objective::External(ExternalSlot::at(slot).unwrap()).position()];
    assert_eq!([weight(0), weight(1), weight(2)], [2000, 300, 0].map(Milli));
    let scales = read.scale.externals;
    assert_eq!([scales[0], scales[1], scales[2]], [1_000_000, 500_000, 1_000_000].map(Level));
    assert_eq!(
        read.objective_name(Objective::External(ExternalSlot::at(1).unwrap())),
        "external(queue-noise)"
    );
}

#[test]
fn a_policy_with_signals_is_written_so_that_it_reads_back_equal() {
    let read = policy(NOISE, "[scale]\n\"external(queue-noise)\" = 0.000001\n").unwrap();
    let written = text(&read);
    assert!(written.contains("weights = { \"external(queue-noise)\" = 0.3 }"), "{written}");
    assert!(written.contains("\n\"external(queue-noise)\" = 0.000001\n"), "{written}");
    assert_eq!(super::read("again", &written), Ok(read));
}

#[test]
fn signals_that_nothing_weighs_or_that_are_too_many_are_refused() {
    let unweighed = refusal(NOISE, "[scale]\n\"external(other)\" = 1\n");
    assert!(unweighed.starts_with("p.toml:9: unknown field \"external(other)\""), "{unweighed}");
    for key in
        ["\"external()\" = 1", "\"external(a\" = 1", "external = 1", "\"external(a(b))\" = 1"]
    {
        let refused = refusal(key, "");
        assert!(refused.starts_with("p.toml:7: unknown objective"), "{refused}");
    }
    let zero = refusal(NOISE, "[scale]\n\"external(queue-noise)\" = 0\n");
    assert_eq!(zero, "p.toml:9: scale.external(queue-noise) is 0, and should be above 0");
    let many: Vec<_> = (0..9).map(|number| format!("\"external(s{number})\" = 1")).collect();
    let refused = refusal(&many.join(", "), "");
    assert_eq!(refused, "p.toml:5: 9 signals are weighed, and there may be 8");
    assert!(policy(&many[..8].join(", "), "").is_ok());
}

#[test]
fn limits_may_be_set_on_signals_and_a_knee_may_weigh_them() {
    let tier = "[[tier]]\nrule = \"limits\"\nlimits = { \"external(noise)\" = 0.4 }\n";
    let limited = read("p", &format!("{WEIGHTED}{tier}{TIER}")).unwrap();
    assert_eq!(limited.externals, ["noise"]);
    let Weighting::Limits(limits) = limited.tiers[0] else { panic!("it is limits") };
    let noise = Objective::External(ExternalSlot::at(0).unwrap()).position();
    assert_eq!(limits[noise], Milli(400));
    assert_eq!(read("again", &text(&limited)), Ok(limited));
    let tier = "[[tier]]\nrule = \"fixed\"\nweights = { energy = 1, \"external(noise)\" = 1 }\n";
    let knee = read("p", &format!("{HEAD}pick = \"knee\"\n{tier}")).unwrap();
    let Weighting::Fixed(weights) = knee.tiers[0] else { panic!("it is fixed") };
    assert_eq!((knee.pick, weights[noise]), (Pick::Knee, Milli::WHOLE));
}

#[test]
fn a_signal_of_weight_zero_has_no_slot() {
    let read = policy(
        &format!("{NOISE}, \"external(a)\" = 0"),
        "[scale]\n\"external(a)\" = 5\n\"external(queue-noise)\" = 7\n",
    );
    let read = read.unwrap();
    let expected = policy(NOISE, "[scale]\n\"external(queue-noise)\" = 7\n").unwrap();
    assert_eq!(read, expected);
    assert_eq!(super::read("again", &text(&read)), Ok(read));
}
