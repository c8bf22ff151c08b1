//! `motley explain` and `motley plan` as their users meet them. The examples of `docs/explain.md`
//! are run here, and its table of fields is held against what is printed.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

mod examples;

use std::collections::BTreeSet;

use examples::root;
use serde_json::Value;

fn page() -> String {
    std::fs::read_to_string(root().join("docs/explain.md")).unwrap()
}

fn run(arguments: &[&str]) -> (i32, String, String) {
    examples::run("explain", arguments)
}

#[track_caller]
fn done(arguments: &[&str]) -> String {
    examples::done("explain", arguments)
}

#[track_caller]
fn fails(arguments: &[&str]) -> String {
    let (status, output, error) = run(arguments);
    assert_eq!((status, &*output), (1, ""), "{arguments:?}");
    error
}

const EXPLAIN: [&str; 4] = ["explain", "fleet.toml", "jobs.toml", "--job"];
const PLAN: [&str; 3] = ["plan", "--fleet", "fleet.toml"];
const BUSY: [&str; 7] = ["plan", "--fleet", "fleet.toml", "--jobs", "jobs.toml", "--at", "40m"];

fn with<'a>(base: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [base, more].concat()
}

#[test]
fn the_examples_of_the_page_print_what_it_says() {
    let page = page();
    let blocks: Vec<_> = page.split("```console\n").skip(1).collect();
    assert_eq!(blocks.len(), 3);
    for block in blocks {
        let (example, _) = block.split_once("```").unwrap();
        let (command, expected) = example.split_once('\n').unwrap();
        let words: Vec<_> = command.strip_prefix("$ motley ").unwrap().split(' ').collect();
        assert_eq!(done(&words), expected, "{command}");
    }
}

/// The paths of all fields: `waits.nearest[].nodes`.
fn paths(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        // Its keys are the objectives of the policy.
        Value::Object(fields) if !path.ends_with("objectives") => {
            for (field, value) in fields {
                let path = if path.is_empty() { field.clone() } else { format!("{path}.{field}") };
                found.insert(path.clone());
                paths(value, &path, found);
            }
        }
        Value::Array(items) => {
            items.iter().for_each(|item| paths(item, &format!("{path}[]"), found));
        }
        _ => {}
    }
}

#[test]
fn the_page_describes_every_field_of_the_json() {
    let mut found = BTreeSet::new();
    let asked: [Vec<&str>; 4] = [
        with(&EXPLAIN, &["train", "--at", "40m", "--json"]),
        with(&EXPLAIN, &["train", "--json"]),
        with(&PLAN, &["--cores", "1", "--work", "60", "--json"]),
        with(&PLAN, &["--cores", "1", "--label", "zone=c", "--json"]),
    ];
    for arguments in asked {
        paths(&serde_json::from_str(&done(&arguments)).unwrap(), "", &mut found);
    }
    let page = page();
    let (_, table) = page.split_once("| field | meaning |\n").unwrap();
    let row = |line: &str| line.strip_prefix("| `")?.split('`').next().map(str::to_owned);
    let described: BTreeSet<_> = table.lines().filter_map(row).collect();
    let differ: Vec<_> = found.symmetric_difference(&described).collect();
    assert!(differ.is_empty(), "{differ:?}");
}

#[test]
fn a_job_is_named_by_name_or_id() {
    let named = done(&with(&EXPLAIN, &["train", "--at", "40m"]));
    assert_eq!(done(&with(&EXPLAIN, &["j2", "--at", "40m"])), named);
    assert_eq!(done(&with(&EXPLAIN, &["2", "--at", "40m"])), named);
    assert_ne!(done(&with(&EXPLAIN, &["report", "--at", "40m"])), named);
}

#[test]
fn an_unknown_job_is_answered_with_the_nearest() {
    assert_eq!(
        fails(&with(&EXPLAIN, &["trian"])),
        "error: failed to find the job \"trian\": did you mean \"train\"?\n"
    );
    assert_eq!(
        fails(&with(&EXPLAIN, &["j9"])),
        "error: failed to find the job \"j9\": the ids are j0 to j3, and the names pretrain, \
         report, train, warm-up\n"
    );
}

