//! The scenarios of the docs, as their readers run them: where jobs go and when they end, with what
//! a policy weighs and without it.
//!
//! Places and times are written out here as literals, and again in the page on scenarios, which
//! must have the same ones. The model world has an account of its own of what slows jobs; its
//! strength is halved and doubled where it matters.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

mod program;

use std::path::PathBuf;

use program::{files, run};
use serde_json::Value;

/// How strongly the world slows jobs, half of it and twice as much.
const STRENGTHS: [&str; 3] = ["1", "0.5", "2"];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/scenarios")
}

/// What one run of a scenario came to.
struct Course {
    /// The node and the devices that each task of the job was on, by time and then by lane.
    place: String,
    /// From the arrival of the job to its end, in whole seconds.
    seconds: u64,
}

/// Runs a scenario under a policy, and follows one job of it that arrives at a second.
fn course(scenario: &str, policy: &str, strength: &str, (job, arrives): (&str, u64)) -> Course {
    let here = folder().join(scenario);
    let text = std::fs::read_to_string(here.join("jobs.toml")).unwrap();
    let world = format!("\n[world]\ncontention = {strength}\nremote_memory = {strength}\n");
    let (out, jobs) = files(&[("jobs.toml", &(text + &world))]);
    let jobs = PathBuf::from(&jobs[0]);
    let policy = folder().join(format!("{policy}.toml"));
    let (fleet, report, data) =
        (here.join("fleet.toml"), out.path().join("report"), here.join("data.toml"));
    let named = [("--fleet", &fleet), ("--jobs", &jobs), ("--policy", &policy)];
    let mut arguments = vec!["simulate", "--quiet", "--report", report.to_str().unwrap()];
    for (name, path) in named.into_iter().chain(data.exists().then_some(("--data", &data))) {
        arguments.extend([name, path.to_str().unwrap()]);
    }
    let (status, _, error) = run(&arguments);
    assert_eq!(status, 0, "{error}");
    let report = std::fs::read_to_string(report.join("report.json")).unwrap();
    let report: Value = serde_json::from_str(&report).unwrap();
    read(&report["courses"][0]["lanes"], job, arrives)
}

fn read(lanes: &Value, job: &str, arrives: u64) -> Course {
    let bars = lanes["bars"].as_array().unwrap().iter().filter(|bar| bar["job"] == job);
    let mut bars: Vec<&Value> = bars.collect();
    bars.sort_by_key(|bar| (bar["from_seconds"].as_f64().unwrap().to_bits(), bar["lane"].as_u64()));
    let lane = |bar: &&Value| {
        let lane = &lanes["lanes"][usize::try_from(bar["lane"].as_u64().unwrap()).unwrap()];
        let node = lane["node"].as_str().unwrap();
        lane["device"].as_u64().map_or_else(|| node.to_owned(), |device| format!("{node}:{device}"))
    };
    let places: Vec<String> = bars.iter().map(lane).collect();
    let end = bars.iter().map(|bar| bar["to_seconds"].as_f64().unwrap()).fold(0.0, f64::max);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a few minutes")]
    let end = end.round() as u64;
    Course { place: places.join(" "), seconds: end - arrives }
}

/// Where a job goes under one policy and under another, and how long it takes there in worlds of
/// all strengths. The page has the same as a row.
#[track_caller]
fn check(
    scenario: &str,
    job: (&str, u64),
    (with, place, seconds): (&str, &str, [u64; 3]),
    (without, other, others): (&str, &str, [u64; 3]),
) {
    for (policy, place, seconds) in [(with, place, seconds), (without, other, others)] {
        for (strength, seconds) in STRENGTHS.into_iter().zip(seconds) {
            let found = course(scenario, policy, strength, job);
            assert_eq!(
                (&*found.place, found.seconds),
                (place, seconds),
                "{scenario}: {policy}, {strength}"
            );
        }
    }
    let page = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let times = |[one, half, twice]: [u64; 3]| match one == half && one == twice {
        true => format!("{one} s"),
        false => format!("{one} s ({half}, {twice})"),
    };
    let (name, _) = job;
    let row = format!(
        "| [`{scenario}`](#{scenario}) | `{name}` | `{place}`: {} | `{other}`: {} |",
        times(seconds),
        times(others)
    );
    assert!(page.contains(&row), "the page has no row\n{row}");
}

#[test]
fn job_bound_by_memory_goes_where_its_memory_is_near() {
    check(
        "numa",
        ("stencil", 1),
        ("soonest", "whole", [111, 111, 111]),
        ("blind", "split", [141, 121, 182]),
    );
}

#[test]
fn ring_takes_the_whole_quad_of_the_mesh() {
    check(
        "ring",
        ("train", 1),
        ("soonest", "mesh:4 mesh:5 mesh:6 mesh:7", [112, 106, 124]),
        ("blind", "pcie:0 pcie:1 pcie:2 pcie:3", [200, 150, 300]),
    );
}

#[test]
fn gang_stays_in_one_rack_on_slower_devices() {
    check(
        "gang",
        ("train", 0),
        ("soonest", "v-0:0 v-1:0", [115, 108, 130]),
        ("blind", "a-left:0 a-right:0", [200, 125, 350]),
    );
}

#[test]
fn workers_stay_on_the_node_of_their_server() {
    check(
        "incast",
        ("train", 0),
        ("soonest", "v:0 v:1 v:2 v:3", [100, 100, 100]),
        ("blind", "a-0:0 a-1:0 a-2:0 a-3:0", [200, 125, 350]),
    );
}

#[test]
fn jobs_that_load_their_devices_go_below_different_switches() {
    check(
        "staging",
        ("second", 0),
        ("soonest", "host:2", [100, 100, 100]),
        ("unlimited", "host:1", [150, 125, 200]),
    );
}

#[test]
fn stream_of_memory_leaves_another_its_bandwidth() {
    check(
        "stream",
        ("first", 0),
        ("considerate", "fast", [100, 100, 100]),
        ("unlimited", "fast", [125, 113, 150]),
    );
    let second = |policy| {
        let course = course("stream", policy, "1", ("second", 10));
        (course.place, course.seconds)
    };
    assert_eq!(second("considerate"), ("slow".to_owned(), 100));
    assert_eq!(second("unlimited"), ("fast".to_owned(), 75));
}

#[test]
fn small_jobs_leave_the_big_cards_to_those_that_need_them() {
    check(
        "cards",
        ("large", 30),
        ("roomy", "big:0 big:1", [100, 100, 100]),
        ("hasty", "big:1 big:1", [200, 200, 200]),
    );
    let small = |policy| {
        let course = course("cards", policy, "1", ("small", 20));
        (course.place, course.seconds)
    };
    assert_eq!(small("roomy"), ("small:0 small:1".to_owned(), 1000));
    assert_eq!(small("hasty"), ("big:0 big:0".to_owned(), 909));
}

#[test]
fn job_waits_for_the_node_that_has_its_500_gb() {
    check(
        "data",
        ("train", 10),
        ("soonest", "near", [150, 150, 150]),
        ("blind", "far", [500, 500, 500]),
    );
}
