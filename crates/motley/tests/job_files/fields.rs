//! Every field alone changes what is submitted, and nothing else.

use std::path::Path;

use motley::job_file;
use serde_json::{Value, json};
use server::api::Submission;

use crate::{around, read};

fn toml(fields: &str) -> Value {
    let read = read("jobs.toml", &format!("format = 1\n[[job]]\n{fields}\n"));
    assert_eq!(read.faults, [], "{fields}");
    let [job] = &read.jobs[..] else { panic!("{fields}: one job") };
    json!(job)
}

const COMMAND: &str = "command = [\"/bin/true\", \"x\"]\n";

/// A field, where it is seen, and as what.
fn own() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("directory = 'sub'", "/directory", json!("/here/sub")),
        ("inherit = false", "/environment", json!(["HOME=/ann", "PATH=/bin", "USER=ann"])),
        (
            "environment = { A = 'x', COLOUR = 1 }",
            "/environment",
            json!(["A=x", "COLOUR=1", "HOME=/ann", "PATH=/bin", "SLURM_JOB_ID=99", "USER=ann"]),
        ),
        ("output = 'none'", "/output", json!("discarded")),
        ("output = 'out-%j'", "/output", json!({ "files": ["out-%j", null] })),
        ("output = 'o'\nerror = 'e'", "/output", json!({ "files": ["o", "e"] })),
        ("time_limit = '90s'", "/time_limit", json!(90_000_000)),
        ("retries = 3", "/restart/retries", json!(3)),
        ("requeue = false", "/restart/requeue", json!(false)),
        ("hold = true", "/held", json!(true)),
        ("array = '5-14'", "/first", json!(5)),
        ("array = '5-14'", "/job/tasks", json!(10)),
        ("array = 7", "/first", json!(7)),
        ("entries = ['a b', 2]", "/entries", json!(["a b", "2"])),
        ("entries = ['a', 'b']", "/job/tasks", json!(2)),
        (
            "after = [17, { job = 'x', ending = 'any' }]",
            "/after",
            json!([["17", "done"], ["x", "any"]]),
        ),
        ("after = [{ job = 'x', ending = 'not-done' }]", "/after", json!([["x", "notdone"]])),
    ]
}

/// The same of what a workload file has too.
fn shared() -> Vec<(&'static str, &'static str, Value)> {
    vec![
        ("name = 'n'", "/job/name", json!("n")),
        ("tenant = 't'", "/job/tenant", json!("t")),
        ("priority = -2", "/job/priority", json!(-2)),
        ("tasks = 4", "/job/tasks", json!(4)),
        ("gang = true", "/job/gang", json!(true)),
        ("gang = true\ntasks_per_node = 2", "/job/tasks_per_node", json!(2)),
        ("gang = true\nswitches = 1", "/job/switches", json!(1)),
        ("work = 2.5", "/job/work", json!(2.5)),
        ("work = 1\ndeadline = '2h'", "/job/deadline", json!("2h")),
        ("inputs = [{ name = 'i', size = '1GB' }]", "/job/inputs/0/name", json!("i")),
        ("outputs = [{ name = 'o', size = '1GB' }]", "/job/outputs/0/name", json!("o")),
        ("time_limit = '90s'", "/job/work", json!(90.0)),
        ("cores = 0.5", "/job/alternative/0/cores", json!(0.5)),
        ("memory = '4G'", "/job/alternative/0/memory", json!("4G")),
        ("device = { kind = 'gpu' }", "/job/alternative/0/device/kind", json!("gpu")),
        ("numa = 'single'", "/job/alternative/0/numa", json!("single")),
        (
            "memory = '1G'\nmemory_bandwidth = '1GB/s'",
            "/job/alternative/0/memory_bandwidth",
            json!("1GB/s"),
        ),
        ("network_bandwidth = '1GB/s'", "/job/alternative/0/network_bandwidth", json!("1GB/s")),
        ("labels = { zone = 'a' }", "/job/alternative/0/labels/zone", json!("a")),
        ("rates = { A100 = 10 }", "/job/alternative/0/rates/A100", json!(10)),
        (
            "communication = { pattern = 'ring', bytes = '1MB' }",
            "/job/alternative/0/communication/pattern",
            json!("ring"),
        ),
        ("alternative = [{ cores = 2 }, { cores = 4 }]", "/job/alternative/1/cores", json!(4)),
    ]
}

