//! Gavel's table of rates and traces.

use std::path::PathBuf;

use fleet::{Rate, Time, Work};
use sim::Workload;
use sim::read::{
    GavelRates, Options, Read, ReadError, gavel_rates, gavel_rates_from, gavel_trace,
    gavel_trace_from,
};

use crate::support::{fleet, message};

const TABLE: &str = r#"{
  "k80": {
    "('A3C', 1)": {"null": 0.25, "('LM', 1)": [0.1, 0.2]},
    "('LM', 2)": {"null": 0}
  },
  "v100": {
    "('A3C', 1)": {"null": 1.0000004},
    "('LM', 2)": {"null": 3}
  },
  "v100_unconsolidated": {
    "('A3C', 1)": {"null": 0.5}
  }
}
"#;

const LINE: &str = "LM\tpython3 lm.py\tlm\t--steps\t1\t500\t2\t1\t-1.000000\t7.25";
const OLD: &str = "LM\tpython3 lm.py\t--steps\t1\t500\t7.25\t2";

fn table_of(text: &str, skip_bad: bool) -> Result<Read<GavelRates>, ReadError> {
    gavel_rates_from(text.as_bytes(), "table", &Options { skip_bad, ..Options::default() })
}

fn table() -> GavelRates {
    table_of(TABLE, false).unwrap().value
}

fn read(text: &str) -> Result<Read<Workload>, ReadError> {
    gavel_trace_from(text.as_bytes(), "trace", (&table(), &fleet()), &Options::default())
}

/// The line with the field of this place, from 1, replaced.
fn with_field(place: usize, value: &str) -> String {
    let mut fields: Vec<&str> = LINE.split('\t').collect();
    fields[place - 1] = value;
    fields.join("\t")
}

#[test]
fn rates_are_of_jobs_alone_and_never_zero() {
    let read = table_of(TABLE, false).unwrap();
    let found = |kind, devices| -> Vec<(String, f64)> {
        let rates = read.value.find(kind, devices).unwrap();
        rates.iter().map(|(model, rate)| (model.clone(), *rate)).collect()
    };
    assert_eq!(found("A3C", 1), [("k80".to_owned(), 0.25), ("v100".to_owned(), 1.0000004)]);
    assert_eq!(found("LM", 2), [("v100".to_owned(), 3.0)]);
    assert_eq!(read.value.find("LM", 1), None);
    assert_eq!(
        read.notes,
        [
            "1 models are not used: their rates hold where devices are of several nodes",
            "1 rates are not used: they hold for jobs that share their devices"
        ]
    );
}

#[test]
fn a_wrong_rate_is_named_with_its_line_and_left_out_where_that_is_asked() {
    for (from, to, expected) in [
        (
            "1.0000004",
            "-1.5",
            "line 7, `v100.('A3C', 1).null`: is -1.5; give zero, or steps a second from 0.000001 \
             to 1000000000",
        ),
        (
            "1.0000004",
            "1e-9",
            "line 7, `v100.('A3C', 1).null`: is 1e-9; give zero, or steps a second from 0.000001 \
             to 1000000000",
        ),
        (
            "1.0000004",
            "\"1\"",
            "line 7, `v100.('A3C', 1).null`: is \"1\", but must be a number of steps a second",
        ),
        (
            "{\"null\": 1.0000004}",
            "{}",
            "line 7, `v100.('A3C', 1).null`: is missing; give the rate of the job alone",
        ),
        (
            "\"('LM', 2)\": {\"null\": 3}",
            "\"LM\": {\"null\": 3}",
            "line 8, `v100.LM`: is \"LM\", but must be a kind of job and its number of devices, \
             like ('ResNet-18', 4)",
        ),
    ] {
        let text = TABLE.replacen(from, to, 1);
        assert_eq!(message(table_of(&text, false)), format!("read table, {expected}"));
        let read = table_of(&text, true).unwrap();
        assert_eq!(read.skipped_count, 1, "{to}");
    }
}

#[test]
fn what_is_no_table_of_rates_is_refused() {
    assert_eq!(
        message(table_of("{\"v100\": 3}\n", false)),
        "read table, line 1: invalid type: integer `3`, expected a table at line 1 column 10"
    );
    assert_eq!(
        message(table_of(LINE, false)),
        "read table: it is TOML, but a table of rates in JSON is needed here; give \
         simulation_throughputs.json, or a file of that form"
    );
    assert_eq!(
        message(table_of("{}", false)),
        "read table: it has no usable rate (0 bad ones were skipped)"
    );
}

