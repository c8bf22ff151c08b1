//! Motley's workload files: what is refused, and with which words.

use crate::support::{JOBS, check, message, read_jobs, with_line};

const WRONG_JOBS: &[(&str, &str, &str)] = &[
    ("name = \"train\"", "", "read jobs, line 3, `name`: is missing; give each job a name"),
    (
        "priority = 5",
        "priority = 3000000000",
        "read jobs, line 6, `priority`: is 3000000000; give a whole number from -2147483648 to 2147483647",
    ),
    (
        "arrives",
        "arrives = \"-1s\"",
        "read jobs, line 7, `arrives`: duration \"-1s\" is negative; write it like 90s or 1h30m",
    ),
    (
        "arrives",
        "arrives = 60",
        "read jobs, line 7, `arrives`: duration \"60\" has no unit; write it like 90s or 1h30m, with one of us ms s m h d",
    ),
    (
        "arrives",
        "arrives = \"36501d\"",
        "read jobs, line 7, `arrives`: is \"36501d\"; give a span of at most 36500d",
    ),
    (
        "tasks = 4",
        "tasks = 0",
        "read jobs, line 8, `tasks`: is 0; give a whole number from 1 to 4294967295",
    ),
    (
        "tasks = 4",
        "tasks = 4294967296",
        "read jobs, line 8, `tasks`: is 4294967296; give a whole number from 1 to 4294967295",
    ),
    (
        "work = 3600",
        "work = 0",
        "read jobs, line 9, `work`: is 0; give an amount above zero, or leave it out for a job without end",
    ),
    (
        "work = 3600",
        "work = inf",
        "read jobs, line 9, `work`: work \"inf\" is not a plain decimal number; write it like 2 or 0.125",
    ),
    (
        "work = 3600",
        "work = 1e30",
        "read jobs, line 9, `work`: work \"1000000000000000000000000000000\" is too large; the most is 18446744073709",
    ),
    (
        "work = 3600",
        "",
        "read jobs, line 10, `deadline`: has no effect here: a job without `work` has no end that could be late; leave it out",
    ),
    (
        "deadline = \"2h\"",
        "deadline = \"0s\"",
        "read jobs, line 10, `deadline`: the deadline is not after the arrival; it is a span counted from there, like \"2h\"",
    ),
    (
        "deadline = \"2h\"",
        "queue = \"fast\"",
        "read jobs, line 10, `queue`: unknown field `queue`, expected one of `name`, `tenant`, `priority`, `arrives`, `tasks`, `gang`, `tasks_per_node`, `switches`, `work`, `deadline`, `inputs`, `outputs`, `alternative`",
    ),
    (
        "cores = 8",
        "cores = 1000001",
        "read jobs, line 12, `alternative[0].cores`: is 1000001; give at most 1000000 cores",
    ),
    (
        "rates = { A100",
        "rates = { A100 = 0 }",
        "read jobs, line 16, `alternative[0].rates.A100`: is 0; give a rate above zero, or leave the model out where the job cannot run",
    ),
];

#[test]
fn a_wrong_job_is_refused_with_line_field_and_remedy() {
    check(JOBS, read_jobs, WRONG_JOBS);
}

#[test]
fn a_wrong_request_is_refused_with_line_field_and_remedy() {
    let device = |fields: &str| format!("device = {{ {fields} }}");
    let shared = device("kind = \"gpu\", count = 2, share = 0.5");
    let half = device("kind = \"gpu\", share = 1.5");
    let none = device("kind = \"gpu\", share = 0");
    let cpu = device("kind = \"cpu\"");
    let many = device("kind = \"gpu\", count = 1025");
    let unknown = device("kind = \"gpu\", cuda = 3");
    check(
        JOBS,
        read_jobs,
        &[
            (
                "device",
                &shared,
                "read jobs, line 14, `alternative[0].device.share`: a share below 1 goes with a count of 1, not 2; ask for whole devices or one",
            ),
            (
                "device",
                &half,
                "read jobs, line 14, `alternative[0].device.share`: is 1.5; give a share above 0 and up to 1",
            ),
            (
                "device",
                &none,
                "read jobs, line 14, `alternative[0].device.share`: is 0; give a share above 0 and up to 1",
            ),
            (
                "device",
                &cpu,
                "read jobs, line 14, `alternative[0].device.kind`: has no effect here: processors are asked for by `cores`; leave it out",
            ),
            (
                "device",
                &many,
                "read jobs, line 14, `alternative[0].device.count`: is 1025; give a whole number from 1 to 1024",
            ),
            (
                "device",
                &unknown,
                "read jobs, line 14, `alternative[0].device.cuda`: unknown field `cuda`, expected one of `kind`, `count`, `share`, `memory`, `models`, `compute_units`, `capability`, `pcie_bandwidth`, `profile`",
            ),
            (
                "cores = 2.5",
                "cores = 0",
                "read jobs, line 28, `alternative[0]`: asks for neither cores nor a device; give at least one",
            ),
        ],
    );
    assert_eq!(
        message(read_jobs("format = 1\n[[job]]\nname = \"x\"\n")),
        "read jobs, line 2, `alternative`: is missing; give at least one way to run the job"
    );
}

