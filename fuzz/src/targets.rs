//! Every reader, given any bytes at all.
//!
//! In come bytes that a fuzzer made up, or a seed; nothing goes out. A reader
//! must answer, and what it accepts must keep what its readers promise: the
//! same bytes read the same, ids and order hold, sums fit, and what can be
//! written back reads back equal. Each function is one fuzz target, and the
//! tests of `sim` replay the seeds through the same functions.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use controller::policy_file;
use fleet::units::Millijoules;
use fleet::{Bytes, Milli, MilliCores, Milliwatts, Rate, Span, Time, Work};
use sim::read::{
    Arrivals, GavelRates, Mapping, Options, ReadError, SwfLabel, SwfOptions, gavel_rates_from,
    gavel_trace_from, inventory_from, signals_from, workload_from,
};
use sim::{Inventory, Workload};

/// A target and its name, which is that of its folder of seeds.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 13] = [
    ("fleet_file", fleet_file),
    ("workload_file", workload_file),
    ("json_lines", json_lines),
    ("openb_nodes", openb_nodes),
    ("openb_pods", openb_pods),
    ("swf", swf),
    ("job_list", job_list),
    ("signals_file", signals_file),
    ("gavel_rates", gavel_rates),
    ("gavel_trace", gavel_trace),
    ("policy_file", policy_file),
    ("sketch", sketch),
    ("quantities", quantities),
];

/// Nodes for the jobs and signals that are read.
const FLEET: &str = "format = 1\n[device.A100]\nkind = \"gpu\"\nmemory = \"40GiB\"\n\
    [device.EPYC]\nkind = \"cpu\"\n[[node]]\nname = \"a\"\ncpu = \"EPYC\"\ncores = 64\n\
    memory = \"512GiB\"\ndevices = { A100 = 2 }\nlabels = { queue = \"1\" }\n";

/// Rates for the traces that are read.
const RATES: &str = "{\"A100\": {\"('LM', 1)\": {\"null\": 2.5}, \"('LM', 2)\": {\"null\": 4}}}\n";

/// A fleet file; any other kind of file must be refused with words.
pub fn fleet_file(bytes: &[u8]) {
    if !makes_many(bytes) {
        inventory(bytes);
    }
}

/// A workload file in TOML.
pub fn workload_file(bytes: &[u8]) {
    if !makes_many(bytes) {
        workload(bytes, &Options::default());
    }
}

/// A workload in JSON lines.
pub fn json_lines(bytes: &[u8]) {
    workload(&[b"{", bytes].concat(), &Options::default());
}

/// A node list of openb.
pub fn openb_nodes(bytes: &[u8]) {
    inventory(&[b"sn,", bytes].concat());
}

