//! What would have to be otherwise for a job to start: one test for every kind of remedy, and the
//! nodes that came nearest.

use fleet::policy::Objective;
use fleet::{Bytes, ClassId, JobId, Milli, MilliCores, Policy, Rate, RunId, Snapshot, Span};
use planner::Effort;
use planner::inquiry::remedy::Remedy;
use planner::inquiry::{Answer, Inquiry, answer};

use crate::decide;
use crate::rules::{by, spread};

/// What is answered about the last job of a sketch that waits.
pub(crate) fn ask(policy: &Policy, input: &str) -> (Snapshot, Option<Answer>) {
    let (snapshot, decision) = decide(policy, input, Effort::DEFAULT);
    let job = *snapshot.backlog.keys().next_back().expect("a job waits");
    let (effort, decision) = (Effort::DEFAULT, &decision);
    let inquiry = Inquiry { snapshot: &snapshot, decision, policy, effort, job };
    let answer = answer(&inquiry, None);
    (snapshot, answer)
}

#[track_caller]
fn remedies(input: &str, expected: &[Remedy]) {
    let (_, answer) = ask(&spread(), input);
    let found = answer.expect("the job waits").remedies;
    assert_eq!(found.found, expected);
    assert!(found.is_complete);
}

const FLEET: &str = "
    class epyc cpu
    class t4 gpu mem=16Gi share=milli
    class h100 gpu mem=80Gi
    node small cores=8 mem=16Gi dev=t4*2 label.zone=a
    node large cores=16 mem=64Gi dev=h100*4 label.zone=b
";

fn on_fleet(lines: &str) -> String {
    format!("{FLEET}{lines}")
}

#[test]
fn fewer_cores_are_those_that_are_free() {
    let lines = "job before cores=13\nrun before/0.0 large\njob a cores=10";
    let cores = Remedy::Cores { alternative: 0, cores: MilliCores(8000) };
    let run = RunId { job: JobId(0), ..RunId::default() };
    let eviction = Remedy::Eviction { run, lost: Span::ZERO };
    remedies(&on_fleet(lines), &[cores, eviction]);
}

#[test]
fn less_memory_is_exact_to_the_byte() {
    let lines = "job a cores=1 mem=65Gi";
    let memory = Remedy::Memory { alternative: 0, memory: Bytes(64 << 30) };
    remedies(&on_fleet(lines), &[memory]);
}

#[test]
fn fewer_devices_are_those_of_one_node() {
    let count = Remedy::Devices { alternative: 0, count: 4 };
    remedies(&on_fleet("job a gpu=6"), &[count]);
}

#[test]
fn a_smaller_share_is_what_is_left_of_one_device() {
    let lines = "
        job before tasks=2 gpu=1 share=0.6
        run before/0.0 small dev=0 since=0s
        run before/1.0 small dev=1 since=5s
        at 9s
        job a gpu=1 share=0.5 model=t4
    ";
    let share = Remedy::Share { alternative: 0, share: Milli(400) };
    // The one that has run for the shorter time.
    let run = RunId { job: JobId(0), task: fleet::TaskIndex(1), ..RunId::default() };
    let eviction = Remedy::Eviction { run, lost: Span::seconds(4) };
    remedies(&on_fleet(lines), &[share, eviction]);
}

#[test]
fn less_device_memory_is_what_the_largest_device_has() {
    let memory = Remedy::DeviceMemory { alternative: 0, memory: Bytes(80 << 30) };
    remedies(&on_fleet("job a gpu=1 devmem=96Gi"), &[memory]);
}

#[test]
fn another_model_is_named_with_the_rate_that_is_supposed() {
    let lines = "
        class v100 gpu
        job a gpu=1 model=v100 rate.v100=3 rate.t4=2
    ";
    let model = |class, rate| Remedy::Model { alternative: 0, class: ClassId(class), rate };
    remedies(&on_fleet(lines), &[model(1, None), model(2, Some(Rate(3_000_000)))]);
}

#[test]
fn a_processor_is_another_model_too() {
    let lines = "class arm cpu\njob a cores=1 rate.arm=2";
    let rate = Some(Rate(2_000_000));
    remedies(&on_fleet(lines), &[Remedy::Model { alternative: 0, class: ClassId(0), rate }]);
}

#[test]
fn one_label_is_dropped_where_one_is_enough() {
    let lines = "job a cores=1 label.zone=b label.disk=ssd";
    let labels = |keys: &[&str]| Remedy::Labels {
        alternative: 0,
        keys: keys.iter().map(|key| (*key).to_owned()).collect(),
    };
    remedies(&on_fleet(lines), &[labels(&["disk"])]);
    let lines = "job a cores=1 label.zone=c label.disk=ssd";
    remedies(&on_fleet(lines), &[labels(&["disk", "zone"])]);
}

#[test]
fn each_alternative_has_remedies_of_its_own() {
    let lines = "job a gpu=6\n or cores=20";
    let count = Remedy::Devices { alternative: 0, count: 4 };
    let cores = Remedy::Cores { alternative: 1, cores: MilliCores(16_000) };
    remedies(&on_fleet(lines), &[count, cores]);
}

