//! Differences and their intervals, as a table.

use sim::report::CONFIDENCE;

use super::{Compared, Other, Row, Verdict};
use crate::render::simulation::figures::{self, NOTHING, ROWS};
use crate::render::{lines_of, plain_table};

/// How the intervals of the tables were reckoned.
pub(super) fn method(compared: &Compared) -> String {
    let percent = CONFIDENCE * 100.0;
    let mut text = format!(
        "Differences are those to {}, paired by seed, with {percent} % intervals of their mean by \
         Student's t.\nWhere an interval holds zero the difference may be chance. Intervals are \
         not corrected for the number of figures:\nof 20 true zeros about one seems better or \
         worse.\n",
        compared.first
    );
    if compared.is_without_chance() {
        text.push_str(
            "Every seed gave the same differences: nothing in this workload is drawn, and the \
             intervals say nothing.\nUse --rate-error, or streams in the jobs' file.\n",
        );
    }
    text
}

/// A table of one policy against the first.
pub(super) fn table(first: &str, other: &Other) -> String {
    let mut table = plain_table();
    let [figure, difference, from, to] = ["figure", "difference", "from", "to"];
    let verdict = format!("than {first}");
    table.set_header([figure, first, &other.policy, difference, from, to, &verdict]);
    for (title, name, form) in ROWS {
        let Some(row) = other.figures.iter().find(|row| row.figure == name) else { continue };
        let value = |value: Option<f64>| value.map_or_else(|| NOTHING.to_owned(), form);
        let signed = |value: Option<f64>| {
            value.map_or_else(|| NOTHING.to_owned(), |value| signed(value, form))
        };
        let difference = row.difference;
        table.add_row([
            title.to_owned(),
            value(row.first_mean),
            value(row.mean),
            signed(difference.map(|it| it.mean)),
            signed(difference.map(|it| it.interval.low)),
            signed(difference.map(|it| it.interval.high)),
            words(row),
        ]);
    }
    lines_of(&table)
}

/// A difference with its sign, in the form of the values; a difference of percents is of points.
fn signed(value: f64, form: fn(f64) -> String) -> String {
    let text = match form(0.0) == figures::span(0.0) && value.abs() < 10.0 {
        // Whole seconds would hide it.
        true => format!("{:.2}s", value.abs()),
        false => form(value.abs()),
    };
    let text = match text.strip_suffix(" %") {
        Some(percent) => format!("{percent} points"),
        None => text,
    };
    // What is written as zero has no sign.
    let is_zero = !text.contains(|letter: char| ('1'..='9').contains(&letter));
    match value {
        _ if is_zero => text,
        value if value < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}

fn words(row: &Row) -> String {
    let won = |word: &str| match row.difference {
        Some(it) if word == "worse" => {
            let worse = row.seeds - it.seeds_better - it.seeds_equal;
            format!("{word}, on {worse} of {} seeds", row.seeds)
        }
        Some(it) => format!("{word}, on {} of {} seeds", it.seeds_better, row.seeds),
        None => word.to_owned(),
    };
    match row.verdict {
        Verdict::Better => won("better"),
        Verdict::Worse => won("worse"),
        Verdict::Open => "may be chance".to_owned(),
        Verdict::Equal => "equal".to_owned(),
        Verdict::TasksDiffer => "not comparable: tasks done differ".to_owned(),
        Verdict::Nothing => "nothing to measure".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign_and_percents_become_points() {
        assert_eq!(signed(-0.042, figures::percent), "−4.2 points");
        assert_eq!(signed(75.4, figures::span), "+1m15s");
        assert_eq!(signed(-0.25, figures::span), "−0.25s");
        assert_eq!(signed(0.000_01, figures::percent), "0.0 points");
    }
}
