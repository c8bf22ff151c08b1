//! Motley's fleet file.

use fleet::{Bytes, ClassId, DeviceKind, MilliCores, Milliwatts, ShareRule};
use sim::read::{Options, inventory_from};

use crate::support::{FLEET, check, fleet, message, read_fleet, with_line};

#[test]
fn a_fleet_file_becomes_classes_and_nodes() {
    let fleet = fleet();
    let [a100, epyc] = &fleet.classes.0[..] else { panic!("two classes") };
    assert_eq!((a100.model.as_str(), a100.kind), ("A100", DeviceKind::Gpu));
    assert_eq!((a100.memory, a100.compute_units), (Bytes(40 << 30), 6912));
    assert_eq!(a100.capabilities, ["sm_80".to_owned()].into());
    assert_eq!((a100.share, a100.power.busy), (ShareRule::Milli, Milliwatts(400_000)));
    assert_eq!((epyc.model.as_str(), epyc.kind), ("EPYC", DeviceKind::Cpu));
    let [node] = &fleet.nodes[..] else { panic!("one node") };
    assert_eq!((node.name.as_str(), node.cpu), ("a", ClassId(1)));
    assert_eq!((node.cores, node.memory), (MilliCores(64_000), Bytes(512 << 30)));
    assert_eq!(node.devices, [ClassId(0), ClassId(0)]);
    assert_eq!(node.labels["zone"], "west");
    assert_eq!((node.power.idle.0, node.power.busy.0), (200_000, 500_000));
}

#[test]
fn each_field_of_a_fleet_changes_what_is_read() {
    let base = fleet();
    for (start, line) in [
        ("[device.EPYC]", "[device.EPYC2]\nkind = \"cpu\"\n[device.EPYC]"),
        ("kind = \"gpu\"", "kind = \"npu\""),
        ("memory = \"40GiB\"", "memory = \"41GiB\""),
        ("compute_units", ""),
        ("capabilities", ""),
        ("share", "share = \"exclusive\""),
        ("power = { idle = \"50W\"", "power = { idle = \"51W\", busy = \"400W\" }"),
        ("power = { idle = \"50W\"", "power = { idle = \"50W\", busy = \"401W\" }"),
        ("name", "name = \"b\""),
        ("cores", "count = 2\ncores = 64"),
        ("cores", "cores = 64.5"),
        ("memory = \"512GiB\"", "memory = 1"),
        ("devices", "devices = { A100 = 3 }"),
        ("labels", "labels = { zone = \"east\" }"),
        ("power = { idle = \"200W\"", "power = { idle = \"0W\", busy = \"500W\" }"),
    ] {
        let other = read_fleet(&with_line(FLEET, start, line)).unwrap().value;
        assert_ne!(base, other, "{line}");
    }
    let two_cpus = with_line(FLEET, "[device.EPYC]", "[device.B]\nkind = \"cpu\"\n[device.EPYC]");
    let (own, other) = (read_fleet(&two_cpus), with_line(&two_cpus, "cpu = ", "cpu = \"B\""));
    assert_ne!(own.unwrap().value, read_fleet(&other).unwrap().value);
}

#[test]
fn a_count_makes_numbered_nodes_and_devices_stand_by_model() {
    let text = with_line(FLEET, "cores", "count = 3\ncores = 64");
    let text = with_line(&text, "devices", "devices = { A100 = 1, A10 = 2 }");
    let text = text.replace("[device.EPYC]", "[device.A10]\nkind = \"gpu\"\n[device.EPYC]");
    let fleet = read_fleet(&text).unwrap().value;
    let names: Vec<_> = fleet.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(names, ["a-0", "a-1", "a-2"]);
    assert_eq!(fleet.nodes[2].id.0, 2);
    assert_eq!(fleet.nodes[2].devices, [ClassId(0), ClassId(0), ClassId(1)]);
}

