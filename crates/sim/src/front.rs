//! Fronts: what a policy could make of the same jobs by other weights, limits, or as a knee.
//!
//! In come a policy, the objectives to trade and a function that simulates a
//! policy; out comes a [`Front`]: every outcome, which of them no other
//! dominates, the knee among them and where the policy itself stands. Variants
//! of the policy are drawn up in `front::design`: weights on a lattice, other
//! patience, and each objective first among the choices that keep a limit of others.
//! Limits find what lies on a bulge of the front, which no weights do; they are
//! halved where two neighbours came out farthest apart. Costs are compared in
//! millionths of the range that the outcomes have. Nothing here is simulated
//! twice, drawn by chance, or timed.

mod design;

use std::collections::BTreeMap;

use fleet::policy::Objective;
use fleet::{Milli, Policy};
use planner::front::{Archive, Frame, OBJECTIVES_MAX, hypervolume, knee};

use crate::report::{Better, Figure, Summary};
use design::{Family, Variants};

pub use design::Others;

/// The most simulations of one front.
pub const POINTS_MAX: usize = 1000;

/// The fewest: the policy, the knee, and the objectives one by one.
pub const POINTS_MIN: usize = 8;

/// The objectives whose outcome a simulation measures, each with the figure that it moves.
const MEASURED: [(Objective, Measured); 5] = [
    (Objective::Completion, Measured::Named("completion_seconds_mean")),
    (Objective::Utilisation, Measured::Named("device_utilisation")),
    (Objective::Fragmentation, Measured::Figure(&ALLOCATED_AT_END)),
    (Objective::Energy, Measured::Named("energy_joules")),
    (Objective::Deadline, Measured::Named("deadline_misses")),
];

/// How much of the GPUs could be used until no more fitted; for jobs that do not end.
const ALLOCATED_AT_END: Figure = Figure {
    name: "gpu_allocated_at_end",
    better: Better::More,
    value: |summary| summary.gpu_allocated_at_end,
    of_tasks_done: false,
};

/// A figure of the report, or one of its own.
#[derive(Clone, Copy)]
enum Measured {
    Named(&'static str),
    Figure(&'static Figure),
}

/// The objectives that a front can trade.
pub fn objectives() -> impl Iterator<Item = Objective> {
    MEASURED.iter().map(|(objective, _)| *objective)
}

/// The figure that an objective moves; `None` where no simulation measures it.
#[must_use]
pub fn figure(objective: Objective) -> Option<Figure> {
    let (_, measured) = MEASURED.iter().find(|(one, _)| *one == objective)?;
    match measured {
        Measured::Named(name) => Figure::named(name),
        Measured::Figure(figure) => Some(**figure),
    }
}

/// What a front is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// The policy.
    pub base: &'a Policy,
    /// At least two that can be traded, none twice.
    pub objectives: &'a [Objective],
    /// How many simulations there may be.
    pub points: usize,
}

/// How a point was come by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The policy as it is.
    Policy,
    /// The knee of every choice.
    Knee,
    /// The policy, with these weights of the objectives, in the order asked for.
    Weights {
        /// What else counts.
        others: Others,
        /// The weights.
        weights: Vec<u32>,
    },
    /// The policy, with this patience.
    Patience(Milli),
    /// One objective first, among the choices that keep the limits.
    Limits {
        /// What else counts.
        others: Others,
        /// The objective that goes first.
        first: Objective,
        /// The least score by each of the others; empty where there is no limit.
        limits: BTreeMap<Objective, Milli>,
    },
}

/// What one variant of the policy came to.
#[derive(Clone, Debug)]
pub struct Point {
    /// How it was come by.
    pub origin: Origin,
    /// The variant.
    pub policy: Policy,
    /// The figure of each objective; `None` where there was nothing to measure.
    pub values: Vec<Option<f64>>,
    /// How many tasks were done.
    pub tasks_done: u64,
    /// What each value is above the best of all, in millionths of their range. `None` where it
    /// cannot be compared: it lacks a value, or did fewer tasks than others and is judged by what
    /// was done.
    pub costs: Option<Vec<u32>>,
}

