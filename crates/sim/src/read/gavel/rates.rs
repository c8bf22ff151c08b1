//! The table of rates: model, then kind of job and number of devices, then with whom.

use std::collections::BTreeMap;

use super::super::error::{ReadError, Wrong};
use super::super::fault::Fault;
use super::super::notebook::Notebook;
use super::super::raw::{Raw, Table, check_name};
use super::super::source::Source;

/// The most kinds of jobs, over all numbers of devices: the published table has 83.
const KINDS_MAX: usize = 100_000;
/// How the rates of a job that shares its devices with nobody are called.
const ALONE: &str = "null";
/// How models end whose rates hold for devices of several nodes.
const APART: &str = "_unconsolidated";

/// The models with a rate above zero, in steps a second.
type Models = BTreeMap<String, f64>;

/// How fast each kind of job runs: steps a second of the whole job, by device model, as measured
/// and not rounded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GavelRates {
    /// By kind of job and number of devices; a model that cannot run it is not there.
    by_kind: BTreeMap<String, BTreeMap<u32, Models>>,
}

impl GavelRates {
    /// The rates of a kind of job on so many devices.
    #[must_use]
    pub fn find(&self, kind: &str, devices: u32) -> Option<&BTreeMap<String, f64>> {
        self.by_kind.get(kind)?.get(&devices)
    }

    /// The numbers of devices for which there are rates of a kind of job, ascending.
    pub fn counts(&self, kind: &str) -> impl Iterator<Item = u32> {
        self.by_kind.get(kind).into_iter().flat_map(|counts| counts.keys().copied())
    }

    /// The kinds of jobs, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &str> {
        self.by_kind.keys().map(String::as_str)
    }
}

/// Reads a table of rates.
pub(in super::super) fn read(
    source: &mut Source<'_>,
    notebook: &mut Notebook,
) -> Result<GavelRates, ReadError> {
    let bytes = source.read_whole()?;
    let models: Table<Table<Table<Raw>>> = serde_json::from_slice(&bytes).map_err(|error| {
        let line = u64::try_from(error.line()).unwrap_or(u64::MAX).max(1);
        notebook.refuse(Wrong::here(Fault::Shape { detail: error.to_string() }).on_line(line))
    })?;
    let mut rates = GavelRates::default();
    let (mut apart, mut shared, mut kinds) = (0_u64, 0_u64, 0_usize);
    for (model, entries) in &models.0 {
        if model.ends_with(APART) {
            apart += 1;
            continue;
        }
        for (key, rows) in &entries.0 {
            shared += rows.0.keys().filter(|with| *with != ALONE).count() as u64;
            match entry(model, key, rows) {
                Ok(((kind, devices), rate)) => {
                    let counts = rates.by_kind.entry(kind).or_default();
                    kinds += usize::from(!counts.contains_key(&devices));
                    let by_model = counts.entry(devices).or_default();
                    by_model.extend(rate.map(|rate| (model.clone(), rate)));
                }
                Err(wrong) => notebook.skip(wrong.on_line(line_of(&bytes, model, key)))?,
            }
            if kinds > KINDS_MAX {
                let line = line_of(&bytes, model, key);
                return Err(notebook.too_many(line, "kinds of jobs", KINDS_MAX as u64));
            }
        }
    }
    if rates.by_kind.is_empty() {
        return Err(notebook.empty("rate"));
    }
    for (count, words) in [
        (apart, "models are not used: their rates hold where devices are of several nodes"),
        (shared, "rates are not used: they hold for jobs that share their devices"),
    ] {
        if count > 0 {
            notebook.note(format!("{count} {words}"));
        }
    }
    Ok(rates)
}

/// A kind of job, its number of devices, and its rate where it is not zero.
fn entry(model: &str, key: &str, rows: &Table<Raw>) -> Result<((String, u32), Option<f64>), Wrong> {
    let within = |wrong: Wrong| wrong.inside(key).inside(model);
    check_name(model).map_err(|wrong| wrong.inside(model))?;
    let kind = kind(key).map_err(within)?;
    let alone = rows.0.get(ALONE).ok_or_else(|| {
        let advice = "give the rate of the job alone";
        within(Wrong::at(ALONE, Fault::Missing { advice }))
    })?;
    let rate = rate(alone).map_err(|wrong| within(wrong.inside(ALONE)))?;
    Ok((kind, (rate > 0.0).then_some(rate)))
}

/// `('kind', 4)` taken apart.
fn kind(key: &str) -> Result<(String, u32), Wrong> {
    let inner = key.strip_prefix("('").and_then(|rest| rest.strip_suffix(')'));
    let parts = inner.and_then(|inner| inner.rsplit_once("', "));
    let parts = parts.and_then(|(kind, devices)| Some((kind, devices.parse::<u32>().ok()?)));
    match parts {
        Some((kind, devices @ 1..)) => {
            check_name(kind)?;
            Ok((kind.to_owned(), devices))
        }
        _ => {
            let wanted = "a kind of job and its number of devices, like ('ResNet-18', 4)";
            Err(Wrong::here(Fault::Type { given: format!("{key:?}"), wanted }))
        }
    }
}

fn rate(raw: &Raw) -> Result<f64, Wrong> {
    /// Beyond this no device takes steps, and a millionth is no longer exact in a float.
    const RATE_MAX: f64 = 1e9;
    /// A job's rate has no smaller part.
    const RATE_MIN: f64 = 1e-6;
    let number = match raw {
        Raw::Decimal(number) => *number,
        Raw::Whole(number) => *number as f64,
        _ => {
            let given = raw.to_string();
            return Err(Wrong::here(Fault::Type { given, wanted: "a number of steps a second" }));
        }
    };
    if number == 0.0 || (RATE_MIN..=RATE_MAX).contains(&number) {
        return Ok(number);
    }
    let wanted = "zero, or steps a second from 0.000001 to 1000000000";
    Err(Wrong::here(Fault::Range { given: raw.to_string(), wanted }))
}

/// The line of an entry: of its key below that of its model. Asked only once something is wrong.
fn line_of(bytes: &[u8], model: &str, key: &str) -> u64 {
    let text = String::from_utf8_lossy(bytes);
    let quoted = |name: &str| serde_json::to_string(name).unwrap_or_default();
    let at = text.find(&quoted(model)).unwrap_or(0);
    let at = text[at..].find(&quoted(key)).map_or(at, |below| at + below);
    text[..at].matches('\n').count() as u64 + 1
}
