//! Who is looked at first. Every fleet here has room for some of the tasks only.

use fleet::policy::OrderKey::{FairShare, FirstIn, Priority};

use crate::check;
use crate::rules::ordered;

/// Room for so many tasks of one core.
fn room_for(tasks: u32, lines: &str) -> String {
    format!("class epyc cpu\nnode n cores={tasks} mem=8Gi\n{lines}")
}

#[test]
fn without_an_order_the_lower_id_goes_first() {
    let lines = "
        at 9s
        job a at=5s cores=1
        job b at=1s prio=9 cores=1
    ";
    check(
        &ordered(&[]),
        &room_for(1, lines),
        "
        start a/0.0 n alt=0 epyc cores=1
        wait b x1 alt0: 1 free-cores 1/0
    ",
    );
}

#[test]
fn first_in_goes_first() {
    let lines = "
        at 9s
        job a at=5s cores=1
        job b at=1s cores=1
    ";
    check(
        &ordered(&[FirstIn]),
        &room_for(1, lines),
        "
        start b/0.0 n alt=0 epyc cores=1
        wait a x1 alt0: 1 free-cores 1/0
    ",
    );
}

#[test]
fn the_higher_priority_goes_first() {
    let lines = "
        at 9s
        job a at=1s cores=1
        job b at=5s prio=1 cores=1
    ";
    check(
        &ordered(&[Priority, FirstIn]),
        &room_for(1, lines),
        "
        start b/0.0 n alt=0 epyc cores=1
        wait a x1 alt0: 1 free-cores 1/0
    ",
    );
    check(
        &ordered(&[FirstIn, Priority]),
        &room_for(1, lines),
        "
        start a/0.0 n alt=0 epyc cores=1
        wait b x1 alt0: 1 free-cores 1/0
    ",
    );
}

#[test]
fn fair_share_alternates_between_tenants() {
    let lines = "
        job a tenant=ann tasks=3 cores=1
        job b tenant=bob cores=1
        job c tenant=bob cores=1
    ";
    check(
        &ordered(&[FirstIn]),
        &room_for(4, lines),
        "
        start a/0.0 n alt=0 epyc cores=1
        start a/1.0 n alt=0 epyc cores=1
        start a/2.0 n alt=0 epyc cores=1
        start b/0.0 n alt=0 epyc cores=1
        wait c x1 alt0: 1 free-cores 1/0
    ",
    );
    check(
        &ordered(&[FairShare]),
        &room_for(4, lines),
        "
        start a/0.0 n alt=0 epyc cores=1
        start b/0.0 n alt=0 epyc cores=1
        start a/1.0 n alt=0 epyc cores=1
        start c/0.0 n alt=0 epyc cores=1
        wait a x1 alt0: 1 free-cores 1/0
    ",
    );
}

#[test]
fn fair_share_counts_what_runs() {
    let lines = "
        job before tenant=ann cores=2
        job a tenant=ann cores=1
        job b tenant=bob tasks=2 cores=1
        run before/0.0 n
    ";
    check(
        &ordered(&[FairShare]),
        &room_for(4, lines),
        "
        start b/0.0 n alt=0 epyc cores=1
        start b/1.0 n alt=0 epyc cores=1
        wait a x1 alt0: 1 free-cores 1/0
    ",
    );
}

#[test]
fn fair_share_counts_the_scarcest_of_what_a_tenant_holds() {
    let lines = "
        class t4 gpu
        node m cores=9 mem=8Gi dev=t4*2
        job before tenant=ann cores=1 gpu=1
        job other tenant=bob cores=3
        job a tenant=ann cores=6
        job b tenant=bob cores=6
        run before/0.0 m dev=0
        run other/0.0 m
    ";
    check(
        &ordered(&[FairShare]),
        &room_for(6, lines),
        "
        start b/0.0 n alt=0 epyc cores=6
        wait a x1 alt0: 2 free-cores 6/5
    ",
    );
}

#[test]
fn priority_before_fair_share_makes_bands() {
    let lines = "
        job a tenant=ann prio=1 tasks=2 cores=1
        job b tenant=bob tasks=2 cores=1
    ";
    check(
        &ordered(&[Priority, FairShare]),
        &room_for(3, lines),
        "
        start a/0.0 n alt=0 epyc cores=1
        start a/1.0 n alt=0 epyc cores=1
        start b/0.0 n alt=0 epyc cores=1
        wait b x1 alt0: 1 free-cores 1/0
    ",
    );
}

#[test]
fn keys_after_fair_share_order_the_jobs_of_one_tenant() {
    let lines = "
        at 9s
        job a tenant=ann at=3s cores=1
        job b tenant=ann at=1s cores=1
        job c tenant=bob at=2s cores=1
    ";
    check(
        &ordered(&[FairShare, FirstIn]),
        &room_for(2, lines),
        "
        start b/0.0 n alt=0 epyc cores=1
        start c/0.0 n alt=0 epyc cores=1
        wait a x1 alt0: 1 free-cores 1/0
    ",
    );
}

#[test]
fn what_does_not_fit_is_passed_over() {
    let lines = "
        job large cores=4
        job small cores=1
    ";
    check(
        &ordered(&[FirstIn]),
        &room_for(2, lines),
        "
        start small/0.0 n alt=0 epyc cores=1
        wait large x1 alt0: 1 cores 4/2
    ",
    );
}
