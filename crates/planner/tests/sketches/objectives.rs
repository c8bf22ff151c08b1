//! Each objective, alone, against the lowest node.

use fleet::policy::Objective;
use fleet::{Bytes, Level, Micro, Milli, Millijoules, Policy, Span, policy::Weighting};
use planner::Effort;

use crate::rules::by;
use crate::{check, check_choices, decide};

const GPUS: &str = "
    class epyc cpu
    class t4 gpu share=milli idle=10W busy=70W
    class a100 gpu share=milli idle=50W busy=400W
";

fn fleet(lines: &str) -> String {
    format!("{GPUS}{lines}")
}

/// A slow and frugal node before a fast and hungry one.
const TWO: &str = "
    node slow cores=8 mem=8Gi dev=t4
    node fast cores=8 mem=8Gi dev=a100
    job a work=100 cores=1 gpu=1 rate.t4=1 rate.a100=2
";

#[test]
fn completion_picks_the_faster_node() {
    check(
        &by(Objective::Completion),
        &fleet(TWO),
        "start a/0.0 fast alt=0 a100 cores=1 dev=0 for=50s",
    );
}

#[test]
fn energy_picks_the_frugal_node() {
    let swapped = "
        node fast cores=8 mem=8Gi dev=a100
        node slow cores=8 mem=8Gi dev=t4
        job a work=100 cores=1 gpu=1 rate.t4=1 rate.a100=2
    ";
    check(
        &by(Objective::Energy),
        &fleet(swapped),
        "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=1m40s",
    );
    check(
        &by(Objective::Utilisation),
        &fleet(swapped),
        "start a/0.0 fast alt=0 a100 cores=1 dev=0 for=50s",
    );
}

#[test]
fn energy_knows_that_a_shared_device_is_awake() {
    let lines = "
        node asleep cores=8 mem=8Gi dev=a100
        node awake cores=8 mem=8Gi dev=a100
        job before cores=1 gpu=1 share=0.5
        job a work=100 cores=1 gpu=1 share=0.5
        run before/0.0 awake dev=0
    ";
    check(
        &by(Objective::Energy),
        &fleet(lines),
        "start a/0.0 awake alt=0 a100 cores=1 dev=0:0.5 for=1m40s",
    );
}

#[test]
fn energy_knows_what_cores_draw() {
    let lines = "
        node hungry cores=8 mem=8Gi idle=100W busy=500W
        node frugal cores=8 mem=8Gi idle=100W busy=200W
        job a work=100 cores=1
    ";
    check(&by(Objective::Energy), &fleet(lines), "start a/0.0 frugal alt=0 epyc cores=1 for=1m40s");
}

#[test]
fn utilisation_picks_the_node_that_strands_less() {
    let lines = "
        node wide cores=8 mem=64Gi
        node even cores=8 mem=8Gi
        job a work=100 cores=4 mem=4Gi
    ";
    check(
        &by(Objective::Utilisation),
        &fleet(lines),
        "start a/0.0 even alt=0 epyc cores=4 mem=4Gi for=1m40s",
    );
    check(
        &by(Objective::Completion),
        &fleet(lines),
        "start a/0.0 wide alt=0 epyc cores=4 mem=4Gi for=1m40s",
    );
}

#[test]
fn fragmentation_keeps_the_whole_device_whole() {
    let lines = "
        node whole cores=8 mem=8Gi dev=a100
        node begun cores=8 mem=8Gi dev=a100
        mix 100 cores=1 gpu=1
        job before cores=1 gpu=1 share=0.5
        job a work=100 cores=1 gpu=1 share=0.5
        run before/0.0 begun dev=0
    ";
    check(
        &by(Objective::Fragmentation),
        &fleet(lines),
        "start a/0.0 begun alt=0 a100 cores=1 dev=0:0.5 for=1m40s",
    );
    check(
        &by(Objective::Completion),
        &fleet(lines),
        "start a/0.0 whole alt=0 a100 cores=1 dev=0:0.5 for=1m40s",
    );
}

