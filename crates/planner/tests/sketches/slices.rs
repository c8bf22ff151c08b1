//! Slices of devices: what fits by count must have a place too.

use fleet::policy::Objective;
use fleet::sketch;

use crate::check;
use crate::rules::{by, spread};

/// An A100 of 40 GB: seven sevenths of compute, eight slots of memory.
const CLASSES: &str = "
    class epyc cpu
    class mig gpu mem=40Gi share=slices \
        profiles=1g:0.142:5Gi:1:0+1+2+3+4+5+6,2g:0.285:10Gi:2:0+2+4,\
3g:0.428:20Gi:4:0+4,4g:0.571:20Gi:4:0,7g:1:40Gi:8:0
    class plain gpu mem=40Gi share=milli
";

fn fleet(lines: &str) -> String {
    format!("{CLASSES}{lines}")
}

/// One slice runs in the upper half; a small and a large one come.
const HALF: &str = "
    node n cores=8 mem=8Gi dev=mig
    job old cores=1 gpu=1 profile=1g
    job small cores=1 gpu=1 profile=1g
    run old/0.0 n dev=0@4
";

#[test]
fn a_small_slice_goes_where_it_leaves_a_large_one_its_place() {
    let lines = format!("{HALF}job large cores=1 gpu=1 profile=3g");
    let expected = "
        start small/0.0 n alt=0 mig cores=1 dev=0:0.142:5Gi@5
        start large/0.0 n alt=0 mig cores=1 dev=0:0.428:20Gi@0
    ";
    check(&spread(), &fleet(&lines), expected);
}

#[test]
fn the_lowest_free_slot_would_strand_the_large_slice() {
    // The same slices with the small one at the lowest free slot: five sevenths of the device and
    // 30 GiB are free, and the large slice has no place.
    let lines = format!("{HALF}job large cores=1 gpu=1 profile=3g\nrun small/0.0 n dev=0@0");
    check(&spread(), &fleet(&lines), "wait large x1 alt0: 1 free-slots");
    // What Motley chose in its place leaves it one.
    let lines = format!("{HALF}job large cores=1 gpu=1 profile=3g\nrun small/0.0 n dev=0@5");
    check(&spread(), &fleet(&lines), "start large/0.0 n alt=0 mig cores=1 dev=0:0.428:20Gi@0");
}

#[test]
fn a_slice_that_could_begin_elsewhere_would_fit() {
    // Only the places of its profile differ from those of the 3g above.
    let classes = CLASSES.replace("20Gi:4:0+4,", "20Gi:4:0+1+4,");
    let lines = format!("{HALF}job large cores=1 gpu=1 profile=3g\nrun small/0.0 n dev=0@0");
    check(&spread(), &format!("{classes}{lines}"), "wait large x1 alt0: 1 free-slots");
    let lines = lines.replace("dev=0@4", "dev=0@5");
    let expected = "start large/0.0 n alt=0 mig cores=1 dev=0:0.428:20Gi@1";
    check(&spread(), &format!("{classes}{lines}"), expected);
    check(&spread(), &fleet(&lines), "wait large x1 alt0: 1 free-slots");
}

#[test]
fn a_slice_goes_to_the_device_with_the_least_left_that_has_a_place() {
    let lines = "
        node n cores=8 mem=8Gi dev=mig*3
        job held cores=1 gpu=1 profile=2g tasks=2
        job low cores=1 gpu=1 profile=1g
        job large cores=1 gpu=1 profile=3g
        run held/0.0 n dev=1@0
        run held/1.0 n dev=1@4
        run low/0.0 n dev=2@0
    ";
    // Of device 1 as much is free, at no place; device 0 is left whole.
    let expected = "start large/0.0 n alt=0 mig cores=1 dev=2:0.428:20Gi@4";
    check(&spread(), &fleet(lines), expected);
}

#[test]
fn nodes_of_which_the_same_is_free_differ_by_their_slots() {
    let lines = "
        node a cores=8 mem=8Gi dev=mig
        node b cores=8 mem=8Gi dev=mig
        job held cores=1 gpu=1 profile=1g tasks=4
        job large cores=1 gpu=1 profile=3g
        run held/0.0 a dev=0@0
        run held/1.0 a dev=0@4
        run held/2.0 b dev=0@5
        run held/3.0 b dev=0@4
    ";
    let expected = "start large/0.0 b alt=0 mig cores=1 dev=0:0.428:20Gi@0";
    check(&spread(), &fleet(lines), expected);
}

