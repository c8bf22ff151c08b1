//! `motley job check` says what would be submitted, or what is wrong, and submits nothing.

use serde_json::Value;

use crate::program;

fn checked(arguments: &[&str]) -> (i32, String, String) {
    program::run(&[&["job", "check"], arguments].concat())
}

#[test]
fn what_would_be_submitted_is_said_in_words() {
    let text = "format = 1\n[[job]]\nname = 'fit'\ncommand = ['fit', \"a\\nb\"]\ndirectory = '/'\n\
                time_limit = '2h'\nhold = true\noutput = 'o'\nerror = 'e'\narray = '3-4'\n\
                after = [{ job = 'get', ending = 'any' }, 12]\nmemory = '4G'\n\
                device = { kind = 'gpu', models = ['A', 'B'] }\n\
                [[job]]\nname = 'get'\nscript = 'get'\ndirectory = '/'\noutput = 'none'\n\
                entries = ['x']\n";
    let (_folder, paths) = program::files(&[("jobs.toml", text)]);
    let path = &paths[0];
    let expected = format!(
        "{path}: ok, 2 jobs\n\
         1. get: 1 task, each with an entry\n\
        \x20  each is given cores 1\n\
        \x20  prints into nothing\n\
        \x20  runs /bin/sh -c get\n\
        \x20  in /\n\
         2. fit: 2 tasks, 3 to 4\n\
        \x20  each is given device (kind gpu, models A or B), memory 4G\n\
        \x20  for at most 2h\n\
        \x20  after get has ended\n\
        \x20  after 12 has done its work\n\
        \x20  held until it is released\n\
        \x20  prints into o\n\
        \x20  and errors into e\n\
        \x20  runs fit (2 lines)\n\
        \x20  in /\n"
    );
    assert_eq!(checked(&[path]), (0, expected, String::new()));
}

#[test]
fn faults_of_all_files_are_said_and_the_status_is_1() {
    let files = [
        ("good.sh", "#!/bin/sh\n#SBATCH -c 2 --mem=2G\ntrue\n#SBATCH -c 3\n"),
        ("bad.yaml", "format: 1\njob:\n- command: [x]\n  hold: 2\n  cores: -1\n"),
        ("other.txt", "what"),
    ];
    let (_folder, paths) = program::files(&files);
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let (status, said, errors) = checked(&paths);
    let (good, bad, other) = (paths[0], paths[1], paths[2]);
    for line in [
        format!("{good}:4: `#SBATCH`: comes after the first command"),
        format!("{good}: ok, 1 job\n"),
        "   each is given cores 2, memory 2Gi\n".to_owned(),
        "   runs /bin/sh -c (4 lines) good.sh\n".to_owned(),
        format!("{bad}:4: `hold`: is 2, but must be true or false\n"),
        format!("{bad}:5: `cores`: "),
        format!("{other}: read {other}: name it .toml"),
    ] {
        assert!(said.contains(&line), "{line:?}: {said}");
    }
    assert_eq!((status, errors.as_str()), (1, "error: failed to read 2 of 3 job files\n"));
    let json: Value =
        serde_json::from_str(&checked(&[&["--json"], &paths[..]].concat()).1).unwrap();
    assert_eq!(json[0]["jobs"][0]["job"]["alternative"][0]["cores"], 2);
    assert_eq!(
        (&json[1]["faults"][0]["line"], &json[1]["jobs"]),
        (&4.into(), &Value::Array(vec![]))
    );
    assert!(json[2]["error"].is_string());
}
