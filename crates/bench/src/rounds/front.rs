//! The front between a small mean and a small 99th percentile of completion, as the powers go.

use std::path::Path;

use anyhow::Context as _;
use fleet::Powers;

use super::case::Case;
use super::contender::Contender;
use super::errors::Errors;
use super::figures::Figures;
use super::product::Product;
use super::reference::Reference;
use super::{Lag, Terms, clock, play};
use crate::chart::{self, Axis, Chart, Line, Pen};
use crate::crew;
use crate::rounds::contender::policy;
use crate::rounds::player::Player;

/// Powers of being soon done, along a line.
const BREVITIES: [i32; 7] = [0, 100, 250, 400, 600, 800, 1000];
/// Powers of being held up, one line each, with colours.
const SLOWDOWNS: [(i32, (u8, u8, u8)); 4] =
    [(0, (31, 119, 180)), (500, (44, 160, 44)), (1000, (214, 39, 40)), (2000, (148, 103, 189))];
/// The traces on which policies are tuned.
const TRACES: [&str; 2] = ["A", "C"];

/// Draws the front of each trace that is there into a folder; says which files were written.
///
/// # Errors
/// If a plan breaks the law, or a file cannot be written.
pub fn write(folder: &Path, cases: &[Case]) -> anyhow::Result<Vec<String>> {
    let mut files = Vec::new();
    for case in cases.iter().filter(|case| TRACES.contains(&case.name.as_str())) {
        let file = format!("rounds-front-{}.svg", case.name.to_lowercase());
        let text = chart::draw(&front(case)?)?;
        let path = folder.join(&file);
        std::fs::write(&path, text).with_context(|| {
            format!("write {}; free it or name another folder by --plots", path.display())
        })?;
        files.push(file);
    }
    Ok(files)
}

fn front(case: &Case) -> anyhow::Result<Chart> {
    let tasks: Vec<(i32, i32)> = SLOWDOWNS
        .iter()
        .flat_map(|(slowdown, _)| BREVITIES.map(|brevity| (*slowdown, brevity)))
        .collect();
    let figures = crew::share(&tasks, |(slowdown, brevity)| {
        let powers = Powers { fitness: 1000, brevity: *brevity, slowdown: *slowdown, lack: 0 };
        with_powers(case, powers)
    });
    let figures: Vec<Figures> = figures.into_iter().collect::<anyhow::Result<_>>()?;
    let point = |figures: &Figures| (figures.percentiles[2] / 3600.0, figures.mean / 60.0);
    let mut lines: Vec<Line> = SLOWDOWNS
        .iter()
        .zip(figures.chunks(BREVITIES.len()))
        .map(|((slowdown, colour), figures)| Line {
            name: format!("slowdown {}", f64::from(*slowdown) / 1e3),
            pen: Pen { colour: *colour, width: 4 },
            points: figures.iter().map(point).collect(),
        })
        .collect();
    let terms =
        Terms { lag: Lag::Dropped, move_seconds: 0.0, errors: Errors::NONE, node_devices: 1 };
    let (fair, _) = play(case, Contender::Reference(Reference::MaxMinPerf), terms)?;
    let (across, up) = point(&fair);
    lines.push(Line {
        name: "max-min fair".to_owned(),
        pen: Pen { colour: (90, 90, 90), width: 10 },
        points: vec![(across * 0.998, up), (across * 1.002, up)],
    });
    let points = || lines.iter().flat_map(|line| line.points.iter());
    let (across, up) = (
        Axis::fitted("99th percentile of completion (hours)", points().map(|point| point.0)),
        Axis::fitted("mean completion (minutes)", points().map(|point| point.1)),
    );
    Ok(Chart {
        title: format!("Trace {}: mean against the longest", case.name),
        subtitle: "along a line brevity goes 0, 0.1, 0.25, 0.4, 0.6, 0.8, 1".to_owned(),
        across,
        up,
        lines,
    })
}

fn with_powers(case: &Case, powers: Powers) -> anyhow::Result<Figures> {
    let mut policy = policy("mean", 0.0);
    if let Some(allocate) = &mut policy.allocate {
        allocate.powers = powers;
    }
    let mut player = Player::Motley(Box::new(Product::new(policy, 0.0, Errors::NONE)));
    let played = clock::play(case, &mut player, 0.0).context("play a point of the front")?;
    Ok(Figures::of(case, &played))
}
