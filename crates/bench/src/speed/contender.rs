//! Who plans: the two policies of Motley's that are timed, and the reference.

use std::sync::Arc;

use anyhow::Context as _;
use clap::ValueEnum;
use controller::{Planning, policy_file};
use fleet::Policy;
use planner::Scratch;

use super::input::Input;
use crate::openb::contender::REFERENCES;
use crate::reference::typical::Typical;
use crate::reference::{Planner, Ties};

/// Who plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Contender {
    /// Motley, without the objective of fragmentation
    Plain,
    /// Motley, with the objective of fragmentation
    Frag,
    /// The fragmentation gradient of the literature
    Fgd,
}

/// The reference that is timed.
const REFERENCE: &str = "fgd";

impl Contender {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::Plain, Self::Frag, Self::Fgd];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Frag => "frag",
            Self::Fgd => "fgd",
        }
    }

    /// What it is called in reports, and its policy.
    ///
    /// # Errors
    /// If there is no such policy.
    pub fn policy(self) -> anyhow::Result<(&'static str, Policy)> {
        match self {
            Self::Plain => without_fragmentation(),
            Self::Frag => with_fragmentation(),
            Self::Fgd => {
                // Reference planners read no policy, but a turn passes one on.
                let unread = policy_file::shipped("default").context("find the policy default")?;
                Ok((REFERENCE, unread))
            }
        }
    }

    /// A planner that has seen nothing yet.
    ///
    /// # Errors
    /// If the reference is not there.
    pub fn planning(self, input: &Input) -> anyhow::Result<Box<Planning<'static>>> {
        match self {
            Self::Plain | Self::Frag => {
                let mut scratch = Scratch::default();
                Ok(Box::new(move |snapshot, policy, effort| {
                    planner::plan(snapshot, policy, effort, &mut scratch)
                }))
            }
            Self::Fgd => {
                let found = REFERENCES.iter().find(|reference| reference.name == REFERENCE);
                let reference = found.context("find the reference policy")?.clone();
                // Every shape arrives as often as any other, so the set is its own distribution.
                let typical = Arc::new(Typical::of(input.shapes.iter(), &input.classes));
                let mut planner = Planner::new(reference, typical, Ties::LowestId, 0);
                Ok(Box::new(move |snapshot, _, _| planner.plan(snapshot)))
            }
        }
    }
}

/// The policy timed without the objective of fragmentation: its label, and itself.
fn without_fragmentation() -> anyhow::Result<(&'static str, Policy)> {
    Ok(("plain", weighing("plain", "{ utilisation = 1 }")?))
}

/// The policy timed with the objective of fragmentation: its label, and itself.
fn with_fragmentation() -> anyhow::Result<(&'static str, Policy)> {
    Ok(("frag", policy_file::shipped("pack").context("find the policy pack")?))
}

/// A policy that weighs like this and does nothing else.
fn weighing(name: &str, weights: &str) -> anyhow::Result<Policy> {
    let text = format!(
        "format = 1\nname = \"{name}\"\norder = [\"first-in\"]\npick = \"weighted\"\n\
         [[tier]]\nrule = \"fixed\"\nweights = {weights}\n"
    );
    policy_file::read(name, &text).with_context(|| format!("read the policy {name}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contender_has_a_policy_and_the_name_of_the_command_line() {
        for contender in Contender::ALL {
            assert!(contender.policy().is_ok());
            assert_eq!(Contender::from_str(contender.name(), false), Ok(contender));
        }
    }
}
