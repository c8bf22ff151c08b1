//! What is shown and what every key does, without a terminal, a daemon or a clock.

use std::collections::BTreeMap;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::{Color, Modifier};
use serde_json::json;
use server::api::{JobView, NodeView, StatusView};

use super::*;
use crate::client::Change;

fn job(id: u64, name: &str, state: &str, reason: Option<&str>) -> JobView {
    let runs = match state {
        "running" => json!([{ "task": 0, "attempt": 0, "node": "here", "grant": "", "since": 0 }]),
        _ => json!([]),
    };
    let view = json!({
        "id": id, "name": name, "user": 0, "tenant": "anna", "priority": 0, "state": state,
        "tasks": 4, "waiting": 2, "running": 1, "done": 1, "failed": 0, "cancelled": 0,
        "reason": reason, "command": "true", "submitted": 0, "ended": null, "status": 0,
        "runs": runs,
    });
    serde_json::from_value(view).unwrap()
}

fn nodes() -> Vec<NodeView> {
    let view = json!([
        { "name": "here", "state": "up", "model": "epyc", "runs": 1,
          "cores": { "free": 6.0, "whole": 8.0 },
          "memory_bytes": { "free": 17179869184.0, "whole": 34359738368.0 },
          "devices": [{ "model": "A100", "kind": "gpu", "share": { "free": 0.25, "whole": 1.0 },
                        "memory_bytes": { "free": 0.0, "whole": 42949672960.0 },
                        "celsius": 61.0, "watts": 240.4, "busy": 0.87 }] },
        { "name": "there", "state": "drained", "model": "xeon", "runs": 0,
          "cores": { "free": 4.0, "whole": 4.0 },
          "memory_bytes": { "free": 0.0, "whole": 0.0 }, "devices": [] },
    ]);
    serde_json::from_value(view).unwrap()
}

fn status(ended_tasks: u64) -> StatusView {
    let phase = |phase: &str| {
        json!({ "phase": phase, "count": 12, "mean_ms": 1.5, "p50_ms": 1.0, "p95_ms": 2.25,
                "p99_ms": 3.0, "max_ms": 4.125 })
    };
    let phases: Vec<_> =
        ["collect", "match", "decide", "write", "order", "start", "whole"].map(phase).into();
    let jobs = BTreeMap::from([("done", 9), ("held", 1), ("running", 1), ("waiting", 1)]);
    let view = json!({
        "version": "1.2.3", "pid": 7, "directory": "/d", "policy": "default", "jobs": jobs,
        "running": 1, "ended_tasks": ended_tasks, "notes": [], "phases": phases,
    });
    serde_json::from_value(view).unwrap()
}

fn picture(seconds: u64, ended: u64) -> Heard {
    let jobs = vec![
        job(3, "wide", "waiting", Some("1 node has 8 cores in place of 64")),
        job(2, "held back", "held", Some("held; motley job release lets it run")),
        job(1, "train", "running", None),
    ];
    let at = Duration::from_secs(seconds);
    Heard::Picture(Box::new(Picture { status: status(ended), jobs, nodes: nodes(), at }))
}

fn model() -> Model {
    let mut model = Model::default();
    model.hear(picture(1, 10));
    model
}

fn press(model: &mut Model, code: KeyCode) -> Option<Wish> {
    model.press(KeyEvent::new(code, KeyModifiers::NONE))
}

fn letters(model: &mut Model, text: &str) -> Vec<Wish> {
    text.chars().filter_map(|letter| press(model, KeyCode::Char(letter))).collect()
}

fn terminal(model: &Model, palette: Palette, (width, height): (u16, u16)) -> Terminal<TestBackend> {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(model, palette, frame)).unwrap();
    terminal
}

/// The lines of a screen, without the space at their ends.
fn screen(model: &Model, size: (u16, u16)) -> String {
    let terminal = terminal(model, Palette::Coloured, size);
    let (width, cells) = (usize::from(size.0), &terminal.backend().buffer().content);
    let line = |cells: &[ratatui::buffer::Cell]| {
        let line: String = cells.iter().map(ratatui::buffer::Cell::symbol).collect();
        line.trim_end().to_owned()
    };
    cells.chunks(width).map(line).collect::<Vec<_>>().join("\n")
}

