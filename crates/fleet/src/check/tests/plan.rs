//! Faults of a plan.

use super::*;
use crate::explanation::Patience;
use crate::id::{Attempt, ClassId, DeviceIndex, JobId, NodeId, Serial, TaskIndex};
use crate::node::DeviceGrant;
use crate::plan::Placement;
use crate::units::{Bytes, Milli, MilliCores, Rate, Span, Time};

/// Breaks one placement of the sound decision, which must show these faults and no others.
#[track_caller]
fn placement_faults(index: usize, breaking: impl FnOnce(&mut Placement), faults: &[&str]) {
    assert_eq!(faults_of(|decision| breaking(&mut decision.plan.placements[index])), faults);
}

/// The faults of a decision that starts just these, in a fleet where they may not fit.
#[track_caller]
fn start_faults(sketch: &str, starts: &[&str], faults: &[&str]) {
    let snapshot = sketch::snapshot(sketch).unwrap();
    let decision = decide(&snapshot, starts);
    let found: Vec<_> = check(&snapshot, &decision).iter().map(ToString::to_string).collect();
    assert_eq!(found, faults);
}

#[test]
fn plan_of_another_snapshot() {
    let faults = faults_of(|decision| decision.plan.serial = Serial(7));
    assert_eq!(faults, ["plan was made from snapshot s7, not s0"]);
}

#[test]
fn wake_in_the_past() {
    assert!(faults_of(|decision| decision.plan.wake = Some(Time::seconds(11))).is_empty());
    let faults = faults_of(|decision| decision.plan.wake = Some(Time::seconds(10)));
    assert_eq!(faults, ["plan asks to be woken at 10000000 µs, which is not after 10000000 µs"]);
}

#[test]
fn wake_after_the_first_patience_ends() {
    for (wake, faults) in [
        (Some(29), None),
        (Some(30), None),
        (Some(31), Some("Some(31000000)")),
        (None, Some("None")),
    ] {
        let found = faults_of(|decision| {
            decision.plan.wake = wake.map(Time::seconds);
            for (waiting, until) in decision.explanation.waiting.iter_mut().zip([40, 30, 50]) {
                let patience = Patience {
                    best: ClassId(1),
                    best_duration: Span::seconds(1),
                    offered: ClassId(2),
                    offered_duration: Span::seconds(2),
                    until: Time::seconds(until),
                };
                waiting.reason = Arc::new(Reason::Patience(patience));
            }
        });
        let fault = |wake: &str| {
            format!(
                "plan asks to be woken at {wake} µs, and the wait of job j2 ends at 30000000 µs"
            )
        };
        assert_eq!(found, faults.map(fault).into_iter().collect::<Vec<_>>());
    }
}

#[test]
fn job_that_does_not_wait() {
    let faults = faults_of(|decision| {
        let run = RunId { job: JobId(9), task: TaskIndex(0), attempt: Attempt(0) };
        let mut placement = decision.plan.placements[3].clone();
        placement.run = run;
        decision.plan.placements.push(placement);
        decision
            .explanation
            .choices
            .push(Choice { run, ..decision.explanation.choices[3].clone() });
    });
    assert_eq!(faults, ["run j9/0.0 is of a job that does not wait"]);
}

#[test]
fn task_that_does_not_wait() {
    let faults = faults_of(|decision| {
        decision.plan.placements[0].run.task = TaskIndex(4);
        decision.explanation.choices[0].run.task = TaskIndex(4);
        decision.explanation.waiting[0].tasks = 3;
    });
    assert_eq!(faults, ["run j0/4.0 is of a task that does not wait"]);
}

#[test]
fn wrong_attempt() {
    for (index, fault) in [
        (3, "run j2/0.5 is not the next attempt at its task, which is 1"),
        (0, "run j0/0.5 is not the next attempt at its task, which is 0"),
    ] {
        let faults = faults_of(|decision| {
            decision.plan.placements[index].run.attempt = Attempt(5);
            decision.explanation.choices[index].run.attempt = Attempt(5);
        });
        assert_eq!(faults, [fault]);
    }
}

#[test]
fn task_twice() {
    let faults = faults_of(|decision| {
        decision.plan.placements[1].run.task = TaskIndex(0);
        decision.explanation.choices[1].run.task = TaskIndex(0);
        decision.explanation.waiting[0].tasks = 3;
    });
    assert_eq!(faults, ["task 0 of job j0 is started twice"]);
}

#[test]
fn alternative_unknown() {
    let fault = "run j0/0.0 uses alternative 2 of a job with 2";
    placement_faults(0, |placement| placement.alternative = 2, &[fault]);
}

#[test]
fn node_unknown() {
    let fault = "run j2/0.1 is placed on node n3, which is not there";
    placement_faults(3, |placement| placement.node = NodeId(3), &[fault]);
}

#[test]
fn node_not_up() {
    let fault = "run j2/0.1 is placed on node n2, which is not up";
    placement_faults(3, |placement| placement.node = NodeId(2), &[fault]);
}

