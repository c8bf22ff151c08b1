//! Speed: what a placement costs, through whole turns of the controller.
//!
//! A fleet of openb nodes is filled until 90 % of its devices are allocated,
//! and held there: jobs of a fixed set of shapes arrive, and as many runs end
//! as make room for them. Only the time inside `controller::turn` counts, with
//! check and explanation, because no turn goes without them. Each setting is
//! measured in a process of its own, so that its peak of memory is known.

pub mod setting;
pub mod contender;
pub mod fleet_of;
pub mod shapes;
pub mod input;
pub mod treadmill;
pub mod measure;
pub mod memory;
pub mod alone;
pub mod report;

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::{Context as _, ensure};

use crate::args::Speed;
use crate::record::Record;
use contender::Contender;
use input::Input;
use report::Row;
use setting::Setting;

/// How many shapes the reference is measured with.
const REFERENCE_SHAPES: u32 = 100;

/// Measures every setting asked for and returns what it came to: text for people, and records.
/// Where one setting is asked for alone, the text is what [`alone`] reads, and there are no
/// records.
///
/// # Errors
/// If the data cannot be read, a plan breaks the law, or a process fails.
pub fn run(folder: &Path, asked: &Speed) -> anyhow::Result<(String, Vec<Record>)> {
    let placements = asked.placements();
    if let Some(setting) = asked.alone {
        let before = memory::resident_mib();
        let input = Input::read(folder, setting)?;
        let mut measured = measure::measure(&input, setting, placements)?;
        measured.peak_mib = memory::peak_mib().zip(before).map(|(peak, before)| peak - before);
        let text = serde_json::to_string(&measured).context("write the result as JSON")?;
        return Ok((text, Vec::new()));
    }
    let settings = settings(asked);
    ensure!(!settings.is_empty(), "find a setting to measure: none is left");
    let mut rows = Vec::with_capacity(settings.len());
    for setting in settings {
        let measured = alone::measure(folder, setting, placements)
            .with_context(|| format!("measure setting {setting}"))?;
        rows.push(Row { setting, measured });
    }
    Ok((report::table(&rows), report::records(&rows)))
}

/// The settings asked for, each once, the small fleets first.
fn settings(asked: &Speed) -> Vec<Setting> {
    let or = |given: &[u32], otherwise: &[u32], quick: &[u32]| -> BTreeSet<u32> {
        let counts = match (given, asked.quick) {
            ([], false) => otherwise,
            ([], true) => quick,
            (given, _) => given,
        };
        counts.iter().copied().collect()
    };
    let shape_counts = or(&asked.shapes, &[100, 1000], &[100]);
    let arrival_counts = or(&asked.arrivals, &[1, 100], &[1, 100]);
    let is_asked = |one: &Contender| asked.policies.is_empty() || asked.policies.contains(one);
    let contenders: Vec<Contender> = Contender::ALL.into_iter().filter(is_asked).collect();
    let mut settings = Vec::new();
    for nodes in or(&asked.nodes, &[100, 1000, 10_000], &[1000]) {
        for contender in contenders.iter().copied() {
            if contender == Contender::Fgd {
                settings.push(Setting { nodes, shapes: REFERENCE_SHAPES, arrivals: 1, contender });
                continue;
            }
            for shapes in shape_counts.iter().copied() {
                let setting = |arrivals| Setting { nodes, shapes, arrivals, contender };
                settings.extend(arrival_counts.iter().copied().map(setting));
            }
        }
    }
    settings
}

#[cfg(test)]
mod tests;
