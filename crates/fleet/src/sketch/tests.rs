use std::error::Error;

use insta::assert_snapshot;

use super::*;
use crate::explanation::{
    Choice, Constraint, Explanation, FellOut, Patience, Reason, RunnerUp, Score, StillWaiting,
    Tally,
};
use crate::id::{Attempt, ClassId, JobId, NodeId, RunId, TaskIndex};
use crate::plan::{Plan, Stop, StopCause};
use crate::policy::Regime;
use crate::run::Stage;
use crate::units::{Bytes, Micro, Milli, MilliCores, Milliwatts, Rate, Span, Time, Work};

const FLEET: &str = "
    at 10s
    class epyc cpu
    class a100 gpu mem=40Gi units=6912 cap=sm_80,nvlink share=milli idle=50W busy=400W  # two each
    class u280 fpga

    node n cores=8 mem=64Gi cpu=epyc idle=100W busy=300W label.zone=a dev=a100*2,u280 x3
    node lost cores=8.5 mem=64Gi down
    job train tenant=ml prio=-5 at=1s tasks=4 work=100 deadline=1h cores=1 mem=1Gi gpu=1 share=0.5 \
     devmem=10Gi model=a100 units=5000 cap=sm_80 label.zone=a rate.a100=2
      or cores=4 mem=1Gi rate.epyc=0.1
    job serve cores=2
    run train/0.0 n-0 dev=0 since=2s
    run train/1.0 lost alt=1 stage=stray generation=7
    again train/1.1
    mix 9 cores=2
    rotation n-1
    regimes below above
";

fn fleet() -> Snapshot {
    snapshot(FLEET).unwrap()
}

