//! Faults of reasons that show when they are counted again.

use super::*;
use crate::device::DeviceKind;
use crate::explanation::Patience;
use crate::id::ClassId;
use crate::units::{Span, Time};

type Rows<'a> = &'a [(Constraint, u32, u64, u64)];

const GIB: u64 = 1 << 30;

/// A fleet of three unlike nodes, of which the first is half full.
const FLEET: &str = "
    at 10s
    class epyc cpu
    class a100 gpu mem=40Gi units=6912 cap=sm_80 share=milli
    class t4 gpu mem=16Gi units=2560
    node big cores=16 mem=64Gi label.zone=a dev=a100*2
    node mixed cores=8 mem=32Gi dev=a100,t4
    node plain cores=4 mem=16Gi
    job held cores=10 mem=40Gi gpu=1 share=0.6 devmem=30Gi
    run held/0.0 big dev=0
";

/// The decision that starts these and leaves the last job waiting for this reason.
fn waits(job: &str, starts: &[&str], reason: Reason) -> (Snapshot, Decision) {
    let snapshot = sketch::snapshot(&format!("{FLEET}\n{job}")).unwrap();
    let mut decision = decide(&snapshot, starts);
    decision.explanation.waiting.last_mut().unwrap().reason = Arc::new(reason);
    (snapshot, decision)
}

fn messages(faults: &[Fault]) -> Vec<String> {
    faults.iter().map(ToString::to_string).collect()
}

/// The job waits, and these rows are the truth about its one alternative.
#[track_caller]
fn falls_out(asked: &str, rows: Rows<'_>) {
    let (snapshot, decision) = waits(&format!("job new {asked}"), &[], no_room(&[rows]));
    assert_eq!(messages(&check(&snapshot, &decision)), [""; 0]);
    assert_eq!(messages(&check_reasons(&snapshot, &decision)), [""; 0]);
}

#[test]
fn every_constraint_is_counted_where_nodes_fall_out_at_it() {
    use Constraint::*;
    let no_gpu = (Kind(DeviceKind::Gpu), 1, 1, 0);
    falls_out("cores=1 tpu=1", &[(Kind(DeviceKind::Tpu), 3, 1, 0)]);
    falls_out("cores=1 label.zone=b", &[(Labels, 3, 1, 0)]);
    falls_out("cores=1 gpu=2 model=t4", &[no_gpu, (Model, 1, 1, 0), (Devices, 1, 2, 1)]);
    falls_out("cores=1 gpu=1 devmem=80Gi", &[no_gpu, (DeviceMemory, 2, 80 * GIB, 40 * GIB)]);
    falls_out("cores=1 gpu=1 units=7000", &[no_gpu, (ComputeUnits, 2, 7000, 6912)]);
    falls_out("cores=1 gpu=1 cap=sm_90", &[no_gpu, (Capability, 2, 1, 0)]);
    falls_out("cores=1 gpu=1 share=0.5 model=t4", &[no_gpu, (Model, 1, 1, 0), (Sharing, 1, 1, 0)]);
    falls_out("cores=1 gpu=1 cap=sm_80 rate.epyc=1", &[no_gpu, (Rate, 2, 1, 0)]);
    falls_out("cores=20", &[(Cores, 3, 20_000, 16_000)]);
    falls_out("cores=1 mem=65Gi", &[(Memory, 3, 65 * GIB, 64 * GIB)]);
    falls_out("cores=1 gpu=3", &[no_gpu, (Devices, 2, 3, 2)]);
    falls_out("cores=9", &[(Cores, 2, 9000, 8000), (FreeCores, 1, 9000, 6000)]);
    falls_out(
        "cores=1 mem=33Gi",
        &[(Memory, 2, 33 * GIB, 32 * GIB), (FreeMemory, 1, 33 * GIB, 24 * GIB)],
    );
    falls_out("cores=1 gpu=2", &[no_gpu, (Devices, 1, 2, 1), (FreeDevices, 1, 2, 1)]);
}

#[test]
fn nodes_that_are_down_fall_out_first() {
    let snapshot = sketch::snapshot(
        "class epyc cpu
         node n cores=1 mem=1Gi down
         job a cores=2 label.zone=a
         job b cores=2 gpu=1",
    );
    let snapshot = snapshot.unwrap();
    let mut decision = decide(&snapshot, &[]);
    for waiting in &mut decision.explanation.waiting {
        waiting.reason = Arc::new(no_room(&[&[(Constraint::Up, 1, 1, 0)]]));
    }
    assert_eq!(check_reasons(&snapshot, &decision), []);
}