/// What came of a policy and its variants.
#[derive(Clone, Debug)]
pub struct Front {
    /// The objectives, with the figure of each.
    pub objectives: Vec<(Objective, Figure)>,
    /// Every variant in the order simulated; the policy itself is the first.
    pub points: Vec<Point>,
    /// Positions of points that no other dominates, by their values, the first objective first. Of
    /// equal outcomes the one simulated first stands for all, and of very many some stand for
    /// those close to them.
    pub front: Vec<usize>,
    /// Which of them is the knee, if there is one.
    pub knee: Option<usize>,
    /// How far the knee lies before the line between the extremes, in millionths of a range.
    pub knee_distance: Option<i64>,
    /// The part of the space between best and worst outcomes that is better than nothing on the
    /// front; `None` for more objectives than it is worked out for.
    pub hypervolume: Option<f64>,
    /// The same of the points that weights found.
    pub hypervolume_by_weights: Option<f64>,
}

impl Front {
    /// The first objective of which no outcome has a value.
    #[must_use]
    pub fn unmeasured(&self) -> Option<Objective> {
        let has_value =
            |index: usize| self.points.iter().any(|point| point.values[index].is_some());
        let unmeasured = (0..self.objectives.len()).find(|index| !has_value(*index))?;
        Some(self.objectives[unmeasured].0)
    }

    /// The first point of the front that dominates this one.
    #[must_use]
    pub fn dominating(&self, position: usize) -> Option<usize> {
        let costs = self.points[position].costs.as_ref()?;
        let dominates = |one: &&usize| {
            let others = self.points[**one].costs.as_ref();
            others.is_some_and(|others| planner::front::dominates(others, costs))
        };
        self.front.iter().find(dominates).copied()
    }
}

/// Simulates a policy and its variants, and says which of them no other dominates.
///
/// # Errors
/// If a simulation fails.
///
/// # Panics
/// If an objective is asked for that cannot be traded; see [`figure`].
pub fn explore<E>(
    question: Question<'_>,
    simulate: &mut dyn FnMut(&Policy) -> Result<Summary, E>,
) -> Result<Front, E> {
    let figures = question.objectives.iter().map(|one| figure(*one).expect("it is measured"));
    let figures: Vec<Figure> = figures.collect();
    let mut study = Study { question, figures, points: Vec::new(), simulate };
    study.add(Origin::Policy, question.base.clone())?;
    let variants = Variants::new(question.base, question.objectives);
    study.add(Origin::Knee, variants.knee())?;
    for others in [Others::Dropped, Others::Kept] {
        for (origin, policy) in variants.by_weights(question.points / 4, others) {
            study.add(origin, policy)?;
        }
    }
    for (origin, policy) in variants.by_patience() {
        study.add(origin, policy)?;
    }
    let mut families = variants.families();
    for family in &mut families {
        for limit in [Milli::ZERO, Milli::WHOLE] {
            study.ask(family, &variants, limit)?;
        }
    }
    while let Some((family, limit)) = study.widest(&families) {
        study.ask(&mut families[family], &variants, limit)?;
    }
    Ok(study.close())
}

/// A front in the making.
struct Study<'a, E> {
    question: Question<'a>,
    figures: Vec<Figure>,
    points: Vec<Point>,
    simulate: &'a mut dyn FnMut(&Policy) -> Result<Summary, E>,
}

