//! Bugs planted on purpose: in plans, and in the body between controller and
//! world. Each must be caught, and by the law that it breaks; without the bug
//! the same simulation is clean.

mod world_fixtures;

use std::sync::Arc;

use controller::policy_file::shipped;
use fleet::check::{Fault, Part};
use fleet::explanation::Reason;
use fleet::{
    Action, Attempt, Body, BodyError, ClassId, Decision, Job, NodeId, Observation, Order, Outcome,
    Placement, Policy, Receipt, RunState, Snapshot, Span, StopCause, Time,
};
use planner::Effort;
use sim::checkers::{Breach, Checks};
use sim::scenario::{Ending, Model, Options, drive, motley, world};
use sim::world::World;
use sim::{Inventory, Outage, OutageKind, Workload};
use world_fixtures::{inventory, job};

#[test]
fn simulations_without_a_planted_bug_are_clean() {
    assert_eq!(breaches(Defect::None, |_, _| ()), []);
}

// Bugs of planners, caught by the inspector.

#[test]
fn whole_device_given_twice_is_caught() {
    let found = planted(|snapshot, decision| {
        on_first_of(snapshot, decision, &[4, 5]);
    });
    assert!(matches!(found, Breach::Plan(Fault::Over { part: Part::Share(_), .. })), "{found}");
}

#[test]
fn shares_over_a_whole_device_are_caught() {
    let found = planted(|snapshot, decision| {
        on_first_of(snapshot, decision, &[1, 2]);
    });
    assert!(matches!(found, Breach::Plan(Fault::Over { part: Part::Share(_), .. })), "{found}");
}

#[test]
fn device_memory_over_is_caught() {
    let found = planted(|snapshot, decision| {
        on_first_of(snapshot, decision, &[11, 12, 13, 14, 15]);
    });
    let part = |fault: &Fault| matches!(fault, Fault::Over { part: Part::DeviceMemory(_), .. });
    assert!(matches!(&found, Breach::Plan(fault) if part(fault)), "{found}");
}

#[test]
fn memory_over_is_caught() {
    let found = planted(|snapshot, decision| {
        on_first_of(snapshot, decision, &[6, 7]);
    });
    assert!(matches!(found, Breach::Plan(Fault::Over { part: Part::Memory, .. })), "{found}");
}

#[test]
fn grant_of_more_than_was_asked_is_caught() {
    let found = planted(|_, decision| {
        if let Some(placement) = decision.plan.placements.first_mut() {
            placement.grant.cores.0 += 1;
        }
    });
    assert!(matches!(found, Breach::Plan(Fault::GrantDiffers { .. })), "{found}");
}

#[test]
fn placement_on_a_lost_node_is_caught() {
    let found = planted(|snapshot, decision| {
        let lost = snapshot.nodes.iter().find(|entry| !entry.up);
        if let (Some(lost), Some(placement)) = (lost, decision.plan.placements.first_mut()) {
            placement.node = lost.node.id;
        }
    });
    assert!(matches!(found, Breach::Plan(Fault::NodeNotUp { .. })), "{found}");
}

#[test]
fn wrong_model_is_caught() {
    let found = planted(|_, decision| {
        if let Some(placement) = placement_of(decision, 1) {
            placement.node = NodeId(3);
            placement.class = ClassId(2);
        }
    });
    assert!(matches!(found, Breach::Plan(Fault::ModelUnmet { .. })), "{found}");
}

#[test]
fn wrong_attempt_is_caught() {
    let found = planted(|_, decision| {
        if let Some(placement) = decision.plan.placements.first_mut() {
            placement.run.attempt = Attempt(1);
        }
    });
    assert!(matches!(found, Breach::Plan(Fault::WrongAttempt { .. })), "{found}");
}

#[test]
fn task_placed_twice_is_caught() {
    let found = planted(|_, decision| {
        if let Some(placement) = decision.plan.placements.first().cloned() {
            decision.plan.placements.push(placement);
        }
    });
    assert!(matches!(found, Breach::Plan(Fault::TaskTwice { .. })), "{found}");
}

#[test]
fn missing_reason_is_caught() {
    let found = planted(|_, decision| decision.explanation.waiting.clear());
    assert!(matches!(found, Breach::Plan(Fault::ReasonMissing { .. })), "{found}");
}

#[test]
fn false_reason_is_caught() {
    let found = planted(|_, decision| {
        for waiting in &mut decision.explanation.waiting {
            if let Reason::NoRoom(tallies) = Arc::make_mut(&mut waiting.reason) {
                tallies[0].fell_out[0].asked += 1;
            }
        }
    });
    assert!(matches!(found, Breach::Explanation(Fault::TallyDiffers { .. })), "{found}");
}

