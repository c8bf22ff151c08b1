//! Sections about what was going on over time.

use sim::report::{ClassCourse, Course};

use super::Chapter;
use super::parts::{Curve, Figure, Plot, Section, Sheet, Strip, Strips};
use super::scale::{self, HEIGHT};
use crate::render::simulation::figures::{percent, span};
use crate::render::words;

/// A strip's drawing is so high.
const STRIP: f64 = 30.0;

/// Tables say what drawings show at so many moments.
const ROWS: usize = 12;

/// The pen of what is of no class.
const NONE: usize = 7;

/// The longest course: the end of every time axis.
pub(super) fn longest(chapters: &[Chapter]) -> f64 {
    chapters.iter().map(|chapter| chapter.course.seconds).fold(0.0, f64::max)
}

/// What part of the time axis a course covers.
fn covered(course: &Course, seconds: f64) -> f64 {
    if seconds > 0.0 { course.seconds / seconds } else { 1.0 }
}

pub(super) fn allocation(chapters: &[Chapter]) -> Section {
    let panel = |chapter: &Chapter| {
        let mean = |means: &[f64]| percent(means.iter().sum::<f64>() / means.len().max(1) as f64);
        strips(chapter, chapters, (1.0, held(&chapter.course)), &mean, &|value| percent(value))
    };
    Section {
        id: "allocation",
        title: "Allocation over time",
        text: "How much of each device model was held; a full strip is all of it. On the right \
               the mean."
            .to_owned(),
        figures: chapters.iter().map(panel).collect(),
    }
}

pub(super) fn queue(chapters: &[Chapter]) -> Section {
    let most = |means: &[f64]| means.iter().copied().fold(0.0, f64::max);
    let of_course = |course: &Course| {
        let classes = course.classes.iter().map(|class| most(&class.waiting));
        classes.fold(most(&course.waiting_for_none), f64::max)
    };
    let top = chapters.iter().map(|one| of_course(&one.course)).fold(0.0, f64::max);
    let count = |value: f64| scale::number(value);
    let most_of = |means: &[f64]| format!("max {}", count(most(means)));
    let panel = |chapter: &Chapter| {
        let top = if top > 0.0 { top } else { 1.0 };
        strips(chapter, chapters, (top, waiting(&chapter.course)), &most_of, &count)
    };
    let text = match top > 0.0 {
        true => format!(
            "Tasks that waited, by the model that each is declared to run fastest on. A full strip \
             is {} waiting tasks, mean of its moment; all strips have one scale.",
            count(top)
        ),
        false => "No task waited.".to_owned(),
    };
    let figures = chapters.iter().filter(|_| top > 0.0).map(panel).collect();
    Section { id: "queue", title: "Queue over time", text, figures }
}

/// What one strip shows: name, pen and means.
type Series<'a> = (String, usize, &'a Vec<f64>);

fn held(course: &Course) -> Vec<Series<'_>> {
    let classes = course.classes.iter().enumerate();
    classes.map(|(pen, class)| (name(class), pen, &class.allocated)).collect()
}

/// Only models that anything ever waited for.
fn waiting(course: &Course) -> Vec<Series<'_>> {
    let classes = course.classes.iter().enumerate();
    let classes = classes.map(|(pen, class)| (name(class), pen, &class.waiting));
    let none = ("no model of the fleet".to_owned(), NONE, &course.waiting_for_none);
    let is_shown = |(_, _, means): &Series<'_>| means.iter().any(|mean| *mean > 0.0);
    classes.chain([none]).filter(is_shown).collect()
}

fn name(class: &ClassCourse) -> String {
    format!("{} × {}", words::clip(&class.model), scale::number(class.count))
}

/// One policy's strips, a class each.
fn strips(
    chapter: &Chapter,
    chapters: &[Chapter],
    (top, series): (f64, Vec<Series<'_>>),
    value: &dyn Fn(&[f64]) -> String,
    form: &dyn Fn(f64) -> String,
) -> Figure {
    let (course, seconds) = (&chapter.course, longest(chapters));
    let strip = |(name, pen, means): &Series<'_>| Strip {
        name: name.clone(),
        value: value(means),
        pen: *pen,
        slots: 0,
        path: scale::area(means, (covered(course, seconds), top), STRIP),
        boxes: Vec::new(),
    };
    let cell = |bin: usize, means: &[f64]| means.get(bin).map_or(String::new(), |mean| form(*mean));
    let head = series.iter().map(|(name, _, _)| name.clone()).collect();
    let mut notes = Vec::new();
    if course.classes_left_out > 0 {
        let models = words::count(course.classes_left_out as u64, "model");
        notes.push(format!("{models} with fewer devices left out."));
    }
    if series.len() < course.classes.len() {
        notes.push("Nothing waited for the other models.".to_owned());
    }
    Figure::Strips(Strips {
        title: course.policy.clone(),
        strips: series.iter().map(strip).collect(),
        across: scale::times(seconds),
        note: notes.join(" "),
        sheet: sheet(&course.policy, course.seconds, head, &|bin| {
            series.iter().map(|(_, _, means)| cell(bin, means)).collect()
        }),
    })
}

