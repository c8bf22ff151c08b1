//! Data far away: what it costs to fetch it, to wait for it and to ignore it, in the model world.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::fmt::Write as _;

use controller::policy_file;
use fleet::{Catalogue, Policy};
use sim::checkers::Checks;
use sim::read::{self, catalogue_from, inventory_from, workload_from};
use sim::scenario::{Ending, Options, motley, run};
use sim::world::Event;

/// Two nodes of 8 cores; 10 Gbit/s are 1.25 GB/s, so that 500 GB take 400 s.
const FLEET: &str = r#"
format = 1
[device.EPYC]
kind = "cpu"
[[node]]
name = "far"
cpu = "EPYC"
cores = 8
memory = "8GiB"
network = "10Gbit/s"
labels = { rack = "far" }
[[node]]
name = "near"
cpu = "EPYC"
cores = 8
memory = "8GiB"
network = "10Gbit/s"
labels = { rack = "near" }
"#;

const DATA: &str = r#"
format = 1
[[data]]
name = "images"
size = "500GB"
on = ["near"]
"#;

const READS: &str = r#"inputs = [{ name = "images", size = "500GB" }]"#;

/// A job of 8 cores, with more fields and a label that it asks for.
fn job(name: &str, fields: &str, labels: &str) -> String {
    format!(
        "[[job]]\nname = \"{name}\"\n{fields}\n[[job.alternative]]\ncores = 8\n\
         labels = {{ {labels} }}\n"
    )
}

fn policy(weights: &str) -> Policy {
    let text = format!(
        "format = 1\nname = \"x\"\norder = [\"first-in\"]\npick = \"weighted\"\n[[tier]]\n\
         rule = \"fixed\"\nweights = {{ {weights} }}\n"
    );
    policy_file::read("x", &text).unwrap()
}

/// Every run that was done: job, node and second.
fn done(
    fleet: &str,
    data: Option<&str>,
    jobs: &[String],
    weights: &str,
) -> Vec<(String, String, u64)> {
    let options = read::Options::default();
    let inventory = inventory_from(fleet.as_bytes(), "fleet", &options).unwrap().value;
    let jobs = format!("format = 1\n{}", jobs.concat());
    let workload = workload_from(jobs.as_bytes(), "jobs", &inventory, &options).unwrap().value;
    let catalogue = match data {
        Some(data) => catalogue_from(data.as_bytes(), "data", &inventory, &options).unwrap().value,
        None => Catalogue::default(),
    };
    let options = Options { catalogue, checks: Checks::Thorough, ..Options::default() };
    let outcome = run(&inventory, &workload, &policy(weights), options, &mut motley());
    assert_eq!((outcome.violations, outcome.ending), (vec![], Ending::Finished));
    let mut nodes = std::collections::BTreeMap::new();
    let mut done = Vec::new();
    for entry in &outcome.log {
        match &entry.event {
            Event::Started(start) => _ = nodes.insert(start.run, start.node),
            Event::Done { run, .. } => {
                let job = workload.jobs.iter().find(|job| job.id == run.job).unwrap();
                let node = &inventory.nodes[nodes[run].index()];
                done.push((job.name.clone(), node.name.clone(), entry.at.0 / 1_000_000));
            }
            _ => {}
        }
    }
    done
}

#[track_caller]
fn check(jobs: &[String], weights: &str, expected: &[(&str, &str, u64)]) {
    let found = done(FLEET, Some(DATA), jobs, weights);
    let found: Vec<_> = found.iter().map(|(job, node, at)| (&**job, &**node, *at)).collect();
    assert_eq!(found, expected);
}

const COMPLETION: &str = "completion = 1";
/// Neither time nor bytes: what does not know of data.
const NEITHER: &str = "utilisation = 1";

#[test]
fn data_500_gb_away_costs_400_s_where_nobody_asks_for_it() {
    let jobs = [job("a", &format!("work = 100\n{READS}"), "")];
    check(&jobs, COMPLETION, &[("a", "near", 100)]);
    check(&jobs, "locality = 1", &[("a", "near", 100)]);
    check(&jobs, NEITHER, &[("a", "far", 500)]);
}

#[test]
fn waiting_60_s_for_the_node_with_the_data_saves_340_s() {
    let before = job("before", "work = 60", "rack = \"near\"");
    let jobs = [before, job("a", &format!("arrives = \"10s\"\nwork = 100\n{READS}"), "")];
    check(&jobs, COMPLETION, &[("before", "near", 60), ("a", "near", 160)]);
    check(&jobs, NEITHER, &[("before", "near", 60), ("a", "far", 510)]);
}

