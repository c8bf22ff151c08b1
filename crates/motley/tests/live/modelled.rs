//! Nodes that are only modelled, beside the machine of a daemon.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Stdio;

use serde_json::Value;

use crate::place::{Place, wait_until};

const FLEET: &str = r#"
format = 1

[device.EPYC]
kind = "cpu"

[device.A100]
kind = "gpu"
memory = "40GiB"

[[node]]
name = "big"
count = 20
cpu = "EPYC"
cores = 8
memory = "64GiB"
devices = { A100 = 2 }
labels = { zone = "a" }
"#;

fn up() -> Place {
    let place = Place::new();
    std::fs::write(place.file("fleet.toml"), FLEET).unwrap();
    place.start_with(&["--model", &place.file("fleet.toml")]);
    place
}

fn job(place: &Place, job: &str) -> Value {
    place.json(&["job", "show", job, "--json"])
}

/// Where the tasks of a job run, with attempt and start.
fn runs(place: &Place, number: &str) -> BTreeSet<(String, u64, u64)> {
    let view = job(place, number);
    let runs = view["runs"].as_array().cloned().unwrap_or_default();
    let number = |run: &Value, field: &str| run[field].as_u64().unwrap();
    let of = |run: &Value| {
        let node = run["node"].as_str().unwrap().to_owned();
        (node, number(run, "attempt"), number(run, "since"))
    };
    runs.iter().map(of).collect()
}

fn states(place: &Place) -> Vec<String> {
    let nodes = place.json(&["nodes", "--json"]);
    let state = |node: &Value| node["state"].as_str().unwrap().to_owned();
    nodes.as_array().unwrap().iter().map(state).collect()
}

#[test]
fn tasks_run_on_modelled_nodes_in_real_time_and_run_no_program_there() {
    let place = up();
    assert_eq!(states(&place), vec!["up"; 21]);
    let touched = place.file("touched");
    let wide = ["--array", "1-40", "--cpus", "4", "--time", "3s", "--label", "world=modelled"];
    let wide = place.submit(&[&wide[..], &["--", "touch", &touched]].concat());
    wait_until("all run", || job(&place, &wide)["running"] == 40);
    let nodes: BTreeSet<_> = runs(&place, &wide).into_iter().map(|(node, ..)| node).collect();
    assert!(nodes.len() > 2 && nodes.iter().all(|node| node.starts_with("big-")), "{nodes:?}");
    // Two devices of a kind that this machine may not have, and a label of the file.
    let asks = ["--gpus", "A100:2", "--label", "zone=a", "--time", "1s", "--", "touch", &touched];
    let devices = place.submit(&asks);
    assert_eq!((place.wait(&devices), place.wait(&wide)), (0, 0));
    assert!(!Path::new(&touched).exists(), "nobody ran it");
    assert_eq!(place.run(&["job", "logs", &devices]).1, "");
    let real = place.submit(&["--label", "world=real", "--", "touch", &touched]);
    assert_eq!(place.wait(&real), 0);
    assert!(Path::new(&touched).exists(), "this machine ran it");
    let status = place.json(&["status", "--json"]);
    let note =
        status["notes"].as_array().unwrap().iter().any(|note| {
            note.as_str().is_some_and(|note| note.starts_with("20 nodes are modelled"))
        });
    assert!(note, "{status}");
}

#[test]
fn status_tells_what_turns_cost() {
    let place = up();
    place.wait(&place.submit(&["--label", "world=real", "--", "true"]));
    place.wait(&place.submit(&["--label", "world=modelled", "--time", "1s", "--", "true"]));
    let status = place.json(&["status", "--json"]);
    let phases = status["phases"].as_array().unwrap();
    let of = |phase: &str| phases.iter().find(|view| view["phase"] == phase).unwrap();
    let mean = |phase: &str| of(phase)["mean_ms"].as_f64().unwrap();
    // Only what was asked or ordered counts, and only processes of this machine start.
    assert_eq!((of("start")["count"].as_u64(), of("whole")["count"].as_u64()), (Some(1), Some(2)));
    let parts: f64 = ["collect", "match", "decide", "write", "order"].map(mean).iter().sum();
    assert!(parts > 0.95 * mean("whole") && parts <= mean("whole"), "{status}");
    assert!(mean("start") > 0.0 && place.run(&["status"]).1.contains("whole"), "{status}");
}

#[test]
fn modelled_runs_are_cancelled_and_their_nodes_drained() {
    let place = up();
    let asks = ["--cpus", "8", "--time", "1h", "--label", "world=modelled", "--", "true"];
    let first = place.submit(&asks);
    wait_until("it runs", || job(&place, &first)["running"] == 1);
    let (node, ..) = runs(&place, &first).pop_first().unwrap();
    assert_eq!(place.run(&["node", "drain", &node]).0, 0);
    assert_eq!(place.run(&["job", "cancel", &first]).0, 0);
    assert_eq!(place.wait(&first), 130);
    let second = place.submit(&asks);
    wait_until("the next runs", || job(&place, &second)["running"] == 1);
    assert_ne!(runs(&place, &second).pop_first().unwrap().0, node);
    let is_drained = |view: &Value| view["name"] == node.as_str() && view["state"] == "drained";
    assert!(place.json(&["nodes", "--json"]).as_array().unwrap().iter().any(is_drained));
}

