//! Demand: the job's side of every choice, which is how fast it is on what.
//!
//! Also here is patience. A choice that is slower than the fleet's fastest by
//! some time is taken only once the job has waited patience × that time. With
//! a patience of one a job never loses more by waiting than twice what it
//! would have lost had it known the future: the ski-rental rule of on-line
//! algorithms. It needs no forecast, and the answer does not depend on what
//! else is placed in the same plan.

use fleet::explanation::Patience;
use fleet::{ClassId, Job, Milli, Policy, Rate, Snapshot, Span, Time};

use crate::Scratch;
use crate::objective::Ask;
use crate::shapes::JobShape;
use crate::staging::Staging;

/// How fast a job is on what.
pub(crate) struct Demand {
    pub(crate) ask: Ask,
    /// By alternative, for every class that could run it, ascending by class.
    paces: Vec<Vec<Pace>>,
    fastest: Option<Pace>,
    /// What its tasks fetch, where they read anything.
    pub(crate) staging: Option<Staging>,
}

/// How fast one alternative is declared to run on one class.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    pub(crate) class: ClassId,
    pub(crate) rate: Rate,
    /// `None` where the work is not known.
    pub(crate) duration: Option<Span>,
    /// The duration, or a nominal one where the work is not known.
    pub(crate) seconds: f64,
    /// From when on the policy takes it.
    pub(crate) from: Time,
}

impl Demand {
    pub(crate) fn new(
        job: &Job,
        shape: &JobShape,
        snapshot: &Snapshot,
        policy: &Policy,
        scratch: &mut Scratch,
    ) -> Self {
        let Scratch { groups, shapes, .. } = scratch;
        let mut paces = Vec::with_capacity(shape.len());
        let mut watts = Vec::with_capacity(shape.len());
        for one in shape.iter() {
            let prospects = shapes.prospects(*one, groups);
            let alternative = shapes.alternative(*one);
            let pace = |class: &ClassId| {
                let rate = alternative.rate(&snapshot.classes.get(*class).model);
                pace(job, *class, rate.expect("a class that could run it has a rate"))
            };
            paces.push(prospects.least_watts.keys().map(pace).collect::<Vec<_>>());
            watts.push(prospects);
        }
        let all = || paces.iter().flatten().copied();
        let fastest =
            all().min_by_key(|pace| (pace.duration, std::cmp::Reverse(pace.rate), pace.class));
        for pace in paces.iter_mut().flatten() {
            let best = fastest.expect("there is a pace");
            settle(pace, best, job, policy);
        }
        let best_seconds =
            paces.iter().flatten().map(|pace| pace.seconds).fold(f64::INFINITY, f64::min);
        let joules = paces.iter().zip(&watts).flat_map(|(paces, prospects)| {
            paces.iter().map(|pace| pace.seconds * prospects.least_watts[&pace.class])
        });
        let best_joules = joules.fold(f64::INFINITY, f64::min);
        let slack = |deadline: Time| {
            if deadline >= snapshot.at {
                deadline.since(snapshot.at).as_seconds()
            } else {
                -snapshot.at.since(deadline).as_seconds()
            }
        };
        let ask = Ask { best_seconds, best_joules, slack_seconds: job.deadline.map(slack) };
        Self { ask, paces, fastest, staging: Staging::new(job, snapshot) }
    }

    /// The pace of an alternative on a class that has room for it.
    pub(crate) fn pace(&self, alternative: usize, class: ClassId) -> Pace {
        let paces = &self.paces[alternative];
        let position = paces.binary_search_by_key(&class, |pace| pace.class);
        paces[position.expect("a class that has room could run it")]
    }

    /// The classes that could run an alternative, ascending.
    pub(crate) fn classes(&self, alternative: usize) -> Vec<ClassId> {
        self.paces[alternative].iter().map(|pace| pace.class).collect()
    }

    /// The alternatives and classes that are not taken yet.
    pub(crate) fn spared(&self, now: Time) -> Vec<(usize, ClassId)> {
        let paces = self.paces.iter().enumerate();
        let all = paces.flat_map(|(alternative, paces)| {
            paces.iter().map(move |pace| (alternative, pace.class, pace.from))
        });
        let spared = all.filter(|(.., from)| *from > now);
        spared.map(|(alternative, class, _)| (alternative, class)).collect()
    }

    /// Why nothing is taken though `offered` is the fastest that has room.
    pub(crate) fn patience(&self, offered: Pace) -> Patience {
        let fastest = self.fastest.expect("what has room could run it");
        Patience {
            best: fastest.class,
            best_duration: fastest.duration.expect("only known durations are waited for"),
            offered: offered.class,
            offered_duration: offered.duration.expect("only known durations are waited for"),
            until: offered.from,
        }
    }
}

fn pace(job: &Job, class: ClassId, rate: Rate) -> Pace {
    let duration = job.work.and_then(|work| work.duration(rate));
    Pace { class, rate, duration, seconds: 0.0, from: Time::ZERO }
}

/// Fills in what depends on the fastest pace.
fn settle(pace: &mut Pace, fastest: Pace, job: &Job, policy: &Policy) {
    match (pace.duration, fastest.duration) {
        (Some(duration), Some(best)) => {
            pace.seconds = duration.as_seconds();
            if policy.pick.weighs() {
                let longer = duration.saturating_sub(best);
                pace.from = job.arrival.after(scaled(longer, policy.patience));
            }
        }
        _ => {
            let sigma = policy.scale.completion.as_seconds();
            pace.seconds = sigma * fastest.rate.0 as f64 / pace.rate.0 as f64;
        }
    }
}

/// A fraction of a span, rounded down; the longest span where it does not fit.
fn scaled(span: Span, fraction: Milli) -> Span {
    let micros = u128::from(span.0) * u128::from(fraction.0) / 1000;
    Span(u64::try_from(micros).unwrap_or(u64::MAX))
}
