//! Channels inside nodes: memory bandwidth, PCIe and NICs are not held beyond what passes.

use fleet::policy::Objective;
use fleet::{Milli, Policy};

use crate::check;
use crate::rules::{by, spread};

/// Four GPUs, two below each of two switches that pass 16 GB/s, with two sockets and two NICs.
const NODE: &str = "
    class epyc cpu
    class a100 gpu mem=40Gi share=milli
    node n cores=16 mem=64Gi dev=a100*4
      domain cores=8 mem=32Gi dev=0,1 bw=100GB/s
      domain cores=8 mem=32Gi dev=2,3 bw=100GB/s
      pcie dev=0,1 bw=16GB/s
      pcie dev=2,3 bw=16GB/s
      nic bw=10GB/s in=0
      nic bw=20GB/s in=1
";

fn fleet(lines: &str) -> String {
    format!("{NODE}{lines}")
}

fn beyond(part: u32) -> Policy {
    Policy { oversubscribe: Milli(part), ..spread() }
}

#[test]
fn jobs_that_stage_go_below_different_switches_and_wait_where_both_are_full() {
    let lines = "
        job first cores=1 gpu=1 pciebw=12GB/s
        job second cores=1 gpu=1 pciebw=12GB/s
        job third cores=1 gpu=1 pciebw=12GB/s
    ";
    let expected = "
        start first/0.0 n alt=0 a100 cores=1 dev=0 in=0 over=0:12GB/s
        start second/0.0 n alt=0 a100 cores=1 dev=2 in=1 over=1:12GB/s
        wait third x1 alt0: 1 free-pcie-bandwidth 1/0
    ";
    check(&spread(), &fleet(lines), expected);
    // Half as much again may be held of each switch.
    let expected = "
        start first/0.0 n alt=0 a100 cores=1 dev=0 in=0 over=0:12GB/s
        start second/0.0 n alt=0 a100 cores=1 dev=1 in=0 over=0:12GB/s
        start third/0.0 n alt=0 a100 cores=1 dev=2 in=1 over=1:12GB/s
    ";
    check(&beyond(1500), &fleet(lines), expected);
}

#[test]
fn what_is_not_stated_is_not_limited() {
    let lines = "
        job first cores=1 gpu=1 pciebw=16GB/s
        job second cores=1 gpu=1
        run first/0.0 n dev=0
    ";
    check(&spread(), &fleet(lines), "start second/0.0 n alt=0 a100 cores=1 dev=1 in=0");
}

#[test]
fn devices_of_one_task_share_the_switch_and_could_never_pass_it() {
    let lines = |count| format!("job new cores=1 gpu={count} pciebw=9GB/s");
    let spread_out = "start new/0.0 n alt=0 a100 cores=1 dev=0,2 in=0 over=0:9GB/s,1:9GB/s";
    check(&spread(), &fleet(&lines(2)), spread_out);
    check(&spread(), &fleet(&lines(3)), "wait new x1 alt0: 1 pcie-bandwidth 3/2");
    let single = "job new cores=1 gpu=2 pciebw=9GB/s numa=single";
    check(&spread(), &fleet(single), "wait new x1 alt0: 1 pcie-bandwidth 2/1");
}

#[test]
fn a_switch_above_others_is_shared_by_all_below() {
    let node = "
        class epyc cpu
        class a100 gpu
        node n cores=16 mem=64Gi dev=a100*4
          pcie bw=16GB/s
          pcie dev=0,1 above=0 bw=16GB/s
          pcie dev=2,3 above=0 bw=16GB/s
        job new tasks=3 cores=1 gpu=1 pciebw=8GB/s
    ";
    let expected = "
        start new/0.0 n alt=0 a100 cores=1 dev=0 over=0:8GB/s,1:8GB/s
        start new/1.0 n alt=0 a100 cores=1 dev=1 over=0:8GB/s,1:8GB/s
        wait new x1 alt0: 1 free-pcie-bandwidth 1/0
    ";
    check(&spread(), node, expected);
}

#[test]
fn memory_goes_where_it_can_still_be_moved_and_the_rest_waits() {
    let lines = "
        job held cores=1 mem=1Gi membw=80GB/s
        job new cores=1 mem=1Gi membw=60GB/s
        job next cores=1 mem=1Gi membw=70GB/s numa=single
        run held/0.0 n in=0
    ";
    let expected = "
        start new/0.0 n alt=0 epyc cores=1 mem=1Gi in=1
        wait next x1 alt0: 1 free-memory-bandwidth 70GB/s/40GB/s
    ";
    check(&spread(), &fleet(lines), expected);
}

#[test]
fn memory_that_one_domain_cannot_move_is_split_and_in_one_it_never_fits() {
    let lines = |numa: &str| format!("job new cores=1 mem=10Gi membw=150GB/s {numa}");
    let text = "start new/0.0 n alt=0 epyc cores=1 mem=10Gi in=0:1:6.7Gi,1:0:3.3Gi";
    check(&spread(), &fleet(&lines("")), text);
    let never = "wait new x1 alt0: 1 memory-bandwidth 150GB/s/100GB/s";
    check(&spread(), &fleet(&lines("numa=single")), never);
    let split = "start new/0.0 n alt=0 epyc cores=1 mem=10Gi in=0";
    check(&beyond(1500), &fleet(&lines("numa=single")), split);
}

#[test]
fn a_nic_is_taken_near_the_cores_and_another_where_it_is_full() {
    let lines = "
        job near cores=1 mem=1Gi gpu=1 netbw=8GB/s
        job next cores=1 mem=1Gi gpu=1 netbw=8GB/s
        job third cores=1 mem=1Gi gpu=1 netbw=15GB/s
        job huge cores=1 netbw=25GB/s
    ";
    let expected = "
        start near/0.0 n alt=0 a100 cores=1 mem=1Gi dev=0 in=0 over=2:8GB/s
        start next/0.0 n alt=0 a100 cores=1 mem=1Gi dev=1 in=0 over=3:8GB/s
        wait third x1 alt0: 1 free-network-bandwidth 15GB/s/12GB/s
        wait huge x1 alt0: 1 network-bandwidth 25GB/s/20GB/s
    ";
    check(&by(Objective::Completion), &fleet(lines), expected);
}