#[test]
fn fragmentation_spares_what_arrivals_could_use_and_no_more() {
    let lines = "
        class h100 gpu
        node first cores=8 mem=8Gi dev=t4 label.zone=a
        node second cores=8 mem=8Gi dev=h100
        job a work=100 cores=1 gpu=1 rate.t4=1 rate.h100=1
    ";
    let after = |mix: &str| fleet(&format!("{lines}\nmix 100 cores=1 {mix}"));
    let policy = by(Objective::Fragmentation);
    check(&policy, &after("gpu=1"), "start a/0.0 first alt=0 t4 cores=1 dev=0 for=1m40s");
    check(
        &policy,
        &after("gpu=1 model=t4"),
        "start a/0.0 second alt=0 h100 cores=1 dev=0 for=1m40s",
    );
    check(
        &policy,
        &after("gpu=1 rate.t4=1"),
        "start a/0.0 second alt=0 h100 cores=1 dev=0 for=1m40s",
    );
    check(
        &policy,
        &after("gpu=1 label.zone=a"),
        "start a/0.0 second alt=0 h100 cores=1 dev=0 for=1m40s",
    );
    check(
        &policy,
        &after("gpu=1 share=0.5"),
        "start a/0.0 second alt=0 h100 cores=1 dev=0 for=1m40s",
    );
    check(
        &policy,
        &after("gpu=1 model=h100"),
        "start a/0.0 first alt=0 t4 cores=1 dev=0 for=1m40s",
    );
}

#[test]
fn fragmentation_chooses_the_device_that_arrivals_need_least() {
    // Device 0 has the least share that suffices, but would have too little left for arrivals.
    let lines = "
        node n cores=8 mem=8Gi dev=a100*2
        mix 100 cores=1 gpu=1 share=0.5
        job before cores=1 gpu=1 share=0.4
        job others cores=1 gpu=1 share=0.3
        job a work=100 cores=1 gpu=1 share=0.2
        run before/0.0 n dev=0
        run others/0.0 n dev=1
    ";
    check(
        &by(Objective::Completion),
        &fleet(lines),
        "start a/0.0 n alt=0 a100 cores=1 dev=0:0.2 for=1m40s",
    );
    check(
        &by(Objective::Fragmentation),
        &fleet(lines),
        "start a/0.0 n alt=0 a100 cores=1 dev=1:0.2 for=1m40s",
    );
}

#[test]
fn companion_takes_cores_where_devices_do_not_need_them() {
    let lines = "
        node tight cores=8 mem=64Gi dev=a100*2
        node ample cores=32 mem=64Gi dev=a100*2
        mix 100 cores=4 gpu=1
        job a work=100 cores=2
    ";
    check(
        &by(Objective::Companion),
        &fleet(lines),
        "start a/0.0 ample alt=0 epyc cores=2 for=1m40s",
    );
    check(
        &by(Objective::Completion),
        &fleet(lines),
        "start a/0.0 tight alt=0 epyc cores=2 for=1m40s",
    );
    let memory = "
        node tight cores=32 mem=8Gi dev=a100*2
        node ample cores=32 mem=64Gi dev=a100*2
        mix 100 cores=4 mem=4Gi gpu=1
        job a work=100 cores=2 mem=2Gi
    ";
    check(
        &by(Objective::Companion),
        &fleet(memory),
        "start a/0.0 ample alt=0 epyc cores=2 mem=2Gi for=1m40s",
    );
}

#[test]
fn rarity_keeps_the_large_node_whole() {
    let lines = "
        node large cores=8 mem=8Gi dev=a100*4
        node small cores=8 mem=8Gi dev=a100 x3
        job a work=100 cores=1 gpu=1
    ";
    check(
        &by(Objective::Rarity),
        &fleet(lines),
        "start a/0.0 small-0 alt=0 a100 cores=1 dev=0 for=1m40s",
    );
    // Who takes a node whole breaks nothing, and what is broken is not broken again.
    let whole = lines.replace("gpu=1", "gpu=4");
    check(
        &by(Objective::Rarity),
        &fleet(&whole),
        "start a/0.0 large alt=0 a100 cores=1 dev=0,1,2,3 for=1m40s",
    );
    let broken = format!("{lines}\njob before cores=1 gpu=1\nrun before/0.0 large dev=0");
    check(
        &by(Objective::Rarity),
        &fleet(&broken),
        "start a/0.0 large alt=0 a100 cores=1 dev=1 for=1m40s",
    );
}

