//! The three lists. Only the lines that fit are made, so that a long list costs no more.

use ratatui::Frame;
use ratatui::layout::{Constraint, Rect};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Cell, Paragraph, Row, Table};
use server::api::{Amount, DeviceView, JobView, NodeView};

use super::super::model::{Model, NodeLine, Pane, plain};
use super::Palette;
use crate::render;

/// How wide a gauge is, brackets not counted.
const GAUGE: usize = 8;

/// A frame with a title, and with the filter where there is one; the pane that keys go to has
/// another border and says so.
fn framed(model: &Model, pane: Pane, title: &str) -> Block<'static> {
    let is_own = model.pane == pane;
    let filter = model.filters.get(pane as usize).filter(|text| !text.is_empty());
    let filter = filter.map_or(String::new(), |text| format!(" with {text:?}"));
    let mark = if is_own { "» " } else { "" };
    let block = Block::bordered().title(format!(" {mark}{title}{filter} "));
    match is_own {
        true => block.border_type(BorderType::Thick),
        false => block,
    }
}

/// The lines that fit, so that the chosen one is among them: from which on, and how many.
fn window(count: usize, place: usize, room: usize) -> std::ops::Range<usize> {
    let from = place.saturating_sub(room / 2).min(count.saturating_sub(room));
    from..count.min(from + room)
}

/// The style of a line.
fn line_style(model: &Model, pane: Pane, place: usize) -> Style {
    let is_chosen = model.pane == pane && model.places[pane as usize] == place;
    if is_chosen { Style::new().add_modifier(Modifier::REVERSED) } else { Style::new() }
}

/// What to say in a pane without lines.
fn nothing(model: &Model, pane: Pane, what: &str) -> String {
    match model.filters.get(pane as usize).is_some_and(|text| !text.is_empty()) {
        true => format!("no {what} with this text; esc shows all"),
        false if model.picture.is_none() => "not known yet".to_owned(),
        false => format!("no {what}"),
    }
}

pub(super) fn jobs(model: &Model, palette: Palette, frame: &mut Frame<'_>, area: Rect) {
    let jobs = model.jobs();
    let known = model.jobs_known();
    let title = match jobs.len() as u64 {
        shown if shown < known => format!("jobs {shown} of {known}"),
        shown => format!("jobs {shown}"),
    };
    let block = framed(model, Pane::Jobs, &title);
    if jobs.is_empty() {
        let text = nothing(model, Pane::Jobs, "jobs that wait or run");
        return frame.render_widget(Paragraph::new(text).block(block), area);
    }
    let room = usize::from(area.height.saturating_sub(3));
    let shown = window(jobs.len(), model.places[0], room);
    let row = |place: usize| {
        let job = jobs[place];
        Row::new([
            Cell::from(job.id.to_string()),
            Cell::from(render::clipped(&job.name)),
            Cell::from(Span::styled(job.state.clone(), palette.of_state(&job.state))),
            Cell::from(tasks(job)),
            Cell::from(place_or_reason(job)),
        ])
        .style(line_style(model, Pane::Jobs, place))
    };
    let widths = [
        Constraint::Length(6),
        Constraint::Max(18),
        Constraint::Length(8),
        Constraint::Length(11),
        Constraint::Fill(1),
    ];
    let heads = Row::new(["job", "name", "state", "tasks", "reason, or where"]);
    let heads = heads.style(Style::new().add_modifier(Modifier::BOLD));
    let table = Table::new(shown.map(row), widths).header(heads).block(block);
    frame.render_widget(table, area);
}

/// How the tasks stand, in short: `3/10` of which so many have ended.
fn tasks(job: &JobView) -> String {
    format!("{}/{}", job.done + job.failed + job.cancelled, job.tasks)
}

/// Why a job waits, or where its runs are.
fn place_or_reason(job: &JobView) -> String {
    if let Some(reason) = &job.reason {
        return plain(reason);
    }
    let mut nodes: Vec<_> = job.runs.iter().map(|run| plain(&run.node)).collect();
    nodes.dedup();
    match nodes.is_empty() {
        true => String::new(),
        false => format!("on {}", nodes.join(", ")),
    }
}

