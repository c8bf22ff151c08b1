//! Faults of what a plan stops, and of what it does not.

use super::*;
use crate::id::{Attempt, JobId, TaskIndex};

fn stop(task: u32, cause: StopCause) -> Stop {
    let run = RunId { job: JobId(0), task: TaskIndex(task), attempt: Attempt(0) };
    Stop { run, cause }
}

#[test]
fn stops_of_what_is_not_to_be_stopped() {
    let snapshot = sketch::snapshot(
        "class epyc cpu
         node n cores=8 mem=1Gi
         job a cores=1 tasks=5
         run a/0.0 n stage=stray
         run a/1.0 n stage=stray
         run a/2.0 n
         run a/3.0 n stage=stopping",
    );
    let snapshot = snapshot.unwrap();
    for (stops, faults) in [
        (&[0, 1][..], &[][..]),
        (&[0, 1, 4], &["stop of run j0/4.0, which is not there"]),
        (&[0, 0, 1], &["stop of run j0/0.0 is given twice"]),
        (&[1, 0], &["stop of run j0/0.0 is out of order"]),
        (&[0, 1, 2], &["stop of run j0/2.0 as Stray, and it is Running"]),
        (&[0, 1, 3], &["stop of run j0/3.0 as Stray, and it is Stopping"]),
    ] {
        let mut decision = decide(&snapshot, &[]);
        decision.plan.stops = stops.iter().map(|task| stop(*task, StopCause::Stray)).collect();
        let found: Vec<_> = check(&snapshot, &decision).iter().map(ToString::to_string).collect();
        assert_eq!(found, faults);
    }
}

#[test]
fn stops_that_are_missing_or_for_another_cause() {
    use StopCause::{Cancelled, Stray};
    let snapshot = sketch::snapshot(
        "class epyc cpu
         node n cores=8 mem=1Gi
         job a cores=1 tasks=2
         run a/0.0 n stage=stray
         run a/1.0 n stage=cancelled",
    );
    let snapshot = snapshot.unwrap();
    for (stops, faults) in [
        (&[(0, Stray), (1, Cancelled)][..], &[][..]),
        (&[(1, Cancelled)], &["run j0/0.0 is Stray and is not stopped"]),
        (&[(0, Stray)], &["run j0/1.0 is Cancelled and is not stopped"]),
        (
            &[(0, Cancelled), (1, Stray)],
            &[
                "stop of run j0/0.0 as Cancelled, and it is Stray",
                "stop of run j0/1.0 as Stray, and it is Cancelled",
            ],
        ),
    ] {
        let mut decision = decide(&snapshot, &[]);
        decision.plan.stops = stops.iter().map(|(task, cause)| stop(*task, *cause)).collect();
        let found: Vec<_> = check(&snapshot, &decision).iter().map(ToString::to_string).collect();
        assert_eq!(found, faults);
    }
}
