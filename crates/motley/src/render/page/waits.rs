//! Sections about waiting: how long, and why.

use super::Chapter;
use super::parts::{BarRow, Bars, Figure, Section};
use super::scale;
use crate::render::reason::why;
use crate::render::simulation::figures::span;
use crate::render::words;

/// The most reasons told of one policy.
const REASONS_MAX: usize = 8;

pub(super) fn waits(chapters: &[Chapter]) -> Section {
    Section {
        id: "waits",
        title: "Waiting times",
        text: "How long tasks waited for their first start, from the arrival of their job. Bars \
               have one scale."
            .to_owned(),
        figures: chapters.iter().map(|one| Figure::Bars(distribution(one, chapters))).collect(),
    }
}

fn distribution(chapter: &Chapter, chapters: &[Chapter]) -> Bars {
    let of = |chapter: &Chapter| -> Vec<u64> {
        let course = &chapter.course;
        let bins = course.waits.iter().map(|bin| bin.tasks);
        bins.chain([course.tasks_never_started]).collect()
    };
    let most = chapters.iter().flat_map(of).max().unwrap_or(0).max(1);
    let counts = of(chapter);
    let all: u64 = counts.iter().sum();
    let names = chapter.course.waits.iter().map(|bin| match bin.to_seconds {
        Some(to) if bin.from_seconds == 0 => format!("under {}", span(to as f64)),
        Some(to) => format!("{} to {}", span(bin.from_seconds as f64), span(to as f64)),
        None => format!("{} and more", span(bin.from_seconds as f64)),
    });
    let row = |(name, tasks): (String, u64)| {
        let part = 100.0 * tasks as f64 / all.max(1) as f64;
        BarRow {
            name,
            percent: scale::percent(tasks as f64 / most as f64),
            value: format!("{tasks} ({} %)", scale::number(part)),
            text: String::new(),
        }
    };
    let names = names.chain(["never started".to_owned()]);
    let told = names.zip(counts).filter(|(name, tasks)| *tasks > 0 || name != "never started");
    Bars {
        title: chapter.course.policy.clone(),
        rows: told.map(row).collect(),
        note: String::new(),
    }
}

pub(super) fn reasons(chapters: &[Chapter]) -> Section {
    Section {
        id: "reasons",
        title: "Why tasks waited",
        text:
            "By the constraint at which the node fell out that came furthest, turn after turn. A \
               bar is the time waited, summed over tasks; bars have one scale."
                .to_owned(),
        figures: chapters.iter().map(|one| Figure::Bars(causes(one, chapters))).collect(),
    }
}

fn causes(chapter: &Chapter, chapters: &[Chapter]) -> Bars {
    let all = chapters.iter().flat_map(|chapter| &chapter.course.reasons);
    let most = all.map(|reason| reason.task_seconds).fold(0.0, f64::max);
    let reasons = &chapter.course.reasons;
    let row = |(reason, example): (&sim::report::WaitReason, &String)| BarRow {
        name: why(reason.why),
        percent: scale::percent(reason.task_seconds / most.max(f64::MIN_POSITIVE)),
        value: format!(
            "{}, at most {} at once",
            span(reason.task_seconds),
            words::count(reason.tasks_max, "task")
        ),
        text: format!("First: {example}"),
    };
    let note = match reasons.len() {
        0 => "No task waited past the turn of its arrival.".to_owned(),
        count if count > REASONS_MAX => {
            format!("{} left out.", words::count((count - REASONS_MAX) as u64, "rarer reason"))
        }
        _ => String::new(),
    };
    let told = reasons.iter().zip(&chapter.examples).take(REASONS_MAX);
    Bars { title: chapter.course.policy.clone(), rows: told.map(row).collect(), note }
}
