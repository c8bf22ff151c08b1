//! The time line: when one more task of a job is expected to start.
//!
//! The snapshot is carried forward: runs end when their declared durations
//! say, the plan of each such moment is carried out, and the next one is made
//! by [`crate::plan`], with everybody before the job in the queue. Nothing that
//! has not arrived is foreseen, and a node that is down stays down.
//!
//! The range is the same with every duration longer or shorter by what past
//! ones were wrong; the caller says by how much that was.

use std::collections::BTreeSet;

use fleet::{
    Changes, Decision, Milli, NodeId, Placement, Plan, Policy, RunId, Serial, Snapshot, Span,
    Stage, Time,
};

use super::{Inquiry, starts, suppose};
use crate::{Effort, Scratch, plan};

/// The most moments at which one time line plans again.
pub const MOMENTS_MAX: u32 = 256;

/// When one more task is expected to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expected {
    /// At this time.
    At(Time),
    /// Later than this, as far as it was looked into.
    After(Time),
    /// Never by itself: nothing that is known to end makes room.
    Never,
}

impl Expected {
    /// Whether this comes later than another.
    fn later(self, other: Self) -> Self {
        let key = |expected: Self| match expected {
            Self::At(time) => (0, time),
            Self::After(time) => (1, time),
            Self::Never => (2, Time::ZERO),
        };
        if key(self) >= key(other) { self } else { other }
    }

    fn earlier(self, other: Self) -> Self {
        if self.later(other) == self && self != other { other } else { self }
    }
}

/// When one more task is expected to start, and what that rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forecast {
    /// If declared durations are true.
    pub declared: Expected,
    /// The earliest and the latest, if they are wrong as past ones were. None where nothing has
    /// ended yet.
    pub range: Option<(Expected, Expected)>,
    /// Runs that have gone on for longer than declared; they are taken to end at once.
    pub overdue: u32,
    /// Runs without a known end, with those that the plan starts; they are taken never to end.
    pub endless: u32,
}

/// How wrong the declared durations of runs were that have ended: what they took ÷ what was
/// declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PastError {
    /// How many runs have ended.
    pub runs: u32,
    /// A tenth of them had this ratio at most.
    pub low: Milli,
    /// Half of them had this ratio at most.
    pub median: Milli,
    /// Nine tenths of them had this ratio at most.
    pub high: Milli,
}

impl PastError {
    /// The error of past runs, each with what it took and what was declared; those of no declared
    /// length say nothing. Quantiles are by nearest rank. None where there are none.
    #[must_use]
    pub fn of(runs: impl IntoIterator<Item = (Span, Span)>) -> Option<Self> {
        let ratio = |(took, declared): (Span, Span)| {
            let ratio = (u128::from(took.0) * 1000).checked_div(u128::from(declared.0))?;
            Some(Milli(u32::try_from(ratio).unwrap_or(u32::MAX)))
        };
        let mut ratios: Vec<Milli> = runs.into_iter().filter_map(ratio).collect();
        ratios.sort_unstable();
        let rank = |percent: usize| {
            let rank = (ratios.len() * percent).div_ceil(100).max(1);
            ratios.get(rank - 1).copied()
        };
        let runs = u32::try_from(ratios.len()).unwrap_or(u32::MAX);
        Some(Self { runs, low: rank(10)?, median: rank(50)?, high: rank(90)? })
    }
}

/// Forecasts the start of one more task than the decision starts.
#[must_use]
pub fn forecast(inquiry: &Inquiry<'_>, past: Option<&PastError>) -> Forecast {
    let range = past.map(|past| {
        let (one, other) = (expect(inquiry, past.low), expect(inquiry, past.high));
        (one.earlier(other), one.later(other))
    });
    let snapshot = inquiry.snapshot;
    let runs = || snapshot.runs.values().filter(|run| is_active(run.stage));
    let count = |runs: usize| u32::try_from(runs).unwrap_or(u32::MAX);
    let is_overdue = |end: Option<Time>| end.is_some_and(|end| end <= snapshot.at);
    let ends = || runs().map(|run| run.placement.duration.map(|span| run.since.after(span)));
    let started = inquiry.decision.plan.placements.iter();
    let starts_endless = started.filter(|placement| placement.duration.is_none()).count();
    Forecast {
        declared: expect(inquiry, Milli::WHOLE),
        range,
        overdue: count(ends().filter(|end| is_overdue(*end)).count()),
        endless: count(ends().filter(Option::is_none).count() + starts_endless),
    }
}

