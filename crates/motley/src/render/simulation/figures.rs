//! The figures of every policy, side by side.

use fleet::Span;
use sim::report::{Better, Figure};

use super::Results;
use crate::render::{lines_of, plain_table};

/// Stands for a figure of which there is nothing to measure.
pub(in crate::render) const NOTHING: &str = "-";

/// One row of the table: title, the name of the figure, and how a value is written.
pub(in crate::render) type Row = (&'static str, &'static str, fn(f64) -> String);

pub(in crate::render) const ROWS: [Row; 16] = [
    ("completion, mean", "completion_seconds_mean", span),
    ("completion, 95 %", "completion_seconds_p95", span),
    ("waiting, mean", "wait_seconds_mean", span),
    ("waiting, 95 %", "wait_seconds_p95", span),
    ("slowdown, mean", "slowdown_mean", times),
    ("makespan", "makespan_seconds", span),
    ("GPU utilisation", "gpu_utilisation", percent),
    ("core utilisation", "core_utilisation", percent),
    ("energy", "energy_joules", kilowatt_hours),
    ("work per joule", "work_per_joule", digits),
    ("deadline misses", "deadline_misses", count),
    ("fairness", "fairness", digits),
    ("fairness, Jain", "fairness_jain", digits),
    ("tasks misplaced", "tasks_misplaced", count),
    ("tasks done", "tasks_done", count),
    ("jobs never placed", "jobs_never_placed", count),
];

/// No policy is better by it: one that has finished holds nothing. Told where anything is held.
const GPUS_HELD_AT_END: Figure = Figure {
    name: "gpu_allocated_at_end",
    better: Better::More,
    value: |summary| summary.gpu_allocated_at_end.filter(|held| *held > 0.0),
    of_tasks_done: true,
};

/// A table of figures by policy: means over the seeds.
pub(super) fn table(results: &Results) -> String {
    let mut table = plain_table();
    table.set_header(["figure"].into_iter().chain(results.policies.iter().map(String::as_str)));
    let mut add = |title: &str, figure: &Figure, form: fn(f64) -> String| {
        let cells = results.summaries.iter().map(|seeds| match figure.mean(seeds) {
            Some(mean) => form(mean),
            None => NOTHING.to_owned(),
        });
        table.add_row([title.to_owned()].into_iter().chain(cells));
    };
    for (title, name, form) in &ROWS {
        add(title, &Figure::named(name).expect("every row has a figure"), *form);
    }
    add("GPUs held at end", &GPUS_HELD_AT_END, percent);
    lines_of(&table)
}

/// Seconds as a span, in whole seconds.
pub(in crate::render) fn span(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float becomes the nearest whole number, or the largest"
    )]
    let whole = seconds.max(0.0).round() as u64;
    Span(whole.saturating_mul(1_000_000)).to_string()
}

pub(in crate::render) fn percent(fraction: f64) -> String {
    format!("{:.1} %", fraction * 100.0)
}

fn times(ratio: f64) -> String {
    format!("{ratio:.2} ×")
}

fn kilowatt_hours(joules: f64) -> String {
    format!("{:.1} kWh", joules / 3.6e6)
}

fn digits(value: f64) -> String {
    format!("{value:.3}")
}

fn count(value: f64) -> String {
    if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.1}") }
}
