//! Who won, by how much.

use sim::report::{Better, FIGURES, Figure, Summary};

use super::Results;
use super::figures::mean;

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
        let figure = FIGURES.iter().find(|figure| figure.name == name)?;
        text.push_str(&format!("  {title}: {}\n", verdict(figure, results)));
    }
    Some(text)
}

fn verdict(figure: &Figure, results: &Results) -> String {
    let means: Vec<f64> = results.summaries.iter().map(|seeds| mean(seeds, figure.value)).collect();
    let mut order: Vec<usize> = (0..means.len()).collect();
    order.sort_by(|one, other| match figure.better {
        Better::Less => means[*one].total_cmp(&means[*other]),
        Better::More => means[*other].total_cmp(&means[*one]),
    });
    let (best, next) = (order[0], order[1]);
    let (first, second) = (&results.policies[best], &results.policies[next]);
    if means[best] == means[next] {
        return format!("{first} and {second} are level");
    }
    let margin = margin(figure, means[best], means[next]);
    let mut text = format!("{first}, {margin} {second}");
    if results.seeds() > 1 {
        let (one, other) = (&results.summaries[best], &results.summaries[next]);
        let won = one.iter().zip(other).filter(|(a, b)| wins(figure, a, b)).count();
        text.push_str(&format!(", on {won} of {} seeds", results.seeds()));
    }
    text
}

fn wins(figure: &Figure, one: &Summary, other: &Summary) -> bool {
    figure.better.wins((figure.value)(one), (figure.value)(other))
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
        let figure = |name: &str| *FIGURES.iter().find(|figure| figure.name == name).unwrap();
        assert_eq!(margin(&figure("energy_joules"), 75.0, 100.0), "25.0 % less than");
        assert_eq!(margin(&figure("fairness"), 0.9, 0.6), "50.0 % more than");
        assert_eq!(margin(&figure("tasks_done"), 3.0, 0.0), "3.000 against none of");
    }
}
