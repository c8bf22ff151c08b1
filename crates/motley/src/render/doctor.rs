//! What was found about a machine, as text.

use super::count;
use crate::doctor::{Health, Report};

/// One line for each finding, and one for what to do about it.
#[must_use]
pub fn report(report: &Report) -> String {
    let widest = report.findings.iter().map(|finding| finding.check.len()).max().unwrap_or(0);
    let mut text = format!("directory {}\n\n", report.directory);
    for finding in &report.findings {
        let health = word(finding.health);
        let check = finding.check;
        text.push_str(&format!("{health:<7}  {check:<widest$}  {}\n", finding.found));
        if let Some(advice) = &finding.advice {
            text.push_str(&format!("{:<7}  {:<widest$}  → {advice}\n", "", ""));
        }
    }
    let failures = count(report.count(Health::Failure) as u64, "failure");
    let warnings = count(report.count(Health::Warning) as u64, "warning");
    text.push_str(&format!("\n{failures}, {warnings}\n"));
    text
}

fn word(health: Health) -> &'static str {
    match health {
        Health::Ok => "ok",
        Health::Warning => "warning",
        Health::Failure => "failure",
    }
}
