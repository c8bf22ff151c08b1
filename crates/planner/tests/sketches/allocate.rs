//! Devices that are divided over time: who runs, who makes way, and why the others wait.

use std::sync::Arc;

use fleet::policy::{Allocate, Objective, OrderKey};
use fleet::snapshot::Progress;
use fleet::{Policy, Powers, Snapshot, Span, Stage, Time, sketch};
use planner::inquiry::suppose;
use planner::{Effort, Scratch, plan};

use crate::check;
use crate::rules::by;

/// One fast and one slow device, a node each.
const FLEET: &str = "
    class epyc cpu
    class v100 gpu
    class k80 gpu
    node fast cores=8 mem=8Gi dev=v100
    node slow cores=8 mem=8Gi dev=k80
";

pub(crate) const FITNESS: Powers = Powers { fitness: 1000, brevity: 0, lack: 0, slowdown: 0 };

pub(crate) fn allocate(powers: Powers) -> Allocate {
    let rounds = Some(Span::seconds(360));
    Allocate { rounds, powers, moving: Span::ZERO, starvation: None }
}

pub(crate) fn policy(allocate: Allocate) -> Policy {
    Policy { allocate: Some(allocate), ..by(Objective::Completion) }
}

pub(crate) fn short_first() -> Policy {
    policy(allocate(Powers { brevity: 400, ..FITNESS }))
}

fn at(time: &str, jobs: &str) -> String {
    format!("at {time}\n{FLEET}{jobs}")
}

#[test]
fn each_job_runs_where_it_is_worth_most_and_the_plan_wakes_when_the_round_ends() {
    let jobs = "job picky work=100 gpu=1 rate.v100=10 rate.k80=1
                job calm work=100 gpu=1 rate.v100=10 rate.k80=9";
    check(
        &policy(allocate(FITNESS)),
        &at("10s", jobs),
        "start picky/0.0 fast alt=0 v100 dev=0 for=10s
         start calm/0.0 slow alt=0 k80 dev=0 for=11.111s
         wake 6m10s",
    );
    // The other way round, whoever came first.
    let jobs = "job calm work=100 gpu=1 rate.v100=10 rate.k80=9
                job picky work=100 gpu=1 rate.v100=10 rate.k80=1";
    check(
        &policy(allocate(FITNESS)),
        &at("10s", jobs),
        "start calm/0.0 slow alt=0 k80 dev=0 for=11.111s
         start picky/0.0 fast alt=0 v100 dev=0 for=10s
         wake 6m10s",
    );
}

#[test]
fn who_is_worth_less_makes_way_and_says_what_others_gave() {
    // The long one has the fast device, and the short one has just come.
    let jobs = "job long work=36000 gpu=1 model=v100 rate.v100=1
                run long/0.0 fast dev=0
                job short work=360 gpu=1 model=v100 rate.v100=1";
    check(
        &short_first(),
        &at("10s", jobs),
        "stop j0/0.0 round
         wake 5m10s
         wait short x1 round until 6m10s granted v100",
    );
    // Where being short counts for nothing, of equals the earlier stays.
    check(
        &policy(allocate(FITNESS)),
        &at("10s", jobs),
        "wake 6m10s
         wait short x1 round until 6m10s outbid v100 100000000/100000000",
    );
}

#[test]
fn what_makes_way_goes_on_later_with_what_is_left_of_it() {
    let jobs = "job one work=100 gpu=1 model=v100 rate.v100=1
                again one/0.1
                did one/0.0 done=60 at=5s";
    check(
        &short_first(),
        &at("10s", jobs),
        "start one/0.1 fast alt=0 v100 dev=0 for=40s
         wake 6m10s",
    );
    // More than what was declared: an eighth of what was done.
    let jobs = "job one work=100 gpu=1 model=v100 rate.v100=1
                again one/0.1
                did one/0.0 done=160 at=5s";
    check(
        &short_first(),
        &at("10s", jobs),
        "start one/0.1 fast alt=0 v100 dev=0 for=20s
         wake 6m10s",
    );
}

