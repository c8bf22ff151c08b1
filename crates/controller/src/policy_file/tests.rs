use std::error::Error;

use fleet::policy::{
    ByUtilisation, ExternalSlot, Objective, OrderKey, Pick, Scale, Weighting, Weights,
};
use fleet::{Bytes, Micro, Milli, Millijoules, Policy, Span};

use super::*;
use fleet::Powers;
use fleet::policy::Allocate;

mod externals;
mod round_trip;

const HEAD: &str = "format = 1\nname = \"x\"\norder = [\"first-in\"]\n";
const WEIGHTED: &str = "format = 1\nname = \"x\"\norder = [\"first-in\"]\npick = \"weighted\"\n";
/// These weights of the first objectives, in thousandths; the others weigh nothing.
fn weights_of(first: &[u32]) -> Weights {
    let mut weights = Weights::default();
    for (weight, thousandths) in weights.iter_mut().zip(first) {
        *weight = Milli(*thousandths);
    }
    weights
}

const TIER: &str = "[[tier]]\nrule = \"fixed\"\nweights = { energy = 1 }\n";

/// The whole chain of an error, as the program prints it.
fn chain(error: &dyn Error) -> String {
    match error.source() {
        Some(source) => format!("{error}: {}", chain(source)),
        None => error.to_string(),
    }
}

/// Checks that the parts, put together, are refused with this message.
fn refused(parts: &[&str], expected: &str) {
    let text = parts.concat();
    let error = read("p.toml", &text).expect_err(&text);
    assert_eq!(chain(&error), expected, "{text}");
}

fn tier(body: &str) -> String {
    format!("{WEIGHTED}[[tier]]\n{body}\n")
}

#[test]
fn every_shipped_policy_is_read_under_its_own_name_and_as_it_would_be_written() {
    for (name, file) in SHIPPED {
        let policy = shipped(name).unwrap();
        assert_eq!(policy.name, *name);
        assert_eq!(text(&policy), *file, "{name}");
    }
    assert_eq!(shipped("nobody"), None);
}

#[test]
fn the_default_weighs_every_objective_but_locality_interference_and_signals() {
    let [Weighting::Fixed(weights)] = shipped("default").unwrap().tiers[..] else {
        panic!("one fixed tier");
    };
    // The time that it takes to fetch inputs is in completion already.
    for objective in Objective::ALL {
        let is_weighed = !weights[objective.position()].is_zero();
        let is_left_out = matches!(
            objective,
            Objective::Locality | Objective::Interference | Objective::External(_)
        );
        assert_eq!(is_weighed, !is_left_out, "{}", objective.name());
    }
}

#[test]
fn by_utilisation_has_the_thresholds_and_weights_of_the_article() {
    let weights =
        |completion, utilisation, energy| weights_of(&[completion, utilisation, 0, 0, 0, energy]);
    let expected = ByUtilisation {
        low: Milli(300),
        high: Milli(800),
        hysteresis: Milli(50),
        below: weights(300, 200, 500),
        between: weights(400, 400, 200),
        above: weights(300, 600, 100),
    };
    let tiers = shipped("by-utilisation").unwrap().tiers;
    assert_eq!(tiers, [Weighting::ByUtilisation(expected)]);
}

#[test]
fn baselines_differ_from_motley_in_order_and_pick_only() {
    for name in ["round-robin", "priority", "fair-share"] {
        let policy = shipped(name).unwrap();
        assert_ne!(policy.pick, Pick::Weighted);
        assert!(policy.tiers.is_empty() && policy.patience.is_zero());
        assert_eq!(policy.scale, SCALE);
    }
}

#[test]
fn what_is_left_out_has_its_default() {
    let policy = read("p.toml", &[WEIGHTED, TIER].concat()).unwrap();
    let expected = Policy {
        name: "x".to_owned(),
        description: String::new(),
        order: vec![OrderKey::FirstIn],
        pick: Pick::Weighted,
        externals: Vec::new(),
        tiers: vec![Weighting::Fixed(weights_of(&[0, 0, 0, 0, 0, 1000]))],
        patience: Milli::ZERO,
        oversubscribe: Milli::WHOLE,
        scale: SCALE,
        batch: None,
        allocate: None,
    };
    assert_eq!(policy, expected);
}