#[test]
fn energy_knows_that_a_socket_is_awake() {
    let lines = "
        node asleep cores=8 mem=8Gi idle=100W busy=300W socket=4
        node awake cores=8 mem=8Gi idle=100W busy=300W socket=4
        job before cores=2
        job a work=100 cores=2
        run before/0.0 awake
    ";
    check(&by(Objective::Energy), &fleet(lines), "start a/0.0 awake alt=0 epyc cores=2 for=1m40s");
    check(
        &by(Objective::Energy),
        &fleet(&lines.replace(" socket=4", "")),
        "start a/0.0 asleep alt=0 epyc cores=2 for=1m40s",
    );
}

#[test]
fn deadline_picks_the_node_that_makes_it() {
    let lines = "
        node slow cores=8 mem=8Gi dev=t4
        node fast cores=8 mem=8Gi dev=a100
        job a work=100 cores=1 gpu=1 rate.t4=1 rate.a100=2
    ";
    check(
        &by(Objective::Deadline),
        &fleet(lines),
        "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=1m40s",
    );
    let due = lines.replace("work=100", "work=100 deadline=90s");
    check(
        &by(Objective::Deadline),
        &fleet(&due),
        "start a/0.0 fast alt=0 a100 cores=1 dev=0 for=50s",
    );
    check_choices(
        &by(Objective::Deadline),
        &fleet(&due),
        "choice a/0.0 of 2 score=1 next alt=0 slow t4 score=0.078755",
    );
    let late = format!("at 20s\n{}", lines.replace("work=100", "work=100 deadline=10s"));
    check(
        &by(Objective::Deadline),
        &fleet(&late),
        "start a/0.0 slow alt=0 t4 cores=1 dev=0 for=1m40s",
    );
}

/// The scores of the only choice there is, none of them one.
fn parts(change: impl FnOnce(&mut Policy)) -> [Micro; Objective::COUNT] {
    let lines = "
        at 10s
        node free cores=8 mem=64Gi dev=t4
          nic bw=10GB/s
        node held cores=8 mem=8Gi idle=10W busy=20W dev=a100
        signal s class.a100=1 class.t4=1
        mix 9 cores=1 gpu=1
        job before cores=1 gpu=1
        job talks cores=1 netbw=8GB/s
        job a work=100 deadline=2m cores=1 gpu=1 share=0.5 netbw=8GB/s rate.t4=1 rate.a100=7 \
            in=images:9GB
        run before/0.0 held dev=0
        run talks/0.0 free
    ";
    let mut policy = by(Objective::Completion);
    policy.tiers = vec![Weighting::Fixed([Milli(1); Objective::COUNT])];
    policy.externals = vec!["s".to_owned(); 8];
    policy.oversubscribe = Milli(2000);
    change(&mut policy);
    let (_, decision) = decide(&policy, &fleet(lines), Effort::DEFAULT);
    decision.explanation.choices[0].score.parts
}

#[test]
fn each_scale_moves_the_score_of_its_own_objective() {
    let before = parts(|_| {});
    assert!(before.iter().all(|part| *part < Micro::ONE), "{before:?}");
    let changes: [fn(&mut Policy); Objective::COUNT] = [
        |policy| policy.scale.completion = Span::seconds(600),
        |policy| policy.scale.utilisation = Milli(300),
        |policy| policy.scale.fragmentation = Milli(100),
        |policy| policy.scale.companion = Milli(100),
        |policy| policy.scale.rarity = Milli(1000),
        |policy| policy.scale.energy = Millijoules(50_000_000),
        |policy| policy.scale.deadline = Micro(500_000),
        |policy| policy.scale.locality = Bytes(1_000_000_000),
        |policy| policy.scale.interference = Span::seconds(10),
        |policy| policy.scale.externals[0] = Level(9_000_000),
        |policy| policy.scale.externals[1] = Level(9_000_000),
        |policy| policy.scale.externals[2] = Level(9_000_000),
        |policy| policy.scale.externals[3] = Level(9_000_000),
        |policy| policy.scale.externals[4] = Level(9_000_000),
        |policy| policy.scale.externals[5] = Level(9_000_000),
        |policy| policy.scale.externals[6] = Level(9_000_000),
        |policy| policy.scale.externals[7] = Level(9_000_000),
    ];
    for (own, change) in changes.into_iter().enumerate() {
        let after = parts(change);
        for (position, (one, other)) in before.iter().zip(&after).enumerate() {
            assert_eq!(one != other, position == own, "{own} moves {position}: {one:?} {other:?}");
        }
    }
}
