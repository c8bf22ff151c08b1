//! Room on nodes where devices are divided: nobody stops in vain, and nobody is moved for nothing.

use fleet::policy::Allocate;
use fleet::snapshot::Changes;
use fleet::{Decision, Policy, Powers, Snapshot, Span, Stage, Time, sketch};
use planner::{Effort, Scratch, plan};

use crate::allocate::{FITNESS, allocate, carried_out, policy, short_first, told};

const V100: &str = "
    class epyc cpu
    class v100 gpu
";

/// V100 and what is said, ten seconds after the beginning.
fn of(text: &str) -> Snapshot {
    sketch::snapshot(&format!("at 10s{V100}{text}")).expect("a sketch")
}

fn decide(snapshot: &Snapshot, policy: &Policy) -> Decision {
    let decision = plan(snapshot, policy, Effort::DEFAULT, &mut Scratch::default());
    assert_eq!(fleet::check::check(snapshot, &decision), []);
    decision
}

/// Plans and carries out until nothing is left to do at this time; how many runs were stopped.
fn settle(snapshot: &mut Snapshot, policy: &Policy) -> usize {
    let mut stops = 0;
    for _ in 0..20 {
        let decision = decide(snapshot, policy);
        let at_once = decision.plan.wake.is_some_and(|wake| wake <= snapshot.at.after(Span(1)));
        if !at_once && decision.plan.stops.is_empty() && decision.plan.placements.is_empty() {
            return stops;
        }
        stops += decision.plan.stops.len();
        *snapshot = carried_out(snapshot, policy);
        for run in std::sync::Arc::make_mut(&mut snapshot.runs).values_mut() {
            std::sync::Arc::make_mut(run).stage = Stage::Running;
        }
        snapshot.changes = Changes::default();
    }
    panic!("{}", told(snapshot, policy));
}

/// How many runs are stopped in each of a few rounds.
fn stops_by_round(text: &str, policy: &Policy) -> Vec<usize> {
    let mut snapshot = of(text);
    let mut round = |number: u64| {
        snapshot.at = Time::seconds(10 + 360 * number);
        settle(&mut snapshot, policy)
    };
    (0..3).map(&mut round).collect()
}

fn starving(seconds: u64) -> Policy {
    let powers = Powers { brevity: 400, ..FITNESS };
    let starvation = Some(Span::seconds(seconds));
    policy(Allocate { starvation, ..allocate(powers) })
}

#[test]
fn nobody_stops_for_what_will_have_no_room() {
    // One task a node, and two nodes for three.
    let never = "
        node n cores=8 mem=8Gi dev=v100*2 x2
        job never tasks=3 gang pernode=1 work=10 gpu=1 rate.v100=1
        job one tasks=4 work=36000 gpu=1 rate.v100=1
        run one/0.0 n-0 dev=0
        run one/1.0 n-0 dev=1
        run one/2.0 n-1 dev=0
        run one/3.0 n-1 dev=1";
    assert_eq!(stops_by_round(never, &short_first()), [0, 0, 0]);
    assert_eq!(stops_by_round(never, &starving(5)), [0, 0, 0]);
    // The room is held by a gang, which is not moved.
    let held = "
        node n cores=8 mem=8Gi dev=v100*2 x2
        job gang tasks=2 gang pernode=1 work=3600 gpu=1 rate.v100=1
        run gang/0.0 n-0 dev=0
        run gang/1.0 n-1 dev=0
        job one tasks=2 work=36000 gpu=1 rate.v100=1
        run one/0.0 n-0 dev=1
        run one/1.0 n-1 dev=1
        job wide work=20 gpu=2 rate.v100=1";
    assert_eq!(stops_by_round(held, &short_first()), [0, 0, 0]);
}

