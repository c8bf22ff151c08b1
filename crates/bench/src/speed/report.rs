//! Report: a table for people, records for programs.

use comfy_table::{Table, presets};

use super::contender::Contender;
use super::measure::Measured;
use super::setting::Setting;
use crate::record::{Aim, Record};

/// The sizes and the number of shapes between which cost is compared.
const COMPARED: (u32, u32, u32) = (1000, 10_000, 100);

/// What is aimed at.
const AIMS: [(&str, Aim); 5] = [
    ("placements_per_s.10000x100", Aim::Least(100_000.0)),
    ("placements_per_s.frag.10000x100", Aim::Least(20_000.0)),
    ("cost_ratio.10000_to_1000", Aim::Most(2.0)),
    ("idle_turn_ms.10000", Aim::Most(10.0)),
    ("peak_memory_mib.10000", Aim::Most(1024.0)),
];

/// Motley's contenders, and what their records are called.
const OURS: [(Contender, &str); 2] = [(Contender::Plain, ""), (Contender::Frag, "frag.")];

/// One setting and what it came to.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The setting.
    pub setting: Setting,
    /// What it came to.
    pub measured: Measured,
}

/// The figures as text.
#[must_use]
pub fn table(rows: &[Row]) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header([
        "nodes",
        "shapes",
        "arrivals",
        "policy",
        "placed/s",
        "us",
        "cpu us",
        "placed",
        "no room",
        "steps",
        "allocated",
        "idle ms",
        "peak MiB",
    ]);
    for Row { setting, measured } in rows {
        let counts = measured.counts;
        let micros = |seconds: f64| 1e6 * seconds / counts.placements as f64;
        table.add_row([
            setting.nodes.to_string(),
            setting.shapes.to_string(),
            setting.arrivals.to_string(),
            label(setting.contender),
            format!("{:.0}", measured.placements_per_second()),
            format!("{:.1}", micros(measured.seconds)),
            places(measured.processor_seconds.map(micros), 1),
            counts.placements.to_string(),
            format!("{} of {}", counts.no_room, counts.arrivals),
            format!("{:.1}", measured.steps()),
            format!("{:.1} %", counts.allocated_milli as f64 / 10.0),
            places(measured.idle_millis, 3),
            places(measured.peak_mib, 1),
        ]);
    }
    let mut text = format!("{table}\n");
    if rows.iter().any(|row| row.measured.peak_mib.is_none()) {
        text.push_str("peak memory is left out: this system has no /proc/self/status\n");
    }
    text
}

/// The figures as records. Of steps, memory and idle turns the worst of all settings alike is told,
/// of placements a second the best of all arrivals a turn.
#[must_use]
pub fn records(rows: &[Row]) -> Vec<Record> {
    let mut records = Vec::new();
    for (contender, prefix) in OURS {
        for (nodes, shapes) in sizes(rows, contender) {
            records.extend(of_size(rows, Size { contender, nodes, shapes }, prefix));
        }
    }
    records.extend(cost_ratio(rows));
    let mut all_nodes: Vec<u32> = rows.iter().map(|row| row.setting.nodes).collect();
    all_nodes.dedup();
    for nodes in all_nodes {
        let of_nodes = rows.iter().filter(|row| row.setting.nodes == nodes);
        let (theirs, ours): (Vec<&Row>, Vec<&Row>) =
            of_nodes.partition(|row| row.setting.contender == Contender::Fgd);
        let most = |of: fn(&Measured) -> Option<f64>| {
            ours.iter().filter_map(|row| of(&row.measured)).reduce(f64::max)
        };
        let told = [
            ("idle_turn_ms", most(|measured| measured.idle_millis), "ms"),
            ("peak_memory_mib", most(|measured| measured.peak_mib), "MiB"),
            (
                "reference_fgd_placements_per_s",
                theirs.first().map(|row| row.measured.placements_per_second()),
                "placements/s",
            ),
        ];
        for (figure, value, unit) in told {
            let name = format!("{figure}.{nodes}");
            records.extend(value.map(|value| record(name, value, unit)));
        }
    }
    records
}

/// Settings that differ in arrivals a turn only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    contender: Contender,
    nodes: u32,
    shapes: u32,
}

impl Size {
    fn rows(self, rows: &[Row]) -> impl Iterator<Item = &Row> {
        rows.iter().filter(move |row| {
            let Setting { nodes, shapes, contender, .. } = row.setting;
            self == Self { contender, nodes, shapes }
        })
    }

    /// Placements a second, the best of all arrivals a turn.
    fn best(self, rows: &[Row]) -> Option<f64> {
        self.rows(rows).map(|row| row.measured.placements_per_second()).reduce(f64::max)
    }
}

