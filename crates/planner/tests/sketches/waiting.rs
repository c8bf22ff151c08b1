//! Why a job waits: one test for every constraint.

use crate::check;
use crate::rules::spread;

const FLEET: &str = "
    class epyc cpu
    class arm cpu
    class t4 gpu mem=16Gi units=2560 cap=sm_75 share=milli
    class h100 gpu mem=80Gi units=16896 cap=sm_75,sm_90
    node plain cores=8 mem=16Gi
    node small cores=4 mem=8Gi dev=t4*2 label.zone=a
    node large cores=16 mem=64Gi dev=h100*4 label.zone=b
";

#[track_caller]
fn waits(lines: &str, expected: &str) {
    check(&spread(), &format!("{FLEET}{lines}"), expected);
}

#[test]
fn up() {
    let fleet = FLEET.replace("label.zone=b", "label.zone=b down");
    check(&spread(), &format!("{fleet}job a cores=12"), "wait a x1 alt0: 1 up, 2 cores 12/8");
}

#[test]
fn labels() {
    waits("job a cores=1 label.zone=c", "wait a x1 alt0: 3 labels");
}

#[test]
fn kind() {
    waits("job a tpu=1", "wait a x1 alt0: 3 kind tpu");
}

#[test]
fn model() {
    waits("class v100 gpu\njob a gpu=1 model=v100", "wait a x1 alt0: 1 kind gpu, 2 model");
}

#[test]
fn device_memory() {
    waits("job a gpu=1 devmem=96Gi", "wait a x1 alt0: 1 kind gpu, 2 device-memory 96Gi/80Gi");
}

#[test]
fn compute_units() {
    waits("job a gpu=1 units=20000", "wait a x1 alt0: 1 kind gpu, 2 compute-units 20000/16896");
}

#[test]
fn capability() {
    waits("job a gpu=1 cap=sm_100", "wait a x1 alt0: 1 kind gpu, 2 capability");
}

#[test]
fn sharing() {
    waits("job a gpu=1 share=0.5 model=h100", "wait a x1 alt0: 1 kind gpu, 1 model, 1 sharing");
}

#[test]
fn rate() {
    waits("job a cores=1 rate.arm=1", "wait a x1 alt0: 3 rate");
    waits("job a gpu=1 rate.t4=0 rate.arm=2", "wait a x1 alt0: 1 kind gpu, 2 rate");
}

#[test]
fn cores() {
    waits("job a cores=32", "wait a x1 alt0: 3 cores 32/16");
}

#[test]
fn memory() {
    waits("job a cores=1 mem=128Gi", "wait a x1 alt0: 3 memory 128Gi/64Gi");
}

#[test]
fn devices() {
    waits("job a gpu=8", "wait a x1 alt0: 1 kind gpu, 2 devices 8/4");
}

#[test]
fn free_cores() {
    waits(
        "job before cores=10\nrun before/0.0 large\njob a cores=12",
        "wait a x1 alt0: 2 cores 12/8, 1 free-cores 12/6",
    );
}

#[test]
fn free_memory() {
    waits(
        "job before cores=1 mem=60Gi\nrun before/0.0 large\njob a cores=1 mem=20Gi",
        "wait a x1 alt0: 2 memory 20Gi/16Gi, 1 free-memory 20Gi/4Gi",
    );
}

#[test]
fn free_devices() {
    waits(
        "job before gpu=2\nrun before/0.0 large dev=1,3\njob a gpu=3",
        "wait a x1 alt0: 1 kind gpu, 1 devices 3/2, 1 free-devices 3/2",
    );
}

#[test]
fn free_share() {
    let lines = "
        job before tasks=2 gpu=1 share=0.6
        run before/0.0 small dev=0
        run before/1.0 small dev=1
        job a gpu=1 share=0.5 model=t4
    ";
    waits(lines, "wait a x1 alt0: 1 kind gpu, 1 model, 1 free-share 0.5/0.4");
}

#[test]
fn free_device_memory() {
    let lines = "
        job before tasks=2 gpu=1 share=0.1 devmem=10Gi
        run before/0.0 small dev=0
        run before/1.0 small dev=1
        job a gpu=1 share=0.5 devmem=8Gi model=t4
    ";
    waits(lines, "wait a x1 alt0: 1 kind gpu, 1 model, 1 free-device-memory 8Gi/6Gi");
}

#[test]
fn each_alternative_is_tallied() {
    waits("job a tpu=1\n or cores=32", "wait a x1 alt0: 3 kind tpu; alt1: 3 cores 32/16");
}

#[test]
fn reasons_hold_for_the_fleet_after_the_plan() {
    waits(
        "job a cores=12\njob b cores=12",
        "
        start a/0.0 large alt=0 epyc cores=12
        wait b x1 alt0: 2 cores 12/8, 1 free-cores 12/4
    ",
    );
}
