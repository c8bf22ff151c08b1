//! Groups of jobs that waited to the end, by why.

use std::collections::BTreeMap;

use fleet::explanation::{Constraint, StillWaiting, Tally};
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
    /// Some node might do, and none has room; of those that might, the one that came furthest fell
    /// out here.
    NoRoom(Constraint),
    /// Only a device is free that is too slow.
    Patience,
    /// The plan's effort ran out.
    Effort,
    /// It waits for its batch.
    Batch,
    /// Not all of its gang fits at the same time, or the rest of it is being stopped.
    Gang,
    /// It waits for a node that holds its inputs.
    Locality,
    /// Devices were divided, and it had nothing, or what it had was not free yet.
    Round,
}

/// Whether no node of the fleet would ever do: each fell out at a constraint that it does not meet
/// even when empty. A node that is lost might do once it is back.
#[must_use]
pub fn is_lasting(tallies: &[Tally]) -> bool {
    constraints(tallies).all(Constraint::is_lasting)
}

fn constraints(tallies: &[Tally]) -> impl Iterator<Item = Constraint> {
    tallies.iter().flat_map(|tally| &tally.fell_out).map(|fell_out| fell_out.constraint)
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

/// A reason, in one word.
pub(super) fn why(reason: &Reason) -> Why {
    match reason {
        Reason::Patience(_) => Why::Patience,
        Reason::Effort => Why::Effort,
        Reason::Batch(_) => Why::Batch,
        Reason::Gang(_) | Reason::Recalled => Why::Gang,
        Reason::Locality(_) => Why::Locality,
        Reason::Round(_) => Why::Round,
        Reason::NoRoom(tallies) => {
            let passing = constraints(tallies).filter(|constraint| !constraint.is_lasting());
            match passing.max() {
                Some(furthest) => Why::NoRoom(furthest),
                None => Why::Never(constraints(tallies).max().unwrap_or(Constraint::Up)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fleet::explanation::FellOut;

    fn no_room(constraints: &[Constraint]) -> Reason {
        let fell_out = |constraint: &Constraint| FellOut {
            constraint: *constraint,
            nodes: 1,
            asked: 1,
            best: 0,
        };
        let fell_out = constraints.iter().map(fell_out).collect();
        Reason::NoRoom(vec![Tally { alternative: 0, fell_out }])
    }

    #[test]
    fn a_job_can_never_run_only_where_no_node_is_merely_lost() {
        let (up, cores) = (Constraint::Up, Constraint::Cores);
        assert_eq!(why(&no_room(&[Constraint::Labels, cores])), Why::Never(cores));
        assert_eq!(why(&no_room(&[up, cores])), Why::NoRoom(up));
        assert_eq!(why(&no_room(&[up])), Why::NoRoom(up));
        let busy = [up, Constraint::FreeCores, Constraint::FreeShare];
        assert_eq!(why(&no_room(&busy)), Why::NoRoom(Constraint::FreeShare));
    }
}
