//! What NVIDIA's program tells of the sensors of its devices.

use std::path::Path;
use std::time::Duration;

use fleet::Bytes;

use super::Reading;
use crate::devices::nvidia_smi::{ask, plain_address};
use crate::error::ProbeError;

/// Fields that every driver since 2013 knows: one that is not known fails the whole question.
const QUESTION: &str = "--query-gpu=index,pci.bus_id,utilization.gpu,utilization.memory,\
                        memory.used,memory.free,temperature.gpu,power.draw,clocks.sm,clocks.mem";

/// Asks the program.
///
/// # Errors
/// If it cannot be started, fails, takes too long, or answers what cannot be understood.
pub fn query(program: &Path, patience: Duration) -> Result<Vec<Reading>, ProbeError> {
    ask(program, QUESTION, patience, readings)
}

/// Reads an answer: a line for each device. What a device does not tell stands in brackets, for
/// one of several reasons.
///
/// # Errors
/// The line that is none.
pub fn readings(text: &str) -> Result<Vec<Reading>, String> {
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    lines.map(|line| reading(line).ok_or_else(|| line.to_owned())).collect()
}

fn reading(line: &str) -> Option<Reading> {
    let fields: Vec<_> = line.split(',').map(str::trim).collect();
    let [index, address, numbers @ ..] = &fields[..] else { return None };
    let numbers = numbers.iter().map(|field| number(field)).collect::<Option<Vec<_>>>()?;
    let [
        busy_percent,
        memory_busy_percent,
        used,
        free,
        celsius,
        watts,
        megahertz,
        memory_megahertz,
    ] = numbers[..]
    else {
        return None;
    };
    let is_address = address.matches(':').count() == 2 && address.contains('.');
    let index: u32 = index.parse().ok().filter(|_| is_address)?;
    Some(Reading {
        address: plain_address(address),
        name: format!("nvidia{index}"),
        busy_percent,
        memory_busy_percent,
        memory_used: used.and_then(mebibytes),
        memory_free: free.and_then(mebibytes),
        celsius,
        watts,
        megahertz,
        memory_megahertz,
    })
}

/// A field: a number, or nothing where the device does not tell; nothing at all if neither.
#[expect(clippy::option_option, reason = "what is absent differs from what makes no sense")]
fn number(field: &str) -> Option<Option<f64>> {
    if field.starts_with('[') || field == "N/A" {
        return Some(None);
    }
    field.parse::<f64>().ok().filter(|number| number.is_finite()).map(Some)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is in bounds")]
fn mebibytes(number: f64) -> Option<Bytes> {
    /// A thousand times the memory of today's largest device.
    const MOST: f64 = (1_u64 << 30) as f64;
    (0.0..=MOST).contains(&number).then_some(Bytes((number as u64) << 20))
}
