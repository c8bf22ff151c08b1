//! What is shown: the picture of a moment, and what the user looks at in it.

use std::collections::VecDeque;
use std::time::Duration;

use server::api::{DeviceView, JobView, NodeView, StatusView};

use crate::client::Change;

/// Over so many pictures the rate of tasks is told.
const RATE_PICTURES: usize = 6;

/// A list that can be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pane {
    /// The jobs that have not ended.
    Jobs,
    /// The nodes, and below each its devices.
    Nodes,
    /// What turns cost.
    Phases,
}

/// What a daemon says of one moment.
#[derive(Clone, Debug)]
pub struct Picture {
    /// How it is.
    pub status: StatusView,
    /// Its jobs that have not ended, the newest first.
    pub jobs: Vec<JobView>,
    /// Its nodes.
    pub nodes: Vec<NodeView>,
    /// When that was, since the dashboard began.
    pub at: Duration,
}

/// What came from the daemon.
#[derive(Clone, Debug)]
pub enum Heard {
    /// How everything is.
    Picture(Box<Picture>),
    /// It does not answer, for this reason.
    Gone(String),
    /// What was asked, as text under a title.
    Text(String, String),
    /// What was done, or why it was not.
    Outcome(String),
}

/// What is wanted of the daemon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// Why a job waits or went where it went.
    Explain(u64),
    /// That a job is changed.
    Change(Change, u64),
}

/// How the daemon can be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Link {
    /// It has not answered yet.
    New,
    /// It answers.
    Up,
    /// It does not, for this reason.
    Gone(String),
}

/// What lies over the panes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Popup {
    /// A text, from this line on.
    Text {
        /// What it is about.
        title: String,
        /// Its lines.
        lines: Vec<String>,
        /// How many are passed over.
        passed: usize,
    },
    /// Whether this job is to be cancelled, which has this name.
    Cancel(u64, String),
}