#[test]
fn a_gang_makes_way_and_starts_as_a_whole_on_one_model() {
    let fleet = "
        class epyc cpu
        class v100 gpu
        class k80 gpu
        node v cores=8 mem=8Gi dev=v100 x2
        node k cores=8 mem=8Gi dev=k80";
    let gang = "job pair tasks=2 gang work=3600 gpu=1 rate.v100=1 rate.k80=1";
    let runs = "run pair/0.0 v-0 dev=0
                run pair/1.0 v-1 dev=0";
    let short = "job short tasks=2 work=10 gpu=1 model=v100 rate.v100=1";
    check(
        &short_first(),
        &format!("at 10s\n{fleet}\n{gang}\n{runs}\n{short}"),
        "stop j0/0.0 round
         stop j0/1.0 round
         wake 5m10s
         wait short x2 round until 6m10s granted v100",
    );
    check(
        &short_first(),
        &format!("at 10s\n{fleet}\n{gang}"),
        "start pair/0.0 v-0 alt=0 v100 dev=0 for=1h
         start pair/1.0 v-1 alt=0 v100 dev=0 for=1h
         wake 6m10s",
    );
}

#[test]
fn a_job_with_several_counts_grows_and_shrinks() {
    let fleet = "
        class epyc cpu
        class v100 gpu
        node n cores=8 mem=8Gi dev=v100*4";
    let elastic = "job wide work=3600 gpu=4 rate.v100=3
                     or gpu=1 rate.v100=1";
    check(
        &policy(allocate(FITNESS)),
        &format!("at 10s\n{fleet}\n{elastic}"),
        "start wide/0.0 n alt=0 v100 dev=0,1,2,3 for=20m
         wake 6m10s",
    );
    // Three others are worth more than the three more devices.
    let others = "job other tasks=3 work=3600 gpu=1 rate.v100=1";
    check(
        &policy(allocate(FITNESS)),
        &format!("at 10s\n{fleet}\n{elastic}\n{others}"),
        "start wide/0.0 n alt=1 v100 dev=0 for=1h
         start other/0.0 n alt=0 v100 dev=1 for=1h
         start other/1.0 n alt=0 v100 dev=2 for=1h
         start other/2.0 n alt=0 v100 dev=3 for=1h
         wake 6m10s",
    );
}

/// The snapshot after a plan was carried out, at a later time.
fn later(snapshot: &Snapshot, policy: &Policy, seconds: u64) -> Snapshot {
    let decision = plan(snapshot, policy, Effort::DEFAULT, &mut Scratch::default());
    let mut next = snapshot.clone();
    suppose::carry_out(&mut next, &decision.plan);
    next.at = Time::seconds(seconds);
    next
}

pub(crate) fn told(snapshot: &Snapshot, policy: &Policy) -> String {
    let decision = plan(snapshot, policy, Effort::DEFAULT, &mut Scratch::default());
    let plan = sketch::plan_text(snapshot, &decision.plan);
    plan + &sketch::reasons_text(snapshot, &decision.explanation)
}

#[test]
fn within_a_round_nobody_makes_way_and_what_is_free_is_given_away() {
    let jobs = "job long work=36000 gpu=1 rate.v100=1 rate.k80=0.1";
    let first = sketch::snapshot(&at("10s", jobs)).expect("a sketch");
    let both = "job long work=36000 gpu=1 rate.v100=1 rate.k80=0.1
                run long/0.0 fast dev=0
                job short work=10 gpu=1 rate.v100=1 rate.k80=0.5";
    let mut second = sketch::snapshot(&at("20s", both)).expect("a sketch");
    second.memory = later(&first, &short_first(), 20).memory;
    // It arrived within the round: the slow device is free.
    crate::same(
        &told(&second, &short_first()),
        "start short/0.0 slow alt=0 k80 dev=0 for=20s
         wake 6m10s",
    );
    // At the end of the round it gets the fast one.
    second.at = Time::seconds(370);
    crate::same(
        &told(&second, &short_first()),
        "stop j0/0.0 round
         wake 11m10s
         wait short x1 round until 12m10s granted v100",
    );
    // Without rounds it does so at once.
    let at_once = Allocate { rounds: None, ..allocate(Powers { brevity: 400, ..FITNESS }) };
    second.at = Time::seconds(20);
    crate::same(
        &told(&second, &policy(at_once)),
        "stop j0/0.0 round
         wake 5m20s
         wait short x1 round granted v100",
    );
}

