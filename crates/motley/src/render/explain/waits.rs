//! Why tasks wait, which nodes came nearest, and when one is expected to start.

use fleet::explanation::{FellOut, StillWaiting};
use fleet::{Milli, Reason, Time};
use planner::inquiry::Answer;
use planner::inquiry::miss::Miss;
use planner::inquiry::timeline::{Expected, Forecast, PastError};
use serde::Serialize;
use sim::report::is_lasting;

use super::remedies::{self, RemedyPart};
use super::{Asked, constraint, unit};
use crate::render::{reason, words};

/// The most nodes of a miss that are named.
const NODES_MAX: usize = 8;

/// Why tasks wait, and what would start one.
#[derive(Debug, Serialize)]
pub(super) struct WaitsPart {
    tasks: u32,
    reason: ReasonPart,
    /// The nodes that fall short by least, nearest first.
    nearest: Vec<MissPart>,
    /// What would start one more task now, each by itself.
    remedies: Vec<RemedyPart>,
    /// Whether every alternative and every run was asked about.
    remedies_complete: bool,
    expected: ExpectedPart,
}

#[derive(Debug, Serialize)]
struct ReasonPart {
    /// `no-room`, `patience`, `effort` or `batch`.
    kind: &'static str,
    /// Whether no node of the fleet could ever run it.
    is_lasting: bool,
    /// When patience or the batch ends.
    until_seconds: Option<f64>,
    alternatives: Vec<TallyPart>,
    text: String,
}

#[derive(Debug, Serialize)]
struct TallyPart {
    alternative: u16,
    fell_out: Vec<FellOutPart>,
}

/// Nodes that fell out at one constraint, or one thing that nodes lack.
#[derive(Debug, Serialize)]
struct FellOutPart {
    constraint: String,
    unit: &'static str,
    nodes: u32,
    asked: u64,
    offered: u64,
}

#[derive(Debug, Serialize)]
struct MissPart {
    alternative: u16,
    /// The first few.
    nodes: Vec<String>,
    nodes_count: usize,
    lacks: Vec<FellOutPart>,
    text: String,
}

#[derive(Debug, Serialize)]
struct ExpectedPart {
    /// If declared durations are true.
    declared: WhenPart,
    /// If they are wrong as past ones were.
    earliest: Option<WhenPart>,
    latest: Option<WhenPart>,
    past: Option<PastPart>,
    /// Runs past their declared end.
    overdue: u32,
    /// Runs without a known end.
    endless: u32,
    text: String,
}

/// `{"kind": "at", "seconds": 60.0}`.
#[derive(Debug, Serialize)]
struct WhenPart {
    /// `at`, `after` or `never`.
    kind: &'static str,
    seconds: Option<f64>,
}

/// What past runs took ÷ what was declared.
#[derive(Debug, Serialize)]
struct PastPart {
    runs: u32,
    low: f64,
    median: f64,
    high: f64,
}

pub(super) fn part(asked: &Asked<'_>) -> Option<WaitsPart> {
    let answer: &Answer = asked.answer?;
    let job = asked.visit.job.id;
    let waiting = &asked.visit.decision.explanation.waiting;
    let still = waiting.iter().find(|still| still.job == job)?;
    Some(WaitsPart {
        tasks: still.tasks,
        reason: reason_part(asked, still),
        nearest: answer.misses.iter().map(|miss| miss_part(asked, miss)).collect(),
        remedies: remedies::parts(asked, &answer.remedies.found),
        remedies_complete: answer.remedies.is_complete,
        expected: expected_part(asked, &answer.forecast),
    })
}

fn reason_part(asked: &Asked<'_>, still: &StillWaiting) -> ReasonPart {
    let fell_out = |one: &FellOut| FellOutPart {
        constraint: constraint(one.constraint),
        unit: unit(one.constraint),
        nodes: one.nodes,
        asked: one.asked,
        offered: one.best,
    };
    let (kind, until, tallies) = match &*still.reason {
        Reason::NoRoom(tallies) => ("no-room", None, tallies.as_slice()),
        Reason::Patience(patience) => ("patience", Some(patience.until), &[] as &[_]),
        Reason::Effort => ("effort", None, &[] as &[_]),
        Reason::Batch(until) => ("batch", Some(*until), &[] as &[_]),
        Reason::Locality(locality) => ("locality", Some(locality.until), &[] as &[_]),
        Reason::Gang(_) => ("gang", None, &[] as &[_]),
        Reason::Recalled => ("recalled", None, &[] as &[_]),
        Reason::Round(round) => ("round", round.until, &[] as &[_]),
    };
    let tally = |tally: &fleet::explanation::Tally| TallyPart {
        alternative: tally.alternative,
        fell_out: tally.fell_out.iter().map(fell_out).collect(),
    };
    ReasonPart {
        kind,
        is_lasting: kind == "no-room" && is_lasting(tallies),
        until_seconds: until.map(Time::as_seconds),
        alternatives: tallies.iter().map(tally).collect(),
        text: reason(&asked.names(), &asked.visit.job, &still.reason),
    }
}

