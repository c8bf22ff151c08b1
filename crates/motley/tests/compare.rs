//! `motley compare` as its users meet it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

mod program;

use program::{files, run};
use serde_json::Value;

const FLEET: &str = "format = 1\n[device.epyc]\nkind = \"cpu\"\n\
    [device.t4]\nkind = \"gpu\"\n[device.h100]\nkind = \"gpu\"\n\
    [[node]]\nname = \"first\"\ncpu = \"epyc\"\ncores = 8\nmemory = \"8GiB\"\ndevices = { t4 = 1 }\n\
    [[node]]\nname = \"second\"\ncpu = \"epyc\"\ncores = 8\nmemory = \"8GiB\"\ndevices = { h100 = 1 }\n";

/// Ten times as fast on the H100, which round-robin does not know.
const JOB: &str = "{\"name\": \"train\", \"work\": 600, \"alternative\": [{\"cores\": 1, \
    \"device\": {\"kind\": \"gpu\"}, \"rates\": {\"t4\": 1, \"h100\": 10}}]}\n";

/// Compares the default policy and round-robin on this little fleet.
fn compare(more: &[&str]) -> (i32, String, String) {
    let (_folder, paths) = files(&[("fleet.toml", FLEET), ("jobs.jsonl", JOB)]);
    let (fleet, jobs) = (&*paths[0], &*paths[1]);
    let base = ["compare", "--fleet", fleet, "--jobs", jobs, "--quiet"];
    let policies = ["--policy", "default", "--policy", "round-robin"];
    run(&[&base[..], &policies, more].concat())
}

fn json(more: &[&str]) -> Value {
    let (status, output, error) = compare(&[more, &["--json"]].concat());
    assert_eq!(status, 0, "{error}");
    serde_json::from_str(&output).unwrap()
}

fn figure<'a>(compared: &'a Value, name: &str) -> &'a Value {
    let figures = compared["others"][0]["figures"].as_array().unwrap();
    figures.iter().find(|one| one["figure"] == name).unwrap()
}

#[test]
fn one_seed_or_one_policy_is_refused() {
    let (status, _, error) = run(&["compare", "--seeds", "1"]);
    assert_eq!(status, 2);
    assert!(error.contains("at least 2 are needed to tell a difference from chance"), "{error}");
    let (status, _, error) = run(&["compare", "--policy", "pack", "--seeds", "2"]);
    assert_eq!(status, 1);
    let expected = "error: failed to compare the policies: there is only \"pack\"; name at least \
                    two with --policy\n";
    assert_eq!(error, expected);
}

#[test]
fn differences_are_those_to_the_first_policy_with_their_interval() {
    let told = json(&["--rate-error", "0.3", "--seeds", "5"]);
    assert_eq!((&told["format"], &told["first"]), (&1.into(), &"default".into()));
    assert_eq!(told["method"]["interval"], "paired-student-t");
    assert_eq!(told["others"][0]["policy"], "round-robin");
    let row = figure(&told, "completion_seconds_mean");
    let summaries = told["summaries"].as_array().unwrap();
    let seconds = |summary: &Value| summary["completion_seconds"]["mean"].as_f64().unwrap();
    let (first, other) = summaries.split_at(5);
    let pairs = first.iter().zip(other);
    let differences: Vec<f64> =
        pairs.map(|(first, other)| seconds(other) - seconds(first)).collect();
    let mean = differences.iter().sum::<f64>() / 5.0;
    let squares: f64 = differences.iter().map(|one| (one - mean).powi(2)).sum();
    // The 97.5 % quantile of t with four degrees of freedom.
    let reach = 2.776_445 * (squares / 4.0 / 5.0).sqrt();
    let near = |value: &Value, expected: f64| (value.as_f64().unwrap() - expected).abs() < 1e-3;
    let difference = &row["difference"];
    assert!(near(&difference["mean"], mean) && mean > 0.0, "{row}");
    assert!(near(&difference["interval"]["low"], mean - reach), "{row}");
    assert!(near(&difference["interval"]["high"], mean + reach), "{row}");
    assert_eq!(difference["excludes_zero"], mean - reach > 0.0);
    assert_eq!(row["verdict"], "worse");
    assert_eq!(figure(&told, "tasks_done")["verdict"], "equal");
    assert_eq!(figure(&told, "deadline_misses")["verdict"], "nothing");
}

#[test]
fn seeds_alone_change_the_intervals() {
    let interval = |seeds| {
        let told = json(&["--rate-error", "0.3", "--seeds", seeds]);
        figure(&told, "completion_seconds_mean")["difference"]["interval"].clone()
    };
    assert_ne!(interval("2"), interval("3"));
}

#[test]
fn seeds_that_draw_nothing_are_told() {
    let note = "Every seed gave the same differences";
    let (_, alike, _) = compare(&["--seeds", "2"]);
    assert!(alike.contains(note), "{alike}");
    let (_, drawn, _) = compare(&["--seeds", "2", "--rate-error", "0.3"]);
    assert!(!drawn.contains(note), "{drawn}");
    assert!(drawn.contains("95 % intervals of their mean by Student's t"), "{drawn}");
    assert!(drawn.contains("completion, mean"), "{drawn}");
}

#[test]
fn plot_draws_every_policy_but_the_first_and_must_be_writable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("d.svg");
    let (status, _, error) = compare(&["--seeds", "2", "--plot", path.to_str().unwrap()]);
    assert_eq!(status, 0, "{error}");
    let text = std::fs::read_to_string(path).unwrap();
    let svg = roxmltree::Document::parse(&text).unwrap();
    let texts: Vec<_> = svg
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .filter_map(|node| node.text().map(str::trim))
        .collect();
    for expected in ["round-robin", "completion, mean (less is better)"] {
        assert!(texts.contains(&expected), "{texts:?}");
    }
    // A tenfold time on the slower device is beyond the axis, and written.
    assert!(texts.contains(&"mean +900 %"), "{texts:?}");
    let nowhere = folder.path().join("no/d.svg");
    let (status, output, error) = compare(&["--seeds", "2", "--plot", nowhere.to_str().unwrap()]);
    assert_eq!((status, &*output), (1, ""));
    assert!(error.contains("name another file by --plot"), "{error}");
}
