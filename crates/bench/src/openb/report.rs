//! Report: tables for people, records for programs.

use std::fmt;

use comfy_table::{Table, presets};

use super::contender::Contender;
use super::figures::Figures;
use super::gate::{self, Gate};
use super::published::Published;
use crate::args::{Knowledge, Seeds, TieRule};
use crate::record::{Aim, Record};

/// The contender that savings are counted against.
pub const BASELINE: &str = "fgd";

/// What batches gain is counted against this.
const ALONE: &str = "pack";

/// The loads at which savings are told, in percent.
const SAVING_LOADS: [usize; 4] = [30, 50, 80, 90];

/// What is aimed at, as `docs/results/openb.md` says.
const AIMS: [(&str, Aim); 10] = [
    ("batch16.gain_pp", Aim::Least(0.15)),
    ("batch16.p99_ms", Aim::Most(50.0)),
    ("pack.alloc130", Aim::Least(95.8)),
    ("pack.alloc95", Aim::Least(94.9)),
    ("pack.first_8gpu_failure_load_pct", Aim::Least(94.0)),
    ("pack.alloc130.seeds52-61", Aim::Least(95.8)),
    ("pack.random_ties.alloc130", Aim::Least(95.0)),
    ("green.saving50_pct", Aim::Least(13.0)),
    ("green.saving80_pct", Aim::Least(12.5)),
    ("green.alloc130", Aim::Least(95.0)),
];

/// Which runs are reported.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    /// The trace.
    pub trace: &'a str,
    /// The seeds.
    pub seeds: Seeds,
    /// Who won ties.
    pub ties: TieRule,
    /// What Motley's policies knew of arrivals.
    pub mix: Knowledge,
}

impl fmt::Display for Label<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ties = match self.ties {
            TieRule::Published => "the published ties",
            TieRule::Csv => "ties by the list",
            TieRule::Random => "ties drawn",
        };
        let mix = match self.mix {
            Knowledge::Typical => "",
            Knowledge::Seen => ", the mix as seen so far",
        };
        write!(out, "openb {}, seeds {}, {ties}{mix}", self.trace, self.seeds)
    }
}

/// The figures as text.
#[must_use]
pub fn table(figures: &[Figures], published: &Published, gate: &Gate, label: Label<'_>) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "policy",
        "alloc@95",
        "@100",
        "@130",
        "published",
        "frag@80",
        "fails at",
        "8-GPU",
        "least",
        "failed",
        "share/1/n/cpu",
        "kW@50",
        "saved@30/50/80/90",
        "served@100",
        "us",
        "cpu us",
    ]);
    let baseline = figures.iter().find(|one| one.contender.name() == BASELINE);
    // What was published is of these seeds and this rule only.
    let is_published = label.seeds == Seeds::PUBLISHED && label.ties == TieRule::Published;
    for one in figures {
        let theirs = published.means(one.contender.name()).1.filter(|_| is_published);
        table.add_row(row(one, baseline, theirs));
    }
    let mut text = format!("{label}\n{table}\n");
    if !gate.rows.is_empty() {
        text.push_str(&gate_table(gate));
    }
    text.push('\n');
    text
}

/// The figures as records.
#[must_use]
pub fn records(figures: &[Figures], gate: &Gate, label: Label<'_>) -> Vec<Record> {
    let mut records = Vec::new();
    let of_gate = [("gate.max_abs_pp", gate.by_seed()), ("gate.max_curve_pp", gate.curves())];
    for (name, value) in of_gate {
        if let Some(value) = value {
            let name = full_name(name, "", label);
            records.push(Record::new(name, value, "pp", Some(Aim::Most(gate::MOST))));
        }
    }
    let baseline = figures.iter().find(|one| one.contender.name() == BASELINE);
    for one in figures {
        let policy = match &one.contender {
            Contender::Reference(reference) => format!("reference.{}", reference.name),
            Contender::Ours(policy) => policy.name.clone(),
        };
        let alone = figures.iter().find(|other| other.contender.name() == ALONE);
        let gain = alone.filter(|_| one.contender.is_batched()).and_then(|alone| {
            let at = |one: &Figures| one.at(130, |curves| &curves.allocated);
            Some(at(one)? - at(alone)?)
        });
        let gain = gain.map(|gain| ("gain_pp".to_owned(), Some(gain), "pp"));
        for (figure, value, unit) in figures_of(one, baseline).into_iter().chain(gain) {
            let name = full_name(&policy, &figure, label);
            let aim = AIMS.iter().find(|(aimed, _)| *aimed == name).map(|(_, aim)| *aim);
            records.extend(value.map(|value| Record::new(name, value, unit, aim)));
        }
    }
    records
}

