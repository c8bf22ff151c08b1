//! Sections about places: the fleet at its busiest, and runs along the time.

use std::collections::BTreeMap;

use sim::report::{Bar, BarEnd, Course, Lane, MapNode};

use super::Chapter;
use super::over_time::longest;
use super::parts::{BoxView, Cell, Figure, MapView, NodeView, Section, Sheet, Strip, Strips};
use super::scale::{self, WIDTH};
use crate::render::simulation::figures::{percent, span};
use crate::render::words;

/// The most nodes, and the most runs, of a table.
const ROWS_MAX: usize = 60;

/// Cores have the last pen.
const CORES: usize = 7;

pub(super) fn map(chapters: &[Chapter]) -> Section {
    Section {
        id: "map",
        title: "The fleet at its busiest",
        text: "A cell is a device, or the cores of a node (round): the fuller, the more of it was \
               held at the first moment at which most of the fleet was."
            .to_owned(),
        figures: chapters.iter().map(|one| Figure::Map(map_view(&one.course))).collect(),
    }
}

/// The pen of each model: as in the strips of allocation.
fn pens(course: &Course) -> BTreeMap<&str, usize> {
    let models = course.classes.iter().filter(|class| class.kind != "cpu");
    models.enumerate().map(|(pen, class)| (class.model.as_str(), pen)).collect()
}

fn map_view(course: &Course) -> MapView {
    let (map, pens) = (&course.map, pens(course));
    let what = if map.is_of_devices { "devices" } else { "cores" };
    let title = format!(
        "{}: at {}, {} of {what} held",
        course.policy,
        span(map.at_seconds),
        percent(map.held)
    );
    let mut key: Vec<(usize, String)> =
        pens.iter().map(|(model, pen)| (*pen, words::clip(model))).collect();
    key.sort();
    key.push((CORES, "cores".to_owned()));
    let all = map.nodes.len() + map.nodes_left_out;
    let note = match map.nodes_left_out {
        0 => String::new(),
        _ => format!("{} of {all} nodes, evenly spread over the fleet.", map.nodes.len()),
    };
    MapView {
        nodes: map.nodes.iter().map(|node| node_view(node, &pens)).collect(),
        key,
        note,
        sheet: map_sheet(&title, &map.nodes),
        title,
    }
}

fn node_view(node: &MapNode, pens: &BTreeMap<&str, usize>) -> NodeView {
    let cores = Cell {
        pen: CORES,
        percent: scale::percent(node.cores_held),
        text: format!("cores: {} of {} held", percent(node.cores_held), scale::number(node.cores)),
    };
    let device = |device: &sim::report::MapDevice| Cell {
        pen: pens.get(device.model.as_str()).copied().unwrap_or(CORES - 1),
        percent: scale::percent(device.held),
        text: format!(
            "{}: {} held by {}",
            device.model,
            percent(device.held),
            words::count(u64::from(device.runs), "run")
        ),
    };
    NodeView {
        name: words::clip(&node.name),
        is_up: node.is_up,
        cells: [cores].into_iter().chain(node.devices.iter().map(device)).collect(),
        more: node.devices_left_out,
    }
}

fn map_sheet(title: &str, nodes: &[MapNode]) -> Sheet {
    let row = |node: &MapNode| {
        let mut models: BTreeMap<&str, (usize, f64)> = BTreeMap::new();
        for device in &node.devices {
            let (count, held) = models.entry(&device.model).or_default();
            (*count, *held) = (*count + 1, *held + device.held);
        }
        let models = models.iter();
        let models: Vec<_> = models
            .map(|(model, (count, held))| format!("{} of {count} {model}", scale::number(*held)))
            .collect();
        vec![
            words::clip(&node.name),
            if node.is_up { "up" } else { "lost" }.to_owned(),
            percent(node.cores_held),
            words::list(&models, ", "),
        ]
    };
    let more = nodes.len().saturating_sub(ROWS_MAX);
    let mut rows: Vec<Vec<String>> = nodes.iter().take(ROWS_MAX).map(row).collect();
    if more > 0 {
        let more = format!("and {}", words::count(more as u64, "more node"));
        rows.push(vec![more, String::new(), String::new(), String::new()]);
    }
    let head = ["node", "state", "cores held", "devices held"].map(str::to_owned).to_vec();
    Sheet { title: title.to_owned(), head, rows }
}