#[test]
fn label_unmet() {
    let sketch = "
        class epyc cpu
        node plain cores=8 mem=1Gi
        node other cores=8 mem=1Gi label.zone=b
        node right cores=8 mem=1Gi label.zone=a
        job picky tasks=3 cores=1 label.zone=a";
    start_faults(sketch, &["picky/0.0 right"], &[]);
    start_faults(
        sketch,
        &["picky/0.0 plain", "picky/1.0 other"],
        &[
            "run j0/0.0 asks for label zone = a, and node n0 has None",
            "run j0/1.0 asks for label zone = a, and node n1 has Some(\"b\")",
        ],
    );
}

#[test]
fn class_unknown_or_not_of_the_node() {
    let fault = "run j2/0.1 is reckoned on class c9, which is not there";
    placement_faults(3, |placement| placement.class = ClassId(9), &[fault]);
    let fault = "run j2/0.1 asks for no devices and is reckoned on c1, not on the cores c0";
    placement_faults(3, |placement| placement.class = ClassId(1), &[fault]);
    let sketch = "
        class epyc cpu
        class a100 gpu
        class t4 gpu
        node one cores=8 mem=1Gi dev=a100
        node two cores=8 mem=1Gi dev=t4
        job any cores=1 gpu=1";
    let snapshot = sketch::snapshot(sketch).unwrap();
    let mut decision = decide(&snapshot, &["any/0.0 one dev=0"]);
    decision.plan.placements[0].class = ClassId(2);
    let (run, node, class) = (RunId::default(), NodeId(0), ClassId(2));
    assert_eq!(check(&snapshot, &decision), [Fault::ClassNotOnNode { run, node, class }]);
}

#[test]
fn device_of_another_class() {
    let fault = "run j3/0.0 is reckoned on c1, and device #2 of node n1 is of c2";
    placement_faults(4, |placement| placement.grant.devices[1].device = DeviceIndex(2), &[fault]);
}

#[test]
fn grant_of_more_or_less_than_is_asked() {
    placement_faults(
        0,
        |placement| placement.grant.cores = MilliCores(1500),
        &["run j0/0.0 asks for 1000 thousandths of a core and is granted 1500"],
    );
    placement_faults(
        0,
        |placement| placement.grant.memory = Bytes(1),
        &["run j0/0.0 asks for 1073741824 bytes of memory and is granted 1"],
    );
    placement_faults(
        4,
        |placement| placement.grant.devices.truncate(1),
        &["run j3/0.0 asks for 2 devices and is granted 1"],
    );
    placement_faults(
        0,
        |placement| placement.grant.devices[0].share = Milli(400),
        &["run j0/0.0 asks for 500 thousandths of device #0 and is granted 400"],
    );
    placement_faults(
        0,
        |placement| placement.grant.devices[0].memory = Bytes(1),
        &["run j0/0.0 asks for 10737418240 bytes of the memory of device #0 and is granted 1"],
    );
    let device = DeviceGrant { device: DeviceIndex(1), share: Milli(1), ..DeviceGrant::default() };
    placement_faults(
        3,
        |placement| placement.grant.devices.push(device),
        &["run j2/0.1 asks for 0 devices and is granted 1"],
    );
}

#[test]
fn device_unknown() {
    let fault = "run j3/0.0 is granted device #4, which node n1 does not have";
    placement_faults(4, |placement| placement.grant.devices[1].device = DeviceIndex(4), &[fault]);
}

#[test]
fn device_twice() {
    placement_faults(
        4,
        |placement| placement.grant.devices[1].device = DeviceIndex(0),
        &[
            "run j3/0.0 is granted device #0 of node n1 twice",
            "run j3/0.0 is granted 1000 thousandths of device #0 of node n1, which has 0 left",
        ],
    );
}

#[test]
fn device_out_of_order() {
    let fault = "run j3/0.0 is granted device #0 of node n1 out of order";
    placement_faults(4, |placement| placement.grant.devices.reverse(), &[fault]);
}

#[test]
fn device_of_another_kind() {
    let fault = "run j0/0.0 asks for kind fpga, and class c1 is of kind gpu";
    let sketch = "
        class epyc cpu
        class a100 gpu
        node n cores=8 mem=1Gi dev=a100
        job logic cores=1 fpga=1";
    start_faults(sketch, &["logic/0.0 n dev=0"], &[fault]);
}

