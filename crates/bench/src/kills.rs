//! Kills: what is lost when the real daemon and its keeper are killed at any instant.
//!
//! A daemon runs a mix of short and long tasks in a fresh directory while jobs
//! are submitted and cancelled. At random instants it, its keeper or both are
//! killed with signal 9 and started again. Tasks keep a diary of their own, so
//! that what really ran is known without asking Motley. Out goes a table, and
//! every job with which a law was broken.

mod daemon;
mod diary;
mod instants;
mod laws;
mod processes;
mod work;

use std::fmt::Write as _;

use anyhow::ensure;

use crate::args::Kills;
use crate::local;
use crate::record::{Aim, Record};

use instants::Life;
use laws::Law;

/// The most breaches that are named.
const NAMED_MAX: usize = 40;

/// What came of it.
pub struct Killed {
    /// The table, for people.
    pub text: String,
    /// The same for programs.
    pub records: Vec<Record>,
    /// What broke, if anything did.
    pub broken: Option<String>,
}

/// Kills as often as is asked for.
///
/// # Errors
/// If Motley's program is not there, or cannot be started again.
pub fn run(asked: &Kills) -> anyhow::Result<Killed> {
    let program = match &asked.motley {
        Some(program) => std::path::absolute(program)?,
        None => local::beside()?,
    };
    ensure!(program.is_file(), "find {}: build it first: cargo build --release", program.display());
    let life = instants::live(program, asked)?;
    let records = records(&life);
    let named = life.account.breaches.iter().take(NAMED_MAX).map(ToString::to_string);
    let mut broken: Vec<_> = named.collect();
    let more = life.account.breaches.len() - broken.len();
    if more > 0 {
        broken.push(format!("and {more} more"));
    }
    let broken = (!broken.is_empty()).then(|| broken.join("\n"));
    Ok(Killed { text: text(&records, asked), records, broken })
}

fn records(life: &Life) -> Vec<Record> {
    let mut records = Vec::new();
    let mut add = |name: &str, count: usize, aim| {
        records.push(Record::new(name.to_owned(), count as f64, "", aim));
    };
    for (kind, count) in &life.instants {
        add(&format!("instants.{}", kind.name()), *count, None);
    }
    add("instants.in_a_submission", life.in_a_submission, None);
    add("copies", life.copies, None);
    add("looks", life.looks, None);
    add("jobs_acknowledged", life.acknowledged, None);
    add("jobs_broken_off", life.broken_off, None);
    add("jobs_broken_off_and_known", life.known_all_the_same, None);
    add("jobs_refused", life.refused, None);
    add("tasks_started", life.account.began, None);
    add("tasks_ended", life.account.ended, None);
    add("tasks_restarted_by_rule", life.account.by_rule, None);
    let breaches = |law| life.account.breaches.iter().filter(|breach| breach.law == law).count();
    for (name, law) in [
        ("jobs_lost", Law::Lost),
        ("tasks_run_again", Law::RunAgain),
        ("left", Law::Left),
        ("differences", Law::Differs),
        ("copies_unsound", Law::Copied),
    ] {
        add(name, breaches(law), Some(Aim::Most(0.0)));
    }
    records
}

fn text(records: &[Record], asked: &Kills) -> String {
    let mut text = format!("{} instants, seed {}\n", asked.instants, asked.seed);
    for record in records {
        let met = match (record.aim, record.met) {
            (Some(aim), Some(true)) => format!("  aim {aim}: met"),
            (Some(aim), _) => format!("  aim {aim}: missed"),
            _ => String::new(),
        };
        let _ = writeln!(text, "{:<28} {:>8}{met}", record.name, record.value);
    }
    text
}
