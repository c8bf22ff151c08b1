//! Jobs in a CSV under a header.

use fleet::{Bytes, DeviceKind, JobId, Milli, MilliCores, Rate, Time, Work};
use sim::Workload;
use sim::read::{Mapping, Options, Read, ReadError, workload_from};

use crate::support::{fleet, message};

/// A job with every field that one job can have.
const HEADER: &str = "name,tenant,priority,arrives,tasks,duration,true_duration,deadline,cores,\
memory,gpus,share,device_memory,models,compute_units,capability,label.zone,rate.A100";
const ROW: &str =
    "train,vision,5,10m,4,3600,50m,2h,8,32GiB,1,0.5,10GiB,A100|H100,5000,sm_80,west,10";

fn read_with(text: &str, columns: &[&str], skip_bad: bool) -> Result<Read<Workload>, ReadError> {
    let columns = columns.iter().map(|mapping| mapping.parse::<Mapping>().unwrap()).collect();
    let options = Options { columns, skip_bad, ..Options::default() };
    workload_from(text.as_bytes(), "list", &fleet(), &options)
}

fn read(text: &str) -> Result<Read<Workload>, ReadError> {
    read_with(text, &[], false)
}

/// The row with the cell of this column replaced.
fn with_cell(column: &str, value: &str) -> String {
    let place = HEADER.split(',').position(|name| name == column).unwrap();
    let mut cells: Vec<&str> = ROW.split(',').collect();
    cells[place] = value;
    format!("{HEADER}\n{}\n", cells.join(","))
}

#[test]
fn every_field_is_read() {
    let told = read(&format!("{HEADER}\n{ROW}\n")).unwrap();
    let [job] = &told.value.jobs[..] else { panic!("one job") };
    assert_eq!((job.name.as_str(), &*job.tenant.0, job.priority), ("train", "vision", 5));
    assert_eq!((job.arrival, job.tasks), (Time::seconds(600), 4));
    assert_eq!((job.work, job.deadline), (Some(Work(3_600_000_000)), Some(Time::seconds(7800))));
    assert_eq!(told.value.truth.work[&JobId(0)], Work(3_000_000_000));
    let [way] = &job.alternatives[..] else { panic!("one alternative") };
    assert_eq!((way.request.cores, way.request.memory), (MilliCores(8000), Bytes(32 << 30)));
    let devices = way.request.devices.as_ref().unwrap();
    assert_eq!((devices.kind, devices.count, devices.share), (DeviceKind::Gpu, 1, Milli(500)));
    assert_eq!((devices.memory, devices.compute_units), (Bytes(10 << 30), 5000));
    assert_eq!(devices.models, ["A100", "H100"]);
    assert_eq!(devices.capability.as_deref(), Some("sm_80"));
    assert_eq!((way.labels["zone"].as_str(), way.rates["A100"]), ("west", Rate(10_000_000)));
}

#[test]
fn each_field_alone_changes_the_workload() {
    let base = read(&format!("{HEADER}\n{ROW}\n")).unwrap().value;
    for (column, value) in HEADER.split(',').zip([
        "other", "physics", "6", "601", "5", "3601", "3001", "7201s", "9", "1024", "2", "0.25",
        "1024", "A100", "5001", "sm_70", "east", "11",
    ]) {
        let mut text = with_cell(column, value);
        if column == "gpus" {
            text = text.replace(",0.5,", ",1,");
        }
        assert_ne!(read(&text).unwrap().value, base, "{column}");
    }
    let kinds = ["gpus", "tpus", "fpgas", "npus", "qpus"].map(|count| {
        let told = read(&format!("name,cores,{count}\na,1,1\n")).unwrap();
        told.value.jobs[0].alternatives[0].request.devices.clone().unwrap().kind
    });
    let expected =
        [DeviceKind::Gpu, DeviceKind::Tpu, DeviceKind::Fpga, DeviceKind::Npu, DeviceKind::Qpu];
    assert_eq!(kinds, expected);
    let work = |row: &str| read(&format!("name,cores,work,true_work\na,1,{row}\n")).unwrap().value;
    assert_eq!(work("2.5,").jobs[0].work, Some(Work(2_500_000)));
    assert_eq!(work("2.5,1").truth.work[&JobId(0)], Work(1_000_000));
    assert!(work("2.5,2.5").truth.work.is_empty());
}

#[test]
fn times_have_units_or_are_seconds_and_empty_cells_say_nothing() {
    let text = "name,cores,arrives,duration,gpus,tenant\na,1,90,1.5,,\nb,1,1m30s,1500ms,0,\n";
    let jobs = read(text).unwrap().value.jobs;
    for job in &jobs {
        assert_eq!((job.arrival, job.work), (Time::seconds(90), Some(Work(1_500_000))));
        assert_eq!((&*job.tenant.0, job.tasks), ("default", 1));
        assert!(job.alternatives[0].request.devices.is_none());
    }
    assert_eq!(read("name,cores\nserver,2\n").unwrap().value.jobs[0].work, None);
}

