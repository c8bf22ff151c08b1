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

    #[test]
    fn margins_are_against_the_next() {
        let figure = |name: &str| Figure::named(name).unwrap();
        assert_eq!(margin(&figure("energy_joules"), 75.0, 100.0), "25.0 % less than");
        assert_eq!(margin(&figure("fairness"), 0.9, 0.6), "50.0 % more than");
        assert_eq!(margin(&figure("tasks_done"), 3.0, 0.0), "3.000 against none of");
    }
}
