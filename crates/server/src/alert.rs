//! Alerts: rules over metrics, and how each stands.
//!
//! In come rules from a file and, again and again, the metrics of a moment; out
//! come the states that changed. A rule is looked at for every set of labels
//! that its metric has. Nothing here reads a clock or sends anything.

mod rules;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

pub use rules::{Rule, RuleError, Rules, Severity, Webhook};

use crate::api::{AlertState, AlertView};
use crate::metrics::{Family, is_known, numbers};

/// The most sets of labels that one rule is looked at for.
const SETS_MAX: usize = 100;

/// For so long an alert that has resolved is shown, in microseconds.
const SHOWN: u64 = 900_000_000;

/// For so long at most alerts that were remembered stand as they did while nothing measures their
/// metric: sensors have not been looked at yet when a daemon begins. In microseconds.
const AWAITED: u64 = 60_000_000;

/// What is remembered of one rule for one set of labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// The name of the rule.
    pub rule: String,
    /// The labels of what is watched.
    pub labels: BTreeMap<String, String>,
    /// How it stands.
    pub state: AlertState,
    /// Since when, in microseconds.
    pub since: u64,
    /// While it fires: since when what is watched is as it should be.
    pub calm: Option<u64>,
    /// What was measured last.
    pub value: Option<f64>,
}

impl Instance {
    /// Whether it stands as another does, whatever was measured last.
    fn stands_as(&self, other: &Self) -> bool {
        let of = |one: &Self| (one.state, one.since, one.calm);
        self.rule == other.rule && self.labels == other.labels && of(self) == of(other)
    }
}

/// Whether alerts stand otherwise than they did, so that it is to be remembered.
#[must_use]
pub fn is_news(before: &[Instance], after: &[Instance]) -> bool {
    before.len() != after.len()
        || !before.iter().zip(after).all(|(before, after)| before.stands_as(after))
}

/// The rules, and how each stands.
#[derive(Debug, Default)]
pub struct Alerts {
    rules: Vec<Rule>,
    instances: Vec<Instance>,
    /// The metrics of alerts that were remembered, until each is measured.
    awaited: BTreeSet<String>,
    /// Until when they are waited for.
    awaited_until: Option<u64>,
}

impl Alerts {
    /// These rules, standing as they did; what rules no more is forgotten.
    #[must_use]
    pub fn new(rules: Vec<Rule>, mut instances: Vec<Instance>) -> Self {
        instances.retain(|one| rules.iter().any(|rule| rule.name == one.rule));
        let is_remembered = |rule: &&Rule| instances.iter().any(|one| one.rule == rule.name);
        let awaited = rules.iter().filter(is_remembered).map(|rule| rule.metric.clone()).collect();
        Self { rules, instances, awaited, awaited_until: None }
    }