#[test]
fn after_the_stops_the_same_division_is_placed() {
    let jobs = "job long work=36000 gpu=1 model=v100 rate.v100=1
                run long/0.0 fast dev=0
                job short work=360 gpu=1 model=v100 rate.v100=1";
    let snapshot = sketch::snapshot(&at("10s", jobs)).expect("a sketch");
    let mut next = later(&snapshot, &short_first(), 10);
    let long = *next.runs.keys().next().expect("it runs");
    suppose::end(&mut next, long);
    crate::same(
        &told(&next, &short_first()),
        "start short/0.0 fast alt=0 v100 dev=0 for=6m
         wake 6m10s
         wait long x1 round until 6m10s outbid v100 39815141/39815141",
    );
}

#[test]
fn who_has_waited_for_too_long_goes_first() {
    let jobs = "job short work=10 gpu=1 model=v100 rate.v100=1 at=900s
                job long work=36000 gpu=1 model=v100 rate.v100=1 at=0s";
    let starving = |seconds| {
        let starvation = Some(Span::seconds(seconds));
        let powers = Powers { brevity: 400, ..FITNESS };
        policy(Allocate { starvation, ..allocate(powers) })
    };
    let long_first = "start long/0.0 fast alt=0 v100 dev=0 for=10h
         wake 21m40s
         wait short x1 round until 21m40s";
    let found = told(&sketch::snapshot(&at("940s", jobs)).expect("a sketch"), &starving(1000));
    assert!(found.starts_with("start short/0.0 fast"), "{found}");
    check(&starving(900), &at("940s", jobs), long_first);
}

#[test]
fn moving_must_pay() {
    // The fast device is free, and the job has nearly ended on the slow one.
    let jobs = "job one work=100 gpu=1 rate.v100=2 rate.k80=1
                run one/0.0 slow dev=0
                did one/0.0 done=50 at=10s";
    check(&policy(allocate(FITNESS)), &at("10s", jobs), "stop j0/0.0 round\nwake 6m10s");
    let moving = Span::seconds(60);
    check(&policy(Allocate { moving, ..allocate(FITNESS) }), &at("10s", jobs), "wake 6m10s");
}

#[test]
fn of_equals_the_order_decides_and_each_power_changes_who_runs() {
    let by_id = |powers| Policy { order: vec![OrderKey::Priority], ..policy(allocate(powers)) };
    let runs_first = |policy: &Policy, jobs: &str| {
        let snapshot = sketch::snapshot(&at("7200s", jobs)).expect("a sketch");
        let found = told(&snapshot, policy);
        found.split(['/', ' ']).nth(1).map(str::to_owned)
    };
    let equal = "job one work=100 gpu=1 model=v100 rate.v100=1
                 job two prio=1 work=100 gpu=1 model=v100 rate.v100=1";
    let base = policy(allocate(FITNESS));
    assert_eq!(runs_first(&base, equal).as_deref(), Some("one"));
    let by_priority = Policy { order: vec![OrderKey::Priority], ..base.clone() };
    assert_eq!(runs_first(&by_priority, equal).as_deref(), Some("two"));
    // The old one has waited for two hours, the other has just come with less to do.
    let jobs = "job new at=7200s work=1800 gpu=1 model=v100 rate.v100=1
                job old work=7200 gpu=1 model=v100 rate.v100=1";
    for (powers, first) in [
        (FITNESS, "new"),
        (Powers { brevity: -400, ..FITNESS }, "old"),
        (Powers { lack: 1000, ..FITNESS }, "old"),
        (Powers { slowdown: 1000, ..FITNESS }, "old"),
    ] {
        assert_eq!(runs_first(&by_id(powers), jobs).as_deref(), Some(first), "{powers:?}");
    }
    // Of two halves of its best or one whole: the power of the rate decides.
    let jobs = "job one work=100 gpu=1 model=v100 rate.v100=1
                job two work=100 gpu=1 rate.v100=1 rate.k80=0.5";
    let none = Powers { fitness: 0, ..FITNESS };
    assert_eq!(runs_first(&policy(allocate(none)), jobs).as_deref(), Some("one"));
}