#[test]
fn foreign_columns_are_mapped_and_others_are_remarked() {
    let text = "job id,Submit Time,n cpus,mem_mb,cores,state\n\"1, a\",5,4,2.5,9,done\n";
    let columns = ["name=job id", "arrives=Submit Time:m", "cores=n cpus", "memory=mem_mb:MiB"];
    let told = read_with(text, &columns, false).unwrap();
    let job = &told.value.jobs[0];
    assert_eq!((job.name.as_str(), job.arrival), ("1, a", Time::seconds(300)));
    let request = &job.alternatives[0].request;
    assert_eq!((request.cores, request.memory), (MilliCores(4000), Bytes(5 << 19)));
    assert_eq!(told.notes, ["columns that are not read: cores, state"]);
    // Columns of the fields' own names are read beside mapped ones, and units may be written out.
    let text = "id,cores,mem\na,9,3GiB\n";
    let told = read_with(text, &["name=id", "memory=mem:MiB"], false).unwrap();
    let request = &told.value.jobs[0].alternatives[0].request;
    assert_eq!((request.cores, request.memory), (MilliCores(9000), Bytes(3 << 30)));
    assert!(told.notes.is_empty());
}

#[test]
fn any_csv_is_a_list_of_jobs_once_its_columns_are_mapped() {
    let pods = "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,8,1,0,0\n";
    let told = read_with(pods, &["cores=cpu_milli", "memory=memory_mib:MiB"], false).unwrap();
    let request = &told.value.jobs[0].alternatives[0].request;
    assert_eq!((request.cores, request.memory), (MilliCores(8000), Bytes(1 << 20)));
    let nodes = "sn,cpu\nn,8\n";
    assert_eq!(read_with(nodes, &["name=sn", "cores=cpu"], false).unwrap().value.jobs.len(), 1);
}

#[test]
fn a_mapping_that_fits_nothing_names_what_is_nearest() {
    let mapping = |text: &str| text.parse::<Mapping>().unwrap_err().to_string();
    assert_eq!(mapping("ncpus"), "\"ncpus\" maps no column; write FIELD=COLUMN, like cores=ncpus");
    assert_eq!(mapping("=x"), "\"=x\" maps no column; write FIELD=COLUMN, like cores=ncpus");
    assert_eq!(mapping("arive=x"), "a job has no field \"arive\"; did you mean \"arrives\"?");
    assert!(mapping("x=y").starts_with("a job has no field \"x\"; there are name, tenant, "));
    let given = |columns: &[&str]| message(read_with("id,submit_time,ncpus\n", columns, false));
    assert_eq!(
        given(&["arrives=submit_tme"]),
        "read list, line 1: the header has no column \"submit_tme\" to read as arrives; did you mean \"submit_time\"?"
    );
    assert_eq!(
        given(&["cores=x"]),
        "read list, line 1: the header has no column \"x\" to read as cores; there are id, submit_time, ncpus"
    );
    assert_eq!(
        given(&["cores=id", "cores=ncpus"]),
        "read list, line 1: cores is mapped to two columns, \"id\" and \"ncpus\"; choose one"
    );
}

#[test]
fn columns_can_be_mapped_for_a_csv_only() {
    let columns = vec!["cores=x".parse::<Mapping>().unwrap()];
    let options = Options { columns, ..Options::default() };
    let given = message(workload_from(&b"{\"name\": \"a\"}"[..], "jobs", &fleet(), &options));
    assert_eq!(
        given,
        "read jobs: a map of columns is for a CSV of jobs only, and this is JSON lines; leave it out"
    );
}

#[test]
fn a_wrong_header_is_refused() {
    for (header, expected) in [
        (
            "name,cpus",
            "line 1, `cpus`: is not a field of a job; did you mean \"gpus\"?, or map the columns (--columns FIELD=COLUMN)",
        ),
        (
            "cores,tasks",
            "line 1, `name`: is missing; the header must name this column, or --columns name=COLUMN map one",
        ),
        (
            "name,cores,cores",
            "line 1, `cores`: \"cores\" is given twice, first in line 1; rename one",
        ),
        (
            "name,\"cores",
            "line 1: has a quote that is not closed; a field ends on its line, and \"\" stands for a quote",
        ),
    ] {
        assert_eq!(message(read(&format!("{header}\na,1,1\n"))), format!("read list, {expected}"));
    }
    let given =
        message(sim::read::inventory_from(&b"name,cores\n"[..], "list", &Options::default()));
    assert!(given.contains("it is a CSV of jobs, but a fleet file"), "{given}");
}

