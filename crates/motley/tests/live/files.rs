//! Files of jobs, and tasks with entries, on a daemon that runs.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::fs;

use crate::place::Place;

/// Writes a file; its path.
fn write(place: &Place, name: &str, text: &str) -> String {
    let path = place.file(name);
    fs::write(&path, text).unwrap();
    path
}

#[test]
fn the_jobs_of_a_file_run_in_the_order_that_it_says() {
    let place = Place::up();
    let trace = place.file("trace");
    let text = format!(
        "format = 1\n\
         [[job]]\nname = 'last'\nscript = 'echo last >> {trace}'\nafter = ['middle', 'first']\n\
         [[job]]\nname = 'middle'\nscript = 'echo middle >> {trace}; exit 3'\n\
         after = [{{ job = 'first' }}]\n\
         [[job]]\nname = 'first'\nscript = 'sleep 0.3; echo first >> {trace}'\n\
         [[job]]\nname = 'mender'\nscript = 'echo mended >> {trace}'\n\
         after = [{{ job = 'middle', ending = 'not-done' }}]\n"
    );
    let file = write(&place, "jobs.toml", &text);
    let (status, said, _) = place.run(&["job", "check", &file]);
    assert!(status == 0 && said.contains("ok, 4 jobs"), "{said}");
    let (status, said, errors) = place.run(&["submit", "--file", &file]);
    assert_eq!(status, 0, "{errors}");
    let lines: Vec<_> = said.lines().collect();
    let expected = ["first", "middle", "last", "mender"];
    let expected: Vec<_> =
        (1..).zip(expected).map(|(id, name)| format!("job {id} submitted: {name}")).collect();
    assert_eq!(lines, expected);
    assert_eq!((place.wait("2"), place.wait("4"), place.wait("3")), (3, 0, 130));
    assert_eq!(fs::read_to_string(&trace).unwrap(), "first\nmiddle\nmended\n");
}

#[test]
fn of_a_file_with_a_fault_nothing_is_submitted() {
    let place = Place::up();
    let good = "format: 1\njob:\n- command: ['true']\n- command: ['true']\n";
    let bad = write(&place, "bad.yaml", &format!("{good}  retries: lots\n"));
    let (status, _, errors) = place.run(&["submit", "--file", &bad]);
    assert!(status == 1 && errors.contains("bad.yaml:5: `retries`: is \"lots\""), "{errors}");
    let unknown = write(&place, "unknown.yaml", &format!("{good}  after: [nobody]\n"));
    let (status, _, errors) = place.run(&["submit", "--file", &unknown]);
    assert!(status == 1 && errors.contains("there is no job \"nobody\""), "{errors}");
    let (status, _, errors) = place.run(&["submit", "--after", "#1", "--", "true"]);
    assert!(status == 1 && errors.contains("is the Nth job of the call"), "{errors}");
    assert_eq!(place.json(&["jobs", "--all", "--json"]).as_array().unwrap().len(), 0);
    let (status, _, errors) = place.run(&["submit", "--file", &bad, "--cpus", "2"]);
    assert!(status == 2 && errors.contains("cannot be used with"), "{errors}");
    assert_eq!(place.run(&["submit"]).0, 2);
    let (status, plan, _) = place.run(&[
        "submit",
        "--plan",
        "--file",
        &write(
            &place,
            "wide.json",
            r#"{"format": 1, "job": [{"command": ["true"], "cores": 4096}]}"#,
        ),
    ]);
    assert!(status == 0 && plan.contains("in place of 4096"), "{plan}");
}

#[test]
fn every_task_gets_its_own_entry_also_after_a_restart() {
    let place = Place::up();
    let lines = write(&place, "lines", "one\ntwo words\n\nfour\n");
    let script = "echo \"$MOTLEY_TASK_INDEX:$MOTLEY_ENTRY\"";
    let all = place.submit(&["--hold", "--each-line", &lines, "--", "sh", "-c", script]);
    place.kill_daemon();
    place.start();
    assert_eq!(place.run(&["job", "release", &all]).0, 0);
    assert_eq!(place.wait(&all), 0);
    let printed = |job: &str, task: &str| place.run(&["job", "logs", job, "--task", task]).1;
    let of_all: Vec<_> = ["0", "1", "2", "3"].map(|task| printed(&all, task)).to_vec();
    assert_eq!(of_all, ["0:one\n", "1:two words\n", "2:\n", "3:four\n"]);
    let json = write(&place, "list.json", r#"[{"a": 1}, "b", 3]"#);
    let some = place.submit(&["--array", "1-2", "--from-json", &json, "--", "sh", "-c", script]);
    assert_eq!(place.wait(&some), 0);
    assert_eq!((printed(&some, "1"), printed(&some, "2")), ("1:\"b\"\n".into(), "2:3\n".into()));
    let (status, _, errors) =
        place.run(&["submit", "--array", "2-4", "--from-json", &json, "--", "true"]);
    assert!(status == 1 && errors.contains("they are 0 to 2"), "{errors}");
}

#[test]
fn entries_may_be_more_than_the_keeper_is_told_at_a_time() {
    let place = Place::up();
    let line = "x".repeat(60_000);
    let lines = write(&place, "lines", &format!("{line}\n").repeat(160));
    let script = "test ${#MOTLEY_ENTRY} -eq 60000";
    let job = place.submit(&["--cpus", "0.02", "--each-line", &lines, "--", "sh", "-c", script]);
    assert_eq!(place.wait(&job), 0);
}
