//! Short forms of the readers.

use sim::read::{Options, Read, ReadError, inventory_from, workload_from};
use sim::{Inventory, Workload};

/// A fleet with one node of everything that the jobs below ask for.
pub(crate) const FLEET: &str = r#"
format = 1
[device.A100]
kind = "gpu"
memory = "40GiB"
compute_units = 6912
capabilities = ["sm_80"]
share = "milli"
power = { idle = "50W", busy = "400W" }
[device.EPYC]
kind = "cpu"
[[node]]
name = "a"
cpu = "EPYC"
cores = 64
memory = "512GiB"
devices = { A100 = 2 }
labels = { zone = "west" }
power = { idle = "200W", busy = "500W" }
"#;

/// A workload that uses every field.
pub(crate) const JOBS: &str = r#"
format = 1
[[job]]
name = "train"
tenant = "vision"
priority = 5
arrives = "10m"
tasks = 4
work = 3600
deadline = "2h"
[[job.alternative]]
cores = 8
memory = "32GiB"
device = { kind = "gpu", count = 1, share = 0.5, memory = "10GiB", models = ["A100"], compute_units = 5000, capability = "sm_80" }
labels = { zone = "west" }
rates = { A100 = 10 }
[[stream]]
name = "batch"
tenant = "physics"
priority = 1
tasks = 2
work = 100
deadline = "1h"
count = 3
every = "2m"
from = "1h"
spread = 0.5
[[stream.alternative]]
cores = 2.5
[world]
rate_error = 0.3
[world.rates.train]
A100 = 8
[[world.outage]]
node = "a"
at = "1h"
lasts = "10m"
kind = "partition"
"#;

pub(crate) fn read_fleet(text: &str) -> Result<Read<Inventory>, ReadError> {
    inventory_from(text.as_bytes(), "fleet", &Options::default())
}

pub(crate) fn fleet() -> Inventory {
    read_fleet(FLEET).unwrap().value
}

/// [`JOBS`] with one more line in the first alternative.
pub(crate) fn jobs_with(line: &str) -> String {
    JOBS.replacen("cores = 8\n", &format!("cores = 8\n{line}\n"), 1)
}

pub(crate) fn read_jobs(text: &str) -> Result<Read<Workload>, ReadError> {
    workload_from(text.as_bytes(), "jobs", &fleet(), &Options::default())
}

/// The message of the error, with its sources.
pub(crate) fn message<T: std::fmt::Debug>(read: Result<T, ReadError>) -> String {
    let error: Box<dyn std::error::Error> = Box::new(read.unwrap_err());
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        words = format!("{words}: {source}");
        cause = source.source();
    }
    words
}

/// The text with the one line that begins with `start` replaced; `""` takes it away.
pub(crate) fn with_line(text: &str, start: &str, line: &str) -> String {
    let hits = text.lines().filter(|old| old.starts_with(start)).count();
    assert_eq!(hits, 1, "lines beginning with {start}");
    let lines = text.lines().map(|old| if old.starts_with(start) { line } else { old });
    lines.map(|line| format!("{line}\n")).collect()
}

/// What [`with_line`] makes of each case is refused with the words expected.
pub(crate) fn check<T: std::fmt::Debug>(
    base: &str,
    read: impl Fn(&str) -> Result<T, ReadError>,
    cases: &[(&str, &str, &str)],
) {
    for (start, line, expected) in cases {
        let given = message(read(&with_line(base, start, line)));
        assert_eq!(given, *expected, "for {line:?} in place of {start}");
    }
}
