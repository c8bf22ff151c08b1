//! What fails: tasks, the daemon, the keeper, both; nothing is lost and nothing runs twice.

use crate::place::{Place, wait_until};

#[test]
fn a_task_that_fails_runs_again_as_often_as_it_may() {
    let place = Place::up();
    let file = place.file("tries");
    let script = format!("echo x >> {file}; test $(wc -l < {file}) -ge 3");
    let job = place.submit(&["--retries", "5", "--", "sh", "-c", &script]);
    assert_eq!(place.wait(&job), 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap().lines().count(), 3);
    let never = place.submit(&["--retries", "1", "--", "sh", "-c", "exit 7"]);
    assert_eq!(place.wait(&never), 7);
}

#[test]
fn a_task_is_stopped_when_its_time_is_up() {
    let place = Place::up();
    let job = place.submit(&["--time", "0.2s", "--", "sleep", "300"]);
    assert_eq!(place.wait(&job), 124);
    let view = place.json(&["job", "show", &job, "--json"]);
    assert_eq!(view["failures"][0][1], "time limit");
}

#[test]
fn a_daemon_that_was_killed_finds_its_tasks_again_and_none_runs_twice() {
    let place = Place::up();
    let file = place.file("runs");
    let script = format!("echo $MOTLEY_TASK_INDEX >> {file}; sleep 0.1");
    let job = place.submit(&["--array", "0-39", "--cpus", "0.1", "--", "sh", "-c", &script]);
    for _ in 0..3 {
        wait_until("some have run", || {
            std::fs::read_to_string(&file).is_ok_and(|text| !text.is_empty())
        });
        place.kill_daemon();
        place.start();
    }
    assert_eq!(place.wait(&job), 0);
    let mut runs: Vec<u32> =
        std::fs::read_to_string(&file).unwrap().lines().map(|line| line.parse().unwrap()).collect();
    runs.sort_unstable();
    assert_eq!(runs, (0..40).collect::<Vec<_>>());
    let (status, verdict, _) = place.run(&["journal", "verify"]);
    assert!(status == 0 && verdict.contains("all sound"), "{verdict}");
}

#[test]
fn a_task_that_ended_while_nobody_looked_is_not_run_again() {
    let place = Place::up();
    let file = place.file("runs");
    let script = format!("echo x >> {file}; sleep 0.3");
    let job = place.submit(&["--", "sh", "-c", &script]);
    wait_until("it runs", || std::fs::read_to_string(&file).is_ok());
    place.kill_daemon();
    std::thread::sleep(std::time::Duration::from_millis(600));
    place.start();
    assert_eq!(place.wait(&job), 0);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x\n");
}

#[test]
fn tasks_end_with_their_keeper_and_run_again_unless_that_is_forbidden() {
    let place = Place::up();
    let (mark, other) = (place.mark(), place.mark());
    let script = |mark: &str| format!("exec -a {mark} sleep 300");
    let again = place.submit(&["--cpus", "0.1", "--", "bash", "-c", &script(&mark)]);
    let once =
        place.submit(&["--cpus", "0.1", "--no-requeue", "--", "bash", "-c", &script(&other)]);
    wait_until("both run", || place.processes(&mark) + place.processes(&other) == 2);
    place.kill_keeper();
    assert_eq!(place.wait(&once), 1);
    assert_eq!(place.processes(&other), 0);
    wait_until("one runs again", || place.processes(&mark) == 1);
    let view = place.json(&["job", "show", &again, "--json"]);
    assert_eq!(view["runs"][0]["attempt"], 1);
}

#[test]
fn daemon_and_keeper_killed_together_lose_no_job() {
    let place = Place::up();
    let (file, mark) = (place.file("done"), place.mark());
    let ended = place.submit(&["--", "sh", "-c", &format!("echo x >> {file}")]);
    assert_eq!(place.wait(&ended), 0);
    let script = format!("exec -a {mark} sleep 300");
    let running = place.submit(&["--", "bash", "-c", &script]);
    let waiting = place.submit(&["--hold", "--", "true"]);
    wait_until("it runs", || place.processes(&mark) == 1);
    place.kill_daemon();
    place.kill_keeper();
    place.start();
    wait_until("it runs again", || place.processes(&mark) == 1);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x\n");
    assert_eq!(place.json(&["job", "show", &waiting, "--json"])["state"], "held");
    assert_eq!(place.json(&["job", "show", &running, "--json"])["state"], "running");
}

#[test]
fn one_directory_has_one_daemon() {
    let place = Place::up();
    let (status, _, errors) = place.run(&["up"]);
    assert!(status == 1 && errors.contains("uses"), "{errors}");
    assert_eq!(place.run(&["status"]).0, 0);
}

