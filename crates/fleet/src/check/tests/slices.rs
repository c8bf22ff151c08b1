//! Faults in what is granted as slices, reasons that speak of them, and the places that are chosen.

use super::*;
use crate::device::{Profile, Slots, mig_profiles};
use crate::node::{DeviceGrant, Grant};
use crate::units::{Bytes, Milli};

const CUT: &str = "
    class epyc cpu
    class mig gpu mem=40Gi share=slices \
        profiles=1g:0.142:5Gi:1:0+1+2+3+4+5+6,2g:0.285:10Gi:2:0+2+4,\
3g:0.428:20Gi:4:0+4
    class plain gpu mem=40Gi share=milli
    node n cores=12 mem=64Gi dev=mig,plain
    job held cores=1 gpu=1 profile=1g
    job large cores=1 gpu=1 profile=3g
    job small cores=1 gpu=1 profile=1g
    job whole cores=1 gpu=1
    run held/0.0 n dev=0@1
";

/// The faults of a decision that starts these, the first of them broken like this.
fn faults(starts: &[&str], breaking: impl FnOnce(&mut Grant)) -> Vec<String> {
    let snapshot = sketch::snapshot(CUT).unwrap();
    let mut decision = decide(&snapshot, starts);
    breaking(&mut decision.plan.placements[0].grant);
    check(&snapshot, &decision).iter().map(ToString::to_string).collect()
}

fn device(grant: &mut Grant) -> &mut DeviceGrant {
    &mut grant.devices[0]
}

#[test]
fn a_slice_in_its_place_is_sound() {
    assert_eq!(faults(&["large/0.0 n dev=0@4", "small/0.0 n dev=0@0"], |_| {}), [""; 0]);
}

#[test]
fn a_slice_is_at_a_place_of_its_profile() {
    let placed =
        |slots: Slots| faults(&["large/0.0 n dev=0@4"], |grant| device(grant).slots = slots);
    for slots in [Slots::span(3, 4), Slots::span(4, 3), Slots::span(2, 2)] {
        let fault = format!(
            "run j1/0.0 is granted slots {:#b} of device #0, where the slice has no place",
            slots.0
        );
        assert_eq!(placed(slots), [fault]);
    }
    // Without slots it is a share, which such a device has not.
    let share = "run j1/0.0 is granted 0.428 of device #0 of node n0, which is exclusive";
    assert_eq!(placed(Slots::default())[0], share);
}

#[test]
fn slots_are_of_one_slice_each() {
    let taken = |slots: &str, taken: &str, run: &str| {
        format!("run {run} is granted slots {slots} of device #0, and {taken} are taken")
    };
    assert_eq!(faults(&["large/0.0 n dev=0@0"], |_| {}), [taken("0b1111", "0b10", "j1/0.0")]);
    assert_eq!(
        faults(&["large/0.0 n dev=0@4", "small/0.0 n dev=0@5"], |_| {}),
        [taken("0b100000", "0b11110010", "j2/0.0")]
    );
}

#[test]
fn a_whole_device_is_not_one_that_is_cut() {
    let over = "run j3/0.0 is granted 1000 thousandths of device #0 of node n0, which has 858 left";
    let found = faults(&["whole/0.0 n dev=0"], |_| {});
    assert!(found.contains(&over.to_owned()), "{found:?}");
    let slots = |grant: &mut Grant| {
        (device(grant).device, device(grant).slots) = (crate::DeviceIndex(1), Slots::span(0, 1));
    };
    let misplaced =
        "run j3/0.0 is granted slots 0b1 of device #1, where the slice has no place".to_owned();
    assert!(faults(&["whole/0.0 n dev=1"], slots).contains(&misplaced));
}

#[test]
fn a_slice_has_the_size_of_its_profile_on_a_device_that_is_cut() {
    let snapshot = sketch::snapshot(CUT).unwrap();
    let mut decision = decide(&snapshot, &["large/0.0 n dev=0@4"]);
    let mut classes = (*snapshot.classes).clone();
    classes.0[1].profiles[2].memory = Bytes(10 << 30);
    let other = Snapshot { classes: Arc::new(classes), ..snapshot.clone() };
    let fault = "run j1/0.0 asks for a slice \"3g\", which class c1 cannot be cut into like this";
    let told = |snapshot: &Snapshot, decision: &Decision| {
        check(snapshot, decision).iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert!(told(&other, &decision).contains(&fault.to_owned()));
    decision.plan.placements[0].class = crate::ClassId(2);
    let fault = fault.replace("c1", "c2");
    assert!(told(&snapshot, &decision).contains(&fault));
}

#[test]
fn reasons_of_slices_are_counted_again() {
    let told = |job: &str, constraint| {
        let lines =
            format!("{CUT}job other cores=1 gpu=1 profile=1g\nrun other/0.0 n dev=0@4\n{job}");
        let snapshot = sketch::snapshot(&lines).unwrap();
        let mut decision = decide(&snapshot, &[]);
        let row = &[(constraint, 1, 1, 0)][..];
        decision.explanation.waiting.last_mut().unwrap().reason = Arc::new(no_room(&[row]));
        let last = |faults: Vec<Fault>| faults.len();
        last(check_reasons(&snapshot, &decision))
    };
    // Slots 1 and 4 are taken: a 3g has no place, though more than enough of the device is free.
    assert_eq!(told("job new cores=1 gpu=1 profile=3g", Constraint::FreeSlots), 0);
    assert!(told("job new cores=1 gpu=1 profile=2g", Constraint::FreeSlots) > 0);
    assert!(told("job new cores=1 gpu=1 profile=3g", Constraint::FreeDeviceMemory) > 0);
    let plain = "job new cores=1 gpu=1 profile=1g model=plain rate.mig=1";
    assert!(told(plain, Constraint::Profile) > 0);
}

#[test]
fn the_place_that_leaves_the_most_open_is_chosen() {
    let gib = |gib: u64| Bytes(gib << 30);
    let class = crate::DeviceClass {
        model: "A100".to_owned(),
        kind: crate::DeviceKind::Gpu,
        memory: gib(40),
        compute_units: 0,
        capabilities: BTreeSet::new(),
        share: crate::ShareRule::Slices,
        profiles: mig_profiles("A100", gib(40)).unwrap(),
        power: crate::Power::default(),
    };
    let place = |name: &str, taken: u16| {
        let profile: &Profile = class.profile(name).unwrap();
        class.place(profile, Slots(taken)).map(Slots::first)
    };
    // On a whole card the small one goes to the end, where only one large slice begins.
    assert_eq!(place("1g.5gb", 0), Some(6));
    assert_eq!(place("2g.10gb", 0), Some(4));
    assert_eq!(place("3g.20gb", 0), Some(4));
    assert_eq!(place("7g.40gb", 0), Some(0));
    assert_eq!(place("1g.5gb", 0b1_0000), Some(5));
    assert_eq!(place("3g.20gb", 0b1_0001), None);
    assert_eq!(place("7g.40gb", 0b1), None);
    assert_eq!(mig_profiles("T4", gib(40)), None);
    assert_eq!(class.profiles.iter().map(|one| one.share).max(), Some(Milli::WHOLE));
}
