//! Those who move data over the same channels hold each other up.

use fleet::policy::Objective;
use fleet::{Milli, Policy, Span};

use crate::rules::by;
use crate::{check, check_choices};

/// Two nodes that move 20 GB/s each; on the first a task moves 15 GB/s already.
const FLEET: &str = "
    at 10s
    class epyc cpu
    class xeon cpu
    node busy cores=8 mem=8Gi cpu=epyc
      domain cores=8 mem=8Gi bw=20GB/s
    node idle cores=8 mem=8Gi cpu=xeon
      domain cores=8 mem=8Gi bw=20GB/s
    job before cores=1 mem=1Gi membw=15GB/s
    run before/0.0 busy
";

fn beyond(objective: Objective) -> Policy {
    Policy { oversubscribe: Milli(2000), ..by(objective) }
}

fn fleet(job: &str) -> String {
    format!("{FLEET}job a work=100 cores=1 mem=1Gi {job}")
}

#[test]
fn a_stream_of_memory_stays_away_from_another_however_fast_the_node() {
    let job = fleet("membw=15GB/s rate.epyc=4 rate.xeon=1");
    // 30 GB/s are asked of 20: half as long again.
    let fast = "start a/0.0 busy alt=0 epyc cores=1 mem=1Gi in=0 for=37.5s";
    check(&beyond(Objective::Completion), &job, fast);
    let away = "start a/0.0 idle alt=0 xeon cores=1 mem=1Gi in=0 for=1m40s";
    check(&beyond(Objective::Interference), &job, away);
}

#[test]
fn what_it_costs_is_what_the_others_lose_while_it_runs() {
    // The other loses half a second in each of 37.5: 60 / 78.75.
    let job = fleet("membw=15GB/s rate.epyc=4 rate.xeon=1");
    let chosen = "choice a/0.0 of 2 score=1 next alt=0 busy epyc score=0.761905";
    check_choices(&beyond(Objective::Interference), &job, chosen);
    let mut policy = beyond(Objective::Interference);
    policy.scale.interference = Span(18_750_000);
    let chosen = "choice a/0.0 of 2 score=1 next alt=0 busy epyc score=0.5";
    check_choices(&policy, &job, chosen);
}

#[test]
fn what_passes_beside_the_other_and_what_is_crowded_alone_cost_nobody_anything() {
    let both = |job: &str| fleet(&format!("{job} rate.epyc=1 rate.xeon=1"));
    let passes = "choice a/0.0 of 2 score=1 next alt=0 idle xeon score=1";
    check_choices(&beyond(Objective::Interference), &both("membw=5GB/s"), passes);
    // Alone on its node it takes half as long again, and nobody else does.
    let alone = "start a/0.0 idle alt=0 xeon cores=1 mem=1Gi in=0 for=2m30s";
    check(&beyond(Objective::Interference), &both("membw=30GB/s"), alone);
}

#[test]
fn a_task_that_is_crowded_itself_is_expected_to_end_later() {
    let job = fleet("membw=15GB/s rate.epyc=1.4 rate.xeon=1");
    let away = "start a/0.0 idle alt=0 xeon cores=1 mem=1Gi in=0 for=1m40s";
    check(&beyond(Objective::Completion), &job, away);
    let passes = "start a/0.0 busy alt=0 epyc cores=1 mem=1Gi in=0 for=1m11s";
    let less = fleet("membw=5GB/s rate.epyc=1.4 rate.xeon=1");
    check(&beyond(Objective::Completion), &less, passes);
}

#[test]
fn switches_and_interfaces_are_crowded_as_memory_is() {
    let fleet = |channel: &str, moves: &str, beside: &str| {
        format!(
            "
            class epyc cpu
            class a100 gpu
            node busy cores=8 mem=8Gi dev=a100*2
              {channel}
            node idle cores=8 mem=8Gi dev=a100*2
              {channel}
            job before cores=1 gpu=1 {beside}
            run before/0.0 busy dev=0
            job a work=100 cores=1 gpu=1 {moves}
        "
        )
    };
    for (channel, moves) in
        [("pcie dev=0,1 bw=16GB/s", "pciebw=10GB/s"), ("nic bw=16GB/s", "netbw=10GB/s")]
    {
        let away = "start a/0.0 idle alt=0 a100 cores=1 dev=0 over=0:10GB/s for=1m40s";
        check(&beyond(Objective::Interference), &fleet(channel, moves, moves), away);
        let beside = "start a/0.0 busy alt=0 a100 cores=1 dev=1 over=0:10GB/s for=1m40s";
        check(&beyond(Objective::Interference), &fleet(channel, moves, ""), beside);
    }
}

#[test]
fn tasks_of_a_gang_that_do_not_talk_are_each_as_slow_as_their_own_node() {
    let lines = "
        class epyc cpu
        node busy cores=4 mem=8Gi
          domain cores=4 mem=8Gi bw=20GB/s
        node plain cores=4 mem=8Gi
        job before cores=3 mem=1Gi membw=15GB/s
        run before/0.0 busy
        job a work=100 tasks=2 gang cores=1 mem=1Gi membw=15GB/s
        job after cores=3
        run after/0.0 plain
    ";
    let expected = "
        start a/0.0 busy alt=0 epyc cores=1 mem=1Gi in=0 for=2m30s
        start a/1.0 plain alt=0 epyc cores=1 mem=1Gi for=1m40s
    ";
    check(&beyond(Objective::Completion), lines, expected);
}