#[test]
fn a_name_of_several_jobs_is_answered_with_their_ids() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.jsonl");
    let job = "{\"name\": \"a\", \"work\": 1, \"alternative\": [{\"cores\": 1}]}\n";
    std::fs::write(&path, job.repeat(10)).unwrap();
    let jobs = path.to_str().unwrap();
    assert_eq!(
        fails(&["explain", "fleet.toml", jobs, "--job", "a"]),
        "error: failed to choose the job \"a\": 10 jobs have this name; give the id of one: j0, \
         j1, j2, j3, j4, j5, j6, j7, …\n"
    );
    assert!(done(&["explain", "fleet.toml", jobs, "--job", "j9"]).starts_with("a (j9) of default"));
}

#[test]
fn a_time_before_the_arrival_is_answered_with_the_arrival() {
    assert_eq!(
        fails(&with(&EXPLAIN, &["train", "--at", "5m"])),
        "error: failed to look at job j2 at 5m: it arrives at 20m; ask about that time or later\n"
    );
}

#[test]
fn the_time_alone_changes_the_answer() {
    let at = |time| done(&with(&EXPLAIN, &["train", "--at", time]));
    assert!(at("40m").contains("Why one task waits"));
    assert!(at("2h").contains("Why it went there"));
    assert!(at("9h").contains("The simulation had ended."));
}

#[test]
fn each_option_alone_changes_which_simulation_is_looked_into() {
    let asked = with(&EXPLAIN, &["train", "--at", "40m"]);
    let plain = done(&asked);
    let changed = |more: &[&str]| done(&with(&asked, more));
    let spread = changed(&["--policy", "fair-share"]);
    assert!(spread.contains("under policy fair-share"), "{spread}");
    assert_ne!(changed(&["--rate-error", "0.3"]), plain);
    // The errors of rates are drawn from the seed: another range of what past runs took.
    let range = |seed| {
        let text = changed(&["--rate-error", "0.3", "--seed", seed]);
        text.split_once("which took").unwrap().1.to_owned()
    };
    assert_ne!(range("1"), range("2"));
    let json: Value = serde_json::from_str(&changed(&["--json"])).unwrap();
    assert_eq!(json["waits"]["remedies"][0]["enough"], 1);
}

#[test]
fn the_policy_alone_changes_where_a_job_goes() {
    let placed = |policy| {
        let json = done(&with(&PLAN, &["--cores", "1", "--policy", policy, "--json"]));
        serde_json::from_str::<Value>(&json).unwrap()["placed"][0]["score"]["tiers"].clone()
    };
    assert_ne!(placed("default"), placed("round-robin"));
}

const PODS: &str = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,creation_time,deletion_time,\
                    scheduled_time\nfirst,32000,100,0,0,0,50,10\nbad,x,100,0,0,0,50,10\n\
                    second,32000,100,0,0,100,150,110\n";

#[test]
fn arrivals_and_bad_lines_are_as_for_a_simulation() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pods.csv");
    std::fs::write(&path, PODS).unwrap();
    let base = ["explain", "fleet.toml", path.to_str().unwrap(), "--job", "second"];
    assert!(fails(&base).contains("line 3"), "{}", fails(&base));
    let timed = done(&with(&base, &["--skip-bad"]));
    assert!(timed.contains("1 bad entries of"), "{timed}");
    assert!(timed.contains("arrived at 1m40s"), "{timed}");
    let order = done(&with(&base, &["--skip-bad", "--arrivals", "order"]));
    assert!(order.contains("arrived at 2s"), "{order}");
}

#[test]
fn applying_a_change_that_is_told_starts_the_job() {
    let asked = ["--device", "gpu", "--device-memory", "20GiB", "--work", "600", "--count"];
    let with_count = |count| done(&with(&BUSY, &with(&asked, &[count])));
    assert!(with_count("3").contains("with 1 GPU in place of 3"), "{}", with_count("3"));
    assert!(with_count("2").contains("Why one task waits"));
    assert!(with_count("1").contains("Why it went there"));
}

