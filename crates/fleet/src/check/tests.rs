//! One case for each fault: a sound decision passes, and the same decision broken in one way is
//! named.

mod plan;
mod inside;
mod channels;
mod slices;
mod stops;
mod explanation;
mod reasons;
mod locality;

use std::sync::Arc;

use super::*;
use crate::explanation::{Choice, Constraint, FellOut, Score, Tally};
use crate::plan::Stop;
use crate::policy::Objective;
use crate::sketch;
use crate::units::Micro;

/// Two nodes of every kind of device, and one that is down.
const FLEET: &str = "
    at 10s
    class epyc cpu
    class a100 gpu mem=40Gi units=6912 cap=sm_80 share=milli
    class t4 gpu mem=16Gi units=2560 share=milli
    class u280 fpga mem=8Gi
    node n cores=8 mem=64Gi label.zone=a dev=a100*2,t4,u280 x2
    node lost cores=8 mem=64Gi down
    job train tasks=4 work=100 cores=1 mem=1Gi gpu=1 share=0.5 devmem=10Gi model=a100 units=5000 \
        cap=sm_80 label.zone=a rate.a100=2
      or cores=4 rate.epyc=0.1
    job logic cores=1 fpga=1
    job old tasks=2 work=10 cores=1 mem=1Gi
    job wide tasks=2 cores=1 gpu=2
    run old/0.0 n-1 stage=stray
    again old/0.1
";

/// What is started in the sound decision.
const STARTS: [&str; 5] = [
    "train/0.0 n-0 dev=0",
    "train/1.0 n-0 dev=0",
    "logic/0.0 n-0 dev=3",
    "old/0.1 n-0",
    "wide/0.0 n-1 dev=0,1",
];

fn fleet() -> Snapshot {
    sketch::snapshot(FLEET).unwrap()
}

/// A decision that starts these, stops what must be stopped and explains everything: what waits,
/// waits for want of effort.
fn decide(snapshot: &Snapshot, starts: &[&str]) -> Decision {
    let placements: Vec<_> =
        starts.iter().map(|start| sketch::placement(snapshot, start).unwrap()).collect();
    let score = Score { tiers: vec![Micro::ONE], parts: [Micro::ONE; Objective::COUNT] };
    let choices = placements
        .iter()
        .map(|placement| Choice {
            run: placement.run,
            score: score.clone(),
            nodes: 1,
            runner_up: None,
        })
        .collect();
    let waiting = snapshot.backlog.values().filter_map(|waiting| {
        let job = waiting.job.id;
        let started = placements.iter().filter(|placement| placement.run.job == job).count();
        let tasks = waiting.count() - u32::try_from(started).unwrap();
        (tasks > 0).then(|| StillWaiting { job, tasks, reason: Arc::new(Reason::Effort) })
    });
    let waiting = waiting.collect();
    let stop = |run: &RunId| Stop {
        run: *run,
        cause: match snapshot.runs[run].stage {
            Stage::Cancelled => StopCause::Cancelled,
            _ => StopCause::Stray,
        },
    };
    let stops = snapshot.unwanted.iter().map(stop).collect();
    let plan = Plan { serial: snapshot.serial, placements, stops, ..Plan::default() };
    Decision { plan, explanation: Explanation { choices, waiting, ..Explanation::default() } }
}

/// The faults of the sound decision once it is broken.
fn faults_of(breaking: impl FnOnce(&mut Decision)) -> Vec<String> {
    let snapshot = fleet();
    let mut decision = decide(&snapshot, &STARTS);
    assert_eq!(check(&snapshot, &decision), [], "the decision is sound before it is broken");
    breaking(&mut decision);
    check(&snapshot, &decision).iter().map(ToString::to_string).collect()
}

/// Tallies from rows of constraint, nodes, asked, best; the first for the first alternative.
fn no_room(tallies: &[&[(Constraint, u32, u64, u64)]]) -> Reason {
    let tally = |(alternative, rows): (u16, &&[(Constraint, u32, u64, u64)])| {
        let fell_out = rows.iter().map(|row| {
            let (constraint, nodes, asked, best) = *row;
            FellOut { constraint, nodes, asked, best }
        });
        Tally { alternative, fell_out: fell_out.collect() }
    };
    Reason::NoRoom((0..).zip(tallies).map(tally).collect())
}