const WRONG_DEVICES: &[(&str, &str, &str)] = &[
    (
        "kind = \"gpu\"",
        "",
        "read fleet, line 3, `device.A100.kind`: is missing; give one of cpu, gpu, tpu, fpga, npu, qpu",
    ),
    (
        "kind = \"gpu\"",
        "kind = \"gpx\"",
        "read fleet, line 4, `device.A100.kind`: is \"gpx\"; use one of cpu, gpu, tpu, fpga, npu, qpu",
    ),
    (
        "memory = \"40GiB\"",
        "memory = \"-1GiB\"",
        "read fleet, line 5, `device.A100.memory`: size \"-1GiB\" is negative; write it like 40Gi or 40GB",
    ),
    (
        "memory = \"40GiB\"",
        "memory = \"40 apples\"",
        "read fleet, line 5, `device.A100.memory`: size \"40 apples\" has the unknown unit \" apples\"; use one of B K KB k kB Ki KiB M MB Mi MiB G GB Gi GiB T TB Ti TiB P PB Pi PiB",
    ),
    (
        "compute_units",
        "compute_units = 4294967296",
        "read fleet, line 6, `device.A100.compute_units`: is 4294967296; give a whole number from 0 to 4294967295",
    ),
    (
        "capabilities",
        "capabilities = [7]",
        "read fleet, line 7, `device.A100.capabilities[0]`: is 7, but must be a name in quotes",
    ),
    (
        "share",
        "share = \"half\"",
        "read fleet, line 8, `device.A100.share`: is \"half\"; use one of exclusive, milli, slices, mig",
    ),
    (
        "power = { idle = \"50W\"",
        "power = { idle = \"500W\", busy = \"400W\" }",
        "read fleet, line 9, `device.A100.power`: idle power is larger than busy power; swap them or correct one",
    ),
    (
        "power = { idle = \"50W\"",
        "power = { busy = \"400W\" }",
        "read fleet, line 9, `device.A100.power.idle`: is missing; give both idle and busy, like { idle = \"50W\", busy = \"400W\" }",
    ),
    (
        "power = { idle = \"50W\"",
        "power = { idle = 50, busy = \"400W\" }",
        "read fleet, line 9, `device.A100.power.idle`: power \"50\" has no unit; write it like 50W or 1.5kW, with one of mW W kW MW",
    ),
    (
        "power = { idle = \"50W\"",
        "power = [\"50W\", \"400W\"]",
        "read fleet, line 9, `device.A100.power`: invalid type: sequence, expected a table of fields",
    ),
    (
        "power = { idle = \"50W\"",
        "bandwidth = 1",
        "read fleet, line 9, `device.A100.bandwidth`: unknown field `bandwidth`, expected one of `kind`, `memory`, `compute_units`, `capabilities`, `share`, `profile`, `power`",
    ),
    (
        "kind = \"cpu\"",
        "kind = \"cpu\"\nshare = \"milli\"",
        "read fleet, line 12, `device.EPYC.share`: has no effect here: cores are always shared; leave it out",
    ),
    (
        "kind = \"cpu\"",
        "kind = \"cpu\"\npower = { idle = \"1W\", busy = \"2W\" }",
        "read fleet, line 12, `device.EPYC.power`: has no effect here: a processor's power belongs to the node; leave it out",
    ),
    (
        "[device.EPYC]",
        "[device.A100]",
        "read fleet, line 10: duplicate key (in a file read as TOML)",
    ),
];

#[test]
fn a_wrong_device_is_refused_with_line_field_and_remedy() {
    check(FLEET, read_fleet, WRONG_DEVICES);
}

#[test]
fn a_wrong_node_is_refused_with_line_field_and_remedy() {
    check(
        FLEET,
        read_fleet,
        &[
            ("name", "", "read fleet, line 12, `name`: is missing; give each node a name"),
            (
                "name",
                "name = \"\"",
                "read fleet, line 13, `name`: is \"\"; a name has at least one character and no control characters",
            ),
            (
                "cpu = ",
                "",
                "read fleet, line 12, `cpu`: is missing; name the model of its processor",
            ),
            (
                "cpu = ",
                "cpu = \"Xeon\"",
                "read fleet, line 14, `cpu`: the model \"Xeon\" is not described; add [device.Xeon] or use one of A100, EPYC",
            ),
            (
                "cpu = ",
                "cpu = \"A100\"",
                "read fleet, line 14, `cpu`: \"A100\" is a gpu; name a device of kind cpu here, and put this one in `devices`",
            ),
            ("cores", "", "read fleet, line 12, `cores`: is missing; give the number of cores"),
            (
                "cores",
                "cores = 0",
                "read fleet, line 15, `cores`: is 0; give a number of cores above 0 and up to 1000000",
            ),
            (
                "cores",
                "cores = nan",
                "read fleet, line 15, `cores`: number of cores \"NaN\" is not a plain decimal number; write it like 8 or 0.5",
            ),
            (
                "cores",
                "cores = -4",
                "read fleet, line 15, `cores`: number of cores \"-4\" is negative; write it like 8 or 0.5",
            ),
            (
                "cores",
                "cores = 0.0001",
                "read fleet, line 15, `cores`: number of cores \"0.0001\" is finer than 0.001, the least step; write fewer decimals",
            ),
            (
                "cores",
                "cores = true",
                "read fleet, line 15, `cores`: is true, but must be a number or a text with a unit",
            ),
        ],
    );
}

