//! A front as a drawing: the first objective against each of the others, as SVG.
//!
//! Every outcome is a dot, those on the front are filled and joined where there
//! are two objectives; the knee and the policy itself are named. The ground is
//! drawn too, so that it reads alike on any page. The same front gives the same
//! bytes.

use anyhow::Context as _;
use fleet::policy::Objective;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use sim::front::Front;

use crate::render::drawing;

/// Width and height of one panel, in whole pixels: drawn twice as large as it is read.
const PANEL: (u32, u32) = (1300, 1000);

const GRID: RGBColor = RGBColor(225, 225, 225);
const INK: RGBColor = RGBColor(40, 40, 40);
const OFF: RGBColor = RGBColor(150, 150, 150);
const ON: RGBColor = RGBColor(0, 95, 175);
const KNEE: RGBColor = RGBColor(190, 75, 0);
const OWN: RGBColor = RGBColor(20, 120, 60);

/// Draws a front; `base` is what the policy itself is called.
///
/// # Errors
/// If a panel has no room for its axes.
pub fn plot(front: &Front, base: &str) -> anyhow::Result<String> {
    let panels = front.objectives.len() - 1;
    let count = u32::try_from(panels).context("count the panels")?;
    let mut text = String::new();
    {
        let ground = SVGBackend::with_string(&mut text, (PANEL.0 * count, PANEL.1));
        let ground = ground.into_drawing_area();
        ground.fill(&WHITE)?;
        let drawn = ground.split_evenly((1, panels)).into_iter().enumerate();
        for (index, panel) in drawn {
            draw(&panel, front, (index + 1, base))
                .with_context(|| format!("draw the front of {base}"))?;
        }
    }
    Ok(drawing::fit(&text))
}

type Ground<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// A point as it is drawn.
type Dot = (f64, f64);

fn draw(ground: &Ground<'_>, front: &Front, (other, base): (usize, &str)) -> anyhow::Result<()> {
    let dot = |position: usize| -> Option<Dot> {
        let point = &front.points[position];
        point.costs.as_ref()?;
        let value = |index: usize| Some(drawn(front.objectives[index].0, point.values[index]?));
        Some((value(0)?, value(other)?))
    };
    let all: Vec<Dot> = (0..front.points.len()).filter_map(dot).collect();
    let on_front: Vec<Dot> = front.front.iter().filter_map(|position| dot(*position)).collect();
    let plain = |size: u32| ("sans-serif", size).into_font().color(&INK);
    let across = ends(all.iter().map(|dot| dot.0));
    let up = ends(all.iter().map(|dot| dot.1));
    let mut frame = ChartBuilder::on(ground)
        .caption(format!("What {base} could trade"), plain(42))
        .margin(30)
        .x_label_area_size(100)
        .y_label_area_size(170)
        .build_cartesian_2d(across.0..across.1, up.0..up.1)?;
    frame
        .configure_mesh()
        .max_light_lines(0)
        .bold_line_style(GRID.stroke_width(2))
        .axis_style(INK.stroke_width(2))
        .label_style(plain(30))
        .axis_desc_style(plain(34))
        .x_labels(7)
        .y_labels(8)
        .x_desc(title(front.objectives[0].0))
        .y_desc(title(front.objectives[other].0))
        .draw()?;
    frame.draw_series(all.iter().map(|dot| Circle::new(*dot, 9, OFF.stroke_width(3))))?;
    if front.objectives.len() == 2 {
        frame
            .draw_series(LineSeries::new(on_front.iter().copied(), ON.mix(0.5).stroke_width(3)))?;
    }
    frame.draw_series(on_front.iter().map(|dot| Circle::new(*dot, 10, ON.filled())))?;
    let named = [(front.knee, "knee", KNEE, -24), (Some(0), base, OWN, 24)];
    let middle = f64::midpoint(across.0, across.1);
    for (position, name, colour, down) in named {
        let Some(place) = position.and_then(dot) else { continue };
        // Towards the middle, so that the name stays on the ground.
        let side = if place.0 > middle { (HPos::Right, -20) } else { (HPos::Left, 20) };
        let font =
            ("sans-serif", 34).into_font().color(&colour).pos(Pos::new(side.0, VPos::Center));
        let name = EmptyElement::at(place)
            + Circle::new((0, 0), 14, colour.stroke_width(5))
            + Text::new(name.to_owned(), (side.1, down), font);
        frame.draw_series([name])?;
    }
    Ok(())
}

/// Ends of an axis, with some room on both sides of the values.
fn ends(values: impl Iterator<Item = f64> + Clone) -> Dot {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(f64::NEG_INFINITY, f64::max);
    let room = if most > least { (most - least) / 12.0 } else { 1.0 };
    (least - room, most + room)
}

/// What an axis measures, with its unit.
fn title(objective: Objective) -> &'static str {
    match objective {
        Objective::Completion => "mean completion, minutes",
        Objective::Utilisation => "device utilisation, %: more is better",
        Objective::Fragmentation => "GPUs held at the end, %: more is better",
        Objective::Energy => "energy, kWh",
        Objective::Deadline => "deadline misses, jobs",
        other => other.name(),
    }
}

/// A value in the unit of its axis.
fn drawn(objective: Objective, value: f64) -> f64 {
    match objective {
        Objective::Completion => value / 60.0,
        Objective::Utilisation | Objective::Fragmentation => 100.0 * value,
        Objective::Energy => value / 3.6e6,
        _ => value,
    }
}
