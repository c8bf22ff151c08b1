//! The program as its users meet it.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

mod program;

use program::{files, run};

/// A policy file with this text, in a folder that lasts as long as the first value.
fn file(text: &str) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.toml");
    std::fs::write(&path, text).unwrap();
    (folder, path.to_str().unwrap().to_owned())
}

const GOOD: &str = "format = 1\nname = \"mine\"\norder = [\"first-in\"]\npick = \"spread\"\n";

const MISTYPED: &str = "format = 1\nname = \"mine\"\norder = [\"first-in\"]\npick = \"weighted\"\n\n\
                        [[tier]]\nrule = \"fixed\"\nweights = { enrgy = 1 }\n";

#[test]
fn an_unknown_option_is_a_usage_error_that_names_it() {
    let (status, _, error) = run(&["simulate", "--sed", "3"]);
    assert_eq!(status, 2);
    assert!(error.contains("unexpected argument '--sed'"), "{error}");
    assert!(error.contains("'--seed'"), "{error}");
}

#[test]
fn options_of_one_command_are_refused_by_others() {
    for arguments in [&["completions", "bash", "--json"][..], &["policy", "list", "--seed", "1"]] {
        assert_eq!(run(arguments).0, 2, "{arguments:?}");
    }
}

#[test]
fn fleet_and_jobs_are_given_both_or_neither() {
    for one in ["--fleet", "--jobs"] {
        let (status, _, error) = run(&["simulate", one, "x"]);
        assert_eq!(status, 2);
        assert!(error.contains("required arguments were not provided"), "{error}");
    }
}

