//! A visit to one turn of a simulation, to ask about one job there.
//!
//! In come an inventory, a workload, a policy and a job; out goes a [`Visit`]:
//! the snapshot of that turn, the decision that was made from it, and what was
//! said when tasks of the job were placed. The simulation is the same as ever,
//! [`scenario::run`] with Motley's planner; it is run once to find the turn and
//! a second time up to it. Of the truth nothing goes out but how long runs took
//! that have ended.

use std::collections::BTreeMap;
use std::sync::Arc;

use fleet::snapshot::MixShape;
use fleet::{Catalogue, Decision, Job, JobId, Policy, RunId, Signals, Snapshot, Span, Stage, Time};
use thiserror::Error;

use crate::checkers::Violation;
use crate::scenario::{self, Ending, Options, Outcome, Told, What};
use crate::workload::{Inventory, Workload};
use crate::world::Event;

/// The most placements of one job that are kept: the latest ones.
pub const PLACED_MAX: usize = 8;

/// Where to go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Itinerary {
    /// Which job is asked about.
    pub job: JobId,
    /// When. Where it is not given: the first turn in which a task of the job is placed, or the
    /// last turn, if none ever is.
    pub at: Option<Time>,
    /// Decides errors of declared rates.
    pub seed: u64,
    /// What the controller is told to expect, in place of what it learns.
    pub mix: Option<Vec<MixShape>>,
    /// Where datasets are at first.
    pub catalogue: Catalogue,
    /// What is known from outside about nodes and classes.
    pub signals: Signals,
}

/// One turn, with what is known of a job there.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The job.
    pub job: Arc<Job>,
    /// What was planned from.
    pub snapshot: Snapshot,
    /// What was decided.
    pub decision: Decision,
    /// The latest placements of the job, up to this turn.
    pub placed: Vec<Told>,
    /// How many there were.
    pub placed_count: u64,
    /// How the tasks of the job stand once the decision is carried out.
    pub tasks: Tasks,
    /// How the runs of all jobs were that have ended in sight: what each took, and what was
    /// declared.
    pub ended: Vec<(Span, Span)>,
    /// Why the simulation ended, where this was its last turn though the time asked for lies
    /// ahead, or no time was asked for.
    pub ending: Option<Ending>,
}

/// How the tasks of a job stand. The three add up to its count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tasks {
    /// Tasks that wait.
    pub waiting: u32,
    /// Tasks that were ordered or run.
    pub running: u32,
    /// Tasks that ended.
    pub done: u32,
}

/// Why there is nothing to visit.
#[derive(Clone, Debug, Error)]
pub enum VisitError {
    /// The workload has no such job.
    #[error("find job {0}: the workload has no such job")]
    NoJob(JobId),
    /// The job has not arrived by then.
    #[error("look at job {job} at {at}: it arrives at {arrives}; ask about that time or later")]
    NotArrived {
        /// The job.
        job: JobId,
        /// When it was asked about.
        at: Span,
        /// When it arrives.
        arrives: Span,
    },
    /// The simulation broke a law.
    #[error("keep the law: {0}")]
    Violated(Box<Violation>),
    /// There were too many turns.
    #[error("reach the turn: {turns} turns are the most for one simulation; ask about a time")]
    Turns {
        /// How many there were.
        turns: u64,
    },
}

/// Goes to the turn.
///
/// # Errors
/// If there is no such job, it has not arrived by then, or the simulation goes wrong.
pub fn visit(
    inventory: &Inventory,
    workload: &Workload,
    policy: &Policy,
    itinerary: &Itinerary,
) -> Result<Visit, VisitError> {
    let found = workload.jobs.iter().find(|job| job.id == itinerary.job);
    let job = found.ok_or(VisitError::NoJob(itinerary.job))?;
    if let Some(at) = itinerary.at
        && job.arrival > at
    {
        let (at, arrives) = (Span(at.0), Span(job.arrival.0));
        return Err(VisitError::NotArrived { job: job.id, at, arrives });
    }
    let turns_max = Options::default().turns_max;
    let trip = |turns_max, witness: &mut Witness| {
        let (until, mix) = (itinerary.at, itinerary.mix.clone());
        let (catalogue, signals) = (itinerary.catalogue.clone(), itinerary.signals.clone());
        let options = Options {
            seed: itinerary.seed,
            until,
            turns_max,
            mix,
            catalogue,
            signals,
            ..Options::default()
        };
        let mut planner = scenario::motley();
        let mut planning = |snapshot: &Snapshot, policy: &Policy, effort| {
            let decision = planner(snapshot, policy, effort);
            witness.hear(snapshot, &decision);
            decision
        };
        scenario::run(inventory, workload, policy, options, &mut planning)
    };
    let mut scout = Witness::of(job.id, u64::MAX);
    let whole = trip(turns_max, &mut scout);
    if let Some(violation) = whole.violations.first() {
        return Err(VisitError::Violated(Box::new(violation.clone())));
    }
    if whole.ending == Ending::Turns {
        return Err(VisitError::Turns { turns: whole.turns });
    }
    let turn = match itinerary.at {
        Some(_) => whole.turns,
        None => scout.first_placed.unwrap_or(whole.turns),
    };
    let mut witness = Witness::of(job.id, turn);
    let outcome = trip(turn, &mut witness);
    let ending = (turn == whole.turns && whole.ending != Ending::Until).then_some(whole.ending);
    Ok(witness.report(job, &outcome, ending))
}

