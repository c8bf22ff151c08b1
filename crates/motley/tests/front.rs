//! `motley front` as its users meet it, on three nodes of which the middle one lies on a bulge.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// 200 s and 200 kJ, 400 s and 180 kJ, 1200 s and 30 kJ.
const FLEET: &str = "format = 1
[device.epyc]
kind = \"cpu\"
[device.fast]
kind = \"gpu\"
power = { idle = \"0W\", busy = \"1kW\" }
[device.even]
kind = \"gpu\"
power = { idle = \"0W\", busy = \"450W\" }
[device.slow]
kind = \"gpu\"
power = { idle = \"0W\", busy = \"25W\" }
[[node]]
name = \"fast\"
cpu = \"epyc\"
cores = 8
memory = \"8GiB\"
devices = { fast = 1 }
[[node]]
name = \"even\"
cpu = \"epyc\"
cores = 8
memory = \"8GiB\"
devices = { even = 1 }
[[node]]
name = \"slow\"
cpu = \"epyc\"
cores = 8
memory = \"8GiB\"
devices = { slow = 1 }
";

const JOBS: &str = "format = 1
[[job]]
name = \"a\"
work = 1200
[[job.alternative]]
cores = 1
device = { kind = \"gpu\" }
rates = { fast = 6, even = 3, slow = 1 }
";

const POLICY: &str = "format = 1
name = \"quick\"
order = [\"first-in\"]
pick = \"weighted\"
[[tier]]
rule = \"fixed\"
weights = { completion = 1 }
";

/// What the program says in a folder with these files: exit status, standard output and error.
fn run_in(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let given = ["front", "--fleet", "fleet.toml", "--jobs", "jobs.toml", "--policy", "quick.toml"];
    let output = Command::cargo_bin("motley")
        .unwrap()
        .current_dir(folder)
        .args(given)
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in [("fleet.toml", FLEET), ("jobs.toml", JOBS), ("quick.toml", POLICY)] {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn text(arguments: &[&str]) -> String {
    let (status, output, error) = run_in(folder().path(), arguments);
    assert_eq!((status, &*error), (0, ""), "{arguments:?}");
    output
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&text(&[&["--json"], arguments].concat())).unwrap()
}

fn refused(arguments: &[&str]) -> (i32, String) {
    let (status, output, error) = run_in(folder().path(), arguments);
    assert_eq!(output, "", "{arguments:?}");
    (status, error)
}

#[test]
fn the_front_is_a_table_with_the_knee_and_the_policy_marked() {
    let output = text(&[]);
    let rows: Vec<_> = output.lines().skip_while(|line| !line.starts_with("point")).collect();
    let cells = |row: &str| {
        let cells = row.split("  ").map(str::trim).filter(|cell| !cell.is_empty());
        cells.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(cells(rows[0]), ["point", "how", "completion, mean", "energy"]);
    assert_eq!(cells(rows[1]), ["policy", "quick", "3m20s", "0.056 kWh"]);
    assert_eq!(cells(rows[2]), ["knee", "pick knee", "6m40s", "0.050 kWh"]);
    assert_eq!(cells(rows[3]), ["·", "weights energy 9", "20m", "0.008 kWh"]);
    assert!(output.contains("by weights alone 0.0000"), "{output}");
}

#[test]
fn every_point_of_the_json_has_its_figures_and_a_policy_that_is_a_file() {
    let document = json(&[]);
    assert_eq!((&document["format"], &document["policy"]), (&1.into(), &"quick".into()));
    assert_eq!(document["objectives"][1]["figure"], "energy_joules");
    let points = document["points"].as_array().unwrap();
    let knee = points.iter().find(|point| point["is_knee"] == true).unwrap();
    assert_eq!(knee["values"]["completion"], 400.0);
    assert_eq!(knee["values"]["energy"], 180_000.0);
    assert_eq!(points.iter().filter(|point| point["is_on_front"] == true).count(), 3);
    let folder = folder();
    for (index, point) in points.iter().enumerate() {
        let file = folder.path().join(format!("{index}.toml"));
        std::fs::write(&file, point["policy"].as_str().unwrap()).unwrap();
        let mut check = Command::cargo_bin("motley").unwrap();
        let output = check.arg("policy").arg("check").arg(&file).output().unwrap();
        assert!(output.status.success(), "{point}");
    }
}

#[test]
fn objectives_points_and_policy_change_what_is_found() {
    let more = json(&["--objectives", "energy,utilisation,completion"]);
    assert_eq!(more["objectives"].as_array().unwrap().len(), 3);
    assert!(more["points"][0]["values"]["utilisation"].is_number());
    let count = |document: &Value| document["points"].as_array().unwrap().len();
    assert_eq!(count(&json(&["--points", "8"])), 8);
    let frugal = POLICY.replace("quick", "frugal").replace("completion", "energy");
    let folder = folder();
    std::fs::write(folder.path().join("quick.toml"), frugal).unwrap();
    let (_, output, _) = run_in(folder.path(), &["--json"]);
    let frugal: Value = serde_json::from_str(&output).unwrap();
    assert_eq!(frugal["points"][0]["values"]["completion"], 1200.0);
}

#[test]
fn time_seed_and_rate_error_are_those_of_the_world() {
    let (status, error) = refused(&["--until", "1m"]);
    assert_eq!(status, 1);
    assert!(error.contains("trade completion: no outcome has a figure for it"), "{error}");
    let values = |arguments: &[&str]| json(arguments)["points"][0]["values"].clone();
    let wrong = values(&["--rate-error", "0.5", "--seed", "1"]);
    assert_ne!(wrong, values(&[]));
    assert_ne!(wrong, values(&["--rate-error", "0.5", "--seed", "2"]));
}

#[test]
fn the_plot_is_a_drawing_with_the_knee_and_the_policy_named() {
    let folder = folder();
    let (status, ..) = run_in(folder.path(), &["--plot", "front.svg"]);
    assert_eq!(status, 0);
    let drawn = std::fs::read_to_string(folder.path().join("front.svg")).unwrap();
    let tree = roxmltree::Document::parse(&drawn).unwrap();
    let texts: Vec<_> = tree.descendants().filter_map(|node| node.text()).map(str::trim).collect();
    for text in ["knee", "quick", "energy, kWh", "mean completion, minutes"] {
        assert!(texts.contains(&text), "{text} is not in {texts:?}");
    }
    let (status, error) = {
        let (status, _, error) = run_in(folder.path(), &["--plot", "nowhere/front.svg"]);
        (status, error)
    };
    assert_eq!(status, 1);
    assert!(error.contains("write the plot \"nowhere/front.svg\""), "{error}");
}

#[test]
fn what_cannot_be_traded_is_refused_with_what_can() {
    let (status, error) = refused(&["--objectives", "completion,rarity"]);
    assert_eq!(status, 2);
    let words = "it may be completion, utilisation, fragmentation, energy, deadline";
    assert!(error.contains(words), "{error}");
    let (status, error) = refused(&["--objectives", "energy,energy"]);
    assert_eq!((status, &*error), (1, "error: failed to trade objectives: one stands twice\n"));
    let (status, error) = refused(&["--objectives", "energy"]);
    assert_eq!(status, 1);
    assert!(error.contains("two are the fewest"), "{error}");
    let (status, error) = refused(&["--objectives", "energy,deadline"]);
    assert_eq!(status, 1);
    assert!(error.contains("trade deadline: no outcome has a figure for it"), "{error}");
    assert_eq!(refused(&["--points", "3"]).0, 2);
    assert_eq!(refused(&["--points", "1001"]).0, 2);
}
