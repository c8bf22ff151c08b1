//! Line charts as SVG text.
//!
//! Lines over two axes come in, the text of a file goes out: the same lines give
//! the same bytes. Every line is named at its right end, in its own colour, and
//! the names move apart where lines end close to each other. The ground is
//! drawn white, so that a chart reads alike on light and dark pages. Nothing
//! here knows what the lines mean, and nothing is written.

use anyhow::Context as _;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

/// Width and height. The backend knows whole pixels only, so a chart is drawn twice as large as
/// it is read.
const SIZE: (u32, u32) = (2000, 1200);

/// Room for the names of lines, right of the axes.
const NAMES: u32 = 330;

/// Between two names, from line to line.
const PITCH: f64 = 40.0;

/// Between the axes and the names: here thin lines lead from one to the other.
const LEADER: i32 = 50;

/// The widest line whose name is not bold.
const NORMAL_MAX: u32 = 4;

/// The steps that an axis may have between its marks.
const STEPS: [f64; 13] =
    [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0];

/// The most steps of an axis that is fitted.
const STEPS_MAX: f64 = 14.0;

const GRID: RGBColor = RGBColor(225, 225, 225);
const INK: RGBColor = RGBColor(40, 40, 40);

/// A chart.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What it shows.
    pub title: String,
    /// Of what, and how to read it.
    pub subtitle: String,
    /// From left to right.
    pub across: Axis,
    /// From bottom to top.
    pub up: Axis,
    /// The lines; later ones lie above earlier ones.
    pub lines: Vec<Line>,
}

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures, with its unit.
    pub title: String,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
}

/// A line.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// Its name.
    pub name: String,
    /// How it looks.
    pub pen: Pen,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// How a line looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pen {
    /// Red, green and blue.
    pub colour: (u8, u8, u8),
    /// How wide.
    pub width: u32,
}

impl Axis {
    /// An axis with room for every value, from one whole step to another.
    #[must_use]
    pub fn fitted(title: &str, values: impl Iterator<Item = f64> + Clone) -> Self {
        let least = values.clone().fold(f64::INFINITY, f64::min);
        let most = values.fold(f64::NEG_INFINITY, f64::max);
        let (least, most) = if least <= most { (least, most) } else { (0.0, 1.0) };
        let is_enough = |step: &&f64| (most - least) / **step <= STEPS_MAX;
        let step = STEPS.iter().find(is_enough).unwrap_or(&STEPS[STEPS.len() - 1]);
        let from = (least / step).floor() * step;
        let to = ((most / step).ceil() * step).max(from + step);
        Self { title: title.to_owned(), from, to }
    }
}

/// Draws a chart.
///
/// # Errors
/// If the chart has no room for its axes.
pub fn draw(chart: &Chart) -> anyhow::Result<String> {
    let mut text = String::new();
    draw_on(&SVGBackend::with_string(&mut text, SIZE).into_drawing_area(), chart)
        .with_context(|| format!("draw the chart {}", chart.title))?;
    Ok(text)
}

fn draw_on(ground: &Ground<'_>, chart: &Chart) -> anyhow::Result<()> {
    ground.fill(&WHITE)?;
    let plain = |size: u32| ("sans-serif", size).into_font().color(&INK);
    ground.draw_text(&chart.title, &plain(48), (150, 28))?;
    ground.draw_text(&chart.subtitle, &plain(34), (150, 84))?;
    let (across, up) = (&chart.across, &chart.up);
    let mut frame = ChartBuilder::on(ground)
        .margin_top(140)
        .margin_right(NAMES)
        .margin_bottom(20)
        .margin_left(20)
        .x_label_area_size(100)
        .y_label_area_size(130)
        .build_cartesian_2d(across.from..across.to, up.from..up.to)?;
    frame
        .configure_mesh()
        .max_light_lines(0)
        .bold_line_style(GRID.stroke_width(2))
        .axis_style(INK.stroke_width(2))
        .label_style(plain(34))
        .axis_desc_style(plain(38))
        .x_labels(15)
        .y_labels(15)
        .x_label_formatter(&mark)
        .y_label_formatter(&mark)
        .x_desc(&across.title)
        .y_desc(&up.title)
        .draw()?;
    for line in &chart.lines {
        let points = line.points.iter().copied();
        frame.draw_series(LineSeries::new(points, line.pen.style()))?;
    }
    let ends = chart.lines.iter().filter_map(|line| {
        let end = line.points.last()?;
        Some((line, frame.backend_coord(end)))
    });
    let (right, tops) = frame.plotting_area().get_pixel_range();
    write_names(ground, ends.collect(), right.end, tops)
}

