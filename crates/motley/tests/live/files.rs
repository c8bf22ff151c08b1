//! Files of jobs, scripts for Slurm, and tasks with entries, on a daemon that runs.

#![expect(clippy::unwrap_used, reason = "helpers of tests are not in a test function")]

use std::fs;

use crate::place::Place;

/// Writes a file; its path.
fn write(place: &Place, name: &str, text: &str) -> String {
    let path = place.file(name);
    fs::write(&path, text).unwrap();
    path
}

/// Submits a file; the numbers of its jobs.
fn submit(place: &Place, file: &str, arguments: &[&str]) -> Vec<String> {
    let numbers = place.submit(&[&["--file", file], arguments].concat());
    numbers.lines().map(str::to_owned).collect()
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
fn a_script_runs_as_slurm_would_run_it_and_knows_what_slurm_tells() {
    let place = Place::up();
    let out = place.file("out-%A_%a");
    let script = format!(
        "#!/bin/bash -e\n#SBATCH -J own -a 4-5 -n 1\n#SBATCH -o {out}\n\n\
         echo \"$SLURM_JOB_NAME $SLURM_JOB_ID $SLURM_ARRAY_JOB_ID $SLURM_ARRAY_TASK_ID $*\"\n\
         echo \"$LINENO $SLURM_ARRAY_TASK_COUNT ${{SLURM_RESTART_COUNT:-none}} $0\"\n\
         echo \"$(dirname \"$SLURM_SUBMIT_DIR/x\") $SLURM_JOB_NODELIST\"\nfalse\necho unseen\n"
    );
    let file = write(&place, "own.sh", &script);
    let [job] = &submit(&place, &file, &["--", "a", "b c"])[..] else { panic!("one job") };
    // The file may change or go: the text went with the job.
    fs::remove_file(&file).unwrap();
    assert_eq!(place.wait(job), 1);
    let name =
        String::from_utf8(std::process::Command::new("uname").arg("-n").output().unwrap().stdout);
    let here = place.file("");
    for task in [4, 5] {
        let printed = fs::read_to_string(place.file(&format!("out-{job}_{task}"))).unwrap();
        let expected = format!(
            "own {job}_{task} {job} {task} a b c\n6 2 none own.sh\n{} {}",
            here.trim_end_matches('/'),
            name.as_ref().unwrap()
        );
        assert_eq!(printed, expected);
    }
}

#[test]
fn a_script_in_another_language_gets_its_text_and_arguments() {
    let place = Place::up();
    let file = write(
        &place,
        "words.awk",
        "#!/usr/bin/awk -f\n#SBATCH -a 3,9\n\nBEGIN { \
        print ENVIRON[\"SLURM_ARRAY_TASK_ID\"], ARGV[1], \"it's $here\" }\n",
    );
    let [job] = &submit(&place, &file, &["--", "x"])[..] else { panic!("one job") };
    assert_eq!(place.wait(job), 0);
    let printed = |task: &str| place.run(&["job", "logs", job, "--task", task]).1;
    assert_eq!(
        (printed("0"), printed("1")),
        ("3 x it's $here\n".into(), "9 x it's $here\n".into())
    );
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
