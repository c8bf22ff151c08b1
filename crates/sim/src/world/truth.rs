//! How fast jobs really run.
//!
//! A planner knows what is declared. The world runs jobs at these rates, and
//! reports measure by them.

use fleet::{Alternative, ClassId, Classes, Job, Milli, Rate, Span};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::workload::{Inventory, Truth};

/// True rates, drawn from a seed where they are not given.
#[derive(Clone, Debug, Default)]
pub struct TrueRates {
    /// What the workload says about them.
    pub truth: Truth,
    /// Decides the errors of declared rates: by job and class, so that one job more changes no other's.
    pub seed: u64,
}

impl TrueRates {
    /// How fast a task of `job` really runs this way on a device of this class; `None` where no
    /// rate is declared for it.
    #[must_use]
    pub fn rate(
        &self,
        job: &Job,
        way: &Alternative,
        class: ClassId,
        classes: &Classes,
    ) -> Option<Rate> {
        let model = &classes.get(class).model;
        let declared = way.rate(model)?;
        let given = self.truth.rates.get(&job.name).and_then(|rates| rates.get(model));
        Some(given.copied().unwrap_or_else(|| self.with_error(declared, job, class)))
    }

    /// The shortest time that a task of `job` could really take anywhere in this fleet; `None` where
    /// it has no end or can run nowhere.
    #[must_use]
    pub fn best_duration(&self, job: &Job, inventory: &Inventory) -> Option<Span> {
        let work = job.work?;
        let classes = &inventory.classes;
        let on_class = |class: ClassId, way: &Alternative| {
            let accepted = match &way.request.devices {
                None => true,
                Some(request) => request.accepts(classes.get(class)),
            };
            if accepted { work.duration(self.rate(job, way, class, classes)?) } else { None }
        };
        let mut best = None;
        for way in job.alternatives.iter() {
            let mut tried = vec![false; classes.0.len()];
            for node in &inventory.nodes {
                for class in way.classes_on(node, classes) {
                    if !std::mem::replace(&mut tried[class.index()], true) {
                        best = least(best, on_class(class, way));
                    }
                }
            }
        }
        best
    }

    fn with_error(&self, declared: Rate, job: &Job, class: ClassId) -> Rate {
        let error = self.truth.rate_error;
        if error.is_zero() {
            return declared;
        }
        let factor = self.factor(error, job, class);
        let rate = u128::from(declared.0) * u128::from(factor) / 1_000_000;
        Rate(u64::try_from(rate).unwrap_or(u64::MAX).max(1))
    }

    /// A factor in millionths, evenly from one minus to one plus the error.
    fn factor(&self, error: Milli, job: &Job, class: ClassId) -> u64 {
        let mut dice = ChaCha8Rng::seed_from_u64(self.seed);
        dice.set_stream(job.id.0.wrapping_mul(1 << 16).wrapping_add(u64::from(class.0)));
        let error = u64::from(error.0).min(1000) * 1000;
        let width = u128::from(2 * error + 1);
        let drawn = (u128::from(dice.next_u64()) * width) >> 64;
        1_000_000 - error + u64::try_from(drawn).expect("less than the width, which fits")
    }
}

/// The lesser of two spans, of those that there are.
fn least(one: Option<Span>, other: Option<Span>) -> Option<Span> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
