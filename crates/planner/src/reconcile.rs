//! Reconcile: what goes on, what must stop, what is to be placed.
//!
//! In comes the snapshot; out goes an agenda. What runs and should run is kept
//! by not being named, nor looked at: the snapshot says which runs are not
//! wanted. A gang of which only a part runs is stopped, to start again as a
//! whole. Nothing is chosen here.

use fleet::snapshot::Waiting;
use fleet::{Attempt, JobId, Run, RunId, Snapshot, Stage, Stop, StopCause, TaskIndex};

/// What a plan has to deal with.
pub(crate) struct Agenda<'a> {
    /// Runs that must stop, ascending.
    pub(crate) stops: Vec<Stop>,
    /// Jobs with tasks to place, ascending by id.
    pub(crate) place: Vec<&'a Waiting>,
    /// Gangs with tasks that wait while others hold something, ascending by id.
    pub(crate) recalled: Vec<&'a Waiting>,
}

pub(crate) fn reconcile(snapshot: &Snapshot) -> Agenda<'_> {
    let stop = |run: &RunId| {
        let cause = match snapshot.runs[run].stage {
            Stage::Stray => StopCause::Stray,
            Stage::Cancelled => StopCause::Cancelled,
            Stage::Ordered | Stage::Running | Stage::Recalled | Stage::Stopping => {
                unreachable!("an unwanted run is a stray or cancelled")
            }
        };
        Stop { run: *run, cause }
    };
    let mut stops: Vec<_> = snapshot.unwanted.iter().map(stop).collect();
    let backlog = snapshot.backlog.values().map(AsRef::as_ref);
    let (recalled, place): (Vec<&Waiting>, Vec<&Waiting>) = backlog.partition(|waiting| {
        waiting.job.gang.is_some() && active(snapshot, waiting.job.id).count() > 0
    });
    for waiting in &recalled {
        let runs = active(snapshot, waiting.job.id).filter(|run| run.stage != Stage::Recalled);
        stops.extend(runs.map(|run| Stop { run: run.id(), cause: StopCause::Gang }));
    }
    stops.sort_unstable_by_key(|stop| stop.run);
    assert!(stops.is_sorted_by(|one, next| one.run < next.run), "stops are ascending and distinct");
    Agenda { stops, place, recalled }
}

/// The runs that work on tasks of a job.
fn active(snapshot: &Snapshot, job: JobId) -> impl Iterator<Item = &Run> {
    let first = RunId { job, ..RunId::default() };
    let last = RunId { job, task: TaskIndex(u32::MAX), attempt: Attempt(u32::MAX) };
    let is_active = |stage| matches!(stage, Stage::Ordered | Stage::Running | Stage::Recalled);
    let runs = snapshot.runs.range(first..=last).map(|(_, run)| run.as_ref());
    runs.filter(move |run| is_active(run.stage))
}