#[test]
fn stop_of_a_run_that_is_wanted_is_caught() {
    let found = planted(|snapshot, decision| {
        if let Some(run) = snapshot.runs.keys().next()
            && decision.plan.stops.is_empty()
        {
            decision.plan.stops.push(fleet::Stop { run: *run, cause: StopCause::Stray });
        }
    });
    assert!(matches!(found, Breach::Plan(Fault::StopWithoutCause { .. })), "{found}");
}

// Bugs of bodies, caught by the checkers.

#[test]
fn lost_completion_is_caught() {
    assert!(
        defective(Defect::DropsCompletion)
            .iter()
            .any(|found| matches!(found, Breach::Missing { .. }))
    );
}

#[test]
fn invented_completion_is_caught() {
    assert!(
        defective(Defect::InventsCompletion)
            .iter()
            .any(|found| matches!(found, Breach::Unheld { .. }))
    );
}

#[test]
fn stale_generation_accepted_is_caught() {
    assert!(
        defective(Defect::AcceptsStale)
            .iter()
            .any(|found| matches!(found, Breach::GenerationFell { .. }))
    );
}

#[test]
fn run_started_twice_is_caught() {
    assert!(
        defective(Defect::StartsTwice)
            .iter()
            .any(|found| matches!(found, Breach::TwoAttempts { .. }))
    );
}

#[test]
fn run_started_and_reported_on_another_node_is_caught() {
    assert!(
        defective(Defect::MovesRun).iter().any(|found| matches!(found, Breach::Unordered { .. }))
    );
}

#[test]
fn run_lost_silently_is_caught() {
    assert!(
        defective(Defect::SwallowsStart)
            .iter()
            .any(|found| matches!(found, Breach::Missing { .. }))
    );
}

#[test]
fn stop_swallowed_is_caught() {
    assert!(
        defective(Defect::SwallowsStop)
            .iter()
            .any(|found| matches!(found, Breach::TwoAttempts { .. }))
    );
}

#[test]
fn node_said_to_be_up_though_lost_is_caught() {
    assert!(
        defective(Defect::HidesLoss).iter().any(|found| matches!(found, Breach::NodeState { .. }))
    );
}

/// What is wrong with the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Defect {
    None,
    DropsCompletion,
    InventsCompletion,
    AcceptsStale,
    StartsTwice,
    MovesRun,
    SwallowsStart,
    SwallowsStop,
    HidesLoss,
}

/// A body with a defect, before a world without.
struct Defective {
    world: World,
    defect: Defect,
    first: Option<Vec<Order>>,
    lies: Vec<Receipt>,
}

impl Body for Defective {
    fn observe(&mut self) -> Result<Observation, BodyError> {
        let mut seen = self.world.observe()?;
        seen.receipts.append(&mut self.lies);
        match self.defect {
            Defect::DropsCompletion => {
                seen.runs.retain(|sight| !matches!(sight.state, RunState::Done(_)));
            }
            Defect::InventsCompletion => {
                if let Some(sight) = seen.runs.first_mut() {
                    sight.state = RunState::Done(seen.at);
                }
            }
            Defect::HidesLoss => seen.nodes.retain(|node| matches!(node, fleet::NodeSight::Up(_))),
            _ => {}
        }
        Ok(seen)
    }

    fn carry_out(&mut self, orders: &[Order]) -> Result<(), BodyError> {
        let starts = |order: &Order| matches!(order.action, Action::Start { .. });
        let swallowed = |order: &Order| match self.defect {
            Defect::SwallowsStart => starts(order) && order.run.job.0 == 1,
            Defect::SwallowsStop => !starts(order),
            _ => false,
        };
        let (mut kept, gone): (Vec<Order>, Vec<Order>) =
            orders.iter().cloned().partition(|order| !swallowed(order));
        if self.defect == Defect::MovesRun {
            kept.iter_mut().for_each(move_elsewhere);
        }
        let lie = |order: Order| Receipt {
            run: order.run,
            generation: order.generation,
            outcome: Outcome::Accepted,
        };
        self.lies.extend(gone.into_iter().map(lie));
        self.world.carry_out(&kept)?;
        match (self.defect, &self.first) {
            (Defect::StartsTwice, _) => {
                for mut order in kept.into_iter().filter(starts) {
                    order.run.attempt.0 += 1;
                    self.world.carry_out(&[order])?;
                }
            }
            (Defect::AcceptsStale, Some(first)) if kept.iter().any(starts) => {
                self.world.lose_memory();
                self.world.carry_out(first)?;
            }
            (Defect::AcceptsStale, None) => self.first = Some(kept),
            _ => {}
        }
        Ok(())
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), BodyError> {
        self.world.wait(until)
    }
}

