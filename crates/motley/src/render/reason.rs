//! Why a job waits, in words.

use fleet::explanation::{
    Constraint, FellOut, GangRoom, Locality, Outbid, Patience, RoundWait, StillWaiting, Tally,
};
use fleet::{Alternative, Bandwidth, Bytes, DeviceKind, Job, MilliCores, Reason};
use sim::report::{Why, is_lasting};

use super::{Names, words};

/// The most alternatives whose tallies are told.
const TALLIES_MAX: usize = 3;

/// The most groups of nodes told for one alternative.
const GROUPS_MAX: usize = 6;

/// The job's name and [`reason`]: `train (4 tasks) waits: no node has room. …`
#[must_use]
pub fn waiting(names: &Names<'_>, job: &Job, still: &StillWaiting) -> String {
    let tasks = match still.tasks {
        1 => String::new(),
        tasks => format!(" ({tasks} tasks)"),
    };
    format!("{}{tasks} {}", words::clip(&job.name), reason(names, job, &still.reason))
}

/// Why the job waits: `waits: no node has room. 12 of 20 nodes: no GPU of model A100; …`
#[must_use]
pub fn reason(names: &Names<'_>, job: &Job, reason: &Reason) -> String {
    match reason {
        Reason::NoRoom(tallies) => no_room(job, tallies),
        Reason::Patience(patience) => for_faster(names, patience),
        Reason::Effort => "waits: the effort of this plan ran out before its turn.".to_owned(),
        Reason::Locality(locality) => for_inputs(names, locality),
        Reason::Batch(until) => {
            format!("waits for others to be planned together with, until {}.", names.moment(*until))
        }
        Reason::Gang(GangRoom { asked, fit }) => {
            format!("waits: {asked} tasks must start together, and {fit} find room.")
        }
        Reason::Round(round) => in_round(names, job, round),
        Reason::Recalled => {
            "waits: the rest of its gang is being stopped, so that all can start together."
                .to_owned()
        }
    }
}

/// How a job stands where devices are divided over time.
fn in_round(names: &Names<'_>, job: &Job, round: &RoundWait) -> String {
    let until = match round.until {
        Some(until) => format!("; devices are divided anew at {}", names.moment(until)),
        None => "; devices are divided anew when a job or node comes or goes".to_owned(),
    };
    match (round.granted, round.outbid) {
        (Some(class), _) => {
            let model = names.model(class);
            let what = match round.nominated {
                None => "that is free",
                Some(first) if first == job.id => "others have moved to make room for it",
                Some(_) => "a job has started for which others are moved",
            };
            format!("waits: it has {model} in this round, and starts once {what}{until}.")
        }
        (None, Some(Outbid { class, worth, price })) => {
            let hours = |worth: u64| format!("{:.2}", worth as f64 / 1e8);
            let (model, worth, price) = (names.model(class), hours(worth), hours(price));
            format!(
                "waits for its turn: {model} would be worth {worth} to it, and others give \
                 {price}{until}."
            )
        }
        (None, None) => format!("waits for its turn: others have the devices{until}."),
    }
}

/// Why jobs waited, in a few words: `no room: free GPUs`.
pub(super) fn why(why: Why) -> String {
    match why {
        Why::Never(constraint) => format!("no node could ever: {}", lacking(constraint)),
        Why::NoRoom(constraint) => format!("no room: {}", lacking(constraint)),
        Why::Patience => "a faster device is worth the wait".to_owned(),
        Why::Effort => "the effort of the plan ran out".to_owned(),
        Why::Batch => "gathered into a batch".to_owned(),
        Why::Locality => "inputs are on a node that is full".to_owned(),
        Why::Round => "others have the devices in this round".to_owned(),
        Why::Gang => "not all of a gang fits at the same time".to_owned(),
    }
}