#[test]
fn what_runs_on_modelled_nodes_outlives_the_daemon() {
    let place = up();
    let modelled = ["--label", "world=modelled", "--cpus", "4"];
    let long = [&modelled[..], &["--array", "1-30", "--time", "1h", "--", "true"]].concat();
    let long = place.submit(&long);
    let short = place.submit(&[&modelled[..], &["--time", "2s", "--", "true"]].concat());
    // Some of them have room beside the others, and the rest after those.
    let more = ["--array", "1-20", "--cpus", "4", "--time", "1s", "--label", "world=modelled"];
    let more = place.submit(&[&more[..], &["--", "true"]].concat());
    wait_until("both run", || {
        job(&place, &long)["running"] == 30 && job(&place, &short)["running"] == 1
    });
    let before = runs(&place, &long);
    place.kill_daemon();
    place.start();
    assert_eq!(place.wait(&short), 0);
    assert_eq!(place.wait(&more), 0);
    assert_eq!(runs(&place, &long), before, "the same attempts, since the same time");
    assert_eq!(job(&place, &short)["done"], 1);
    // Told to stop, they begin again once the daemon is back.
    assert_eq!(place.run(&["down", "--now"]).0, 0);
    place.start();
    wait_until("all run again", || job(&place, &long)["running"] == 30);
    assert!(runs(&place, &long).iter().all(|(_, attempt, _)| *attempt == 1));
    assert_eq!(states(&place), vec!["up"; 21]);
    // Left alone they go on, and without the nodes they wait.
    let before = runs(&place, &long);
    assert_eq!(place.run(&["down", "--leave"]).0, 0);
    place.start();
    wait_until("the daemon has looked", || runs(&place, &long) == before);
    assert_eq!(place.run(&["down", "--leave"]).0, 0);
    place.start_with(&["--no-model"]);
    wait_until("they wait", || job(&place, &long)["waiting"] == 30);
    assert_eq!(states(&place).iter().filter(|state| *state == "lost").count(), 20);
}

#[test]
fn a_daemon_that_drains_starts_nothing_anywhere_and_is_whole_again_afterwards() {
    let place = up();
    let asks = |cpus| ["--cpus", cpus, "--time", "3s", "--label", "world=modelled", "--", "true"];
    let first = place.submit(&asks("8"));
    wait_until("it runs", || job(&place, &first)["running"] == 1);
    assert_eq!(place.run(&["node", "drain", "big-7"]).0, 0);
    let ending = place.command(&["down"]).stdout(Stdio::piped()).spawn().unwrap();
    wait_until("all are drained", || states(&place) == vec!["drained"; 21]);
    assert!(ending.wait_with_output().unwrap().status.success());
    place.start();
    assert_eq!(job(&place, &first)["state"], "done");
    wait_until("all but one are back", || {
        states(&place).iter().filter(|state| *state == "up").count() == 20
    });
}

#[test]
fn a_fleet_that_changes_keeps_the_nodes_that_it_keeps() {
    let place = up();
    let asks = ["--cpus", "8", "--time", "1h", "--label", "zone=b", "--", "true"];
    let other = FLEET.replace("\"big\"", "\"new\"").replace("\"a\"", "\"b\"");
    let nodes = other.split("[[node]]").nth(1).unwrap();
    std::fs::write(place.file("more.toml"), format!("{FLEET}[[node]]{nodes}")).unwrap();
    let first = place.submit(&["--cpus", "8", "--time", "1h", "--label", "zone=a", "--", "true"]);
    wait_until("it runs", || job(&place, &first)["running"] == 1);
    let before = runs(&place, &first);
    assert_eq!(place.run(&["down", "--leave"]).0, 0);
    // The old nodes come last in the file, and are the same all the same.
    let (head, _) = other.split_once("[[node]]").unwrap();
    let old = FLEET.split("[[node]]").nth(1).unwrap();
    std::fs::write(place.file("more.toml"), format!("{head}[[node]]{nodes}[[node]]{old}")).unwrap();
    place.start_with(&["--model", &place.file("more.toml")]);
    let second = place.submit(&asks);
    wait_until("it runs on a new node", || job(&place, &second)["running"] == 1);
    assert!(runs(&place, &second).pop_first().unwrap().0.starts_with("new-"));
    assert_eq!(runs(&place, &first), before);
    assert_eq!(states(&place), vec!["up"; 41]);
}

#[test]
fn a_fleet_that_cannot_be_modelled_is_refused_and_not_kept() {
    let place = Place::up();
    let machine = place.json(&["nodes", "--json"])[0]["name"].as_str().unwrap().to_owned();
    assert_eq!(place.run(&["down"]).0, 0);
    let file = place.file("fleet.toml");
    for (text, expected) in [
        (FLEET.replace("count = 20", "count = 10001"), "at most 10000"),
        (
            FLEET.replace("\"big\"", &format!("{machine:?}")).replace("count = 20", "count = 1"),
            "has the name of this machine",
        ),
        (FLEET.replace("zone =", "world ="), "modelled nodes get by themselves"),
        ("format = 1\n[[nodes]]\n".to_owned(), "nodes"),
    ] {
        std::fs::write(&file, text).unwrap();
        let (status, _, errors) = place.run(&["up", "--detach", "--model", &file]);
        assert!(status != 0 && errors.contains(expected) && errors.contains(&file), "{errors}");
    }
    let (status, _, errors) = place.run(&["up", "--detach", "--model", &place.file("no-such")]);
    assert!(status != 0 && errors.contains("no-such"), "{errors}");
    assert_eq!(place.run(&["up", "--detach", "--model", &file, "--no-model"]).0, 2);
    place.start();
    assert_eq!(states(&place), ["up"], "none of them is in force");
    let (status, _, errors) = place.run(&["submit", "--label", "a=1", "--label", "a=2", "--", "x"]);
    assert!(status != 0 && errors.contains("given twice"), "{errors}");
}