/// Listens to the planner.
struct Witness {
    job: JobId,
    /// The turn of which everything is kept.
    turn: u64,
    turns: u64,
    first_placed: Option<u64>,
    kept: Option<(Snapshot, Decision)>,
    placed: Vec<Told>,
    placed_count: u64,
    /// What was declared of each run.
    declared: BTreeMap<RunId, Span>,
}

impl Witness {
    fn of(job: JobId, turn: u64) -> Self {
        Self {
            job,
            turn,
            turns: 0,
            first_placed: None,
            kept: None,
            placed: Vec::new(),
            placed_count: 0,
            declared: BTreeMap::new(),
        }
    }

    fn hear(&mut self, snapshot: &Snapshot, decision: &Decision) {
        self.turns += 1;
        let explanation = &decision.explanation;
        for (placement, choice) in decision.plan.placements.iter().zip(&explanation.choices) {
            if let Some(duration) = placement.duration {
                self.declared.insert(placement.run, duration);
            }
            if placement.run.job != self.job {
                continue;
            }
            self.first_placed.get_or_insert(self.turns);
            self.placed_count += 1;
            let (placement, choice) = (Box::new(placement.clone()), Box::new(choice.clone()));
            let what = What::Placed(placement, choice, explanation.tiers.clone());
            if self.placed.len() >= PLACED_MAX {
                self.placed.remove(0);
            }
            self.placed.push(Told { at: snapshot.at, job: self.job, what });
        }
        if self.turns == self.turn {
            self.kept = Some((snapshot.clone(), decision.clone()));
        }
    }

    fn report(self, job: &Arc<Job>, outcome: &Outcome, ending: Option<Ending>) -> Visit {
        let (snapshot, decision) = self.kept.expect("the second trip takes the turns of the first");
        Visit {
            job: Arc::clone(job),
            placed: self.placed,
            placed_count: self.placed_count,
            tasks: tasks(job, &snapshot, &decision),
            ended: ended(outcome, &self.declared),
            ending,
            snapshot,
            decision,
        }
    }
}

fn tasks(job: &Job, snapshot: &Snapshot, decision: &Decision) -> Tasks {
    let started = decision.plan.placements.iter().filter(|one| one.run.job == job.id).count();
    let started = u32::try_from(started).unwrap_or(u32::MAX);
    let waited = snapshot.backlog.get(&job.id).map_or(0, |waiting| waiting.count());
    let is_active = |stage| matches!(stage, Stage::Ordered | Stage::Running);
    let runs = snapshot.runs.values().filter(|run| run.id().job == job.id && is_active(run.stage));
    let ran = u32::try_from(runs.count()).unwrap_or(u32::MAX);
    let (waiting, running) = (waited - started, ran + started);
    Tasks { waiting, running, done: job.tasks.saturating_sub(waiting).saturating_sub(running) }
}

/// What runs took that have ended in sight, and what was declared of them.
fn ended(outcome: &Outcome, declared: &BTreeMap<RunId, Span>) -> Vec<(Span, Span)> {
    let mut started: BTreeMap<RunId, Time> = BTreeMap::new();
    let mut ended = Vec::new();
    for entry in &outcome.log {
        match &entry.event {
            Event::Started(start) => {
                started.insert(start.run, entry.at);
            }
            Event::Done { run, unseen: false } => {
                if let (Some(since), Some(declared)) = (started.get(run), declared.get(run)) {
                    ended.push((entry.at.since(*since), *declared));
                }
            }
            _ => {}
        }
    }
    ended
}
