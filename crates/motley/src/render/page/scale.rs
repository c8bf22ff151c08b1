//! From values to places on a page.

use super::parts::Mark;
use crate::render::simulation::figures::span;

/// Drawings are so wide and high; the page stretches them.
pub(super) const WIDTH: f64 = 1000.0;
pub(super) const HEIGHT: f64 = 300.0;

/// Steps between marks of a time axis, in seconds.
const SPANS: [f64; 21] = [
    0.1,
    1.0,
    2.0,
    5.0,
    10.0,
    30.0,
    60.0,
    120.0,
    300.0,
    600.0,
    1800.0,
    3600.0,
    7200.0,
    10_800.0,
    21_600.0,
    43_200.0,
    86_400.0,
    172_800.0,
    604_800.0,
    1_209_600.0,
    2_419_200.0,
];

/// The most marks of an axis besides its start.
const MARKS_MAX: f64 = 6.0;

/// A place in percent, with as many digits as can be seen.
pub(super) fn percent(part: f64) -> String {
    number(100.0 * part)
}

/// A number with at most one digit after the point.
pub(super) fn number(value: f64) -> String {
    // A zero may be a negative one.
    format!("{}", (value * 10.0).round() / 10.0 + 0.0)
}

/// Marks of a time axis from zero to so many seconds.
pub(super) fn times(seconds: f64) -> Vec<Mark> {
    let step = span_step(seconds / MARKS_MAX);
    marks(step, (0.0, seconds), &|at| span(at))
}

/// The least round span that is not below this many seconds.
pub(super) fn span_step(least: f64) -> f64 {
    SPANS.into_iter().find(|step| *step >= least).unwrap_or(least)
}

/// The top of an axis from zero with room for this value, and its marks.
pub(super) fn values(most: f64, form: &dyn Fn(f64) -> String) -> (f64, Vec<Mark>) {
    let most = if most > 0.0 { most } else { 1.0 };
    let step = step(most / 4.0);
    let top = (most / step).ceil() * step;
    (top, marks(step, (0.0, top), form))
}

/// Ends with some room for these values; none for no values.
pub(super) fn range(values: &[f64]) -> Option<(f64, f64)> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let width = if most > least { most - least } else { most.abs().max(1.0) };
    (least <= most).then_some((least - 0.15 * width, most + 0.15 * width))
}

/// One, two or five times a power of ten: the least that is not below.
pub(super) fn step(least: f64) -> f64 {
    let power = 10_f64.powf(least.log10().floor());
    let times = [1.0, 2.0, 5.0].into_iter().find(|times| times * power >= least);
    times.unwrap_or(10.0) * power
}

/// Marks at multiples of a step.
pub(super) fn marks(step: f64, (from, to): (f64, f64), form: &dyn Fn(f64) -> String) -> Vec<Mark> {
    let mut marks = Vec::new();
    let mut at = (from / step).ceil() * step;
    while step > 0.0 && at <= to + step * 1e-6 && marks.len() < 16 {
        marks.push(Mark { text: form(at), percent: percent((at - from) / (to - from)) });
        at += step;
    }
    marks
}

/// A path along the means of bins: steps would be truer, and a line is easier to read. Bins end
/// where the course does, which may be before the end of the axis.
pub(super) fn line(means: &[Option<f64>], (across, top): (f64, f64), height: f64) -> String {
    let mut path = String::new();
    let mut is_drawn = false;
    for (bin, mean) in means.iter().enumerate() {
        let Some(mean) = mean else {
            is_drawn = false;
            continue;
        };
        let left = WIDTH * across * (bin as f64 + 0.5) / means.len() as f64;
        let height = height * (1.0 - (mean / top).clamp(0.0, 1.0));
        let verb = if is_drawn { 'L' } else { 'M' };
        path.push_str(&format!("{verb}{} {}", number(left), number(height)));
        is_drawn = true;
    }
    path
}

/// A path around what lies under the means of bins, as steps.
pub(super) fn area(means: &[f64], (across, top): (f64, f64), height: f64) -> String {
    let mut path = format!("M0 {}", number(height));
    let mut last = String::new();
    for (bin, mean) in means.iter().enumerate() {
        let left = WIDTH * across * bin as f64 / means.len() as f64;
        let here = number(height * (1.0 - (mean / top).clamp(0.0, 1.0)));
        // Bins of equal height are one step.
        if here != last {
            path.push_str(&format!("H{}V{here}", number(left)));
            last = here;
        }
    }
    path.push_str(&format!("H{}V{}Z", number(WIDTH * across), number(height)));
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(marks: &[Mark]) -> Vec<&str> {
        marks.iter().map(|mark| &*mark.text).collect()
    }

    #[test]
    fn marks_are_round() {
        assert_eq!(texts(&times(5.0 * 3600.0)), ["0s", "1h", "2h", "3h", "4h", "5h"]);
        assert_eq!(texts(&times(15.0 * 3600.0)), ["0s", "3h", "6h", "9h", "12h", "15h"]);
        let (top, marks) = values(870.0, &number);
        assert_eq!((top, texts(&marks)), (1000.0, vec!["0", "500", "1000"]));
        assert_eq!(range(&[10.0, 20.0]), Some((8.5, 21.5)));
        assert_eq!(texts(&super::marks(5.0, (8.5, 21.5), &number)), ["10", "15", "20"]);
        assert_eq!((step(0.3), step(7.0), span_step(61.0)), (0.5, 10.0, 120.0));
    }

    #[test]
    fn axes_of_nothing_have_an_end() {
        assert_eq!(values(0.0, &number).0, 1.0);
        assert_eq!(range(&[]), None);
        assert!(range(&[3.0, 3.0]).is_some_and(|(from, to)| from < 3.0 && to > 3.0));
        assert!(times(0.0).len() < 20);
    }

    #[test]
    fn what_is_not_known_is_not_drawn() {
        let means = [None, Some(1.0), Some(0.0), None, Some(1.0)];
        assert_eq!(line(&means, (1.0, 1.0), 10.0), "M300 0L500 10M900 0");
        assert_eq!(area(&[1.0, 1.0, 0.5, 0.0], (0.5, 1.0), 10.0), "M0 10H0V0H250V5H375V10H500V10Z");
    }
}
