//! A daemon, its keeper and real tasks, through the program as a user calls it.

mod alerts;
mod doctor;
mod failing;
mod files;
mod measured;
mod modelled;
mod place;
mod sharing;
mod terminal;
mod web;

use place::{Place, wait_until};

#[test]
fn a_command_runs_and_its_output_and_status_are_ours() {
    let place = Place::up();
    let (status, output, errors) =
        place.run(&["run", "--", "sh", "-c", "echo out; echo err >&2; exit 3"]);
    assert_eq!((status, output.as_str(), errors.as_str()), (3, "out\n", "err\n"));
    assert_eq!(place.run(&["run", "--", "true"]).0, 0);
    assert_eq!(place.run(&["run", "--", "sh", "-c", "kill -9 $$"]).0, 137);
    assert_eq!(place.run(&["run", "--", "no-such-program"]).0, 127);
}

#[test]
fn what_every_attempt_prints_is_shown_in_full() {
    let place = Place::up();
    let script = "printf \"$MOTLEY_ATTEMPT%0$((99 - 20 * MOTLEY_ATTEMPT))d\" 7; exit 1";
    let (status, output, errors) = place.run(&["run", "--retries", "1", "--", "sh", "-c", script]);
    assert_eq!((status, output), (1, format!("0{:099}1{:079}", 7, 7)), "{errors}");
}

#[test]
fn a_signal_ends_a_daemon_that_waits_for_what_runs() {
    let place = Place::up();
    let mark = place.mark();
    let script = format!("exec -a {mark} sleep 600");
    place.submit(&["--", "bash", "-c", &script]);
    wait_until("it runs", || place.processes(&mark) == 1);
    let mut down = place.command(&["down"]).stdout(std::process::Stdio::null()).spawn().unwrap();
    let is_draining = || {
        let (_, output, _) = place.run(&["nodes", "--json"]);
        output.contains("\"drained\"")
    };
    wait_until("it drains", is_draining);
    let pid = place.json(&["status", "--json"])["pid"].to_string();
    let signalled = std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap();
    assert!(signalled.success());
    assert!(down.wait().unwrap().success(), "it has ended");
    assert_eq!(place.processes(&mark), 1, "what runs goes on");
    place.start();
    let state = || place.json(&["nodes", "--json"])[0]["state"].clone();
    wait_until("it takes work again", || state() == "up");
}

#[test]
fn without_a_daemon_one_is_told_how_to_start_it_and_run_can() {
    let place = Place::new();
    let (status, _, errors) = place.run(&["submit", "--", "true"]);
    assert_eq!(status, 1);
    assert!(errors.contains("motley up --detach"), "{errors}");
    let (status, output, _) = place.run(&["run", "--up", "--", "echo", "up"]);
    assert_eq!(status, 0);
    assert!(output.ends_with("up\n"), "{output}");
}

#[test]
fn tasks_of_an_array_know_their_number_and_all_are_done() {
    let place = Place::up();
    let file = place.file("numbers");
    let script = format!("echo $MOTLEY_TASK_INDEX >> {file}");
    let job = place.submit(&["--array", "5-14", "--", "sh", "-c", &script]);
    assert_eq!(place.wait(&job), 0);
    let mut numbers: Vec<u32> =
        std::fs::read_to_string(&file).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (5..=14).collect::<Vec<_>>());
    let view = place.json(&["job", "show", &job, "--json"]);
    assert_eq!((view["state"].as_str(), view["done"].as_u64()), (Some("done"), Some(10)));
    // Every page counts as its user does.
    let (_, why, errors) = place.run(&["job", "explain", &job]);
    assert!(why.contains("task 14 at ") && !why.contains("task 4 at "), "{why}{errors}");
}

#[test]
fn what_a_task_gets_is_what_was_asked() {
    let place = Place::up();
    let job = place.submit(&[
        "--env",
        "COLOUR=green",
        "--no-env",
        "--cwd",
        "/",
        "--",
        "sh",
        "-c",
        "echo $COLOUR $PWD $SECRET; env | grep -c MOTLEY_DIRECTORY",
    ]);
    place.wait(&job);
    assert_eq!(place.run(&["job", "logs", &job]).1, "green /\n0\n");
}

#[test]
fn output_goes_where_it_is_asked_to_go() {
    let place = Place::up();
    let file = place.file("out-%j-%t");
    let job = place.submit(&["--output", &file, "--", "echo", "filed"]);
    place.wait(&job);
    let written = file.replace("%j", &job).replace("%t", "0");
    assert_eq!(std::fs::read_to_string(written).unwrap(), "filed\n");
    let (status, _, errors) = place.run(&["job", "logs", &job]);
    assert!(status == 1 && errors.contains("goes into files"), "{errors}");
    let silent = place.submit(&["--output", "none", "--", "echo", "lost"]);
    place.wait(&silent);
    assert!(place.run(&["job", "logs", &silent]).2.contains("is not kept"));
}

