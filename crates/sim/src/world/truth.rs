//! How fast jobs really run, and how much they really have to do.
//!
//! A planner knows what is declared. The world runs jobs by this, and reports
//! measure by it.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::{Alternative, ClassId, Classes, Failure, Job, JobId, Milli, Rate, RunId, Span, Work};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use super::Makes;
use crate::dice::fingerprint;
use crate::workload::Truth;

/// True rates, drawn from a seed where they are not given.
///
/// An error is drawn by the seed, the job's name, its place among the jobs of that name, and the
/// model: a job more changes no other's, unless it has the same name and comes earlier.
#[derive(Clone, Debug, Default)]
pub struct TrueRates {
    truth: Truth,
    seed: u64,
    /// How many jobs of its name come before each job that is not the first of its name.
    places: BTreeMap<JobId, u64>,
}

impl TrueRates {
    /// The true rates of these jobs, given in the order of the workload.
    #[must_use]
    pub fn new(truth: Truth, jobs: &[Arc<Job>], seed: u64) -> Self {
        let mut places = BTreeMap::new();
        if !truth.rate_error.is_zero() || truth.work_error > Milli::WHOLE {
            let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
            for job in jobs {
                let place = seen.entry(&job.name).or_default();
                if *place > 0 {
                    places.insert(job.id, *place);
                }
                *place += 1;
            }
        }
        Self { truth, seed, places }
    }

    /// How strongly runs hold each other up, in thousandths of what links and work say.
    #[must_use]
    pub fn contention(&self) -> Milli {
        self.truth.contention
    }

    /// What it costs a task to go on from where it was when it was stopped; `None` where it begins
    /// anew.
    #[must_use]
    pub fn restart(&self) -> Option<Span> {
        self.truth.restart
    }

    /// How strongly memory that is not near slows a task.
    #[must_use]
    pub fn remote_memory(&self) -> Milli {
        self.truth.remote_memory
    }

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
        Some(given.copied().unwrap_or_else(|| self.with_error(declared, job, model)))
    }

    /// How much a task of `job` really has to do; `None` where it has no end.
    #[must_use]
    pub fn work(&self, job: &Job) -> Option<Work> {
        let given = self.truth.work.get(&job.id).copied();
        given.or_else(|| job.work.map(|work| self.work_with_error(work, job)))
    }

    /// The shortest time that a task of `job` could really take on some node of this fleet if that
    /// were empty; `None` where it has no end or can run nowhere.
    #[must_use]
    pub fn best_duration(&self, job: &Job, makes: &Makes<'_>) -> Option<Span> {
        let work = self.work(job)?;
        let ways = job
            .alternatives
            .iter()
            .flat_map(|way| makes.classes_for(way).into_iter().map(move |class| (way, class)));
        let durations = ways
            .filter_map(|(way, class)| work.duration(self.rate(job, way, class, makes.classes)?));
        durations.min()
    }

    /// Why a run comes to its end without having done its work; `None` where it does it.
    #[must_use]
    pub fn failure(&self, run: RunId) -> Option<Failure> {
        if self.truth.failing.is_zero() {
            return None;
        }
        let mut dice = ChaCha8Rng::seed_from_u64(self.seed);
        dice.set_stream(fingerprint(&["failure", &run.to_string()]));
        if dice.next_u64() % 1000 >= u64::from(self.truth.failing.0) {
            return None;
        }
        Some(if dice.next_u64() % 4 == 0 { Failure::Lost } else { Failure::Status(1) })
    }

    fn with_error(&self, declared: Rate, job: &Job, model: &str) -> Rate {
        let error = self.truth.rate_error;
        if error.is_zero() {
            return declared;
        }
        let factor = self.factor(error, job, model);
        let rate = u128::from(declared.0) * u128::from(factor) / 1_000_000;
        Rate(u64::try_from(rate).unwrap_or(u64::MAX).max(1))
    }

    /// More or less than what is declared by a factor whose logarithm is drawn evenly.
    fn work_with_error(&self, declared: Work, job: &Job) -> Work {
        let most = f64::from(self.truth.work_error.0) / 1e3;
        if most <= 1.0 {
            return declared;
        }
        let place = self.places.get(&job.id).copied().unwrap_or(0);
        let mut dice = ChaCha8Rng::seed_from_u64(self.seed);
        dice.set_stream(fingerprint(&["work error", &job.name, &place.to_string()]));
        let drawn = dice.next_u64() as f64 / u64::MAX as f64;
        let work = declared.0 as f64 * libm::pow(most, 2.0 * drawn - 1.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a cast saturates"
        )]
        let work = work as u64;
        Work(work.max(1))
    }

    /// A factor in millionths, evenly from one minus to one plus the error.
    fn factor(&self, error: Milli, job: &Job, model: &str) -> u64 {
        let place = self.places.get(&job.id).copied().unwrap_or(0);
        let mut dice = ChaCha8Rng::seed_from_u64(self.seed);
        dice.set_stream(fingerprint(&["rate error", &job.name, &place.to_string(), model]));
        let error = u64::from(error.0).min(1000) * 1000;
        let width = u128::from(2 * error + 1);
        let drawn = (u128::from(dice.next_u64()) * width) >> 64;
        1_000_000 - error + u64::try_from(drawn).expect("less than the width, which fits")
    }
}
