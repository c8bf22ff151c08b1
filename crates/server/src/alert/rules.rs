//! The file of alert rules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;

use fleet::Span;
use serde::Deserialize;
use thiserror::Error;

/// The most rules of one file.
const RULES_MAX: usize = 1_000;

/// How often the metrics are looked at where the file does not say, and what it may say.
const EVERY: Span = Span(5_000_000);
const EVERY_MIN: Span = Span(1_000_000);
const EVERY_MAX: Span = Span(3_600_000_000);

/// The version of the file's form.
const FORMAT: u32 = 1;

/// Rules, and who is told.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// The rules, of distinct names.
    pub rules: Vec<Rule>,
    /// Who is told when one fires or resolves.
    pub webhook: Option<Webhook>,
    /// How often the metrics are looked at.
    pub every: Span,
}

/// A receiver of notices.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// Where to: an address of http or https.
    pub url: String,
    /// The file with the key that notices are signed by: a path that begins at the root.
    pub secret_file: Option<PathBuf>,
}

/// One rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// The metric that it watches.
    pub metric: String,
    /// The labels that it watches; others may be any.
    pub labels: BTreeMap<String, String>,
    /// What is wrong.
    pub bound: Bound,
    /// What is as it should be once it fires; between the two it goes on firing.
    pub clear: f64,
    /// For how long it must be wrong.
    pub lasting: Span,
    /// For how long it must be as it should.
    pub clear_lasting: Span,
    /// How bad it is.
    pub severity: Severity,
    /// What it means and what to do.
    pub summary: String,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// What is larger.
    Above(f64),
    /// What is smaller.
    Below(f64),
}

/// How bad it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Somebody should look.
    #[default]
    Warning,
    /// Somebody must look now.
    Critical,
}

impl Severity {
    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// Why a file of rules is refused.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum RuleError {
    /// It is not in the form.
    #[error("{0}")]
    Form(String),
    /// One rule makes no sense.
    #[error("alert {number} ({name:?}): {what}")]
    Rule {
        /// Which, counted from 1.
        number: usize,
        /// Its name.
        name: String,
        /// What is wrong.
        what: String,
    },
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileText {
    format: u32,
    every: Option<String>,
    webhook: Option<Webhook>,
    #[serde(default)]
    alert: Vec<RuleText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleText {
    name: String,
    metric: String,
    #[serde(default)]
    labels: BTreeMap<String, String>,
    above: Option<f64>,
    below: Option<f64>,
    clear: Option<f64>,
    #[serde(rename = "for")]
    lasting: Option<String>,
    clear_for: Option<String>,
    #[serde(default)]
    severity: Severity,
    #[serde(default)]
    summary: String,
}

impl Rules {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// If it is not in the form, or a rule makes no sense: which, and why.
    pub fn read(text: &str) -> Result<Self, RuleError> {
        let form = |what: String| RuleError::Form(what);
        let file: FileText = toml::from_str(text).map_err(|error| form(error.to_string()))?;
        if file.format != FORMAT {
            let what = format!("`format` is {}; this program reads {FORMAT}", file.format);
            return Err(form(what));
        }
        if file.alert.len() > RULES_MAX {
            return Err(form(format!("it has more than {RULES_MAX} alerts")));
        }
        if let Some(hook) = &file.webhook
            && !hook.url.starts_with("http://")
            && !hook.url.starts_with("https://")
        {
            return Err(form(format!(
                "webhook: `url` is {:?}; begin it with http(s)://",
                hook.url
            )));
        }
        let key = file.webhook.as_ref().and_then(|hook| hook.secret_file.as_ref());
        if let Some(key) = key.filter(|key| key.is_relative()) {
            // The next daemon reads it too, and may begin in another directory.
            return Err(form(format!("webhook: `secret_file` is {key:?}; begin it with /")));
        }
        let every = match file.every {
            None => EVERY,
            Some(text) => text.parse().map_err(|error| form(format!("`every`: {error}")))?,
        };
        if !(EVERY_MIN..=EVERY_MAX).contains(&every) {
            return Err(form(format!("`every` is {every}; give {EVERY_MIN} to {EVERY_MAX}")));
        }
        let mut rules = Vec::with_capacity(file.alert.len());
        let mut names = BTreeSet::new();
        for (place, told) in file.alert.into_iter().enumerate() {
            let (number, name) = (place + 1, told.name.clone());
            let rule = match names.insert(name.clone()) {
                true => rule(told),
                false => Err("another alert has this name".to_owned()),
            };
            rules.push(rule.map_err(|what| RuleError::Rule { number, name, what })?);
        }
        Ok(Self { rules, webhook: file.webhook, every })
    }
}

fn rule(told: RuleText) -> Result<Rule, String> {
    let RuleText { name, metric, labels, above, below, clear, severity, summary, .. } = told;
    if name.trim().is_empty() || metric.trim().is_empty() {
        return Err("`name` and `metric` are to be given".to_owned());
    }
    let bound = match (above, below) {
        (Some(above), None) => Bound::Above(above),
        (None, Some(below)) => Bound::Below(below),
        _ => return Err("give either `above` or `below`".to_owned()),
    };
    let (Bound::Above(limit) | Bound::Below(limit)) = bound;
    let clear = clear.unwrap_or(limit);
    let is_beyond = match bound {
        Bound::Above(limit) => clear > limit,
        Bound::Below(limit) => clear < limit,
    };
    if is_beyond || !limit.is_finite() || !clear.is_finite() {
        return Err(format!("`clear` is {clear}, which is beyond what is wrong ({limit})"));
    }
    let span = |what: &str, text: Option<String>| match text {
        None => Ok(Span::ZERO),
        Some(text) => text.parse::<Span>().map_err(|error| format!("`{what}`: {error}")),
    };
    let lasting = span("for", told.lasting)?;
    let clear_lasting = span("clear_for", told.clear_for)?;
    Ok(Rule { name, metric, labels, bound, clear, lasting, clear_lasting, severity, summary })
}

impl Rule {
    /// Whether it watches what has these labels.
    pub(super) fn is_about(&self, labels: &BTreeMap<String, String>) -> bool {
        self.labels.iter().all(|(name, text)| labels.get(name) == Some(text))
    }

    pub(super) fn is_wrong(&self, value: f64) -> bool {
        match self.bound {
            Bound::Above(limit) => value > limit,
            Bound::Below(limit) => value < limit,
        }
    }

    pub(super) fn is_calm(&self, value: f64) -> bool {
        match self.bound {
            Bound::Above(_) => value <= self.clear,
            Bound::Below(_) => value >= self.clear,
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.metric)?;
        if !self.labels.is_empty() {
            let labels = self.labels.iter().map(|(name, text)| format!("{name}={text:?}"));
            write!(f, "{{{}}}", labels.collect::<Vec<_>>().join(","))?;
        }
        match self.bound {
            Bound::Above(limit) => write!(f, " above {limit}")?,
            Bound::Below(limit) => write!(f, " below {limit}")?,
        }
        if self.lasting != Span::ZERO {
            write!(f, " for {}", self.lasting)?;
        }
        Ok(())
    }
}
