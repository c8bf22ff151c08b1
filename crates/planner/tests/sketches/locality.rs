//! Jobs that read what only some nodes hold.

use fleet::policy::Objective;
use fleet::{Bytes, Policy};

use crate::rules::by;
use crate::{check, check_choices};

/// 10 Gbit/s are 1.25 GB/s: what is missing of 500 GB takes 400 s.
const FLEET: &str = "
    at 10s
    class epyc cpu
    node far  cores=8 mem=8Gi net=10Gbit/s
    node near cores=8 mem=8Gi net=10Gbit/s
    data images 500GB near
";

const READS: &str = "job a work=100 cores=8 in=images:500GB";

const FAR: &str = "start a/0.0 far alt=0 epyc cores=8 for=8m20s";
const NEAR: &str = "start a/0.0 near alt=0 epyc cores=8 for=1m40s";

/// A job that holds the node with the data, from 0 s for so long.
fn held(work: &str, job: &str) -> String {
    format!("{FLEET}job before {work} cores=8\nrun before/0.0 near\n{job}")
}

#[test]
fn a_job_runs_where_its_input_is() {
    check(&by(Objective::Completion), &format!("{FLEET}{READS}"), NEAR);
    let reads_nothing = READS.replace("in=images:500GB", "");
    let expected = "start a/0.0 far alt=0 epyc cores=8 for=1m40s";
    check(&by(Objective::Completion), &format!("{FLEET}{reads_nothing}"), expected);
}

#[test]
fn without_the_objectives_it_fetches_what_is_next_door() {
    check(&by(Objective::Locality), &format!("{FLEET}{READS}"), NEAR);
    check(&by(Objective::Utilisation), &format!("{FLEET}{READS}"), FAR);
}

#[test]
fn locality_counts_bytes_and_completion_the_time_they_take() {
    let fast = FLEET.replace("net=10Gbit/s", "");
    let input = format!("{fast}{READS}");
    let expected = "start a/0.0 far alt=0 epyc cores=8 for=1m40s";
    check(&by(Objective::Completion), &input, expected);
    check(&by(Objective::Locality), &input, NEAR);
    let chosen = "choice a/0.0 of 2 score=1 next alt=0 far epyc score=0.019608";
    check_choices(&by(Objective::Locality), &input, chosen);
    let chosen = "choice a/0.0 of 2 score=1 next alt=0 far epyc score=0.285714";
    check_choices(&by(Objective::Completion), &format!("{FLEET}{READS}"), chosen);
}

#[test]
fn the_scale_of_locality_says_how_much_is_little() {
    let mut policy = by(Objective::Locality);
    policy.scale.locality = Bytes(500_000_000_000);
    let chosen = "choice a/0.0 of 2 score=1 next alt=0 far epyc score=0.5";
    check_choices(&policy, &format!("{FLEET}{READS}"), chosen);
}

#[test]
fn a_node_that_holds_more_of_several_inputs_is_nearer() {
    let input = format!(
        "{FLEET}
        node both cores=8 mem=8Gi net=10Gbit/s
        data words 100GB both
        job a work=100 cores=8 in=images:50GB,words:100GB
        job b at=1s work=100 cores=8 in=images:50GB,words:100GB"
    );
    // 50 GB are missing at one, 100 GB at the other; 150 GB at the first.
    check(
        &by(Objective::Completion),
        &input,
        "
        start a/0.0 both alt=0 epyc cores=8 for=2m20s
        start b/0.0 near alt=0 epyc cores=8 for=3m
    ",
    );
}

#[test]
fn the_slower_end_decides_how_long_it_takes() {
    let full = held("", READS);
    check(&by(Objective::Completion), &full, FAR);
    let slow = "start a/0.0 far alt=0 epyc cores=8 for=1h8m";
    for (from, to) in [
        ("near cores=8 mem=8Gi net=10", "near cores=8 mem=8Gi net=1"),
        ("far  cores=8 mem=8Gi net=10", "far cores=8 mem=8Gi net=1"),
    ] {
        check(&by(Objective::Completion), &full.replace(from, to), slow);
    }
    let one_known = full.replace("far  cores=8 mem=8Gi net=10Gbit/s", "far cores=8 mem=8Gi");
    check(&by(Objective::Completion), &one_known, FAR);
}