#[test]
fn a_job_before_it_in_the_queue_takes_its_room_first() {
    // Eight cores are free, but the first job takes five of them.
    let lines = "job other cores=5\njob before cores=16\nrun before/0.0 large\njob a cores=6";
    let cores = Remedy::Cores { alternative: 0, cores: MilliCores(3000) };
    let run = RunId { job: JobId(1), ..RunId::default() };
    remedies(&on_fleet(lines), &[cores, Remedy::Eviction { run, lost: Span::ZERO }]);
}

#[test]
fn an_array_starts_one_more_task_than_without_the_change() {
    // Two tasks fit; a third does once each asks for 5.333 cores.
    let lines = "class epyc cpu\nnode n cores=16 mem=8Gi\njob a tasks=3 cores=7";
    let cores = Remedy::Cores { alternative: 0, cores: MilliCores(5333) };
    remedies(lines, &[cores]);
}

#[test]
fn a_faster_device_is_waited_for_unless_less_is_asked_there() {
    let policy = Policy { patience: Milli::WHOLE, ..by(Objective::Completion) };
    let lines = "
        class epyc cpu
        class t4 gpu share=milli
        class h100 gpu share=milli
        node slow cores=8 mem=8Gi dev=t4
        node fast cores=8 mem=8Gi dev=h100
        job before gpu=1 share=0.7
        run before/0.0 fast dev=0
        job a work=100 gpu=1 share=0.5 rate.t4=1 rate.h100=10
    ";
    let (_, answer) = ask(&policy, lines);
    let share = Remedy::Share { alternative: 0, share: Milli(300) };
    let run = RunId { job: JobId(0), ..RunId::default() };
    let found = answer.expect("it waits for h100").remedies.found;
    assert_eq!(found, [share, Remedy::Eviction { run, lost: Span::ZERO }]);
}

#[test]
fn nothing_is_answered_about_a_job_that_starts() {
    let (_, answer) = ask(&spread(), &on_fleet("job a cores=1"));
    assert_eq!(answer, None);
}

/// The nearest misses: `a, b: alt0 free-cores 6/5`.
#[track_caller]
fn misses(lines: &str, expected: &[&str]) {
    let (snapshot, answer) = ask(&spread(), &on_fleet(lines));
    let told = |miss: &planner::inquiry::miss::Miss| {
        let nodes = miss.nodes.iter().map(|id| snapshot.node(*id).node.name.as_str());
        let lacks = miss
            .lacks
            .iter()
            .map(|lack| format!("{:?} {}/{}", lack.constraint, lack.asked, lack.offered));
        let (nodes, lacks) = (nodes.collect::<Vec<_>>(), lacks.collect::<Vec<_>>());
        format!("{}: alt{} {}", nodes.join(", "), miss.alternative, lacks.join(", "))
    };
    let found: Vec<_> = answer.expect("the job waits").misses.iter().map(told).collect();
    assert_eq!(found, expected);
}

#[test]
fn the_node_that_lacks_the_smaller_part_is_nearer() {
    misses("job a cores=20", &["large: alt0 Cores 20000/16000", "small: alt0 Cores 20000/8000"]);
}

#[test]
fn the_node_that_lacks_fewer_things_is_nearer() {
    misses(
        "job before cores=10\nrun before/0.0 large\njob a cores=7 mem=17Gi label.zone=a",
        &[
            "small: alt0 Memory 18253611008/17179869184",
            "large: alt0 Labels 1/0, FreeCores 7000/6000",
        ],
    );
}

#[test]
fn equal_misses_are_one_with_all_their_nodes() {
    let lines = "
        node n cores=4 mem=16Gi x3
        job a cores=20
    ";
    misses(
        lines,
        &[
            "large: alt0 Cores 20000/16000",
            "small: alt0 Cores 20000/8000",
            "n-0, n-1, n-2: alt0 Cores 20000/4000",
        ],
    );
}

#[test]
fn what_is_asked_stays_what_was_asked_though_it_is_lowered_on_the_way() {
    misses(
        "job before cores=10\nrun before/0.0 large\njob a cores=20",
        &["small: alt0 Cores 20000/8000", "large: alt0 Cores 20000/16000, FreeCores 20000/6000"],
    );
}

#[test]
fn a_node_that_is_down_lacks_that_and_whatever_else() {
    let lines = "class arm cpu\nnode off cores=4 mem=1Gi cpu=arm down\njob a cores=5 rate.arm=1";
    misses(lines, &["small, large: alt0 Rate 1/0", "off: alt0 Up 1/0, Cores 5000/4000"]);
}

#[test]
fn devices_of_another_kind_are_farthest() {
    misses(
        "class u280 fpga\nnode f cores=8 mem=8Gi dev=u280\njob a gpu=8 cores=9 model=t4",
        &[
            "small: alt0 Cores 9000/8000, Devices 8/2",
            "large: alt0 Model 1/0, Devices 8/4",
            "f: alt0 Kind(Gpu) 1/0",
        ],
    );
}
