//! Which devices of a node a task gets.

use fleet::policy::Objective;

use crate::check;
use crate::rules::{by, spread};

const CLASSES: &str = "
    class epyc cpu
    class t4 gpu mem=16Gi share=milli
    class a100 gpu mem=40Gi share=milli
    class h100 gpu mem=80Gi
";

fn fleet(lines: &str) -> String {
    format!("{CLASSES}{lines}")
}

#[test]
fn a_share_goes_to_the_device_with_the_least_that_suffices() {
    let lines = "
        node n cores=8 mem=8Gi dev=a100*3
        job half cores=1 gpu=1 share=0.5
        job third cores=1 gpu=1 share=0.3
        job new cores=1 gpu=1 share=0.5
        run half/0.0 n dev=2
        run third/0.0 n dev=1
    ";
    check(&spread(), &fleet(lines), "start new/0.0 n alt=0 a100 cores=1 dev=2:0.5");
}

#[test]
fn whole_devices_are_taken_in_order_and_only_where_nothing_of_them_is_held() {
    let lines = "
        node n cores=8 mem=8Gi dev=a100*4
        job part cores=1 gpu=1 share=0.1
        job new cores=1 gpu=2
        run part/0.0 n dev=1
    ";
    check(&spread(), &fleet(lines), "start new/0.0 n alt=0 a100 cores=1 dev=0,2");
}

#[test]
fn an_exclusive_device_is_only_given_whole() {
    let lines = "
        node n cores=8 mem=8Gi dev=h100
        job share cores=1 gpu=1 share=0.5
        job whole cores=1 gpu=1
    ";
    check(
        &spread(),
        &fleet(lines),
        "
        start whole/0.0 n alt=0 h100 cores=1 dev=0
        wait share x1 alt0: 1 sharing
    ",
    );
}

#[test]
fn shares_of_a_device_end_where_its_memory_ends() {
    let lines = "
        node n cores=8 mem=8Gi dev=a100
        job new tasks=3 cores=1 gpu=1 share=0.2 devmem=15Gi
    ";
    check(
        &spread(),
        &fleet(lines),
        "
        start new/0.0 n alt=0 a100 cores=1 dev=0:0.2:15Gi
        start new/1.0 n alt=0 a100 cores=1 dev=0:0.2:15Gi
        wait new x1 alt0: 1 free-device-memory 15Gi/10Gi
    ",
    );
}

#[test]
fn shares_of_a_device_end_where_it_is_full() {
    let lines = "
        node n cores=8 mem=8Gi dev=a100
        job new tasks=3 cores=1 gpu=1 share=0.4
    ";
    check(
        &spread(),
        &fleet(lines),
        "
        start new/0.0 n alt=0 a100 cores=1 dev=0:0.4
        start new/1.0 n alt=0 a100 cores=1 dev=0:0.4
        wait new x1 alt0: 1 free-share 0.4/0.2
    ",
    );
}

#[test]
fn devices_of_one_task_are_of_one_class() {
    let lines = "
        node n cores=8 mem=8Gi dev=t4,a100
        job new cores=1 gpu=2
    ";
    check(&spread(), &fleet(lines), "wait new x1 alt0: 1 devices 2/1");
}

#[test]
fn each_class_of_a_mixed_node_is_a_choice_of_its_own() {
    let lines = "
        node n cores=8 mem=8Gi dev=t4,a100*2
        job new work=40 tasks=3 cores=1 gpu=1 rate.t4=1 rate.a100=4
    ";
    check(
        &by(Objective::Completion),
        &fleet(lines),
        "
        start new/0.0 n alt=0 a100 cores=1 dev=1 for=10s
        start new/1.0 n alt=0 a100 cores=1 dev=2 for=10s
        start new/2.0 n alt=0 t4 cores=1 dev=0 for=40s
    ",
    );
}
