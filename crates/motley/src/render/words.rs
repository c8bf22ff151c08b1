//! Words and short phrases that several sentences share.

use fleet::{Alternative, DeviceKind, DeviceRequest, Milli, Span, Time};

/// The most letters of a name in a sentence.
const NAME_LETTERS_MAX: usize = 40;

/// The most items of a list in a sentence.
const ITEMS_MAX: usize = 4;

/// A name, clipped where it is long, and on one line.
pub(super) fn clip(name: &str) -> String {
    let plain = name.chars().map(|letter| if letter.is_control() { '?' } else { letter });
    if name.chars().count() <= NAME_LETTERS_MAX {
        return plain.collect();
    }
    plain.take(NAME_LETTERS_MAX - 1).chain(['…']).collect()
}

/// The first few items, and how many more there are.
pub(super) fn list(items: &[String], joint: &str) -> String {
    let shown = items.iter().take(ITEMS_MAX).cloned().collect::<Vec<_>>().join(joint);
    match items.len().saturating_sub(ITEMS_MAX) {
        0 => shown,
        more => format!("{shown}{joint}and {more} more"),
    }
}

/// `1 node`, `2 nodes`.
pub(super) fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A moment, on the clock of a simulation or by the time of day.
pub(super) fn moment(time: Time, now: Option<Time>) -> String {
    const SECOND: u64 = 1_000_000;
    let whole = |span: Span| Span(span.0.div_ceil(SECOND) * SECOND);
    match now {
        None => Span(time.0).to_string(),
        Some(now) if time > now => format!("in {}", whole(time.since(now))),
        Some(now) if time < now => format!("{} ago", whole(now.since(time))),
        Some(_) => "now".to_owned(),
    }
}

/// A kind of device, as people write it.
pub(super) fn kind(kind: DeviceKind) -> &'static str {
    match kind {
        DeviceKind::Cpu => "CPU",
        DeviceKind::Gpu => "GPU",
        DeviceKind::Tpu => "TPU",
        DeviceKind::Fpga => "FPGA",
        DeviceKind::Npu => "NPU",
        DeviceKind::Qpu => "QPU",
    }
}

/// What an alternative asks for, in a few words: `2 GPUs of model A100`, `0.5 GPU`, `16 cores`.
pub(super) fn request(alternative: &Alternative) -> String {
    match &alternative.request.devices {
        None if alternative.request.cores.0 == 1000 => "1 core".to_owned(),
        None => format!("{} cores", alternative.request.cores),
        Some(devices) => format!("{}{}", amount(devices), of_models(devices)),
    }
}

fn amount(devices: &DeviceRequest) -> String {
    if let Some(profile) = &devices.profile {
        return format!("{} of a {}", clip(profile), kind(devices.kind));
    }
    if devices.share < Milli::WHOLE {
        return format!("{} {}", devices.share, kind(devices.kind));
    }
    count(u64::from(devices.count), kind(devices.kind))
}

/// ` of model A100 or H100`, or nothing where any will do.
pub(super) fn of_models(devices: &DeviceRequest) -> String {
    if devices.models.is_empty() {
        return String::new();
    }
    let models: Vec<_> = devices.models.iter().map(|model| clip(model)).collect();
    format!(" of model {}", list(&models, " or "))
}
