//! Datasets and signals, as users of the program meet them.

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

const POLICY: &str = "format = 1\nname = \"quiet\"\norder = [\"first-in\"]\npick = \"weighted\"\n\
                      [[tier]]\nrule = \"fixed\"\nweights = { \"external(queue-noise)\" = 0.3 }\n";

const SIGNALS: &str = "format = 1\n[signal.queue-noise]\nunit = \"ms\"\nnode.node-0 = 3.5\n";

#[test]
fn a_signal_changes_where_a_job_runs() {
    let simulate = |signals: &str| {
        let (_folder, [fleet, jobs, policy, signals]) = files([FLEET, READS, POLICY, signals]);
        let files = ["--fleet", &fleet, "--jobs", &jobs, "--signals", &signals];
        let (status, output, error) =
            run(&[&["simulate", "--policy", &policy], &files[..]].concat());
        assert_eq!((status, &*error), (0, ""));
        output
    };
    let noisy = simulate(SIGNALS);
    assert!(noisy.contains("0s: a placed on node-1 "), "{noisy}");
    assert!(noisy.contains("because queue-noise 1.00"), "{noisy}");
    let note = "signal queue-noise in ms: numbers of 1 node and 0 device models, 0 for all others";
    assert!(noisy.contains(note), "{noisy}");
    let other = simulate(&SIGNALS.replace("node-0", "node-1"));
    assert!(other.contains("0s: a placed on node-0 "), "{other}");
    let other = simulate(&SIGNALS.replace("unit = \"ms\"", "default = 4"));
    assert!(other.contains("0s: a placed on node-0 "), "{other}");
    assert!(other.contains("signal queue-noise: numbers"), "{other}");
}

#[test]
fn a_policy_that_weighs_a_signal_that_is_not_there_is_refused() {
    let other = SIGNALS.replace("queue-noise", "queue-nose");
    let unlike = SIGNALS.replace("queue-noise", "price");
    let (_folder, [fleet, jobs, policy, other, unlike]) =
        files([FLEET, READS, POLICY, &other, &unlike]);
    let base = ["simulate", "--fleet", &fleet, "--jobs", &jobs, "--policy", &policy];
    let what = "error: failed to weigh external(queue-noise) under policy quiet";
    let refused = |more: &[&str], why: &str| {
        let (status, output, error) = run(&[&base[..], more].concat());
        assert_eq!((status, &*output, error), (1, "", format!("{what}: {why}\n")));
    };
    refused(&[], "there are no signals; give a file of them by --signals");
    let nearest = "there is no such signal; did you mean \"queue-nose\"?";
    refused(&["--signals", &other], nearest);
    refused(&["--signals", &unlike], "there is no such signal; the file of --signals has price");
    for command in [
        &["compare", "--policy", "default", "--fleet", &fleet, "--jobs", &jobs][..],
        &["front", "--fleet", &fleet, "--jobs", &jobs],
        &["explain", &fleet, &jobs, "--job", "a"],
        &["plan", "--fleet", &fleet, "--cores", "1"],
    ] {
        let (status, output, error) = run(&[command, &["--policy", &policy]].concat());
        assert_eq!((status, &*output), (1, ""));
        assert!(error.starts_with(what), "{error}");
    }
}

#[test]
fn a_signal_changes_what_is_explained_and_planned() {
    let other = SIGNALS.replace("node-0", "node-1");
    let (_folder, [fleet, jobs, policy, noisy, other]) =
        files([FLEET, READS, POLICY, SIGNALS, &other]);
    let explain = ["explain", &fleet, &jobs, "--job", "a"];
    let plan = ["plan", "--fleet", &fleet, "--cores", "1"];
    for command in [&explain[..], &plan] {
        for (signals, node) in [(&noisy, "node-1"), (&other, "node-0")] {
            let asked = [command, &["--policy", &policy, "--signals", signals]].concat();
            let (status, text, error) = run(&asked);
            assert_eq!((status, &*error), (0, ""));
            assert!(text.contains(&format!("placed on {node} ")), "{text}");
            assert!(text.contains("because queue-noise 1.00"), "{text}");
            assert!(text.contains("signal queue-noise in ms: numbers of 1 node"), "{text}");
            let (_, json, _) = run(&[&asked[..], &["--json"]].concat());
            let page: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(page["placed"][0]["score"]["objectives"]["external(queue-noise)"], 1.0);
        }
    }
}

const UNLIKE: &str = "format = 1\n[device.FAST]\nkind = \"cpu\"\n[device.SLOW]\nkind = \"cpu\"\n\
                      [[node]]\nname = \"fast\"\ncpu = \"FAST\"\ncores = 8\nmemory = \"8GiB\"\n\
                      power = { idle = \"10W\", busy = \"20W\" }\n\
                      [[node]]\nname = \"slow\"\ncpu = \"SLOW\"\ncores = 8\nmemory = \"8GiB\"\n\
                      power = { idle = \"10W\", busy = \"15W\" }\n";

const WORKS: &str = "format = 1\n[[job]]\nname = \"a\"\nwork = 100\n\
                     [[job.alternative]]\ncores = 8\nrates = { FAST = 2, SLOW = 1 }\n";

#[test]
fn a_signal_changes_a_front_and_a_comparison() {
    let quiet = POLICY.replace("weights = { ", "weights = { completion = 0.1, ");
    let fast = SIGNALS.replace("node-0", "fast");
    let slow = SIGNALS.replace("node-0", "slow");
    let (_folder, [fleet, jobs, policy, fast, slow]) = files([UNLIKE, WORKS, &quiet, &fast, &slow]);
    let json = |command: &[&str], signals: &str| {
        let files = ["--fleet", &fleet, "--jobs", &jobs, "--policy", &policy];
        let more = ["--json", "--signals", signals];
        let (status, json, error) = run(&[command, &files, &more].concat());
        assert_eq!((status, &*error), (0, ""));
        serde_json::from_str::<serde_json::Value>(&json).unwrap()
    };
    for (signals, seconds) in [(&fast, 100.0), (&slow, 50.0)] {
        let front = json(&["front", "--points", "8"], signals);
        assert_eq!(front["points"][0]["values"]["completion"], seconds);
        // What is traded with nothing beside it weighs no signal, and its file names none.
        let knee = front["points"][1]["policy"].as_str().unwrap();
        assert!(knee.contains("pick = \"knee\"") && !knee.contains("external"), "{knee}");
        let compared = json(&["compare", "--seeds", "2", "--policy", "default"], signals);
        let figure = &compared["others"][0]["figures"][0];
        assert_eq!((&figure["first_mean"], &figure["mean"]), (&50.0.into(), &seconds.into()));
    }
}