#[test]
fn wrong_contents_of_a_node_are_refused_with_line_field_and_remedy() {
    check(
        FLEET,
        read_fleet,
        &[
            (
                "memory = \"512GiB\"",
                "",
                "read fleet, line 12, `memory`: is missing; give a size like \"64GiB\"",
            ),
            (
                "memory = \"512GiB\"",
                "memory = \"99999999999TiB\"",
                "read fleet, line 16, `memory`: size \"99999999999TiB\" is too large; the most is 16383PiB",
            ),
            (
                "devices",
                "devices = { H100 = 1 }",
                "read fleet, line 17, `devices.H100`: the model \"H100\" is not described; add [device.H100] or use one of A100, EPYC",
            ),
            (
                "devices",
                "devices = { EPYC = 1 }",
                "read fleet, line 17, `devices.EPYC`: \"EPYC\" is a cpu; processors are named by `cpu`, not in `devices`",
            ),
            (
                "devices",
                "devices = { A100 = 0 }",
                "read fleet, line 17, `devices.A100`: is 0; give a whole number from 1 to 1024, all devices of a node together",
            ),
            (
                "devices",
                "devices = { A100 = 1025 }",
                "read fleet, line 17, `devices`: is 1025; give a whole number from 1 to 1024, all devices of a node together",
            ),
            (
                "labels",
                "labels = { zone = 7 }",
                "read fleet, line 18, `labels.zone`: is 7, but must be a name in quotes",
            ),
            (
                "labels",
                "count = 0",
                "read fleet, line 18, `count`: is 0; give a whole number from 1",
            ),
            (
                "labels",
                "count = 1000001",
                "read fleet, line 12: more than 1000000 nodes; split the file",
            ),
            (
                "labels",
                "rack = \"r1\"",
                "read fleet, line 18, `rack`: unknown field `rack`, expected one of `name`, `count`, `cpu`, `cores`, `memory`, `devices`, `labels`, `power`, `socket`, `network`, `links`, `host_bandwidth`, `interface`, `switch`, `topology`",
            ),
        ],
    );
}

#[test]
fn a_node_name_is_given_once() {
    let node = "[[node]]\nname = \"a\"\ncpu = \"EPYC\"\ncores = 1\nmemory = \"1GiB\"\n";
    assert_eq!(
        message(read_fleet(&format!("{FLEET}{node}"))),
        "read fleet, line 21, `name`: \"a\" is given twice, first in line 12; rename one"
    );
    let numbered = format!("{FLEET}{node}").replace(
        "name = \"a\"\ncpu = \"EPYC\"\ncores = 1",
        "name = \"b-1\"\ncpu = \"EPYC\"\ncores = 1",
    );
    let pair = node.replace("\"a\"", "\"b\"\ncount = 2");
    assert_eq!(
        message(read_fleet(&format!("{numbered}{pair}"))),
        "read fleet, line 26, `name`: \"b-1\" is given twice, first in line 20; rename one"
    );
}

#[test]
fn a_wrong_file_is_refused_as_a_whole() {
    for (text, expected) in [
        ("", "read fleet, line 1, `format`: is missing; begin the file with format = 1"),
        (
            "format = 2",
            "read fleet, line 1, `format`: is 2, but this reader knows format 1 only; use a newer motley",
        ),
        ("format = 1", "read fleet: it has no usable node (0 bad ones were skipped)"),
        (
            "format = 1\n[[job]]\nname = \"x\"",
            "read fleet, line 2, `job`: is not a section of this file; the sections are format, device, switch, node",
        ),
        (
            "format = 1\nnode = 3",
            "read fleet, line 2, `node`: must be a list of tables; write [[node]] over each",
        ),
        (
            "format = 1\nnode = [3]",
            "read fleet, line 2: invalid type: integer `3`, expected a table of fields",
        ),
        (
            "format = 1\ndevice = 3",
            "read fleet, line 2, `device`: must be tables with names; write [device.NAME] over each",
        ),
        (
            "id,cpus\n1,2",
            "read fleet: it is a CSV of jobs, but a fleet file or an openb node list is needed here; give it as the jobs; a node list has the columns sn,cpu_milli,memory_mib,gpu,model",
        ),
        ("id cpus", "read fleet, line 1: key with no value, expected `=` (in a file read as TOML)"),
        (
            "{\"name\": 1}",
            "read fleet: it is JSON lines, but a fleet file or an openb node list is needed here; give it as the jobs",
        ),
        (
            "name,cpu_milli",
            "read fleet: it is an openb pod list, but a fleet file or an openb node list is needed here; give it as the jobs",
        ),
    ] {
        assert_eq!(message(read_fleet(text)), expected, "{text:?}");
    }
}

#[test]
fn bad_entries_are_counted_and_listed_when_they_are_skipped() {
    let bad = "[[node]]\nname = \"x\"\n".repeat(30);
    let options = Options { skip_bad: true, ..Options::default() };
    let text = format!("{FLEET}{bad}");
    let read = inventory_from(text.as_bytes(), "fleet", &options).unwrap();
    assert_eq!((read.value.nodes.len(), read.skipped_count, read.skipped.len()), (1, 30, 20));
    assert_eq!(
        read.skipped[1].to_string(),
        "line 22, `cpu`: is missing; name the model of its processor"
    );
}

#[test]
fn a_model_that_no_node_has_is_remarked() {
    let text = FLEET.replace("[device.EPYC]", "[device.T4]\nkind = \"gpu\"\n[device.EPYC]");
    assert_eq!(read_fleet(&text).unwrap().notes, ["1 device models are in no node: T4"]);
}

#[test]
fn a_fleet_whose_total_overflows_is_refused() {
    let text = with_line(FLEET, "memory = \"512GiB\"", "count = 3\nmemory = \"9000PiB\"");
    assert_eq!(
        message(read_fleet(&text)),
        "read fleet, line 12: the fleet's total of memory passes the largest number there is; correct the entry"
    );
}