/// What a constraint is about.
fn lacking(constraint: Constraint) -> String {
    match constraint {
        Constraint::Up => "node lost".to_owned(),
        Constraint::Labels => "labels".to_owned(),
        Constraint::Kind(kind) => format!("no {}", words::kind(kind)),
        Constraint::Model => "device model".to_owned(),
        Constraint::DeviceMemory => "device memory".to_owned(),
        Constraint::ComputeUnits => "compute units".to_owned(),
        Constraint::Capability => "capability".to_owned(),
        Constraint::Sharing => "device cannot be shared".to_owned(),
        Constraint::Profile => "slices of the profile".to_owned(),
        Constraint::Rate => "no rate declared".to_owned(),
        Constraint::Cores => "cores".to_owned(),
        Constraint::Memory => "memory".to_owned(),
        Constraint::Devices => "number of devices".to_owned(),
        Constraint::Domain => "size of a memory domain".to_owned(),
        Constraint::MemoryBandwidth => "memory bandwidth".to_owned(),
        Constraint::PcieBandwidth => "PCIe bandwidth".to_owned(),
        Constraint::NetworkBandwidth => "network bandwidth".to_owned(),
        Constraint::FreeCores => "free cores".to_owned(),
        Constraint::FreeMemory => "free memory".to_owned(),
        Constraint::FreeDevices => "free devices".to_owned(),
        Constraint::FreeShare => "free share of a device".to_owned(),
        Constraint::FreeDeviceMemory => "free device memory".to_owned(),
        Constraint::FreeSlots => "place for the slice".to_owned(),
        Constraint::FreeDomain => "free room in one memory domain".to_owned(),
        Constraint::FreeMemoryBandwidth => "free memory bandwidth".to_owned(),
        Constraint::FreePcieBandwidth => "free PCIe bandwidth".to_owned(),
        Constraint::FreeNetworkBandwidth => "free network bandwidth".to_owned(),
    }
}

fn no_room(job: &Job, tallies: &[Tally]) -> String {
    let mut sentences = vec![match is_lasting(tallies) {
        true => "waits: no node of this fleet could ever run it.".to_owned(),
        false => "waits: no node has room.".to_owned(),
    }];
    for tally in tallies.iter().take(TALLIES_MAX) {
        let Some(alternative) = job.alternatives.get(usize::from(tally.alternative)) else {
            continue;
        };
        let groups = groups(alternative, &tally.fell_out);
        sentences.push(match tallies.len() {
            0 | 1 => format!("{groups}."),
            _ => format!("As {}: {groups}.", words::request(alternative)),
        });
    }
    if let more @ 1.. = tallies.len().saturating_sub(TALLIES_MAX) {
        sentences
            .push(format!("So it is with {}.", words::count(more as u64, "other alternative")));
    }
    sentences.join(" ")
}

/// Largest groups first, ties in the order in which constraints are asked.
fn groups(alternative: &Alternative, fell_out: &[FellOut]) -> String {
    let all: u64 = fell_out.iter().map(|group| u64::from(group.nodes)).sum();
    let mut largest: Vec<_> = fell_out.iter().filter(|group| group.nodes > 0).collect();
    largest.sort_by_key(|group| (std::cmp::Reverse(group.nodes), group.constraint));
    let rest = largest.split_off(largest.len().min(GROUPS_MAX));
    let mut phrases: Vec<_> = largest
        .iter()
        .enumerate()
        .map(|(position, group)| match position {
            0 => format!(
                "{} of {}: {}",
                group.nodes,
                words::count(all, "node"),
                unmet(alternative, group)
            ),
            _ => format!("{}: {}", group.nodes, unmet(alternative, group)),
        })
        .collect();
    if !rest.is_empty() {
        let nodes: u64 = rest.iter().map(|group| u64::from(group.nodes)).sum();
        phrases.push(format!("{nodes}: other reasons"));
    }
    match phrases.is_empty() {
        true => "the fleet has no nodes".to_owned(),
        false => phrases.join("; "),
    }
}

