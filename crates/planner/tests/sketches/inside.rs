//! Inside nodes: memory domains, and what is done for tasks to which they matter.

use fleet::policy::Objective;

use crate::check;
use crate::rules::{by, spread};

const CLASSES: &str = "
    class epyc cpu
    class a100 gpu mem=40Gi share=milli
";

fn fleet(lines: &str) -> String {
    format!("{CLASSES}{lines}")
}

/// Two sockets with a GPU each.
const TWO: &str = "
    node n cores=8 mem=32Gi dev=a100*2
      domain cores=4 mem=16Gi dev=0 bw=40GB/s
      domain cores=4 mem=16Gi dev=1 bw=40GB/s
      distances 10,21 21,10
";

#[test]
fn a_task_that_must_be_in_one_domain_waits_though_the_node_has_enough_free() {
    let lines = |numa: &str| {
        format!(
            "{TWO}
            job one cores=3 mem=1Gi
            job other cores=2 mem=1Gi
            job new cores=3 mem=1Gi {numa}
            run one/0.0 n in=0
            run other/0.0 n in=1"
        )
    };
    let spilt = "start new/0.0 n alt=0 epyc cores=3 mem=1Gi in=0:1:0,1:2:1Gi";
    check(&spread(), &fleet(&lines("")), spilt);
    check(&spread(), &fleet(&lines("numa=single")), "wait new x1 alt0: 1 free-domain");
}

#[test]
fn a_task_larger_than_every_domain_can_never_be_in_one() {
    let lines = format!("{TWO} job new cores=5 mem=1Gi numa=single");
    check(&spread(), &fleet(&lines), "wait new x1 alt0: 1 domain");
    let lines = format!("{TWO} job new cores=1 gpu=2 numa=single");
    check(&spread(), &fleet(&lines), "wait new x1 alt0: 1 domain");
}

#[test]
fn a_node_without_domains_is_one() {
    let lines = "node n cores=8 mem=32Gi\n job new cores=5 mem=1Gi numa=single";
    check(&spread(), &fleet(lines), "start new/0.0 n alt=0 epyc cores=5 mem=1Gi");
}

#[test]
fn devices_cores_and_memory_are_of_one_domain_where_they_must_be() {
    let lines = |numa: &str| {
        format!(
            "{TWO}
            job held cores=3 mem=1Gi
            job new cores=2 mem=1Gi gpu=1 {numa}
            run held/0.0 n in=0"
        )
    };
    let spilt = "start new/0.0 n alt=0 a100 cores=2 mem=1Gi dev=0 in=0:1:1Gi,1:1:0";
    check(&spread(), &fleet(&lines("")), spilt);
    let near = "start new/0.0 n alt=0 a100 cores=2 mem=1Gi dev=1 in=1";
    check(&spread(), &fleet(&lines("numa=single")), near);
    check(&by(Objective::Fragmentation), &fleet(&lines("numa=single")), near);
}

#[test]
fn a_share_goes_to_the_tightest_device_of_a_domain_that_has_the_rest() {
    let lines = format!(
        "{TWO}
        job held cores=1 gpu=1 share=0.5
        job full cores=3
        job new cores=1 gpu=1 share=0.3 numa=single
        run held/0.0 n dev=1
        run full/0.0 n in=0"
    );
    check(&spread(), &fleet(&lines), "start new/0.0 n alt=0 a100 cores=1 dev=1:0.3 in=1");
    let lines = lines.replace("run full/0.0 n in=0", "run full/0.0 n in=1");
    check(&spread(), &fleet(&lines), "start new/0.0 n alt=0 a100 cores=1 dev=0:0.3 in=0");
}

