//! GPUs, as drivers show them and as the vendor's program tells of them.
//!
//! NVIDIA's driver lists its devices under `/proc`, with model and bus address
//! and without their memory, which [`nvidia_smi`] tells where it is installed.
//! AMD's driver tells all of it in sysfs. Where a device is, sysfs knows for
//! both. What comes out is a list by model and address, in the order in which a
//! node numbers its devices.

mod amd;
pub mod nvidia;
pub mod nvidia_smi;

use fleet::Bytes;

use crate::error::ProbeError;
use crate::gap::Gaps;
use crate::root::Root;

/// One device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// Its model, as one word.
    pub model: String,
    /// Whose it is.
    pub vendor: Vendor,
    /// Where it is on the PCI bus, such as `0000:07:00.0`.
    pub address: String,
    /// Its name in `CUDA_VISIBLE_DEVICES` or `ROCR_VISIBLE_DEVICES`, where it has one.
    pub uuid: Option<String>,
    /// Its memory, where that is known.
    pub memory: Option<Bytes>,
    /// The number of the memory domain that it is attached to, where that is known.
    pub domain: Option<u32>,
}

/// Who makes a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Vendor {
    /// AMD.
    Amd,
    /// NVIDIA.
    Nvidia,
}

/// The devices of a system, by model and then by address. `cards` is what [`nvidia_smi::query`]
/// told, and `None` where there is no such program.
///
/// # Errors
/// If a file of a driver cannot be read or makes no sense.
pub fn read(
    root: &Root,
    cards: Option<&[nvidia_smi::Card]>,
    gaps: &mut Gaps,
) -> Result<Vec<Device>, ProbeError> {
    let mut devices = nvidia::read(root, cards, gaps)?;
    devices.extend(amd::read(root, gaps)?);
    devices.sort_by(|one, other| (&one.model, &one.address).cmp(&(&other.model, &other.address)));
    Ok(devices)
}

/// The memory domain that firmware says a PCI device is attached to; firmware of machines with one
/// domain often says -1, which is nobody's number.
fn domain(root: &Root, folder: &str, gaps: &mut Gaps) -> Result<Option<u32>, ProbeError> {
    const EXPECTED: &str = "the number of a memory domain";
    let name = format!("{folder}/numa_node");
    let Some(number) = root.find_number(&name, EXPECTED)? else {
        gaps.add(root.missing(&name, EXPECTED), "the device is attached to no memory domain");
        return Ok(None);
    };
    Ok(u32::try_from(number).ok())
}

/// The vendors of the devices on the PCI bus that look like accelerators, whether a driver drives
/// them or not: displays and processing accelerators of NVIDIA, and AMD's without a display.
///
/// # Errors
/// If a file of the bus cannot be read.
pub fn on_bus(root: &Root) -> Result<Vec<Vendor>, ProbeError> {
    const BUS: &str = "sys/bus/pci/devices";
    let mut vendors = Vec::new();
    for entry in root.entries(BUS)? {
        let vendor = root.find(&format!("{BUS}/{entry}/vendor"), "a vendor")?;
        let class = root.find(&format!("{BUS}/{entry}/class"), "a class")?.unwrap_or_default();
        match (vendor.as_deref(), class.get(..6)) {
            (Some("0x10de"), Some("0x0300" | "0x0302" | "0x1200")) => vendors.push(Vendor::Nvidia),
            // A display of AMD is most often part of the processor.
            (Some("0x1002"), Some("0x0302" | "0x0380" | "0x1200")) => vendors.push(Vendor::Amd),
            _ => {}
        }
    }
    Ok(vendors)
}
