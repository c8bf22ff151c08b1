//! The API under load: what a hundred clients wait for, and what a task then waits for.
//!
//! Clients look and submit at a steady pace, each over a connection of its own.
//! Beside them, and before them with nobody there, one more client submits a
//! task at a time, and it is measured when that really runs. What is submitted
//! for load waits for more cores than there are, so that it takes none.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};
use server::client::{Ask, Client};

use crate::args::Api;
use crate::local::motley::{Motley, submission};
use crate::local::{beside, by_connection};
use crate::record::{Aim, Record};

/// Between two calls of one client.
const PAUSE: Duration = Duration::from_millis(250);

/// One of so many calls of a client submits; the others look.
const SUBMITS: usize = 5;

/// How much longer a task may take to start under load.
const SLOWER: f64 = 2.0;

/// Measures, and says what came of it.
///
/// # Errors
/// If Motley's program is not there, or a call fails.
pub(crate) fn run(asked: &Api) -> anyhow::Result<(String, Vec<Record>)> {
    let program = asked.motley.clone().map_or_else(beside, Ok)?;
    ensure!(program.is_file(), "find {}: build it first: cargo build --release", program.display());
    let daemon = Motley::start(&program)?;
    let tries = if asked.quick { 20 } else { 100 };
    let alone = by_connection(&daemon, tries)?;
    let (stop, calls) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let socket = daemon.socket();
    let under = thread::scope(|scope| {
        let clients: Vec<_> = (0..usize::from(asked.clients))
            .map(|number| {
                let (stop, calls, socket) = (&stop, &calls, &socket);
                scope.spawn(move || call(number, socket, (stop, calls)))
            })
            .collect();
        // Until all of them are there.
        sleep(PAUSE * 4);
        let under = by_connection(&daemon, tries);
        stop.store(true, Ordering::SeqCst);
        for client in clients {
            let called = client.join().map_err(|_| anyhow::anyhow!("call: a client panicked"))?;
            called.context("call")?;
        }
        under
    })?;
    let mut calls = calls.into_inner().unwrap_or_default();
    ensure!(!calls.is_empty(), "measure calls: there were none");
    calls.sort_by(f64::total_cmp);
    let at = |part: usize| calls[(calls.len() * part / 100).min(calls.len() - 1)];
    let ratio = under.p50 / alone.p50;
    let records = vec![
        Record::new("calls".to_owned(), calls.len() as f64, "calls", None),
        Record::new("call_p50_ms".to_owned(), at(50), "ms", None),
        Record::new("call_p99_ms".to_owned(), at(99), "ms", None),
        Record::new("submit_start_p50_ms.alone".to_owned(), alone.p50, "ms", None),
        Record::new("submit_start_p95_ms.alone".to_owned(), alone.p95, "ms", None),
        Record::new("submit_start_p50_ms.under_load".to_owned(), under.p50, "ms", None),
        Record::new("submit_start_p95_ms.under_load".to_owned(), under.p95, "ms", None),
        Record::new("submit_start_p50_ratio".to_owned(), ratio, "ratio", Some(Aim::Most(SLOWER))),
    ];
    let mut text = format!("{} clients, one call in {PAUSE:?} each\n", asked.clients);
    for record in &records {
        let _ = write!(text, "{:<32}{:>12.3} {}", record.name, record.value, record.unit);
        let aim = record.aim.map_or(String::new(), |aim| format!("   (aim {aim})"));
        let _ = writeln!(text, "{aim}");
    }
    Ok((text, records))
}

/// One client, until it is told to stop.
fn call(
    number: usize,
    socket: &Path,
    (stop, calls): (&AtomicBool, &Mutex<Vec<f64>>),
) -> anyhow::Result<()> {
    let mut client = Client::connect(socket)?;
    let job = json!({ "name": format!("load-{number}"), "alternative": [{ "cores": 4096 }] });
    let job = submission(&["/bin/true".to_owned()], job, &[]);
    let submit = Ask::post("/v1/jobs").telling(&json!({ "jobs": [job] }));
    let looks = [
        Ask::get("/v1/status"),
        Ask::get("/v1/jobs?limit=100"),
        Ask::get("/v1/nodes"),
        Ask::get("/v1/jobs/1"),
    ];
    // Not all at once.
    sleep(PAUSE * u32::try_from(number % 16).unwrap_or(0) / 16);
    for turn in number.. {
        if stop.load(Ordering::SeqCst) {
            return Ok(());
        }
        let ask = match turn % SUBMITS {
            0 => &submit,
            look => &looks[look - 1],
        };
        let began = Instant::now();
        client.ask::<Value>(ask)?;
        let millis = began.elapsed().as_secs_f64() * 1e3;
        calls.lock().map_err(|_| anyhow::anyhow!("another client panicked"))?.push(millis);
        sleep(PAUSE);
    }
    Ok(())
}
