//! The processors' energy counters and thermometers in sysfs.

use std::collections::BTreeMap;

use super::number;
use crate::root::Root;

const ZONES: &str = "sys/class/powercap";
const MONITORS: &str = "sys/class/hwmon";

/// Drivers of thermometers inside processors.
const THERMOMETERS: [&str; 3] = ["coretemp", "k10temp", "zenpower"];

/// The most inputs of one thermometer: one for each core, and some.
const INPUTS_MAX: usize = 1_024;

/// A counter of energy: of a processor, of a part of one, or of its memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    /// What it counts the energy of: `package`, `core`, `uncore`, `dram` or `psys`.
    pub name: String,
    /// Its folder in sysfs.
    pub path: String,
    /// What it counted, in microjoules, until it began anew.
    pub microjoules: u64,
    /// From where on it begins anew, where that is known.
    pub most: Option<u64>,
}

/// The counters that can be read. Since 2020 only root can, since they tell what is computed.
pub(super) fn zones(root: &Root) -> Vec<Zone> {
    let entries = root.entries(ZONES).unwrap_or_default();
    // What else is there counts the same once more, over another bus.
    let entries = entries.iter().filter(|entry| entry.starts_with("intel-rapl:"));
    entries.filter_map(|entry| zone(root, entry)).collect()
}

fn zone(root: &Root, entry: &str) -> Option<Zone> {
    let folder = format!("{ZONES}/{entry}");
    let count = |file: &str| {
        let whole = root.find_number(&format!("{folder}/{file}"), "a number").ok().flatten()?;
        u64::try_from(whole).ok()
    };
    let name = root.find(&format!("{folder}/name"), "a name").ok().flatten()?;
    // `package-0` is the package of the first processor; which one, the path tells.
    let name = name.split('-').next().unwrap_or(&name).to_owned();
    let path = format!("/{folder}");
    Some(Zone { name, path, microjoules: count("energy_uj")?, most: count("max_energy_range_uj") })
}

/// How warm the warmest processor is.
pub(super) fn celsius(root: &Root) -> Option<f64> {
    let mut warmest: Option<f64> = None;
    for monitor in root.numbered(MONITORS, "hwmon").unwrap_or_default() {
        let folder = format!("{MONITORS}/hwmon{monitor}");
        let name = root.find(&format!("{folder}/name"), "a name").ok().flatten();
        if !name.is_some_and(|name| THERMOMETERS.contains(&name.as_str())) {
            continue;
        }
        let files = root.entries(&folder).unwrap_or_default();
        let is_input = |file: &&String| file.starts_with("temp") && file.ends_with("_input");
        for file in files.iter().filter(is_input).take(INPUTS_MAX) {
            let celsius = number(root, &format!("{folder}/{file}")).map(|milli| milli / 1e3);
            warmest = warmest.into_iter().chain(celsius).reduce(f64::max);
        }
    }
    warmest
}

/// Energy since the first look, from counters that begin anew now and then.
#[derive(Clone, Debug, Default)]
pub struct Energy {
    /// By path: the zone as it was seen last, and the microjoules since the first time.
    zones: BTreeMap<String, (Zone, u64)>,
}

impl Energy {
    /// Takes in what the counters say. They have to be read before they go around once: within
    /// minutes, for a processor that draws much.
    pub fn take(&mut self, zones: &[Zone]) {
        for zone in zones {
            let (before, total) =
                self.zones.entry(zone.path.clone()).or_insert_with(|| (zone.clone(), 0));
            let more = match zone.microjoules.checked_sub(before.microjoules) {
                Some(more) => more,
                // It began anew; from where, its range says, and else nothing is added.
                None => zone.most.map_or(0, |most| {
                    most.saturating_sub(before.microjoules).saturating_add(zone.microjoules)
                }),
            };
            *total = total.saturating_add(more);
            *before = zone.clone();
        }
    }

    /// The zones that were ever seen, and the joules of each.
    pub fn joules(&self) -> impl Iterator<Item = (&Zone, f64)> {
        self.zones.values().map(|(zone, total)| (zone, *total as f64 / 1e6))
    }
}