    /// Whether there is any rule.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The rules, by name, that watch no metric of these, and the name of what they watch.
    pub fn strays<'a>(
        &'a self,
        families: &'a [Family],
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let strays = self.rules.iter().filter(|rule| !is_known(families, &rule.metric));
        strays.map(|rule| (rule.name.as_str(), rule.metric.as_str()))
    }

    /// What is to be remembered.
    #[must_use]
    pub fn instances(&self) -> &[Instance] {
        &self.instances
    }

    /// Stands again as before a look, of which nobody heard.
    pub fn take_back(&mut self, instances: Vec<Instance>) {
        self.instances = instances;
    }

    /// Looks at the metrics of a moment: the alerts that stand otherwise than before.
    pub fn step(&mut self, now: u64, families: &[Family]) -> Vec<AlertView> {
        let mut changed = Vec::new();
        self.await_metrics(now, families);
        let before = std::mem::take(&mut self.instances);
        let mut before: BTreeMap<_, _> =
            before.into_iter().map(|one| ((one.rule.clone(), one.labels.clone()), one)).collect();
        for rule in &self.rules {
            let mut measured = numbers(families, &rule.metric);
            measured.retain(|(labels, _)| rule.is_about(labels));
            // An alert that is open is not to resolve because others came before it.
            measured.sort_by_cached_key(|(labels, _)| {
                let known = before.get(&(rule.name.clone(), labels.clone()));
                let is_open = |state| matches!(state, AlertState::Pending | AlertState::Firing);
                !known.is_some_and(|one| is_open(one.state))
            });
            let measured = measured.into_iter().take(SETS_MAX);
            let mut values: BTreeMap<_, _> =
                measured.map(|(labels, value)| (labels, Some(value))).collect();
            // What is not measured any more is looked at a last time.
            for (_, labels) in before.keys().filter(|(name, _)| *name == rule.name) {
                values.entry(labels.clone()).or_insert(None);
            }
            for (labels, value) in values {
                let known = before.remove(&(rule.name.clone(), labels.clone()));
                if value.is_none() && self.awaited.contains(&rule.metric) {
                    self.instances.extend(known);
                    continue;
                }
                let state = known.as_ref().map_or(AlertState::Inactive, |one| one.state);
                let fresh = Instance {
                    rule: rule.name.clone(),
                    labels,
                    state: AlertState::Inactive,
                    since: now,
                    calm: None,
                    value,
                };
                let next = follow(rule, known.unwrap_or(fresh), (value, now));
                if next.state != state {
                    changed.push(view(rule, &next));
                }
                if next.state != AlertState::Inactive {
                    self.instances.push(next);
                }
            }
        }
        changed
    }

    /// Waits no more for what is measured now, nor for what should have been long since.
    fn await_metrics(&mut self, now: u64, families: &[Family]) {
        let until = *self.awaited_until.get_or_insert(now.saturating_add(AWAITED));
        self.awaited.retain(|metric| now < until && numbers(families, metric).is_empty());
    }

    /// Every rule, with how it stands; one that watches nothing unusual once, as inactive.
    #[must_use]
    pub fn views(&self) -> Vec<AlertView> {
        let mut views = Vec::new();
        for rule in &self.rules {
            let of_rule = self.instances.iter().filter(|one| one.rule == rule.name);
            let before = views.len();
            views.extend(of_rule.map(|one| view(rule, one)));
            if views.len() == before {
                let (labels, state) = (rule.labels.clone(), AlertState::Inactive);
                let rule_name = rule.name.clone();
                let quiet =
                    Instance { rule: rule_name, labels, state, since: 0, calm: None, value: None };
                views.push(view(rule, &quiet));
            }
        }
        views
    }
}

/// What becomes of an instance, now that this was measured.
fn follow(rule: &Rule, before: Instance, (value, now): (Option<f64>, u64)) -> Instance {
    let mut next = Instance { value, ..before };
    let mut turn = |state: AlertState| {
        (next.state, next.since, next.calm) = (state, now, None);
    };
    let is_wrong = value.is_some_and(|value| rule.is_wrong(value));
    let is_calm = value.is_none_or(|value| rule.is_calm(value));
    let lasted = now.saturating_sub(before.since);
    match before.state {
        AlertState::Inactive | AlertState::Resolved if is_wrong && rule.lasting.0 == 0 => {
            turn(AlertState::Firing);
        }
        AlertState::Inactive | AlertState::Resolved if is_wrong => turn(AlertState::Pending),
        AlertState::Resolved if lasted > SHOWN => turn(AlertState::Inactive),
        AlertState::Pending if !is_wrong => turn(AlertState::Inactive),
        AlertState::Pending if lasted >= rule.lasting.0 => turn(AlertState::Firing),
        AlertState::Firing if !is_calm => next.calm = None,
        AlertState::Firing => {
            let calm = before.calm.unwrap_or(now);
            match now.saturating_sub(calm) >= rule.clear_lasting.0 {
                true => turn(AlertState::Resolved),
                false => next.calm = Some(calm),
            }
        }
        AlertState::Inactive | AlertState::Resolved | AlertState::Pending => {}
    }
    next
}

fn view(rule: &Rule, one: &Instance) -> AlertView {
    AlertView {
        name: rule.name.clone(),
        summary: rule.summary.clone(),
        severity: rule.severity.name().to_owned(),
        rule: rule.to_string(),
        labels: one.labels.clone(),
        state: one.state,
        value: one.value,
        since: one.since,
    }
}
