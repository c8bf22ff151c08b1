//! What is wrong in a job file is said with its line, all at once.

use std::path::Path;

use motley::job_file;

use crate::{around, read};

/// The faults of a job with these fields, which begin in line 3.
fn faults(fields: &str) -> Vec<String> {
    let read = read("jobs.toml", &format!("format = 1\n[[job]]\n{fields}\n"));
    read.faults.iter().map(ToString::to_string).collect()
}

/// A command, which every job needs.
const WITH: &str = "command = ['x']\n";

const OF_OWN_FIELDS: &[(&str, &str)] = &[
    (
        "command = 'x y'",
        "3: `command`: is \"x y\", but must be a list of texts; a line for the shell goes into `script`",
    ),
    ("command = []", "3: `command`: is empty; give the program and its arguments"),
    ("name = 'a'", "2: `command`: is missing; give the program and its arguments, or a `script`"),
    ("command = ['x']\nscript = 'y'", "4: `script`: stands beside `command`; give one of the two"),
    ("script = ''", "3: `script`: is \"\", but must be a text"),
    ("WITHname = 'a'\nname = 'b'", "5: is not TOML: duplicate key"),
    ("WITHdirectory = 1", "4: `directory`: is 1, but must be a text"),
    ("WITHenvironment = { A = [] }", "4: `environment`: is a table, but must be a table of texts"),
    ("WITHinherit = 'no'", "4: `inherit`: is \"no\", but must be true or false"),
    ("WITHerror = 'e'", "4: `error`: goes with a file for `output`; name one"),
    ("WITHtime_limit = '0s'", "4: `time_limit`: must be a span above zero, like \"1h30m\""),
    ("WITHretries = -1", "4: `retries`: is -1, but must be a whole number from 0 to 4294967295"),
    ("WITHrequeue = 1", "4: `requeue`: is 1, but must be true or false"),
    ("WITHhold = 'yes'", "4: `hold`: is \"yes\", but must be true or false"),
    ("WITHarray = '9-1'", "4: `array`: of \"9-1\" the first is higher than the last"),
    ("WITHarray = '1-2'\ntasks = 2", "5: `tasks`: stands beside `array`, which says how many"),
    (
        "WITHentries = []",
        "4: `entries`: there are no entries, so there is no task; give at least one",
    ),
    (
        "WITHentries = ['a']\neach_line = 'f'",
        "5: `each_line`: stands beside `entries`; give one of the two",
    ),
    (
        "WITHafter = 'x'",
        "4: `after`: is \"x\", but must be a list of jobs, like [{ job = \"prepare\", ending = \"done\" }]",
    ),
    ("WITHafter = [{ ending = 'any' }]", "4: `after[0]`: names no job; write { job = \"NAME\" }"),
    (
        "WITHafter = [{ job = 'x', ending = 'ok' }]",
        "4: `after[0]`: ends \"ok\"; use one of done, any, not-done",
    ),
    (
        "WITHafter = [{ job = 'x', how = 'ok' }]",
        "4: `after[0]`: has a field \"how\"; it has job and ending",
    ),
    ("WITHafter = ['#1']", "4: `after[0]`: names \"#1\"; give a name"),
    (
        "WITHarrives = '1h'",
        "4: `arrives`: has no effect here: a job arrives when it is submitted; leave it out",
    ),
    (
        "WITHtime_limit = '1h'\nrates = { A = 1 }",
        "4: `time_limit`: stands beside `rates`, which need `work`; give that too",
    ),
    (
        "WITHcores = 1\nalternative = [{ cores = 1 }]",
        "4: `cores`: stands beside `alternative`; write it inside each alternative",
    ),
    ("WITHpriority = 1979-05-27", "4: `priority`: a date means nothing here"),
];

/// What a workload file has too is refused in its words, on the line of the field.
const OF_SHARED_FIELDS: &[(&str, &str)] = &[
    ("WITHcores = 'no'", "4: `cores`:"),
    ("WITHtasks = 0", "4: `tasks`: is 0; give a whole number from 1 to 4294967295"),
    (
        "WITHdevice = { kind = 'gpu', share = 2 }",
        "4: `device.share`: is 2; give a share above 0 and up to 1",
    ),
    (
        "WITHdeadline = '1h'",
        "4: `deadline`: has no effect here: a job without `work` has no end that could be late",
    ),
    ("WITHcups = 4", "4: `cups`: unknown field `cups`"),
    (
        "WITH[[job.alternative]]\ncores = 1\n[[job.alternative]]\ncups = 4",
        "7: `alternative[1].cups`: unknown field `cups`",
    ),
];

