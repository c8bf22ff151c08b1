//! Plans and explanations as text, line by line.

use std::fmt::Write;

use crate::explanation::{Constraint, Explanation, FellOut, Reason, RoundWait, Score, Tally};
use crate::id::{ClassId, JobId, RunId};
use crate::node::{ChannelGrant, DeviceGrant, DomainGrant, Grant};
use crate::plan::{Placement, Plan, StopCause};
use crate::snapshot::Snapshot;
use crate::units::{Bandwidth, Bytes, Micro, Milli, MilliCores, Span, Time};

/// A plan, one line a start, stop or wake: `start train/1.0 n-0 alt=0 a100 cores=1 dev=0:0.5
/// for=50s`.
///
/// A device is written `index:share:memory`, without what is whole or nothing, and a
/// slice with the first of its slots, `0:0.428:20Gi@4`; memory domains
/// `in=0`, or `in=0:cores:memory,1:cores:memory` where it takes several; channels
/// `over=0:16GB/s`. A job that has no tasks waiting is written by its id.
#[must_use]
pub fn plan_text(snapshot: &Snapshot, plan: &Plan) -> String {
    let starts = plan.placements.iter().map(|placement| start_text(snapshot, placement));
    let stops = plan.stops.iter().map(|stop| {
        let cause = match stop.cause {
            StopCause::Stray => "stray",
            StopCause::Cancelled => "cancelled",
            StopCause::Gang => "gang",
            StopCause::Round => "round",
        };
        format!("stop {} {cause}", run_text(snapshot, stop.run))
    });
    let wake = plan.wake.iter().map(|wake| format!("wake {}", time_text(*wake)));
    lines(starts.chain(stops).chain(wake))
}

/// Why jobs wait, one line a job: `wait train x2 alt0: 1 up, 3 free-devices 1/0; alt1: 4 cores
/// 16/8`.
///
/// A constraint is written with how many nodes fell out at it, and what was asked against the best
/// that was offered.
#[must_use]
pub fn reasons_text(snapshot: &Snapshot, explanation: &Explanation) -> String {
    lines(explanation.waiting.iter().map(|waiting| {
        let name = job_text(snapshot, waiting.job);
        let reason = reason_text(snapshot, &waiting.reason);
        format!("wait {name} x{} {reason}", waiting.tasks)
    }))
}

/// Why runs are started where they are, one line a placement:
/// `choice train/1.0 of 3 score=0.81 next alt=1 n-1 epyc score=0.4`.
#[must_use]
pub fn choices_text(snapshot: &Snapshot, explanation: &Explanation) -> String {
    lines(explanation.choices.iter().map(|choice| {
        let mut text = format!(
            "choice {} of {}{}",
            run_text(snapshot, choice.run),
            choice.nodes,
            score_text(&choice.score)
        );
        if let Some(next) = &choice.runner_up {
            let node = node_text(snapshot, next.node.index());
            let class = class_text(snapshot, next.class);
            append(&mut text, format_args!(" next alt={} {node} {class}", next.alternative));
            text.push_str(&score_text(&next.score));
        }
        text
    }))
}

fn start_text(snapshot: &Snapshot, placement: &Placement) -> String {
    let Placement { run, alternative, node, class, grant, duration, .. } = placement;
    let mut text = format!(
        "start {} {} alt={alternative} {}",
        run_text(snapshot, *run),
        node_text(snapshot, node.index()),
        class_text(snapshot, *class)
    );
    if !grant.cores.is_zero() {
        append(&mut text, format_args!(" cores={}", grant.cores));
    }
    if !grant.memory.is_zero() {
        append(&mut text, format_args!(" mem={}", grant.memory));
    }
    if !grant.devices.is_empty() {
        let devices: Vec<_> = grant.devices.iter().map(device_text).collect();
        append(&mut text, format_args!(" dev={}", devices.join(",")));
    }
    if !grant.domains.is_empty() {
        append(&mut text, format_args!(" in={}", domains_text(grant)));
    }
    if !grant.channels.is_empty() {
        let part = |held: &ChannelGrant| format!("{}:{}", held.channel.0, held.bandwidth);
        let channels: Vec<_> = grant.channels.iter().map(part).collect();
        append(&mut text, format_args!(" over={}", channels.join(",")));
    }
    if let Some(duration) = duration {
        append(&mut text, format_args!(" for={duration}"));
    }
    text
}

fn device_text(held: &DeviceGrant) -> String {
    let index = held.device.0;
    if !held.slots.is_none() {
        return format!("{index}:{}:{}@{}", held.share, held.memory, held.slots.first());
    }
    match (held.share == Milli::WHOLE, held.memory.is_zero()) {
        (true, true) => index.to_string(),
        (false, true) => format!("{index}:{}", held.share),
        (_, false) => format!("{index}:{}:{}", held.share, held.memory),
    }
}

/// The one domain that has all of it, or each as `index:cores:memory`.
fn domains_text(grant: &Grant) -> String {
    if let [one] = &grant.domains[..] {
        return one.domain.0.to_string();
    }
    let part = |held: &DomainGrant| format!("{}:{}:{}", held.domain.0, held.cores, held.memory);
    grant.domains.iter().map(part).collect::<Vec<_>>().join(",")
}

