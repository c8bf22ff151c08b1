//! Choices between the extremes: what weights find, what limits find, and what the knee finds.

use fleet::policy::{Objective, Pick, Weighting, Weights};
use fleet::{Milli, Policy};
use planner::{Effort, Scratch, plan};

use crate::rules::{by, only};
use crate::{check, check_choices, decide};

/// Three ways to do 100 of work. They take 100 s, 200 s and 400 s, and score 1, 0.5 and 0.25; they
/// cost 70 kJ, 30 kJ and 10 kJ, and score 0.143, 0.333 and 1. On the line from the fast to the slow
/// one, energy would score 0.714 where completion scores 0.5: the even one lies below it.
const BULGE: &str = "
    class epyc cpu
    class t4 gpu idle=0W busy=25W
    class v100 gpu idle=0W busy=150W
    class a100 gpu idle=0W busy=700W
    node fast cores=8 mem=8Gi dev=a100
    node even cores=8 mem=8Gi dev=v100
    node slow cores=8 mem=8Gi dev=t4
    job a work=100 cores=1 gpu=1 rate.a100=1 rate.v100=0.5 rate.t4=0.25
";

const FAST: &str = "start a/0.0 fast alt=0 a100 cores=1 dev=0 for=1m40s";
const EVEN: &str = "start a/0.0 even alt=0 v100 cores=1 dev=0 for=3m20s";
const SLOW: &str = "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=6m40s";

/// Small σ, so that scores are nearly ratios.
fn policy(tiers: Vec<Weighting>) -> Policy {
    let mut policy = by(Objective::Completion);
    policy.scale.completion = fleet::Span(1);
    policy.scale.energy = fleet::Millijoules(1);
    Policy { tiers, ..policy }
}

fn weighted(completion: u32, energy: u32) -> Policy {
    policy(vec![Weighting::Fixed(both(completion, energy))])
}

fn both(completion: u32, energy: u32) -> Weights {
    let mut weights = Weights::default();
    weights[Objective::Completion.position()] = Milli(completion);
    weights[Objective::Energy.position()] = Milli(energy);
    weights
}

/// Completion first among the choices whose energy scores so much, in thousandths.
fn limited(energy: u32) -> Policy {
    let first = Weighting::Fixed(only(Objective::Completion));
    policy(vec![Weighting::Limits(both(0, energy)), first])
}

fn knee(weights: Weights) -> Policy {
    Policy { pick: Pick::Knee, ..policy(vec![Weighting::Fixed(weights)]) }
}

#[test]
fn no_weights_find_the_choice_on_a_bulge() {
    check(&weighted(1, 0), BULGE, FAST);
    check(&weighted(0, 1), BULGE, SLOW);
    for completion in 0..=1000 {
        let (snapshot, decision) =
            decide(&weighted(completion, 1000 - completion), BULGE, Effort::DEFAULT);
        let node = decision.plan.placements[0].node;
        assert_ne!(snapshot.nodes[node.index()].node.name, "even", "weight {completion}");
    }
}

#[test]
fn a_limit_finds_the_choice_on_a_bulge() {
    check(&limited(100), BULGE, FAST);
    check(&limited(300), BULGE, EVEN);
    check(&limited(900), BULGE, SLOW);
}

#[test]
fn the_knee_finds_the_choice_on_a_bulge() {
    check(&knee(both(1000, 1000)), BULGE, EVEN);
    check_choices(
        &knee(both(1000, 1000)),
        BULGE,
        "choice a/0.0 of 3 score=0.638889 next alt=0 fast a100 score=0.25",
    );
}

#[test]
fn the_objectives_of_the_knee_are_those_that_weigh() {
    check(&knee(both(1000, 0)), BULGE, FAST);
    check(&knee(both(0, 1000)), BULGE, SLOW);
}

#[test]
fn between_two_choices_the_mean_of_scores_decides_in_place_of_a_knee() {
    let two = BULGE.replace("node even cores=8 mem=8Gi dev=v100\n", "");
    check(&knee(both(1000, 1000)), &two, SLOW);
    check(&knee(both(1000, 1000)), &two.replace("busy=700W", "busy=350W"), FAST);
}

#[test]
fn where_no_choice_keeps_the_limits_the_nearest_is_taken() {
    let taken = format!("{BULGE}\njob before cores=1 gpu=1 model=t4\nrun before/0.0 slow dev=0");
    check(&limited(900), &taken, EVEN);
    check_choices(
        &limited(900),
        &taken,
        "choice a/0.0 of 2 score=0.433333,0.5 next alt=0 fast a100 score=0.242857,1",
    );
}

#[test]
fn the_knee_is_that_of_the_choices_which_keep_the_limits() {
    let tiers = vec![Weighting::Limits(both(400, 0)), Weighting::Fixed(both(1000, 1000))];
    let policy = Policy { pick: Pick::Knee, ..policy(tiers) };
    check(&policy, BULGE, FAST);
}

#[test]
fn a_knee_waits_for_a_faster_device_as_far_as_its_patience_goes() {
    let patient = Policy { patience: Milli(1000), ..knee(both(1000, 1000)) };
    check(&patient, BULGE, FAST);
}

#[test]
fn every_group_is_a_step_of_a_knee_for_every_task() {
    let three = BULGE.replace("job a ", "job a tasks=3 ");
    let snapshot = fleet::sketch::snapshot(&three).expect("a sketch");
    let steps = |policy: &Policy| {
        plan(&snapshot, policy, Effort::DEFAULT, &mut Scratch::default()).explanation.steps
    };
    assert_eq!(steps(&knee(both(1000, 1000))), 9);
}