/// Every number of nodes with every number of shapes, in the order of the rows.
fn sizes(rows: &[Row], contender: Contender) -> Vec<(u32, u32)> {
    let of_contender = rows.iter().filter(|row| row.setting.contender == contender);
    let mut sizes: Vec<_> =
        of_contender.map(|row| (row.setting.nodes, row.setting.shapes)).collect();
    sizes.dedup();
    sizes
}

fn of_size(rows: &[Row], size: Size, prefix: &str) -> Vec<Record> {
    let Size { nodes, shapes, .. } = size;
    let speed = format!("placements_per_s.{prefix}{nodes}x{shapes}");
    let steps = format!("steps_per_placement.{prefix}{nodes}x{shapes}");
    let most = size.rows(rows).map(|row| row.measured.steps()).reduce(f64::max);
    let best = size.best(rows).map(|value| record(speed.clone(), value, "placements/s"));
    let most = most.map(|value| record(steps.clone(), value, "steps"));
    let mut records: Vec<Record> = best.into_iter().chain(most).collect();
    for Row { setting, measured } in size.rows(rows) {
        let suffix = format!(".arrivals{}", setting.arrivals);
        let value = measured.placements_per_second();
        records.push(record(format!("{speed}{suffix}"), value, "placements/s"));
        records.push(record(format!("{steps}{suffix}"), measured.steps(), "steps"));
    }
    records
}

/// The time of a placement on the large fleet ÷ that on the small one, of the worst policy.
fn cost_ratio(rows: &[Row]) -> Option<Record> {
    let (small, large, shapes) = COMPARED;
    let ratio = |(contender, _): &(Contender, &str)| {
        let best = |nodes| Size { contender: *contender, nodes, shapes }.best(rows);
        Some(best(small)? / best(large)?)
    };
    let worst = OURS.iter().filter_map(ratio).reduce(f64::max)?;
    Some(record(format!("cost_ratio.{large}_to_{small}"), worst, "ratio"))
}

fn record(name: String, value: f64, unit: &'static str) -> Record {
    let aim = AIMS.iter().find(|(aimed, _)| *aimed == name).map(|(_, aim)| *aim);
    Record::new(name, value, unit, aim)
}

fn label(contender: Contender) -> String {
    let label = contender.policy().map_or(contender.name(), |(label, _)| label);
    label.to_owned()
}

fn places(value: Option<f64>, places: usize) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.places$}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::speed::measure::Counts;

    fn row(text: &str, seconds: f64) -> Row {
        let counts = Counts { placements: 1000, arrivals: 1000, steps: 5000, ..Counts::default() };
        let setting: Setting = text.parse().unwrap();
        let idle_millis = (setting.contender != Contender::Fgd).then_some(2.0);
        let measured = Measured {
            counts,
            seconds,
            idle_millis,
            peak_mib: Some(f64::from(setting.arrivals)),
            ..Measured::default()
        };
        Row { setting, measured }
    }

    #[test]
    fn records_tell_the_best_speed_and_the_worst_of_all_else() {
        let rows = [
            row("1000,100,1,plain", 0.02),
            row("1000,100,100,plain", 0.01),
            row("1000,100,1,fgd", 0.5),
            row("10000,100,1,plain", 0.03),
            row("10000,100,100,plain", 0.01),
            row("10000,100,1,frag", 0.04),
        ];
        let records = records(&rows);
        let find = |name: &str| {
            let found = records.iter().find(|record| record.name == name);
            let found = found.unwrap_or_else(|| panic!("{name} is not in {records:#?}"));
            (found.value, found.met)
        };
        assert_eq!(find("placements_per_s.1000x100"), (100_000.0, None));
        assert_eq!(find("placements_per_s.10000x100"), (100_000.0, Some(true)));
        assert_eq!(find("placements_per_s.10000x100.arrivals1").0.round(), 33_333.0);
        assert_eq!(find("placements_per_s.frag.10000x100"), (25_000.0, Some(true)));
        assert_eq!(find("steps_per_placement.frag.10000x100"), (5.0, None));
        assert_eq!(find("cost_ratio.10000_to_1000"), (1.0, Some(true)));
        assert_eq!(find("idle_turn_ms.10000"), (2.0, Some(true)));
        assert_eq!(find("peak_memory_mib.1000"), (100.0, None));
        assert_eq!(find("reference_fgd_placements_per_s.1000"), (2000.0, None));
        let mut names: Vec<_> = records.iter().map(|record| &record.name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), records.len());
    }

    #[test]
    fn table_says_when_memory_is_not_told() {
        let mut row = row("100,100,1,fgd", 1.0);
        assert!(!table(std::slice::from_ref(&row)).contains("left out"));
        row.measured.peak_mib = None;
        assert!(table(&[row]).contains("left out"));
    }
}