fn reason_text(snapshot: &Snapshot, reason: &Reason) -> String {
    match reason {
        Reason::NoRoom(tallies) => tallies.iter().map(tally_text).collect::<Vec<_>>().join("; "),
        Reason::Patience(patience) => format!(
            "patience for {} {} over {} {} until {}",
            class_text(snapshot, patience.best),
            patience.best_duration,
            class_text(snapshot, patience.offered),
            patience.offered_duration,
            time_text(patience.until)
        ),
        Reason::Effort => "effort".to_owned(),
        Reason::Gang(room) => format!("gang {} of {}", room.fit, room.asked),
        Reason::Recalled => "recalled".to_owned(),
        Reason::Round(round) => round_text(snapshot, round),
        Reason::Batch(until) => format!("batch until {}", time_text(*until)),
        Reason::Locality(wait) => format!(
            "locality at {} until {} ends {} over {} ends {}",
            node_text(snapshot, wait.node.index()),
            time_text(wait.until),
            time_text(wait.end),
            node_text(snapshot, wait.elsewhere.index()),
            time_text(wait.end_elsewhere)
        ),
    }
}

fn tally_text(tally: &Tally) -> String {
    let fell_out: Vec<_> = tally.fell_out.iter().map(fell_out_text).collect();
    format!("alt{}: {}", tally.alternative, fell_out.join(", "))
}

fn fell_out_text(fell_out: &FellOut) -> String {
    let FellOut { constraint, nodes, asked, best } = *fell_out;
    let cores = || format!(" {}/{}", MilliCores(asked), MilliCores(best));
    let bytes = || format!(" {}/{}", Bytes(asked), Bytes(best));
    let moved = || format!(" {}/{}", Bandwidth(asked), Bandwidth(best));
    let count = || format!(" {asked}/{best}");
    let (name, amount) = match constraint {
        Constraint::Up => ("up", String::new()),
        Constraint::Labels => ("labels", String::new()),
        Constraint::Kind(kind) => ("kind", format!(" {kind}")),
        Constraint::Model => ("model", String::new()),
        Constraint::DeviceMemory => ("device-memory", bytes()),
        Constraint::ComputeUnits => ("compute-units", count()),
        Constraint::Capability => ("capability", String::new()),
        Constraint::Sharing => ("sharing", String::new()),
        Constraint::Profile => ("profile", String::new()),
        Constraint::Rate => ("rate", String::new()),
        Constraint::Cores => ("cores", cores()),
        Constraint::Memory => ("memory", bytes()),
        Constraint::Devices => ("devices", count()),
        Constraint::Domain => ("domain", String::new()),
        Constraint::MemoryBandwidth => ("memory-bandwidth", moved()),
        Constraint::PcieBandwidth => ("pcie-bandwidth", count()),
        Constraint::NetworkBandwidth => ("network-bandwidth", moved()),
        Constraint::FreeCores => ("free-cores", cores()),
        Constraint::FreeMemory => ("free-memory", bytes()),
        Constraint::FreeDevices => ("free-devices", count()),
        Constraint::FreeShare => ("free-share", cores()),
        Constraint::FreeDeviceMemory => ("free-device-memory", bytes()),
        Constraint::FreeSlots => ("free-slots", String::new()),
        Constraint::FreeDomain => ("free-domain", String::new()),
        Constraint::FreeMemoryBandwidth => ("free-memory-bandwidth", moved()),
        Constraint::FreePcieBandwidth => ("free-pcie-bandwidth", count()),
        Constraint::FreeNetworkBandwidth => ("free-network-bandwidth", moved()),
    };
    format!("{nodes} {name}{amount}")
}

fn score_text(score: &Score) -> String {
    if score.tiers.is_empty() {
        return String::new();
    }
    let tiers: Vec<_> = score.tiers.iter().map(|tier| micro_text(*tier)).collect();
    format!(" score={}", tiers.join(","))
}

fn micro_text(score: Micro) -> String {
    let text = format!("{}.{:06}", score.0 / 1_000_000, score.0 % 1_000_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn run_text(snapshot: &Snapshot, run: RunId) -> String {
    format!("{}/{}.{}", job_text(snapshot, run.job), run.task, run.attempt)
}

fn job_text(snapshot: &Snapshot, job: JobId) -> String {
    snapshot.backlog.get(&job).map_or_else(|| job.to_string(), |found| found.job.name.clone())
}

fn node_text(snapshot: &Snapshot, index: usize) -> String {
    snapshot.nodes.get(index).map_or_else(|| format!("n{index}"), |entry| entry.node.name.clone())
}

fn round_text(snapshot: &Snapshot, round: &RoundWait) -> String {
    let until =
        round.until.map_or_else(String::new, |until| format!(" until {}", time_text(until)));
    if let Some(class) = round.granted {
        let first = round.nominated.map(|job| format!(" nominated {}", job_text(snapshot, job)));
        let (class, first) = (class_text(snapshot, class), first.unwrap_or_default());
        return format!("round{until} granted {class}{first}");
    }
    let Some(outbid) = round.outbid else { return format!("round{until}") };
    let class = class_text(snapshot, outbid.class);
    format!("round{until} outbid {class} {}/{}", outbid.worth, outbid.price)
}

fn class_text(snapshot: &Snapshot, class: ClassId) -> String {
    let found = snapshot.classes.0.get(class.index());
    found.map_or_else(|| class.to_string(), |found| found.model.clone())
}

fn time_text(time: Time) -> String {
    Span(time.0).to_string()
}

fn append(text: &mut String, part: std::fmt::Arguments<'_>) {
    text.write_fmt(part).expect("writing to a string cannot fail");
}

fn lines(lines: impl Iterator<Item = String>) -> String {
    lines.map(|line| line + "\n").collect()
}