/// A table of what is known at a few moments, evenly spread.
fn sheet(
    title: &str,
    seconds: f64,
    head: Vec<String>,
    cells: &dyn Fn(usize) -> Vec<String>,
) -> Sheet {
    let row = |position: usize| {
        let bin = position * sim::report::BINS / ROWS;
        let at = span(seconds * (bin as f64 + 0.5) / sim::report::BINS as f64);
        [at].into_iter().chain(cells(bin)).collect()
    };
    Sheet {
        title: title.to_owned(),
        head: ["at".to_owned()].into_iter().chain(head).collect(),
        rows: (0..ROWS).map(row).collect(),
    }
}

pub(super) fn fragmentation(chapters: &[Chapter]) -> Option<Section> {
    let known = |chapter: &Chapter| !chapter.course.fragmentation.is_empty();
    chapters.iter().any(known).then(|| Section {
        id: "fragmentation",
        title: "Fragmentation over time",
        text: "Free device capacity that a job of the arriving mix is expected to find unusable, \
               of all device capacity: what the objective of that name keeps low."
            .to_owned(),
        figures: vec![plot(chapters, "Unusable", &|course| course.fragmentation.clone(), &percent)],
    })
}

pub(super) fn power(chapters: &[Chapter]) -> Option<Section> {
    let watts = |course: &Course| course.watts.iter().copied().map(Some).collect();
    let energy = |course: &Course| {
        let hours = course.seconds / course.watts.len().max(1) as f64 / 3600.0;
        let mut sum = 0.0;
        let add = |watts: &f64| {
            sum += watts * hours / 1000.0;
            Some(sum)
        };
        course.watts.iter().map(add).collect()
    };
    let is_known = chapters.iter().any(|one| one.course.watts.iter().any(|watts| *watts > 0.0));
    is_known.then(|| Section {
        id: "power",
        title: "Power and energy",
        text: "Drawn by the nodes that were up, and its sum.".to_owned(),
        figures: vec![
            plot(chapters, "Power", &watts, &|watts| {
                format!("{} kW", scale::number(watts / 1000.0))
            }),
            plot(chapters, "Energy so far", &energy, &|hours| {
                format!("{} kWh", scale::number(hours))
            }),
        ],
    })
}

/// One curve for each policy.
fn plot(
    chapters: &[Chapter],
    title: &str,
    of: &dyn Fn(&Course) -> Vec<Option<f64>>,
    form: &dyn Fn(f64) -> String,
) -> Figure {
    let seconds = longest(chapters);
    let means: Vec<Vec<Option<f64>>> = chapters.iter().map(|one| of(&one.course)).collect();
    let most = means.iter().flatten().flatten().copied().fold(0.0, f64::max);
    let (top, up) = scale::values(most, form);
    let curve = |(pen, (chapter, means)): (usize, (&Chapter, &Vec<Option<f64>>))| Curve {
        name: chapter.course.policy.clone(),
        pen,
        path: scale::line(means, (covered(&chapter.course, seconds), top), HEIGHT),
    };
    let head = chapters.iter().map(|chapter| chapter.course.policy.clone()).collect();
    // Courses are unlike long: a row of the table is one moment for all.
    let cell = |bin: usize, chapter: &Chapter, means: &[Option<f64>]| {
        let place = bin as f64 / covered(&chapter.course, seconds).max(f64::MIN_POSITIVE);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a position among the bins, or beyond them"
        )]
        let mean = means.get(place as usize).copied().flatten();
        mean.map_or_else(|| "–".to_owned(), form)
    };
    let cells = |bin: usize| {
        chapters.iter().zip(&means).map(|(chapter, means)| cell(bin, chapter, means)).collect()
    };
    Figure::Plot(Plot {
        title: title.to_owned(),
        curves: chapters.iter().zip(&means).enumerate().map(curve).collect(),
        up,
        across: scale::times(seconds),
        sheet: sheet(title, seconds, head, &cells),
    })
}
