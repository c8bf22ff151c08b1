//! Devices of AMD's driver in `/sys/class/drm`.

use fleet::Bytes;

use super::{Device, Vendor, domain};
use crate::error::ProbeError;
use crate::gap::Gaps;
use crate::model::model;
use crate::root::Root;

const DRM: &str = "sys/class/drm";

/// AMD's number among the vendors of PCI devices.
const AMD: &str = "0x1002";

/// The cards of AMD. Their connectors (`card0-DP-1`) are no devices.
pub(super) fn read(root: &Root, gaps: &mut Gaps) -> Result<Vec<Device>, ProbeError> {
    let mut devices = Vec::new();
    for card in root.numbered(DRM, "card")? {
        let folder = format!("{DRM}/card{card}/device");
        if root.find(&format!("{folder}/vendor"), "a vendor")?.as_deref() == Some(AMD) {
            devices.push(device(root, &folder, gaps)?);
        }
    }
    Ok(devices)
}

fn device(root: &Root, folder: &str, gaps: &mut Gaps) -> Result<Device, ProbeError> {
    let text = |file: &str, expected| root.find(&format!("{folder}/{file}"), expected);
    let memory = root.find_number(&format!("{folder}/mem_info_vram_total"), "a number of bytes")?;
    let memory = memory.and_then(|bytes| u64::try_from(bytes).ok()).map(Bytes);
    if memory.is_none() {
        let missing = root.missing(&format!("{folder}/mem_info_vram_total"), "a number of bytes");
        gaps.add(missing, "the memory of the device is not known");
    }
    let unique = text("unique_id", "a hexadecimal number")?.filter(|id| !id.is_empty());
    Ok(Device {
        model: named(root, folder, gaps)?,
        vendor: Vendor::Amd,
        address: address(root, folder)?,
        uuid: unique.map(|id| format!("GPU-{id}")),
        memory,
        domain: domain(root, folder, gaps)?,
    })
}

/// The name of the product; boards of other makers often have none, and go by the number of the
/// chip, which is one for all boards with it.
fn named(root: &Root, folder: &str, gaps: &mut Gaps) -> Result<String, ProbeError> {
    let name = format!("{folder}/product_name");
    let product = root.find(&name, "the name of a product")?.unwrap_or_default();
    let product = model(&product);
    if !product.is_empty() {
        return Ok(product);
    }
    let chip = root.read(&format!("{folder}/device"), "the number of a chip")?;
    gaps.add(root.missing(&name, "the name of a product"), "the number of the chip is the model");
    Ok(format!("AMD-{}", chip.trim_start_matches("0x")))
}

/// Where it is on the bus.
fn address(root: &Root, folder: &str) -> Result<String, ProbeError> {
    const EXPECTED: &str = "a line PCI_SLOT_NAME=ADDRESS";
    let name = format!("{folder}/uevent");
    let text = root.read(&name, EXPECTED)?;
    let address = text.lines().find_map(|line| line.strip_prefix("PCI_SLOT_NAME="));
    let wrong = || ProbeError::garbled(root.path(&name), EXPECTED, &text);
    address.map(|address| address.trim().to_owned()).ok_or_else(wrong)
}
