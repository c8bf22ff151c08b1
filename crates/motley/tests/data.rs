//! Datasets, as users of the program meet them.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use assert_cmd::Command;

/// What the program says: exit status, standard output, standard error.
fn run(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("motley").unwrap().args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const FLEET: &str = "format = 1\n[device.EPYC]\nkind = \"cpu\"\n\
                     [[node]]\nname = \"node\"\ncount = 2\ncpu = \"EPYC\"\ncores = 8\n\
                     memory = \"8GiB\"\nnetwork = \"10Gbit/s\"\n";

const READS: &str = "format = 1\n[[job]]\nname = \"a\"\nwork = 100\n\
                     inputs = [{ name = \"images\", size = \"500GB\" }]\n\
                     [[job.alternative]]\ncores = 8\n";

const DATA: &str = "format = 1\n[[data]]\nname = \"images\"\nsize = \"500GB\"\non = [\"node-1\"]\n";

/// The paths of files with these texts, in a folder that lasts as long as the first value.
fn files<const COUNT: usize>(texts: [&str; COUNT]) -> (tempfile::TempDir, [String; COUNT]) {
    let folder = tempfile::tempdir().unwrap();
    let mut number = 0;
    let paths = texts.map(|text| {
        number += 1;
        let path = folder.path().join(format!("{number}.toml"));
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    });
    (folder, paths)
}

#[test]
fn a_catalogue_is_checked_and_listed() {
    let wrong = DATA.replace("node-1", "nod-1");
    let (_folder, [fleet, data, wrong]) = files([FLEET, DATA, &wrong]);
    let (status, output, _) = run(&["data", "check", &data, "--fleet", &fleet]);
    assert_eq!((status, output), (0, format!("{data}: ok, 1 dataset of 465.7Gi on 1 node\n")));
    let (status, _, error) = run(&["data", "check", &wrong, "--fleet", &fleet]);
    let detail = "line 5, `on[0]`: the fleet has no node \"nod-1\"; did you mean \"node-1\"?";
    assert_eq!((status, error), (1, format!("error: failed to read {wrong}, {detail}\n")));
    let (status, output, _) = run(&["data", "list", &data, "--fleet", &fleet]);
    assert_eq!(status, 0);
    let words: Vec<Vec<&str>> =
        output.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(words, [["name", "size", "nodes"], ["images", "465.7Gi", "node-1"]]);
    let (_, output, _) = run(&["data", "list", &data, "--fleet", &fleet, "--json"]);
    let listed: serde_json::Value = serde_json::from_str(&output).unwrap();
    let expected = serde_json::json!([
        { "name": "images", "bytes": 500_000_000_000_u64, "nodes": ["node-1"] }
    ]);
    assert_eq!(listed, expected);
    assert_eq!(run(&["data", "list", &data]).0, 2, "the fleet must be given");
}

#[test]
fn a_catalogue_changes_where_a_job_runs_and_when_it_ends() {
    let (_folder, [fleet, jobs, data]) = files([FLEET, READS, DATA]);
    let base = ["simulate", "--fleet", &fleet, "--jobs", &jobs, "--policy", "default"];
    let (status, without, _) = run(&base);
    assert_eq!(status, 0);
    assert!(without.contains("0s: a placed on node-0 "), "{without}");
    let note = "Note: jobs read 1 dataset that no node holds and no job writes: fetched from outside the \
                fleet; the first is \"images\".";
    assert!(without.contains(note), "{without}");
    let (status, with, _) = run(&[&base[..], &["--data", &data]].concat());
    assert_eq!(status, 0);
    assert!(with.contains("0s: a placed on node-1 ") && !with.contains("from outside"), "{with}");
    let explained = |more: &[&str]| {
        run(&[&["explain", &fleet, &jobs, "--job", "a", "--at", "1s"], more].concat()).1
    };
    assert!(explained(&[]).contains("node-0"), "{}", explained(&[]));
    assert!(explained(&["--data", &data]).contains("node-1"), "{}", explained(&["--data", &data]));
    let (_folder, [plain]) = files([&READS.replace("inputs", "#")]);
    let given = ["simulate", "--fleet", &fleet, "--jobs", &plain, "--data", &data];
    let (_, idle, _) = run(&given);
    assert!(idle.contains("no job reads a dataset: --data changes nothing"), "{idle}");
}