fn miss_part(asked: &Asked<'_>, miss: &Miss) -> MissPart {
    let names = asked.names();
    let job = &asked.visit.job;
    let alternative = &job.alternatives[usize::from(miss.alternative)];
    let nodes: Vec<String> = miss.nodes.iter().map(|id| names.node(*id)).collect();
    let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
    let lacks: Vec<FellOut> = miss
        .lacks
        .iter()
        .map(|lack| {
            let (constraint, asked, best) = (lack.constraint, lack.asked, lack.offered);
            FellOut { constraint, nodes: count, asked, best }
        })
        .collect();
    let told: Vec<String> =
        lacks.iter().map(|lack| crate::render::unmet(alternative, lack)).collect();
    let way = match job.alternatives.len() {
        1 => String::new(),
        _ => format!(" as {}", words::request(alternative)),
    };
    MissPart {
        alternative: miss.alternative,
        text: format!("{}{way}: {}", words::list(&nodes, ", "), told.join(", ")),
        nodes: nodes.iter().take(NODES_MAX).cloned().collect(),
        nodes_count: nodes.len(),
        lacks: lacks
            .iter()
            .map(|lack| FellOutPart {
                constraint: constraint(lack.constraint),
                unit: unit(lack.constraint),
                nodes: lack.nodes,
                asked: lack.asked,
                offered: lack.best,
            })
            .collect(),
    }
}

fn expected_part(asked: &Asked<'_>, forecast: &Forecast) -> ExpectedPart {
    let Forecast { declared, range, overdue, endless } = *forecast;
    let ratio = |milli: Milli| f64::from(milli.0) / 1000.0;
    ExpectedPart {
        declared: when(declared),
        earliest: range.map(|(earliest, _)| when(earliest)),
        latest: range.map(|(_, latest)| when(latest)),
        past: asked.past.map(|past| PastPart {
            runs: past.runs,
            low: ratio(past.low),
            median: ratio(past.median),
            high: ratio(past.high),
        }),
        overdue,
        endless,
        text: expected_text(asked, forecast),
    }
}

fn when(expected: Expected) -> WhenPart {
    match expected {
        Expected::At(at) => WhenPart { kind: "at", seconds: Some(at.as_seconds()) },
        Expected::After(at) => WhenPart { kind: "after", seconds: Some(at.as_seconds()) },
        Expected::Never => WhenPart { kind: "never", seconds: None },
    }
}

fn expected_text(asked: &Asked<'_>, forecast: &Forecast) -> String {
    let (now, past, names) = (asked.visit.snapshot.at, asked.past, asked.names());
    let Forecast { declared, range, overdue, endless } = *forecast;
    let mut text = match declared {
        Expected::At(at) if at <= now => "as soon as an overdue run ends".to_owned(),
        Expected::At(at) if asked.now.is_some() => names.moment(at),
        Expected::At(at) => format!("at {} (in {})", names.moment(at), at.since(now)),
        Expected::After(at) => format!("later than {}, as far as was looked", names.moment(at)),
        Expected::Never => {
            "never, unless something changes: no end that is known makes room".to_owned()
        }
    };
    if declared != Expected::Never {
        text.push_str(", if declared durations are true and nothing else arrives");
    }
    text.push('.');
    match (range, past) {
        (Some((earliest, latest)), Some(past)) if declared != Expected::Never => {
            let PastError { runs, low, high, .. } = past;
            text.push_str(&format!(
                " {}, if they are as wrong as those of the {} that ended so far, which took {low} \
                 to {high} of what was declared.",
                between(&names, earliest, latest),
                words::count((*runs).into(), "run"),
            ));
        }
        (None, _) if declared != Expected::Never => {
            text.push_str(" How wrong they may be is not known: no run has ended yet.");
        }
        _ => {}
    }
    if overdue > 0 {
        let runs = words::count(overdue.into(), "run");
        text.push_str(&format!(" {runs} past the declared end: taken to end at once."));
    }
    if endless > 0 {
        let runs = words::count(endless.into(), "run");
        text.push_str(&format!(" {runs} without a known end: taken to go on."));
    }
    text
}

fn between(names: &crate::render::Names<'_>, earliest: Expected, latest: Expected) -> String {
    let told = |expected| match expected {
        Expected::At(at) => names.moment(at),
        Expected::After(at) => format!("later than {}", names.moment(at)),
        Expected::Never => "never".to_owned(),
    };
    match (told(earliest), told(latest)) {
        (one, other) if one == other => format!("At {one}"),
        (one, other) => format!("Between {one} and {other}"),
    }
}

/// Adds the paragraphs.
pub(super) fn add(text: &mut String, waits: &WaitsPart) {
    let who = match waits.tasks {
        1 => "one task waits".to_owned(),
        tasks => format!("{tasks} tasks wait"),
    };
    text.push_str(&format!("\nWhy {who}\n  {}\n", waits.reason.text));
    let mut list = |title: &str, items: Vec<&str>| {
        if !items.is_empty() {
            text.push_str(&format!("\n{title}\n"));
            items.iter().for_each(|item| text.push_str(&format!("  {item}\n")));
        }
    };
    list("Nearest", waits.nearest.iter().map(|miss| miss.text.as_str()).collect());
    let mut remedies: Vec<&str> = waits.remedies.iter().map(RemedyPart::text).collect();
    if remedies.is_empty() {
        remedies.push("no single change that was tried");
    }
    if !waits.remedies_complete {
        remedies.push("(not every alternative and run was tried: there are too many)");
    }
    list("What would start one more task now, each by itself", remedies);
    list("When one more task is expected to start", vec![waits.expected.text.as_str()]);
}
