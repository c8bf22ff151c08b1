//! Jobs that share unlike devices over time, in the rounds of Gavel (OSDI'20).
//!
//! Traces are played under a clock that reproduces the published simulator, by
//! reference policies and by Motley's planner. The gate says how far the
//! references are from what was published; only while it holds do the other
//! figures say something. The published mechanism reckons its shares anew at
//! most every 1,920 seconds: everything is played with that lag and without,
//! so that what comes of the lag is not taken for merit.

pub mod case;
pub mod clock;
pub mod player;
pub mod shares;
pub mod shuffle;
pub mod reference;
pub mod program;
pub mod product;
pub mod contender;
pub mod input;
pub mod published;
pub mod errors;
pub mod drawn;
pub mod trials;
pub mod front;
pub mod figures;
pub mod scale;
pub mod report;

use std::path::Path;

use anyhow::Context as _;

use crate::args::Rounds;
use crate::crew;
use crate::record::Record;
use case::Case;
use contender::Contender;
use errors::Errors;
use figures::Figures;
use player::Player;
use product::Toll;

/// Whether the lag of the published mechanism is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Lag {
    /// As published.
    Kept,
    /// Everything is known at the start of each round.
    Dropped,
}

/// Under what a policy is played.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Terms {
    /// Whether the lag is there.
    pub lag: Lag,
    /// What a move costs, in seconds.
    pub move_seconds: f64,
    /// How wrong what the planner is told is.
    pub errors: Errors,
    /// How many devices each node of Motley's fleet has; the references know of none.
    pub node_devices: u32,
}

/// One policy on one trace.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The position of the trace among those asked for.
    pub case: usize,
    /// The policy.
    pub contender: Contender,
    /// Whether the lag was there.
    pub lag: Lag,
    /// What it came to.
    pub figures: Figures,
    /// What the planner's rounds cost, where it was the planner.
    pub toll: Option<Toll>,
}

/// Plays what is asked for: text for people, and records.
///
/// # Errors
/// If a file cannot be read or a policy breaks the law.
pub fn run(folder: &Path, asked: &Rounds) -> anyhow::Result<(String, Vec<Record>)> {
    let cases = cases(folder, asked)?;
    let contenders = match asked.policy.as_slice() {
        [] => Contender::all(),
        given => given.to_vec(),
    };
    let mut tasks = Vec::new();
    for (place, case) in cases.iter().enumerate() {
        for contender in &contenders {
            let lags = [Lag::Kept, Lag::Dropped];
            tasks.extend(lags.map(|lag| (place, case, *contender, lag)));
        }
    }
    let move_seconds = f64::from(asked.moving);
    let (rates, work) = (f64::from(asked.rates_wrong) / 100.0, asked.work_wrong);
    let errors = Errors { rates, work, seed: asked.seed };
    let node_devices = asked.node_devices;
    let outcomes = crew::share(&tasks, |(place, case, contender, lag)| {
        let terms = Terms { lag: *lag, move_seconds, errors, node_devices };
        play(case, *contender, terms).map(|(figures, toll)| Outcome {
            case: *place,
            contender: *contender,
            lag: *lag,
            figures,
            toll,
        })
    });
    let outcomes: Vec<_> = outcomes.into_iter().collect::<anyhow::Result<_>>()?;
    let is_exact = asked.rates_wrong == 0 && asked.work_wrong <= 1.0;
    let is_plain = asked.moving == 0 && is_exact && node_devices <= 1;
    let report = report::Report { cases: &cases, outcomes: &outcomes, is_plain };
    let (mut text, mut records) = (report.text(), report.records());
    if asked.trace.is_none() && !asked.quick {
        let trials = trials::all(&cases)?;
        text.push_str(&trials::text(&trials));
        records.extend(trials::records(&trials));
        // After the others, so that nothing else runs meanwhile.
        let costs = scale::measure();
        text.push_str(&scale::text(&costs));
        records.extend(scale::records(&costs));
    }
    if let Some(folder) = &asked.plots {
        crate::openb::plots::prepare(folder)?;
        let files = front::write(folder, &cases)?;
        text.push_str(&format!("plots in {}: {}\n", folder.display(), files.join(", ")));
    }
    Ok((text, records))
}

/// The traces that are asked for.
fn cases(folder: &Path, asked: &Rounds) -> anyhow::Result<Vec<Case>> {
    let rates = input::rates(folder)?;
    if let (Some(path), Some(cluster)) = (&asked.trace, asked.cluster) {
        let name = path.file_stem().map_or_else(|| "trace".into(), |name| name.to_string_lossy());
        return Ok(vec![input::case(&name, path, cluster, &rates)?]);
    }
    let wanted =
        input::TRACES.iter().filter(|(name, ..)| !asked.quick || ["A", "B"].contains(name));
    let read = |(name, trace, cluster): &(&str, &str, input::Cluster)| {
        input::case(name, &input::published(folder, trace), *cluster, &rates)
    };
    let mut cases: Vec<Case> = wanted.map(read).collect::<anyhow::Result<_>>()?;
    if !asked.quick {
        cases.extend(drawn::cases(&rates));
    }
    Ok(cases)
}

/// Plays one policy on one trace.
///
/// # Errors
/// If it breaks the law or never ends.
pub fn play(
    case: &Case,
    contender: Contender,
    terms: Terms,
) -> anyhow::Result<(Figures, Option<Toll>)> {
    let mut player = contender.player(case, terms);
    let played = clock::play(case, &mut player, terms.move_seconds)
        .with_context(|| format!("play {} on {}", contender.name(), case.name))?;
    let toll = match &player {
        Player::Motley(product) => Some(product.toll),
        Player::Reference(_) => None,
    };
    Ok((Figures::of(case, &played), toll))
}

#[cfg(test)]
mod tests;
