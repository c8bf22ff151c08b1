//! What would start one more task now, in words and figures.

use fleet::{Alternative, Bytes, DeviceKind, DeviceRequest, MilliCores, RunId, Span};
use planner::inquiry::remedy::Remedy;
use serde::Serialize;

use super::Asked;
use crate::render::words;

/// One remedy. The fields that its kind does not have are null.
#[derive(Debug, Default, Serialize)]
pub(super) struct RemedyPart {
    /// `labels`, `model`, `cores`, `memory`, `devices`, `share`, `device-memory`, `profile`,
    /// `tasks` or `eviction`.
    kind: &'static str,
    alternative: Option<u16>,
    /// What is asked, and the most with which a task starts, in `unit`.
    asked: Option<u64>,
    enough: Option<u64>,
    unit: Option<&'static str>,
    labels: Option<Vec<String>>,
    model: Option<String>,
    profile: Option<String>,
    /// The rate that was supposed on that model.
    rate: Option<f64>,
    run: Option<RunPart>,
    text: String,
}

#[derive(Debug, Serialize)]
struct RunPart {
    job: u64,
    task: u32,
    attempt: u32,
    node: String,
    /// For how long it has run.
    lost_seconds: f64,
}

impl RemedyPart {
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

pub(super) fn parts(asked: &Asked<'_>, remedies: &[Remedy]) -> Vec<RemedyPart> {
    remedies.iter().map(|remedy| part(asked, remedy)).collect()
}

fn part(asked: &Asked<'_>, remedy: &Remedy) -> RemedyPart {
    let job = &asked.visit.job;
    let alternative = remedy.alternative();
    let Some(wanted) = alternative.and_then(|index| job.alternatives.get(usize::from(index)))
    else {
        return match remedy {
            Remedy::Tasks { tasks } => smaller_gang(asked, *tasks),
            _ => eviction(asked, remedy),
        };
    };
    let part = change(asked, wanted, remedy);
    let text = match job.alternatives.len() {
        1 => part.text,
        _ => format!("as {}: {}", words::request(wanted), part.text),
    };
    RemedyPart { alternative, text, ..part }
}

/// A remedy that changes what is asked.
fn change(asked: &Asked<'_>, wanted: &Alternative, remedy: &Remedy) -> RemedyPart {
    let request = &wanted.request;
    let devices = request.devices.as_ref();
    let kind = words::kind(devices.map_or(DeviceKind::Cpu, |devices| devices.kind));
    let of_devices = |amount: fn(&DeviceRequest) -> u64| devices.map_or(0, amount);
    match remedy {
        Remedy::Labels { keys, .. } => labels(wanted, keys),
        Remedy::Model { class, rate, .. } => {
            let model = asked.names().model(*class);
            let rate = rate.map(|rate| rate.0 as f64 / 1e6);
            let at = rate.map(|rate| format!(", at a rate of {rate}")).unwrap_or_default();
            let text = format!("if {model} would do too{at}");
            RemedyPart { kind: "model", model: Some(model), rate, text, ..RemedyPart::default() }
        }
        Remedy::Cores { cores, .. } => {
            let text = format!("with {cores} cores in place of {}", request.cores);
            amount("cores", "millicores", (request.cores.0, cores.0), text)
        }
        Remedy::Memory { memory, .. } => {
            let (had, has) = (exact(request.memory), exact(*memory));
            let text = format!("with {has} of memory in place of {had}");
            amount("memory", "bytes", (request.memory.0, memory.0), text)
        }
        Remedy::Devices { count, .. } => {
            let had = of_devices(|one| one.count.into());
            let has = words::count((*count).into(), kind);
            amount(
                "devices",
                "count",
                (had, (*count).into()),
                format!("with {has} in place of {had}"),
            )
        }
        Remedy::Share { share, .. } => {
            let had = of_devices(|one| one.share.0.into());
            let text = format!("with {share} of a {kind} in place of {}", MilliCores(had));
            amount("share", "thousandths", (had, share.0.into()), text)
        }
        Remedy::DeviceMemory { memory, .. } => {
            let had = of_devices(|one| one.memory.0);
            let (was, is) = (exact(Bytes(had)), exact(*memory));
            let text = format!("with {is} of {kind} memory in place of {was}");
            amount("device-memory", "bytes", (had, memory.0), text)
        }
        Remedy::Profile { profile, .. } => {
            let had = devices.and_then(|devices| devices.profile.as_deref()).unwrap_or_default();
            let text = format!("with {} in place of {}", words::clip(profile), words::clip(had));
            let profile = Some(profile.clone());
            RemedyPart { kind: "profile", profile, text, ..RemedyPart::default() }
        }
        Remedy::Tasks { .. } | Remedy::Eviction { .. } => RemedyPart::default(),
    }
}

fn amount(
    kind: &'static str,
    unit: &'static str,
    (asked, enough): (u64, u64),
    text: String,
) -> RemedyPart {
    let (asked, enough, unit) = (Some(asked), Some(enough), Some(unit));
    RemedyPart { kind, asked, enough, unit, text, ..RemedyPart::default() }
}

fn labels(wanted: &Alternative, keys: &[String]) -> RemedyPart {
    let pair = |key: &String| match wanted.labels.get(key) {
        Some(value) => words::clip(&format!("{key}={value}")),
        None => words::clip(key),
    };
    let pairs: Vec<String> = keys.iter().map(pair).collect();
    let text = format!("without the label {}", words::list(&pairs, " and "));
    RemedyPart { kind: "labels", labels: Some(keys.to_vec()), text, ..RemedyPart::default() }
}

fn smaller_gang(asked: &Asked<'_>, tasks: u32) -> RemedyPart {
    let waiting = asked.visit.snapshot.backlog.get(&asked.visit.job.id);
    let had = waiting.map_or(0, |waiting| waiting.count());
    let has = words::count(tasks.into(), "task");
    let text = format!("with {has} that must start together in place of {had}");
    amount("tasks", "count", (had.into(), tasks.into()), text)
}

fn eviction(asked: &Asked<'_>, remedy: &Remedy) -> RemedyPart {
    let Remedy::Eviction { run, lost } = remedy else { return RemedyPart::default() };
    let node = asked.visit.snapshot.runs.get(run).map(|run| run.placement.node);
    let node = node.map(|node| asked.names().node(node)).unwrap_or_default();
    let text = format!("if {} on {node} were gone, {}", task(asked, *run), progress(*lost));
    let run = RunPart {
        job: run.job.0,
        task: asked.task(*run),
        attempt: run.attempt.0,
        node,
        lost_seconds: lost.as_seconds(),
    };
    RemedyPart { kind: "eviction", run: Some(run), text, ..RemedyPart::default() }
}

/// `task 2 of train (j3)`.
fn task(asked: &Asked<'_>, run: RunId) -> String {
    format!("task {} of {}", asked.task(run), asked.job(run.job))
}

fn progress(lost: Span) -> String {
    format!("which has run for {lost}")
}

/// Bytes in the largest unit in which they are whole, so that no rounding makes it untrue.
fn exact(bytes: Bytes) -> String {
    const UNITS: [(&str, u64); 4] =
        [("TiB", 1 << 40), ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let whole = UNITS.iter().find(|(_, size)| bytes.0 > 0 && bytes.0.is_multiple_of(*size));
    match whole {
        Some((unit, size)) => format!("{}{unit}", bytes.0 / size),
        None => format!("{} bytes", bytes.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_told_exactly() {
        assert_eq!(exact(Bytes(40 << 30)), "40GiB");
        assert_eq!(exact(Bytes(3 << 29)), "1536MiB");
        assert_eq!(exact(Bytes(1025)), "1025 bytes");
        assert_eq!(exact(Bytes(0)), "0 bytes");
    }
}