#[test]
fn a_job_that_no_node_could_run_is_told_what_it_lacks() {
    check(
        &short_first(),
        &at("10s", "job big work=1 gpu=2 rate.v100=1"),
        "wait big x1 alt0: 1 rate, 1 devices 2/1",
    );
}

#[test]
fn what_runs_on_a_node_that_takes_no_new_work_is_left_alone() {
    let fleet = FLEET.replace("dev=v100", "dev=v100 down");
    let jobs = "job long work=36000 gpu=1 model=v100 rate.v100=1
                run long/0.0 fast dev=0
                job short work=360 gpu=1 rate.v100=1 rate.k80=0.1";
    check(
        &short_first(),
        &format!("at 10s\n{fleet}{jobs}"),
        "start short/0.0 slow alt=0 k80 dev=0 for=1h
         wake 6m10s",
    );
}

/// Two nodes of two devices, on each of which one is held.
const SCATTERED: &str = "
    class epyc cpu
    class v100 gpu
    node n cores=8 mem=8Gi dev=v100*2 x2
    job one work=100 gpu=1 rate.v100=1
    job two work=100 gpu=1 rate.v100=1
    run one/0.0 n-0 dev=0
    run two/0.0 n-1 dev=0";

#[test]
fn what_no_node_has_room_for_is_given_back_and_others_have_it() {
    let jobs = "
        job wide work=20 gpu=2 rate.v100=1
        job small work=3600 gpu=1 rate.v100=1";
    let snapshot = sketch::snapshot(&format!("at 10s{SCATTERED}{jobs}")).expect("a sketch");
    // Two devices are free and granted, on two nodes, and to move costs more than it is worth: it
    // gives them back, and wakes at once.
    let moving = Span::seconds(3600);
    let dear = policy(Allocate { moving, ..allocate(Powers { brevity: 400, ..FITNESS }) });
    let found = told(&snapshot, &dear);
    assert!(found.starts_with("wake 10s\n"), "{found}");
    assert!(!found.contains("start"), "{found}");
    let mut next = later(&snapshot, &dear, 10);
    next.serial.0 += 1;
    crate::same(
        &told(&next, &dear),
        "start small/0.0 n-0 alt=0 v100 dev=1 for=1h
         wake 6m10s
         wait wide x1 alt0: 2 free-devices 2/1",
    );
}

/// Carries a plan out, and lets what it stops wait.
pub(crate) fn carried_out(snapshot: &Snapshot, policy: &Policy) -> Snapshot {
    let decision = plan(snapshot, policy, Effort::DEFAULT, &mut Scratch::default());
    let mut next = snapshot.clone();
    suppose::carry_out(&mut next, &decision.plan);
    for stop in &decision.plan.stops {
        suppose::end(&mut next, stop.run);
        let (job, task) = (stop.run.job, stop.run.task);
        let progress = Progress { at: next.at, ..Progress::default() };
        let known = Arc::make_mut(&mut next.progress).entry(job).or_default();
        known.insert(task, progress);
    }
    next.serial.0 += 1;
    if !decision.plan.stops.is_empty() || !decision.plan.placements.is_empty() {
        next.changed = next.serial;
    }
    next
}

