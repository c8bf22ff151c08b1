//! Motley's workload files.

use fleet::{Bytes, DeviceKind, Milli, MilliCores, NodeId, Rate, Span, Time, Work};
use sim::read::{Arrivals, Options, workload_from};
use sim::{Outage, OutageKind, Workload};

use crate::support::{JOBS, fleet, message, read_jobs, with_line};

fn jobs() -> Workload {
    read_jobs(JOBS).unwrap().value
}

#[test]
fn a_workload_file_becomes_jobs_truth_and_outages() {
    let workload = jobs();
    let train = &workload.jobs[0];
    assert_eq!((train.name.as_str(), &*train.tenant.0, train.priority), ("train", "vision", 5));
    assert_eq!((train.arrival, train.tasks), (Time::seconds(600), 4));
    assert_eq!(train.work, Some(Work(3_600_000_000)));
    assert_eq!(train.deadline, Some(Time::seconds(600 + 7200)));
    let alternative = &train.alternatives[0];
    assert_eq!(alternative.request.cores, MilliCores(8000));
    assert_eq!(alternative.request.memory, Bytes(32 << 30));
    assert_eq!(alternative.labels["zone"], "west");
    assert_eq!(alternative.rates["A100"], Rate(10_000_000));
    let devices = alternative.request.devices.as_ref().unwrap();
    assert_eq!((devices.kind, devices.count, devices.share), (DeviceKind::Gpu, 1, Milli(500)));
    assert_eq!((devices.memory, devices.compute_units), (Bytes(10 << 30), 5000));
    assert_eq!(
        (&devices.models[..], devices.capability.as_deref()),
        (&["A100".to_owned()][..], Some("sm_80"))
    );
    assert_eq!(workload.truth.rate_error, Milli(300));
    assert_eq!(workload.truth.rates["train"]["A100"], Rate(8_000_000));
    let outage = Outage {
        at: Time::seconds(3600),
        node: NodeId(0),
        lasts: Span::seconds(600),
        kind: OutageKind::Partition,
    };
    assert_eq!(workload.outages, [outage]);
}

#[test]
fn each_field_of_a_workload_changes_what_is_read() {
    let base = jobs();
    for (start, line) in [
        ("name = \"train\"", "name = \"batch\"\n#"),
        ("tenant = \"vision\"", ""),
        ("priority = 5", ""),
        ("arrives", ""),
        ("tasks = 4", ""),
        ("work = 3600", "work = 3601"),
        ("deadline = \"2h\"", ""),
        ("cores = 8", ""),
        ("memory = \"32GiB\"", ""),
        ("labels", ""),
        ("rates = { A100", ""),
        ("name = \"batch\"", "name = \"other\""),
        ("tenant = \"physics\"", ""),
        ("priority = 1", ""),
        ("tasks = 2", ""),
        ("work = 100", "work = 101"),
        ("deadline = \"1h\"", ""),
        ("count = 3", "count = 4"),
        ("every", "every = \"3m\""),
        ("from", ""),
        ("spread", ""),
        ("cores = 2.5", "cores = 2.501"),
        ("rate_error", ""),
        ("A100 = 8", "A100 = 9"),
        ("at = ", "at = \"2h\""),
        ("lasts", "lasts = \"11m\""),
        ("kind", "kind = \"crash\""),
    ] {
        let text = with_line(JOBS, start, line);
        let text =
            if line.ends_with('#') { text.replace("rates.train", "rates.batch") } else { text };
        assert_ne!(base, read_jobs(&text).unwrap().value, "{line} for {start}");
    }
    for (old, new) in [
        ("kind = \"gpu\"", "kind = \"npu\""),
        ("share = 0.5, ", ""),
        ("count = 1, share = 0.5", "count = 2"),
        ("memory = \"10GiB\", ", ""),
        ("models = [\"A100\"], ", ""),
        ("compute_units = 5000, ", ""),
        (", capability = \"sm_80\"", ""),
    ] {
        assert_ne!(base, read_jobs(&JOBS.replace(old, new)).unwrap().value, "{new} for {old}");
    }
    let other_node = crate::support::FLEET.replace("cores = 64", "count = 2\ncores = 64");
    let two = crate::support::read_fleet(&other_node).unwrap().value;
    let read = |name: &str| {
        let text = with_line(JOBS, "node", &format!("node = \"{name}\""));
        workload_from(text.as_bytes(), "jobs", &two, &Options::default()).unwrap().value
    };
    assert_ne!(read("a-0"), read("a-1"));
}