/// A line of the nodes: a node, or one of its devices.
#[derive(Clone, Copy, Debug)]
pub(super) enum NodeLine<'a> {
    Node(&'a NodeView),
    Device(&'a DeviceView),
}

/// All that is shown.
#[derive(Clone, Debug)]
pub struct Model {
    /// The latest picture.
    pub picture: Option<Picture>,
    /// How the daemon can be reached.
    pub link: Link,
    /// The pane that keys go to.
    pub pane: Pane,
    /// What lies over it.
    pub popup: Option<Popup>,
    /// What was done last.
    pub note: String,
    /// What jobs and nodes must have in their line to be shown.
    pub filters: [String; 2],
    /// Whether a filter is being written.
    pub is_writing: bool,
    /// Whether the user has seen enough.
    pub is_over: bool,
    /// The chosen line of each pane.
    pub(super) places: [usize; 3],
    /// The chosen job, which stays chosen when others come and go.
    pub(super) job: Option<u64>,
    /// When how many tasks had ended.
    ended: VecDeque<(Duration, u64)>,
}

impl Default for Model {
    fn default() -> Self {
        Self {
            picture: None,
            link: Link::New,
            pane: Pane::Jobs,
            popup: None,
            note: String::new(),
            filters: [String::new(), String::new()],
            is_writing: false,
            is_over: false,
            places: [0; 3],
            job: None,
            ended: VecDeque::new(),
        }
    }
}

impl Model {
    /// Takes in what came from the daemon.
    pub fn hear(&mut self, heard: Heard) {
        match heard {
            Heard::Picture(picture) => self.look(*picture),
            Heard::Gone(why) => {
                self.link = Link::Gone(why);
                self.ended.clear();
            }
            Heard::Text(title, text) => {
                let lines = text.lines().map(plain).collect();
                self.popup = Some(Popup::Text { title, lines, passed: 0 });
            }
            Heard::Outcome(outcome) => self.note = plain(&outcome),
        }
    }

    fn look(&mut self, picture: Picture) {
        if matches!(self.link, Link::Gone(_)) {
            "the daemon is back".clone_into(&mut self.note);
        }
        self.link = Link::Up;
        let ended = picture.status.ended_tasks;
        if self.ended.back().is_some_and(|(_, before)| *before > ended) {
            // Another daemon counts anew.
            self.ended.clear();
        }
        self.ended.push_back((picture.at, ended));
        if self.ended.len() > RATE_PICTURES {
            self.ended.pop_front();
        }
        self.picture = Some(picture);
        self.settle();
    }

    /// How many tasks ended in a second lately, where that can be told.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        let ((from, before), (to, after)) = (self.ended.front()?, self.ended.back()?);
        let seconds = to.checked_sub(*from).filter(|span| !span.is_zero())?.as_secs_f64();
        Some((after - before) as f64 / seconds)
    }

    /// The jobs that are shown.
    #[must_use]
    pub fn jobs(&self) -> Vec<&JobView> {
        let jobs = self.picture.iter().flat_map(|picture| &picture.jobs);
        let wanted = self.filters[0].to_lowercase();
        let is_shown = |job: &&JobView| {
            let reason = job.reason.as_deref().unwrap_or_default();
            let line = format!("{} {} {} {} {reason}", job.id, job.name, job.tenant, job.state);
            line.to_lowercase().contains(&wanted)
        };
        jobs.filter(is_shown).collect()
    }

    /// The lines of the nodes that are shown; the devices of a node go with it.
    pub(super) fn node_lines(&self) -> Vec<NodeLine<'_>> {
        let nodes = self.picture.iter().flat_map(|picture| &picture.nodes);
        let wanted = self.filters[1].to_lowercase();
        let is_shown = |node: &&NodeView| {
            let devices: Vec<_> = node.devices.iter().map(|device| &*device.model).collect();
            let line = format!("{} {} {} {}", node.name, node.state, node.model, devices.join(" "));
            line.to_lowercase().contains(&wanted)
        };
        let mut lines = Vec::new();
        for node in nodes.filter(is_shown) {
            lines.push(NodeLine::Node(node));
            lines.extend(node.devices.iter().map(NodeLine::Device));
        }
        lines
    }

    /// How many jobs there are that have not ended; at most the newest thousand are listed.
    pub(super) fn jobs_known(&self) -> u64 {
        let states = self.picture.iter().flat_map(|picture| &picture.status.jobs);
        let is_open = |state: &str| ["blocked", "held", "running", "waiting"].contains(&state);
        states.filter(|(state, _)| is_open(state)).map(|(_, count)| count).sum()
    }

    /// The chosen job.
    #[must_use]
    pub fn chosen(&self) -> Option<&JobView> {
        self.jobs().get(self.places[0]).copied()
    }

    /// How many lines a pane has.
    pub(super) fn lines(&self, pane: Pane) -> usize {
        match pane {
            Pane::Jobs => self.jobs().len(),
            Pane::Nodes => self.node_lines().len(),
            Pane::Phases => self.picture.as_ref().map_or(0, |it| it.status.phases.len()),
        }
    }

    /// Chooses a line of the pane that keys go to.
    pub(super) fn choose(&mut self, place: usize) {
        let last = self.lines(self.pane).saturating_sub(1);
        self.places[self.pane as usize] = place.min(last);
        if self.pane == Pane::Jobs {
            self.job = self.chosen().map(|job| job.id);
        }
    }

    /// Finds the chosen lines again after what is shown has changed.
    pub(super) fn settle(&mut self) {
        let found = self.jobs().iter().position(|job| Some(job.id) == self.job);
        if let Some(place) = found {
            self.places[0] = place;
        }
        for pane in [Pane::Jobs, Pane::Nodes, Pane::Phases] {
            let last = self.lines(pane).saturating_sub(1);
            self.places[pane as usize] = self.places[pane as usize].min(last);
        }
        self.job = self.chosen().map(|job| job.id);
    }
}

/// A line without what would move the cursor of a terminal.
pub(super) fn plain(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
