//! Report: tables for people, records for programs.

use std::fmt::Write as _;

use comfy_table::{Table, presets};

use super::case::Case;
use super::contender::Contender;
use super::published;
use super::reference::Reference;
use super::{Lag, Outcome};
use crate::record::{Aim, Record};

/// How far the mean completion of a reference may be from what was published, in percent.
const GATE: [(Reference, f64); 3] =
    [(Reference::FifoPerf, 1.0), (Reference::MaxMinPerf, 3.0), (Reference::Isolated, 2.0)];

/// Mean completion that is aimed at, in seconds.
const MEANS: [(&str, f64); 4] =
    [("A", 12_700.0), ("B", 26_600.0), ("C", 56_000.0), ("D", 52_200.0)];

/// How far the makespan may be above the best that was published, in percent, and where.
const MAKESPAN_GAP: (f64, [&str; 3]) = (0.5, ["A", "B", "C"]);

/// What `mean-fair` is to gain in mean completion over max-min fair shares, in percent.
const FAIR_MEAN_LEAST: f64 = 10.0;
/// What it may lose of the other figures: below 3 % is a tie.
const FAIR_LEAST: f64 = -3.0;
/// The traces on which that is aimed at.
const FAIR_TRACES: [&str; 2] = ["A", "C"];

/// What was played.
#[derive(Clone, Copy, Debug)]
pub struct Report<'r> {
    /// The traces.
    pub cases: &'r [Case],
    /// Every policy on each of them, with the lag and without.
    pub outcomes: &'r [Outcome],
    /// Whether moving is free and all that is declared is true.
    pub is_plain: bool,
}