#[test]
fn the_daemon_ends_as_it_is_told_to() {
    let place = Place::up();
    let mark = place.mark();
    let script = format!("exec -a {mark} sleep 300");
    let job = place.submit(&["--", "bash", "-c", &script]);
    wait_until("it runs", || place.processes(&mark) == 1);
    assert_eq!(place.run(&["down", "--leave"]).0, 0);
    assert_eq!(place.processes(&mark), 1, "what runs goes on");
    place.start();
    assert_eq!(place.json(&["job", "show", &job, "--json"])["runs"][0]["attempt"], 0);
    assert_eq!(place.run(&["down", "--now"]).0, 0);
    assert_eq!((place.processes(&mark), place.keepers().len()), (0, 0));
    place.start();
    wait_until("it runs again", || place.processes(&mark) == 1);
    assert_eq!(place.run(&["job", "cancel", "--all"]).0, 0);
    assert_eq!(place.run(&["down"]).0, 0);
    assert_eq!(place.keepers().len(), 0);
}

#[test]
fn what_was_drained_in_order_to_end_takes_work_again_and_what_its_user_drained_does_not() {
    let place = Place::up();
    place.submit(&["--", "sleep", "300"]);
    // It waits for the task, and is killed meanwhile.
    let mut down = place.command(&["down"]).spawn().unwrap();
    let node = |place: &Place| place.json(&["nodes", "--json"])[0]["state"].clone();
    wait_until("the node is drained", || node(&place) == "drained");
    place.kill_daemon();
    down.wait().unwrap();
    place.start();
    wait_until("the node takes work", || node(&place) == "up");
    let name = place.json(&["nodes", "--json"])[0]["name"].as_str().unwrap().to_owned();
    assert_eq!(place.run(&["job", "cancel", "--all"]).0, 0);
    assert_eq!(place.run(&["node", "drain", &name]).0, 0);
    assert_eq!(place.run(&["down"]).0, 0);
    place.start();
    assert_eq!(node(&place), "drained");
    let waiting = place.submit(&["--", "true"]);
    let (_, told, _) = place.run(&["job", "explain", &waiting]);
    assert!(told.contains("lost or drained"), "{told}");
    assert_eq!(place.run(&["node", "resume", &name]).0, 0);
    assert_eq!(place.wait(&waiting), 0);
}

#[test]
fn what_a_command_could_not_say_itself_is_said_for_it() {
    let place = Place::up();
    let (status, _, errors) = place.run(&["run", "--", "no-such-program"]);
    assert!(status == 127 && errors.contains("not started"), "{status} {errors}");
    let (status, _, errors) = place.run(&["run", "--time", "0.2s", "--", "sleep", "300"]);
    assert!(status == 124 && errors.contains("time limit"), "{status} {errors}");
    let (status, _, errors) = place.run(&["run", "--", "sh", "-c", "exit 5"]);
    assert_eq!((status, &*errors), (5, ""));
}

#[test]
fn a_command_ends_when_nobody_reads_it_any_more() {
    let place = Place::up();
    let mut command = place.command(&["run", "--", "yes"]);
    let mut running = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    std::io::Read::read_exact(running.stdout.as_mut().unwrap(), &mut [0; 2]).unwrap();
    drop(running.stdout.take());
    running.wait().unwrap();
    wait_until("it is cancelled", || {
        place.json(&["job", "show", "1", "--json"])["state"] == "cancelled"
    });
}

#[test]
fn what_has_ended_is_not_cancelled_or_held() {
    let place = Place::up();
    let job = place.submit(&["--", "true"]);
    place.wait(&job);
    for verb in ["cancel", "hold", "release"] {
        let (status, _, errors) = place.run(&["job", verb, &job]);
        assert!(status == 1 && errors.contains("has ended"), "{verb}: {status} {errors}");
    }
}

#[test]
fn clients_that_send_no_request_in_time_are_let_go() {
    let place = Place::up();
    let socket = place.file("motley/motley.sock");
    let connect = || std::os::unix::net::UnixStream::connect(&socket).unwrap();
    let (mut silent, mut slow) = (connect(), connect());
    std::io::Write::write_all(&mut slow, b"GET /v1/sta").unwrap();
    assert_eq!(place.run(&["status"]).0, 0);
    for silent in [&mut silent, &mut slow] {
        let mut said = Vec::new();
        std::io::Read::read_to_end(silent, &mut said).unwrap();
        assert!(!String::from_utf8_lossy(&said).contains("200 OK"), "it is closed, unanswered");
    }
    assert_eq!(place.run(&["status"]).0, 0);
}
