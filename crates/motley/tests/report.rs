//! `motley simulate --report` as its users meet it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

mod program;

use program::{files, run};
use serde_json::Value;

const FLEET: &str = "format = 1\n[device.epyc]\nkind = \"cpu\"\n\
    [device.t4]\nkind = \"gpu\"\npower = { idle = \"20W\", busy = \"70W\" }\n\
    [device.h100]\nkind = \"gpu\"\npower = { idle = \"50W\", busy = \"700W\" }\n\
    [[node]]\nname = \"first\"\ncpu = \"epyc\"\ncores = 8\nmemory = \"8GiB\"\ndevices = { t4 = 1 }\n\
    [[node]]\nname = \"second\"\ncpu = \"epyc\"\ncores = 8\nmemory = \"8GiB\"\ndevices = { h100 = 1 }\n";

/// Jobs of one device and ten minutes, and one that no node can run.
fn jobs(name: &str, tasks: u32) -> String {
    let job = |name: &str, tasks: u32, devices: u32| {
        format!(
            "{{\"name\": \"{name}\", \"work\": 600, \"tasks\": {tasks}, \"alternative\": \
             [{{\"cores\": 1, \"device\": {{\"kind\": \"gpu\", \"count\": {devices}}}, \
             \"rates\": {{\"t4\": 1, \"h100\": 10}}}}]}}\n"
        )
    };
    job(name, tasks, 1) + &job("vast", 1, 9)
}

/// The page, the document and what was printed, for these jobs.
fn report(jobs: &str, more: &[&str]) -> (String, Value, String) {
    let (folder, paths) = files(&[("fleet.toml", FLEET), ("jobs.jsonl", jobs)]);
    let out = folder.path().join("a/b");
    let base = ["simulate", "--fleet", &paths[0], "--jobs", &paths[1], "--report"];
    let policies = ["--policy", "default", "--policy", "round-robin"];
    let given = [&base[..], &[out.to_str().unwrap()], &policies, more].concat();
    let (status, output, error) = run(&given);
    assert_eq!(status, 0, "{error}");
    let read = |name: &str| std::fs::read_to_string(out.join(name)).unwrap();
    let json = serde_json::from_str(&read("report.json")).unwrap();
    (read("report.html"), json, output)
}

#[test]
fn page_is_one_file_that_asks_for_nothing_from_elsewhere() {
    let (page, _, _) = report(&jobs("train", 5), &[]);
    for outside in ["http:", "https:", "src=", "@import", "url(", "<script", "<link rel=\"style"] {
        assert!(!page.contains(outside), "{outside}");
    }
    let links = page.split("href=\"").skip(1);
    assert!(links.clone().count() > 5);
    for link in links {
        let target = link.split('"').next().unwrap();
        let is_here =
            target.strip_prefix('#').is_some_and(|id| page.contains(&format!("id=\"{id}\"")));
        assert!(is_here || target == "data:,", "{target}");
    }
}

#[test]
fn page_has_a_section_for_everything_and_a_table_beside_each_drawing() {
    let (page, _, _) = report(&jobs("train", 5), &[]);
    for id in [
        "tradeoffs",
        "allocation",
        "queue",
        "fragmentation",
        "power",
        "waits",
        "reasons",
        "map",
        "placements",
    ] {
        assert!(page.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    for text in ["no node could ever: number of devices", "no room: free devices", "t4 × 1"] {
        assert!(page.contains(text), "{text}");
    }
    let drawings = page.matches("<div class=\"strips\" aria-hidden").count()
        + page.matches("<div class=\"map\"").count()
        + page.matches("<svg viewBox=\"0 0 1000 300\"").count();
    // Scatters have their values in the key.
    assert_eq!(page.matches("<details>").count(), drawings);
    assert!(drawings >= 10, "{drawings}");
}

#[test]
fn document_holds_what_json_prints_and_the_course_of_each_policy() {
    let (_, document, printed) = report(&jobs("train", 5), &["--json", "--seeds", "2"]);
    assert_eq!(document["format"], 1);
    assert_eq!(document["simulation"], serde_json::from_str::<Value>(&printed).unwrap());
    let courses = document["courses"].as_array().unwrap();
    let names: Vec<_> = courses.iter().map(|course| &course["policy"]).collect();
    assert_eq!(names, ["default", "round-robin"]);
    assert!(courses.iter().all(|course| course["seed"] == 1));
    let summaries = document["simulation"]["summaries"].as_array().unwrap();
    for (course, summary) in courses.iter().zip([&summaries[0], &summaries[2]]) {
        assert_eq!(course["policy"], summary["policy"]);
        let watts = course["watts"].as_array().unwrap();
        let part = course["seconds"].as_f64().unwrap() / watts.len() as f64;
        let joules: f64 = watts.iter().map(|watts| watts.as_f64().unwrap() * part).sum();
        let energy = summary["energy_joules"].as_f64().unwrap();
        assert!((joules / energy - 1.0).abs() < 1e-6, "{joules} {energy}");
    }
}

#[test]
fn names_are_text_and_never_markup() {
    let (page, _, _) = report(&jobs("<b>&amp;'x", 3), &[]);
    assert!(!page.contains("<b>&amp;'x") && page.contains("&#60;b&#62;&#38;amp;"), "{page}");
}

#[test]
fn ten_thousand_runs_make_a_page_of_bounded_size_that_says_what_it_leaves_out() {
    let (page, document, _) = report(&jobs("short", 10_000), &[]);
    assert!(page.len() < 1_000_000, "{}", page.len());
    assert!(document.to_string().len() < 1_000_000);
    let lanes = &document["courses"][0]["lanes"];
    let (bars, left_out) = (lanes["bars"].as_array().unwrap(), lanes["bars_left_out"].as_u64());
    assert_eq!(bars.len() as u64 + left_out.unwrap(), 10_000);
    assert!(page.contains("Of 10000 boxes on these"));
}

#[test]
fn equal_simulations_make_equal_reports_and_the_report_changes_nothing_that_is_printed() {
    let jobs = jobs("train", 5);
    let one = report(&jobs, &[]);
    assert_eq!(one, report(&jobs, &[]));
    assert_ne!(one.0, report(&jobs, &["--until", "10m"]).0);
    let (_folder, paths) = files(&[("fleet.toml", FLEET), ("jobs.jsonl", &jobs)]);
    let base = ["simulate", "--fleet", &paths[0], "--jobs", &paths[1]];
    let (_, plain, _) =
        run(&[&base[..], &["--policy", "default", "--policy", "round-robin"]].concat());
    assert_eq!(one.2, plain);
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error_before_anything_runs() {
    let (_folder, paths) = files(&[("fleet.toml", FLEET)]);
    let inside = format!("{}/report", paths[0]);
    let (status, output, error) = run(&["simulate", "--report", &inside]);
    assert_eq!((status, &*output), (1, ""));
    assert!(
        error.contains("make the folder") && error.contains("name another by --report"),
        "{error}"
    );
}