fn is_active(stage: Stage) -> bool {
    matches!(stage, Stage::Ordered | Stage::Running)
}

/// When one more task starts if every run takes so much of its declared duration.
fn expect(inquiry: &Inquiry<'_>, factor: Milli) -> Expected {
    let mut ahead = Ahead::new(inquiry.snapshot, factor);
    let mut next = inquiry.decision.plan.clone();
    for _ in 0..MOMENTS_MAX {
        ahead.carry_out(&next);
        if !ahead.advance(next.wake) {
            return Expected::Never;
        }
        let Inquiry { policy, effort, job, .. } = *inquiry;
        let decision = plan(&ahead.state, policy, effort, &mut ahead.scratch);
        if starts(&decision, job) > 0 {
            return Expected::At(ahead.state.at);
        }
        next = decision.plan;
    }
    Expected::After(ahead.state.at)
}

/// What is expected to start after a decision, with when, the soonest first: if every run takes as
/// long as declared, and looking ahead for at most so many moments at which plans are made, and so
/// many starts.
#[must_use]
pub fn outlook(
    (snapshot, decision): (&Snapshot, &Decision),
    (policy, effort): (&Policy, Effort),
    (moments_max, starts_max): (u32, usize),
) -> Vec<(Time, Placement)> {
    let mut ahead = Ahead::new(snapshot, Milli::WHOLE);
    let mut next = decision.plan.clone();
    let mut starts = Vec::new();
    for _ in 0..moments_max {
        ahead.carry_out(&next);
        if ahead.state.backlog.is_empty() || !ahead.advance(next.wake) {
            break;
        }
        next = plan(&ahead.state, policy, effort, &mut ahead.scratch).plan;
        let at = ahead.state.at;
        starts.extend(next.placements.iter().map(|placement| (at, placement.clone())));
        if starts.len() >= starts_max {
            starts.truncate(starts_max);
            break;
        }
    }
    starts
}

/// A snapshot on its way forward.
struct Ahead {
    state: Snapshot,
    scratch: Scratch,
    factor: Milli,
    /// When which run ends.
    ends: BTreeSet<(Time, RunId)>,
    /// The nodes that are otherwise than when the scratch last saw them.
    touched: BTreeSet<NodeId>,
    is_warm: bool,
}

impl Ahead {
    fn new(snapshot: &Snapshot, factor: Milli) -> Self {
        let mut ahead = Self {
            state: snapshot.clone(),
            scratch: Scratch::default(),
            factor,
            ends: BTreeSet::new(),
            touched: BTreeSet::new(),
            is_warm: false,
        };
        for run in snapshot.runs.values() {
            // What is to be stopped ends as soon as anything does.
            let span = if is_active(run.stage) { run.placement.duration } else { Some(Span::ZERO) };
            ahead.foresee(run.id(), run.since, span);
        }
        ahead
    }

    fn foresee(&mut self, run: RunId, since: Time, declared: Option<Span>) {
        let Some(Span(declared)) = declared else { return };
        let micros = u128::from(declared) * u128::from(self.factor.0) / 1000;
        let span = Span(u64::try_from(micros).unwrap_or(u64::MAX));
        self.ends.insert((since.after(span), run));
    }

    fn carry_out(&mut self, plan: &Plan) {
        self.touched.extend(suppose::carry_out(&mut self.state, plan));
        for placement in &plan.placements {
            self.foresee(placement.run, self.state.at, placement.duration);
        }
    }

    /// Goes on to the next moment at which something ends or another plan could differ; whether
    /// there is one.
    fn advance(&mut self, wake: Option<Time>) -> bool {
        let now = self.state.at;
        let end = self.ends.first().map(|(at, _)| (*at).max(now));
        let Some(next) = end.into_iter().chain(wake.filter(|wake| *wake > now)).min() else {
            return false;
        };
        self.state.at = next;
        let mut has_changed = !self.touched.is_empty();
        while let Some((at, run)) = self.ends.first().copied()
            && at <= next
        {
            self.ends.remove(&(at, run));
            has_changed = true;
            self.touched.extend(suppose::end(&mut self.state, run));
        }
        let before = self.state.serial;
        self.state.serial = Serial(before.0 + 1);
        if has_changed {
            self.state.changed = self.state.serial;
        }
        let nodes = std::mem::take(&mut self.touched).into_iter().collect();
        let since = self.is_warm.then_some(before);
        self.state.changes = Changes { since, nodes };
        self.is_warm = true;
        true
    }
}
