//! What keys do.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::model::{Model, Pane, Popup, Wish};
use crate::client::Change;

/// How many lines a page is.
const PAGE: usize = 10;

/// The longest filter.
const FILTER_LETTERS_MAX: usize = 100;

const HELP: &str = "\
up, down, k, j       the line before, the next
page up, page down   ten lines
home, end, g, G      the first line, the last
tab, shift-tab       the next pane, the one before
/                    show only lines with this text; enter keeps it, esc drops it
e                    why the job waits or went where it went
c                    cancel the job, once that is confirmed
h, r                 hold the job, release it
?                    this text
q                    quit";

impl Model {
    /// Does what a key says; what is wanted of others is given back.
    pub fn press(&mut self, key: KeyEvent) -> Option<Wish> {
        if key.modifiers.contains(KeyModifiers::CONTROL) {
            self.is_over |= key.code == KeyCode::Char('c');
            return None;
        }
        match &mut self.popup {
            Some(Popup::Cancel(job, _)) => {
                let wish = Wish::Change(Change::Cancel, *job);
                self.popup = None;
                return (key.code == KeyCode::Char('y')).then_some(wish);
            }
            Some(Popup::Text { lines, passed, .. }) => {
                match moved(key.code, *passed) {
                    Some(to) => *passed = to.min(lines.len().saturating_sub(1)),
                    None => self.popup = None,
                }
                return None;
            }
            None => {}
        }
        if self.is_writing {
            self.write(key.code);
            return None;
        }
        self.note.clear();
        if let Some(place) = moved(key.code, self.places[self.pane as usize]) {
            self.choose(place);
            return None;
        }
        self.command(key.code)
    }

    /// What a key wants where nothing lies over the panes.
    fn command(&mut self, code: KeyCode) -> Option<Wish> {
        match code {
            KeyCode::Char('q') => self.is_over = true,
            KeyCode::Tab => self.pane = other(self.pane, 1),
            KeyCode::BackTab => self.pane = other(self.pane, 2),
            KeyCode::Char('/') if self.pane != Pane::Phases => self.is_writing = true,
            KeyCode::Esc => self.filter(String::clear),
            KeyCode::Char('?') => {
                let lines = HELP.lines().map(str::to_owned).collect();
                self.popup = Some(Popup::Text { title: "keys".to_owned(), lines, passed: 0 });
            }
            KeyCode::Char('e') => return self.own_job().map(|(job, _)| Wish::Explain(job)),
            KeyCode::Char('h') => return self.change(Change::Hold),
            KeyCode::Char('r') => return self.change(Change::Release),
            KeyCode::Char('c') => {
                self.popup = self.own_job().map(|(job, name)| Popup::Cancel(job, name));
            }
            _ => {}
        }
        None
    }

    fn change(&mut self, change: Change) -> Option<Wish> {
        self.own_job().map(|(job, _)| Wish::Change(change, job))
    }

    /// The chosen job, where keys go to jobs; a hint where there is none.
    fn own_job(&mut self) -> Option<(u64, String)> {
        let job = self.chosen().filter(|_| self.pane == Pane::Jobs);
        let job = job.map(|job| (job.id, job.name.clone()));
        if job.is_none() {
            "choose a job first: tab goes to the jobs".clone_into(&mut self.note);
        }
        job
    }

    /// Changes the filter by a key.
    fn write(&mut self, code: KeyCode) {
        match code {
            KeyCode::Enter => self.is_writing = false,
            KeyCode::Esc => {
                self.is_writing = false;
                self.filter(String::clear);
            }
            KeyCode::Backspace => self.filter(|text| {
                text.pop();
            }),
            KeyCode::Char(letter) => self.filter(|text| {
                if text.chars().count() < FILTER_LETTERS_MAX {
                    text.push(letter);
                }
            }),
            _ => {}
        }
    }

    /// Changes the filter of the pane that keys go to, which phases have none of.
    fn filter(&mut self, change: impl FnOnce(&mut String)) {
        if let Some(text) = self.filters.get_mut(self.pane as usize) {
            change(text);
            self.settle();
        }
    }
}

/// Where a key moves from a line, if it is one that moves.
fn moved(code: KeyCode, from: usize) -> Option<usize> {
    Some(match code {
        KeyCode::Up | KeyCode::Char('k') => from.saturating_sub(1),
        KeyCode::Down | KeyCode::Char('j') => from + 1,
        KeyCode::PageUp => from.saturating_sub(PAGE),
        KeyCode::PageDown => from + PAGE,
        KeyCode::Home | KeyCode::Char('g') => 0,
        KeyCode::End | KeyCode::Char('G') => usize::MAX,
        _ => return None,
    })
}

/// The pane so many after this one.
fn other(pane: Pane, steps: usize) -> Pane {
    [Pane::Jobs, Pane::Nodes, Pane::Phases][(pane as usize + steps) % 3]
}
