//! Differences and their intervals, as a plot in SVG.
//!
//! One row for each figure, in it one bar for each policy: from end to end of
//! the interval, with a dot at the mean, in percent of the first policy's mean
//! so that unlike figures share an axis. Full dots have intervals without zero.
//! The ground is drawn too, so that it reads alike on any page.

use anyhow::Context as _;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use sim::report::{Better, CONFIDENCE};

use super::{Compared, Row};
use crate::render::drawing;
use crate::render::simulation::figures::ROWS;

/// The backend knows whole pixels only, so a plot is drawn twice as large as it is read.
const WIDTH: u32 = 1800;
/// For title and key, and for the axis.
const TOP: u32 = 170;
const BOTTOM: u32 = 110;
/// For the names of figures.
const LEFT: i32 = 480;
const RIGHT: i32 = 60;
/// Between two bars of one figure, and what is left free between figures.
const PITCH: u32 = 30;
const GAP: u32 = 26;

/// One policy, one colour; further ones begin again. Dark enough to read their names on white.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(190, 75, 0),
    RGBColor(0, 125, 92),
    RGBColor(165, 50, 120),
    RGBColor(110, 70, 190),
    RGBColor(130, 95, 0),
];
const GRID: RGBColor = RGBColor(225, 225, 225);
const INK: RGBColor = RGBColor(40, 40, 40);

/// The axis ends here at most, in percent, so that one large difference does not press the others
/// together. What goes on is cut off, and a mean beyond is written.
const PERCENT_MAX: f64 = 200.0;

/// One bar: all in percent of the first policy's mean.
#[derive(Debug, PartialEq)]
struct Bar {
    policy: usize,
    mean: f64,
    low: f64,
    high: f64,
    is_full: bool,
}

/// What the plot shows of one figure.
#[derive(Debug, PartialEq)]
struct Line {
    title: String,
    bars: Vec<Bar>,
}

type Ground<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// Draws the comparison.
///
/// # Errors
/// If it cannot be drawn.
pub fn plot(compared: &Compared) -> anyhow::Result<String> {
    let lines = lines(compared);
    // At most one bar for each policy in each row of the tables.
    let bars = u32::try_from(lines.iter().map(|line| line.bars.len()).sum::<usize>())?;
    let height = TOP + GAP + bars * PITCH + u32::try_from(lines.len())? * GAP + BOTTOM;
    let mut text = String::new();
    let ground = SVGBackend::with_string(&mut text, (WIDTH, height)).into_drawing_area();
    draw(&ground, compared, &lines).context("draw the plot")?;
    drop(ground);
    Ok(drawing::fit(&text))
}

/// The figures that have something to show, in the order of tables.
fn lines(compared: &Compared) -> Vec<Line> {
    let line = |(title, name, _): &(&str, &str, _)| {
        let rows = compared.others.iter().enumerate().filter_map(|(policy, other)| {
            let row = other.figures.iter().find(|row| row.figure == *name)?;
            Some((bar(policy, row)?, row.better))
        });
        let (bars, betters): (Vec<_>, Vec<_>) = rows.unzip();
        let good = match betters.first()? {
            Better::Less => "less is better",
            Better::More => "more is better",
        };
        Some(Line { title: format!("{title} ({good})"), bars })
    };
    ROWS.iter().filter_map(line).collect()
}

/// None where there is no difference, or no mean to take percents of.
fn bar(policy: usize, row: &Row) -> Option<Bar> {
    let (difference, mean) = (row.difference?, row.first_mean?);
    let percent = |value: f64| 100.0 * value / mean.abs();
    (mean != 0.0).then(|| Bar {
        policy,
        mean: percent(difference.mean),
        low: percent(difference.interval.low),
        high: percent(difference.interval.high),
        is_full: difference.excludes_zero,
    })
}

fn draw(ground: &Ground<'_>, compared: &Compared, lines: &[Line]) -> anyhow::Result<()> {
    ground.fill(&WHITE)?;
    let ends = lines.iter().flat_map(|line| &line.bars).flat_map(|bar| [bar.low, bar.high]);
    write_head(ground, compared)?;
    let least = ends.clone().fold(-1.0, f64::min).max(-PERCENT_MAX);
    let most = ends.fold(1.0, f64::max).min(PERCENT_MAX);
    let room = (most - least) * 0.03;
    let (width, height) = ground.dim_in_pixel();
    let [width, height, top] = [width, height, TOP].map(i32::try_from);
    let bottom = height? - i32::try_from(BOTTOM)?;
    let axis = Axis {
        from: least - room,
        to: most + room,
        left: f64::from(LEFT),
        right: f64::from(width? - RIGHT),
    };
    draw_axis(ground, &axis, (top?, bottom))?;
    let mut at = i32::try_from(TOP + GAP)?;
    for line in lines {
        draw_line(ground, &axis, line, at)?;
        at += i32::try_from(PITCH * u32::try_from(line.bars.len())? + GAP)?;
    }
    Ok(())
}

/// From percents to pixels.
struct Axis {
    from: f64,
    to: f64,
    left: f64,
    right: f64,
}

impl Axis {
    fn at(&self, percent: f64) -> i32 {
        let part = ((percent - self.from) / (self.to - self.from)).clamp(0.0, 1.0);
        #[expect(clippy::cast_possible_truncation, reason = "places lie on the ground")]
        let place = (self.left + part * (self.right - self.left)).round() as i32;
        place
    }