#[test]
fn a_job_of_several_devices_is_a_gang_of_which_each_task_does_every_step() {
    let workload = read(LINE).unwrap().value;
    let [job] = &workload.jobs[..] else { panic!("one job") };
    assert_eq!((job.name.as_str(), &*job.tenant.0, job.tasks), ("LM", "gavel", 2));
    assert_eq!((job.work, job.arrival), (Some(Work(500_000_000)), Time(7_250_000)));
    assert!(job.gang.is_some() && job.deadline.is_none());
    let [way] = &job.alternatives[..] else { panic!("one alternative") };
    assert_eq!(way.request.devices.as_ref().unwrap().count, 1);
    assert_eq!(way.rate("v100"), Some(Rate(3_000_000)));
    assert_eq!(way.rate("k80"), None);
    let alone = read(&with_field(1, "A3C").replace("\t2\t", "\t1\t")).unwrap().value;
    assert!(alone.jobs[0].gang.is_none());
    // A job's rate is exact to a millionth.
    assert_eq!(alone.jobs[0].alternatives[0].rate("v100"), Some(Rate(1_000_000)));
}

#[test]
fn older_traces_have_seven_columns() {
    assert_eq!(read(OLD).unwrap().value, read(LINE).unwrap().value);
}

#[test]
fn each_field_alone_changes_the_workload_or_is_not_used() {
    let base = read(LINE).unwrap();
    for (place, value, is_used) in [
        (2, "other", false),
        (3, "other", false),
        (4, "other", false),
        (5, "0", false),
        (6, "501", true),
        (8, "5", false),
        (9, "1.2", false),
        (10, "8", true),
    ] {
        let told = read(&with_field(place, value)).unwrap();
        assert_eq!(told.value != base.value, is_used, "field {place}");
        // What would have changed a decision of Gavel's is remarked on.
        assert_eq!(told.notes.len(), base.notes.len() + usize::from(place == 8 || place == 9));
    }
    let other = with_field(1, "A3C").replace("\t2\t", "\t1\t");
    assert_ne!(read(&other).unwrap().value, base.value);
}

#[test]
fn a_wrong_line_is_named_with_its_field() {
    for (line, expected) in [
        (
            with_field(1, "BERT"),
            "`job_type`: the table of rates has no job \"BERT\"; add it, or use one of A3C, LM",
        ),
        (
            with_field(7, "4"),
            "`scale_factor`: the table of rates has \"LM\" on 2 devices, not on 4; add them",
        ),
        (
            with_field(7, "0"),
            "`scale_factor`: is \"0\"; give a whole number of devices from 1 to 4294967295",
        ),
        (
            with_field(6, "1.5"),
            "`total_steps`: is \"1.5\"; give a whole number of steps above zero",
        ),
        (
            with_field(6, "18446744073709552"),
            "`total_steps`: is \"18446744073709552\"; give a whole number of steps above zero",
        ),
        (with_field(8, "x"), "`priority_weight`: is \"x\", but must be a number"),
        (
            with_field(10, "4000000000"),
            "`arrival_time`: is \"4000000000\"; give at most a hundred years, in seconds",
        ),
    ] {
        let text = format!("{LINE}\n{line}\n");
        assert_eq!(message(read(&text)), format!("read trace, line 2, {expected}"));
    }
    assert_eq!(
        message(read("LM\t3")),
        "read trace, line 1: has 2 fields, but a line of a trace of Gavel's has 10, or 7 in older \
         ones"
    );
    let zero = TABLE.replacen("{\"null\": 3}", "{\"null\": 0}", 1);
    let rates = table_of(&zero, false).unwrap().value;
    let found = gavel_trace_from(LINE.as_bytes(), "trace", (&rates, &fleet()), &Options::default());
    assert_eq!(
        message(found),
        "read trace, line 1: has no effect here: the table has a rate of zero for this job on \
         every model; leave it out"
    );
}

#[test]
fn a_bad_line_is_left_out_and_counted_where_that_is_asked() {
    let options = Options { skip_bad: true, ..Options::default() };
    let text = format!("{LINE}\n\nbad\n{OLD}\n");
    let read = gavel_trace_from(text.as_bytes(), "trace", (&table(), &fleet()), &options).unwrap();
    assert_eq!((read.value.jobs.len(), read.skipped_count), (2, 1));
    assert_eq!(read.skipped[0].line, 3);
}

/// The published files, where they are at hand.
#[test]
fn the_published_table_and_traces_are_read_whole() {
    let given = std::env::var_os("MOTLEY_DATA").map(PathBuf::from);
    let beside = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let folder = given.unwrap_or(beside).join("gavel");
    if !folder.is_dir() {
        return;
    }
    let options = Options::default();
    let rates = gavel_rates(&folder.join("simulation_throughputs.json"), &options).unwrap().value;
    assert_eq!(rates.kinds().map(|kind| rates.counts(kind).count()).sum::<usize>(), 83);
    for (trace, jobs) in [
        ("physical_cluster/max_min_fairness.trace", 96),
        ("physical_cluster/minimize_makespan.trace", 100),
        ("generated/gen_multi_600_lam800_seed0.trace", 600),
        ("generated/gen_single_600_lam400_seed0.trace", 600),
        ("msr_seed0/2869ce.trace.gz", 0),
    ] {
        let path = folder.join("traces").join(trace);
        let options = Options { skip_bad: jobs == 0, ..Options::default() };
        let read = gavel_trace(&path, (&rates, &fleet()), &options).unwrap();
        assert!(read.value.jobs.len() == jobs || jobs == 0, "{trace}");
    }
}