/// A pod list of openb. The first byte chooses when the pods arrive.
pub fn openb_pods(bytes: &[u8]) {
    let (choice, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let arrivals = match choice % 3 {
        0 => None,
        1 => Some(Arrivals::Timed),
        _ => Some(Arrivals::Order),
    };
    let options = Options { arrivals, ..Options::default() };
    workload(&[b"name,cpu_milli,", bytes].concat(), &options);
}

/// A log in the Standard Workload Format. The first byte chooses how jobs are split and labelled.
pub fn swf(bytes: &[u8]) {
    let (choice, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let labels = [SwfLabel::Queue, SwfLabel::Partition];
    let swf = SwfOptions {
        task_cores: (choice & 4 != 0).then_some(u32::from(choice >> 3) + 1),
        labels: labels.into_iter().filter(|label| choice & (1 << *label as u8) != 0).collect(),
    };
    workload(&[b";", bytes].concat(), &Options { swf, ..Options::default() });
}

/// A CSV of jobs. What stands before the first line end maps columns; a line that maps none is
/// part of the table.
pub fn job_list(bytes: &[u8]) {
    let end = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(bytes.len());
    let first = std::str::from_utf8(&bytes[..end]).unwrap_or_default();
    let columns: Result<Vec<Mapping>, _> = first.split(',').map(str::parse).collect();
    let Ok(columns) = columns else { return workload(bytes, &Options::default()) };
    for mapping in &columns {
        assert_eq!(mapping.to_string().parse().as_ref(), Ok(mapping));
    }
    let table = bytes.get(end + 1..).unwrap_or_default();
    workload(table, &Options { columns, ..Options::default() });
}

/// Gavel's table of rates.
pub fn gavel_rates(bytes: &[u8]) {
    let bytes = [b"{", bytes].concat();
    for skip_bad in [false, true] {
        let options = Options { skip_bad, ..Options::default() };
        match gavel_rates_from(&bytes[..], "fuzz", &options) {
            Ok(read) => {
                assert!(read.value.kinds().all(|kind| read.value.counts(kind).all(|one| one > 0)));
                assert!(skip_bad || read.skipped_count == 0);
                assert_eq!(gavel_rates_from(&bytes[..], "fuzz", &options).ok(), Some(read));
            }
            Err(error) => check_read_words(&error),
        }
    }
}

/// A trace of Gavel's.
pub fn gavel_trace(bytes: &[u8]) {
    let (rates, fleet) = (rates(), fleet());
    for skip_bad in [false, true] {
        let options = Options { skip_bad, ..Options::default() };
        match gavel_trace_from(bytes, "fuzz", (&rates, &fleet), &options) {
            Ok(read) => {
                check_workload(&read.value, &fleet);
                assert!(skip_bad || read.skipped_count == 0);
                let again = gavel_trace_from(bytes, "fuzz", (&rates, &fleet), &options);
                assert_eq!(again.ok(), Some(read));
            }
            Err(error) => check_read_words(&error),
        }
    }
}

/// A file of signals.
pub fn signals_file(bytes: &[u8]) {
    let fleet = fleet();
    for skip_bad in [false, true] {
        let options = Options { skip_bad, ..Options::default() };
        match signals_from(bytes, "fuzz", &fleet, &options) {
            Ok(read) => {
                for signal in read.value.by_name.values() {
                    assert!(signal.nodes.keys().all(|id| id.index() < fleet.nodes.len()));
                    assert!(signal.classes.keys().all(|id| id.index() < fleet.classes.0.len()));
                    assert!(!signal.nodes.is_empty() || !signal.classes.is_empty());
                }
                assert!(skip_bad || read.skipped_count == 0);
                assert_eq!(signals_from(bytes, "fuzz", &fleet, &options).ok(), Some(read));
            }
            Err(error) => check_read_words(&error),
        }
    }
}

/// A policy file.
pub fn policy_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match policy_file::read("fuzz", text) {
        Ok(policy) => {
            let written = policy_file::text(&policy);
            assert_eq!(policy_file::read("fuzz", &written).as_ref(), Ok(&policy), "{written}");
        }
        Err(error) => check_words(&error),
    }
}

/// A sketch.
pub fn sketch(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    match fleet::sketch::snapshot(text) {
        Ok(snapshot) => {
            assert!(
                snapshot.nodes.iter().all(|entry| entry.node.id.index() < snapshot.nodes.len())
            );
            assert!(snapshot.held.cores <= snapshot.capacity.cores);
        }
        Err(error) => check_words(&error),
    }
}

/// Every quantity, as a text and as a number.
pub fn quantities(bytes: &[u8]) {
    if let Ok(text) = std::str::from_utf8(bytes) {
        exact::<MilliCores>(text);
        exact::<Milli>(text);
        parsed::<Rate>(text);
        parsed::<Work>(text);
        parsed::<Bytes>(text);
        parsed::<Span>(text);
        parsed::<Milliwatts>(text);
        parsed::<Millijoules>(text);
    }
    if let Ok(number) = bytes.try_into().map(f64::from_le_bytes) {
        let cores = MilliCores::from_number(number);
        // A number and its shortest text stand for the same, up to where a float is too coarse for
        // thousandths.
        if let Ok(exact) = number.to_string().parse()
            && number < 1e12
        {
            assert_eq!(cores, Ok(exact), "{number}");
        }
        for error in [
            cores.err(),
            Milli::from_number(number).err(),
            Rate::from_number(number).err(),
            Work::from_number(number).err(),
        ] {
            error.iter().for_each(check_words);
        }
    }
}

/// A quantity that is written exactly reads back equal.
fn exact<Q>(text: &str)
where
    Q: FromStr + Display + Debug + PartialEq,
    Q::Err: Display + Debug + PartialEq,
{
    if let Some(quantity) = parsed::<Q>(text) {
        assert_eq!(quantity.to_string().parse(), Ok(quantity), "{text:?}");
    }
}

fn parsed<Q: FromStr>(text: &str) -> Option<Q>
where
    Q::Err: Display,
{
    text.parse().inspect_err(check_words).ok()
}

/// Reads a fleet, stopping at bad entries and skipping them.
fn inventory(bytes: &[u8]) {
    for skip_bad in [false, true] {
        let options = Options { skip_bad, ..Options::default() };
        match inventory_from(bytes, "fuzz", &options) {
            Ok(read) => {
                check_inventory(&read.value);
                assert!(skip_bad || read.skipped_count == 0);
                assert_eq!(inventory_from(bytes, "fuzz", &options).ok(), Some(read));
            }
            Err(error) => check_read_words(&error),
        }
    }
}

fn check_inventory(inventory: &Inventory) {
    let capacity: MilliCores = inventory.nodes.iter().map(|node| node.cores).sum();
    assert!(!capacity.is_zero());
    for (index, node) in inventory.nodes.iter().enumerate() {
        assert_eq!(node.id.index(), index);
        assert!(node.devices.iter().all(|class| class.index() < inventory.classes.0.len()));
        assert!(node.power.idle <= node.power.busy || !node.devices.is_empty());
    }
}

/// Reads a workload, stopping at bad entries and skipping them.
fn workload(bytes: &[u8], options: &Options) {
    let fleet = fleet();
    for skip_bad in [false, true] {
        let options = Options { skip_bad, ..options.clone() };
        match workload_from(bytes, "fuzz", &fleet, &options) {
            Ok(read) => {
                check_workload(&read.value, &fleet);
                assert!(skip_bad || read.skipped_count == 0);
                assert_eq!(workload_from(bytes, "fuzz", &fleet, &options).ok(), Some(read));
            }
            Err(error) => check_read_words(&error),
        }
    }
}

/// The nodes for what is read.
fn fleet() -> Inventory {
    let read = inventory_from(FLEET.as_bytes(), "fleet", &Options::default());
    read.expect("the fleet is well-formed").value
}

/// The rates for what is read.
fn rates() -> GavelRates {
    let read = gavel_rates_from(RATES.as_bytes(), "rates", &Options::default());
    read.expect("the table is well-formed").value
}

fn check_workload(workload: &Workload, fleet: &Inventory) {
    assert!(workload.jobs.is_sorted_by_key(|job| (job.arrival, job.id)));
    for (index, job) in workload.jobs.iter().enumerate() {
        assert_eq!(job.id.0, index as u64);
        assert!(job.tasks > 0 && !job.alternatives.is_empty() && !job.name.is_empty());
        assert!(job.work != Some(Work(0)));
        assert!(job.deadline.is_none_or(|deadline| deadline > job.arrival));
        for way in job.alternatives.iter() {
            assert!(!way.request.cores.is_zero() || way.request.devices.is_some());
        }
    }
    let jobs = workload.jobs.len() as u64;
    assert!(workload.truth.work.iter().all(|(id, work)| id.0 < jobs && !work.is_zero()));
    for outage in &workload.outages {
        assert!(outage.node.index() < fleet.nodes.len());
        assert!(outage.at.after(outage.lasts) > outage.at && outage.at >= Time::ZERO);
    }
}

fn check_read_words(error: &ReadError) {
    check_words(error);
    assert!(error.to_string().contains("fuzz"), "an error names the file: {error}");
}

/// An error has words, few enough to be read.
fn check_words(error: &impl Display) {
    let words = error.to_string();
    assert!(!words.is_empty() && words.len() < 10_000, "{} bytes of words", words.len());
}

/// Whether a count could make so many nodes or jobs that one input takes seconds: within the
/// bounds of a file, and beyond those of a fuzzer.
fn makes_many(bytes: &[u8]) -> bool {
    let is_digit = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let is_long = |rest: &[u8]| {
        let value = rest.iter().skip_while(|byte| !is_digit(byte));
        value.take_while(is_digit).count() > 4
    };
    bytes.windows(5).enumerate().any(|(at, word)| word == b"count" && is_long(&bytes[at + 5..]))
}
