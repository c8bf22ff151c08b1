//! The lists of the openb trace.

use std::path::PathBuf;

use fleet::{Bytes, DeviceKind, MilliCores, Milliwatts, ShareRule, Time, Work};
use sim::Workload;
use sim::read::{
    Arrivals, Options, Read, ReadError, inventory, inventory_from, workload, workload_from,
};

use crate::support::{fleet, message};

const NODES: &str = "sn,cpu_milli,memory_mib,gpu,model
one,96000,393216,8,G2
two,32000,131072,4,V100M16
three,104000,524288,0,
";

const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,deletion_time,scheduled_time
p0,12000,16384,1,1000,,LS,Running,7,100,10
p1,6000,12288,1,460,G2|T4,BE,Running,3,3,
p2,4000,1024,0,0,,BE,Pending,5,25,
p3,8000,2048,4,1000,,Guaranteed,Failed,4,,4
";

fn read_nodes(text: &str) -> Result<Read<sim::Inventory>, ReadError> {
    inventory_from(text.as_bytes(), "list", &Options::default())
}

fn read_pods(text: &str, arrivals: Option<Arrivals>) -> Result<Read<Workload>, ReadError> {
    let nodes = read_nodes(NODES).unwrap().value;
    let options = Options { arrivals, ..Options::default() };
    workload_from(text.as_bytes(), "list", &nodes, &options)
}

#[test]
fn nodes_have_one_processor_class_and_a_class_for_each_gpu_model() {
    let fleet = read_nodes(NODES).unwrap().value;
    let models: Vec<_> = fleet.classes.0.iter().map(|class| class.model.as_str()).collect();
    assert_eq!(models, ["Xeon-E5-2682v4", "G2", "V100M16"]);
    let g2 = &fleet.classes.0[1];
    assert_eq!((g2.kind, g2.share, g2.memory), (DeviceKind::Gpu, ShareRule::Milli, Bytes::ZERO));
    assert_eq!((g2.power.idle, g2.power.busy), (Milliwatts(30_000), Milliwatts(150_000)));
    let [one, two, three] = &fleet.nodes[..] else { panic!("three nodes") };
    assert_eq!((one.cores, one.memory), (MilliCores(96_000), Bytes(384 << 30)));
    assert_eq!((one.devices.len(), two.devices.len(), three.devices.len()), (8, 4, 0));
    // 48, 16 and 52 real cores: three, one and four sockets.
    let watts = [one, two, three].map(|node| (node.power.idle.0 / 1000, node.power.busy.0 / 1000));
    assert_eq!(watts, [(45, 360), (15, 120), (60, 480)]);
}

#[test]
fn there_are_as_many_models_as_there_are_ids_and_one_more_is_refused() {
    let row = |index: u32| format!("n{index},1000,1,1,model{index}\n");
    let rows: String = (0..65_534).map(row).collect();
    let text = format!("sn,cpu_milli,memory_mib,gpu,model\n{rows}");
    let fleet = read_nodes(&text).unwrap().value;
    assert_eq!((fleet.classes.0.len(), fleet.nodes[7].devices.len()), (65_535, 1));
    // A model that is known, or none, is no new class.
    let more = format!("{text}m,1000,1,1,model9\nc,1000,1,0,\n");
    assert_eq!(read_nodes(&more).unwrap().value.nodes.len(), 65_536);
    assert_eq!(
        message(read_nodes(&format!("{more}{}", row(65_534)))),
        "read list, line 65538: more than 65535 device models; split the file"
    );
}