/// Node `split` has the cores free in one domain and the memory in the other; `whole` has both in
/// one, and slower cores.
fn bound(traffic: &str) -> String {
    format!(
        "class epyc cpu
        class old cpu
        node split cpu=epyc cores=8 mem=32Gi
          domain cores=4 mem=16Gi bw=40GB/s
          domain cores=4 mem=16Gi bw=40GB/s
          distances 10,21 21,10
        node whole cpu=old cores=4 mem=16Gi
          domain cores=4 mem=16Gi bw=40GB/s
        job memory cores=1 mem=15Gi
        job cores cores=4
        run memory/0.0 split in=0
        run cores/0.0 split in=1
        job new work=100 cores=2 mem=8Gi {traffic} rate.epyc=1 rate.old=0.8"
    )
}

#[test]
fn a_task_bound_by_memory_goes_where_its_memory_is_near() {
    // 30 of 40 GB/s: three quarters of its time it moves data, and seven eighths of that is far.
    let near = "start new/0.0 whole alt=0 old cores=2 mem=8Gi in=0 for=2m5s";
    check(&by(Objective::Completion), &bound("membw=30GB/s"), near);
    let fast = "start new/0.0 split alt=0 epyc cores=2 mem=8Gi in=0:2:1Gi,1:0:7Gi for=1m40s";
    check(&by(Objective::Completion), &bound(""), fast);
}

#[test]
fn the_time_that_remote_memory_costs_is_in_the_plan_whatever_the_policy() {
    // 1 + 30/40 × 7/8 × 1.1 = 1.721875
    let longer = "start new/0.0 split alt=0 epyc cores=2 mem=8Gi in=0:2:1Gi,1:0:7Gi for=2m52s";
    let alone = bound("membw=30GB/s").replace("rate.old=0.8", "");
    check(&by(Objective::Completion), &alone, longer);
    check(&spread(), &alone, longer);
    let closer = alone.replace("10,21 21,10", "10,12 12,10");
    let less = "start new/0.0 split alt=0 epyc cores=2 mem=8Gi in=0:2:1Gi,1:0:7Gi for=1m53s";
    check(&by(Objective::Completion), &closer, less);
    let wider = alone.replace("bw=40GB/s", "bw=120GB/s");
    let less = "start new/0.0 split alt=0 epyc cores=2 mem=8Gi in=0:2:1Gi,1:0:7Gi for=2m4s";
    check(&by(Objective::Completion), &wider, less);
}

#[test]
fn devices_that_talk_in_one_domain_are_the_best_linked_of_it() {
    let lines = "
    node n cores=8 mem=32Gi dev=a100*4 host=10GB/s links=0-2:50GB/s,1-3:100GB/s
      domain cores=4 mem=16Gi dev=0,1,2
      domain cores=4 mem=16Gi dev=3
    job new cores=1 mem=1Gi gpu=2 work=100 talk=pipeline*1GB";
    let anywhere = "start new/0.0 n alt=0 a100 cores=1 mem=1Gi dev=1,3 in=0 for=1m41s";
    check(&by(Objective::Completion), &fleet(lines), anywhere);
    let single = "start new/0.0 n alt=0 a100 cores=1 mem=1Gi dev=0,2 in=0 for=1m42s";
    check(&by(Objective::Completion), &fleet(&format!("{lines} numa=single")), single);
}

#[test]
fn far_memory_and_slow_links_add_up() {
    let lines = |links: &str| {
        format!(
            "
    node n cores=4 mem=32Gi dev=a100*2 {links}
      domain cores=4 mem=1Gi dev=0,1 bw=40GB/s
      domain mem=31Gi
      distances 10,21 21,10
    job new cores=4 mem=8Gi gpu=2 work=1600 membw=30GB/s talk=pipeline*1GB"
        )
    };
    // 0.721875 for the memory, and 0.02 for what the devices send each other.
    let start = "start new/0.0 n alt=0 a100 cores=4 mem=8Gi dev=0,1 in=0:4:1Gi,1:0:7Gi";
    let both = format!("{start} for=46m27s");
    check(&by(Objective::Completion), &fleet(&lines("host=10GB/s links=0-1:50GB/s")), &both);
    let memory = format!("{start} for=45m55s");
    check(&by(Objective::Completion), &fleet(&lines("")), &memory);
}