/// Column, cell and what is said of it.
const WRONG: [(&str, &str, &str); 25] = [
    ("name", "", "`name`: is missing; give each job a name"),
    (
        "priority",
        "2147483648",
        "`priority`: is 2147483648; give a whole number from -2147483648 to 2147483647",
    ),
    ("priority", "high", "`priority`: is \"high\", but must be a whole number"),
    ("arrives", "-5", "`arrives`: duration \"-5\" is negative"),
    ("arrives", "nan", "`arrives`: duration \"nan\" is not a plain decimal number"),
    ("arrives", "1e9", "`arrives`: duration \"1e9\" has the unknown unit \"e\""),
    ("arrives", "36501d", "`arrives`: is \"36501d\"; give a span of at most 36500d"),
    ("tasks", "0", "`tasks`: is 0; give a whole number from 1 to 4294967295"),
    ("duration", "0", "`duration`: is 0; give an amount above zero"),
    (
        "duration",
        "",
        "`true_duration`: has no effect here: it stands against the `duration` that is declared, and the row has none; leave it out",
    ),
    ("true_duration", "0", "`true_duration`: is 0; give more than nothing"),
    ("deadline", "0", "`deadline`: the deadline is not after the arrival"),
    ("cores", "NaN", "`cores`: number of cores \"NaN\" is not a plain decimal number"),
    (
        "cores",
        "99999999999999999999",
        "`cores`: number of cores \"99999999999999999999\" is too large",
    ),
    ("cores", "1000001", "`cores`: is 1000001; give at most 1000000 cores"),
    ("memory", "-1GiB", "`memory`: size \"-1GiB\" is negative"),
    ("memory", "8 Go", "`memory`: size \"8 Go\" has the unknown unit"),
    ("gpus", "1025", "`gpus`: is 1025; give a whole number from 1 to 1024"),
    ("gpus", "0", "`share`: has no effect here: the row asks for no device; leave it out"),
    ("gpus", "2", "`share`: a share below 1 goes with a count of 1, not 2"),
    ("device_memory", "inf", "`device_memory`: size \"inf\" is not a plain decimal number"),
    ("models", "A||B", "`models`: is \"\"; a name has"),
    ("compute_units", "-1", "`compute_units`: is -1; give a whole number from 0 to 4294967295"),
    ("label.zone", "a\u{1}b", "`label.zone`: is \"a\\u{1}b\"; a name has"),
    ("rate.A100", "0", "`rate.A100`: is 0; give a rate above zero"),
];

#[test]
fn wrong_cells_name_line_and_column() {
    for (column, value, expected) in WRONG {
        let given = message(read(&with_cell(column, value)));
        assert!(given.starts_with(&format!("read list, line 2, {expected}")), "{given}");
    }
    let given = message(read(&with_cell("name", &"x".repeat(5000))));
    assert_eq!(given, "read list, line 2, `name`: a text of 5000 bytes; at most 4096");
}

#[test]
fn cells_that_do_not_go_together_are_refused() {
    let mapped = message(read_with("id,ncpus\na,x\n", &["name=id", "cores=ncpus"], false));
    assert!(mapped.starts_with("read list, line 2, `ncpus`: number of cores \"x\""), "{mapped}");
    for (text, expected) in [
        ("name,cores,tasks\na,1\n", "line 2: has 2 fields, but the header has 3"),
        ("name,cores\na,\"1\n", "line 2: has a quote that is not closed"),
        ("name,cores\na,\n", "line 2: asks for neither cores nor a device"),
        (
            "name,cores,gpus,tpus\na,1,1,1\n",
            "line 2, `tpus`: has no effect here: a job has devices of one kind",
        ),
        (
            "name,cores,work,duration\na,1,1,1\n",
            "line 2, `duration`: has no effect here: the row has `work`",
        ),
        (
            "name,cores,work,true_work,true_duration\na,1,1,1,1\n",
            "line 2, `true_duration`: has no effect here: the row has `true_work`",
        ),
        (
            "name,cores,work,true_duration\na,1,1,1\n",
            "line 2, `true_duration`: has no effect here: it stands against the `duration`",
        ),
        (
            "name,cores,deadline\na,1,5\n",
            "line 2, `deadline`: has no effect here: a job without `work`",
        ),
    ] {
        let given = message(read(text));
        assert!(given.starts_with(&format!("read list, {expected}")), "{given}");
    }
    let bytes = b"name,cores\n\xff,1\n";
    let given = message(workload_from(&bytes[..], "list", &fleet(), &Options::default()));
    assert_eq!(
        given,
        "read list, line 2, `name`: is not UTF-8 text; save the file in that encoding"
    );
}

#[test]
fn bad_rows_are_skipped_and_a_long_line_is_not() {
    let told = read_with("name,cores\na,1\nb,x\n\nc,\"2\"\n", &[], true).unwrap();
    assert_eq!((told.skipped_count, told.skipped[0].line, told.value.jobs.len()), (1, 3, 2));
    let long = format!("name,cores\na,1\n\"{}\n", "x".repeat(10 << 20));
    let expected = "read list: line 3 is longer than 1048576 bytes; no entry is that long";
    assert_eq!(message(read_with(&long, &[], true)), expected);
}