#[test]
fn every_field_that_is_given_is_read() {
    let rest = "[scale]\ncompletion = \"1m30s\"\nutilisation = 0.25\nfragmentation = 0.5\n\
                companion = 0.25\nrarity = 2.5\nenergy = \"1kWh\"\ndeadline = 0.000001\n\
                locality = \"20GB\"\ninterference = \"7s\"\n";
    let patience = "description = \"y\"\npatience = 2.5\noversubscribe = 1.25\n";
    let policy = read("p.toml", &[WEIGHTED, patience, TIER, rest].concat()).unwrap();
    assert_eq!((&*policy.description, policy.patience), ("y", Milli(2500)));
    assert_eq!(policy.oversubscribe, Milli(1250));
    let expected = Scale {
        completion: Span::seconds(90),
        utilisation: Milli(250),
        fragmentation: Milli(500),
        companion: Milli(250),
        rarity: Milli(2500),
        energy: Millijoules(3_600_000_000),
        deadline: Micro(1),
        locality: Bytes(20_000_000_000),
        interference: Span::seconds(7),
        externals: [Level(1_000_000); EXTERNALS_MAX],
    };
    assert_eq!(policy.scale, expected);
}

#[test]
fn a_batch_has_a_size_and_a_delay() {
    let batch = |text: &str| format!("{WEIGHTED}batch = {text}\n{TIER}");
    let policy = read("p.toml", &batch("{ max_jobs = 16, max_delay = \"5s\" }")).unwrap();
    assert_eq!(policy.batch, Some(Batch { max_jobs: 16, max_delay: Span::seconds(5) }));
    let refused = |given: &str, message: &str| refused(&[&batch(given)], message);
    refused(
        "{ max_jobs = 1, max_delay = \"5s\" }",
        "p.toml:5: batch.max_jobs is 1, and should be a whole number from 2 to 64",
    );
    refused(
        "{ max_jobs = 8, max_delay = \"0s\" }",
        "p.toml:5: batch.max_delay is \"0s\", and should be above 0",
    );
    refused("{ max_jobs = 8 }", "p.toml:5: field \"batch.max_delay\" is missing");
}

#[test]
fn unknown_words_are_named_with_their_line_and_the_nearest_word() {
    refused(
        &[&tier("rule = \"fixed\"\nweights = { enrgy = 1 }")],
        "p.toml:7: unknown objective \"enrgy\"; did you mean \"energy\"?",
    );
    refused(
        &[&tier("rule = \"fixed\"\nweights = { carbon = 1 }")],
        "p.toml:7: unknown objective \"carbon\"; it may be completion, utilisation, \
         fragmentation, companion, rarity, energy, deadline, locality, interference",
    );
    refused(
        &[WEIGHTED, "patiens = 1\n", TIER],
        "p.toml:5: unknown field \"patiens\"; did you mean \"patience\"?",
    );
    refused(
        &[&tier("rule = \"fixd\"")],
        "p.toml:6: unknown rule \"fixd\"; did you mean \"fixed\"?",
    );
    refused(
        &[HEAD, "pick = \"rotaton\"\n"],
        "p.toml:4: unknown pick \"rotaton\"; did you mean \"rotation\"?",
    );
    refused(
        &[
            "format = 1\nname = \"x\"\npick = \"spread\"\norder = [\n  \"priority\",\n  \"fifo\",\n]\n",
        ],
        "p.toml:6: unknown order key \"fifo\"; it may be first-in, priority, fair-share",
    );
    refused(
        &[WEIGHTED, TIER, "[scale]\n\nutilization = 0.5\n"],
        "p.toml:10: unknown field \"utilization\"; did you mean \"utilisation\"?",
    );
    refused(
        &[&tier("rule = \"fixed\"\nweights = { energy = 1 }\nlow = 0.3")],
        "p.toml:8: unknown field \"low\"; it may be rule, weights",
    );
}

#[test]
fn the_first_of_several_unknown_words_is_named() {
    refused(
        &[HEAD, "zzz = 1\naaa = 1\npick = \"spread\"\n"],
        "p.toml:4: unknown field \"zzz\"; it may be format, name, description, order, pick, \
         patience, oversubscribe, batch, allocate, tier, scale",
    );
}