#[test]
fn every_kind_of_change_is_told_in_words() {
    for (more, expected) in [
        (&["--cores", "1", "--label", "zone=c"][..], "without the label zone=c"),
        (&["--device", "gpu", "--model", "H100"], "if A100 would do too"),
        (&["--device", "gpu", "--rate", "H100=3"], "if V100 would do too, at a rate of 3"),
        (&["--cores", "64"], "with 32 cores in place of 64"),
        (&["--cores", "1", "--memory", "300GiB"], "with 256GiB of memory in place of 300GiB"),
        (&["--device", "gpu", "--count", "6"], "with 4 GPUs in place of 6"),
        (&["--device", "gpu", "--device-memory", "50GiB"], "with 40GiB of GPU memory in place"),
        (&["--device", "gpu", "--share", "0.6", "--tasks", "13"], "with 0.5 of a GPU in place"),
        (&["--device", "tpu"], "no single change that was tried"),
    ] {
        let text = done(&with(&PLAN, more));
        assert!(text.contains(expected), "{more:?}: {text}");
    }
}

#[test]
fn what_a_forecast_rests_on_is_told() {
    let early = ["plan", "--fleet", "fleet.toml", "--jobs", "jobs.toml", "--at"];
    let four = ["--device", "gpu", "--count", "4", "--model", "V100"];
    let at = |time| done(&with(&with(&early, &[time]), &four));
    assert!(at("5m").contains("at 10m (in 5m), if declared durations are true"), "{}", at("5m"));
    assert!(at("5m").contains("no run has ended yet"), "{}", at("5m"));
    // It takes a quarter longer than declared.
    assert!(at("11m").contains("as soon as an overdue run ends"), "{}", at("11m"));
    assert!(at("11m").contains("1 run past the declared end"), "{}", at("11m"));
    let endless = done(&with(&PLAN, &["--device", "gpu", "--count", "4", "--tasks", "4"]));
    assert!(endless.contains("never, unless something changes"), "{endless}");
    assert!(endless.contains("3 runs without a known end"), "{endless}");
}

#[test]
fn every_word_about_the_job_alone_changes_the_answer() {
    let base = ["--device", "gpu", "--work", "600", "--rate", "A100=2", "--rate", "V100=1"];
    let answer = |more: &[&str]| {
        let text = done(&with(&BUSY, &with(&base, more)));
        // Not the head, which repeats what was asked.
        text.split_once("\n\n").unwrap().1.to_owned()
    };
    let plain = answer(&[]);
    for more in [
        &["--cores", "20"][..],
        &["--memory", "200GiB"],
        &["--count", "4"],
        &["--share", "0.5"],
        &["--device-memory", "20GiB"],
        &["--model", "V100"],
        &["--label", "zone=b"],
        &["--rate", "EPYC=1", "--rate", "H100=9"],
        &["--tasks", "9"],
    ] {
        let is_same = answer(more) == plain;
        // A model that no node has is remarked.
        assert!(!is_same, "{more:?} changes nothing of\n{plain}");
    }
    let work = |work| done(&with(&PLAN, &["--cores", "1", "--work", work, "--json"]));
    assert_ne!(work("60"), work("61"));
    let kind = |kind| done(&with(&PLAN, &["--device", kind]));
    assert!(kind("tpu").contains("no TPU") && !kind("gpu").contains("no GPU"));
}

#[test]
fn tenant_and_priority_decide_who_goes_first() {
    // One node is left for one of the two that arrive at once.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("jobs.jsonl");
    let job = |name: &str, tenant: &str, cores: u32| {
        format!(
            "{{\"name\": \"{name}\", \"tenant\": \"{tenant}\", \"work\": 60, \"alternative\": \
             [{{\"cores\": {cores}, \"memory\": \"1GiB\"}}]}}\n"
        )
    };
    let jobs = [job("a", "ann", 32), job("b", "ann", 32), job("c", "ann", 16)].concat();
    std::fs::write(&path, jobs).unwrap();
    let jobs = path.to_str().unwrap();
    let base = ["plan", "--fleet", "fleet.toml", "--jobs", jobs, "--at", "0s", "--cores", "16"];
    let waits = |more: &[&str]| done(&with(&base, more)).contains("Why one task waits");
    assert!(waits(&["--policy", "priority", "--priority", "0"]));
    assert!(!waits(&["--policy", "priority", "--priority", "1"]));
    assert!(waits(&["--policy", "fair-share", "--tenant", "ann"]));
    assert!(!waits(&["--policy", "fair-share", "--tenant", "bob"]));
}