impl<E> Study<'_, E> {
    /// Simulates a variant, unless its like was or there were enough; its position.
    fn add(&mut self, origin: Origin, policy: Policy) -> Result<Option<usize>, E> {
        let is_like = |point: &Point| {
            let Policy { pick, tiers, batch, patience, .. } = &point.policy;
            (pick, tiers, batch, patience)
                == (&policy.pick, &policy.tiers, &policy.batch, &policy.patience)
        };
        if let Some(position) = self.points.iter().position(is_like) {
            return Ok(Some(position));
        }
        if self.points.len() >= self.question.points {
            return Ok(None);
        }
        let policy = match origin {
            Origin::Policy => policy,
            _ => Policy { name: format!("{}-{}", policy.name, self.points.len()), ..policy },
        };
        let summary = (self.simulate)(&policy)?;
        let values = self.figures.iter().map(|figure| (figure.value)(&summary)).collect();
        let (tasks_done, costs) = (summary.tasks_done, None);
        self.points.push(Point { origin, policy, values, tasks_done, costs });
        self.compare();
        Ok(Some(self.points.len() - 1))
    }

    fn ask(&mut self, family: &mut Family, variants: &Variants<'_>, at: Milli) -> Result<(), E> {
        let (origin, policy) = variants.by_limits(family, at);
        if let Some(position) = self.add(origin, policy)? {
            family.asked.insert(at, position);
        }
        Ok(())
    }

    /// Lays the values of every point that can be compared on the range of all.
    fn compare(&mut self) {
        let most = self.points.iter().map(|point| point.tasks_done).max().unwrap_or(0);
        let is_of_done = self.figures.iter().any(|figure| figure.of_tasks_done);
        let badness = |point: &Point| -> Option<Vec<f64>> {
            let pairs = point.values.iter().zip(&self.figures);
            let values = pairs.map(|(value, figure)| match figure.better {
                Better::Less => *value,
                Better::More => value.map(|value| -value),
            });
            values.collect::<Option<Vec<f64>>>().filter(|_| !is_of_done || point.tasks_done == most)
        };
        let all: Vec<Option<Vec<f64>>> = self.points.iter().map(badness).collect();
        let ends: Vec<(f64, f64)> = (0..self.figures.len())
            .map(|index| {
                let values = all.iter().flatten().map(|values| values[index]);
                let least = values.clone().fold(f64::INFINITY, f64::min);
                (least, values.fold(f64::NEG_INFINITY, f64::max))
            })
            .collect();
        for (point, values) in self.points.iter_mut().zip(&all) {
            let costs = |values: &Vec<f64>| {
                values.iter().zip(&ends).map(|(value, ends)| share(*value, *ends)).collect()
            };
            point.costs = values.as_ref().map(costs);
        }
    }

    /// Between which two limits of which family outcomes are farthest apart, counted by how far the
    /// limits are, and the limit halfway. `None` where nothing is apart or there were enough.
    fn widest(&self, families: &[Family]) -> Option<(usize, Milli)> {
        if self.points.len() >= self.question.points {
            return None;
        }
        let mut widest: (u64, Option<(usize, Milli)>) = (0, None);
        for (position, family) in families.iter().enumerate() {
            let asked: Vec<_> = family.asked.iter().collect();
            for pair in asked.windows(2) {
                let ((below, one), (above, other)) = (pair[0], pair[1]);
                let width = above.0 - below.0;
                let gap = u64::from(self.apart(*one, *other)) * u64::from(width);
                if width > 1 && gap > widest.0 {
                    widest = (gap, Some((position, Milli(below.0 + width / 2))));
                }
            }
        }
        widest.1
    }

    /// How far two outcomes are apart in the objective in which they differ most.
    fn apart(&self, one: usize, other: usize) -> u32 {
        let (one, other) = (&self.points[one].costs, &self.points[other].costs);
        let (Some(one), Some(other)) = (one, other) else { return 0 };
        one.iter().zip(other).map(|(one, other)| one.abs_diff(*other)).max().unwrap_or(0)
    }

    fn close(self) -> Front {
        let mut archive = Archive::new();
        for (position, point) in self.points.iter().enumerate() {
            if let Some(costs) = &point.costs {
                archive.offer(costs.clone(), position);
            }
        }
        let mut kept: Vec<(Vec<u32>, usize)> =
            archive.points().map(|(costs, position)| (costs.to_vec(), *position)).collect();
        kept.sort();
        let costs: Vec<&[u32]> = kept.iter().map(|(costs, _)| costs.as_slice()).collect();
        let knee = knee(&costs);
        let frame = Frame::of(&costs, 1);
        let is_weighed = |point: &&Point| matches!(point.origin, Origin::Weights { .. });
        let weighed =
            self.points.iter().filter(is_weighed).filter_map(|point| point.costs.as_ref());
        Front {
            hypervolume: volume(&costs),
            hypervolume_by_weights: volume(&weighed.collect::<Vec<_>>()),
            knee: knee.map(|index| kept[index].1),
            knee_distance: knee.zip(frame).map(|(index, frame)| frame.distance(costs[index])),
            front: kept.iter().map(|(_, position)| *position).collect(),
            objectives: self.question.objectives.iter().copied().zip(self.figures).collect(),
            points: self.points,
        }
    }
}

/// Millionths in the range of a figure.
const RANGE: u32 = 1_000_000;

/// Where in the range of a figure a value lies.
fn share(value: f64, (least, most): (f64, f64)) -> u32 {
    if most <= least {
        return 0;
    }
    let share = (value - least) / (most - least) * f64::from(RANGE);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the range, and what is no number is zero"
    )]
    let share = share.round() as u32;
    share.min(RANGE)
}

/// The part of the space of outcomes that is better than nothing of these.
fn volume<P: AsRef<[u32]>>(costs: &[P]) -> Option<f64> {
    let count = costs.first()?.as_ref().len();
    if count > OBJECTIVES_MAX {
        return None;
    }
    let volume = hypervolume(costs, &vec![RANGE; count]);
    Some(volume as f64 / f64::from(RANGE).powi(i32::try_from(count).ok()?))
}