fn figures_of(
    one: &Figures,
    baseline: Option<&Figures>,
) -> Vec<(String, Option<f64>, &'static str)> {
    let mut figures = vec![
        ("alloc95".to_owned(), one.at(95, |curves| &curves.allocated), "%"),
        ("alloc100".to_owned(), one.at(100, |curves| &curves.allocated), "%"),
        ("alloc130".to_owned(), one.at(130, |curves| &curves.allocated), "%"),
        ("frag_ratio80".to_owned(), one.at(80, |curves| &curves.fragmented_of_free), "%"),
        ("first_failure_load_pct".to_owned(), one.first_failure(), "%"),
        ("first_8gpu_failure_load_pct".to_owned(), one.first_failure_of_eight(), "%"),
        ("first_8gpu_failure_load_least_pct".to_owned(), one.least_failure_of_eight(), "%"),
        ("failed_pods".to_owned(), Some(one.failures(super::account::Failures::all)), "pods"),
        ("served100".to_owned(), one.at(100, |curves| &curves.served), "%"),
        ("micros_per_arrival".to_owned(), Some(one.micros()), "us"),
        ("steps_per_arrival".to_owned(), Some(one.steps()), "steps"),
        ("p99_ms".to_owned(), Some(one.turn_p99()), "ms"),
        ("processor_micros_per_arrival".to_owned(), one.processor_micros(), "us"),
    ];
    for load in SAVING_LOADS {
        let power = one.at(load, |curves| &curves.kilowatts_at_allocated);
        figures.push((format!("power{load}_kw"), power, "kW"));
        figures.push((format!("saving{load}_pct"), saving(one, baseline, load), "%"));
    }
    figures
}

/// Power saved against the baseline when as much is allocated, in percent.
#[must_use]
pub fn saving(one: &Figures, baseline: Option<&Figures>, load: usize) -> Option<f64> {
    let theirs = baseline?.at(load, |curves| &curves.kilowatts_at_allocated)?;
    let ours = one.at(load, |curves| &curves.kilowatts_at_allocated)?;
    Some(100.0 * (1.0 - ours / theirs))
}

fn row(one: &Figures, baseline: Option<&Figures>, published: Option<f64>) -> Vec<String> {
    let kinds = [
        one.failures(|failures| failures.share),
        one.failures(|failures| failures.one),
        one.failures(|failures| failures.several),
        one.failures(|failures| failures.cores),
    ];
    let savings = SAVING_LOADS.map(|load| places(saving(one, baseline, load), 1));
    vec![
        one.contender.name().to_owned(),
        places(one.at(95, |curves| &curves.allocated), 2),
        places(one.at(100, |curves| &curves.allocated), 2),
        places(one.at(130, |curves| &curves.allocated), 2),
        places(published, 2),
        places(one.at(80, |curves| &curves.fragmented_of_free), 1),
        places(one.first_failure(), 1),
        places(one.first_failure_of_eight(), 1),
        places(one.least_failure_of_eight(), 1),
        format!("{:.0}", one.failures(super::account::Failures::all)),
        kinds.map(|count| format!("{count:.0}")).join("/"),
        places(one.at(50, |curves| &curves.kilowatts), 0),
        savings.join("/"),
        places(one.at(100, |curves| &curves.served), 1),
        format!("{:.1}", one.micros()),
        places(one.processor_micros(), 1),
    ]
}

fn gate_table(gate: &Gate) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "off by (pp)",
        "@130 by seed",
        "alloc curve",
        "frag curve",
        "frag ratio curve",
    ]);
    for row in &gate.rows {
        table.add_row([
            row.name.clone(),
            places(row.by_seed, 4),
            places(row.allocated, 4),
            places(row.fragmented, 4),
            places(row.fragmented_of_free, 4),
        ]);
    }
    let largest = gate.by_seed().into_iter().chain(gate.curves()).fold(0.0, f64::max);
    let word = if largest <= gate::MOST { "met" } else { "missed" };
    format!("\n{table}\ngate: at most {} wanted, {largest:.4} found: {word}\n", gate::MOST)
}

fn places(value: Option<f64>, places: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.places$}"))
}

/// The name of a record, or of a plot: what is not the published setting is part of it.
#[must_use]
pub fn full_name(policy: &str, figure: &str, label: Label<'_>) -> String {
    let mut parts = vec![policy.to_owned()];
    if label.trace != "default" {
        parts.push(label.trace.to_owned());
    }
    match label.ties {
        TieRule::Published => {}
        TieRule::Csv => parts.push("csv_ties".to_owned()),
        TieRule::Random => parts.push("random_ties".to_owned()),
    }
    if label.mix == Knowledge::Seen {
        parts.push("seen_only".to_owned());
    }
    if !figure.is_empty() {
        parts.push(figure.to_owned());
    }
    if label.seeds != Seeds::PUBLISHED {
        parts.push(format!("seeds{}", label.seeds));
    }
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_is_not_the_published_setting() {
        let mix = Knowledge::Typical;
        let label = |trace, seeds, ties| Label { trace, seeds, ties, mix };
        let name = |label| full_name("pack", "alloc130", label);
        let later = Seeds { first: 52, last: 61 };
        assert_eq!(name(label("default", Seeds::PUBLISHED, TieRule::Published)), "pack.alloc130");
        assert_eq!(name(label("default", later, TieRule::Published)), "pack.alloc130.seeds52-61");
        assert_eq!(
            name(label("cpu250", Seeds::PUBLISHED, TieRule::Random)),
            "pack.cpu250.random_ties.alloc130"
        );
        let seen = Label {
            mix: Knowledge::Seen,
            ..label("default", Seeds::PUBLISHED, TieRule::Published)
        };
        assert_eq!(name(seen), "pack.seen_only.alloc130");
    }
}