#[test]
fn a_whole_device_is_one_of_which_nothing_is_cut() {
    let lines = "
        node n cores=8 mem=8Gi dev=mig*2
        job held cores=1 gpu=1 profile=1g
        job whole cores=1 gpu=1
        job again cores=1 gpu=1 model=mig
        run held/0.0 n dev=0@6
    ";
    let expected = "
        start whole/0.0 n alt=0 mig cores=1 dev=1
        wait again x1 alt0: 1 free-devices 1/0
    ";
    check(&spread(), &fleet(lines), expected);
}

#[test]
fn only_devices_that_are_cut_into_slices_have_any_and_no_other_shares() {
    let lines = "
        node n cores=8 mem=8Gi dev=plain
        node m cores=8 mem=8Gi dev=mig
        job slice cores=1 gpu=1 profile=2g model=plain
        job share cores=1 gpu=1 share=0.3 model=mig
    ";
    let expected = "
        wait slice x1 alt0: 1 model, 1 sharing
        wait share x1 alt0: 1 model, 1 sharing
    ";
    check(&spread(), &fleet(lines), expected);
}

#[test]
fn a_device_without_the_profile_says_so() {
    let lines = "
        class other gpu mem=40Gi share=slices profiles=half:0.5:20Gi:1:0+1
        node n cores=8 mem=8Gi dev=other
        job slice cores=1 gpu=1 profile=2g
    ";
    check(&spread(), &fleet(lines), "wait slice x1 alt0: 1 profile");
}

#[test]
fn a_slice_takes_as_much_as_its_profile_says() {
    let lines = "
        node n cores=8 mem=8Gi dev=mig
        job held cores=1 gpu=1 profile=4g
        job large cores=1 gpu=1 profile=4g
        job half cores=1 gpu=1 profile=3g
        job small cores=1 gpu=1 profile=1g
        run held/0.0 n dev=0@0
    ";
    let expected = "
        start half/0.0 n alt=0 mig cores=1 dev=0:0.428:20Gi@4
        wait large x1 alt0: 1 free-share 0.571/0.001
        wait small x1 alt0: 1 free-share 0.142/0.001
    ";
    check(&spread(), &fleet(lines), expected);
}

#[test]
fn fragmentation_knows_that_a_place_is_lost() {
    // What arrives are large slices. On either node as much would be left; on the first the small
    // slice takes the last place of a large one.
    let lines = "
        node a cores=8 mem=8Gi dev=mig
        node b cores=8 mem=8Gi dev=mig
        mix 9 cores=1 gpu=1 profile=3g
        job held cores=1 gpu=1 profile=1g tasks=6
        job small cores=1 gpu=1 profile=2g
        run held/0.0 a dev=0@4
        run held/1.0 a dev=0@5
        run held/2.0 a dev=0@6
        run held/3.0 b dev=0@0
        run held/4.0 b dev=0@1
        run held/5.0 b dev=0@6
    ";
    let expected = "start small/0.0 b alt=0 mig cores=1 dev=0:0.285:10Gi@2";
    check(&by(Objective::Fragmentation), &fleet(lines), expected);
}

#[test]
fn a_gang_of_slices_starts_where_all_have_places() {
    let lines = "
        node n cores=8 mem=8Gi dev=mig*2
        job low cores=1 gpu=1 profile=1g
        job pair tasks=4 gang cores=1 gpu=1 profile=3g
        job three tasks=3 gang cores=1 gpu=1 profile=3g
        run low/0.0 n dev=0@1
    ";
    let expected = "
        start three/0.0 n alt=0 mig cores=1 dev=0:0.428:20Gi@4
        start three/1.0 n alt=0 mig cores=1 dev=1:0.428:20Gi@4
        start three/2.0 n alt=0 mig cores=1 dev=1:0.428:20Gi@0
        wait pair x4 alt0: 1 free-device-memory 20Gi/15Gi
    ";
    check(&spread(), &fleet(lines), expected);
}

#[test]
fn the_words_of_slices_are_those_of_the_classes_above() {
    let refused = |lines: &str| {
        let error = sketch::snapshot(&fleet(lines)).unwrap_err();
        std::error::Error::source(&error).expect("a fault").to_string()
    };
    let none = "no profile of this name above";
    assert_eq!(refused("job a cores=1 gpu=1 profile=9g"), none);
    assert_eq!(refused("job a cores=1 gpu=2 profile=1g"), "a share is of one device");
    let place = "not the place of a slice; write it like dev=0@4";
    assert_eq!(refused(&format!("{HALF}run small/0.0 n dev=0")), place);
    let profiles = "class x gpu share=slices profiles=a:0.5:1Gi:4:13";
    assert!(refused(profiles).starts_with("not within 16 slots"));
}
