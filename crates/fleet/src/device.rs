//! Device classes: what a device of one model is and can do.
//!
//! Devices of one model are one class. Processors are a class too, so that a
//! job can state how fast it runs on them; a node names the class of its
//! cores, and lists the classes of its other devices one by one.

mod mig;
mod slices;

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::id::ClassId;
use crate::units::{Bytes, Milliwatts};

pub use mig::mig_profiles;
pub use slices::{Profile, SLOTS_MAX, Slots};

/// The kind of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// Processor cores.
    Cpu,
    /// Graphics processor.
    Gpu,
    /// Tensor processor.
    Tpu,
    /// Programmable logic.
    Fpga,
    /// Neural processor.
    Npu,
    /// Quantum processor.
    Qpu,
}

impl DeviceKind {
    /// Every kind, in the order of the enum.
    pub const ALL: [Self; 6] = [Self::Cpu, Self::Gpu, Self::Tpu, Self::Fpga, Self::Npu, Self::Qpu];

    /// The name used in files and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
            Self::Tpu => "tpu",
            Self::Fpga => "fpga",
            Self::Npu => "npu",
            Self::Qpu => "qpu",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

/// How one device may be divided between runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShareRule {
    /// One run at a time.
    Exclusive,
    /// Any shares, in thousandths, that add up to at most a whole device.
    Milli,
    /// Slices of fixed sizes at fixed places, or whole.
    Slices,
}

/// Power drawn with nothing allocated and with everything allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Power {
    /// With nothing allocated.
    pub idle: Milliwatts,
    /// With everything allocated; at least `idle`.
    pub busy: Milliwatts,
}

impl Power {
    /// What full allocation adds to idle.
    #[must_use]
    pub fn extra(self) -> Milliwatts {
        self.busy.saturating_sub(self.idle)
    }
}

/// All devices of one model.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DeviceClass {
    /// The model, unique among the classes: `A100`, `EPYC-7763`.
    pub model: String,
    /// What kind of device it is.
    pub kind: DeviceKind,
    /// Memory of one device; zero where it has none of its own or it is not known.
    pub memory: Bytes,
    /// Parallel units of one device (CUDA cores and the like); zero where not known.
    pub compute_units: u32,
    /// What programs may ask for by name: `sm_80`, a bitstream platform.
    pub capabilities: BTreeSet<String>,
    /// How one device may be divided.
    pub share: ShareRule,
    /// The sizes of slices that it can be cut into; none unless its rule is slices.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub profiles: Vec<Profile>,
    /// Power of one device: a device draws `busy` as soon as any share of it is allocated. Zero for
    /// processors, whose power belongs to the node.
    pub power: Power,
}

/// The table of device classes of a fleet; a [`ClassId`] is a position in it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Classes(pub Vec<DeviceClass>);

impl Classes {
    /// The class with this id.
    ///
    /// # Panics
    /// If the id is not of this table.
    #[must_use]
    pub fn get(&self, id: ClassId) -> &DeviceClass {
        &self.0[id.index()]
    }

    /// The class of this model.
    #[must_use]
    pub fn find(&self, model: &str) -> Option<ClassId> {
        self.iter().find(|(_, class)| class.model == model).map(|(id, _)| id)
    }

    /// Every class with its id, in order.
    pub fn iter(&self) -> impl Iterator<Item = (ClassId, &DeviceClass)> {
        self.0.iter().enumerate().map(|(index, class)| {
            (ClassId(u16::try_from(index).expect("a fleet has fewer than 65,536 models")), class)
        })
    }
}