#[test]
fn missing_fields_are_named_with_the_line_of_their_table() {
    refused(&["name = \"x\"\n"], "p.toml:1: field \"format\" is missing");
    refused(&[HEAD], "p.toml:1: field \"pick\" is missing");
    refused(&[WEIGHTED], "p.toml:1: field \"tier\" is missing");
    refused(&[&tier("rule = \"fixed\"")], "p.toml:5: field \"tier.weights\" is missing");
    refused(
        &[&tier("rule = \"by-utilisation\"\nlow = 0.1")],
        "p.toml:5: field \"tier.high\" is missing",
    );
}

#[test]
fn fields_that_nothing_would_read_are_refused() {
    let message = |line: u32, field: &str| {
        format!(
            "p.toml:{line}: field {field:?} is read with pick = \"weighted\" or \"knee\" only, and \
             pick is \"rotation\""
        )
    };
    let head = [HEAD, "pick = \"rotation\"\n"].concat();
    refused(&[&head, TIER], &message(5, "tier"));
    refused(&[&head, "patience = 0\n"], &message(5, "patience"));
    refused(&[&head, "[scale]\nenergy = \"1J\"\n"], &message(5, "scale"));
    refused(
        &[HEAD, "pick = \"knee\"\nbatch = { max_jobs = 2, max_delay = \"1s\" }\n", TIER],
        "p.toml:5: field \"batch\" is read with pick = \"weighted\" only, and pick is \"knee\"",
    );
}

#[test]
fn a_knee_has_objectives_and_no_weights() {
    let knee = |weights: &str| {
        format!("{HEAD}pick = \"knee\"\n[[tier]]\nrule = \"fixed\"\nweights = {weights}\n")
    };
    let policy = read("p.toml", &knee("{ completion = 1, energy = 1, deadline = 0 }")).unwrap();
    let weights = weights_of(&[1000, 0, 0, 0, 0, 1000]);
    assert_eq!((policy.pick, policy.tiers), (Pick::Knee, vec![Weighting::Fixed(weights)]));
    refused(
        &[&knee("{ completion = 1, energy = 0.5 }")],
        "p.toml:7: tier.weights.energy is 0.5, and should be 1 or 0 with pick = \"knee\", which has \
         no weights",
    );
}

#[test]
fn limits_are_scores_above_zero_and_at_most_one() {
    let limits = |limits: &str| tier(&format!("rule = \"limits\"\nlimits = {limits}"));
    let policy = read("p.toml", &(limits("{ energy = 0.4, completion = 1 }") + TIER)).unwrap();
    let expected = Weighting::Limits(weights_of(&[1000, 0, 0, 0, 0, 400]));
    assert_eq!(policy.tiers[0], expected);
    let refused = |given: &str, message: &str| refused(&[&limits(given)], message);
    let wrong = "and should be above 0 and at most 1";
    refused("{ energy = 0 }", &format!("p.toml:7: tier.limits.energy is 0, {wrong}"));
    refused("{ energy = 1.5 }", &format!("p.toml:7: tier.limits.energy is 1.5, {wrong}"));
    refused("{}", "p.toml:7: tier.limits has no limit, so every choice would keep it");
    refused("{ enrgy = 0.5 }", "p.toml:7: unknown objective \"enrgy\"; did you mean \"energy\"?");
}

#[test]
fn a_later_format_is_refused_before_its_fields() {
    refused(
        &["format = 2\nnovelty = true\n"],
        "p.toml:1: format 2 is unknown; this program reads format 1",
    );
    refused(
        &["format = \"1\"\n"],
        "p.toml:1: format \"1\" is unknown; this program reads format 1",
    );
}

#[test]
fn weights_are_decimals_from_nothing_to_a_thousand_and_not_all_zero() {
    let message = |weights: &str, message: &str| {
        refused(&[&tier(&format!("rule = \"fixed\"\nweights = {weights}"))], message);
    };
    let wrong = "write it like 1 or 0.25";
    message(
        "{ energy = -0.1 }",
        &format!("p.toml:7: tier.weights.energy: fraction \"-0.1\" is negative; {wrong}"),
    );
    message(
        "{ energy = nan }",
        &format!(
            "p.toml:7: tier.weights.energy: fraction \"nan\" is not a plain decimal number; {wrong}"
        ),
    );
    message(
        "{ energy = inf }",
        &format!(
            "p.toml:7: tier.weights.energy: fraction \"inf\" is not a plain decimal number; {wrong}"
        ),
    );
    message(
        "{ energy = 0.0005 }",
        "p.toml:7: tier.weights.energy: fraction \"0.0005\" is finer than 0.001, the least step; \
         write fewer decimals",
    );
    message(
        "{ energy = 1001 }",
        "p.toml:7: tier.weights.energy is 1001, and should be from 0 to 1000",
    );
    message("{ energy = \"1\" }", "p.toml:7: tier.weights.energy is \"1\", and should be a number");
    message("{ energy = 0x1 }", "p.toml:7: tier.weights.energy is 0x1, and should be a number");
    message("0.5", "p.toml:7: tier.weights is 0.5, and should be a table");
    let weightless = "p.toml:7: tier.weights has no weight above 0, so nothing would be weighed";
    message("{ energy = 0, completion = 0.0 }", weightless);
    message("{}", weightless);
}

