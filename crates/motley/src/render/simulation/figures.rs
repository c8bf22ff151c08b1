//! The figures of every policy, side by side.

use fleet::Span;
use sim::report::Summary;

use super::Results;
use crate::render::{lines_of, plain_table};

/// Stands for a figure of which there is nothing to measure.
const NOTHING: &str = "-";

/// One row of the table.
struct Row {
    title: &'static str,
    value: fn(&Summary) -> f64,
    form: fn(f64) -> String,
    /// Whether there is anything to measure.
    is_there: fn(&Summary) -> bool,
}

const ROWS: [Row; 17] = [
    row("completion, mean", |it| it.completion_seconds.mean, span, done),
    row("completion, 95 %", |it| it.completion_seconds.p95, span, done),
    row("waiting, mean", |it| it.wait_seconds.mean, span, always),
    row("waiting, 95 %", |it| it.wait_seconds.p95, span, always),
    row("slowdown, mean", |it| it.slowdown_mean, times, done),
    row("makespan", |it| it.makespan_seconds, span, done),
    row("GPU utilisation", |it| it.gpu_utilisation, percent, always),
    row("core utilisation", |it| it.core_utilisation, percent, always),
    row("GPUs held at end", |it| it.gpu_allocated_at_end, percent, still_runs),
    row("energy", |it| it.energy_joules, kilowatt_hours, always),
    row("work per joule", |it| it.work_per_joule, digits, done),
    row("deadline misses", |it| it.deadline_misses as f64, count, deadlines),
    row("fairness", |it| it.fairness, digits, done),
    row("fairness, Jain", |it| it.fairness_jain, digits, done),
    row("tasks misplaced", |it| it.tasks_misplaced as f64, count, done),
    row("tasks done", |it| it.tasks_done as f64, count, always),
    row("jobs never placed", never_placed, count, always),
];

const fn row(
    title: &'static str,
    value: fn(&Summary) -> f64,
    form: fn(f64) -> String,
    is_there: fn(&Summary) -> bool,
) -> Row {
    Row { title, value, form, is_there }
}

fn always(_summary: &Summary) -> bool {
    true
}

fn done(summary: &Summary) -> bool {
    summary.tasks_done > 0
}

fn still_runs(summary: &Summary) -> bool {
    summary.gpu_allocated_at_end > 0.0
}

fn deadlines(summary: &Summary) -> bool {
    summary.deadlines > 0
}

/// A table of figures by policy: means over the seeds.
pub(super) fn table(results: &Results) -> String {
    let mut table = plain_table();
    table.set_header(["figure"].into_iter().chain(results.policies.iter().map(String::as_str)));
    for Row { title, value, form, is_there } in &ROWS {
        let cells = results.summaries.iter().map(|seeds| match seeds.iter().any(is_there) {
            true => form(mean(seeds, *value)),
            false => NOTHING.to_owned(),
        });
        table.add_row([(*title).to_owned()].into_iter().chain(cells));
    }
    lines_of(&table)
}

/// The mean of a figure over seeds.
pub(super) fn mean(seeds: &[Summary], value: impl Fn(&Summary) -> f64) -> f64 {
    seeds.iter().map(value).sum::<f64>() / seeds.len().max(1) as f64
}

fn never_placed(summary: &Summary) -> f64 {
    summary.never_placed.iter().map(|group| group.jobs).sum::<u64>() as f64
}

/// Seconds as a span, in whole seconds.
pub(super) fn span(seconds: f64) -> String {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float becomes the nearest whole number, or the largest"
    )]
    let whole = seconds.max(0.0).round() as u64;
    Span(whole.saturating_mul(1_000_000)).to_string()
}

pub(super) fn percent(fraction: f64) -> String {
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