#[test]
fn room_is_counted_after_the_plan() {
    let snapshot = sketch::snapshot(
        "class epyc cpu
         class a100 gpu mem=40Gi share=milli
         node n cores=8 mem=1Gi dev=a100*2
         job wide tasks=4 cores=1 gpu=1 share=0.7",
    );
    let snapshot = snapshot.unwrap();
    let no_share = Arc::new(no_room(&[&[(Constraint::FreeShare, 1, 700, 300)]]));
    let mut full = decide(&snapshot, &["wide/0.0 n dev=0", "wide/1.0 n dev=1"]);
    full.explanation.waiting[0].reason = Arc::clone(&no_share);
    assert_eq!(check_reasons(&snapshot, &full), []);
    let mut half = decide(&snapshot, &["wide/0.0 n dev=0"]);
    half.explanation.waiting[0].reason = no_share;
    let fault = "job j0 is said to find no room, and node n0 has room on c1 for alternative 0";
    assert_eq!(messages(&check_reasons(&snapshot, &half))[0], fault);
}

#[test]
fn device_memory_is_asked_of_devices_that_have_the_share() {
    let snapshot = sketch::snapshot(
        "class epyc cpu
         class a100 gpu mem=40Gi share=milli
         node n cores=8 mem=1Gi dev=a100*2
         job full cores=1 gpu=1
         job tall cores=1 gpu=1 share=0.1 devmem=32Gi
         job new cores=1 gpu=1 share=0.5 devmem=9Gi
         run full/0.0 n dev=0
         run tall/0.0 n dev=1",
    );
    let snapshot = snapshot.unwrap();
    let mut decision = decide(&snapshot, &[]);
    let row = (Constraint::FreeDeviceMemory, 1, 9 * GIB, 8 * GIB);
    decision.explanation.waiting[0].reason = Arc::new(no_room(&[&[row]]));
    assert_eq!(check_reasons(&snapshot, &decision), []);
}

#[test]
fn the_class_that_comes_furthest_speaks_for_the_node() {
    let snapshot = sketch::snapshot(
        "class epyc cpu
         class a100 gpu mem=40Gi
         class t4 gpu mem=16Gi
         class u280 fpga mem=8Gi
         node n cores=8 mem=1Gi dev=u280,t4,a100
         job small cores=1 gpu=1 devmem=20Gi rate.t4=1
         job large cores=1 gpu=1 devmem=50Gi
         job more cores=1 gpu=2 devmem=20Gi",
    );
    let snapshot = snapshot.unwrap();
    let mut decision = decide(&snapshot, &[]);
    for (waiting, row) in decision.explanation.waiting.iter_mut().zip([
        (Constraint::Rate, 1, 1, 0),
        (Constraint::DeviceMemory, 1, 50 * GIB, 40 * GIB),
        (Constraint::Devices, 1, 2, 1),
    ]) {
        waiting.reason = Arc::new(no_room(&[&[row]]));
    }
    assert_eq!(check_reasons(&snapshot, &decision), []);
}

#[test]
fn room_that_is_there_is_named() {
    let rows = [(Constraint::FreeCores, 3, 4000, 0)];
    let (snapshot, decision) = waits("job new cores=4", &[], no_room(&[&rows]));
    assert_eq!(messages(&check(&snapshot, &decision)), [""; 0]);
    assert_eq!(
        messages(&check_reasons(&snapshot, &decision)),
        [
            "job j1 is said to find no room, and node n0 has room on c0 for alternative 0",
            "tally of job j1, alternative 0, at FreeCores: told 3, 4000, 0; counted 0, 0, 0 (nodes, \
             asked, best)",
        ]
    );
}

#[test]
fn a_tally_that_counts_wrong_is_named() {
    let job = "job new cores=9\n or cores=1 tpu=1";
    let cores = (Constraint::Cores, 2, 9000, 8000);
    let free = (Constraint::FreeCores, 1, 9000, 6000);
    let kind: Rows<'_> = &[(Constraint::Kind(DeviceKind::Tpu), 3, 1, 0)];
    let (snapshot, decision) = waits(job, &[], no_room(&[&[cores, free], kind]));
    assert_eq!(check_reasons(&snapshot, &decision), []);
    let told = "tally of job j1, alternative 0, at";
    for (rows, faults) in [
        (
            [cores, (Constraint::FreeCores, 1, 9000, 5000)],
            vec!["FreeCores: told 1, 9000, 5000; counted 1, 9000, 6000"],
        ),
        (
            [cores, (Constraint::FreeCores, 1, 9001, 6000)],
            vec!["FreeCores: told 1, 9001, 6000; counted 1, 9000, 6000"],
        ),
        (
            [(Constraint::Cores, 1, 9000, 8000), (Constraint::FreeCores, 2, 9000, 6000)],
            vec![
                "Cores: told 1, 9000, 8000; counted 2, 9000, 8000",
                "FreeCores: told 2, 9000, 6000; counted 1, 9000, 6000",
            ],
        ),
    ] {
        let (snapshot, decision) = waits(job, &[], no_room(&[&rows, kind]));
        assert_eq!(messages(&check(&snapshot, &decision)), [""; 0]);
        let faults: Vec<_> =
            faults.iter().map(|fault| format!("{told} {fault} (nodes, asked, best)")).collect();
        assert_eq!(messages(&check_reasons(&snapshot, &decision)), faults);
    }
}