#[test]
fn regimes_must_be_distinct() {
    let message = |low: &str, high: &str, hysteresis: &str, message: &str| {
        let weights = "{ energy = 1 }";
        let body = format!(
            "rule = \"by-utilisation\"\nlow = {low}\nhigh = {high}\nhysteresis = {hysteresis}\n\
             below = {weights}\nbetween = {weights}\nabove = {weights}"
        );
        refused(&[&tier(&body)], message);
    };
    let order = |low: &str, high: &str| {
        format!("p.toml:5: low is {low} and high is {high}, and should be 0 < low < high < 1")
    };
    message("0.8", "0.3", "0", &order("0.8", "0.3"));
    message("0.3", "0.3", "0", &order("0.3", "0.3"));
    message("0", "0.3", "0", &order("0", "0.3"));
    message("0.3", "1", "0", &order("0.3", "1"));
    message("0.3", "80", "0", "p.toml:8: tier.high is 80, and should be at most 1");
    message(
        "0.3",
        "0.8",
        "0.25",
        "p.toml:9: hysteresis is 0.25, and should be under 0.25, half of high − low",
    );
}

#[test]
fn scales_are_above_zero_and_in_their_unit() {
    let message = |field: &str, message: &str| {
        refused(&[WEIGHTED, TIER, "[scale]\n", field, "\n"], &format!("p.toml:9: {message}"));
    };
    message("completion = \"0s\"", "scale.completion is \"0s\", and should be above 0");
    message("completion = 60", "scale.completion is 60, and should be text in quotes");
    message(
        "completion = \"60\"",
        "scale.completion: duration \"60\" has no unit; write it like 90s or 1h30m, with one of \
         us ms s m h d",
    );
    message("energy = \"0J\"", "scale.energy is \"0J\", and should be above 0");
    message("interference = \"0s\"", "scale.interference is \"0s\", and should be above 0");
    message("locality = \"0GB\"", "scale.locality is \"0GB\", and should be above 0");
    message("utilisation = 0", "scale.utilisation is 0, and should be above 0 and at most 1");
    message("utilisation = 1.5", "scale.utilisation is 1.5, and should be above 0 and at most 1");
    message("fragmentation = 0", "scale.fragmentation is 0, and should be above 0");
    message("companion = 0", "scale.companion is 0, and should be above 0");
    message("rarity = 0", "scale.rarity is 0, and should be above 0");
    let probability = "and should be above 0 and at most 1, with at most 6 decimals";
    for wrong in ["0", "1.1", "-0.5", "0.0000001", "nan"] {
        message(
            &format!("deadline = {wrong}"),
            &format!("scale.deadline is {wrong}, {probability}"),
        );
    }
}

#[test]
fn lists_and_names_are_bounded_and_not_empty() {
    refused(&[WEIGHTED, &TIER.repeat(5)], "p.toml:5: 5 tiers, and there may be 1 to 4");
    assert!(read("p.toml", &[WEIGHTED, &TIER.repeat(4)].concat()).is_ok());
    refused(&[WEIGHTED, "tier = []\n"], "p.toml:5: 0 tiers, and there may be 1 to 4");
    let order =
        |order: &str| format!("format = 1\nname = \"x\"\npick = \"spread\"\norder = {order}\n");
    refused(&[&order("[]")], "p.toml:4: order is [], and should be a list of at least one key");
    refused(&[&order("\"priority\"")], "p.toml:4: order is \"priority\", and should be a list");
    refused(
        &[&order("[\"priority\", \"priority\"]")],
        "p.toml:4: \"priority\" stands twice in \"order\"",
    );
    let name = "p.toml:2: name is \"\", and should be a name on one line, without blanks around it";
    refused(&["format = 1\nname = \"\"\norder = [\"priority\"]\npick = \"spread\"\n"], name);
}

