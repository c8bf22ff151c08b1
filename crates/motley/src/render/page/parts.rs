//! What a page is made of: laid out, in words, ready for the template.
//!
//! Positions are percents of their ground or units of a drawing that the page
//! stretches; every text stands outside the drawings, so that it keeps its
//! size on a narrow screen. Each drawing has a [`Sheet`] that says the same.

/// A part of the page under one heading.
pub(super) struct Section {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) text: String,
    pub(super) figures: Vec<Figure>,
}

/// One thing to look at.
pub(super) enum Figure {
    Plot(Plot),
    Scatter(Scatter),
    Strips(Strips),
    Bars(Bars),
    Ranks(Ranks),
    Map(MapView),
    Sheet(Sheet),
}

/// A mark of an axis.
#[derive(Debug, PartialEq)]
pub(super) struct Mark {
    pub(super) text: String,
    pub(super) percent: String,
}

/// Curves over two axes.
pub(super) struct Plot {
    pub(super) title: String,
    pub(super) curves: Vec<Curve>,
    pub(super) up: Vec<Mark>,
    pub(super) across: Vec<Mark>,
    pub(super) sheet: Sheet,
}

/// A curve of a plot.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) pen: usize,
    pub(super) path: String,
}

/// Named dots over two axes.
pub(super) struct Scatter {
    pub(super) title: String,
    pub(super) up_title: String,
    pub(super) across_title: String,
    pub(super) up: Vec<Mark>,
    pub(super) across: Vec<Mark>,
    pub(super) dots: Vec<Dot>,
}

/// A dot that stands for a policy.
pub(super) struct Dot {
    pub(super) letter: char,
    pub(super) pen: usize,
    pub(super) left: String,
    pub(super) bottom: String,
    pub(super) text: String,
    /// Its line, where dots would cover each other.
    pub(super) slot: usize,
}

/// Rows of small drawings over one time axis.
pub(super) struct Strips {
    pub(super) title: String,
    pub(super) strips: Vec<Strip>,
    pub(super) across: Vec<Mark>,
    pub(super) note: String,
    pub(super) sheet: Sheet,
}

/// One row: a path to be filled, or boxes.
pub(super) struct Strip {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) pen: usize,
    /// Lines of boxes, where there are boxes.
    pub(super) slots: usize,
    pub(super) path: String,
    pub(super) boxes: Vec<BoxView>,
}

/// A box of a strip.
pub(super) struct BoxView {
    pub(super) left: String,
    pub(super) width: String,
    pub(super) top: usize,
    /// How it looks.
    pub(super) look: &'static str,
    pub(super) text: String,
}

/// Rows with a bar each.
pub(super) struct Bars {
    pub(super) title: String,
    pub(super) rows: Vec<BarRow>,
    pub(super) note: String,
}

/// A row with a bar.
pub(super) struct BarRow {
    pub(super) name: String,
    pub(super) percent: String,
    pub(super) value: String,
    /// More about it, in a sentence; may be empty.
    pub(super) text: String,
}

/// Policies along a line from worst to best, figure by figure.
pub(super) struct Ranks {
    pub(super) title: String,
    pub(super) key: Vec<Dot>,
    pub(super) rows: Vec<RankRow>,
    pub(super) note: String,
}

/// One figure of a [`Ranks`].
pub(super) struct RankRow {
    pub(super) name: String,
    pub(super) dots: Vec<Dot>,
    pub(super) slots: usize,
    pub(super) best: String,
}

/// Nodes with their devices.
pub(super) struct MapView {
    pub(super) title: String,
    pub(super) nodes: Vec<NodeView>,
    pub(super) key: Vec<(usize, String)>,
    pub(super) note: String,
    pub(super) sheet: Sheet,
}

/// A node with its cells: cores first.
pub(super) struct NodeView {
    pub(super) name: String,
    pub(super) is_up: bool,
    pub(super) cells: Vec<Cell>,
    pub(super) more: usize,
}

/// One device, or the cores of a node.
pub(super) struct Cell {
    pub(super) pen: usize,
    pub(super) percent: String,
    pub(super) text: String,
}

/// A table.
pub(super) struct Sheet {
    pub(super) title: String,
    pub(super) head: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}