impl Report<'_> {
    /// The figures as text.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (place, case) in self.cases.iter().enumerate() {
            let capacity: Vec<_> = case.capacity.iter().map(u32::to_string).collect();
            let _ = writeln!(
                text,
                "trace {}: {} jobs on {} of {}, seconds\n{}\n",
                case.name,
                case.jobs.len(),
                capacity.join(":"),
                case.models.join(":"),
                self.table(place)
            );
        }
        if !self.is_plain {
            text.push_str(
                "moving costs, what is declared is wrong or nodes have several devices, and the \
                 published know nothing of it\n",
            );
        }
        for record in self.records().iter().filter(|record| record.aim.is_some()) {
            let verdict = if record.met == Some(true) { "met" } else { "not met" };
            let aim = record.aim.map(|aim| aim.to_string()).unwrap_or_default();
            let _ =
                writeln!(text, "{} {} {} {aim}: {verdict}", record.name, record.value, record.unit);
        }
        text
    }

    fn table(&self, place: usize) -> Table {
        let mut table = Table::new();
        table.load_style(presets::NOTHING);
        table.set_header([
            "policy",
            "lag",
            "mean",
            "p50",
            "p95",
            "p99",
            "makespan",
            "moves",
            "unfair",
            "longest wait",
            "published",
            "off by",
            "turns",
            "steps",
        ]);
        for one in self.outcomes.iter().filter(|one| one.case == place) {
            let figures = &one.figures;
            let whole = |seconds: f64| format!("{seconds:.0}");
            let percent = |value: Option<f64>| {
                value.map_or("-".to_owned(), |value| {
                    format!("{:+.2} %", (value * 100.0).round() / 100.0 + 0.0)
                })
            };
            let [p50, p95, p99] = figures.percentiles.map(whole);
            let theirs = published::find(&self.cases[place].name, one.contender.name());
            let toll = one.toll.filter(|toll| toll.rounds > 0);
            table.add_row([
                one.contender.name().to_owned(),
                if one.lag == Lag::Kept { "kept" } else { "dropped" }.to_owned(),
                whole(figures.mean),
                p50,
                p95,
                p99,
                whole(figures.makespan),
                figures.moves.to_string(),
                self.unfair(one).map_or("-".to_owned(), |ratio| format!("{ratio:.2}")),
                whole(figures.longest_wait),
                theirs.map_or("-".to_owned(), |theirs| whole(theirs.mean)),
                percent(self.deviation(one)),
                toll.map_or("-".to_owned(), |toll| toll.turns.to_string()),
                toll.map_or("-".to_owned(), |toll| (toll.steps / toll.rounds).to_string()),
            ]);
        }
        table
    }

    /// The largest ratio of a job's completion to that under an equal split, with the same lag.
    fn unfair(&self, one: &Outcome) -> Option<f64> {
        let even = Contender::Reference(Reference::Isolated);
        let split = self.find(one.case, even.name(), one.lag)?;
        Some(one.figures.worst_against(&split.figures))
    }

    /// How far a reference's mean is from what was published, in percent.
    fn deviation(&self, one: &Outcome) -> Option<f64> {
        let theirs = published::find(&self.cases[one.case].name, one.contender.name())?;
        (one.lag == Lag::Kept && self.is_plain)
            .then(|| 100.0 * (one.figures.mean - theirs.mean) / theirs.mean)
    }

    fn find(&self, case: usize, name: &str, lag: Lag) -> Option<&Outcome> {
        let is_asked =
            |one: &&Outcome| one.case == case && one.lag == lag && one.contender.name() == name;
        self.outcomes.iter().find(is_asked)
    }

    /// The figures as records.
    #[must_use]
    pub fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        for (reference, most) in GATE {
            let same = |one: &&Outcome| one.contender == Contender::Reference(reference);
            let off = self.outcomes.iter().filter(same).filter_map(|one| self.deviation(one));
            let name = format!("gate.{}_pct", reference.name());
            let worst = off.map(f64::abs).reduce(f64::max);
            records.extend(worst.map(|off| Record::new(name, off, "%", Some(Aim::Most(most)))));
        }
        for one in self.outcomes {
            records.extend(self.of_outcome(one));
        }
        records.extend(self.makespan_gap());
        for place in 0..self.cases.len() {
            records.extend(self.fair_gains(place));
        }
        records
    }

    /// By how much `mean-fair` is better than max-min fair shares of work, both without the lag.
    fn fair_gains(&self, place: usize) -> Vec<Record> {
        let trace = &self.cases[place].name;
        let ours = self.find(place, "mean-fair", Lag::Dropped);
        let theirs = self.find(place, Reference::MaxMinPerf.name(), Lag::Dropped);
        let (Some(ours), Some(theirs)) = (ours, theirs) else { return Vec::new() };
        let unfair = |one| self.unfair(one).unwrap_or(f64::NAN);
        let gains = [
            ("mean", ours.figures.mean, theirs.figures.mean, FAIR_MEAN_LEAST),
            ("p99", ours.figures.percentiles[2], theirs.figures.percentiles[2], FAIR_LEAST),
            ("makespan", ours.figures.makespan, theirs.figures.makespan, FAIR_LEAST),
            ("worst_ftf", unfair(ours), unfair(theirs), FAIR_LEAST),
        ];
        let is_aimed = self.is_plain && FAIR_TRACES.contains(&trace.as_str());
        let known = gains.into_iter().filter(|(_, ours, theirs, _)| (ours / theirs).is_finite());
        let record = |(figure, ours, theirs, least): (&str, f64, f64, f64)| {
            let name = format!("mean_fair.{trace}.{figure}_gain_pct");
            let aim = is_aimed.then_some(Aim::Least(least));
            Record::new(name, 100.0 * (theirs - ours) / theirs, "%", aim)
        };
        known.map(record).collect()
    }

    /// What `mean` comes to without the lag has the short names.
    fn of_outcome(&self, one: &Outcome) -> Vec<Record> {
        let trace = &self.cases[one.case].name;
        let is_main = one.contender.name() == "mean" && one.lag == Lag::Dropped;
        let prefix = match (is_main, one.lag) {
            (true, _) => String::new(),
            (false, Lag::Dropped) => format!("{}.no_lag.", one.contender.name()),
            (false, Lag::Kept) => format!("{}.", one.contender.name()),
        };
        let aim = MEANS.iter().find(|(name, _)| is_main && self.is_plain && name == trace);
        let aim = aim.map(|(_, most)| Aim::Most(*most));
        let [_, _, p99] = one.figures.percentiles;
        let named = |figure: &str| format!("{prefix}{figure}.{trace}");
        let mut records = vec![
            Record::new(named("mean"), one.figures.mean, "s", aim),
            Record::new(named("p99"), p99, "s", None),
            Record::new(named("makespan"), one.figures.makespan, "s", None),
        ];
        let unfair = self.unfair(one);
        records.extend(unfair.map(|ratio| Record::new(named("worst_ftf"), ratio, "ratio", None)));
        if let Some(toll) = one.toll.filter(|toll| toll.rounds > 0) {
            let rounds = toll.rounds as f64;
            let steps = toll.steps as f64 / rounds;
            records.push(Record::new(named("steps_per_round"), steps, "steps", None));
        }
        records
    }

    fn makespan_gap(&self) -> Option<Record> {
        let (most, traces) = MAKESPAN_GAP;
        let gap = |(place, case): (usize, &Case)| {
            let ours = self.find(place, "makespan", Lag::Dropped)?;
            let best = published::least(&case.name, |row| row.makespan)?;
            traces
                .contains(&case.name.as_str())
                .then(|| 100.0 * (ours.figures.makespan - best) / best)
        };
        let worst = self.cases.iter().enumerate().filter_map(gap).reduce(f64::max)?;
        let aim = (self.is_plain).then_some(Aim::Most(most));
        Some(Record::new("makespan_gap_pct".to_owned(), worst, "%", aim))
    }
}
