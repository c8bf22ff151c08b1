//! Numbers from outside.

use fleet::policy::{ExternalSlot, Objective, Pick};
use fleet::{Level, Milli, Policy, policy::Weighting};

use crate::rules::by;
use crate::{check, check_choices};

/// Weighs these signals alike, and nothing else.
fn weighing(names: &[&str]) -> Policy {
    let slot = |position| Objective::External(ExternalSlot::at(position).expect("a slot"));
    let mut policy = by(slot(0));
    policy.externals = names.iter().map(|name| (*name).to_owned()).collect();
    let Weighting::Fixed(weights) = &mut policy.tiers[0] else { unreachable!("it is fixed") };
    for position in 0..names.len() {
        weights[slot(position).position()] = Milli::WHOLE;
    }
    policy
}

const FLEET: &str = "
    class epyc cpu
    class arm cpu
    node n0 cores=8 mem=8Gi x2
    node n1 cores=8 mem=8Gi cpu=arm
    job a work=10 cores=1
";

#[track_caller]
fn placed_on(policy: &Policy, signals: &str, node: &str, class: &str) {
    let expected = format!("start a/0.0 {node} alt=0 {class} cores=1 for=10s");
    check(policy, &format!("{FLEET}{signals}"), &expected);
}

#[test]
fn a_signal_alone_changes_where_a_job_runs() {
    let noise = weighing(&["noise"]);
    placed_on(&noise, "", "n0-0", "epyc");
    placed_on(&noise, "signal noise node.n0-0=3.5", "n0-1", "epyc");
    placed_on(&noise, "signal noise class.epyc=1", "n1", "arm");
    placed_on(&by(Objective::Completion), "signal noise node.n0-0=3.5", "n0-0", "epyc");
    placed_on(&weighing(&["other"]), "signal noise node.n0-0=3.5", "n0-0", "epyc");
}

#[test]
fn the_number_of_a_node_counts_before_that_of_its_class() {
    let noise = weighing(&["noise"]);
    placed_on(&noise, "signal noise class.epyc=2 node.n0-1=1 class.arm=3", "n0-1", "epyc");
    placed_on(&noise, "signal noise class.epyc=2 node.n0-1=4 class.arm=3", "n0-0", "epyc");
}

#[test]
fn what_has_no_number_has_the_default() {
    let noise = weighing(&["noise"]);
    placed_on(&noise, "signal noise node.n1=1", "n0-0", "epyc");
    placed_on(&noise, "signal noise node.n1=1 default=2", "n1", "arm");
}

#[test]
fn several_signals_are_weighed_at_a_time_each_by_its_scale() {
    let signals =
        "signal noise node.n0-0=1 node.n0-1=0\nsignal price node.n0-1=2 node.n0-0=0 class.arm=9";
    let mut both = weighing(&["noise", "price"]);
    placed_on(&both, signals, "n0-0", "epyc");
    both.scale.externals[1] = Level(100_000_000);
    placed_on(&both, signals, "n0-1", "epyc");
    placed_on(&weighing(&["price", "noise"]), signals, "n0-0", "epyc");
    let expected = "choice a/0.0 of 3 score=0.75 next alt=0 n0-1 epyc score=0.666666";
    check_choices(&weighing(&["noise", "price"]), &format!("{FLEET}{signals}"), expected);
}

#[test]
fn eight_signals_may_be_weighed() {
    let names: Vec<String> = (0..8).map(|number| format!("s{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let signals: String =
        (0..8).map(|number| format!("signal s{number} node.n0-0={number}\n")).collect();
    placed_on(&weighing(&names), &signals, "n0-1", "epyc");
    assert_eq!((ExternalSlot::at(7).is_some(), ExternalSlot::at(8)), (true, None));
}

#[test]
fn a_limit_on_a_signal_goes_before_what_is_weighed() {
    let mut limited = by(Objective::Completion);
    limited.externals = vec!["noise".to_owned()];
    let Weighting::Fixed(limits) = weighing(&["noise"]).tiers[0] else { unreachable!("fixed") };
    let limits = limits.map(|limit| Milli(limit.0 / 2));
    let noisy = "signal noise node.n0-0=3";
    placed_on(&limited, noisy, "n0-0", "epyc");
    limited.tiers.insert(0, Weighting::Limits(limits));
    placed_on(&limited, noisy, "n0-1", "epyc");
    placed_on(&limited, "signal noise node.n0-0=1", "n0-0", "epyc");
}

#[test]
fn a_knee_may_be_of_signals() {
    let signals = "signal noise node.n0-0=0 node.n0-1=0.25 class.arm=3\n\
                   signal price node.n0-0=3 node.n0-1=0.25 class.arm=0";
    let mut knee = weighing(&["noise", "price"]);
    knee.pick = Pick::Knee;
    placed_on(&knee, signals, "n0-1", "epyc");
    knee.externals = vec!["noise".to_owned(), "none".to_owned()];
    placed_on(&knee, signals, "n0-0", "epyc");
}

#[test]
fn a_signal_changes_the_class_that_a_gang_runs_on() {
    let fleet = FLEET.replace("cpu=arm", "cpu=arm x2");
    let fleet = fleet.replace("work=10 cores=1", "work=10 cores=8 tasks=2 gang");
    let gang = |signals: &str, nodes: [&str; 2], class: &str| {
        let line = |(task, node): (usize, &str)| {
            format!("start a/{task}.0 {node} alt=0 {class} cores=8 for=10s\n")
        };
        let expected: String = nodes.into_iter().enumerate().map(line).collect();
        check(&weighing(&["noise"]), &format!("{fleet}{signals}"), &expected);
    };
    gang("signal noise class.arm=1", ["n0-0", "n0-1"], "epyc");
    gang("signal noise class.epyc=1", ["n1-0", "n1-1"], "arm");
    gang("signal noise node.n0-1=1", ["n1-0", "n1-1"], "arm");
}