#[test]
fn of_the_runs_on_a_node_the_small_ones_are_moved() {
    let fleet = "
        node n cores=8 mem=8Gi dev=v100*8 x2
        job large tasks=2 work=3600 gpu=4 rate.v100=1
        run large/0.0 n-0 dev=0,1,2,3
        run large/1.0 n-1 dev=0,1,2,3
        job small tasks=2 work=3600 gpu=2 rate.v100=1
        run small/0.0 n-0 dev=4,5
        run small/1.0 n-1 dev=4,5
        job wide work=20 gpu=4 rate.v100=1";
    let snapshot = of(fleet);
    let found = told(&snapshot, &short_first());
    assert!(found.starts_with("stop j1/0.0 round\nwake"), "{found}");
}

#[test]
fn nobody_is_moved_while_others_are_about_to_leave() {
    let fleet = "
        node n cores=8 mem=8Gi dev=v100*2 x2
        job gone work=3600 gpu=2 rate.v100=1
        run gone/0.0 n-0 dev=0,1 stage=cancelled
        job one work=3600 gpu=1 rate.v100=1
        run one/0.0 n-1 dev=0
        job wide work=20 gpu=2 rate.v100=1";
    let snapshot = of(fleet);
    let found = told(&snapshot, &short_first());
    assert!(found.starts_with("stop j0/0.0 cancelled\nwake"), "{found}");
}

#[test]
fn an_array_whose_tasks_starve_runs_one_after_another() {
    let fleet = "
        node n cores=8 mem=8Gi dev=v100*2
        job array tasks=3 work=36000 gpu=2 rate.v100=1";
    for rounds in [None, Some(Span::seconds(360))] {
        let powers = Powers { brevity: 400, ..FITNESS };
        let starvation = Some(Span::seconds(600));
        let policy = policy(Allocate { starvation, rounds, ..allocate(powers) });
        let mut snapshot = sketch::snapshot(&format!("at 700s{V100}{fleet}")).expect("a sketch");
        assert!(settle(&mut snapshot, &policy) <= 2, "{rounds:?}");
        assert_eq!(snapshot.runs.len(), 1);
    }
}

#[test]
fn room_for_the_tasks_of_an_array_is_theirs_and_not_of_those_who_make_it() {
    let fleet = "
        node n cores=8 mem=8Gi dev=v100*2
        job array tasks=2 work=36000 gpu=2 rate.v100=1
        run array/0.0 n dev=0,1";
    let mut snapshot = sketch::snapshot(&format!("at 700s{V100}{fleet}")).expect("a sketch");
    assert_eq!(settle(&mut snapshot, &starving(600)), 1);
    let runs: Vec<u32> = snapshot.runs.keys().map(|run| run.task.0).collect();
    assert_eq!(runs, [1]);
}

#[test]
fn an_array_that_runs_gives_back_what_its_other_tasks_have_no_room_for() {
    let fleet = "
        node n cores=8 mem=8Gi dev=v100*2 x3
        job big tasks=2 work=3600 gpu=2 rate.v100=1
        run big/0.0 n-0 dev=0,1
        job hold tasks=2 work=100 gpu=1 mem=5Gi rate.v100=1
        run hold/0.0 n-1 dev=0
        run hold/1.0 n-2 dev=0
        job small work=36000 gpu=1 rate.v100=1";
    let mut snapshot = of(fleet);
    settle(&mut snapshot, &short_first());
    let names: Vec<String> = snapshot.runs.keys().map(|run| run.job.to_string()).collect();
    assert!(names.contains(&"j2".to_owned()), "{}", told(&snapshot, &short_first()));
}

#[test]
fn who_is_behind_too_many_others_takes_no_part() {
    let mut text = format!("at 10s{V100}");
    text.push_str(
        "class k80 gpu\nnode v cores=8 mem=8Gi dev=v100\nnode k cores=8 mem=8Gi dev=k80*2\n",
    );
    for job in 0..20_000 {
        text += &format!("job j{job} work=10 gpu=1 model=v100 rate.v100=1\n");
    }
    text.push_str("job last tasks=2 gang work=10 gpu=1 model=k80 rate.k80=1\n");
    let snapshot = sketch::snapshot(&text).expect("a sketch");
    assert_eq!(decide(&snapshot, &short_first()).plan.placements.len(), 1);
}
