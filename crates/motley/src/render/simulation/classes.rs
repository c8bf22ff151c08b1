//! What each policy did with each device model.

use sim::report::ClassRow;

use super::Results;
use super::figures::{percent, span};
use crate::render::{lines_of, plain_table};

/// A table of device models: how many, and by policy how much they were used, how many tasks they
/// ran, and how long those had waited. Means over the seeds.
pub(super) fn table(results: &Results) -> String {
    let mut table = plain_table();
    let titles = ["model".to_owned(), "count".to_owned()];
    table.set_header(titles.into_iter().chain(results.policies.iter().cloned()));
    let Some(first) = results.summaries.first().and_then(|seeds| seeds.first()) else {
        return String::new();
    };
    for (position, row) in first.classes.iter().enumerate() {
        let cells = results.summaries.iter().map(|seeds| {
            let mean = |value: fn(&ClassRow) -> f64| {
                let sum: f64 = seeds.iter().map(|seed| value(&seed.classes[position])).sum();
                sum / seeds.len().max(1) as f64
            };
            let (used, wait) = (mean(|it| it.utilisation), mean(|it| it.wait_seconds_mean));
            let tasks = mean(|it| it.tasks_done as f64);
            format!("{} used, {tasks:.0} tasks, waited {}", percent(used), span(wait))
        });
        let names = [row.model.clone(), row.count.to_string()];
        table.add_row(names.into_iter().chain(cells));
    }
    lines_of(&table)
}