#[test]
fn timed_pods_arrive_when_they_were_created_and_run_for_as_long_as_they_did() {
    let read = read_pods(PODS, None).unwrap();
    let told: Vec<_> = read
        .value
        .jobs
        .iter()
        .map(|job| {
            (
                job.name.as_str(),
                job.arrival,
                job.work.map(|work| work.0 / 1_000_000),
                &*job.tenant.0,
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("p1", Time::seconds(3), Some(1), "BE"),
            ("p3", Time::seconds(4), None, "Guaranteed"),
            ("p2", Time::seconds(5), Some(20), "BE"),
            ("p0", Time::seconds(7), Some(90), "LS"),
        ]
    );
    assert_eq!(
        read.notes,
        [
            "column pod_phase is not used: it says how the pod once ended",
            "2 pods were never scheduled: they run for as long as they waited",
            "1 pods have no deletion_time: they run without end",
            "1 pods ended in the second they started: they run for one second",
            "jobs name 1 models that no node has: T4",
        ]
    );
}

#[test]
fn ordered_pods_arrive_one_a_second_and_do_not_end() {
    let read = read_pods(PODS, Some(Arrivals::Order)).unwrap();
    let jobs = &read.value.jobs;
    let told: Vec<_> = jobs.iter().map(|job| (job.arrival, job.work)).collect();
    assert_eq!(told, [0, 1, 2, 3].map(|second| (Time::seconds(second), None::<Work>)));
    let device = |index: usize| jobs[index].alternatives[0].request.devices.as_ref();
    let shares: Vec<_> = (0..4).map(|index| device(index).map(|d| (d.count, d.share.0))).collect();
    assert_eq!(shares, [Some((1, 1000)), Some((1, 460)), None, Some((4, 1000))]);
    assert_eq!(device(1).unwrap().models, ["G2", "T4"]);
    assert!(read.notes.iter().any(|note| note.starts_with("the times of the list are not used")));
}

#[test]
fn a_list_without_times_is_taken_in_order_and_says_so() {
    let text = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1000,1,0,0\n";
    let read = read_pods(text, None).unwrap();
    assert_eq!(
        read.notes,
        ["the list has no times: pods arrive one a second, in order, and do not end"]
    );
    assert_eq!(&*read.value.jobs[0].tenant.0, "openb");
    assert_eq!(
        message(read_pods(text, Some(Arrivals::Timed))),
        "read list: arrivals are asked to be timed, but the list has no column creation_time; use the arrivals order, in which the lines arrive one after the other"
    );
    assert!(read_pods(text, Some(Arrivals::Order)).is_ok());
}

#[test]
fn a_wrong_node_row_is_refused_with_line_field_and_remedy() {
    for (row, expected) in [
        ("x,96000,393216,8", "line 2: has 4 fields, but the header has 5"),
        ("x,0,393216,8,G2", "line 2, `cpu_milli`: is 0; give a whole number above zero"),
        (
            "x,-5,393216,8,G2",
            "line 2, `cpu_milli`: is \"-5\", but must be milli-cores, up to 1000000000",
        ),
        (
            "x,1,99999999999999999999,8,G2",
            "line 2, `memory_mib`: is 99999999999999999999; give a whole number of MiB",
        ),
        ("x,1,NaN,8,G2", "line 2, `memory_mib`: is \"NaN\", but must be a whole number of MiB"),
        ("x,1,1,2,", "line 2, `model`: is missing; a node with GPUs names their model"),
        ("x,1,1,0,T4", "line 2, `model`: has no effect here: the node has no GPU; leave it out"),
        ("x,1,1,1025,T4", "line 2, `gpu`: is 1025; give a whole number from 0 to 1024"),
        (
            ",1,1,0,",
            "line 2, `sn`: is \"\"; a name has at least one character and no control characters",
        ),
        ("x,1,1,0,\nx,1,1,0,", "line 3, `sn`: \"x\" is given twice, first in line 2; rename one"),
    ] {
        let text = format!("sn,cpu_milli,memory_mib,gpu,model\n{row}\n");
        assert_eq!(message(read_nodes(&text)), format!("read list, {expected}"));
    }
}

#[test]
fn a_wrong_pod_row_is_refused_with_line_field_and_remedy() {
    let header = PODS.lines().next().unwrap();
    for (row, expected) in [
        ("p,1,1,0,0,,LS,Running,1,2,1,9", "line 2: has 12 fields, but the header has 11"),
        (
            "p,0,1,0,0,,LS,Running,1,2,1",
            "line 2: asks for neither cores nor a device; give at least one",
        ),
        (
            "p,1,1,1,0,,LS,Running,1,2,1",
            "line 2, `gpu_milli`: is 0; give a whole number from 1 to 1000",
        ),
        (
            "p,1,1,1,1001,,LS,Running,1,2,1",
            "line 2, `gpu_milli`: is 1001; give a whole number from 0 to 1000",
        ),
        (
            "p,1,1,2,500,,LS,Running,1,2,1",
            "line 2, `gpu_milli`: a share below 1 goes with a count of 1, not 2; ask for whole devices or one",
        ),
        (
            "p,1,1,0,500,,LS,Running,1,2,1",
            "line 2, `gpu_milli`: has no effect here: the pod asks for no GPU; leave it out",
        ),
        (
            "p,1,1,0,0,T4,LS,Running,1,2,1",
            "line 2, `gpu_spec`: has no effect here: the pod asks for no GPU; leave it out",
        ),
        (
            "p,1,1,1,1000,T4|,LS,Running,1,2,1",
            "line 2, `gpu_spec`: is \"\"; a name has at least one character and no control characters",
        ),
        (
            "p,1,1,0,0,,LS,Running,,2,1",
            "line 2, `creation_time`: is \"\", but must be whole seconds since the start, at most a hundred years",
        ),
        (
            "p,1,1,0,0,,LS,Running,5,4,",
            "line 2, `deletion_time`: is 4, before creation_time, which is 5",
        ),
        (
            "p,1,1,0,0,,LS,Running,5,6,4",
            "line 2, `scheduled_time`: is 4, before creation_time, which is 5",
        ),
        (
            "p,1,1,0,0,,LS,Running,5,6,7",
            "line 2, `deletion_time`: is 6, before scheduled_time, which is 7",
        ),
        (
            "p,1,1,0,0,,LS,Running,3153600001,3153600002,",
            "line 2, `creation_time`: is 3153600001; give whole seconds since the start, at most a hundred years",
        ),
    ] {
        let text = format!("{header}\n{row}\n");
        assert_eq!(message(read_pods(&text, None)), format!("read list, {expected}"));
    }
}

#[test]
fn a_wrong_header_is_refused_by_column() {
    for (text, expected) in [
        (
            "sn,cpu_milli,memory_mib,gpu",
            "line 1, `model`: is missing; the header must name this column",
        ),
        (
            "sn,cpu_milli,memory_mib,gpu,model,rack",
            "line 1, `rack`: is not a column of this format; the columns are sn, cpu_milli, memory_mib, gpu, model",
        ),
        (
            "sn,sn,cpu_milli,memory_mib,gpu,model",
            "line 1, `sn`: \"sn\" is given twice, first in line 1; rename one",
        ),
    ] {
        assert_eq!(message(read_nodes(text)), format!("read list, {expected}"));
    }
    assert_eq!(
        message(workload_from(NODES.as_bytes(), "list", &fleet(), &Options::default())),
        "read list: it is an openb node list, but a workload file or an openb pod list is needed here; give it as the fleet"
    );
}

#[test]
fn bad_rows_are_counted_and_the_rest_is_read() {
    let text = format!("{PODS}bad\np,x,1,0,0,,LS,Running,1,2,1\np5,1000,1,0,0,,LS,Running,1,2,1\n");
    let nodes = read_nodes(NODES).unwrap().value;
    let options = Options { skip_bad: true, ..Options::default() };
    let read = workload_from(text.as_bytes(), "list", &nodes, &options).unwrap();
    assert_eq!((read.value.jobs.len(), read.skipped_count), (5, 2));
    assert_eq!(read.skipped[0].to_string(), "line 6: has 1 fields, but the header has 11");
}

#[test]
fn each_column_changes_what_is_read() {
    let base = read_pods(PODS, None).unwrap().value;
    for (old, new) in [
        ("p0,12000", "q0,12000"),
        ("p0,12000", "p0,12001"),
        ("16384,1,1000", "16385,1,1000"),
        ("2048,4", "2048,3"),
        ("460", "461"),
        ("G2|T4", "G2"),
        (",LS,", ",BE,"),
        ("Running,7,", "Running,8,"),
        (",100,10", ",101,10"),
        (",100,10", ",100,11"),
    ] {
        assert_ne!(read_pods(&PODS.replace(old, new), None).unwrap().value, base, "{new}");
    }
    let nodes = read_nodes(NODES).unwrap().value;
    for (old, new) in
        [("one", "uno"), ("96000", "96001"), ("393216", "393217"), (",8,", ",7,"), ("G2", "G3")]
    {
        assert_ne!(read_nodes(&NODES.replace(old, new)).unwrap().value, nodes, "{new}");
    }
}

/// The public data, where this machine has it.
fn data() -> Option<PathBuf> {
    let root = std::env::var_os("MOTLEY_DATA").map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let folder = root.join("alibaba-openb-gpu-v2023");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no public data at {}", root.display());
    None
}

#[test]
fn the_real_lists_read_with_the_counts_of_their_readme() {
    let Some(folder) = data() else { return };
    let options = Options::default();
    let nodes = inventory(&folder.join("openb_node_list_gpu_node.csv"), &options).unwrap();
    let gpus: usize = nodes.value.nodes.iter().map(|node| node.devices.len()).sum();
    assert_eq!((nodes.value.nodes.len(), gpus, nodes.notes.len()), (1213, 6212, 0));
    let pods =
        workload(&folder.join("openb_pod_list_default.csv"), &nodes.value, &options).unwrap();
    let jobs = &pods.value.jobs;
    let cpu_only = jobs.iter().filter(|job| job.alternatives[0].request.devices.is_none()).count();
    assert_eq!((jobs.len(), cpu_only), (8152, 1088));
    assert_eq!(jobs.last().unwrap().arrival, Time::seconds(12_901_761));
    assert!(pods.notes.iter().any(|note| note.starts_with("897 pods were never scheduled")));
    let all = inventory(&folder.join("openb_node_list_all_node.csv"), &options).unwrap();
    assert_eq!(all.value.nodes.len(), 1523);
}

#[test]
fn all_real_pod_lists_read_in_order_and_timed_where_they_have_times() {
    let Some(folder) = data() else { return };
    let nodes =
        inventory(&folder.join("openb_node_list_gpu_node.csv"), &Options::default()).unwrap();
    let mut lists = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.starts_with("openb_pod_list") {
            continue;
        }
        lists += 1;
        let read = |arrivals| {
            let options = Options { arrivals, ..Options::default() };
            workload(&path, &nodes.value, &options)
        };
        let ordered = read(Some(Arrivals::Order)).unwrap().value;
        assert!(ordered.jobs.len() > 7000, "{name}");
        match read(Some(Arrivals::Timed)) {
            Ok(timed) => assert_eq!(timed.value.jobs.len(), ordered.jobs.len(), "{name}"),
            Err(ReadError::Untimed { column, .. }) => {
                assert_eq!((column, name.contains("multigpu")), ("creation_time", true), "{name}");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    assert_eq!(lists, 24);
}
