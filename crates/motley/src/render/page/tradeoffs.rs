//! The section in which policies stand against each other.

use sim::report::{Better, Figure as Measured, Summary};

use super::parts::{Dot, Figure, Mark, RankRow, Ranks, Scatter, Section, Sheet};
use super::scale;
use crate::render::simulation::figures::{NOTHING, ROWS, Row};

/// Figures of which two are drawn against each other: pairs that pull apart.
const PAIRS: [(usize, usize); 2] = [(0, 8), (2, 11)];

/// Joules of a kilowatt-hour.
const JOULES: f64 = 3.6e6;

/// Dots closer than this many percent would cover each other.
const APART: f64 = 8.0;

/// The policies against each other, by the summaries of one seed.
pub(super) fn tradeoffs(summaries: &[Summary]) -> Section {
    let scatters = PAIRS.iter().filter_map(|(across, up)| scatter(summaries, *across, *up));
    let mut figures = vec![Figure::Sheet(sheet(summaries))];
    if summaries.len() > 1 {
        figures.push(Figure::Ranks(ranks(summaries)));
        figures.extend(scatters.map(Figure::Scatter));
    }
    Section {
        id: "tradeoffs",
        title: "Policies against each other",
        text: "A figure can be had at the cost of another; ★ marks the best of each. Figures of \
               the tasks done alone are compared only where all did equally many."
            .to_owned(),
        figures,
    }
}

fn letter(policy: usize) -> char {
    let letter = u8::try_from(policy % 26).unwrap_or(0);
    char::from(b'A' + letter)
}

fn values(figure: &Measured, summaries: &[Summary]) -> Vec<Option<f64>> {
    summaries.iter().map(figure.value).collect()
}

/// The best value, where the figure may say who is better and not all are equal.
fn best(figure: &Measured, summaries: &[Summary]) -> Option<f64> {
    let all: Vec<&Summary> = summaries.iter().collect();
    let values: Vec<f64> = values(figure, summaries).into_iter().flatten().collect();
    let first = *values.first()?;
    let differs = values.iter().any(|value| *value != first);
    let better = |one: f64, other: f64| if figure.better.wins(other, one) { other } else { one };
    (differs && figure.can_compare(&all)).then(|| values.iter().copied().fold(first, better))
}

fn sheet(summaries: &[Summary]) -> Sheet {
    let rows = ROWS.iter().filter_map(|(title, name, form)| {
        let figure = Measured::named(name)?;
        let best = best(&figure, summaries);
        let cell = |value: &Option<f64>| match value {
            Some(value) if Some(*value) == best => format!("{} ★", form(*value)),
            Some(value) => form(*value),
            None => NOTHING.to_owned(),
        };
        let cells = values(&figure, summaries);
        Some([(*title).to_owned()].into_iter().chain(cells.iter().map(cell)).collect())
    });
    let names = summaries.iter().map(|summary| summary.policy.clone());
    Sheet {
        title: "Figures by policy".to_owned(),
        head: ["figure".to_owned()].into_iter().chain(names).collect(),
        rows: rows.collect(),
    }
}

fn ranks(summaries: &[Summary]) -> Ranks {
    let row = |(title, name, form): &(&str, &str, fn(f64) -> String)| {
        let figure = Measured::named(name)?;
        let best = best(&figure, summaries)?;
        let values = values(&figure, summaries);
        let worst = values
            .iter()
            .flatten()
            .copied()
            .fold(best, |one, other| if figure.better.wins(one, other) { other } else { one });
        let places = values.iter().enumerate().filter_map(|(policy, value)| {
            let value = (*value)?;
            Some((policy, (value - worst) / (best - worst), form(value)))
        });
        let (dots, slots) = dots(places.collect(), summaries);
        Some(RankRow { name: (*title).to_owned(), dots, slots, best: form(best) })
    };
    let key = summaries.iter().enumerate().map(|(policy, summary)| Dot {
        letter: letter(policy),
        pen: policy % 8,
        left: String::new(),
        bottom: String::new(),
        text: summary.policy.clone(),
        slot: 0,
    });
    Ranks {
        title: "From the worst of these policies (left) to the best (right)".to_owned(),
        key: key.collect(),
        rows: ROWS.iter().filter_map(row).collect(),
        note: "On the right the best value. Figures by which all are equal, or which cannot be \
               compared, are left out."
            .to_owned(),
    }
}

/// Dots along a line, and how many lines it takes for none to cover another.
fn dots(mut places: Vec<(usize, f64, String)>, summaries: &[Summary]) -> (Vec<Dot>, usize) {
    places.sort_by(|(_, one, _), (_, other, _)| one.total_cmp(other));
    let mut ends: Vec<f64> = Vec::new();
    let mut dots = Vec::new();
    for (policy, part, value) in places {
        let at = 100.0 * part;
        let slot = ends.iter().position(|end| *end <= at).unwrap_or(ends.len());
        ends.resize(ends.len().max(slot + 1), 0.0);
        ends[slot] = at + APART;
        dots.push(Dot {
            letter: letter(policy),
            pen: policy % 8,
            left: scale::number(at),
            bottom: String::new(),
            text: format!("{}: {value}", summaries[policy].policy),
            slot,
        });
    }
    (dots, ends.len().max(1))
}

/// One axis of a scatter: what it measures, and where each policy is.
struct Axis {
    title: String,
    values: Vec<f64>,
    form: fn(f64) -> String,
    ends: (f64, f64),
    marks: Vec<Mark>,
}

/// None where there is nothing to measure under some policy, or all are equal.
fn axis((title, name, form): Row, summaries: &[Summary]) -> Option<Axis> {
    let figure = Measured::named(name)?;
    best(&figure, summaries)?;
    let good = match figure.better {
        Better::Less => "less is better",
        Better::More => "more is better",
    };
    let values: Vec<f64> = values(&figure, summaries).into_iter().collect::<Option<_>>()?;
    let ends = scale::range(&values)?;
    let third = (ends.1 - ends.0) / 4.0;
    // Marks are round in the unit in which they are written.
    let step = if name.contains("_seconds") {
        scale::span_step(third)
    } else if name.ends_with("_joules") {
        scale::step(third / JOULES) * JOULES
    } else {
        scale::step(third)
    };
    let marks = scale::marks(step, ends, &form);
    Some(Axis { title: format!("{title} ({good})"), values, form, ends, marks })
}

impl Axis {
    fn place(&self, policy: usize) -> String {
        let (from, to) = self.ends;
        scale::percent((self.values[policy] - from) / (to - from))
    }
}

/// Two figures of every policy.
fn scatter(summaries: &[Summary], across: usize, up: usize) -> Option<Scatter> {
    let titles = (ROWS[up].0, ROWS[across].0);
    let (across, up) = (axis(ROWS[across], summaries)?, axis(ROWS[up], summaries)?);
    let dot = |(policy, summary): (usize, &Summary)| {
        let (one, other) = (across.values[policy], up.values[policy]);
        Dot {
            letter: letter(policy),
            pen: policy % 8,
            left: across.place(policy),
            bottom: up.place(policy),
            text: format!("{}: {}, {}", summary.policy, (across.form)(one), (up.form)(other)),
            slot: 0,
        }
    };
    Some(Scatter {
        title: format!("Trade-off: {} against {}", titles.0, titles.1),
        dots: summaries.iter().enumerate().map(dot).collect(),
        up_title: up.title,
        across_title: across.title,
        up: up.marks,
        across: across.marks,
    })
}
