//! The figures of every policy, side by side.

use fleet::Span;
use sim::report::Summary;

use super::Results;
use crate::render::{lines_of, plain_table};

/// One row of the table.
struct Row {
    title: &'static str,
    value: fn(&Summary) -> f64,
    form: fn(f64) -> String,
}

const ROWS: [Row; 16] = [
    Row { title: "completion, mean", value: |it| it.completion_seconds.mean, form: span },
    Row { title: "completion, 95 %", value: |it| it.completion_seconds.p95, form: span },
    Row { title: "waiting, mean", value: |it| it.wait_seconds.mean, form: span },
    Row { title: "waiting, 95 %", value: |it| it.wait_seconds.p95, form: span },
    Row { title: "slowdown, mean", value: |it| it.slowdown_mean, form: times },
    Row { title: "makespan", value: |it| it.makespan_seconds, form: span },
    Row { title: "GPU utilisation", value: |it| it.gpu_utilisation, form: percent },
    Row { title: "core utilisation", value: |it| it.core_utilisation, form: percent },
    Row { title: "GPUs held at end", value: |it| it.gpu_allocated_at_end, form: percent },
    Row { title: "energy", value: |it| it.energy_joules, form: kilowatt_hours },
    Row { title: "work per joule", value: |it| it.work_per_joule, form: digits },
    Row { title: "deadline misses", value: |it| it.deadline_misses as f64, form: count },
    Row { title: "fairness", value: |it| it.fairness, form: digits },
    Row { title: "fairness, Jain", value: |it| it.fairness_jain, form: digits },
    Row { title: "tasks done", value: |it| it.tasks_done as f64, form: count },
    Row { title: "jobs never placed", value: never_placed, form: count },
];

/// A table of figures by policy: means over the seeds.
pub(super) fn table(results: &Results) -> String {
    let mut table = plain_table();
    table.set_header([""].into_iter().chain(results.policies.iter().map(String::as_str)));
    for Row { title, value, form } in &ROWS {
        let cells = results.summaries.iter().map(|seeds| form(mean(seeds, *value)));
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
