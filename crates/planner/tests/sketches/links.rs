//! Devices that talk to each other.

use crate::check;
use crate::rules::by;
use fleet::policy::Objective;

/// Eight V100 in a hybrid mesh with single and double NVLinks, and eight behind PCIe alone.
const NODES: &str = "
    class xeon cpu
    class v100 gpu
    node plain cores=40 mem=512Gi dev=v100*8 host=12GB/s
    node mesh cores=40 mem=512Gi dev=v100*8 host=12GB/s \
        links=0-1:25GB/s,0-2:25GB/s,0-3:50GB/s,0-4:50GB/s,1-2:50GB/s,1-3:25GB/s,1-5:50GB/s,\
2-3:50GB/s,2-6:25GB/s,3-7:25GB/s,4-5:25GB/s,4-6:25GB/s,4-7:50GB/s,5-6:50GB/s,5-7:25GB/s,\
6-7:50GB/s
";

#[test]
fn ring_of_four_takes_the_quad_of_a_hybrid_mesh_and_expects_its_step() {
    // Ten units of work a second, and 200 MB for each: 300 MB over 25 GB/s are 12 ms a unit, so
    // that 100 s of work take 112 s. Through the host they would take 200 s.
    check(
        &by(Objective::Completion),
        &format!("{NODES}job train work=1000 cores=4 gpu=4 rate.v100=10 talk=ring*200MB"),
        "start train/0.0 mesh alt=0 v100 cores=4 dev=0,1,2,3 for=1m52s",
    );
}

#[test]
fn job_that_talks_to_nobody_takes_the_first_node() {
    check(
        &by(Objective::Completion),
        &format!("{NODES}job train work=1000 cores=4 gpu=4 rate.v100=10"),
        "start train/0.0 plain alt=0 v100 cores=4 dev=0,1,2,3 for=1m40s",
    );
}

#[test]
fn step_through_the_host_is_expected_where_there_is_nothing_better() {
    // Four hops of 300 MB share 12 GB/s: 100 ms a unit.
    check(
        &by(Objective::Completion),
        "class xeon cpu
         class v100 gpu
         node plain cores=40 mem=512Gi dev=v100*8 host=12GB/s
         job train work=1000 cores=4 gpu=4 rate.v100=10 talk=ring*200MB",
        "start train/0.0 plain alt=0 v100 cores=4 dev=0,1,2,3 for=3m20s",
    );
}

#[test]
fn pairs_leave_a_ring_of_four_whole() {
    check(
        &by(Objective::Completion),
        &format!(
            "{NODES}job pair tasks=2 work=1000 cores=1 gpu=2 rate.v100=10 talk=ring*200MB
             job ring work=1000 cores=4 gpu=4 rate.v100=10 talk=ring*200MB"
        ),
        "start pair/0.0 mesh alt=0 v100 cores=1 dev=0,3 for=1m44s
         start pair/1.0 mesh alt=0 v100 cores=1 dev=1,2 for=1m44s
         start ring/0.0 mesh alt=0 v100 cores=4 dev=4,5,6,7 for=1m52s",
    );
}