#[test]
fn a_job_can_be_submitted_as_a_file_whose_deadline_counts_from_the_arrival() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("job.jsonl");
    let file = path.to_str().unwrap();
    let submit = |fields: &str, more: &[&str]| {
        let job = format!(
            "{{\"name\": \"mine\", \"work\": 600, {fields} \"alternative\": [{{\"device\": \
             {{\"kind\": \"gpu\"}}, \"rates\": {{\"A100\": 1, \"V100\": 0.5}}}}]}}\n"
        );
        std::fs::write(&path, job).unwrap();
        run(&with(more, &["--submit", file]))
    };
    let (status, text, _) = submit("", &BUSY);
    assert_eq!(status, 0);
    assert!(text.starts_with("mine (j4) of default, arrived at 40m; at 40m"), "{text}");
    // The runner-up is the slower model, which takes 20 minutes and is not spared.
    let policy = folder.path().join("plain.toml");
    let rules = "format = 1\nname = \"plain\"\norder = [\"first-in\"]\npick = \"weighted\"\n\
                 [[tier]]\nrule = \"fixed\"\nweights = { completion = 1, deadline = 1 }\n";
    std::fs::write(&policy, rules).unwrap();
    let policy = policy.to_str().unwrap();
    let chance = |minutes: u32, base: &[&str]| {
        let fields = format!("\"deadline\": \"{minutes}m\",");
        let (_, output, _) = submit(&fields, &with(base, &["--policy", policy, "--json"]));
        let json: Value = serde_json::from_str(&output).unwrap();
        json["placed"][0]["runner_up"]["score"]["objectives"]["deadline"].as_f64().unwrap()
    };
    assert!(chance(15, &BUSY) < 0.5 && chance(120, &BUSY) > 0.9);
    assert!((chance(15, &BUSY) - chance(15, &PLAN)).abs() < 1e-9);
    let (status, _, error) = submit("\"arrives\": \"1s\",", &PLAN);
    assert_eq!(status, 1);
    assert!(error.contains("it says when it arrives, which --at does here"), "{error}");
    let (status, _, error) = run(&with(&PLAN, &["--submit", "jobs.toml"]));
    assert_eq!(status, 1);
    assert!(error.contains("it has 4 jobs; leave one in it"), "{error}");
}

#[test]
fn jobs_of_the_moment_and_nothing_later_stand_before_the_new_one() {
    let text = done(&with(&BUSY, &["--cores", "1"]));
    assert!(text.starts_with("new (j4)"), "{text}");
    let early = ["plan", "--fleet", "fleet.toml", "--jobs", "jobs.toml", "--at", "5m"];
    assert!(done(&with(&early, &["--cores", "1"])).starts_with("new (j2)"));
    assert!(done(&with(&PLAN, &["--cores", "1"])).starts_with("new (j0)"));
}

#[test]
fn wrong_words_about_the_job_are_refused_with_what_is_right() {
    for (more, expected) in [
        (&["--device", "gpu", "--count", "x"][..], "must be a whole number from 1 to 1024"),
        (&["--device", "gpu", "--share", "2"], "a share above 0 and up to 1"),
        (&["--device", "xpu"], "xpu"),
        (&["--cores", "1", "--memory", "12X"], "12X"),
        (&["--cores", "1", "--label", "a=1", "--label", "a=2"], "\"a\" is given twice"),
    ] {
        let (status, _, error) = run(&with(&PLAN, more));
        assert!(status == 1 && error.contains(expected), "{error}");
    }
    for more in [
        &["--count", "2", "--cores", "1"][..],
        &[],
        &["--cores", "1", "--submit", "jobs.toml"],
        &["--cores", "1", "--at", "5m"],
        &["--cores", "1", "--jobs", "jobs.toml"],
        &["--cores", "1", "--seed", "2"],
        &["--cores", "1", "--label", "zone"],
    ] {
        assert_eq!(run(&with(&PLAN, more)).0, 2, "{more:?}");
    }
}

#[test]
fn help_has_examples_with_options_that_exist() {
    for command in ["explain", "plan"] {
        let help = done(&[command, "--help"]);
        let (options, examples) = help.split_once("Examples:").unwrap();
        for word in examples.split_whitespace().filter(|word| word.starts_with("--")) {
            assert!(options.contains(word), "{word}");
        }
    }
}
