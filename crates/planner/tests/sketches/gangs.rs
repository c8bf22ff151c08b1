//! Gangs: together or not at all, and near each other.

use fleet::policy::{Objective, OrderKey};

use crate::rules::by;
use crate::{check, check_choices};

/// Two racks of two nodes, with up-links of half of what their nodes could send.
const RACKS: &str = "
    class xeon cpu
    class v100 gpu
    node a cores=8 mem=64Gi dev=v100*2 nic=10GB/s switch=rack-1:10GB/s
    node b cores=8 mem=64Gi dev=v100*4 nic=10GB/s switch=rack-2:10GB/s
    node c cores=8 mem=64Gi dev=v100*4 nic=10GB/s switch=rack-2:10GB/s
    node d cores=8 mem=64Gi dev=v100*2 nic=10GB/s switch=rack-1:10GB/s
";

fn with(jobs: &str) -> String {
    format!("{RACKS}{jobs}")
}

#[test]
fn gang_starts_on_one_node_where_one_has_room() {
    check(
        &by(Objective::Completion),
        &with("job mpi tasks=4 gang work=100 cores=1 gpu=1"),
        "start mpi/0.0 b alt=0 v100 cores=1 dev=0 for=1m40s
         start mpi/1.0 b alt=0 v100 cores=1 dev=1 for=1m40s
         start mpi/2.0 b alt=0 v100 cores=1 dev=2 for=1m40s
         start mpi/3.0 b alt=0 v100 cores=1 dev=3 for=1m40s",
    );
}

#[test]
fn gang_stays_in_the_rack_with_the_least_room_that_suffices() {
    check(
        &by(Objective::Completion),
        &with("job mpi tasks=2 gang pernode=1 work=100 cores=1 gpu=1"),
        "start mpi/0.0 a alt=0 v100 cores=1 dev=0 for=1m40s
         start mpi/1.0 d alt=0 v100 cores=1 dev=0 for=1m40s",
    );
}

#[test]
fn gang_across_racks_expects_what_the_up_links_take() {
    // A ring of three with 1 GB each: 1.33 GB leave a rack, and its up-link passes 10 GB/s, so
    // that every unit of work takes 133 ms longer.
    let jobs = "job hold tasks=6 cores=1 gpu=1
                run hold/0.0 b dev=0
                run hold/1.0 b dev=1
                run hold/2.0 b dev=2
                run hold/3.0 c dev=0
                run hold/4.0 c dev=1
                run hold/5.0 c dev=2
                job mpi tasks=3 gang work=100 cores=1 gpu=2 talk=ring*1GB";
    check(&by(Objective::Completion), &with(jobs), "wait mpi x3 gang 2 of 3");
    let fewer = jobs.replace("run hold/5.0 c dev=2", "").replace("tasks=6", "tasks=5");
    check(
        &by(Objective::Completion),
        &with(&fewer),
        "start mpi/0.0 a alt=0 v100 cores=1 dev=0,1 for=1m53s
         start mpi/1.0 d alt=0 v100 cores=1 dev=0,1 for=1m53s
         start mpi/2.0 c alt=0 v100 cores=1 dev=2,3 for=1m53s",
    );
}

#[test]
fn gang_that_wants_one_switch_waits_rather_than_spread() {
    check(
        &by(Objective::Completion),
        &with("job mpi tasks=5 gang under=1 work=100 cores=4 gpu=1"),
        "wait mpi x5 gang 4 of 5",
    );
}

#[test]
fn nodes_that_differ_by_their_switch_alone_are_told_apart() {
    // Together 50 s of work on fast devices in two racks, or 100 s on slow ones in one.
    let fleet = "class xeon cpu
         class old gpu
         class new gpu
         node a cores=8 mem=8Gi dev=new nic=20GB/s switch=left:2GB/s
         node b cores=8 mem=8Gi dev=new nic=20GB/s switch=right:2GB/s
         node c cores=8 mem=8Gi dev=old nic=20GB/s switch=left:2GB/s x2";
    let job = "job train tasks=2 gang work=100 cores=1 gpu=1 rate.new=2 rate.old=1 talk=ring*3GB";
    check(
        &by(Objective::Completion),
        &format!("{fleet}\n{job}"),
        "start train/0.0 c-0 alt=0 old cores=1 dev=0 for=1m55s
         start train/1.0 c-1 alt=0 old cores=1 dev=0 for=1m55s",
    );
    let near = "job train tasks=2 gang under=1 work=100 cores=1 gpu=1 rate.new=2";
    check(&by(Objective::Completion), &format!("{fleet}\n{near}"), "wait train x2 gang 1 of 2");
}

#[test]
fn gang_that_finds_room_nowhere_says_what_is_missing() {
    check(
        &by(Objective::Completion),
        &with("job mpi tasks=2 gang work=100 cores=9"),
        "wait mpi x2 alt0: 4 cores 9/8",
    );
}