/// Puts a start on another node than was ordered.
fn move_elsewhere(order: &mut Order) {
    if let Action::Start { placement, .. } = &mut order.action {
        placement.node = NodeId((placement.node.0 + 1) % 3);
    }
}

/// What is caught first when every decision is garbled like this.
fn planted(corrupt: impl FnMut(&Snapshot, &mut Decision)) -> Breach {
    breaches(Defect::None, corrupt).into_iter().next().expect("it is caught")
}

/// Everything that is caught in the first turn that shows this defect of the body.
fn defective(defect: Defect) -> Vec<Breach> {
    breaches(defect, |_, _| ())
}

fn breaches(defect: Defect, mut corrupt: impl FnMut(&Snapshot, &mut Decision)) -> Vec<Breach> {
    let (fleet, workload) = scene();
    let mut planner = motley();
    let options = || Options { checks: Checks::Thorough, resync_every: 4, ..Options::default() };
    let world = world(&fleet, &workload, &options());
    let body = Defective { world, defect, first: None, lies: Vec::new() };
    let mut model = Model { body, world: |body| &body.world };
    let policy = shipped("default").expect("it is shipped");
    let mut planning = |snapshot: &Snapshot, policy: &Policy, effort: Effort| {
        let mut decision = planner(snapshot, policy, effort);
        corrupt(snapshot, &mut decision);
        decision
    };
    let outcome = drive(&mut model, &workload.jobs, &policy, options(), &mut planning);
    let outcome = outcome.expect("a model world always answers");
    let is_clean = outcome.violations.is_empty();
    assert_eq!(is_clean, outcome.ending == Ending::Standstill, "{:?}", outcome.ending);
    for violation in &outcome.violations {
        assert!(violation.to_string().ends_with("repeat with `cargo run --release -- simulate`"));
    }
    outcome.violations.into_iter().map(|violation| violation.breach).collect()
}

/// Three nodes with A100s and one with V100s; jobs of every sort, one of which fits nowhere; the
/// first node is cut off, then the second crashes.
fn scene() -> (Inventory, Workload) {
    let mut fleet = inventory(4);
    let mut other = fleet.classes.0[1].clone();
    "V100".clone_into(&mut other.model);
    fleet.classes.0.push(other);
    fleet.nodes[3].devices = vec![ClassId(2), ClassId(2)];
    let memory = |mut job: Job, gibibytes: u64| {
        Arc::make_mut(&mut job.alternatives)[0].request.memory.0 = gibibytes << 30;
        job
    };
    let of_model = |mut job: Job, model: &str| {
        let request = &mut Arc::make_mut(&mut job.alternatives)[0].request;
        request.devices.as_mut().expect("it asks for devices").models = vec![model.to_owned()];
        job
    };
    let cores = |mut job: Job, thousandths: u64| {
        Arc::make_mut(&mut job.alternatives)[0].request.cores.0 = thousandths;
        job
    };
    let mut jobs = vec![
        of_model(job(1, 600, 30), "A100"),
        of_model(job(2, 600, 40), "A100"),
        job(3, 3000, 10),
        of_model(job(4, 1000, 20), "A100"),
        of_model(job(5, 1000, 25), "A100"),
        memory(job(6, 0, 35), 9),
        memory(job(7, 0, 45), 9),
    ];
    let small = |id| of_model(cores(job(id, 100, 9), 500), "A100");
    jobs.extend((11..16).map(|id| Job { arrival: Time::seconds(60), ..small(id) }));
    let outage = |at, node, kind| Outage {
        at: Time::seconds(at),
        node: NodeId(node),
        lasts: Span::seconds(8),
        kind,
    };
    let outages = (0..3).map(|node| outage(5, node, OutageKind::Partition));
    let outages = outages.chain([outage(21, 1, OutageKind::Crash)]).collect();
    let jobs = jobs.into_iter().map(Arc::new).collect();
    (fleet, Workload { jobs, outages, ..Workload::default() })
}

fn placement_of(decision: &mut Decision, job: u64) -> Option<&mut Placement> {
    decision.plan.placements.iter_mut().find(|placement| placement.run.job.0 == job)
}

/// Moves the placements of these jobs to where the first of them is, if all are in the plan.
fn on_first_of(snapshot: &Snapshot, decision: &mut Decision, jobs: &[u64]) {
    let all: Option<Vec<Placement>> =
        jobs.iter().map(|job| placement_of(decision, *job).cloned()).collect();
    let Some(first) = all.and_then(|all| all.into_iter().next()) else { return };
    assert!(snapshot.node(first.node).up);
    for job in jobs {
        let moved = placement_of(decision, *job).expect("all are there");
        moved.node = first.node;
        for (held, place) in moved.grant.devices.iter_mut().zip(&first.grant.devices) {
            held.device = place.device;
        }
    }
}
