//! Crashes: what is lost when programs die between any two steps.
//!
//! Each seed is one simulation of [`sim::crashes`], in which programs with a
//! journal come and go while the world lives on and much else goes wrong. In
//! come seeds; out goes a table of what went wrong in the lives of programs, by
//! the step at which they died. A law that is broken is named with its seed and
//! the command that repeats it.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use comfy_table::{Table, presets};
use sim::crashes::{Outcome, Plant, Step, Trouble, simulate};

use crate::args::Crashes;
use crate::crew::share;
use crate::record::{Aim, Record};

/// The most breaches that are named.
const NAMED_MAX: usize = 20;

/// What came of all seeds.
pub struct Crashed {
    /// The table, for people.
    pub text: String,
    /// The same for programs.
    pub records: Vec<Record>,
    /// What broke, if anything did.
    pub broken: Option<String>,
}

/// Simulates every seed asked for.
///
/// # Errors
/// If there is no place for journals.
pub fn run(asked: &Crashes) -> anyhow::Result<Crashed> {
    let place = place();
    let seeds: Vec<u64> = match asked.seed {
        Some(seed) => vec![seed],
        None => (0..u64::from(asked.seeds)).collect(),
    };
    let simulated = share(&seeds, |seed| -> anyhow::Result<Outcome> {
        let folder = tempfile::tempdir_in(&place)
            .with_context(|| format!("make a folder for a journal in {}", place.display()))?;
        Ok(simulate(*seed, folder.path(), Plant::default()))
    });
    let mut all = Outcome::default();
    let mut broken = Vec::new();
    for (seed, outcome) in seeds.iter().zip(simulated) {
        let outcome = outcome?;
        all.add(&outcome);
        broken.extend(outcome.breaches.iter().map(|breach| {
            format!("seed {seed}: {breach}; repeat with `cargo run --release -p bench -- crashes --seed {seed}`")
        }));
    }
    let more = broken.len().saturating_sub(NAMED_MAX);
    broken.truncate(NAMED_MAX);
    if more > 0 {
        broken.push(format!("and {more} more"));
    }
    let broken = (!broken.is_empty()).then(|| broken.join("\n"));
    Ok(Crashed { text: text(&all, seeds.len()), records: records(&all, seeds.len()), broken })
}

/// Where journals are fast: in memory, if the system has such a folder.
fn place() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }
}

/// The columns: where programs died, and those that did not die.
fn columns() -> impl Iterator<Item = Option<Step>> {
    Step::ALL.into_iter().map(Some).chain([None])
}

fn name(step: Option<Step>) -> &'static str {
    step.map_or("lived", Step::name)
}

fn times(all: &Outcome, trouble: Trouble, step: Option<Step>) -> u64 {
    all.troubles.get(&(trouble, step)).copied().unwrap_or(0)
}

/// One row a step, as there are more steps than kinds of trouble that fit beside each other.
fn text(all: &Outcome, seeds: usize) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let troubles = Trouble::all();
    let names = troubles.iter().map(|trouble| trouble.name());
    table.set_header(["died", "programs"].into_iter().chain(names));
    for step in columns() {
        let programs =
            step.map_or(seeds as u64, |step| all.deaths.get(&step).copied().unwrap_or(0));
        let counts = troubles.iter().map(|trouble| times(all, *trouble, step));
        let cells = [programs].into_iter().chain(counts).map(|count| count.to_string());
        table.add_row([name(step).to_owned()].into_iter().chain(cells));
    }
    format!(
        "{seeds} seeds, {} turns, {} tasks done, {} failed for good, {} laws broken\n\n{table}\n",
        all.turns,
        all.done,
        all.failed,
        all.breaches.len()
    )
}

fn records(all: &Outcome, seeds: usize) -> Vec<Record> {
    let count = |name: String, count: u64| Record::new(name, count as f64, "", None);
    let mut records = vec![
        count("seeds".to_owned(), seeds as u64),
        count("turns".to_owned(), all.turns),
        count("tasks_done".to_owned(), all.done),
        count("tasks_failed".to_owned(), all.failed),
        Record::new("breaches".to_owned(), all.breaches.len() as f64, "", Some(Aim::Most(0.0))),
    ];
    for step in Step::ALL {
        let deaths = all.deaths.get(&step).copied().unwrap_or(0);
        records.push(count(format!("deaths.{}", step.name()), deaths));
    }
    for trouble in Trouble::all() {
        for step in columns() {
            let called = format!("{}.{}", trouble.name(), name(step));
            records.push(count(called, times(all, trouble, step)));
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_is_simulated_where_one_is_asked_for() {
        let crashed = run(&Crashes { seed: Some(3), ..Crashes::default() }).unwrap();
        assert!(crashed.text.starts_with("1 seeds, "), "{}", crashed.text);
        assert_eq!(crashed.broken, None);
        let breaches = crashed.records.iter().find(|record| record.name == "breaches").unwrap();
        assert_eq!(breaches.met, Some(true));
    }

    #[test]
    fn the_table_has_a_line_for_every_step_and_a_count_for_every_kind_of_trouble() {
        let crashed = run(&Crashes { seeds: 20, ..Crashes::default() }).unwrap();
        for name in columns().map(name) {
            assert!(crashed.text.contains(name), "{name}");
        }
        assert!(crashed.text.contains("20 seeds"));
        let deaths = crashed.records.iter().filter(|it| it.name.starts_with("deaths."));
        assert!(deaths.map(|it| it.value).sum::<f64>() > 0.0);
    }
}