#[test]
fn a_job_moves_where_waiting_would_take_longer() {
    let before = job("before", "work = 1000", "rack = \"near\"");
    let jobs = [before, job("a", &format!("arrives = \"10s\"\nwork = 100\n{READS}"), "")];
    check(&jobs, COMPLETION, &[("a", "far", 510), ("before", "near", 1000)]);
    // Where it must be near, it ends 590 s later.
    let near = job("a", &format!("arrives = \"10s\"\nwork = 100\n{READS}"), "rack = \"near\"");
    let jobs = [jobs[0].clone(), near];
    check(&jobs, COMPLETION, &[("before", "near", 1000), ("a", "near", 1100)]);
}

#[test]
fn many_jobs_share_their_time_between_waiting_and_fetching() {
    let fields = format!("tasks = 10\nwork = 100\n{READS}");
    let found = done(FLEET, Some(DATA), &[job("a", &fields, "")], COMPLETION);
    let far: Vec<_> = found.iter().filter(|(_, node, _)| node == "far").map(|one| one.2).collect();
    // The first to move has to fetch, and leaves what it fetched for the others.
    assert_eq!(far, [500, 600, 700]);
    assert_eq!(found.iter().map(|one| one.2).max(), Some(700));
    // On the node with the data alone they take 1000 s.
    let near = done(FLEET, Some(DATA), &[job("a", &fields, "rack = \"near\"")], COMPLETION);
    assert_eq!(near.iter().map(|one| one.2).max(), Some(1000));
}

#[test]
fn later_jobs_find_what_a_job_wrote() {
    let written = "work = 50\noutputs = [{ name = \"made\", size = \"500GB\" }]";
    let reads = "arrives = \"60s\"\nwork = 100\ninputs = [{ name = \"made\", size = \"500GB\" }]";
    let make = |fields: &str| job("make", fields, "rack = \"near\"");
    let jobs = [make(written), job("use", reads, "")];
    check(&jobs, COMPLETION, &[("make", "near", 50), ("use", "near", 160)]);
    // Nobody knows of it: it comes from outside.
    let jobs = [make("work = 50"), job("use", reads, "")];
    check(&jobs, COMPLETION, &[("make", "near", 50), ("use", "far", 560)]);
}

#[test]
fn what_was_fetched_whole_is_fetched_once() {
    let far = |name: &str, at: u32, size: &str| {
        let fields = format!(
            "arrives = \"{at}s\"\nwork = 100\ninputs = [{{ name = \"images\", size = \"{size}\" }}]"
        );
        job(name, &fields, "rack = \"far\"")
    };
    let whole = [far("a", 0, "500GB"), far("b", 600, "500GB")];
    check(&whole, COMPLETION, &[("a", "far", 500), ("b", "far", 700)]);
    let parts = [far("a", 0, "499GB"), far("b", 600, "500GB")];
    check(&parts, COMPLETION, &[("a", "far", 499), ("b", "far", 1100)]);
}

#[test]
fn a_node_keeps_the_latest_sixteen_copies() {
    let mut data = "format = 1\n".to_owned();
    let mut jobs = Vec::new();
    let far = |name: &str, number: usize| {
        let fields =
            format!("work = 1\ninputs = [{{ name = \"data{number}\", size = \"125GB\" }}]");
        job(name, &fields, "rack = \"far\"")
    };
    for number in 0..17 {
        write!(data, "[[data]]\nname = \"data{number}\"\nsize = \"125GB\"\non = [\"near\"]\n")
            .unwrap();
        jobs.push(far("first", number));
    }
    jobs.extend([far("kept", 1), far("gone", 0)]);
    let found = done(FLEET, Some(&data), &jobs, COMPLETION);
    let ends: Vec<u64> = found[16..].iter().map(|one| one.2).collect();
    // 17 times 100 s of fetching and one of work; one without fetching; one with.
    assert_eq!(ends, [1717, 1718, 1819]);
}

#[test]
fn the_slower_network_decides_in_the_world_as_well() {
    let jobs = [job("a", &format!("work = 100\n{READS}"), "rack = \"far\"")];
    for name in ["far", "near"] {
        let (before, after) = FLEET.split_once(&format!("name = \"{name}\"")).unwrap();
        let after = after.replacen("10Gbit/s", "5Gbit/s", 1);
        let slow = format!("{before}name = \"{name}\"{after}");
        let found = done(&slow, Some(DATA), &jobs, COMPLETION);
        assert_eq!(found, [("a".to_owned(), "far".to_owned(), 900)], "{name}");
    }
    let unknown = FLEET.replace("network = \"10Gbit/s\"", "");
    let found = done(&unknown, Some(DATA), &jobs, COMPLETION);
    assert_eq!(found, [("a".to_owned(), "far".to_owned(), 100)]);
}