#[test]
fn a_small_screen_shows_the_pane_that_keys_go_to() {
    let mut model = model();
    let jobs = screen(&model, (80, 24));
    let lines: Vec<_> = jobs.lines().collect();
    assert_eq!(lines[0], "motley 1.2.3  policy default  nodes 1/2 up");
    assert_eq!(
        lines[1],
        "jobs: 9 done, 1 held, 1 running, 1 waiting   tasks: 1 running, – tasks/s"
    );
    assert!(lines[2].starts_with("┏ » jobs 3 ━"), "{jobs}");
    let row = "┃3      wide               waiting  1/4         1 node has 8 cores in place of ";
    assert!(lines[4].starts_with(row), "{jobs}");
    assert!(lines[6].contains("running  1/4         on here"), "{jobs}");
    assert!(lines[23].starts_with("q quit  tab pane"), "{jobs}");
    assert!(!jobs.contains("epyc") && !jobs.contains("p95"), "{jobs}");
    press(&mut model, KeyCode::Tab);
    let nodes = screen(&model, (80, 24));
    let node = "┃here           up      cores [##......] 2/8  mem [####....] 16/32 GiB  1 run";
    assert!(nodes.contains(node), "{nodes}");
    let device =
        "┃  A100                  share [######..] 0.8/1  mem [########] 40/40 GiB  87 % bu";
    assert!(nodes.contains(device.get(..device.len() - 6).unwrap()), "{nodes}");
    press(&mut model, KeyCode::Tab);
    let phases = screen(&model, (80, 24));
    assert!(phases.contains("┃match    12       1.500     1.000     2.250     3.000"), "{phases}");
}

