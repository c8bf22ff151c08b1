//! What sensors say at the moment: of devices, of the processors' energy and of their temperature.
//!
//! NVIDIA's program is asked ([`nvidia`]); drivers of AMD, of the processor's
//! energy counters and of its thermometers write into sysfs. A sensor that is
//! not there, cannot be read or makes no sense is absent from what comes out:
//! nothing here says 0 for it, and none is worth an error.

mod amd;
pub mod nvidia;
mod processor;

use fleet::Bytes;

pub use processor::{Energy, Zone};

use crate::root::Root;

/// What the sensors of one device say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Where it is on the PCI bus, as sysfs writes it.
    pub address: String,
    /// What the system calls it: `nvidia0`, `card1`.
    pub name: String,
    /// How much of the time it worked lately, in hundredths.
    pub busy_percent: Option<f64>,
    /// How much of the time its memory was read or written lately, in hundredths.
    pub memory_busy_percent: Option<f64>,
    /// Its memory that is in use.
    pub memory_used: Option<Bytes>,
    /// Its memory that is not.
    pub memory_free: Option<Bytes>,
    /// How warm it is.
    pub celsius: Option<f64>,
    /// What it draws.
    pub watts: Option<f64>,
    /// The clock of its compute units.
    pub megahertz: Option<f64>,
    /// The clock of its memory.
    pub memory_megahertz: Option<f64>,
}

/// What all sensors say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Readings {
    /// Of devices, by their addresses.
    pub devices: Vec<Reading>,
    /// The counters of the processors' energy.
    pub zones: Vec<Zone>,
    /// How warm the warmest processor is.
    pub processor_celsius: Option<f64>,
}

impl Readings {
    /// Whether no sensor says anything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.devices.is_empty() && self.zones.is_empty() && self.processor_celsius.is_none()
    }
}

/// What the sensors of a system say. `cards` is what [`nvidia::query`] told, where it was asked.
#[must_use]
pub fn read(root: &Root, cards: Vec<Reading>) -> Readings {
    let mut devices = cards;
    devices.extend(amd::read(root));
    devices.sort_by(|one, other| one.address.cmp(&other.address));
    let (zones, processor_celsius) = (processor::zones(root), processor::celsius(root));
    Readings { devices, zones, processor_celsius }
}

/// A number of sysfs; absent where it is not there, is not ours to read or makes no sense.
fn number(root: &Root, name: &str) -> Option<f64> {
    let whole = root.find_number(name, "a number").ok().flatten()?;
    Some(whole as f64)
}

/// A number of bytes of sysfs.
fn bytes(root: &Root, name: &str) -> Option<Bytes> {
    let whole = root.find_number(name, "a number of bytes").ok().flatten()?;
    u64::try_from(whole).ok().map(Bytes)
}