#[test]
fn who_runs_is_moved_where_what_was_granted_has_room_on_no_node() {
    let wide = "
        job wide work=20 gpu=2 rate.v100=1";
    let snapshot = sketch::snapshot(&format!("at 10s{SCATTERED}{wide}")).expect("a sketch");
    check(
        &short_first(),
        &format!("at 10s{SCATTERED}{wide}"),
        "stop j0/0.0 round
         wake 5m10s
         wait wide x1 round until 6m10s granted v100 nominated wide",
    );
    // The node is for the wide one, and then the other is next.
    let next = carried_out(&snapshot, &short_first());
    crate::same(
        &told(&next, &short_first()),
        "start wide/0.0 n-0 alt=0 v100 dev=0,1 for=20s
         wake 10s
         wait one x1 round until 6m10s granted v100",
    );
    let after = carried_out(&next, &short_first());
    let found = told(&after, &short_first());
    assert!(found.starts_with("start one/0.1 n-1 alt=0 v100 dev=1"), "{found}");
}

#[test]
fn others_wait_for_those_who_make_room_and_not_for_ever() {
    let more = "
        class k80 gpu
        node m cores=8 mem=8Gi dev=k80
        job wide work=20 gpu=2 model=v100 rate.v100=1";
    let snapshot = sketch::snapshot(&format!("at 10s{SCATTERED}{more}")).expect("a sketch");
    // What was told to stop has not. One that arrives could take cores there; one is for elsewhere.
    let late = "
        job late work=10 cores=1 rate.epyc=1
        job aside work=10 gpu=1 rate.k80=1";
    let text = format!("at 10s{SCATTERED}{more}{late}");
    let mut stuck = sketch::snapshot(&text).expect("a sketch");
    let decision = plan(&snapshot, &short_first(), Effort::DEFAULT, &mut Scratch::default());
    stuck.memory = decision.plan.memory.clone();
    let run = decision.plan.stops[0].run;
    let runs = Arc::make_mut(&mut stuck.runs);
    Arc::make_mut(runs.get_mut(&run).expect("it runs")).stage = Stage::Recalled;
    stuck.at = Time::seconds(309);
    crate::same(
        &told(&stuck, &short_first()),
        "start aside/0.0 m alt=0 k80 dev=0 for=10s
         wake 5m10s
         wait wide x1 round until 6m10s granted v100 nominated wide
         wait late x1 round until 6m10s granted epyc nominated wide",
    );
    stuck.at = Time::seconds(311);
    let found = told(&stuck, &short_first());
    assert!(found.contains("start late/0.0"), "{found}");
}

#[test]
fn for_one_that_has_starved_others_make_room_though_they_find_none_elsewhere() {
    // Once two make way by the division, a device is free on either node, and the memory of the
    // other node is held.
    let jobs = "
        job more tasks=2 work=100 gpu=1 rate.v100=1
        run more/0.0 n-0 dev=1
        run more/1.0 n-1 dev=1
        job wide work=36000 gpu=2 rate.v100=1 at=0s";
    let held = SCATTERED.replace("work=100 gpu=1", "work=100 gpu=1 mem=5Gi");
    let text = format!("at 1000s{held}{jobs}");
    let with = |starvation: Option<Span>, moving| {
        let powers = Powers { brevity: 400, ..FITNESS };
        policy(Allocate { starvation, moving, ..allocate(powers) })
    };
    let starved = with(Some(Span::seconds(900)), Span::seconds(3600));
    let snapshot = sketch::snapshot(&text).expect("a sketch");
    assert!(!told(&snapshot, &with(None, Span::ZERO)).contains("stop"), "it is worth less");
    let mut next = snapshot;
    let mut turn = || {
        let decision = plan(&next, &starved, Effort::DEFAULT, &mut Scratch::default());
        assert_eq!(fleet::check::check(&next, &decision), []);
        let found = told(&next, &starved);
        next = carried_out(&next, &starved);
        found
    };
    let first = turn();
    assert!(first.starts_with("stop j2/0.0 round\nstop j2/1.0 round\n"), "{first}");
    let second = turn();
    assert!(second.starts_with("stop j0/0.0 round\nwake"), "{second}");
    let third = turn();
    assert!(third.starts_with("start wide/0.0 n-0 alt=0 v100 dev=0,1"), "{third}");
    // Who was moved finds no memory, gives its device back, and one of the others has it.
    let fourth = turn();
    assert!(fourth.starts_with("wake 16m40s\n"), "{fourth}");
    let fifth = turn();
    assert!(fifth.starts_with("start more/0.1 n-1"), "{fifth}");
    assert!(fifth.contains("wait one x1 alt0: 1 free-memory"), "{fifth}");
}