#[test]
fn no_more_is_read_of_a_dataset_than_there_is() {
    let half = held("", READS).replace("images 500GB", "images 250GB");
    check(&by(Objective::Completion), &half, "start a/0.0 far alt=0 epyc cores=8 for=5m");
    let part = held("", &READS.replace("500GB", "125GB"));
    check(&by(Objective::Completion), &part, "start a/0.0 far alt=0 epyc cores=8 for=3m20s");
}

#[test]
fn what_no_node_that_is_up_holds_comes_from_outside() {
    let nowhere = format!("{FLEET}{READS}").replace("data images 500GB near", "");
    check(&by(Objective::Completion), &nowhere, FAR);
    let slow_and_lost = format!("{FLEET}{READS}")
        .replace("near cores=8 mem=8Gi net=10Gbit/s", "near cores=8 mem=8Gi net=1Gbit/s down");
    check(&by(Objective::Completion), &slow_and_lost, FAR);
}

#[test]
fn a_job_waits_for_its_input_where_that_ends_sooner() {
    check(
        &by(Objective::Completion),
        &held("work=60", READS),
        "
        wake 1m
        wait a x1 locality at near until 1m ends 2m40s over far ends 8m30s
    ",
    );
}

#[test]
fn a_job_moves_where_waiting_takes_longer() {
    // It would end at 410 + 100 s, and elsewhere at 10 + 500 s: nothing is gained.
    check(&by(Objective::Completion), &held("work=410", READS), FAR);
    let expected = "
        wake 6m49s
        wait a x1 locality at near until 6m49s ends 8m29s over far ends 8m30s
    ";
    check(&by(Objective::Completion), &held("work=409", READS), expected);
}

#[test]
fn a_run_past_its_declared_end_is_not_waited_for() {
    check(&by(Objective::Completion), &held("work=10", READS), FAR);
}

#[test]
fn a_policy_that_does_not_weigh_completion_does_not_wait() {
    check(&by(Objective::Utilisation), &held("work=60", READS), FAR);
    let spread = Policy { pick: fleet::policy::Pick::Spread, ..by(Objective::Completion) };
    let expected = "start a/0.0 far alt=0 epyc cores=8 for=1m40s";
    check(&spread, &held("work=60", READS), expected);
}

#[test]
fn tasks_that_wait_do_not_count_on_the_same_room() {
    // One after the other they would end at 160, 260, 360 and 460 s; the fifth at 560 s, and
    // elsewhere at 510 s.
    let tasks = |count: u32| held("work=60", &format!("{READS} tasks={count}"));
    let waits = "wake 1m
        wait a x4 locality at near until 1m ends 2m40s over far ends 8m30s";
    check(&by(Objective::Completion), &tasks(4), waits);
    let moves = format!("{FAR}\nwait a x4 alt0: 2 free-cores 8/0");
    check(&by(Objective::Completion), &tasks(5), &moves);
    let jobs = "job b work=100 cores=8 in=images:500GB\njob c work=300 cores=8 in=images:500GB";
    check(
        &by(Objective::Completion),
        &held("work=60", &format!("{READS}\n{jobs}")),
        "
        wake 1m
        wait a x1 locality at near until 1m ends 2m40s over far ends 8m30s
        wait b x1 locality at near until 2m40s ends 4m20s over far ends 8m30s
        wait c x1 locality at near until 4m20s ends 9m20s over far ends 11m50s
    ",
    );
}

#[test]
fn a_wait_is_given_up_where_later_jobs_take_what_it_waits_for() {
    // The second job fits beside the run on the node with the data, and stays.
    let input = format!(
        "{FLEET}
        job before work=60 cores=6
        run before/0.0 near
        {READS}
        job b at=1s cores=2 label.rack=x"
    )
    .replace("near cores=8", "near cores=8 label.rack=x");
    check(
        &by(Objective::Completion),
        &input,
        &format!("start b/0.0 near alt=0 epyc cores=2\n{FAR}"),
    );
}
