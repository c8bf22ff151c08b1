//! What AMD's driver writes into sysfs.

use fleet::Bytes;

use super::{Reading, bytes, number};
use crate::root::Root;

const DRM: &str = "sys/class/drm";
const AMD: &str = "0x1002";

/// The sensors of AMD's cards.
pub(super) fn read(root: &Root) -> Vec<Reading> {
    let cards = root.numbered(DRM, "card").unwrap_or_default();
    cards.into_iter().filter_map(|card| reading(root, card)).collect()
}

fn reading(root: &Root, card: u32) -> Option<Reading> {
    let folder = format!("{DRM}/card{card}/device");
    let text = |file: &str| root.find(&format!("{folder}/{file}"), "a text").ok().flatten();
    if text("vendor").as_deref() != Some(AMD) {
        return None;
    }
    let uevent = text("uevent")?;
    let address = uevent.lines().find_map(|line| line.strip_prefix("PCI_SLOT_NAME="))?;
    let own = |file: &str| number(root, &format!("{folder}/{file}"));
    let size = |file: &str| bytes(root, &format!("{folder}/{file}"));
    let monitors = root.numbered(&format!("{folder}/hwmon"), "hwmon").unwrap_or_default();
    let monitor = |file: &str| {
        let of = |one: &u32| number(root, &format!("{folder}/hwmon/hwmon{one}/{file}"));
        monitors.iter().find_map(of)
    };
    let (used, whole) = (size("mem_info_vram_used"), size("mem_info_vram_total"));
    let free = used.zip(whole).and_then(|(used, whole)| whole.0.checked_sub(used.0)).map(Bytes);
    Some(Reading {
        address: address.trim().to_owned(),
        name: format!("card{card}"),
        busy_percent: own("gpu_busy_percent"),
        memory_busy_percent: own("mem_busy_percent"),
        memory_used: used,
        memory_free: free,
        celsius: monitor("temp1_input").map(|thousandths| thousandths / 1e3),
        // Newer chips tell what they draw now, older ones what they drew on average.
        watts: monitor("power1_average")
            .or_else(|| monitor("power1_input"))
            .map(|micro| micro / 1e6),
        megahertz: monitor("freq1_input").map(|hertz| hertz / 1e6),
        memory_megahertz: monitor("freq2_input").map(|hertz| hertz / 1e6),
    })
}