/// The error of a sketch, with its sources.
fn refusal(text: &str) -> String {
    let error = snapshot(text).unwrap_err();
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

#[test]
fn classes_and_nodes_read_as_written() {
    let fleet = fleet();
    let a100 = fleet.classes.get(ClassId(1));
    assert_eq!((a100.model.as_str(), a100.memory), ("a100", Bytes(40 << 30)));
    assert_eq!((a100.compute_units, a100.capabilities.len()), (6912, 2));
    assert_eq!(a100.power.busy, Milliwatts(400_000));
    let names: Vec<_> = fleet.nodes.iter().map(|entry| entry.node.name.as_str()).collect();
    assert_eq!(names, ["n-0", "n-1", "n-2", "lost"]);
    let node = &fleet.node(NodeId(2)).node;
    assert_eq!(node.devices, [ClassId(1), ClassId(1), ClassId(2)]);
    assert_eq!(node.labels["zone"], "a");
    assert!(!fleet.node(NodeId(3)).up);
    assert_eq!(fleet.node(NodeId(3)).node.cores, MilliCores(8500));
    assert_eq!(fleet.at, Time::seconds(10));
}

#[test]
fn jobs_read_as_written() {
    let fleet = fleet();
    let job = &fleet.backlog[&JobId(0)].job;
    assert_eq!((&*job.tenant.0, job.priority, job.tasks), ("ml", -5, 4));
    assert_eq!((job.arrival, job.deadline), (Time::seconds(1), Some(Time::seconds(3600))));
    assert_eq!(job.work, Some(Work(100_000_000)));
    assert_eq!(job.alternatives.len(), 2);
    let request = job.alternatives[0].request.devices.as_ref().unwrap();
    assert_eq!((request.count, request.share, request.memory), (1, Milli(500), Bytes(10 << 30)));
    assert_eq!((request.models.as_slice(), request.compute_units), (&["a100".into()][..], 5000));
    assert_eq!(request.capability.as_deref(), Some("sm_80"));
    assert_eq!(job.alternatives[1].rates["epyc"], Rate(100_000));
}

#[test]
fn runs_hold_what_their_alternative_asks_and_their_tasks_do_not_wait() {
    let fleet = fleet();
    let waiting = &fleet.backlog[&JobId(0)];
    assert_eq!(waiting.fresh, 2..4);
    assert_eq!(waiting.again.get(&TaskIndex(1)), Some(&Attempt(1)));
    let left = &fleet.node(NodeId(0)).free;
    assert_eq!(left.cores, MilliCores(7000));
    assert_eq!((left.devices[0].share, left.devices[0].memory), (Milli(500), Bytes(30 << 30)));
    let runs: Vec<_> = fleet.runs.values().collect();
    assert_eq!((runs[0].stage, runs[0].since), (Stage::Running, Time::seconds(2)));
    assert_eq!(runs[0].placement.duration, Some(Span::seconds(50)));
    assert_eq!((runs[1].stage, runs[1].generation.0), (Stage::Stray, 7));
    assert_eq!(runs[1].placement.class, ClassId(0));
}

#[test]
fn the_mix_counts_jobs_and_what_came_before() {
    let fleet = fleet();
    let counts: Vec<_> = fleet.mix.shapes.iter().map(|shape| shape.count).collect();
    assert_eq!(counts, [10, 4]);
    assert_eq!(fleet.memory.rotation, Some(NodeId(1)));
    assert_eq!(fleet.memory.regimes, [Regime::Below, Regime::Above]);
}

#[test]
fn a_job_of_which_every_task_runs_does_not_wait() {
    let fleet = snapshot(
        "class epyc cpu
         node n cores=8 mem=1Gi
         job a cores=1
         run a/0.0 n",
    );
    assert!(fleet.unwrap().backlog.is_empty());
}

#[test]
fn what_is_not_understood_is_named_with_its_line() {
    let refusals = [
        (
            "nod n",
            "read line 1 of the sketch at \"nod\": no such item; items are class, node, domain, \
          distances, pcie, nic, data, signal, job, or, run, again, mix, rotation, regimes and at",
        ),
        (
            "\n\nclass epyc cpu fast",
            "read line 3 of the sketch at \"fast\": no such word in \"class\"",
        ),
        ("class epyc cpu mem=1Gi mem=2Gi", "read line 1 of the sketch at \"mem\": given twice"),
        ("class epyc cpu\nclass epyc cpu", "read line 2 of the sketch at \"epyc\": given twice"),
        ("class epyc", "read line 1 of the sketch at \"class\": the kind is missing"),
        (
            "class epyc zpu",
            "read line 1 of the sketch at \"zpu\": not a kind of device; write it like \
          cpu or gpu",
        ),
        (
            "class epyc cpu mem=4q",
            "read line 1 of the sketch at \"4q\": size \"4q\" has the unknown \
          unit \"q\"; use one of B K KB k kB Ki KiB M MB Mi MiB G GB Gi GiB T TB Ti TiB P PB Pi PiB",
        ),
        ("class epyc cpu mem=", "read line 1 of the sketch at \"mem=\": the value is missing"),
    ];
    for (text, message) in refusals {
        assert_eq!(refusal(text), message);
    }
}

#[test]
fn what_does_not_fit_what_stands_above_is_named_with_its_line() {
    let refusals = [
        ("node n cores=1 mem=1Gi", "read line 1 of the sketch at \"node\": cpu= is missing"),
        (
            "class epyc cpu\nnode n mem=1Gi",
            "read line 2 of the sketch at \"node\": cores is missing",
        ),
        (
            "class epyc cpu\nnode n cores=1 mem=0 dev=gtx",
            "read line 2 of the sketch at \"gtx\": no \
          class of this name above",
        ),
        ("or cores=1", "read line 1 of the sketch at \"or\": no job on the line above"),
        ("job a", "read line 1 of the sketch at \"job\": cores= or a device is missing"),
        (
            "job a cores=1 tasks=x",
            "read line 1 of the sketch at \"x\": not a whole number of this \
          range; write it like 3",
        ),
        (
            "job a cores=1 share=0.5",
            "read line 1 of the sketch at \"job\": needs a device in the same \
          alternative, like gpu=1",
        ),
        (
            "job a gpu=2 share=0.5",
            "read line 1 of the sketch at \"share\": a share is of one device",
        ),
        ("job a gpu=1 tpu=1", "read line 1 of the sketch at \"tpu\": given twice"),
        (
            "job a cores=1 rate.epyc=2",
            "read line 1 of the sketch at \"epyc\": no class of this name \
          above",
        ),
        ("job a cores=1 label.z=1 label.z=2", "read line 1 of the sketch at \"z\": given twice"),
        ("job a cores=1\njob a cores=1", "read line 2 of the sketch at \"a\": given twice"),
        (
            "at 10",
            "read line 1 of the sketch at \"10\": duration \"10\" has no unit; write it like 90s \
          or 1h30m, with one of us ms s m h d",
        ),
    ];
    for (text, message) in refusals {
        assert_eq!(refusal(text), message);
    }
}

#[test]
fn runs_that_do_not_fit_the_sketch_are_refused() {
    let refusals = [
        ("run a/0.0 m", "at \"m\": no node of this name above"),
        ("run b/0.0 n", "at \"b\": no job of this name above"),
        ("run a n", "at \"a\": not a run; write it like train/0.0"),
        ("run a/9.0 n", "at \"9\": the job has only 3 tasks"),
        ("run a/0.0 n alt=2", "at \"alt=2\": the job has only 2 alternatives"),
        ("run a/0.0 n", "at \"run\": the alternative asks for 1 devices"),
        ("run a/0.0 n dev=1", "at \"1\": the node has only 1 devices"),
        ("run a/0.0 n alt=1 dev=0", "at \"0\": the alternative asks for 0 devices"),
        ("run a/0.0 n alt=1", "at \"n\": no rate is declared for \"epyc\""),
        ("run a/0.0 n dev=0 stage=gone", "at \"gone\": not a stage; write it like stage=running"),
        ("again a/0.0", "at \"a/0.0\": not a later attempt; write it like train/0.1"),
    ];
    for (line, message) in refusals {
        let text = format!(
            "class epyc cpu\nclass t4 gpu\nnode n cores=8 mem=1Gi dev=t4\n\
             job a cores=1 tasks=3 gpu=1\nor cores=1 rate.t4=1\n{line}"
        );
        assert_eq!(refusal(&text), format!("read line 6 of the sketch {message}"));
    }
}

#[test]
fn waiting_tasks_with_a_gap_are_refused() {
    let text = "class epyc cpu
         node n cores=8 mem=1Gi
         job a cores=1 tasks=3
         run a/1.0 n";
    let message = "read line 3 of the sketch at \"a\": the tasks that were never started must be one \
                   range; name them from 0 up";
    assert_eq!(refusal(text), message);
}

#[test]
fn lines_that_do_not_fit_together_are_refused() {
    let text = "class epyc cpu
         node n cores=1 mem=1Gi
         job a cores=2
         run a/0.0 n";
    let message =
        "put the lines of the sketch together: run j0/0.0 holds more than its node has left";
    assert_eq!(refusal(text), message);
}

#[test]
fn plans_are_written_line_by_line() {
    let fleet = fleet();
    let lines = ["train/1.1 n-2 alt=0 dev=1", "train/2.0 n-1 alt=1", "serve/0.0 n-2"];
    let placements: Vec<_> = lines.iter().map(|line| placement(&fleet, line).unwrap()).collect();
    let stray = RunId { job: JobId(0), task: TaskIndex(1), attempt: Attempt(0) };
    let unknown = RunId { job: JobId(5), ..stray };
    let stops = [stray, unknown].map(|run| Stop { run, cause: StopCause::Stray });
    let plan = Plan {
        placements,
        stops: stops.to_vec(),
        wake: Some(Time::seconds(70)),
        ..Plan::default()
    };
    assert_snapshot!(plan_text(&fleet, &plan), @r"
    start train/1.1 n-2 alt=0 a100 cores=1 mem=1Gi dev=1:0.5:10Gi for=50s
    start train/2.0 n-1 alt=1 epyc cores=4 mem=1Gi for=16m40s
    start serve/0.0 n-2 alt=0 epyc cores=2
    stop train/1.0 stray
    stop j5/1.0 stray
    wake 1m10s
    ");
}

#[test]
fn reasons_and_choices_are_written_a_line_each() {
    let fleet = fleet();
    let fell_out = |constraint, nodes, asked, best| FellOut { constraint, nodes, asked, best };
    let tallies = vec![
        Tally {
            alternative: 0,
            fell_out: vec![
                fell_out(Constraint::Up, 1, 1, 0),
                fell_out(Constraint::Kind(crate::device::DeviceKind::Gpu), 1, 1, 0),
                fell_out(Constraint::FreeShare, 2, 500, 460),
            ],
        },
        Tally { alternative: 1, fell_out: vec![fell_out(Constraint::Memory, 4, 1 << 31, 1 << 30)] },
    ];
    let patience = Patience {
        best: ClassId(1),
        best_duration: Span::seconds(10),
        offered: ClassId(0),
        offered_duration: Span::seconds(100),
        until: Time::seconds(60),
    };
    let waits =
        |job, tasks, reason: Reason| StillWaiting { job: JobId(job), tasks, reason: reason.into() };
    let score = |value| Score { tiers: vec![Micro::score(value)], parts: [Micro::ONE; _] };
    let explanation = Explanation {
        choices: vec![Choice {
            run: RunId::default(),
            score: score(0.81),
            nodes: 3,
            runner_up: Some(RunnerUp {
                alternative: 1,
                node: NodeId(1),
                class: ClassId(0),
                score: score(1.0),
            }),
        }],
        waiting: vec![
            waits(0, 2, Reason::NoRoom(tallies)),
            waits(1, 1, Reason::Patience(patience)),
            waits(2, 1, Reason::Effort),
        ],
        ..Explanation::default()
    };
    assert_snapshot!(reasons_text(&fleet, &explanation), @r"
    wait train x2 alt0: 1 up, 1 kind gpu, 2 free-share 0.5/0.46; alt1: 4 memory 2Gi/1Gi
    wait serve x1 patience for a100 10s over epyc 1m40s until 1m
    wait j2 x1 effort
    ");
    assert_snapshot!(
        choices_text(&fleet, &explanation),
        @"choice train/0.0 of 3 score=0.81 next alt=1 n-1 epyc score=1"
    );
}

#[test]
fn placements_of_what_is_not_there_are_refused() {
    let fleet = fleet();
    for text in ["", "train/1.1", "gone/0.0 n-0", "train/1.1 n-9", "train/1.1 n-0 dev=0 extra"] {
        assert!(placement(&fleet, text).is_err(), "{text}");
    }
}

#[test]
fn what_would_take_all_memory_or_overflow_is_refused() {
    let huge = "class c cpu\nnode n cores=18446744073709551 mem=1Gi cpu=c";
    for (text, expected) in [
        ("class c cpu\nnode n cores=1 mem=1 x4000000000", "more than 100000 nodes"),
        ("class c cpu\nclass g gpu\nnode n cores=1 mem=1 dev=g*1024,g", "more than 1024 devices"),
        ("mix 18446744073709551615 cores=1\nmix 1 cores=1", "tasks of one shape in the mix"),
        ("mix 18446744073709551615 cores=1\njob j cores=1", "tasks of one shape in the mix"),
    ] {
        let given = refusal(text);
        assert!(given.contains(expected), "{given}");
    }
    for two in [format!("{huge} x2"), format!("{huge}\nnode m cores=1000 mem=1 down")] {
        let error = snapshot(&two).unwrap_err();
        assert_eq!(error, SketchError::Parts(SnapshotError::Total(NodeId(1))));
    }
}