    /// Round percents with room between them, zero among them.
    fn marks(&self) -> Vec<f64> {
        let is_enough = |step: &f64| (self.to - self.from) / step <= 9.0;
        let steps = [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0];
        let step = steps.into_iter().find(is_enough).unwrap_or(500.0);
        let mut marks = vec![(self.from / step).ceil() * step];
        while let Some(next) = marks.last().map(|last| last + step).filter(|next| *next <= self.to)
        {
            marks.push(next);
        }
        marks
    }
}

fn font(size: u32, colour: RGBColor) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&colour)
}

fn write_head(ground: &Ground<'_>, compared: &Compared) -> anyhow::Result<()> {
    let title =
        format!("Difference to {}, with {} % intervals", compared.first, CONFIDENCE * 100.0);
    ground.draw_text(&title, &font(40, INK), (30, 24))?;
    let subtitle = "Paired by seed, Student's t. Full dot: the interval excludes zero. Only what \
                    can be compared is shown.";
    ground.draw_text(subtitle, &font(26, INK), (30, 74))?;
    let mut left = 30;
    for (policy, other) in compared.others.iter().enumerate() {
        let colour = COLOURS[policy % COLOURS.len()];
        ground.draw(&Circle::new((left + 8, 129), 8, colour.filled()))?;
        ground.draw_text(&other.policy, &font(28, colour), (left + 26, 116))?;
        left += 60 + 16 * i32::try_from(other.policy.chars().count().min(60))?;
    }
    Ok(())
}

fn draw_axis(ground: &Ground<'_>, axis: &Axis, (top, bottom): (i32, i32)) -> anyhow::Result<()> {
    for mark in axis.marks() {
        let at = axis.at(mark);
        ground.draw(&PathElement::new([(at, top), (at, bottom)], GRID.stroke_width(2)))?;
        let style = font(26, INK).pos(Pos::new(HPos::Center, VPos::Top));
        // Sums of steps are off by a little, and a zero may be a negative one.
        let mark = (mark * 10.0).round() / 10.0 + 0.0;
        ground.draw_text(&format!("{mark}"), &style, (at, bottom + 12))?;
    }
    let zero = axis.at(0.0);
    ground.draw(&PathElement::new([(zero, top), (zero, bottom)], INK.stroke_width(3)))?;
    let style = font(28, INK).pos(Pos::new(HPos::Left, VPos::Top));
    ground.draw_text("difference, % of the first policy's mean", &style, (LEFT, bottom + 54))?;
    Ok(())
}

fn draw_line(ground: &Ground<'_>, axis: &Axis, line: &Line, top: i32) -> anyhow::Result<()> {
    let pitch = i32::try_from(PITCH)?;
    let middle = top + pitch * (i32::try_from(line.bars.len())? - 1) / 2;
    let style = font(26, INK).pos(Pos::new(HPos::Right, VPos::Center));
    ground.draw_text(&line.title, &style, (LEFT - 24, middle))?;
    for (row, bar) in line.bars.iter().enumerate() {
        let height = top + pitch * i32::try_from(row)?;
        let colour = COLOURS[bar.policy % COLOURS.len()];
        let ends = [(axis.at(bar.low), height), (axis.at(bar.high), height)];
        ground.draw(&PathElement::new(ends, colour.stroke_width(5)))?;
        for (at, _) in ends {
            let cap = [(at, height - 7), (at, height + 7)];
            ground.draw(&PathElement::new(cap, colour.stroke_width(3)))?;
        }
        if bar.mean.abs() > PERCENT_MAX {
            write_beyond(ground, axis, bar, height)?;
            continue;
        }
        let centre = (axis.at(bar.mean), height);
        ground.draw(&Circle::new(centre, 9, if bar.is_full { colour } else { WHITE }.filled()))?;
        ground.draw(&Circle::new(centre, 9, colour.stroke_width(3)))?;
    }
    Ok(())
}

/// Writes a mean that lies beyond the axis at its edge.
fn write_beyond(ground: &Ground<'_>, axis: &Axis, bar: &Bar, top: i32) -> anyhow::Result<()> {
    let (at, side) = match bar.mean < 0.0 {
        true => (axis.at(axis.from) + 10, HPos::Left),
        false => (axis.at(axis.to) - 10, HPos::Right),
    };
    let style = font(26, COLOURS[bar.policy % COLOURS.len()]).pos(Pos::new(side, VPos::Center));
    let text = format!("mean {:+.0} %", bar.mean);
    // Over its own bar, which is cut off there.
    let half = 8 * i32::try_from(text.len())? / if bar.mean < 0.0 { -1 } else { 1 };
    let ground_of_text = [(at - 2 * half, top - 14), (at, top + 14)];
    ground.draw(&Rectangle::new(ground_of_text, WHITE.filled()))?;
    ground.draw_text(&text, &style, (at, top))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_round_and_have_zero_among_them() {
        let axis = Axis { from: -13.0, to: 42.0, left: 0.0, right: 550.0 };
        assert_eq!(axis.marks(), [-10.0, 0.0, 10.0, 20.0, 30.0, 40.0]);
        assert_eq!((axis.at(0.0), axis.at(42.0), axis.at(90.0)), (130, 550, 550));
    }
}
