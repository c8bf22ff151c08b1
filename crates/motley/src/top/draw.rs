//! A model, painted: every state is told by words too, and colours only repeat them.

mod panes;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Clear, Paragraph, Wrap};

use super::model::{Link, Model, Pane, Popup, plain};
use crate::render;

/// With less than that nothing can be told apart.
const WIDTH_LEAST: u16 = 40;
const HEIGHT_LEAST: u16 = 8;

/// From this height on all panes are shown at once, and from this width on two beside each other.
const HEIGHT_ALL: u16 = 30;
const WIDTH_BESIDE: u16 = 110;

/// Title, headings and a line for each phase.
const PHASES_HEIGHT: u16 = 10;

/// Whether colours are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Palette {
    /// They are.
    Coloured,
    /// They are not: the user or the terminal does not want any.
    Plain,
}

impl Palette {
    /// A style of this colour, where there are colours.
    fn of(self, colour: Color) -> Style {
        match self {
            Self::Coloured => Style::new().fg(colour),
            Self::Plain => Style::new(),
        }
    }

    /// The style of how a job or node stands.
    fn of_state(self, state: &str) -> Style {
        match state {
            "running" | "up" => self.of(Color::Green),
            "held" | "blocked" | "drained" => self.of(Color::Yellow),
            "lost" | "failed" => self.of(Color::Red),
            _ => Style::new(),
        }
    }
}

/// Paints a model.
pub fn draw(model: &Model, palette: Palette, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < WIDTH_LEAST || area.height < HEIGHT_LEAST {
        let text = format!("too small: {WIDTH_LEAST} × {HEIGHT_LEAST} at least; q quits");
        return frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }), area);
    }
    let parts =
        Layout::vertical([Constraint::Length(2), Constraint::Fill(1), Constraint::Length(1)]);
    let [head, body, foot] = parts.areas(area);
    frame.render_widget(header(model, palette), head);
    body_of(model, palette, frame, body);
    frame.render_widget(footer(model, palette), foot);
    if let Some(popup) = &model.popup {
        popup_of(popup, frame, body);
    }
}

/// Two lines: the daemon and its jobs.
fn header(model: &Model, palette: Palette) -> Paragraph<'static> {
    let bold = Style::new().add_modifier(Modifier::BOLD);
    let mut first = vec![Span::styled("motley", bold)];
    let gone = |why: &str| {
        let style = palette.of(Color::Red).add_modifier(Modifier::BOLD);
        let text = format!("  DAEMON GONE, what is shown is old: {}", plain(why));
        Span::styled(text, style)
    };
    let Some(picture) = &model.picture else {
        match &model.link {
            Link::Gone(why) => first.push(gone(why)),
            _ => first.push(Span::raw("  waiting for the daemon")),
        }
        return Paragraph::new(Line::from(first));
    };
    let status = &picture.status;
    match &model.link {
        Link::Gone(why) => first.push(gone(why)),
        _ => {
            let of = format!(" {}  policy {}", status.version, plain(&status.policy));
            first.push(Span::raw(of));
            let up = picture.nodes.iter().filter(|node| node.state == "up").count();
            first.push(Span::raw(format!("  nodes {up}/{} up", picture.nodes.len())));
        }
    }
    let jobs: Vec<_> =
        status.jobs.iter().map(|(state, count)| format!("{count} {state}")).collect();
    let jobs = if jobs.is_empty() { "none".to_owned() } else { jobs.join(", ") };
    let rate = match model.rate() {
        Some(rate) if model.link == Link::Up => format!("{rate:.1} tasks/s"),
        _ => "– tasks/s".to_owned(),
    };
    let second = format!("jobs: {jobs}   tasks: {} running, {rate}", status.running);
    Paragraph::new(vec![Line::from(first), Line::raw(second)])
}

/// The keys, the filter that is being written, or what was done last.
fn footer(model: &Model, palette: Palette) -> Paragraph<'static> {
    if model.is_writing {
        let text = model.filters.get(model.pane as usize).cloned().unwrap_or_default();
        return Paragraph::new(format!("show lines with: {text}_"));
    }
    if !model.note.is_empty() {
        return Paragraph::new(model.note.clone()).style(palette.of(Color::Cyan));
    }
    Paragraph::new("q quit  tab pane  / filter  e explain  c cancel  h hold  r release  ? keys")
}

fn body_of(model: &Model, palette: Palette, frame: &mut Frame<'_>, area: Rect) {
    use Constraint::{Fill, Length};
    let pane = |pane: Pane, frame: &mut Frame<'_>, area: Rect| match pane {
        Pane::Jobs => panes::jobs(model, palette, frame, area),
        Pane::Nodes => panes::nodes(model, palette, frame, area),
        Pane::Phases => panes::phases(model, frame, area),
    };
    if area.height < HEIGHT_ALL {
        // One list beside the other where both fit, else the one that keys go to.
        if area.width < WIDTH_BESIDE || model.pane == Pane::Phases {
            return pane(model.pane, frame, area);
        }
        let [left, right] = Layout::horizontal([Fill(3), Fill(2)]).areas(area);
        pane(Pane::Jobs, frame, left);
        return pane(Pane::Nodes, frame, right);
    }
    let [lists, below] = Layout::vertical([Fill(1), Length(PHASES_HEIGHT)]).areas(area);
    let halves = match area.width < WIDTH_BESIDE {
        true => Layout::vertical([Fill(1), Fill(1)]),
        false => Layout::horizontal([Fill(3), Fill(2)]),
    };
    let [jobs, nodes] = halves.areas(lists);
    pane(Pane::Jobs, frame, jobs);
    pane(Pane::Nodes, frame, nodes);
    pane(Pane::Phases, frame, below);
}

fn popup_of(popup: &Popup, frame: &mut Frame<'_>, body: Rect) {
    match popup {
        Popup::Cancel(job, name) => {
            let name = render::clipped(name);
            let text = format!(
                "Cancel job {job} ({name})?\nWhat runs of it is stopped.\n\ny: yes, any other key: no"
            );
            let area = body.centered(Constraint::Max(50), Constraint::Length(7));
            frame.render_widget(Clear, area);
            let block = Block::bordered().title(" cancel ");
            frame.render_widget(Paragraph::new(text).wrap(Wrap { trim: true }).block(block), area);
        }
        Popup::Text { title, lines, passed } => {
            frame.render_widget(Clear, body);
            let more = if lines.len() > 1 { " j, k: move, any other key: close " } else { "" };
            let block = Block::bordered().title(format!(" {title} ")).title_bottom(more);
            let shown: Vec<_> = lines.iter().skip(*passed).map(|line| Line::raw(&**line)).collect();
            let text = Paragraph::new(shown).wrap(Wrap { trim: false });
            frame.render_widget(text.block(block), body);
        }
    }
}
