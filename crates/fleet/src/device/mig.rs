//! The slices of NVIDIA's multi-instance GPUs, as far as they are known by name.
//!
//! Source: NVIDIA's Multi-Instance GPU User Guide, sections "Supported MIG
//! Profiles" and "GPU Instances", whose listing of possible placements
//! (`nvidia-smi mig -lgipp`) counts in eighths of the memory. The compute of
//! such a device is in sevenths. Profiles with media extensions (`+me`) are
//! left out: a device has one of them at most, which places do not say.

use super::Profile;
use crate::units::{Bytes, Milli};

/// Sevenths of the compute, eighths of the memory, and at which of these a slice may begin: the
/// same on an A100 and on an H100.
const SIZES: [(u32, u8, &[u8]); 6] = [
    (1, 1, &[0, 1, 2, 3, 4, 5, 6]),
    (1, 2, &[0, 2, 4, 6]),
    (2, 2, &[0, 2, 4]),
    (3, 4, &[0, 4]),
    (4, 4, &[0]),
    (7, 8, &[0]),
];

/// The profiles of a model with so much memory; nothing where they are not known. Known are an A100
/// with 40 or 80 GB and an H100 with 80 GB, by whatever name has that in it.
#[must_use]
pub fn mig_profiles(model: &str, memory: Bytes) -> Option<Vec<Profile>> {
    // Both decimal and binary gigabytes are in use for the same card.
    let gigabytes = match memory.0 {
        40_000_000_000..=42_949_672_960 if model.contains("A100") => 40,
        80_000_000_000..=85_899_345_920 if model.contains("A100") || model.contains("H100") => 80,
        _ => return None,
    };
    let profile = |(sevenths, slots, places): &(u32, u8, &[u8])| Profile {
        name: format!("{sevenths}g.{}gb", u32::from(*slots) * gigabytes / 8),
        share: Milli(1000 * sevenths / 7),
        memory: Bytes(memory.0 / 8 * u64::from(*slots)),
        slots: *slots,
        places: places.to_vec(),
    };
    Some(SIZES.iter().map(profile).collect())
}