/// What the nodes of a group lack.
pub(super) fn unmet(alternative: &Alternative, group: &FellOut) -> String {
    let FellOut { constraint, asked, best, .. } = *group;
    let devices = alternative.request.devices.as_ref();
    let kind = words::kind(devices.map_or(DeviceKind::Cpu, |devices| devices.kind));
    match constraint {
        Constraint::Up => "lost or drained".to_owned(),
        Constraint::Labels => format!("without label {}", labels(alternative)),
        Constraint::Kind(kind) => format!("no {}", words::kind(kind)),
        Constraint::Model => {
            format!("no {kind}{}", devices.map(words::of_models).unwrap_or_default())
        }
        Constraint::DeviceMemory => {
            format!("{kind} memory {} of {} asked", Bytes(best), Bytes(asked))
        }
        Constraint::ComputeUnits => format!("{kind} compute units {best} of {asked} asked"),
        Constraint::Capability => format!("no {kind} with {}", capability(alternative)),
        Constraint::Sharing => format!("{kind} cannot be shared"),
        Constraint::Profile => format!("{kind} without slices of profile {}", profile(alternative)),
        Constraint::Rate => format!("no rate declared for its {kind} model"),
        Constraint::Cores => format!("cores {} of {} asked", thousandths(best), thousandths(asked)),
        Constraint::Memory => format!("memory {} of {} asked", Bytes(best), Bytes(asked)),
        Constraint::Devices => format!("{kind}s {best} of {asked} asked"),
        Constraint::MemoryBandwidth => passing("memory bandwidth", best, asked),
        Constraint::PcieBandwidth => {
            format!("{kind}s with the PCIe bandwidth {best} of {asked} asked")
        }
        Constraint::NetworkBandwidth => passing("network bandwidth", best, asked),
        Constraint::Domain => "no memory domain is large enough for all of it".to_owned(),
        Constraint::FreeCores => {
            format!("free cores {} of {} asked", thousandths(best), thousandths(asked))
        }
        Constraint::FreeMemory => format!("free memory {} of {} asked", Bytes(best), Bytes(asked)),
        Constraint::FreeDevices => format!("free {kind}s {best} of {asked} asked"),
        Constraint::FreeShare => {
            format!(
                "free share of one {kind} {} of {} asked",
                thousandths(best),
                thousandths(asked)
            )
        }
        Constraint::FreeDeviceMemory => {
            format!("free {kind} memory {} of {} asked", Bytes(best), Bytes(asked))
        }
        Constraint::FreeMemoryBandwidth => passing("free memory bandwidth", best, asked),
        Constraint::FreePcieBandwidth => {
            format!("{kind}s with the PCIe bandwidth free {best} of {asked} asked")
        }
        Constraint::FreeNetworkBandwidth => passing("free network bandwidth", best, asked),
        Constraint::FreeSlots => {
            format!(
                "enough of one {kind} free, but no place for a slice of profile {}",
                profile(alternative)
            )
        }
        Constraint::FreeDomain => "no memory domain has all of it free".to_owned(),
    }
}

/// How much passes, of what was asked.
fn passing(what: &str, best: u64, asked: u64) -> String {
    format!("{what} {} of {} asked", Bandwidth(best), Bandwidth(asked))
}

/// Cores or a share, as a decimal.
fn thousandths(of: u64) -> MilliCores {
    MilliCores(of)
}

fn labels(alternative: &Alternative) -> String {
    let pairs =
        alternative.labels.iter().map(|(key, value)| words::clip(&format!("{key}={value}")));
    words::list(&pairs.collect::<Vec<_>>(), " and ")
}

fn capability(alternative: &Alternative) -> String {
    let devices = alternative.request.devices.as_ref();
    let name = devices.and_then(|devices| devices.capability.as_deref());
    words::clip(name.unwrap_or("the capability"))
}

fn profile(alternative: &Alternative) -> String {
    let devices = alternative.request.devices.as_ref();
    words::clip(devices.and_then(|devices| devices.profile.as_deref()).unwrap_or_default())
}

fn for_faster(names: &Names<'_>, patience: &Patience) -> String {
    let Patience { best, best_duration, offered, offered_duration, until } = *patience;
    let (best, offered) = (names.model(best), names.model(offered));
    format!(
        "waits for {best} ({best_duration} there); takes {offered} ({offered_duration}) if none \
         is free by {}.",
        names.moment(until)
    )
}

fn for_inputs(names: &Names<'_>, locality: &Locality) -> String {
    let Locality { node, until, end, elsewhere, end_elsewhere } = *locality;
    format!(
        "waits for {}, which holds its inputs and is full until {}: it ends there at {}, and on {} \
         not before {}, since it would have to fetch them.",
        names.node(node),
        names.moment(until),
        names.moment(end),
        names.node(elsewhere),
        names.moment(end_elsewhere)
    )
}
