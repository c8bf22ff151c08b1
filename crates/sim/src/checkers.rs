//! Checkers: hold each turn against what really happened.
//!
//! They share no code with ledger, planner or the world's own account. In come
//! the world as it really is, the turn and the ledger; out go violations, each
//! with the one command that repeats it. They change nothing.

mod account;
mod history;

use std::collections::BTreeMap;
use std::sync::Arc;

use controller::ledger::TaskTally;
use controller::{Ledger, Turn};
use fleet::check::{Fault, check, check_reasons};
use fleet::{Action, Generation, Job, JobId, Milli, NodeId, Order, Plan, RunId, Snapshot};
use thiserror::Error;

use crate::world::TruthView;
use history::History;

/// How closely a simulation is watched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checks {
    /// Faults that the turn itself found in its plan.
    #[default]
    Plan,
    /// Everything, every turn. Costs more than the turn.
    Thorough,
}

/// A law that was broken, and how to see it again.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{breach} (seed {seed}, turn {turn}); repeat with `{repeat}`")]
pub struct Violation {
    /// What was broken.
    pub breach: Breach,
    /// The seed of the simulation.
    pub seed: u64,
    /// The turn, from 1.
    pub turn: u64,
    /// The one command that repeats it.
    pub repeat: String,
}

/// What can be broken.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Breach {
    /// The plan has a fault.
    #[error("the plan is at fault: {0}")]
    Plan(Fault),
    /// A reason of the explanation is not true.
    #[error("the explanation is at fault: {0}")]
    Explanation(Fault),
    /// A job waits and nobody says why.
    #[error("job {job} has {tasks} tasks waiting without a reason")]
    NoReason {
        /// The job.
        job: JobId,
        /// How many of its tasks wait.
        tasks: u32,
    },
    /// More is held of a node than it has.
    #[error("{held} {what} are held on node {node}, which has {has}")]
    Oversubscribed {
        /// The node.
        node: NodeId,
        /// What of it, with the unit.
        what: String,
        /// How much is held.
        held: u64,
        /// How much there is.
        has: u64,
    },
    /// A run that no order asked for.
    #[error("run {run} was started on node {node}, and no order said so")]
    Unordered {
        /// The run.
        run: RunId,
        /// Where.
        node: NodeId,
    },
    /// An order was carried out after a newer one.
    #[error("an order of {carried_out} about run {run} was carried out after one of {newest}")]
    GenerationFell {
        /// The run.
        run: RunId,
        /// The generation of the order.
        carried_out: Generation,
        /// The newest one carried out before.
        newest: Generation,
    },
    /// An attempt was started after a later one, or twice.
    #[error("run {run} was started after attempt {latest} of the same task")]
    AttemptFell {
        /// The run.
        run: RunId,
        /// The attempt started before.
        latest: u32,
    },
    /// One run ended twice.
    #[error("run {run} was done twice")]
    DoneTwice {
        /// The run.
        run: RunId,
    },
    /// Two attempts of one task ran to their end in full sight.
    #[error("run {run} was done after attempt {earlier} of the same task was, both in sight")]
    TaskDoneTwice {
        /// The second to end.
        run: RunId,
        /// The attempt that ended before.
        earlier: u32,
    },
    /// Two attempts of one task run in full sight and neither is being stopped.
    #[error("run {run} goes on beside attempt {other} of the same task, both in sight")]
    TwoAttempts {
        /// One.
        run: RunId,
        /// The other.
        other: u32,
    },
    /// A stray or a cancelled run can be reached and was not told to stop.
    #[error("run {run} is unwanted, in sight and not stopped")]
    UnwantedGoesOn {
        /// The run.
        run: RunId,
    },
    /// The ledger takes a node for up that is lost, or the other way round.
    #[error("node {node} can be reached: {in_world}; the snapshot says otherwise")]
    NodeState {
        /// The node.
        node: NodeId,
        /// Whether it can really be reached.
        in_world: bool,
    },
    /// The world runs what the ledger does not hold.
    #[error("run {run} is there on node {node} and the ledger does not hold it")]
    Unheld {
        /// The run.
        run: RunId,
        /// Where it is.
        node: NodeId,
    },
    /// The ledger holds what the world does not run.
    #[error("run {run} is held on node {node} and is not there")]
    Missing {
        /// The run.
        run: RunId,
        /// Where it should be.
        node: NodeId,
    },
    /// A run is elsewhere, or holds something else, than the ledger has it.
    #[error("run {run} is on node {node} otherwise than the ledger has it, on node {held_on}")]
    Misplaced {
        /// The run.
        run: RunId,
        /// Where it is.
        node: NodeId,
        /// Where the ledger has it.
        held_on: NodeId,
    },
    /// What is free of a node is not what it has less what is held.
    #[error("what is free of node {node} in the snapshot is not what nobody holds")]
    FreeDiffers {
        /// The node.
        node: NodeId,
    },
    /// The ledger does not know a job that was submitted.
    #[error("job {job} is lost")]
    JobLost {
        /// The job.
        job: JobId,
    },
    /// The tasks of a job do not add up.
    #[error("the {tasks} tasks of job {job} do not add up in the ledger: {tally:?}")]
    TasksDiffer {
        /// The job.
        job: JobId,
        /// How many it was submitted with.
        tasks: u32,
        /// How they stand.
        tally: TaskTally,
    },
    /// Completions were lost or invented.
    #[error("job {job} has {done} tasks done in the ledger, and {least} to {most} in truth")]
    DoneDiffers {
        /// The job.
        job: JobId,
        /// How many the ledger counts.
        done: u32,
        /// How many were done in full sight.
        least: u32,
        /// How many were done at all.
        most: u32,
    },
}

