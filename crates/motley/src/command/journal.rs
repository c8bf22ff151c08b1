//! Looking at the journal of a daemon.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use controller::journal::{Journal, JournalError, Record};
use serde_json::{Value, json};

use crate::args::live;
use crate::client::Client;
use crate::daemon::Place;
use crate::out;

pub(super) fn run(command: &live::Journal) -> anyhow::Result<()> {
    match command {
        live::Journal::Show(ask) => show(ask),
        live::Journal::Verify(ask) => verify(ask),
        live::Journal::Export(at) => export(&Place::choose(at.directory.as_deref())?),
        live::Journal::Prune(at) => prune(&Place::choose(at.directory.as_deref())?),
    }
}

fn open(place: &Place) -> anyhow::Result<Journal> {
    let path = place.journal();
    if !path.exists() {
        bail!("open the journal {}: there is none; no daemon has run here", path.display());
    }
    Ok(Journal::open(&path)?)
}

fn show(ask: &live::Ask) -> anyhow::Result<()> {
    let journal = open(&Place::choose(ask.at.directory.as_deref())?)?;
    let mut kinds: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let mut count = |record: &Record| {
        let (records, bytes) = kinds.entry(record.kind.clone()).or_default();
        *records += 1;
        *bytes += record.body.len() as u64;
        Ok(())
    };
    journal.records(0, &mut count)?;
    if ask.json {
        let kinds = kinds.iter().map(
            |(kind, (records, bytes))| json!({ "kind": kind, "records": records, "bytes": bytes }),
        );
        return out::print_json(&kinds.collect::<Vec<_>>());
    }
    let lines = kinds.iter().map(|(kind, (records, bytes))| {
        format!("{kind:<12} {records:>10} records {bytes:>14} bytes\n")
    });
    out::print(&lines.collect::<String>())
}

fn verify(ask: &live::Ask) -> anyhow::Result<()> {
    let audit = open(&Place::choose(ask.at.directory.as_deref())?)?.verify()?;
    if ask.json {
        let damage = audit.damage.as_ref();
        let damage = damage.map(|(number, what)| json!({ "record": number, "what": what }));
        out::print_json(&json!({ "sound": audit.sound, "damage": damage }))?;
    }
    match audit.damage {
        Some((number, what)) => {
            bail!(
                "verify the journal: record {number} is damaged: {what}; {} before it are sound",
                audit.sound
            )
        }
        None if ask.json => Ok(()),
        None => out::print(&format!("{} records, all sound\n", audit.sound)),
    }
}

fn export(place: &Place) -> anyhow::Result<()> {
    let journal = open(place)?;
    let mut failed = None;
    let mut line = |record: &Record| {
        let body: Value = serde_json::from_slice(&record.body).unwrap_or(Value::Null);
        let line = json!({
            "number": record.number,
            "format": record.format,
            "kind": record.kind,
            "body": body,
        });
        match out::print(&format!("{line}\n")) {
            Ok(()) => Ok(()),
            Err(error) => {
                failed = Some(error);
                // Any error ends the reading; the one above is the reason.
                Err(JournalError::Full)
            }
        }
    };
    let read = journal.records(0, &mut line);
    match failed {
        Some(error) => Err(error),
        None => read.context("export the journal"),
    }
}

fn prune(place: &Place) -> anyhow::Result<()> {
    if Client::connect(place).is_ok() {
        bail!("prune the journal: its daemon runs, and does so by itself; end it first");
    }
    let dropped = open(place)?.prune()?;
    out::print(&format!("{dropped} records dropped\n"))
}
