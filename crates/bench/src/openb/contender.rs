//! Contenders: the policies that are compared.

use std::sync::Arc;

use anyhow::{Context as _, bail};
use controller::policy_file;
use fleet::policy::{Batch, ByUtilisation, Objective, Weighting};
use fleet::{Milli, Policy, Span};
use planner::{Effort, Scratch};

use super::protocol::{Outcome, Trial};
use crate::args::{Knowledge, Openb, TieRule};
use crate::reference::{Devices, Planner, Reference, Term, Ties};

/// The reference policies.
pub const REFERENCES: &[Reference] = &[
    Reference { name: "random", terms: &[], devices: Devices::Drawn },
    Reference { name: "first-fit", terms: &[(Term::FirstFit, 1)], devices: Devices::BestFit },
    Reference { name: "dot-prod", terms: &[(Term::DotProduct, 1)], devices: Devices::BestFit },
    Reference {
        name: "gpu-clustering",
        terms: &[(Term::Clustering, 1)],
        devices: Devices::BestFit,
    },
    Reference { name: "gpu-packing", terms: &[(Term::Packing, 1)], devices: Devices::BestFit },
    Reference { name: "best-fit", terms: &[(Term::BestFit, 1)], devices: Devices::BestFit },
    Reference { name: "fgd", terms: &[(Term::Fragmentation, 1)], devices: Devices::Fragmentation },
    Reference { name: "pwr", terms: &[(Term::Power, 1)], devices: Devices::Power },
    mix("pwr500-fgd500", &[(Term::Power, 500), (Term::Fragmentation, 500)]),
    mix("pwr200-fgd800", &[(Term::Power, 200), (Term::Fragmentation, 800)]),
    mix("pwr100-fgd900", &[(Term::Power, 100), (Term::Fragmentation, 900)]),
    mix("pwr50-fgd950", &[(Term::Power, 50), (Term::Fragmentation, 950)]),
];

/// Motley's policies that are run where none is named, as far as they are shipped.
pub const OURS: &[&str] = &["default", "pack", "green", "balanced", BATCHED];

/// The policy pack, with look-ahead within batches of so many.
const BATCHED: &str = "batch16";
const BATCH: Batch = Batch { max_jobs: 16, max_delay: Span::seconds(60) };

/// What `--quick` runs.
const QUICK: &[&str] = &["best-fit", "fgd", "default", "pack", "green", BATCHED];

const fn mix(name: &'static str, terms: &'static [(Term, i64)]) -> Reference {
    Reference { name, terms, devices: Devices::Fragmentation }
}

/// A policy with its planner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Contender {
    /// One of the literature.
    Reference(Reference),
    /// One of Motley's.
    Ours(Box<Policy>),
}

/// The contenders that are asked for.
///
/// # Errors
/// If one is not known.
pub fn find(asked: &Openb) -> anyhow::Result<Vec<Contender>> {
    if asked.trade_offs {
        return variants();
    }
    let ours = OURS.iter().copied();
    let names: Vec<&str> = if !asked.policies.is_empty() {
        asked.policies.iter().map(String::as_str).collect()
    } else {
        let all = REFERENCES.iter().map(|reference| reference.name).chain(ours);
        all.filter(|name| !asked.quick || QUICK.contains(name)).collect()
    };
    names.into_iter().map(named).collect()
}

/// The baseline, and Motley's policies with one weight or threshold changed.
fn variants() -> anyhow::Result<Vec<Contender>> {
    let shipped = |name| policy_file::shipped(name).with_context(|| format!("find policy {name}"));
    let mut found = vec![named("fgd")?];
    let mut add = |policy: &Policy, name: String, tiers: Weighting| {
        let varied = Policy { name, tiers: vec![tiers], ..policy.clone() };
        found.push(Contender::Ours(Box::new(varied)));
    };
    let pack = shipped("pack")?;
    let Weighting::Fixed(weights) = &pack.tiers[0] else { bail!("read pack: weights move") };
    for (companion, rarity) in TRADED {
        let mut weights = *weights;
        weights[Objective::Companion.position()] = Milli(companion);
        weights[Objective::Rarity.position()] = Milli(rarity);
        let name = format!("pack companion={} rarity={}", Milli(companion), Milli(rarity));
        add(&pack, name, Weighting::Fixed(weights));
    }
    let green = shipped("green")?;
    let Weighting::ByUtilisation(rule) = &green.tiers[0] else { bail!("read green: fixed") };
    for high in [600, 700, 750, 800, 850, 900, 950].map(Milli) {
        let rule = ByUtilisation { high, ..rule.clone() };
        add(&green, format!("green high={high}"), Weighting::ByUtilisation(rule));
    }
    Ok(found)
}

/// Weights of companion and rarity that are tried, in thousandths.
const TRADED: [(u32, u32); 9] =
    [(0, 0), (0, 20), (100, 0), (30, 20), (50, 20), (100, 10), (100, 20), (100, 50), (300, 20)];

fn named(name: &str) -> anyhow::Result<Contender> {
    if let Some(reference) = REFERENCES.iter().find(|reference| reference.name == name) {
        return Ok(Contender::Reference(reference.clone()));
    }
    if name.ends_with(".toml") {
        let text = std::fs::read_to_string(name).with_context(|| format!("read policy {name}"))?;
        return Ok(Contender::Ours(Box::new(policy_file::read(name, &text)?)));
    }
    if name == BATCHED {
        let pack = policy_file::shipped("pack").context("find the policy pack")?;
        let batched = Policy { name: name.to_owned(), batch: Some(BATCH), ..pack };
        return Ok(Contender::Ours(Box::new(batched)));
    }
    let policy = policy_file::shipped(name).with_context(|| {
        let known: Vec<&str> = REFERENCES.iter().map(|reference| reference.name).collect();
        let shipped: Vec<&str> = policy_file::SHIPPED.iter().map(|(name, _)| *name).collect();
        format!(
            "find policy {name}: it is no .toml file, and there are {}, {}",
            known.join(", "),
            shipped.join(", ")
        )
    })?;
    Ok(Contender::Ours(Box::new(policy)))
}

impl Contender {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Reference(reference) => reference.name,
            Self::Ours(policy) => &policy.name,
        }
    }

    /// Whether it plans several arrivals together.
    #[must_use]
    pub fn is_batched(&self) -> bool {
        matches!(self, Self::Ours(policy) if policy.batch.is_some())
    }

    /// Runs one trial with a planner that has seen nothing yet.
    ///
    /// # Errors
    /// If a plan breaks the law, or the policy has no such way to break ties.
    pub fn run(&self, trial: &Trial<'_>, ties: TieRule, mix: Knowledge) -> anyhow::Result<Outcome> {
        match self {
            Self::Reference(reference) => {
                let ties = match ties {
                    TieRule::Published | TieRule::Csv => Ties::LowestId,
                    TieRule::Random => Ties::Drawn,
                };
                let typical = Arc::clone(&trial.trace.typical);
                let mut planner = Planner::new(reference.clone(), typical, ties, trial.seed);
                // Reference planners read no policy, but a turn passes one on.
                trial.run(&unread()?, mix, &mut |snapshot, _, _| planner.plan(snapshot))
            }
            Self::Ours(policy) => {
                let seed = (ties == TieRule::Random).then_some(trial.seed);
                let mut scratch = Scratch::default();
                trial.run(policy, mix, &mut |snapshot, policy, effort| {
                    planner::plan(snapshot, policy, Effort { seed, ..effort }, &mut scratch)
                })
            }
        }
    }
}

fn unread() -> anyhow::Result<Policy> {
    policy_file::shipped("default").context("find the policy default")
}
