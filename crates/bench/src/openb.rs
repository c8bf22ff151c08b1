//! The fragmentation-gradient protocol (ATC'23) on the openb trace.
//!
//! Pods arrive one by one until they ask for 130 % of the GPUs; none departs,
//! and one that does not fit is withdrawn. `docs/results/openb.md` has the protocol,
//! the formulas and the published results; the orders of arrival and of nodes
//! come with the data.

pub mod trace;
pub mod account;
pub mod curve;
pub mod protocol;
pub mod contender;
pub mod published;
pub mod gate;
pub mod figures;
pub mod report;
pub mod plots;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::ensure;

use crate::args::{Knowledge, Openb, Seeds, TieRule};
use crate::crew;
use crate::record::Record;
use contender::Contender;
use figures::Figures;
use protocol::{Numbering, Outcome};
use trace::Trace;

/// Runs the protocol and returns what it came to: text for people, and records.
///
/// # Errors
/// If the data cannot be read, lack a seed, a plan breaks the law, or a plot cannot be written.
pub fn run(folder: &Path, asked: &Openb) -> anyhow::Result<(String, Vec<Record>)> {
    let trace = trace::read(folder, &asked.trace)?;
    let published = published::read(folder, &asked.trace)?;
    let contenders = contender::find(asked)?;
    if let Some(folder) = &asked.plots {
        plots::prepare(folder)?;
    }
    let mut text = String::new();
    let mut records = Vec::new();
    for part in parts(asked) {
        let (seeds, asked) = (part.seeds, &part.asked);
        let contenders = if part.is_extra { contender::find(asked)? } else { contenders.clone() };
        let figures = measure(&trace, &contenders, seeds, asked)?;
        let label = report::Label { trace: &asked.trace, seeds, ties: asked.ties, mix: asked.mix };
        let gate = match asked.ties {
            TieRule::Published if !part.is_extra => gate::compare(&figures, &published),
            _ => gate::Gate::default(),
        };
        text.push_str(&report::table(&figures, &published, &gate, label));
        records.extend(report::records(&figures, &gate, label));
        if let Some(folder) = &asked.plots {
            let files = plots::write(folder, &figures, label)?;
            let _ = writeln!(text, "plots in {}: {}\n", folder.display(), files.join(", "));
        }
    }
    Ok((text, records))
}

/// One range of seeds under one setting.
struct Part {
    asked: Openb,
    seeds: Seeds,
    /// Whether it belongs to the report of the published setting, without being it.
    is_extra: bool,
}

/// What is asked for, range by range. Where nothing in particular is, the policy `pack` is also run
/// on later seeds, with ties drawn, with ties by the list, and knowing only what has arrived.
fn parts(asked: &Openb) -> Vec<Part> {
    let part = |seeds| Part { asked: asked.clone(), seeds, is_extra: false };
    let mut parts: Vec<Part> = asked.seeds().into_iter().map(part).collect();
    let is_published = asked.seeds.is_empty()
        && asked.policies.is_empty()
        && asked.trace == "default"
        && (asked.ties, asked.mix) == (TieRule::Published, Knowledge::Typical)
        && !asked.quick
        && !asked.trade_offs;
    if is_published {
        let pack = Openb { policies: vec!["pack".to_owned()], plots: None, ..asked.clone() };
        let drawn = Openb { ties: TieRule::Random, ..pack.clone() };
        let by_list = Openb { ties: TieRule::Csv, ..pack.clone() };
        let seen = Openb { mix: Knowledge::Seen, ..pack.clone() };
        let published = [drawn, by_list, seen].map(|asked| (asked, Seeds::PUBLISHED));
        let later = (pack, Seeds { first: 52, last: 61 });
        let extra = published.into_iter().chain([later]);
        parts.extend(extra.map(|(asked, seeds)| Part { asked, seeds, is_extra: true }));
    }
    parts
}

/// Runs every contender on every seed, in the order of the contenders.
fn measure(
    trace: &Trace,
    contenders: &[Contender],
    seeds: Seeds,
    asked: &Openb,
) -> anyhow::Result<Vec<Figures>> {
    ensure!(!contenders.is_empty(), "find a policy to run: none is named");
    let numbering = match asked.ties {
        TieRule::Published | TieRule::Random => Numbering::Published,
        TieRule::Csv => Numbering::Csv,
    };
    let tasks: Vec<(&Contender, u64)> = contenders
        .iter()
        .flat_map(|contender| seeds.iter().map(move |seed| (contender, seed)))
        .collect();
    let outcomes = crew::share(&tasks, |(contender, seed)| -> anyhow::Result<Outcome> {
        let trial = protocol::Trial::new(trace, *seed, numbering)?;
        contender.run(&trial, asked.ties, asked.mix)
    });
    let mut outcomes = tasks.iter().zip(outcomes);
    let mut figures = Vec::with_capacity(contenders.len());
    for contender in contenders {
        let mut by_seed = Vec::new();
        for ((_, seed), outcome) in outcomes.by_ref().take(seeds.iter().count()) {
            by_seed.push((*seed, outcome?));
        }
        figures.push(Figures { contender: contender.clone(), by_seed });
    }
    Ok(figures)
}

#[cfg(test)]
mod tests;
