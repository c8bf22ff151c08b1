//! Devices that NVIDIA's driver lists under `/proc`.

use std::collections::BTreeMap;

use fleet::Bytes;

use super::nvidia_smi::{Card, plain_address};
use super::{Device, Vendor, domain};
use crate::error::ProbeError;
use crate::gap::Gaps;
use crate::model::model;
use crate::root::Root;

const GPUS: &str = "proc/driver/nvidia/gpus";
const PCI: &str = "sys/bus/pci/devices";
const LEFT_OUT: &str = "the device is left out";

/// The devices that the driver lists, with what the vendor's program told of them. What only one of
/// the two shows: a device of the program alone is one (there is no such folder under WSL); one of
/// the driver alone, where the program was asked, is not this process's to use.
pub(super) fn read(
    root: &Root,
    cards: Option<&[Card]>,
    gaps: &mut Gaps,
) -> Result<Vec<Device>, ProbeError> {
    let asked = cards.is_some();
    let cards = cards.unwrap_or_default().iter();
    let mut cards: BTreeMap<_, _> = cards.map(|card| (card.address.clone(), card)).collect();
    let mut devices = Vec::new();
    for entry in root.entries(GPUS)? {
        let address = plain_address(&entry);
        let card = cards.remove(&address);
        if asked && card.is_none() {
            let path = root.path(&format!("{GPUS}/{entry}"));
            let (expected, found) = ("among those that nvidia-smi lists", "the device".to_owned());
            gaps.add(ProbeError::Contradiction { path, expected, found }, LEFT_OUT);
            continue;
        }
        devices.extend(device(root, &entry, address, card, gaps)?);
    }
    for (address, card) in cards {
        devices.push(Device {
            model: model(&card.name),
            vendor: Vendor::Nvidia,
            uuid: card.uuid.clone(),
            memory: card.memory,
            domain: domain(root, &format!("{PCI}/{address}"), gaps)?,
            address,
        });
    }
    Ok(devices)
}

/// One device of the driver, as it and the program tell of it; none where neither names its model.
fn device(
    root: &Root,
    entry: &str,
    address: String,
    card: Option<&Card>,
    gaps: &mut Gaps,
) -> Result<Option<Device>, ProbeError> {
    const EXPECTED: &str = "a line Model: NAME";
    let name = format!("{GPUS}/{entry}/information");
    let text = root.find(&name, EXPECTED)?.unwrap_or_default();
    let field = |key: &str| {
        let value = |line: &str| Some(line.strip_prefix(key)?.strip_prefix(':')?.trim().to_owned());
        text.lines().find_map(value).filter(|value| !value.is_empty())
    };
    let Some(named) = field("Model").or_else(|| card.map(|card| card.name.clone())) else {
        gaps.add(root.missing(&name, EXPECTED), LEFT_OUT);
        return Ok(None);
    };
    let own = numa_status(root, entry)?.and_then(|status| status.memory);
    let memory = card.and_then(|card| card.memory).or(own);
    if memory.is_none() {
        let missing = root.missing(&format!("{GPUS}/{entry}/numa_status"), "its memory");
        gaps.add(missing, "the memory of the device is not known without nvidia-smi");
    }
    Ok(Some(Device {
        model: model(&named),
        vendor: Vendor::Nvidia,
        uuid: field("GPU UUID").or_else(|| card.and_then(|card| card.uuid.clone())),
        memory,
        domain: domain(root, &format!("{PCI}/{address}"), gaps)?,
        address,
    }))
}

/// The memory domains that are memory of devices.
pub(crate) fn domains(root: &Root) -> Result<Vec<u32>, ProbeError> {
    let mut domains = Vec::new();
    for entry in root.entries(GPUS)? {
        domains.extend(numa_status(root, &entry)?.map(|status| status.domain));
    }
    Ok(domains)
}

/// The memory of a device that the system shows as a domain.
struct NumaStatus {
    domain: u32,
    memory: Option<Bytes>,
}

/// `Node: 255`, and in hexadecimal `Size: 3f0000000`; devices without such memory have no file, no
/// node or the node -1.
fn numa_status(root: &Root, entry: &str) -> Result<Option<NumaStatus>, ProbeError> {
    const EXPECTED: &str = "lines Node: NUMBER and Size: HEXADECIMAL";
    let name = format!("{GPUS}/{entry}/numa_status");
    let Some(text) = root.find(&name, EXPECTED)? else { return Ok(None) };
    let field = |key: &str| {
        text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(':')).map(str::trim)
    };
    let wrong = || ProbeError::garbled(root.path(&name), EXPECTED, &text);
    let Some(node) = field("Node") else { return Ok(None) };
    let node: i64 = node.parse().map_err(|_| wrong())?;
    let memory = field("Size").map(|size| u64::from_str_radix(size, 16).map_err(|_| wrong()));
    let memory = memory.transpose()?.map(Bytes);
    Ok(u32::try_from(node).ok().map(|domain| NumaStatus { domain, memory }))
}