#[test]
fn what_a_job_used_is_told_and_outlives_the_daemon() {
    let place = Place::up();
    let loops = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done";
    let busy = place.submit(&["--", "sh", "-c", loops]);
    place.wait(&busy);
    let idle = place.submit(&["--", "true"]);
    place.wait(&idle);
    let used = |place: &Place, job: &str| {
        let view = place.json(&["job", "show", job, "--json"]);
        let used = &view["used"];
        (used["cpu_seconds"].as_f64().unwrap(), used["memory_bytes"].as_u64().unwrap())
    };
    let (cpu, memory) = used(&place, &busy);
    assert!(cpu > used(&place, &idle).0 && cpu > 0.05 && memory > 100_000, "{cpu} {memory}");
    assert!(place.run(&["job", "show", &busy]).1.contains(" s of processor time and at most "));
    place.kill_daemon();
    place.start();
    assert_eq!(used(&place, &busy), (cpu, memory));
}

#[test]
fn a_job_is_held_released_and_follows_others() {
    let place = Place::up();
    let held = place.submit(&["--hold", "--name", "first", "--", "true"]);
    let next = place.submit(&["--after", "first", "--", "true"]);
    let never = place.submit(&["--after-notok", &held, "--", "true"]);
    let state = |job: &str| place.json(&["job", "show", job, "--json"])["state"].clone();
    wait_until("the job is held", || state(&held) == "held");
    assert_eq!(state(&next), "blocked");
    assert_eq!(place.run(&["job", "release", &held]).0, 0);
    assert_eq!((place.wait(&held), place.wait(&next)), (0, 0));
    assert_eq!(place.wait(&never), 130);
    assert_eq!(state(&never), "cancelled");
}

#[test]
fn a_cancelled_task_leaves_nothing_behind() {
    let place = Place::up();
    let mark = place.mark();
    let script = format!("setsid bash -c 'exec -a {mark} sleep 300' & exec -a {mark} sleep 300");
    let job = place.submit(&["--", "bash", "-c", &script]);
    wait_until("both run", || place.processes(&mark) == 2);
    assert_eq!(place.run(&["job", "cancel", &job]).0, 0);
    wait_until("both are gone", || place.processes(&mark) == 0);
    assert_eq!(place.wait(&job), 130);
}

#[test]
fn a_job_that_cannot_run_says_why_and_what_would_start_it() {
    let place = Place::up();
    let job = place.submit(&["--cpus", "4096", "--", "true"]);
    wait_until("it is looked at", || {
        place.json(&["job", "show", &job, "--json"])["reason"]
            .as_str()
            .is_some_and(|reason| reason.contains("4096"))
    });
    let (_, text, _) = place.run(&["job", "explain", &job]);
    assert!(text.contains("in place of 4096"), "{text}");
    let (_, plan, _) = place.run(&["submit", "--plan", "--cpus", "4096", "--", "true"]);
    assert!(plan.contains("in place of 4096"), "{plan}");
    assert_eq!(place.json(&["jobs", "--json"]).as_array().unwrap().len(), 1, "a plan does nothing");
}

#[test]
fn a_drained_node_starts_nothing_until_it_is_resumed() {
    let place = Place::up();
    let node = place.json(&["nodes", "--json"])[0]["name"].as_str().unwrap().to_owned();
    assert_eq!(place.run(&["node", "drain", &node]).0, 0);
    let job = place.submit(&["--", "true"]);
    wait_until("it is looked at", || {
        place.json(&["job", "show", &job, "--json"])["reason"].is_string()
    });
    assert_eq!(place.json(&["nodes", "--json"])[0]["state"], "drained");
    assert_eq!(place.json(&["job", "show", &job, "--json"])["state"], "waiting");
    assert_eq!(place.run(&["node", "resume", &node]).0, 0);
    assert_eq!(place.wait(&job), 0);
    assert!(place.run(&["node", "drain", "elsewhere"]).2.contains("there is no node"));
}

#[test]
fn a_policy_is_applied_and_stays_in_force() {
    let place = Place::up();
    assert_eq!(place.json(&["status", "--json"])["policy"], "default");
    assert_eq!(place.run(&["policy", "apply", "priority"]).0, 0);
    place.kill_daemon();
    place.start();
    assert_eq!(place.json(&["status", "--json"])["policy"], "priority");
    assert_ne!(place.run(&["policy", "apply", "no-such"]).0, 0);
}

#[test]
fn bad_requests_are_refused_and_nothing_is_submitted() {
    let place = Place::up();
    for (arguments, expected) in [
        (&["submit", "--cpus", "no", "--", "true"][..], "cores"),
        (&["submit", "--array", "9-1", "--", "true"], "the first is higher"),
        (&["submit", "--after", "77", "--", "true"], "there is no job \"77\""),
        (&["submit", "--rate", "x=1", "--", "true"], "--work"),
        (&["submit", "--mem", "4X", "--", "true"], "memory"),
        (&["submit", "--alternative", "cups=4", "--", "true"], "cups"),
        (&["submit", "--env", "NOT_SET_ANYWHERE", "--", "true"], "NAME=VALUE"),
        (&["job", "show", "12"], "there is no job"),
        (&["job", "logs", "12"], "there is no job"),
    ] {
        let (status, _, errors) = place.run(arguments);
        assert!(status != 0 && errors.contains(expected), "{arguments:?}: {errors}");
    }
    assert_eq!(place.json(&["jobs", "--all", "--json"]).as_array().unwrap().len(), 0);
}