#[test]
fn room_for_a_gang_is_made_below_one_switch() {
    let fleet = "
        class epyc cpu
        class v100 gpu
        node a cores=8 mem=8Gi dev=v100*2 switch=one
        node b cores=8 mem=8Gi dev=v100*2 switch=one
        node c cores=8 mem=8Gi dev=v100*2 switch=two
        node d cores=8 mem=8Gi dev=v100*2 switch=two";
    let jobs = "
        job held tasks=4 work=3600 gpu=1 rate.v100=1
        run held/0.0 a dev=0
        run held/1.0 b dev=0
        run held/2.0 c dev=0
        run held/3.0 d dev=0
        job ring tasks=3 gang under=1 work=20 gpu=1 rate.v100=1";
    check(
        &short_first(),
        &format!("at 10s{fleet}{jobs}"),
        "stop j0/0.0 round
         wake 5m10s
         wait ring x3 round until 6m10s granted v100 nominated ring",
    );
    let wider = jobs.replace("under=1", "under=2");
    let snapshot = sketch::snapshot(&format!("at 10s{fleet}{wider}")).expect("a sketch");
    assert!(told(&snapshot, &short_first()).starts_with("start ring/0.0"), "two switches will do");
}

#[test]
fn an_array_moves_together_for_jobs_of_several_sizes_and_nobody_waits_in_the_end() {
    let mut text = "
        at 10s
        class epyc cpu
        class v100 gpu
        node n cores=8 mem=8Gi dev=v100*4 x8
        job filler tasks=24 work=3600 gpu=1 rate.v100=1
        job pair tasks=2 work=20 gpu=2 rate.v100=1
        job four work=10 gpu=4 rate.v100=1
    "
    .to_owned();
    for task in 0..24 {
        text += &format!("run filler/{task}.0 n-{} dev={}\n", task / 3, task % 3);
    }
    let mut next = sketch::snapshot(&text).expect("a sketch");
    let (mut stops, mut turns) = (0, 0);
    loop {
        let decision = plan(&next, &short_first(), Effort::DEFAULT, &mut Scratch::default());
        assert_eq!(fleet::check::check(&next, &decision), []);
        stops += decision.plan.stops.len();
        turns += 1;
        let at_once = decision.plan.wake.is_some_and(|wake| wake <= next.at.after(Span(1)));
        if !at_once && decision.plan.stops.is_empty() && decision.plan.placements.is_empty() {
            break;
        }
        assert!(turns < 20, "{}", told(&next, &short_first()));
        next = carried_out(&next, &short_first());
        for run in Arc::make_mut(&mut next.runs).values_mut() {
            Arc::make_mut(run).stage = Stage::Running;
        }
    }
    // Three for the four, and one for each of the pair.
    assert_eq!(stops, 5);
    assert!(next.backlog.is_empty(), "{}", told(&next, &short_first()));
}
