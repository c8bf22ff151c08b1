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

use crate::args::{Openb, Seeds, TieRule};
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
    for seeds in asked.seeds() {
        let figures = measure(&trace, &contenders, seeds, asked)?;
        let label = report::Label { trace: &asked.trace, seeds, ties: asked.ties };
        let gate = match asked.ties {
            TieRule::Published => gate::compare(&figures, &published),
            TieRule::Csv | TieRule::Random => gate::Gate::default(),
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