#[test]
fn device_that_does_not_suit() {
    let fleet = "
        class epyc cpu
        class a100 gpu mem=40Gi units=6912 cap=sm_80
        class t4 gpu mem=16Gi units=2560 cap=sm_75
        node n cores=8 mem=1Gi dev=a100,t4
        job train cores=1 gpu=1";
    for (asked, fault) in [
        ("model=a100", "asks for one of [\"a100\"], and class c2 is \"t4\""),
        ("devmem=16.5Gi", "asks for device memory 16.5Gi, and class c2 has 16Gi"),
        ("units=2561", "asks for 2561 compute units, and class c2 has 2560"),
        ("cap=sm_80", "asks for \"sm_80\", which class c2 cannot do"),
    ] {
        let sketch = format!("{fleet} {asked}");
        start_faults(&sketch, &["train/0.0 n dev=0"], &[]);
        let snapshot = sketch::snapshot(&sketch).unwrap();
        let found = check(&snapshot, &decide(&snapshot, &["train/0.0 n dev=1"]));
        assert_eq!(found[found.len() - 1].to_string(), format!("run j0/0.0 {fault}"));
    }
}

#[test]
fn share_of_an_exclusive_device() {
    let sketch = |rule| {
        format!(
            "class epyc cpu
             class a100 gpu share={rule}
             node n cores=8 mem=1Gi dev=a100
             job train cores=1 gpu=1 share=0.5"
        )
    };
    let fault = "run j0/0.0 is granted 0.5 of device #0 of node n0, which is exclusive";
    start_faults(&sketch("milli"), &["train/0.0 n dev=0"], &[]);
    start_faults(&sketch("exclusive"), &["train/0.0 n dev=0"], &[fault]);
}

#[test]
fn more_than_is_left() {
    let sketch = "
        class epyc cpu
        class a100 gpu mem=40Gi share=milli
        node n cores=8 mem=8Gi dev=a100*2
        job held cores=4 mem=2Gi gpu=1 share=0.25 devmem=10Gi
        job cores tasks=2 cores=3
        job mem tasks=2 cores=0 mem=4Gi
        job share tasks=2 cores=0 gpu=1 share=0.5
        job devmem tasks=2 cores=0 gpu=1 share=0.001 devmem=20Gi
        run held/0.0 n dev=0";
    for (job, device, fault) in [
        (
            "cores",
            "",
            "j1/1.0 is granted 3000 thousandths of a core of node n0, which has 1000 left",
        ),
        (
            "mem",
            "",
            "j2/1.0 is granted 4294967296 bytes of memory of node n0, which has 2147483648 left",
        ),
        (
            "share",
            "dev=0",
            "j3/1.0 is granted 500 thousandths of device #0 of node n0, which has 250 left",
        ),
        (
            "devmem",
            "dev=0",
            "j4/1.0 is granted 21474836480 bytes of the memory of device #0 of node n0, which has \
             10737418240 left",
        ),
    ] {
        let one = format!("{job}/0.0 n {device}");
        let two = format!("{job}/1.0 n {device}");
        start_faults(sketch, &[&one], &[]);
        start_faults(sketch, &[&one, &two], &[&format!("run {fault}")]);
    }
}

#[test]
fn rate_undeclared() {
    let snapshot = fleet();
    let mut decision = decide(&snapshot, &["train/0.0 n-0 alt=1"]);
    assert_eq!(check(&snapshot, &decision), []);
    let mut backlog = (*snapshot.backlog).clone();
    let mut waiting = (*backlog[&JobId(0)]).clone();
    let mut job = (*waiting.job).clone();
    Arc::make_mut(&mut job.alternatives)[1].rates.insert("epyc".into(), Rate(0));
    waiting.job = Arc::new(job);
    backlog.insert(JobId(0), Arc::new(waiting));
    let snapshot = Snapshot { backlog: Arc::new(backlog), ..snapshot };
    decision.plan.placements[0].rate = Rate(0);
    decision.plan.placements[0].duration = None;
    let (run, class) = (RunId::default(), ClassId(0));
    assert_eq!(check(&snapshot, &decision), [Fault::RateUndeclared { run, class }]);
}

#[test]
fn rate_that_is_not_the_declared_one() {
    let fault = "run j0/0.0 is reckoned at rate 2000001, and 2000000 is declared";
    placement_faults(0, |placement| placement.rate = Rate(2_000_001), &[fault]);
}

#[test]
fn duration_that_is_not_work_over_rate() {
    placement_faults(
        0,
        |placement| placement.duration = Some(Span(49_999_999)),
        &["run j0/0.0 is planned to take Some(Span(49999999)), and its work at its rate takes \
           Some(Span(50000000))"],
    );
    placement_faults(
        2,
        |placement| placement.duration = Some(Span(1)),
        &["run j1/0.0 is planned to take Some(Span(1)), and its work at its rate takes None"],
    );
}

#[test]
fn durations_are_rounded_up_to_the_microsecond() {
    let sketch = "
        class epyc cpu
        node n cores=8 mem=1Gi
        job odd cores=1 work=0.00001 rate.epyc=3";
    let snapshot = sketch::snapshot(sketch).unwrap();
    let mut decision = decide(&snapshot, &["odd/0.0 n"]);
    decision.plan.placements[0].duration = Some(Span(4));
    assert_eq!(check(&snapshot, &decision), []);
}