#[test]
fn what_is_not_toml_is_named_with_its_line() {
    let error = read("p.toml", "format = 1\nname = \"x\norder = 3\n").unwrap_err();
    assert!(matches!(&error, PolicyError::Syntax { at, .. } if at.line == 2), "{error:?}");
    assert!(!error.to_string().contains('\n'));
    let twice = read("p.toml", "format = 1\nname = \"x\"\nname = \"y\"\n").unwrap_err();
    assert!(matches!(&twice, PolicyError::Syntax { at, .. } if at.line == 3), "{twice:?}");
}

#[test]
fn long_values_are_clipped_in_messages() {
    let word = "é".repeat(200);
    let error = read("p.toml", &[HEAD, "pick = \"", &word, "\"\n"].concat()).unwrap_err();
    assert!(error.to_string().chars().count() < 200, "{error}");
}

#[test]
fn every_example_in_the_reference_is_a_policy() {
    let page = include_str!("../../../../docs/policies.md");
    let blocks: Vec<_> = page.split("```toml\n").skip(1).collect();
    assert!(blocks.len() >= 3);
    for block in blocks {
        let (example, _) = block.split_once("```").unwrap();
        read("docs/policies.md", example).unwrap_or_else(|error| panic!("{error}\n{example}"));
    }
}

#[test]
fn the_reference_names_every_field_objective_and_shipped_policy() {
    let page = include_str!("../../../../docs/policies.md");
    let objectives = Objective::ALL.map(Objective::name);
    let shipped = SHIPPED.iter().map(|(name, _)| *name);
    for word in FIELDS.into_iter().chain(allocate::FIELDS).chain(objectives).chain(shipped) {
        assert!(page.contains(&format!("`{word}`")), "{word}");
    }
}

#[test]
fn every_field_of_allocate_is_read() {
    let allocate = |fields: &str| {
        let line = format!("allocate = {{ {fields} }}\n");
        read("p.toml", &[WEIGHTED, &line, TIER].concat()).unwrap().allocate.unwrap()
    };
    let base = allocate("");
    let powers = Powers { fitness: 1000, ..Powers::default() };
    assert_eq!(base, Allocate { rounds: None, powers, moving: Span::ZERO, starvation: None });
    let six = Some(Span::seconds(360));
    assert_eq!(allocate("rounds = \"6m\""), Allocate { rounds: six, ..base });
    assert_eq!(allocate("starvation = \"6m\""), Allocate { starvation: six, ..base });
    let moving = Span::seconds(30);
    assert_eq!(allocate("moving = \"30s\""), Allocate { moving, ..base });
    let with = |powers| Allocate { powers, ..base };
    assert_eq!(allocate("fitness = 2.5"), with(Powers { fitness: 2500, ..powers }));
    assert_eq!(allocate("brevity = -0.25"), with(Powers { brevity: -250, ..powers }));
    assert_eq!(allocate("lack = 4"), with(Powers { lack: 4000, ..powers }));
    assert_eq!(allocate("slowdown = -4"), with(Powers { slowdown: -4000, ..powers }));
}

#[test]
fn allocate_stands_beside_nothing_that_would_wait() {
    let refused_with = |lines: &str, message: &str| refused(&[WEIGHTED, lines, TIER], message);
    let allocate = "allocate = { rounds = \"6m\" }\n";
    refused_with(
        &[allocate, "patience = 1\n"].concat(),
        "p.toml:6: field \"patience\" cannot stand beside \"allocate\"",
    );
    refused_with(
        &[allocate, "batch = { max_jobs = 2, max_delay = \"5s\" }\n"].concat(),
        "p.toml:6: field \"batch\" cannot stand beside \"allocate\"",
    );
    for (field, message) in [
        ("rounds = \"0s\"", "p.toml:5: allocate.rounds is \"0s\", and should be above 0"),
        ("starvation = \"0s\"", "p.toml:5: allocate.starvation is \"0s\", and should be above 0"),
        ("fitness = -1", "p.toml:5: allocate.fitness is -1, and should be from 0 to 4"),
        ("brevity = 4.001", "p.toml:5: allocate.brevity is 4.001, and should be from -4 to 4"),
    ] {
        refused_with(&format!("allocate = {{ {field} }}\n"), message);
    }
}