#[test]
fn a_wrong_stream_is_refused_with_line_field_and_remedy() {
    check(
        JOBS,
        read_jobs,
        &[
            ("count = 3", "", "read jobs, line 17, `count`: is missing; give the number of jobs"),
            (
                "count = 3",
                "count = 0",
                "read jobs, line 24, `count`: is 0; give a whole number from 1",
            ),
            (
                "count = 3",
                "count = 10000000",
                "read jobs, line 17: more than 10000000 jobs; split the file",
            ),
            (
                "every",
                "",
                "read jobs, line 17, `every`: is missing; give the mean gap, like \"2m\"",
            ),
            (
                "every",
                "every = \"0s\"",
                "read jobs, line 25, `every`: is \"0s\"; give a span above zero",
            ),
            (
                "every",
                "every = \"36000d\"",
                "read jobs, line 17: the stream's last job would arrive after 36500d; lower `count` or `every`",
            ),
            (
                "spread",
                "spread = 1",
                "read jobs, line 27, `spread`: is 1; give a fraction from 0 to 0.999",
            ),
            (
                "spread",
                "arrives = \"1s\"",
                "read jobs, line 27, `arrives`: unknown field `arrives`, expected one of `name`, `tenant`, `priority`, `tasks`, `gang`, `tasks_per_node`, `switches`, `work`, `deadline`, `inputs`, `outputs`, `alternative`, `count`, `every`, `from`, `spread`",
            ),
        ],
    );
    let endless = with_line(&with_line(JOBS, "work = 100", ""), "deadline = \"1h\"", "");
    assert_eq!(
        message(read_jobs(&endless)),
        "read jobs, line 27, `spread`: has no effect here: the stream has no `work` to vary; leave it out"
    );
    let stream =
        "[[stream]]\nname = \"batch\"\ncount = 1\nevery = \"1s\"\nalternative = [{ cores = 1 }]\n";
    assert_eq!(
        message(read_jobs(&format!("{JOBS}{stream}"))),
        "read jobs, line 40, `name`: has no effect here: another stream has this name, and would draw the same arrivals; leave it out"
    );
}

#[test]
fn a_wrong_world_is_refused_with_line_field_and_remedy() {
    check(
        JOBS,
        read_jobs,
        &[
            (
                "rate_error",
                "rate_error = 1",
                "read jobs, line 31, `world.rate_error`: is 1; give a fraction from 0 to 0.999",
            ),
            (
                "[world.rates.train]",
                "[world.rates.trian]",
                "read jobs, line 32, `world.rates.trian`: no job or stream has the name \"trian\"",
            ),
            (
                "A100 = 8",
                "A100 = 8\nA10 = 4",
                "read jobs, line 34, `world.rates.train.A10`: no job named \"train\" has a rate for \"A10\"; declare one, or leave this one out",
            ),
            (
                "A100 = 8",
                "A100 = -8",
                "read jobs, line 33, `world.rates.train.A100`: rate \"-8\" is negative; write it like 2 or 0.125",
            ),
            (
                "node",
                "node = \"z\"",
                "read jobs, line 35, `world.outage[0].node`: the fleet has no node \"z\"",
            ),
            (
                "at = ",
                "",
                "read jobs, line 34, `world.outage[0].at`: is missing; say when, like \"1h\"",
            ),
            (
                "lasts",
                "lasts = \"0s\"",
                "read jobs, line 37, `world.outage[0].lasts`: is 0s; give a span above zero",
            ),
            (
                "kind",
                "kind = \"fire\"",
                "read jobs, line 38, `world.outage[0].kind`: is \"fire\"; use one of crash, partition",
            ),
            (
                "kind",
                "",
                "read jobs, line 34, `world.outage[0].kind`: is missing; say \"crash\" or \"partition\"",
            ),
        ],
    );
    let outage = "[[world.outage]]\nnode = \"a\"\nat = \"65m\"\nlasts = \"1m\"\nkind = \"crash\"\n";
    assert_eq!(
        message(read_jobs(&format!("{JOBS}{outage}"))),
        "read jobs, line 39, `world.outage[1]`: overlaps with another outage of \"a\"; join them or move one"
    );
}

#[test]
fn a_wrong_json_line_is_refused_with_line_field_and_remedy() {
    const JOB: &str = r#"{"name": "x", "alternative": [{"cores": 1}]}"#;
    for (line, expected) in [
        ("{\"name\": 1}", "line 2, `name`: is 1, but must be a name in quotes"),
        ("{\"name\": \"x\"", "line 2: EOF while parsing an object (column 12)"),
        ("[]", "line 2: invalid type: sequence, expected a table of fields (column 0)"),
        (
            "{\"colour\": 1}",
            "line 2, `colour`: unknown field `colour`, expected one of `name`, `tenant`, `priority`, `arrives`, `tasks`, `gang`, `tasks_per_node`, `switches`, `work`, `deadline`, `inputs`, `outputs`, `alternative` (column 9)",
        ),
        (
            "{\"name\": \"x\", \"name\": \"y\"}",
            "line 2, `name`: duplicate field `name` (column 20)",
        ),
        (
            "{\"name\": \"x\", \"alternative\": [{\"cores\": 1, \"rates\": {\"A\": 1, \"A\": 2}}]}",
            "line 2, `A`: duplicate field `A` (column 68)",
        ),
        ("{\"name\": \"x\", \"work\": NaN}", "line 2: expected value (column 23)"),
        (
            "{\"format\": 1}",
            "line 2, `format`: has no effect here: the format stands in the first line only; leave it out",
        ),
        (
            "{\"format\": 7}",
            "line 2, `format`: is 7, but this reader knows format 1 only; use a newer motley",
        ),
        (
            "{\"world\": {\"rates\": {\"y\": {}}}}",
            "line 2, `world.rates.y`: no job or stream has the name \"y\"",
        ),
    ] {
        let given = message(read_jobs(&format!("{JOB}\n{line}\n")));
        assert_eq!(given, format!("read jobs, {expected}"));
    }
    let twice = format!("{JOB}\n{{\"world\": {{}}}}\n{{\"world\": {{}}}}\n");
    assert_eq!(
        message(read_jobs(&twice)),
        "read jobs, line 3: \"world\" is given twice, first in line 2; rename one"
    );
}
