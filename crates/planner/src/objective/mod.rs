//! Objectives: what a choice costs, and the least that it could cost.
//!
//! Each module answers for one choice with a cost in its own unit and with a
//! bound: the best that this fleet, as it is up now, could ever do for this
//! job. The score `(bound + σ) ÷ (cost + σ)` is in (0, 1] and free of units.
//! The formulas with examples are in `docs/objectives.md`.

pub mod completion;
pub mod utilisation;
pub mod fragmentation;
pub mod companion;
pub mod rarity;
pub mod energy;
pub mod deadline;
pub mod locality;
pub mod interference;
pub mod external;
pub mod outlook;
pub mod remote;

use fleet::Micro;
use fleet::policy::{Objective, Scale};

/// What is asked for, as far as objectives care.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ask {
    /// Seconds that one task takes on the fastest class of this fleet.
    pub best_seconds: f64,
    /// Joules that one task adds on the most frugal class of this fleet.
    pub best_joules: f64,
    /// Seconds left until the deadline; negative once it has passed.
    pub slack_seconds: Option<f64>,
}

/// One choice, as far as objectives care.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Choice<'a> {
    /// Seconds until the task has ended: see [`Effects::seconds`].
    pub seconds: f64,
    /// What it does to its node.
    pub effects: Effects,
    /// By slot, the numbers of the signals that the policy weighs; empty where it weighs none.
    pub levels: &'a [f64],
}

/// What a choice does to its node and to its task. What no tier weighs is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effects {
    /// Watts that it adds.
    pub added_watts: f64,
    /// See [`utilisation::stranded`].
    pub stranded: f64,
    /// See [`fragmentation::capacity_lost`].
    pub capacity_lost: f64,
    /// See [`companion`].
    pub companions_lost: f64,
    /// See [`rarity`].
    pub rarity: f64,
    /// By what part the task takes longer here than its rate says; zero where nothing is known.
    pub stretch: f64,
    /// Seconds before the task can begin.
    pub delay: f64,
    /// Gigabytes that it moves; see [`locality`].
    pub moved: f64,
    /// What others lose in each second that it runs, in seconds; see [`interference`].
    pub imposed: f64,
}

impl Effects {
    /// How long what would take so many seconds by its rate takes in all.
    #[must_use]
    pub fn seconds(&self, by_rate: f64) -> f64 {
        by_rate * (1.0 + self.stretch) + self.delay
    }
}

/// How one objective answers.
struct Answers {
    cost: fn(&Ask, &Choice<'_>) -> f64,
    bound: fn(&Ask) -> f64,
    /// Its σ, in the unit of its cost.
    reference: fn(&Scale) -> f64,
}

fn answers(objective: Objective) -> Answers {
    match objective {
        Objective::Completion => Answers {
            cost: completion::cost,
            bound: completion::bound,
            reference: |scale| scale.completion.as_seconds(),
        },
        Objective::Utilisation => Answers {
            cost: utilisation::cost,
            bound: utilisation::bound,
            reference: |scale| f64::from(scale.utilisation.0),
        },
        Objective::Fragmentation => Answers {
            cost: fragmentation::cost,
            bound: fragmentation::bound,
            reference: |scale| f64::from(scale.fragmentation.0),
        },
        Objective::Companion => Answers {
            cost: companion::cost,
            bound: companion::bound,
            reference: |scale| f64::from(scale.companion.0),
        },
        Objective::Rarity => Answers {
            cost: rarity::cost,
            bound: rarity::bound,
            reference: |scale| f64::from(scale.rarity.0) / 1e3,
        },
        Objective::Energy => Answers {
            cost: energy::cost,
            bound: energy::bound,
            reference: |scale| scale.energy.as_joules(),
        },
        Objective::Deadline => Answers {
            cost: deadline::cost,
            bound: deadline::bound,
            reference: |scale| f64::from(scale.deadline.0) / 1e6,
        },
        Objective::Locality => Answers {
            cost: locality::cost,
            bound: locality::bound,
            reference: |scale| scale.locality.0 as f64 / 1e9,
        },
        Objective::Interference => Answers {
            cost: interference::cost,
            bound: interference::bound,
            reference: |scale| scale.interference.as_seconds(),
        },
        Objective::External(_) => unreachable!("an external objective answers by its slot"),
    }
}

/// The score of a choice: `(bound + σ) ÷ (cost + σ)`, in (0, 1].
#[must_use]
pub fn score(objective: Objective, ask: &Ask, choice: &Choice<'_>, scale: &Scale) -> Micro {
    if let Objective::External(slot) = objective {
        return external::score(slot, choice, scale);
    }
    let Answers { cost, bound, reference } = answers(objective);
    let sigma = reference(scale);
    Micro::score((bound(ask) + sigma) / (cost(ask, choice) + sigma))
}