#[test]
fn values_out_of_bounds_are_usage_errors_that_say_what_is_right() {
    let wrong = [
        (&["--seeds", "0"], "1.."),
        (&["--rate-error", "1"], "it must be less than 1"),
        (&["--until", "90"], "has no unit"),
        (&["--arrivals", "never"], "[possible values: timed, order]"),
    ];
    for (arguments, expected) in wrong {
        let (status, _, error) = run(&["simulate", arguments[0], arguments[1]]);
        assert_eq!(status, 2, "{arguments:?}");
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn an_unknown_policy_is_answered_with_the_nearest() {
    for arguments in [&["policy", "show", "defualt"][..], &["simulate", "--policy", "defualt"]] {
        let (status, output, error) = run(arguments);
        assert_eq!((status, &*output), (1, ""));
        assert_eq!(
            error,
            "error: failed to find the policy \"defualt\": did you mean \"default\"?\n"
        );
    }
}

#[test]
fn a_policy_unlike_any_is_answered_with_all() {
    let (status, _, error) = run(&["policy", "show", "zzz"]);
    assert_eq!(status, 1);
    assert_eq!(
        error,
        "error: failed to find the policy \"zzz\": there is no such file, and the policies that \
         come with the program are default, by-utilisation, pack, green, balanced, mean, \
         mean-fair, max-min-fair, finish-time-fair, makespan, throughput, round-robin, priority, \
         fair-share\n"
    );
}

#[test]
fn two_policies_of_one_name_are_refused() {
    let (status, _, error) = run(&["simulate", "--policy", "default", "--policy", "default"]);
    assert_eq!(status, 1);
    assert_eq!(error, "error: failed to compare the policies: two have the name \"default\"\n");
}

#[test]
fn an_unknown_objective_is_named_with_file_line_and_the_nearest() {
    let (_folder, path) = file(MISTYPED);
    let fault = format!("{path}:8: unknown objective \"enrgy\"; did you mean \"energy\"?");
    let (status, _, error) = run(&["policy", "show", &path]);
    assert_eq!(status, 1);
    assert_eq!(error, format!("error: failed to read the policy {path:?}: {fault}\n"));

    let (status, output, error) = run(&["policy", "check", &path]);
    assert_eq!((status, output), (1, format!("{fault}\n")));
    assert_eq!(error, "error: failed to read 1 of 1 policy files\n");
}

#[test]
fn a_missing_file_is_named() {
    let (status, _, error) = run(&["policy", "show", "nowhere/x.toml"]);
    assert_eq!(status, 1);
    assert_eq!(
        error,
        "error: failed to read the policy \"nowhere/x.toml\": No such file or directory (os error 2)\n"
    );
}

#[test]
fn check_goes_on_after_a_bad_file() {
    let (_one, bad) = file(MISTYPED);
    let (_other, good) = file(GOOD);
    let (status, output, error) = run(&["policy", "check", "nowhere/x.toml", &bad, &good]);
    assert_eq!(status, 1);
    let lines: Vec<_> = output.lines().collect();
    assert_eq!(lines.len(), 3);
    assert_eq!(lines[0], "nowhere/x.toml: No such file or directory (os error 2)");
    assert_eq!(lines[2], format!("{good}: ok, policy \"mine\""));
    assert_eq!(error, "error: failed to read 2 of 3 policy files\n");
}

#[test]
fn good_policies_pass_the_check() {
    let (_folder, path) = file(GOOD);
    assert_eq!(
        run(&["policy", "check", &path]),
        (0, format!("{path}: ok, policy \"mine\"\n"), String::new())
    );
}

#[test]
fn a_shown_policy_is_a_valid_file() {
    let (status, shown, _) = run(&["policy", "show", "default"]);
    assert_eq!(status, 0);
    let (_folder, path) = file(&shown);
    assert_eq!(run(&["policy", "check", &path]).0, 0);
    assert_eq!(run(&["policy", "show", &path]).1, shown);
}

#[test]
fn list_shows_every_shipped_policy() {
    let (status, output, _) = run(&["policy", "list"]);
    assert_eq!(status, 0);
    for name in
        ["default", "by-utilisation", "pack", "green", "balanced", "round-robin", "fair-share"]
    {
        assert!(output.lines().any(|line| line.starts_with(&format!("{name} "))), "{output}");
    }
}

#[test]
fn json_is_valid_wherever_it_is_offered() {
    let (_folder, bad) = file(MISTYPED);
    let json = |arguments: &[&str]| {
        let (_, output, _) = run(arguments);
        serde_json::from_str::<serde_json::Value>(&output).unwrap()
    };
    let list = json(&["policy", "list", "--json"]);
    assert_eq!(list[0]["name"], "default");
    assert!(list.as_array().unwrap().contains(&json(&["policy", "show", "default", "--json"])));
    let shown = json(&["policy", "show", "round-robin", "--json"]);
    assert_eq!(shown.get("patience"), None, "round-robin reads none");
    assert_eq!(shown["pick"], "rotation");
    let checked = json(&["policy", "check", &bad, "--json"]);
    assert!(checked[0]["error"].as_str().unwrap().contains("did you mean"), "{checked}");
}

#[test]
fn a_policy_in_json_has_the_names_and_units_of_its_file() {
    let text = "format = 1\nname = \"mine\"\norder = [\"priority\", \"first-in\"]\n\
                pick = \"weighted\"\npatience = 0.2\n[[tier]]\nrule = \"fixed\"\n\
                weights = { completion = 0.5, energy = 2 }\n[scale]\nenergy = \"200kJ\"\n";
    let (_folder, path) = file(text);
    let (_, output, _) = run(&["policy", "show", &path, "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&output).unwrap();
    let expected = serde_json::json!({
        "format": 1,
        "name": "mine",
        "order": ["priority", "first-in"],
        "pick": "weighted",
        "patience": 0.2,
        "tier": [{ "rule": "fixed", "weights": { "completion": 0.5, "energy": 2 } }],
        "scale": {
            "completion": "60s",
            "utilisation": 0.1,
            "fragmentation": 1,
            "companion": 1,
            "rarity": 10,
            "energy": "200kJ",
            "deadline": 0.05,
            "locality": "10GB",
            "interference": "60s",
        },
    });
    assert_eq!(shown, expected);
}

#[test]
fn help_has_examples_at_every_level() {
    for arguments in [
        &["--help"][..],
        &["simulate", "--help"],
        &["compare", "--help"],
        &["policy", "list", "--help"],
        &["policy", "show", "--help"],
        &["policy", "check", "--help"],
        &["completions", "--help"],
    ] {
        let (status, output, _) = run(arguments);
        assert_eq!(status, 0);
        assert!(output.contains("Examples:\n  motley "), "{output}");
    }
}

#[test]
fn examples_in_help_name_options_that_exist() {
    for command in ["simulate", "compare"] {
        let (_, help, _) = run(&[command, "--help"]);
        let (options, examples) = help.split_once("Examples:").unwrap();
        for word in examples.split_whitespace().filter(|word| word.starts_with("--")) {
            assert!(options.contains(word), "{word}");
        }
    }
}

#[test]
fn completions_for_bash_name_the_commands() {
    let (status, output, _) = run(&["completions", "bash"]);
    assert_eq!(status, 0);
    for word in ["_motley", "simulate", "--rate-error", "policy"] {
        assert!(output.contains(word), "{word}");
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_program_quietly() {
    for arguments in
        [&["completions", "bash"][..], &["policy", "list"], &["policy", "list", "--json"]]
    {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut program = std::process::Command::new(assert_cmd::cargo::cargo_bin("motley"));
        program.args(arguments).stdout(writer).stderr(std::process::Stdio::piped());
        let output = program.spawn().unwrap().wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(output.stderr, b"", "{arguments:?}");
    }
}

#[test]
fn a_simulation_that_is_stopped_says_so() {
    let (status, text, _) = run(&["simulate", "--until", "1h", "--policy", "default"]);
    assert_eq!(status, 0);
    assert!(text.contains("Stopped at the time of --until"), "{text}");
    let (_, whole, _) = run(&["simulate", "--policy", "default"]);
    assert!(!whole.contains("Stopped"), "{whole}");
}

#[test]
fn entries_that_were_left_out_are_named_with_their_file() {
    let fleet = "format = 1\n[device.X]\nkind = \"cpu\"\n[[node]]\nname = \"n\"\ncpu = \"X\"\n\
                 cores = 4\nmemory = \"1GiB\"\n";
    let (_folder, fleet) = file(fleet);
    let jobs = "{\"name\":\"a\",\"work\":5,\
                \"alternative\":[{\"cores\":1,\"memory\":\"1MiB\"}]}\nnonsense\n";
    let (_other, jobs) = file(jobs);
    let given = ["simulate", "--fleet", &fleet, "--jobs", &jobs];
    let (status, _, error) = run(&given);
    assert_eq!(status, 1);
    assert!(error.contains(&jobs) && error.contains("line 2"), "{error}");
    let (status, text, _) = run(&[&given[..], &["--skip-bad"]].concat());
    assert_eq!(status, 0);
    assert!(text.contains(&format!("Left out: 1 bad entry.\n  {jobs}, line 2")), "{text}");
}

#[test]
fn columns_of_a_csv_are_mapped_and_a_wrong_map_is_a_usage_error() {
    let (_folder, paths) = files(&[("f.toml", TWO_MODELS), ("j.csv", "id,cpus,t\na,2,5\n")]);
    let given = ["simulate", "--fleet", &paths[0], "--jobs", &paths[1], "--policy", "default"];
    let (status, _, error) = run(&given);
    assert!(status == 1 && error.contains("`id`: is not a field of a job"), "{error}");
    let mapped = |columns| run(&[&given[..], &["--columns", columns]].concat());
    let (status, text, _) = mapped("name=id,cores=cpus,duration=t");
    assert!(status == 0 && text.contains("Jobs: 1 (1 task)"), "{text}");
    let (status, _, error) = mapped("nmae=id");
    assert!(status == 2 && error.contains("did you mean \"name\"?"), "{error}");
    let (status, _, error) = mapped("name=di");
    assert!(status == 1 && error.contains("no column \"di\" to read as name"), "{error}");
    let (status, _, error) = run(&["simulate", "--columns", "cores=cpus"]);
    assert!(status == 2 && error.contains("--jobs"), "{error}");
}

#[test]
fn a_log_is_split_and_labelled_as_asked() {
    let log = "1 0 -1 60 16 -1 -1 16 -1 -1 1 -1 -1 -1 3 2 -1 -1\n";
    let (_folder, paths) = files(&[("f.toml", TWO_MODELS), ("j.swf", log)]);
    let given = ["simulate", "--fleet", &paths[0], "--jobs", &paths[1], "--policy", "default"];
    let (status, _, error) = run(&given);
    assert!(status == 1 && error.contains("no node has more than 8"), "{error}");
    let split = [&given[..], &["--task-cores", "4", "--until", "2h"]].concat();
    let (status, text, _) = run(&split);
    assert!(status == 0 && text.contains("Jobs: 1 (4 tasks)"), "{text}");
    let (_, done, _) = run(&[&split[..], &["--json"]].concat());
    assert!(done.contains("\"tasks_done\": 4"), "{done}");
    for label in ["queue", "partition"] {
        let (_, waits, _) = run(&[&split[..], &["--job-labels", label, "--json"]].concat());
        assert!(waits.contains("\"tasks_done\": 0"), "no node has the label {label}: {waits}");
    }
    let (status, _, error) = run(&[&given[..], &["--task-cores", "0"]].concat());
    assert!(status == 2 && error.contains("1..=1000000"), "{error}");
}

#[test]
fn a_declared_mix_may_be_a_csv_of_jobs_and_is_read_like_the_jobs() {
    let csv = "id,cpus,t\na,2,5\n";
    let (_folder, paths) = files(&[("f.toml", TWO_MODELS), ("j.csv", csv), ("m.csv", csv)]);
    let given = ["simulate", "--fleet", &paths[0], "--jobs", &paths[1], "--mix", &paths[2]];
    let (status, text, error) =
        run(&[&given[..], &["--policy", "default", "--columns", "name=id,cores=cpus,duration=t"]]
            .concat());
    assert!(
        status == 0 && text.contains("the mix is declared: that of the 1 jobs"),
        "{text}{error}"
    );
}

const TWO_MODELS: &str = "format = 1\n[device.epyc]\nkind = \"cpu\"\n\
    [device.t4]\nkind = \"gpu\"\n[device.h100]\nkind = \"gpu\"\n\
    [[node]]\nname = \"first\"\ncpu = \"epyc\"\ncores = 8\nmemory = \"8GiB\"\ndevices = { t4 = 1 }\n\
    [[node]]\nname = \"second\"\ncpu = \"epyc\"\ncores = 8\nmemory = \"8GiB\"\ndevices = { h100 = 1 }\n";

#[test]
fn a_declared_mix_alone_changes_where_a_job_goes_and_is_told() {
    let job = |models: &str| {
        format!(
            "{{\"name\": \"train\", \"work\": 60, \"alternative\": [{{\"cores\": 1, \"device\": \
             {{\"kind\": \"gpu\"{models}}}}}]}}\n"
        )
    };
    let (_folder, paths) = files(&[
        ("fleet.toml", TWO_MODELS),
        ("jobs.jsonl", &job("")),
        ("t4.jsonl", &job(", \"models\": [\"t4\"]")),
        ("h100.jsonl", &job(", \"models\": [\"h100\"]")),
    ]);
    let [fleet, jobs, t4, h100] = &paths[..] else { panic!("four files") };
    let told = |mix: &str| {
        let base = ["simulate", "--fleet", fleet, "--jobs", jobs, "--policy", "pack"];
        let (status, output, error) = run(&[&base[..], &["--mix", mix]].concat());
        assert_eq!(status, 0, "{error}");
        assert!(output.contains("the mix is declared"), "{output}");
        output
    };
    assert!(told(t4).contains("train placed on second (h100"), "{}", told(t4));
    assert!(told(h100).contains("train placed on first (t4"), "{}", told(h100));
}

#[test]
fn sockets_alone_change_the_energy_of_a_simulation_and_are_bounded() {
    let fleet = |socket: &str| {
        format!(
            "format = 1\n[device.epyc]\nkind = \"cpu\"\n[[node]]\nname = \"n\"\ncpu = \"epyc\"\n\
             cores = 8\nmemory = \"8GiB\"\npower = {{ idle = \"100W\", busy = \"300W\" }}\n{socket}"
        )
    };
    let job = "{\"name\": \"a\", \"work\": 3600, \"alternative\": [{\"cores\": 1}]}\n";
    let energy = |socket: &str| {
        let (_folder, paths) = files(&[("fleet.toml", &fleet(socket)), ("jobs.jsonl", job)]);
        let (status, output, error) = run(&[
            "simulate", "--fleet", &paths[0], "--jobs", &paths[1], "--policy", "pack", "--json",
        ]);
        assert_eq!(status, 0, "{error}");
        let told: serde_json::Value = serde_json::from_str(&output).unwrap();
        told["summaries"][0]["energy_joules"].as_f64().unwrap()
    };
    // An hour at 100 W and one eighth, or one of two sockets, of 200 W.
    assert_eq!((energy("").round(), energy("socket = 4\n").round()), (450_000.0, 720_000.0));
    for wrong in ["socket = 0\n", "socket = 9\n"] {
        let (_folder, paths) = files(&[("fleet.toml", &fleet(wrong)), ("jobs.jsonl", job)]);
        let (status, _, error) = run(&["simulate", "--fleet", &paths[0], "--jobs", &paths[1]]);
        assert_eq!(status, 1);
        assert!(error.contains("socket"), "{error}");
    }
}