/// A job of 100 that is patient: 10 s on an a100, which is full, and 50 s on a t4, which is free.
const PATIENT: &str = "
    at 10s
    class epyc cpu
    class a100 gpu
    class t4 gpu
    class l40 gpu
    class gone gpu
    node n cores=8 mem=1Gi dev=a100,t4
    node m cores=8 mem=1Gi dev=l40
    node lost cores=8 mem=1Gi dev=gone down
    node bare cores=0 mem=1Gi dev=gone
    job held cores=1 gpu=1 model=a100
    job new work=100 cores=1 gpu=1 rate.a100=10 rate.t4=2 rate.l40=2.5 rate.gone=20
      or cores=4 rate.epyc=1
    job also cores=1 gpu=1 model=l40
    run held/0.0 n dev=0
    run also/0.0 m dev=0
";

fn patience_faults(breaking: impl FnOnce(&mut Patience)) -> Vec<String> {
    let snapshot = sketch::snapshot(PATIENT).unwrap();
    let mut decision = decide(&snapshot, &[]);
    let mut patience = Patience {
        best: ClassId(1),
        best_duration: Span::seconds(10),
        offered: ClassId(2),
        offered_duration: Span::seconds(50),
        until: Time::seconds(30),
    };
    breaking(&mut patience);
    decision.explanation.waiting[0].reason = Arc::new(Reason::Patience(patience));
    decision.plan.wake = Some(patience.until);
    assert!(check(&snapshot, &decision).iter().all(|it| matches!(it, Fault::WakeInThePast { .. })));
    messages(&check_reasons(&snapshot, &decision))
}

#[test]
fn patience_that_is_true_passes() {
    assert_eq!(patience_faults(|_| ()), [""; 0]);
}

#[test]
fn patience_until_a_time_that_has_come() {
    let faults = patience_faults(|patience| patience.until = Time::seconds(10));
    assert_eq!(faults, ["job j1 is patient until 10000000 µs, and it is 10000000 µs"]);
}

#[test]
fn patience_for_no_faster_device() {
    let faults = patience_faults(|patience| {
        (patience.best, patience.best_duration) = (ClassId(0), Span::seconds(100));
    });
    assert_eq!(
        faults,
        [
            "job j1 is patient for 1m40s, and is offered 50s",
            "job j1 is patient for 1m40s on class c0, and class c1 takes 10s",
        ]
    );
}

#[test]
fn patience_for_a_device_that_is_not_the_fastest() {
    let faults = patience_faults(|patience| {
        (patience.best, patience.best_duration) = (ClassId(3), Span::seconds(40));
    });
    assert_eq!(faults, ["job j1 is patient for 40s on class c3, and class c1 takes 10s"]);
}

#[test]
fn patience_for_a_device_that_could_not_take_it_though_nothing_ran() {
    let faults = patience_faults(|patience| {
        (patience.best, patience.best_duration) = (ClassId(4), Span::seconds(5));
    });
    assert_eq!(faults, ["job j1 is said to take 5s on class c4, which no alternative does"]);
}

#[test]
fn patience_with_durations_that_no_rate_gives() {
    let faults = patience_faults(|patience| patience.best_duration = Span::seconds(11));
    assert_eq!(faults, ["job j1 is said to take 11s on class c1, which no alternative does"]);
    let faults = patience_faults(|patience| patience.offered_duration = Span::seconds(49));
    assert_eq!(faults, ["job j1 is said to take 49s on class c2, which no alternative does"]);
    let faults = patience_faults(|patience| {
        (patience.best, patience.best_duration) = (ClassId(3), Span::seconds(5));
    });
    assert_eq!(faults, ["job j1 is said to take 5s on class c3, which no alternative does"]);
}

#[test]
fn patience_that_declines_what_has_no_room() {
    let faults = patience_faults(|patience| {
        (patience.offered, patience.offered_duration) = (ClassId(1), Span::seconds(11));
    });
    assert_eq!(faults, ["job j1 is said to decline class c1, which has no room"]);
}

#[test]
fn patience_that_hides_a_faster_offer() {
    let faults = patience_faults(|patience| {
        (patience.offered, patience.offered_duration) = (ClassId(0), Span::seconds(100));
    });
    let fault = "job j1 is said to be offered 1m40s at best, and class c2 has room for 50s";
    assert_eq!(faults, [fault]);
}