pub(super) fn lanes(chapters: &[Chapter]) -> Section {
    Section {
        id: "placements",
        title: "Placements",
        text: "What ran where and when: a box is a run, and runs that shared a device lie under \
               each other."
            .to_owned(),
        figures: chapters.iter().map(|one| Figure::Strips(lanes_view(one, chapters))).collect(),
    }
}

fn lanes_view(chapter: &Chapter, chapters: &[Chapter]) -> Strips {
    let (course, seconds) = (&chapter.course, longest(chapters));
    let lanes = &course.lanes;
    let strip = |(position, lane): (usize, &Lane)| {
        let bars = lanes.bars.iter().filter(|bar| bar.lane == position);
        Strip {
            name: place(lane),
            value: String::new(),
            pen: 0,
            slots: lane.slots,
            path: String::new(),
            boxes: bars.map(|bar| box_view(bar, seconds)).collect(),
        }
    };
    let mut left_out = Vec::new();
    if lanes.lanes_left_out > 0 {
        let all = lanes.lanes.len() + lanes.lanes_left_out;
        let shown = lanes.lanes.len();
        left_out.push(format!(
            "Shown are {shown} of {all} devices on which anything ran, evenly spread."
        ));
    }
    if lanes.bars_left_out > 0 {
        let all = lanes.bars.len() + lanes.bars_left_out;
        left_out.push(format!(
            "Of {all} boxes on these, {} are drawn: the longest, and few beside each other.",
            lanes.bars.len()
        ));
    }
    Strips {
        title: course.policy.clone(),
        strips: lanes.lanes.iter().enumerate().map(strip).collect(),
        across: scale::times(seconds),
        note: left_out.join(" "),
        sheet: lanes_sheet(course),
    }
}

fn place(lane: &Lane) -> String {
    let (node, model) = (words::clip(&lane.node), words::clip(&lane.model));
    match lane.device {
        Some(device) => format!("{node} {model} {device}"),
        None => format!("{node} cores"),
    }
}

fn box_view(bar: &Bar, seconds: f64) -> BoxView {
    let width = |seconds_of: f64| WIDTH * seconds_of / seconds.max(f64::MIN_POSITIVE);
    let look = match bar.end {
        BarEnd::Killed | BarEnd::Stopped => "lost",
        BarEnd::Done if bar.is_misplaced => "slow",
        BarEnd::Done | BarEnd::Running => "well",
    };
    BoxView {
        left: scale::number(width(bar.from_seconds)),
        // What is too short to see is drawn as wide as can be seen.
        width: scale::number(width(bar.to_seconds - bar.from_seconds).max(1.0)),
        top: bar.slot,
        look,
        text: format!("{}, {}", words::clip(&bar.job), told(bar)),
    }
}

fn told(bar: &Bar) -> String {
    let became = match bar.end {
        BarEnd::Done if bar.is_misplaced => "done, slow",
        BarEnd::Done => "done",
        BarEnd::Stopped => "stopped",
        BarEnd::Killed => "died with its node",
        BarEnd::Running => "still running",
    };
    format!("{} to {}, {became}", span(bar.from_seconds), span(bar.to_seconds))
}

fn lanes_sheet(course: &Course) -> Sheet {
    let bars = &course.lanes.bars;
    let mut longest: Vec<&Bar> = bars.iter().collect();
    longest.sort_by(|one, other| {
        let length = |bar: &Bar| bar.to_seconds - bar.from_seconds;
        length(other).total_cmp(&length(one))
    });
    let row =
        |bar: &&Bar| vec![words::clip(&bar.job), place(&course.lanes.lanes[bar.lane]), told(bar)];
    let mut rows: Vec<Vec<String>> = longest.iter().take(ROWS_MAX).map(row).collect();
    let more = longest.len().saturating_sub(ROWS_MAX);
    if more > 0 {
        let more = format!("and {}", words::count(more as u64, "shorter run"));
        rows.push(vec![more, String::new(), String::new()]);
    }
    let head = ["job", "where", "when, and what became of it"].map(str::to_owned).to_vec();
    Sheet { title: format!("{}, longest runs first", course.policy), head, rows }
}