#[test]
fn a_large_screen_shows_all_panes_and_what_devices_tell() {
    let text = screen(&model(), (120, 40));
    for part in ["» jobs 3", " nodes 2", " phases of turns", "on here", "drained", "whole"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let mut model = model();
    press(&mut model, KeyCode::Tab);
    let text = screen(&model, (100, 24));
    assert!(text.contains("mem [########] 40/40 GiB  87 % busy  61 °C  240 W"), "{text}");
    let beside = screen(&model, (120, 20));
    assert!(beside.contains(" jobs 3") && beside.contains("» nodes 2"), "{beside}");
}

#[test]
fn a_screen_that_is_too_small_says_so() {
    assert!(screen(&model(), (39, 24)).contains("too small: 40 × 8 at least"));
    assert!(screen(&model(), (80, 7)).contains("too small"));
    for (width, height) in [(1, 1), (40, 8), (300, 100)] {
        screen(&model(), (width, height));
    }
}

#[test]
fn without_colours_the_text_is_the_same() {
    let (model, size) = (model(), (120, 40));
    let colours = |palette| -> Vec<Color> {
        let terminal = terminal(&model, palette, size);
        let cells = &terminal.backend().buffer().content;
        cells.iter().map(|cell| cell.fg).filter(|colour| *colour != Color::Reset).collect()
    };
    assert!(!colours(Palette::Coloured).is_empty());
    assert!(colours(Palette::Plain).is_empty());
    let text = |palette| terminal(&model, palette, size).backend().to_string();
    assert_eq!(text(Palette::Plain), text(Palette::Coloured));
}

#[test]
fn the_chosen_line_is_marked_and_in_sight() {
    let mut model = Model::default();
    let Heard::Picture(mut many) = picture(1, 0) else { panic!("a picture") };
    many.jobs = (0..1_000).rev().map(|id| job(id, "one", "waiting", Some("no room"))).collect();
    model.hear(Heard::Picture(many));
    press(&mut model, KeyCode::End);
    let terminal = terminal(&model, Palette::Plain, (80, 24));
    let buffer = terminal.backend().buffer();
    let marked = |row: u16| buffer[(2, row)].modifier.contains(Modifier::REVERSED);
    let rows: Vec<u16> = (0..24).filter(|row| marked(*row)).collect();
    assert_eq!(rows, [21], "the last line of the list");
    assert_eq!(buffer[(1, 21)].symbol(), "0");
}

#[test]
fn keys_move_within_a_list_and_between_panes() {
    let mut model = model();
    let chosen = |model: &Model| model.chosen().map(|job| job.id);
    for (key, expected) in [
        (KeyCode::Up, 3),
        (KeyCode::Down, 2),
        (KeyCode::Char('j'), 1),
        (KeyCode::Char('j'), 1),
        (KeyCode::Char('k'), 2),
        (KeyCode::Home, 3),
        (KeyCode::PageDown, 1),
        (KeyCode::PageUp, 3),
        (KeyCode::Char('G'), 1),
        (KeyCode::Char('g'), 3),
        (KeyCode::End, 1),
    ] {
        assert_eq!(press(&mut model, key), None);
        assert_eq!(chosen(&model), Some(expected), "{key:?}");
    }
    for (key, pane) in [
        (KeyCode::Tab, Pane::Nodes),
        (KeyCode::Tab, Pane::Phases),
        (KeyCode::Tab, Pane::Jobs),
        (KeyCode::BackTab, Pane::Phases),
    ] {
        press(&mut model, key);
        assert_eq!(model.pane, pane);
    }
}

#[test]
fn keys_ask_to_explain_hold_and_release_the_chosen_job() {
    let mut model = model();
    press(&mut model, KeyCode::Down);
    let wishes = letters(&mut model, "ehr");
    let changes = [Wish::Change(Change::Hold, 2), Wish::Change(Change::Release, 2)];
    assert_eq!(wishes, [&[Wish::Explain(2)][..], &changes].concat());
    press(&mut model, KeyCode::Tab);
    assert_eq!(letters(&mut model, "ehrc"), []);
    assert!(model.note.contains("tab goes to the jobs") && model.popup.is_none());
}

#[test]
fn a_job_is_cancelled_only_once_that_is_confirmed() {
    let mut model = model();
    assert_eq!(letters(&mut model, "c"), []);
    assert_eq!(model.popup, Some(Popup::Cancel(3, "wide".to_owned())));
    assert!(screen(&model, (80, 24)).contains("Cancel job 3 (wide)?"));
    for no in [KeyCode::Char('n'), KeyCode::Esc, KeyCode::Enter, KeyCode::Char('q')] {
        assert_eq!(press(&mut model, no), None);
        assert!(model.popup.is_none() && !model.is_over, "{no:?}");
        letters(&mut model, "c");
    }
    // Others come and go: what was asked about is what is cancelled.
    let Heard::Picture(mut next) = picture(2, 0) else { panic!("a picture") };
    next.jobs.insert(0, job(4, "new", "waiting", None));
    model.hear(Heard::Picture(next));
    assert_eq!(letters(&mut model, "y"), [Wish::Change(Change::Cancel, 3)]);
    assert!(model.popup.is_none());
}

#[test]
fn a_filter_is_written_kept_and_dropped() {
    let mut model = model();
    let shown = |model: &Model| -> Vec<u64> { model.jobs().iter().map(|job| job.id).collect() };
    letters(&mut model, "/TRAq");
    assert_eq!((shown(&model), model.is_over), (vec![], false));
    assert!(screen(&model, (80, 24)).contains("show lines with: TRAq_"));
    assert!(screen(&model, (80, 24)).contains("no jobs that wait or run with this text"));
    press(&mut model, KeyCode::Backspace);
    assert_eq!(shown(&model), [1]);
    press(&mut model, KeyCode::Enter);
    assert_eq!(letters(&mut model, "e"), [Wish::Explain(1)]);
    assert!(screen(&model, (80, 24)).contains("» jobs 1 of 3 with \"TRA\""));
    press(&mut model, KeyCode::Esc);
    assert_eq!(shown(&model), [3, 2, 1]);
    letters(&mut model, "/64");
    press(&mut model, KeyCode::Esc);
    assert_eq!((shown(&model), model.is_writing), (vec![3, 2, 1], false));
    press(&mut model, KeyCode::Tab);
    letters(&mut model, "/a100");
    press(&mut model, KeyCode::Enter);
    let nodes = screen(&model, (80, 24));
    assert!(nodes.contains("» nodes 1 with \"a100\"") && !nodes.contains("there"), "{nodes}");
    press(&mut model, KeyCode::Tab);
    letters(&mut model, "/");
    assert!(!model.is_writing, "phases have no filter");
    let long = "/".repeat(300);
    let mut model = Model::default();
    letters(&mut model, &long);
    assert_eq!(model.filters[0].len(), 100);
}

#[test]
fn a_text_lies_over_the_panes_and_can_be_moved_through() {
    let mut model = model();
    let text = (0..50).map(|line| format!("line {line}\n")).collect();
    model.hear(Heard::Text("job 3".to_owned(), text));
    let top = screen(&model, (80, 24));
    assert!(top.contains(" job 3 ") && top.contains("line 0") && !top.contains("line 30"), "{top}");
    press(&mut model, KeyCode::PageDown);
    letters(&mut model, "j");
    let moved = screen(&model, (80, 24));
    assert!(!moved.contains("line 10 ") && moved.contains("line 29"), "{moved}");
    press(&mut model, KeyCode::End);
    assert!(screen(&model, (80, 24)).contains("line 49"));
    letters(&mut model, "q");
    assert!(model.popup.is_none() && !model.is_over);
    letters(&mut model, "?");
    assert!(screen(&model, (80, 24)).contains("cancel the job, once that is confirmed"));
}

#[test]
fn a_daemon_that_is_gone_is_told_until_it_is_back() {
    let mut model = Model::default();
    assert!(screen(&model, (80, 24)).starts_with("motley  waiting for the daemon"));
    model.hear(picture(1, 10));
    model.hear(picture(3, 30));
    assert!(screen(&model, (80, 24)).contains("1 running, 10.0 tasks/s"));
    model.hear(Heard::Gone("connection refused".to_owned()));
    let gone = screen(&model, (80, 24));
    assert!(gone.contains("DAEMON GONE, what is shown is old: connection refused"), "{gone}");
    assert!(gone.contains("wide") && gone.contains("– tasks/s"), "{gone}");
    model.hear(picture(9, 0));
    let back = screen(&model, (80, 24));
    assert!(!back.contains("GONE") && back.contains("the daemon is back"), "{back}");
    model.hear(picture(11, 1));
    assert_eq!(model.rate(), Some(0.5));
    model.hear(picture(12, 0));
    assert_eq!(model.rate(), None, "another daemon counts anew");
}

#[test]
fn what_was_done_is_noted_until_the_next_key() {
    let mut model = model();
    model.hear(Heard::Outcome("job 3 is held".to_owned()));
    assert!(screen(&model, (80, 24)).ends_with("\njob 3 is held"));
    press(&mut model, KeyCode::Down);
    assert!(model.note.is_empty());
}

#[test]
fn names_cannot_move_the_cursor() {
    let mut model = model();
    let Heard::Picture(mut next) = picture(2, 0) else { panic!("a picture") };
    next.jobs[0] = job(9, "a\u{1b}[2Jb", "waiting", Some("c\nd\u{7}"));
    model.hear(Heard::Picture(next));
    let text = terminal(&model, Palette::Plain, (80, 24)).backend().to_string();
    assert!(!text.contains(['\u{1b}', '\u{7}']) && text.contains("c d"), "{text}");
}

#[test]
fn the_program_ends_by_q_and_by_control_c() {
    let mut one = model();
    letters(&mut one, "q");
    assert!(one.is_over);
    let mut other = model();
    letters(&mut other, "/");
    other.press(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    assert!(other.is_over);
    let mut third = model();
    assert_eq!(third.press(KeyEvent::new(KeyCode::Char('d'), KeyModifiers::CONTROL)), None);
    assert!(!third.is_over);
}
