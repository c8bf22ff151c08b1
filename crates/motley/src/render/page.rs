//! The report of a simulation as one page of HTML, and as a file of JSON.
//!
//! In come what was simulated, the figures of every policy and seed, and the
//! course of the first seed under each policy ([`Chapter`]). The page is one
//! file: its style and drawings are in it, it asks for nothing from elsewhere,
//! and runs no scripts. Its size is bounded; whatever is left out is said.

mod over_time;
mod parts;
mod places;
mod scale;
mod tradeoffs;
mod waits;

use anyhow::Context as _;
use askama::Template as _;
use serde::Serialize;
use sim::report::Course;
use sim::{Inventory, Workload};

use super::simulation::{self, Input, Results};
use super::{Names, reason, words};
use parts::{Figure, Section};

/// The most policies of which the course is told; figures are told of all.
pub const CHAPTERS_MAX: usize = 8;

/// The course of one policy, with what has to be told in words.
#[derive(Debug)]
pub struct Chapter {
    course: Course,
    /// For each reason of waiting, the first job that waited for it, in a sentence.
    examples: Vec<String>,
}

impl Chapter {
    /// Puts into words what numbers cannot say.
    #[must_use]
    pub fn new(inventory: &Inventory, workload: &Workload, course: Course) -> Self {
        let nodes = inventory.nodes.iter().map(|node| node.name.as_str()).collect();
        let names = Names { classes: &inventory.classes, nodes, externals: &[], now: None };
        let example = |waited: &sim::report::WaitReason| {
            let job = workload.jobs.iter().find(|job| job.id == waited.example)?;
            Some(format!("{} {}", words::clip(&job.name), reason(&names, job, &waited.reason)))
        };
        let examples = course.reasons.iter().map(|one| example(one).unwrap_or_default()).collect();
        Self { course, examples }
    }
}

/// The report as a file of JSON: the document of `motley simulate --json`, and the courses.
#[derive(Debug, Serialize)]
struct Document<'a> {
    /// The version of this document's form.
    format: u32,
    simulation: simulation::Document<'a>,
    /// Of the first seed, by policy.
    courses: Vec<&'a Course>,
    /// Of how many policies the course is not told.
    courses_left_out: usize,
}

/// The report as JSON text.
///
/// # Errors
/// If it cannot be written as JSON.
pub fn json(input: &Input, results: &Results, chapters: &[Chapter]) -> anyhow::Result<String> {
    let document = Document {
        format: 1,
        simulation: simulation::json(input, results),
        courses: chapters.iter().map(|chapter| &chapter.course).collect(),
        courses_left_out: results.policies.len() - chapters.len(),
    };
    let mut text = serde_json::to_string(&document).context("write the report as JSON")?;
    text.push('\n');
    Ok(text)
}

/// The page, ready for its template.
#[derive(askama::Template)]
#[template(path = "report.html")]
struct Page {
    title: String,
    lead: Vec<String>,
    sections: Vec<Section>,
}

/// The report as a page.
///
/// # Errors
/// If the template fails, which it does only where memory does.
pub fn html(input: &Input, results: &Results, chapters: &[Chapter]) -> anyhow::Result<String> {
    let first = results.first_seed();
    let mut sections = vec![tradeoffs::tradeoffs(&first)];
    sections.extend([over_time::allocation(chapters), over_time::queue(chapters)]);
    sections.extend(over_time::fragmentation(chapters));
    sections.extend(over_time::power(chapters));
    sections.extend([waits::waits(chapters), waits::reasons(chapters)]);
    sections.extend([places::map(chapters), places::lanes(chapters)]);
    let mut lead: Vec<String> = input.text().lines().map(str::to_owned).collect();
    lead.extend(simulation::endings(results).lines().map(str::to_owned));
    if results.seeds() > 1 {
        lead.push("This page shows the first seed; report.json has the figures of all.".to_owned());
    }
    let left_out = results.policies.len() - chapters.len();
    if left_out > 0 {
        let policies = words::count(left_out as u64, "policy").replace("policys", "policies");
        lead.push(format!("The course of {policies} is left out; the figures are of all."));
    }
    let names = results.policies.join(", ");
    let page = Page { title: format!("Simulation: {names}"), lead, sections };
    page.render().context("render the report")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    const STYLE: &str = include_str!("../../templates/report.css");

    /// Colours by name; the dark ones replace the light ones.
    fn colours(dark: bool) -> BTreeMap<&'static str, [f64; 3]> {
        let (light, rest) = STYLE.split_once("@media (prefers-color-scheme: dark)").unwrap();
        let (darker, _) = rest.split_once("* {").unwrap();
        let parts =
            |text: &'static str| text.split("--").skip(1).filter_map(|part| part.split_once(": #"));
        let all = parts(light).chain(parts(darker).filter(|_| dark));
        let channel = |hex: &str| f64::from(u8::from_str_radix(hex, 16).unwrap()) / 255.0;
        all.map(|(name, hex)| (name, [&hex[..2], &hex[2..4], &hex[4..6]].map(channel))).collect()
    }

    /// Contrast as the Web Content Accessibility Guidelines define it.
    fn contrast(one: [f64; 3], other: [f64; 3]) -> f64 {
        let linear = |part: f64| match part <= 0.04045 {
            true => part / 12.92,
            false => ((part + 0.055) / 1.055).powf(2.4),
        };
        let light = |[red, green, blue]: [f64; 3]| {
            0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue) + 0.05
        };
        let (one, other) = (light(one), light(other));
        one.max(other) / one.min(other)
    }

    #[test]
    fn texts_and_drawings_have_contrast_in_light_and_dark() {
        for dark in [false, true] {
            let colours = colours(dark);
            let mut pairs = Vec::new();
            for text in ["ink", "soft", "link"] {
                pairs.extend([(text, "paper", 4.5), (text, "card", 4.5)]);
            }
            // Letters of the colour of a card stand on pens.
            for pen in ["p0", "p1", "p2", "p3", "p4", "p5", "p6", "p7"] {
                pairs.extend([(pen, "card", 4.5), (pen, "rail", 3.0)]);
            }
            pairs.extend(["well", "slow", "lost"].map(|look| (look, "rail", 3.0)));
            for (one, other, least) in pairs {
                let contrast = contrast(colours[one], colours[other]);
                assert!(contrast >= least, "{one} on {other}, dark {dark}: {contrast:.2}");
            }
        }
    }
}