#[test]
fn job_behind_a_gang_that_waits_takes_what_the_gang_cannot() {
    check(
        &by(Objective::Completion),
        &with(
            "job mpi tasks=3 gang pernode=1 work=100 cores=8 gpu=3
             job solo work=100 cores=8 gpu=3",
        ),
        "start solo/0.0 b alt=0 v100 cores=8 dev=0,1,2 for=1m40s
         wait mpi x3 gang 1 of 3",
    );
}

#[test]
fn servers_of_parameters_are_held_up_by_what_all_send_to_one() {
    // Three workers send 1 GB each to the server on another node and get it back: 3 GB through its
    // interface of 10 GB/s are 300 ms a unit of work.
    check(
        &by(Objective::Completion),
        "class xeon cpu
         node n cores=1 mem=8Gi nic=10GB/s x4
         job train tasks=4 gang work=100 cores=1 talk=parameter-server*1GB",
        "start train/0.0 n-0 alt=0 xeon cores=1 for=2m10s
         start train/1.0 n-1 alt=0 xeon cores=1 for=2m10s
         start train/2.0 n-2 alt=0 xeon cores=1 for=2m10s
         start train/3.0 n-3 alt=0 xeon cores=1 for=2m10s",
    );
}

#[test]
fn gang_takes_the_way_that_ends_first() {
    // Apart on fast devices, the network takes more than the slower devices of one node do.
    let fleet = "class xeon cpu
         class old gpu
         class new gpu
         node fast cores=8 mem=8Gi dev=new nic=1GB/s x2
         node slow cores=8 mem=8Gi dev=old*2 nic=1GB/s";
    let job = "job train tasks=2 gang work=100 cores=1 gpu=1 rate.new=2 rate.old=1";
    check(
        &by(Objective::Completion),
        &format!("{fleet}\n{job} talk=ring*1GB"),
        "start train/0.0 slow alt=0 old cores=1 dev=0 for=1m40s
         start train/1.0 slow alt=0 old cores=1 dev=1 for=1m40s",
    );
    check(
        &by(Objective::Completion),
        &format!("{fleet}\n{job}"),
        "start train/0.0 fast-0 alt=0 new cores=1 dev=0 for=50s
         start train/1.0 fast-1 alt=0 new cores=1 dev=0 for=50s",
    );
}

#[test]
fn gang_of_which_a_part_is_lost_is_recalled_and_starts_again_as_a_whole() {
    let broken = "job mpi tasks=3 gang work=100 cores=1
                  run mpi/0.0 a
                  run mpi/1.0 b stage=ordered
                  again mpi/2.1";
    check(
        &by(Objective::Completion),
        &with(broken),
        "stop mpi/0.0 gang
         stop mpi/1.0 gang
         wait mpi x1 recalled",
    );
    let stopping = broken
        .replace("run mpi/0.0 a", "run mpi/0.0 a stage=recalled")
        .replace("run mpi/1.0 b stage=ordered", "again mpi/1.1");
    check(&by(Objective::Completion), &with(&stopping), "wait mpi x2 recalled");
    let stopped = stopping.replace("run mpi/0.0 a stage=recalled", "again mpi/0.1");
    check(
        &by(Objective::Completion),
        &with(&stopped),
        "start mpi/0.1 a alt=0 xeon cores=1 for=1m40s
         start mpi/1.1 a alt=0 xeon cores=1 for=1m40s
         start mpi/2.1 a alt=0 xeon cores=1 for=1m40s",
    );
}

#[test]
fn tenants_take_turns_with_whole_gangs() {
    let policy = fleet::Policy {
        order: vec![OrderKey::FairShare, OrderKey::FirstIn],
        ..by(Objective::Completion)
    };
    check(
        &policy,
        "class xeon cpu
         node n cores=4 mem=8Gi
         job one tenant=ann tasks=2 gang work=100 cores=1
         job two tenant=ann tasks=2 gang work=100 cores=1
         job three tenant=bob tasks=2 gang work=100 cores=1",
        "start one/0.0 n alt=0 xeon cores=1 for=1m40s
         start one/1.0 n alt=0 xeon cores=1 for=1m40s
         start three/0.0 n alt=0 xeon cores=1 for=1m40s
         start three/1.0 n alt=0 xeon cores=1 for=1m40s
         wait two x2 alt0: 1 free-cores 1/0",
    );
}

#[test]
fn members_of_a_gang_are_explained_one_by_one() {
    check_choices(
        &by(Objective::Completion),
        &with("job mpi tasks=2 gang pernode=1 work=100 cores=1"),
        "choice mpi/0.0 of 4 score=1
         choice mpi/1.0 of 4 score=1",
    );
}