#[test]
fn every_field_changes_what_is_submitted() {
    let base = toml(COMMAND);
    for (field, place, expected) in own().into_iter().chain(shared()) {
        let told = toml(&format!("{COMMAND}{field}"));
        assert_eq!(told.pointer(place), Some(&expected), "{field}");
        assert_ne!(base.pointer(place), Some(&expected), "{field}: without it");
    }
}

#[test]
fn what_is_not_said_is_as_for_a_command() {
    let mut told = toml(COMMAND);
    told["environment"].take();
    assert_eq!(
        told,
        json!({
            "job": {
                "name": "true",
                "tenant": "ann",
                "tasks": 1,
                "alternative": [{ "cores": 1 }],
            },
            "arguments": ["/bin/true", "x"],
            "directory": "/here",
            "environment": null,
            "output": "kept",
            "time_limit": null,
            "restart": { "retries": 0, "requeue": true },
            "after": [],
            "first": 0,
            "held": false,
        })
    );
}

#[test]
fn a_script_is_a_line_for_the_shell() {
    assert_eq!(toml("script = 'a | b'")["arguments"], json!(["/bin/sh", "-c", "a | b"]));
}

#[test]
fn entries_come_from_files_and_an_array_picks_some() {
    let folder = tempfile::tempdir().unwrap();
    let (lines, list) = (folder.path().join("lines"), folder.path().join("list"));
    std::fs::write(&lines, "one\ntwo three\n\nfour\n").unwrap();
    std::fs::write(&list, r#"["a", {"b": 1}, 3]"#).unwrap();
    let (lines, list) = (lines.display(), list.display());
    let each = toml(&format!("{COMMAND}each_line = '{lines}'"));
    assert_eq!(each["entries"], json!(["one", "two three", "", "four"]));
    let picked = toml(&format!("{COMMAND}each_line = '{lines}'\narray = '1-2'"));
    assert_eq!((&picked["entries"], &picked["first"]), (&json!(["two three", ""]), &json!(1)));
    let json = toml(&format!("{COMMAND}from_json = '{list}'"));
    assert_eq!(json["entries"], json!(["\"a\"", "{\"b\":1}", "3"]));
    assert_eq!(json["job"]["tasks"], 3);
}

#[test]
fn yaml_and_json_say_the_same_as_toml() {
    let toml = "format = 1\n[[job]]\nname = 'a'\ncommand = ['x']\ntime_limit = '1h'\n\
                environment = { A = '1' }\n[[job.alternative]]\ncores = 2\nmemory = '1G'\n";
    let yaml = "format: 1\njob:\n- name: a\n  command: [x]\n  time_limit: 1h\n  environment:\n    \
                A: '1'\n  alternative:\n  - cores: 2\n    memory: 1G\n";
    let json = r#"{"format": 1, "job": [{"name": "a", "command": ["x"], "time_limit": "1h",
        "environment": {"A": "1"}, "alternative": [{"cores": 2, "memory": "1G"}]}]}"#;
    let of = |name: &str, text: &str| -> Vec<Submission> {
        let read = read(name, text);
        assert_eq!(read.faults, [], "{name}");
        read.jobs
    };
    let expected = json!(of("a.toml", toml));
    for (name, text) in [("a.yaml", yaml), ("a.yml", yaml), ("a.json", json)] {
        assert_eq!(json!(of(name, text)), expected, "{name}");
    }
}

#[test]
fn the_example_of_the_page_is_read() {
    let page = include_str!("../../../../docs/files.md");
    let chapter = page.split("\n## Job files\n").nth(1).unwrap();
    let example = chapter.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let read = read("jobs.toml", example);
    assert_eq!(read.faults, []);
    let after = |index: usize| json!(read.jobs[index].after);
    assert_eq!((after(1), after(2)), (json!([["#1", "done"]]), json!([["#2", "any"]])));
}

#[test]
fn standard_input_is_told_by_how_it_begins() {
    let jobs = |text: &str| {
        let read = job_file::read((Path::new("-"), text), &[], &around()).unwrap();
        assert_eq!(read.faults, [], "{text}");
        read.jobs[0].arguments[0].clone()
    };
    assert_eq!(jobs("#!/bin/dash\ntrue\n"), "/bin/dash");
    assert_eq!(jobs("{\"format\": 1, \"job\": [{\"command\": [\"json\"]}]}"), "json");
    assert_eq!(jobs("---\nformat: 1\njob:\n- command: [yaml]\n"), "yaml");
    assert_eq!(jobs("format = 1\n[[job]]\ncommand = ['toml']\n"), "toml");
}