/// What a closer look needs beside the turn.
#[derive(Clone, Copy, Debug)]
pub struct Deeper<'a> {
    /// The world as it really is, after the orders were carried out.
    pub truth: TruthView<'a>,
    /// What was planned from.
    pub snapshot: &'a Snapshot,
    /// The ledger, after the turn.
    pub ledger: &'a Ledger,
}

/// What the checkers remember from turn to turn.
#[derive(Debug)]
pub struct Checkers {
    seed: u64,
    repeat: String,
    turn: u64,
    jobs: BTreeMap<JobId, Arc<Job>>,
    history: History,
}

impl Checkers {
    /// Checkers for a simulation with this seed, which this one command repeats.
    #[must_use]
    pub fn new(seed: u64, repeat: String) -> Self {
        Self { seed, repeat, turn: 0, jobs: BTreeMap::new(), history: History::default() }
    }

    /// Notes a job that is given to the next turn.
    pub fn submit(&mut self, job: &Arc<Job>) {
        self.jobs.insert(job.id, Arc::clone(job));
    }

    /// Notes a turn that ended in a failure of the body, which may have taken the orders.
    pub fn miss(&mut self, plan: &Plan) {
        self.turn += 1;
        self.history.expect(plan);
    }

    /// Looks at the world and the ledger alone, in the middle of a turn too. These are the orders
    /// that were given since the last look.
    pub(crate) fn look_between(
        &mut self,
        truth: &TruthView<'_>,
        (ledger, given): (&Ledger, &[Order]),
        oversubscribe: Milli,
    ) -> Vec<Breach> {
        let mut breaches = Vec::new();
        account::capacity(truth, oversubscribe, &mut breaches);
        account::ledger(truth, ledger, &mut breaches);
        self.history.read(truth.log, given, &mut breaches);
        breaches
    }

    /// Looks at how jobs stand after a turn in which everything that was asked was taken in.
    pub(crate) fn tallies_of(&self, ledger: &Ledger) -> Vec<Breach> {
        let mut breaches = Vec::new();
        self.tallies(ledger, &mut breaches);
        breaches
    }

    /// Looks at a turn that was just carried out. Without a snapshot it looks only at the faults
    /// that the turn itself found.
    pub fn look(&mut self, turn: &Turn, deeper: Option<Deeper<'_>>) -> Vec<Violation> {
        self.turn += 1;
        let faults = match deeper {
            // Asked again, in case the turn did not.
            Some(deeper) => check(deeper.snapshot, &turn.decision),
            None => turn.faults.clone(),
        };
        let mut breaches: Vec<Breach> = faults.into_iter().map(Breach::Plan).collect();
        if let Some(deeper) = deeper {
            self.look_closely(turn, deeper, &mut breaches);
        }
        let violation = |breach| Violation {
            breach,
            seed: self.seed,
            turn: self.turn,
            repeat: self.repeat.clone(),
        };
        breaches.into_iter().map(violation).collect()
    }

    fn look_closely(&mut self, turn: &Turn, deeper: Deeper<'_>, breaches: &mut Vec<Breach>) {
        let Deeper { truth, snapshot, ledger } = deeper;
        if turn.faults.is_empty() {
            account::reasons(snapshot, turn, breaches);
            let untrue = check_reasons(snapshot, &turn.decision);
            breaches.extend(untrue.into_iter().map(Breach::Explanation));
        }
        account::capacity(&truth, turn.decision.explanation.oversubscribe, breaches);
        account::attempts(&truth, snapshot, turn, breaches);
        account::held(&truth, snapshot, breaches);
        account::ledger(&truth, ledger, breaches);
        self.history.read(truth.log, &turn.orders, breaches);
        self.tallies(ledger, breaches);
    }

    fn tallies(&self, ledger: &Ledger, breaches: &mut Vec<Breach>) {
        for (id, job) in &self.jobs {
            let Some(tally) = ledger.tally(*id) else {
                breaches.push(Breach::JobLost { job: *id });
                continue;
            };
            let TaskTally { waiting, running, done, failed, cancelled } = tally;
            let parts = [waiting, running, done, failed, cancelled].map(u64::from);
            if parts.into_iter().sum::<u64>() != u64::from(job.tasks) {
                breaches.push(Breach::TasksDiffer { job: *id, tasks: job.tasks, tally });
            }
            // A task that was cancelled may still have come to its end before it could be stopped.
            let (least, most) = self.history.completions(*id);
            if done.saturating_add(cancelled) < least || most < done {
                breaches.push(Breach::DoneDiffers { job: *id, done, least, most });
            }
        }
    }
}

/// Whether this order stops this run.
fn stops(order: &Order, run: RunId) -> bool {
    order.run == run && matches!(order.action, Action::Stop(_))
}