pub(super) fn nodes(model: &Model, palette: Palette, frame: &mut Frame<'_>, area: Rect) {
    let lines = model.node_lines();
    let count = lines.iter().filter(|line| matches!(line, NodeLine::Node(_))).count();
    let block = framed(model, Pane::Nodes, &format!("nodes {count}"));
    if lines.is_empty() {
        let text = nothing(model, Pane::Nodes, "nodes");
        return frame.render_widget(Paragraph::new(text).block(block), area);
    }
    let room = usize::from(area.height.saturating_sub(2));
    let shown = window(lines.len(), model.places[1], room);
    let line = |place: usize| {
        let line = match lines[place] {
            NodeLine::Node(node) => node_line(node, palette),
            NodeLine::Device(device) => Line::raw(device_line(device)),
        };
        line.style(line_style(model, Pane::Nodes, place))
    };
    let lines: Vec<_> = shown.map(line).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

fn node_line(node: &NodeView, palette: Palette) -> Line<'static> {
    let NodeView { name, state, cores, memory_bytes, runs, .. } = node;
    let mut name: String = plain(name).chars().take(14).collect();
    name = format!("{name:<14} ");
    let cores = format!(" cores {} {}", gauge(*cores), of(*cores));
    let memory = format!("  mem {} {} GiB", gauge(*memory_bytes), of(gib(*memory_bytes)));
    Line::from(vec![
        Span::raw(name),
        Span::styled(format!("{state:<7}"), palette.of_state(state)),
        Span::raw(format!("{cores}{memory}  {}", render::count(*runs as u64, "run"))),
    ])
}

fn device_line(device: &DeviceView) -> String {
    let DeviceView { model, share, memory_bytes, celsius, watts, busy, .. } = device;
    let model: String = plain(model).chars().take(19).collect();
    let mut line = format!("  {model:<20}  share {} {}", gauge(*share), of(*share));
    if memory_bytes.whole > 0.0 {
        let held = of(gib(*memory_bytes));
        line.push_str(&format!("  mem {} {held} GiB", gauge(*memory_bytes)));
    }
    if let Some(busy) = busy {
        line.push_str(&format!("  {:.0} % busy", busy * 1e2));
    }
    if let Some(celsius) = celsius {
        line.push_str(&format!("  {celsius:.0} °C"));
    }
    if let Some(watts) = watts {
        line.push_str(&format!("  {watts:.0} W"));
    }
    line
}

/// How much of something is held, as a bar.
fn gauge(amount: Amount) -> String {
    let part = if amount.whole > 0.0 { 1.0 - amount.free / amount.whole } else { 0.0 };
    let filled = (0..GAUGE).filter(|cell| (*cell as f64 + 0.5) / (GAUGE as f64) <= part).count();
    format!("[{}{}]", "#".repeat(filled), ".".repeat(GAUGE - filled))
}

/// What is held of what there is: `3.5/8`.
fn of(amount: Amount) -> String {
    let short = |number: f64| {
        let text = format!("{number:.1}");
        text.trim_end_matches(".0").to_owned()
    };
    format!("{}/{}", short(amount.whole - amount.free), short(amount.whole))
}

fn gib(bytes: Amount) -> Amount {
    let gib = f64::from(1 << 30);
    Amount { free: bytes.free / gib, whole: bytes.whole / gib }
}

pub(super) fn phases(model: &Model, frame: &mut Frame<'_>, area: Rect) {
    let block = framed(model, Pane::Phases, "phases of turns, milliseconds");
    let phases = model.picture.iter().flat_map(|picture| &picture.status.phases);
    let phases: Vec<_> = phases.collect();
    if phases.is_empty() {
        let text = nothing(model, Pane::Phases, "turns yet");
        return frame.render_widget(Paragraph::new(text).block(block), area);
    }
    let room = usize::from(area.height.saturating_sub(3));
    let row = |place: usize| {
        let view = phases[place];
        let figures = [view.mean_ms, view.p50_ms, view.p95_ms, view.p99_ms, view.max_ms];
        let figures = figures.map(|millis| format!("{millis:.3}"));
        let cells = [view.phase.clone(), view.count.to_string()].into_iter().chain(figures);
        Row::new(cells).style(line_style(model, Pane::Phases, place))
    };
    let rows = window(phases.len(), model.places[2], room).map(row);
    let heads = Row::new(["phase", "count", "mean", "p50", "p95", "p99", "max"]);
    let heads = heads.style(Style::new().add_modifier(Modifier::BOLD));
    let widths = [8, 8, 9, 9, 9, 9, 9].map(Constraint::Length);
    frame.render_widget(Table::new(rows, widths).header(heads).block(block), area);
}