#[test]
fn every_wrong_field_has_its_message() {
    for (fields, expected) in OF_OWN_FIELDS.iter().chain(OF_SHARED_FIELDS) {
        let fields = fields.replace("WITH", WITH);
        let found = faults(&fields);
        assert!(matches!(&found[..], [one] if one.starts_with(expected)), "{fields}: {found:#?}");
    }
    let long = faults(&format!("script = '{}'", "x".repeat(128 << 10)));
    assert!(long[0].starts_with("3: `script`: has more than 131071 bytes"), "{long:?}");
}

#[test]
fn all_faults_are_said_at_once_by_line() {
    let read = read(
        "jobs.yaml",
        "format: 1\njob:\n- command: [x]\n  hold: 1\n  retries: no\n- script: 2\n  cores: -1\n",
    );
    let lines: Vec<_> = read.faults.iter().map(|fault| (fault.line, &*fault.field)).collect();
    assert_eq!(lines, [(4, "hold"), (5, "retries"), (6, "script"), (7, "cores")]);
}

#[test]
fn what_is_no_job_file_is_refused() {
    for (name, text, expected) in [
        (
            "a.toml",
            "[[job]]\ncommand = ['x']\n",
            "1: `format`: is missing; begin the file with format = 1",
        ),
        ("a.toml", "format = 2\n", "1: `format`: is 2, but this reader knows format 1 only"),
        ("a.toml", "format = 1\n", "1: `job`: is missing; write [[job]] over each job"),
        (
            "a.toml",
            "format = 1\n\njob = 3\n",
            "3: `job`: must be a list of tables; write [[job]] over each",
        ),
        (
            "a.toml",
            "format = 1\n[[job]]\ncommand = ['x']\n[[stream]]\n",
            "4: `stream`: is not a section of this file; the sections are format, job",
        ),
        ("a.toml", "format = 1\nx = = 2\n", "2: is not TOML"),
        ("a.yaml", "format: 1\njob: [\n", "2: is not YAML"),
        ("a.yaml", "- a\n- b\n", "1: is no table of sections"),
        ("a.yaml", "format: 1\njob:\n- 3\n", "3: `job`: must be a table of fields"),
        (
            "a.yaml",
            "format: 1\njob:\n- command: [x]\n  command: [y]\n",
            "4: is not YAML: duplicate",
        ),
    ] {
        let found: Vec<_> = read(name, text).faults.iter().map(ToString::to_string).collect();
        assert!(matches!(&found[..], [one] if one.starts_with(expected)), "{text}: {found:#?}");
    }
}

#[test]
fn a_file_without_a_known_form_or_of_too_many_bytes_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let open = |name: &str, text: &[u8], arguments: &[String]| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        format!("{:#}", job_file::open(&path, arguments, &around()).unwrap_err())
    };
    assert!(open("jobs.txt", b"format = 1", &[]).contains("name it .toml, .yaml, .yml or .json"));
    assert!(open("a.toml", b"\xff", &[]).contains("not UTF-8"));
    assert!(open("b.toml", b"format = 1", &["x".to_owned()]).contains("only a script takes"));
    assert!(open("c.toml", &vec![b'\n'; (16 << 20) + 1], &[]).contains("larger than"));
    let absent = job_file::open(&folder.path().join("absent.toml"), &[], &around());
    assert!(format!("{:#}", absent.unwrap_err()).contains("absent.toml"));
}

/// Half-written files are what an editor saves: none may do more than be refused.
#[test]
fn every_beginning_of_a_file_is_read_or_refused() {
    let yaml = "format: 1\njob:\n- &a\n  name: \"a\"\n  command: [x, 'y']\n  environment: {A: 1}\n  \
                after: [{job: b}]\n- name: b\n  script: |\n    true\n  alternative:\n  - cores: 1\n";
    let toml = "format = 1\n[[job]]\nname = \"a\"\ncommand = ['x']\nafter = [{ job = \"b\" }]\n\
                [job.device]\nkind = \"gpu\"\n[[job]]\nname = 'b'\nscript = '''\ntrue'''\n";
    let script = include_str!("scripts/slips.sh");
    for (name, text) in [("a.yaml", yaml), ("a.toml", toml), ("a.sh", script)] {
        let whole = job_file::read((Path::new(name), text), &[], &around()).unwrap();
        assert_eq!(whole.faults.is_empty(), name != "a.sh", "{name}: {:?}", whole.faults);
        for end in 2..text.len() {
            let read = job_file::read((Path::new(name), &text[..end]), &[], &around()).unwrap();
            assert!(!read.faults.is_empty() || !read.jobs.is_empty(), "{name}: {end}");
        }
    }
}
