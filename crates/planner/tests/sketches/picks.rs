//! How one choice is picked among those that are possible.

use fleet::Policy;
use fleet::policy::{Objective, Pick};

use crate::check;
use crate::rules::{by, spread};

fn rotation() -> Policy {
    Policy { pick: Pick::Rotation, ..spread() }
}

#[test]
fn rotation_goes_on_after_the_node_used_last_and_wraps() {
    let lines = "
        class epyc cpu
        node n cores=8 mem=8Gi x3
        job a tasks=4 cores=1
    ";
    check(
        &rotation(),
        lines,
        "
        start a/0.0 n-0 alt=0 epyc cores=1
        start a/1.0 n-1 alt=0 epyc cores=1
        start a/2.0 n-2 alt=0 epyc cores=1
        start a/3.0 n-0 alt=0 epyc cores=1
    ",
    );
    check(
        &rotation(),
        &format!("{lines}\nrotation n-1"),
        "
        start a/0.0 n-2 alt=0 epyc cores=1
        start a/1.0 n-0 alt=0 epyc cores=1
        start a/2.0 n-1 alt=0 epyc cores=1
        start a/3.0 n-2 alt=0 epyc cores=1
    ",
    );
}

#[test]
fn rotation_skips_a_node_without_room() {
    let lines = "
        class epyc cpu
        node n cores=2 mem=8Gi x3
        job full cores=2
        job a tasks=2 cores=1
        run full/0.0 n-1
        rotation n-0
    ";
    check(
        &rotation(),
        lines,
        "
        start a/0.0 n-2 alt=0 epyc cores=1
        start a/1.0 n-0 alt=0 epyc cores=1
    ",
    );
}

#[test]
fn spread_takes_the_node_that_keeps_the_most_free() {
    let lines = "
        class epyc cpu
        node small cores=4 mem=8Gi
        node large cores=16 mem=8Gi
        job a tasks=2 cores=2
    ";
    check(
        &spread(),
        lines,
        "
        start a/0.0 large alt=0 epyc cores=2
        start a/1.0 large alt=0 epyc cores=2
    ",
    );
    check(
        &rotation(),
        lines,
        "
        start a/0.0 small alt=0 epyc cores=2
        start a/1.0 large alt=0 epyc cores=2
    ",
    );
}

#[test]
fn weighted_ties_go_to_the_lowest_node() {
    let lines = "
        class epyc cpu
        node n cores=8 mem=8Gi x3
        job a work=10 tasks=2 cores=1
    ";
    check(
        &by(Objective::Completion),
        lines,
        "
        start a/0.0 n-0 alt=0 epyc cores=1 for=10s
        start a/1.0 n-0 alt=0 epyc cores=1 for=10s
    ",
    );
}

#[test]
fn lists_take_the_first_alternative_that_is_possible_and_weights_the_best() {
    let lines = "
        class epyc cpu
        class t4 gpu
        node n cores=8 mem=8Gi dev=t4
        job a work=100 tasks=2 cores=1 rate.epyc=1
          or cores=1 gpu=1 rate.t4=10
    ";
    check(
        &spread(),
        lines,
        "
        start a/0.0 n alt=0 epyc cores=1 for=1m40s
        start a/1.0 n alt=0 epyc cores=1 for=1m40s
    ",
    );
    check(
        &by(Objective::Completion),
        lines,
        "
        start a/0.0 n alt=1 t4 cores=1 dev=0 for=10s
        start a/1.0 n alt=0 epyc cores=1 for=1m40s
    ",
    );
}
