//! Who won, by how much.

use sim::report::{Better, Figure};

use super::Results;

/// The figures that are told in words.
const TOLD: [(&str, &str); 10] = [
    ("completion_seconds_mean", "completion, mean"),
    ("completion_seconds_p95", "completion, 95 %"),
    ("wait_seconds_mean", "waiting, mean"),
    ("tasks_misplaced", "tasks misplaced"),
    ("gpu_utilisation", "GPU utilisation"),
    ("work_per_joule", "work per joule"),
    ("energy_joules", "energy"),
    ("deadline_misses", "deadline misses"),
    ("fairness", "fairness"),
    ("fairness_jain", "fairness, Jain"),
];

/// A line for each figure: who is best, and by how much against the next. None for one policy
/// alone.
pub(super) fn text(results: &Results) -> Option<String> {
    if results.policies.len() < 2 {
        return None;
    }
    let mut text = "Who won, by how much against the next:\n".to_owned();
    for (name, title) in TOLD {
        let verdict = verdict(&Figure::named(name)?, results);
        text.push_str(&format!("  {title}: {verdict}\n"));
    }
    let mut all = results.summaries.iter().flatten();
    if all.any(|summary| summary.jobs_never_placed() > 0) {
        let verdict = verdict(&Figure::named("jobs_never_placed")?, results);
        text.push_str(&format!("  jobs never placed: {verdict}\n"));
    }
    Some(text)
}

fn verdict(figure: &Figure, results: &Results) -> String {
    let means = results.summaries.iter().map(|seeds| figure.mean(seeds)).enumerate();
    let mut order: Vec<(usize, f64)> =
        means.filter_map(|(index, mean)| Some((index, mean?))).collect();
    order.sort_by(|(_, one), (_, other)| match figure.better {
        Better::Less => one.total_cmp(other),
        Better::More => other.total_cmp(one),
    });
    let Some((best, best_mean)) = order.first().copied() else {
        return "nothing to measure".to_owned();
    };
    if !can_compare(figure, results) {
        return "not comparable: tasks done differ".to_owned();
    }
    let first = &results.policies[best];
    let Some((next, next_mean)) = order.get(1).copied() else {
        return format!("{first}; of the others there is nothing to measure");
    };
    let second = &results.policies[next];
    if best_mean == next_mean {
        return format!("{first} and {second} are level");
    }
    let margin = margin(figure, best_mean, next_mean);
    let mut text = format!("{first}, {margin} {second}");
    if results.seeds() > 1 {
        let (one, other) = (&results.summaries[best], &results.summaries[next]);
        let won = one.iter().zip(other).filter(|(one, other)| figure.wins(one, other)).count();
        text.push_str(&format!(", on {won} of {} seeds", results.seeds()));
    }
    text
}

/// Whether the figure says who is better, on every seed.
fn can_compare(figure: &Figure, results: &Results) -> bool {
    (0..results.seeds()).all(|seed| {
        let summaries: Vec<_> = results.summaries.iter().map(|seeds| &seeds[seed]).collect();
        figure.can_compare(&summaries)
    })
}

fn margin(figure: &Figure, best: f64, next: f64) -> String {
    let (less, more) = match figure.better {
        Better::Less => ("less than", ""),
        Better::More => ("", "more than"),
    };
    let word = if less.is_empty() { more } else { less };
    if next == 0.0 {
        return format!("{best:.3} against none of");
    }
    let percent = 100.0 * (best - next).abs() / next.abs();
    format!("{percent:.1} % {word}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use sim::report::{NeverPlaced, Spread, Summary, Why, summarise};
    use sim::scenario::{Ending, Outcome};

    /// Results of policies called `a`, `b`, …: tasks done and seconds to complete, seed by seed.
    fn results(policies: &[&[(u64, Option<f64>)]]) -> Results {
        let spread = |mean: f64| Spread { mean, p50: mean, p95: mean, max: mean };
        let (inventory, workload) = (sim::bundled::inventory(), sim::Workload::default());
        let outcome = Outcome {
            policy: String::new(),
            seed: 0,
            ending: Ending::Finished,
            at: fleet::Time::ZERO,
            turns: 0,
            steps: 0,
            waiting: Vec::new(),
            drifts: 0,
            violations: Vec::new(),
            hits: Default::default(),
            told: Vec::new(),
            log: Vec::new(),
        };
        let blank = summarise(&inventory, &workload, &outcome);
        let seeds = policies.iter().map(|seeds| {
            let summary = |(tasks_done, seconds): &(u64, Option<f64>)| Summary {
                tasks_done: *tasks_done,
                completion_seconds: seconds.map(spread),
                ..blank.clone()
            };
            seeds.iter().map(summary).collect()
        });
        let names = ["a", "b", "c"].map(str::to_owned);
        let mut results = Results::new(&[]);
        results.policies = names[..policies.len()].to_vec();
        results.summaries = seeds.collect();
        results
    }

    fn completion(policies: &[&[(u64, Option<f64>)]]) -> String {
        verdict(&Figure::named("completion_seconds_mean").unwrap(), &results(policies))
    }

    #[test]
    fn the_best_is_named_with_its_margin_and_the_seeds_that_it_won() {
        assert_eq!(completion(&[&[(3, Some(8.0))], &[(3, Some(6.0))]]), "b, 25.0 % less than a");
        let seeds: [&[_]; 2] =
            [&[(3, Some(8.0)), (3, Some(2.0))], &[(3, Some(9.0)), (3, Some(1.0))]];
        assert_eq!(completion(&seeds), "a and b are level");
        let seeds: [&[_]; 2] =
            [&[(3, Some(7.0)), (3, Some(2.0))], &[(3, Some(9.0)), (3, Some(1.0))]];
        assert_eq!(completion(&seeds), "a, 10.0 % less than b, on 1 of 2 seeds");
    }

    #[test]
    fn nobody_wins_with_nothing_to_measure_or_with_fewer_tasks() {
        assert_eq!(completion(&[&[(0, None)], &[(0, None)]]), "nothing to measure");
        let fewer = completion(&[&[(3, Some(8.0))], &[(2, Some(6.0))], &[(0, None)]]);
        assert_eq!(fewer, "not comparable: tasks done differ");
        // The only job has two tasks, and one of them was done.
        let part = completion(&[&[(1, None)], &[(1, Some(6.0))]]);
        assert_eq!(part, "b; of the others there is nothing to measure");
    }

    #[test]
    fn jobs_never_placed_are_told_where_there_are_any() {
        let mut results = results(&[&[(3, Some(8.0))], &[(3, Some(6.0))]]);
        assert!(!text(&results).unwrap().contains("never placed"));
        results.summaries[0][0].never_placed = vec![NeverPlaced {
            why: Why::Effort,
            jobs: 2,
            tasks: 5,
            example: fleet::JobId(0),
            reason: fleet::Reason::Effort,
        }];
        let told = text(&results).unwrap();
        assert!(told.ends_with("  jobs never placed: b, 100.0 % less than a\n"), "{told}");
    }

    #[test]
    fn margins_are_against_the_next() {
        let figure = |name: &str| Figure::named(name).unwrap();
        assert_eq!(margin(&figure("energy_joules"), 75.0, 100.0), "25.0 % less than");
        assert_eq!(margin(&figure("fairness"), 0.9, 0.6), "50.0 % more than");
        assert_eq!(margin(&figure("tasks_done"), 3.0, 0.0), "3.000 against none of");
    }
}
