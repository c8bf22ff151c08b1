//! Datasets: the catalogue, and what jobs read and write.

use fleet::{Bandwidth, Bytes, Catalogue, NodeId};
use sim::read::{Options, Read, ReadError, catalogue_from};

use crate::support::{FLEET, JOBS, check, fleet, message, read_fleet, read_jobs, with_line};

const DATA: &str = r#"
format = 1
[[data]]
name = "images"
size = "500GB"
on = ["a"]
[[data]]
name = "words"
size = "1TiB"
on = ["a"]
"#;

fn read(text: &str) -> Result<Read<Catalogue>, ReadError> {
    catalogue_from(text.as_bytes(), "data", &fleet(), &Options::default())
}

#[test]
fn a_catalogue_says_where_datasets_are_and_how_large() {
    let catalogue = read(DATA).unwrap().value;
    let held = |name: &str| {
        let holding = catalogue.get(name).unwrap();
        (holding.size, holding.nodes.iter().copied().collect::<Vec<_>>())
    };
    assert_eq!(held("images"), (Bytes(500_000_000_000), vec![NodeId(0)]));
    assert_eq!(held("words"), (Bytes(1 << 40), vec![NodeId(0)]));
}

const WRONG: &[(&str, &str, &str)] = &[
    ("format", "", "read data, line 1, `format`: is missing; begin the file with format = 1"),
    ("name = \"images\"", "", "read data, line 3, `name`: is missing; give each dataset a name"),
    (
        "name = \"words\"",
        "name = \"images\"",
        "read data, line 8, `name`: \"images\" is given twice, first in line 3; rename one",
    ),
    (
        "size = \"500GB\"",
        "",
        "read data, line 3, `size`: is missing; give its size, like \"500GB\"",
    ),
    ("size = \"500GB\"", "size = 0", "read data, line 5, `size`: is 0; give a size above zero"),
    (
        "size = \"500GB\"",
        "size = \"500Gbit\"",
        "read data, line 5, `size`: size \"500Gbit\" has the unknown unit \"Gbit\"; use one of B K \
         KB k kB Ki KiB M MB Mi MiB G GB Gi GiB T TB Ti TiB P PB Pi PiB",
    ),
];

#[test]
fn a_wrong_catalogue_is_refused_with_line_and_field() {
    check(DATA, read, WRONG);
    let on = |list: &str| message(read(&DATA.replacen("on = [\"a\"]", list, 1)));
    assert_eq!(
        on(""),
        "read data, line 3, `on`: is missing; name the nodes that hold it, like [\"node-a\"]"
    );
    assert_eq!(on("on = []"), on("").replace("line 3", "line 6"));
    assert_eq!(
        on("on = [\"A\"]"),
        "read data, line 6, `on[0]`: the fleet has no node \"A\"; did you mean \"a\"?"
    );
    assert_eq!(
        on("on = [\"elsewhere\"]"),
        "read data, line 6, `on[0]`: the fleet has no node \"elsewhere\""
    );
    assert_eq!(
        on("on = [\"a\", \"a\"]"),
        "read data, line 6, `on[1]`: has no effect here: the list names this node before; leave it \
         out"
    );
    assert_eq!(
        message(read("format = 1")),
        "read data: it has no usable [[data]] (0 bad ones were skipped)"
    );
    assert_eq!(
        message(read("{\"format\": 1}")),
        "read data: it is JSON lines, but a catalogue of datasets is needed here; give it as the \
         fleet or the jobs"
    );
}

#[test]
fn bad_datasets_can_be_left_out() {
    let options = Options { skip_bad: true, ..Options::default() };
    let text = with_line(DATA, "size = \"500GB\"", "size = 0");
    let read = catalogue_from(text.as_bytes(), "data", &fleet(), &options).unwrap();
    assert_eq!((read.skipped_count, read.value.holdings.len()), (1, 1));
}

#[test]
fn jobs_and_streams_name_what_they_read_and_write() {
    let fields = "inputs = [{ name = \"images\", size = \"5GB\" }]\n\
                  outputs = [{ name = \"made\", size = 7 }]";
    for (job, position) in [("train", 0), ("batch", 1)] {
        let name = format!("name = \"{job}\"");
        let jobs = read_jobs(&JOBS.replace(&name, &format!("{name}\n{fields}"))).unwrap();
        let job = &jobs.value.jobs[position];
        let (input, output) = (&job.inputs()[0], &job.outputs()[0]);
        assert_eq!((&*input.name, input.size), ("images", Bytes(5_000_000_000)));
        assert_eq!((&*output.name, output.size), ("made", Bytes(7)));
    }
    let line =
        r#"{"name": "x", "inputs": [{"name": "y", "size": "1GB"}], "alternative": [{"cores": 1}]}"#;
    let jobs = read_jobs(line).unwrap().value.jobs;
    assert_eq!(jobs[0].inputs()[0].size, Bytes(1_000_000_000));
}

#[test]
fn wrong_inputs_and_outputs_are_refused() {
    let with = |field: &str| message(read_jobs(&with_line(JOBS, "priority = 5", field)));
    assert_eq!(
        with("inputs = [{ size = \"5GB\" }]"),
        "read jobs, line 6, `inputs[0].name`: is missing; give each dataset a name"
    );
    assert_eq!(
        with("outputs = [{ name = \"x\" }]"),
        "read jobs, line 6, `outputs[0].size`: is missing; give its size, like \"500GB\""
    );
    let twice = "inputs = [{ name = \"x\", size = 1 }, { name = \"x\", size = 1 }]";
    assert_eq!(
        with(twice),
        "read jobs, line 6, `inputs[1].name`: has no effect here: the list names this dataset \
         before; leave it out"
    );
    let many = format!("inputs = [{}]", "{ name = \"x\", size = 1 },".repeat(65));
    assert_eq!(with(&many), "read jobs, line 6, `inputs`: is 65; give at most 64 of them");
}

#[test]
fn the_network_of_a_node_is_a_bandwidth_above_zero() {
    let with = |line: &str| with_line(FLEET, "cores = 64", &format!("cores = 64\n{line}"));
    let read = read_fleet(&with("network = \"10Gbit/s\"")).unwrap().value;
    assert_eq!(read.nodes[0].network, Bandwidth(1_250_000_000));
    assert_eq!(fleet().nodes[0].network, Bandwidth::ZERO);
    assert_eq!(
        message(read_fleet(&with("network = \"0B/s\""))),
        "read fleet, line 16, `network`: is 0; give a bandwidth above zero, or leave it out where \
         it is not known"
    );
}
