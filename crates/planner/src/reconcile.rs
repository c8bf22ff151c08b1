//! Reconcile: what goes on, what must stop, what is to be placed.
//!
//! In comes the snapshot; out goes an agenda. What runs and should run is kept
//! by not being named, nor looked at: the snapshot says which runs are not
//! wanted. Nothing is chosen here.

use fleet::snapshot::Waiting;
use fleet::{RunId, Snapshot, Stage, Stop, StopCause};

/// What a plan has to deal with.
pub(crate) struct Agenda<'a> {
    /// Runs that must stop, ascending.
    pub(crate) stops: Vec<Stop>,
    /// Jobs with tasks to place, ascending by id.
    pub(crate) place: Vec<&'a Waiting>,
}

pub(crate) fn reconcile(snapshot: &Snapshot) -> Agenda<'_> {
    let stop = |run: &RunId| {
        let cause = match snapshot.runs[run].stage {
            Stage::Stray => StopCause::Stray,
            Stage::Cancelled => StopCause::Cancelled,
            Stage::Ordered | Stage::Running | Stage::Stopping => {
                unreachable!("an unwanted run is a stray or cancelled")
            }
        };
        Stop { run: *run, cause }
    };
    let stops: Vec<_> = snapshot.unwanted.iter().map(stop).collect();
    let place: Vec<_> = snapshot.backlog.values().map(AsRef::as_ref).collect();
    assert!(stops.is_sorted_by(|one, next| one.run < next.run), "stops are ascending and distinct");
    Agenda { stops, place }
}
