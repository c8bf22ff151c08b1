//! Groups of jobs that waited to the end, by why.

use std::collections::BTreeMap;

use fleet::explanation::{Constraint, StillWaiting};
use fleet::{JobId, Reason};
use serde::Serialize;

/// Jobs that still waited at the end for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NeverPlaced {
    /// Why.
    pub why: Why,
    /// How many jobs.
    pub jobs: u64,
    /// How many of their tasks.
    pub tasks: u64,
    /// One of the jobs: the first.
    pub example: JobId,
    /// Its reason in full.
    pub reason: Reason,
}

/// Why jobs waited, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// No node would do even when empty; the node that came furthest fell out here.
    Never(Constraint),
    /// No node has room; the node that came furthest fell out here.
    NoRoom(Constraint),
    /// Only a device is free that is too slow.
    Patience,
    /// The plan's effort ran out.
    Effort,
}

/// Groups reasons; the group with most tasks first.
pub(super) fn group(waiting: &[StillWaiting]) -> Vec<NeverPlaced> {
    let mut groups: BTreeMap<Why, NeverPlaced> = BTreeMap::new();
    for one in waiting {
        let why = why(&one.reason);
        let group = groups.entry(why).or_insert_with(|| NeverPlaced {
            why,
            jobs: 0,
            tasks: 0,
            example: one.job,
            reason: Reason::clone(&one.reason),
        });
        group.jobs += 1;
        group.tasks += u64::from(one.tasks);
    }
    let mut groups: Vec<_> = groups.into_values().collect();
    groups.sort_by_key(|group| (std::cmp::Reverse(group.tasks), group.why));
    groups
}

fn why(reason: &Reason) -> Why {
    match reason {
        Reason::Patience(_) => Why::Patience,
        Reason::Effort => Why::Effort,
        Reason::NoRoom(tallies) => {
            let furthest = tallies.iter().filter_map(|tally| tally.fell_out.last());
            let furthest = furthest.map(|fell_out| fell_out.constraint).max();
            let furthest = furthest.unwrap_or(Constraint::Up);
            if furthest.is_lasting() { Why::Never(furthest) } else { Why::NoRoom(furthest) }
        }
    }
}