/// Writes each line's name right of the axes, and leads from its end to it.
fn write_names(
    ground: &Ground<'_>,
    mut ends: Vec<(&Line, (i32, i32))>,
    right: i32,
    tops: std::ops::Range<i32>,
) -> anyhow::Result<()> {
    ends.sort_by_key(|(_, (_, top))| *top);
    let wanted: Vec<f64> = ends.iter().map(|(_, (_, top))| f64::from(*top)).collect();
    let room = (f64::from(tops.start), f64::from(tops.end));
    for ((line, end), top) in ends.iter().zip(spread(&wanted, PITCH, room)) {
        let at = right + LEADER;
        // Pale, so that it is not taken for more of the line.
        let leader = line.pen.style().color.mix(0.4).stroke_width(2);
        ground.draw(&PathElement::new([*end, (at, top)], leader))?;
        let style = if line.pen.width > NORMAL_MAX { FontStyle::Bold } else { FontStyle::Normal };
        let font = ("sans-serif", 36, style).into_font().color(&line.pen.style().color);
        let font = font.pos(Pos::new(HPos::Left, VPos::Center));
        ground.draw_text(&line.name, &font, (at + 10, top))?;
    }
    Ok(())
}

/// Places that are at least a pitch apart, as close to those wanted as a whole allows.
///
/// Wanted places ascend. Those that would touch form a block around their mean; blocks that touch
/// become one.
fn spread(wanted: &[f64], pitch: f64, (top, bottom): (f64, f64)) -> Vec<i32> {
    let half = |count: usize| pitch * (count - 1) as f64 / 2.0;
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for place in wanted {
        let (mut middle, mut count) = (*place, 1);
        loop {
            middle = middle.min(bottom - half(count)).max(top + half(count));
            let touching = |(above, others): &(f64, usize)| {
                above + half(*others) + pitch > middle - half(count)
            };
            let Some((above, others)) = blocks.pop_if(|block| touching(block)) else { break };
            middle = (above * others as f64 + middle * count as f64) / (others + count) as f64;
            count += others;
        }
        blocks.push((middle, count));
    }
    let places = blocks.iter().flat_map(|(middle, count)| {
        let first = middle - half(*count);
        (0..*count).map(move |row| first + pitch * row as f64)
    });
    places.map(whole).collect()
}

#[expect(clippy::cast_possible_truncation, reason = "places lie on the ground, which is small")]
fn whole(place: f64) -> i32 {
    place.round() as i32
}

/// A mark of an axis, without digits that say nothing.
fn mark(value: &f64) -> String {
    // Sums of steps are off by a little, and a zero may be a negative one.
    format!("{}", (value * 10.0).round() / 10.0 + 0.0)
}

type Ground<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

impl Pen {
    fn style(self) -> ShapeStyle {
        let (red, green, blue) = self.colour;
        RGBColor(red, green, blue).stroke_width(self.width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_move_apart_and_stay_on_the_ground() {
        let room = (0.0, 100.0);
        assert_eq!(spread(&[10.0, 50.0], 10.0, room), [10, 50]);
        assert_eq!(spread(&[50.0, 50.0, 52.0], 10.0, room), [41, 51, 61]);
        assert_eq!(spread(&[98.0, 99.0], 10.0, room), [90, 100]);
        assert_eq!(spread(&[85.0, 98.0, 99.0], 10.0, room), [80, 90, 100]);
        assert_eq!(spread(&[], 10.0, room), [0; 0]);
    }

    #[test]
    fn axis_holds_every_value_between_whole_steps() {
        let axis = |values: &[f64]| {
            let axis = Axis::fitted("", values.iter().copied());
            (axis.from, axis.to)
        };
        assert_eq!(axis(&[83.2, 95.4]), (83.0, 96.0));
        assert_eq!(axis(&[0.0, 1480.0]), (0.0, 1600.0));
        assert_eq!(axis(&[-4.0, 17.0]), (-4.0, 18.0));
        assert_eq!(axis(&[]), (0.0, 1.0));
        assert_eq!(axis(&[5.0]), (5.0, 5.1));
    }

    #[test]
    fn marks_have_no_digits_that_say_nothing() {
        assert_eq!(["0", "90", "0.3"], [-0.0, 90.0, 0.1 + 0.2].map(|value| mark(&value)));
    }
}
