//! Whether this machine is fit for a daemon, and what to do where it is not.
//!
//! What is there is looked at first (`look`); what it means is then judged
//! by functions of what was seen (`judge`), so that every odd machine can be
//! a test. Nothing is changed, but for an empty control group that is made and
//! removed again.

mod judge;
mod look;

use serde::Serialize;

use crate::daemon::Place;

/// What was found about one thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was looked at.
    pub check: &'static str,
    /// Whether it is as it should be.
    pub health: Health,
    /// What was found and what that means.
    pub found: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// Whether something is as it should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Health {
    /// It is.
    Ok,
    /// Something works less well than it could.
    Warning,
    /// A daemon does not work, or not for long.
    Failure,
}

/// All that was found.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The daemon's directory.
    pub directory: String,
    /// What was found, in the order in which it was looked at.
    pub findings: Vec<Finding>,
}

impl Finding {
    fn new(check: &'static str, health: Health, found: impl Into<String>) -> Self {
        Self { check, health, found: found.into(), advice: None }
    }

    fn advise(self, advice: impl Into<String>) -> Self {
        Self { advice: Some(advice.into()), ..self }
    }
}

impl Report {
    /// How many findings have this health.
    #[must_use]
    pub fn count(&self, health: Health) -> usize {
        self.findings.iter().filter(|finding| finding.health == health).count()
    }
}

/// Looks at this machine and at a daemon's directory on it.
#[must_use]
pub fn examine(place: &Place) -> Report {
    let began = look::Instants::now();
    let mut findings = vec![
        judge::kernel(&look::kernel()),
        judge::machine(&look::machine()),
        judge::groups(&look::groups()),
        judge::files(look::files()),
        judge::processes(look::processes()),
        judge::memory(&look::memory()),
        judge::accelerators(&look::accelerators()),
        judge::directory(&look::directory(place)),
        judge::disk(&look::disk(place)),
        judge::daemon(&look::daemon(place)),
    ];
    findings.push(judge::clock(&look::clock(place, &began)));
    Report { directory: place.directory().display().to_string(), findings }
}