#[test]
fn json_lines_say_the_same_as_toml() {
    let text = r#"{"format": 1}
{"world": {"rate_error": 0.3, "rates": {"train": {"A100": 8}}, "outage": [{"node": "a", "at": "1h", "lasts": "10m", "kind": "partition"}]}}

{"name": "train", "tenant": "vision", "priority": 5, "arrives": "10m", "tasks": 4, "work": 3600, "deadline": "2h", "alternative": [{"cores": 8, "memory": "32GiB", "device": {"kind": "gpu", "count": 1, "share": 0.5, "memory": "10GiB", "models": ["A100"], "compute_units": 5000, "capability": "sm_80"}, "labels": {"zone": "west"}, "rates": {"A100": 10}}]}
"#;
    let (from_json, from_toml) = (read_jobs(text).unwrap().value, jobs());
    assert_eq!(from_json.jobs[..], from_toml.jobs[..1]);
    assert_eq!((from_json.truth, from_json.outages), (from_toml.truth, from_toml.outages));
}

#[test]
fn ids_follow_arrival_then_place_in_the_file() {
    let line = |name: &str, arrives: &str| {
        format!(
            "{{\"name\": \"{name}\", \"arrives\": \"{arrives}\", \"alternative\": [{{\"cores\": 1}}]}}\n"
        )
    };
    let text = [line("late", "9s"), line("first", "1s"), line("second", "1s")].concat();
    let workload = read_jobs(&text).unwrap().value;
    let named: Vec<_> = workload.jobs.iter().map(|job| (job.id.0, job.name.as_str())).collect();
    assert_eq!(named, [(0, "first"), (1, "second"), (2, "late")]);
}

#[test]
fn one_more_job_or_stream_moves_no_arrival_of_another() {
    let arrivals = |text: &str| {
        let workload = read_jobs(text).unwrap().value;
        let of_batch = workload.jobs.iter().filter(|job| job.name == "batch");
        of_batch.map(|job| (job.arrival, job.work)).collect::<Vec<_>>()
    };
    let base = arrivals(JOBS);
    assert_eq!(base.len(), 3);
    assert!(base.iter().all(|(at, work)| {
        *at > Time::seconds(3600)
            && work.is_some_and(|work| (50_000_000..=150_000_000).contains(&work.0))
    }));
    let stream =
        "[[stream]]\nname = \"more\"\ncount = 5\nevery = \"1m\"\nalternative = [{ cores = 1 }]\n";
    assert_eq!(arrivals(&format!("{JOBS}{stream}")), base);
    assert_eq!(arrivals(&with_line(JOBS, "count = 3", "count = 4"))[..3], base);
    let times =
        |drawn: &[(Time, Option<Work>)]| drawn.iter().map(|(at, _)| *at).collect::<Vec<_>>();
    assert_eq!(times(&arrivals(&with_line(JOBS, "spread", ""))), times(&base));
    let options = Options { seed: 1, ..Options::default() };
    let other = workload_from(JOBS.as_bytes(), "jobs", &fleet(), &options).unwrap().value;
    assert_ne!(other, jobs());
}

#[test]
fn models_that_no_node_has_are_remarked() {
    let text = JOBS.replace("rates = { A100 = 10 }", "rates = { A100 = 10, V100 = 5 }");
    let text = text.replace("models = [\"A100\"]", "models = [\"A100\", \"H100\"]");
    assert_eq!(
        read_jobs(&text).unwrap().notes,
        ["jobs name 2 models that no node has: H100, V100"]
    );
}

#[test]
fn a_job_without_declared_rates_has_a_true_one_on_any_model_and_absent_ones_are_remarked() {
    let text = JOBS.replace(
        "[world.rates.train]",
        "[world.rates.batch]\nEPYC = 2\nXEON = 3\n[world.rates.train]",
    );
    let read = read_jobs(&text).unwrap();
    let rates = &read.value.truth.rates["batch"];
    assert_eq!((rates["EPYC"], rates["XEON"]), (Rate(2_000_000), Rate(3_000_000)));
    assert_eq!(read.notes, ["true rates name 1 models that no node has: XEON"]);
}

#[test]
fn arrivals_cannot_be_chosen_for_a_file_that_states_them() {
    let options = Options { arrivals: Some(Arrivals::Order), ..Options::default() };
    assert_eq!(
        message(workload_from(JOBS.as_bytes(), "jobs", &fleet(), &options)),
        "read jobs: arrivals can be chosen for an openb pod list only; this file states when its jobs arrive, so leave the choice out"
    );
}

#[test]
fn a_bad_part_of_the_world_is_skipped_alone() {
    let text = JOBS.replace("rates.train", "rates.trian").replace("= 0.3", "= 7");
    let options = Options { skip_bad: true, ..Options::default() };
    let read = workload_from(text.as_bytes(), "jobs", &fleet(), &options).unwrap();
    assert_eq!((read.skipped_count, read.value.outages.len()), (2, 1));
    assert_eq!(read.value.jobs, jobs().jobs);
}
