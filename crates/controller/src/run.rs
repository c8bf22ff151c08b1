//! The loop with a memory: turns that are written down before they are acted on.
//!
//! What is asked is synced and acknowledged before the turn that takes it in;
//! a turn is written before its orders go out. Killed between any two of these,
//! the next program reads the same ledger, and the body tells again what it was
//! not yet known to have told: a body keeps what it told until it is observed
//! once more.
//!
//! Where the journal cannot be written, nothing new is asked or ordered until it
//! can; what runs goes on.

use std::collections::BTreeSet;
use std::sync::Arc;

use fleet::explanation::Choice;
use fleet::snapshot::Waiting;
use fleet::{
    Body, BodyError, Decision, Explanation, Extent, Generation, Job, JobId, Mark, NodeId,
    NodeSight, Observation, Order, Phase, Placement, Plan, Policy, Run, RunSight, RunState,
    Snapshot, Stage, Time,
};
use planner::{Effort, Scratch};
use thiserror::Error;

use crate::journal::{Durability, Entry, Journal, JournalError, Note, Restored, turn_entry};
use crate::ledger::{Drift, Ledger, in_short};
use crate::turn::{Request, turn};

/// The most requests that wait for their turn.
pub const ASKED_MAX: usize = 1_000_000;

/// A fleet under one policy, with its journal.
pub struct Controller<B> {
    body: B,
    journal: Journal,
    ledger: Ledger,
    policy: Policy,
    effort: Effort,
    scratch: Scratch,
    asked: Vec<Request>,
    explanation: Explanation,
    wake: Option<Time>,
    unwritten: Option<Unwritten>,
}

/// What could not be written down: a turn, the orders of which were not given, or that orders were
/// taken back.
struct Unwritten {
    entry: Entry,
    orders: Vec<Order>,
}

/// What an advance came to.
#[derive(Debug, Default)]
pub struct Advance {
    /// Differences between ledger and world.
    pub drifts: Vec<Drift>,
    /// What is wrong with the plan, in words for a log; where there is anything, it was not taken.
    pub faults: Vec<String>,
    /// How many orders were given.
    pub orders: usize,
    /// How many requests were taken in.
    pub requests: usize,
    /// What is otherwise than before.
    pub news: News,
}

/// What is otherwise after a turn than before.
#[derive(Debug, Default)]
pub struct News {
    /// Jobs that were asked about, or of which runs were ordered, began or ended.
    pub jobs: BTreeSet<JobId>,
    /// Nodes that came, went or were drained, or on which runs were ordered, began or ended.
    pub nodes: BTreeSet<NodeId>,
    /// What was placed, and why there.
    pub placed: Vec<(Placement, Choice)>,
    /// What ended, and how.
    pub ended: Vec<(Run, RunState)>,
}

impl News {
    /// What an observation and requests bring, as far as the ledger before them tells.
    fn of(ledger: &Ledger, observation: &Observation, requests: &[Request]) -> Self {
        let mut news = Self::default();
        for request in requests {
            match request {
                Request::Submit(job) => drop(news.jobs.insert(job.id)),
                Request::Cancel(id) | Request::Hold(id) | Request::Release(id) => {
                    news.jobs.insert(*id);
                }
                Request::Drain(id) | Request::Resume(id) => drop(news.nodes.insert(*id)),
            }
        }
        news.nodes.extend(observation.nodes.iter().map(NodeSight::id));
        for sight in &observation.runs {
            let known = ledger.run(sight.run);
            let is_known = known.is_some_and(|run| run.stage == Stage::Running);
            let runs = matches!(sight.state, RunState::Running(_));
            if runs && is_known {
                // Nothing but what it used is new.
                continue;
            }
            news.jobs.insert(sight.run.job);
            news.nodes.insert(sight.node);
            let ended = (!runs).then_some(sight.state);
            news.ended.extend(known.cloned().zip(ended));
        }
        news
    }

    fn take_plan(&mut self, plan: &Plan, explanation: &Explanation) {
        for placement in &plan.placements {
            self.jobs.insert(placement.run.job);
            self.nodes.insert(placement.node);
        }
        let choices = explanation.choices.iter().cloned();
        self.placed = plan.placements.iter().cloned().zip(choices).collect();
    }
}

/// Why it failed. Nothing is lost: the next one goes on from there.
#[derive(Debug, Error)]
pub enum AdvanceError {
    /// The body failed.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// The journal cannot be written.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// A policy divides devices over time, and what is stopped would lose its work.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "policy {policy:?} divides devices over time (`allocate`), which stops tasks so that others run; \
     here a task that is stopped loses its work; take a policy without `allocate`"
)]
pub struct WorkLost {
    /// The name of the policy.
    pub policy: String,
}

/// Refuses a policy that divides devices over time where what is stopped begins anew.
///
/// # Errors
/// If it is such a policy, and the body does not keep work; see [`Body::keeps_work`].
pub fn suits(policy: &Policy, keeps_work: bool) -> Result<(), WorkLost> {
    if policy.allocate.is_some() && !keeps_work {
        return Err(WorkLost { policy: policy.name.clone() });
    }
    Ok(())
}

/// Why a policy was not taken.
#[derive(Debug, Error)]
pub enum ApplyError {
    /// It is not for this body.
    #[error(transparent)]
    WorkLost(#[from] WorkLost),
    /// It cannot be written down.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Why something was not taken in.
#[derive(Debug, Error)]
pub enum AskError {
    /// Too much waits already.
    #[error("{ASKED_MAX} requests wait already; try again in a moment")]
    Busy,
    /// It cannot be written down.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl<B: Body> Controller<B> {
    /// Goes on from what the journal said that there was.
    #[must_use]
    pub fn new(
        body: B,
        (journal, restored): (Journal, Restored),
        policy: Policy,
        effort: Effort,
    ) -> Self {
        let Restored { ledger, asked, .. } = restored;
        Self {
            body,
            journal,
            ledger,
            policy,
            effort,
            scratch: Scratch::default(),
            asked,
            explanation: Explanation::default(),
            wake: Some(Time::ZERO),
            unwritten: None,
        }
    }

    /// What is known.
    #[must_use]
    pub fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// The highest number that a job ever had, whether a turn has taken it in or not.
    #[must_use]
    pub fn newest_job(&self) -> Option<JobId> {
        let asked = self.asked.iter().filter_map(|request| match request {
            Request::Submit(job) => Some(job.id),
            _ => None,
        });
        asked.chain(self.ledger.newest_job()).max()
    }

    /// How many jobs that have ended are known.
    pub fn keep_ended(&mut self, most: usize) {
        self.ledger.keep_ended(most);
    }

    /// Why the last turn decided as it did.
    #[must_use]
    pub fn explanation(&self) -> &Explanation {
        &self.explanation
    }

    /// The policy in force.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// What a plan would be made from now.
    pub fn snapshot(&mut self) -> Snapshot {
        self.ledger.seal()
    }

    /// What a plan would be made from if this job waited too.
    pub fn snapshot_with(&mut self, job: &Arc<Job>) -> Snapshot {
        let mut snapshot = self.ledger.seal();
        let waiting = Arc::new(Waiting::all_of(Arc::clone(job)));
        Arc::make_mut(&mut snapshot.backlog).insert(job.id, waiting);
        snapshot
    }

    /// What would be decided about a snapshot; nothing is done.
    #[must_use]
    pub fn plan(&self, snapshot: &Snapshot) -> Decision {
        planner::plan(snapshot, &self.policy, self.effort, &mut Scratch::default())
    }

    /// The body.
    pub fn body(&mut self) -> &mut B {
        &mut self.body
    }

    /// The journal.
    pub fn journal(&mut self) -> &mut Journal {
        &mut self.journal
    }

    /// Plans by this policy from the next turn on; `text` is what its file says.
    ///
    /// # Errors
    /// If it is not for this body, or cannot be written down; then the old one stays in force.
    pub fn apply(&mut self, policy: Policy, text: String) -> Result<(), ApplyError> {
        suits(&policy, self.body.keeps_work())?;
        self.journal.append(vec![Entry::Policy(text)], Durability::Synced)?;
        self.policy = policy;
        self.wake = Some(Time::ZERO);
        Ok(())
    }

    /// Takes requests in for the next turn. When this returns they are safe.
    ///
    /// # Errors
    /// If they cannot be written down, or too many wait; then none of them was taken in.
    pub fn ask(&mut self, requests: Vec<Request>) -> Result<(), AskError> {
        self.ask_noting(requests, Vec::new())
    }

    /// Takes requests in for the next turn, and remembers notes with them: all of it, or nothing.
    ///
    /// # Errors
    /// If they cannot be written down, or too many wait.
    pub fn ask_noting(&mut self, requests: Vec<Request>, notes: Vec<Note>) -> Result<(), AskError> {
        if self.asked.len() + requests.len() > ASKED_MAX {
            return Err(AskError::Busy);
        }
        if self.unwritten.is_some() {
            self.write_again()?;
        }
        let entries = [Entry::Asked(requests.clone())].into_iter();
        let entries = entries.chain(notes.into_iter().map(Entry::Note)).collect();
        self.journal.append(entries, Durability::Synced)?;
        self.asked.extend(requests);
        self.wake = Some(Time::ZERO);
        Ok(())
    }

    /// Remembers notes. When this returns they are safe.
    ///
    /// # Errors
    /// If they cannot be written down; then none of them is remembered.
    pub fn note(&mut self, notes: Vec<Note>) -> Result<(), JournalError> {
        if self.unwritten.is_some() {
            self.write_again()?;
        }
        let entries = notes.into_iter().map(Entry::Note).collect();
        self.journal.append(entries, Durability::Synced)
    }

    /// Until something happens, or until another plan could differ though nothing did.
    ///
    /// # Errors
    /// If the body cannot be watched.
    pub fn wait(&mut self, until: Option<Time>) -> Result<(), BodyError> {
        let until = [self.wake, until].into_iter().flatten().min();
        if until == Some(Time::ZERO) {
            return Ok(());
        }
        self.body.wait(until)
    }

    /// One turn: what was not written down before, then observe, plan, check, write, order.
    ///
    /// # Errors
    /// If the body or the journal fails. What was decided is then kept, and is written and ordered
    /// by a later one.
    pub fn advance(
        &mut self,
        durability: impl FnOnce(&Ledger) -> Durability,
    ) -> Result<Advance, AdvanceError> {
        self.advance_marked(durability, &mut |_| {})
    }

    /// The same turn as [`Controller::advance`], with a mark wherever one phase is over. What
    /// passes before the first mark is the first phase; what passes after the last one is only
    /// giving back memory.
    ///
    /// # Errors
    /// As there; then marks are missing.
    pub fn advance_marked(
        &mut self,
        durability: impl FnOnce(&Ledger) -> Durability,
        mark: &mut Mark<'_>,
    ) -> Result<Advance, AdvanceError> {
        // Where this fails it is for the caller to say when to try again.
        self.wake = None;
        if self.unwritten.is_some() {
            self.write_again()?;
        }
        let mut observation = self.body.observe()?;
        let has_new_classes = *observation.classes != *self.ledger.classes();
        let requests = std::mem::take(&mut self.asked);
        let asked = requests.len();
        let mut news = News::of(&self.ledger, &observation, &requests);
        let before = self.ledger.memory().clone();
        let settled = self.ledger.settled_since();
        let scratch = &mut self.scratch;
        let mut planning = |snapshot: &_, policy: &_, effort| {
            mark(Phase::Collect);
            planner::plan_marked(snapshot, policy, effort, scratch, mark)
        };
        let (ledger, policy) = (&mut self.ledger, &self.policy);
        let turn = turn(ledger, &observation, requests, policy, self.effort, &mut planning);
        let plan = turn.faults.is_empty().then_some(turn.decision.plan);
        self.wake = plan.as_ref().and_then(|plan| plan.wake);
        self.explanation = turn.decision.explanation;
        if let Some(plan) = &plan {
            news.take_plan(plan, &self.explanation);
        }
        let advance = Advance {
            drifts: turn.drifts,
            faults: turn.faults.iter().map(|fault| format!("{fault:?}")).collect(),
            orders: turn.orders.len(),
            requests: asked,
            news,
        };
        let is_idle = turn.orders.is_empty() && asked == 0 && *self.ledger.memory() == before;
        let is_known = settled.is_some() && settled == self.ledger.settled_since();
        let is_nothing = is_empty(&observation)
            && match observation.extent {
                Extent::Full => is_known && advance.drifts.is_empty(),
                Extent::Changes => observation.nodes.is_empty() && observation.runs.is_empty(),
            };
        mark(Phase::Decide);
        if is_idle && !has_new_classes && is_nothing {
            return Ok(advance);
        }
        let durability = durability(&self.ledger);
        let generation = self.ledger.generation();
        if !has_new_classes {
            observation.classes = Arc::default();
        }
        let entry = turn_entry(self.ledger.serial(), observation, plan, generation);
        self.write_and_order(Unwritten { entry, orders: turn.orders }, durability, mark)?;
        Ok(advance)
    }

    fn write_again(&mut self) -> Result<(), JournalError> {
        let Some(unwritten) = self.unwritten.take() else { return Ok(()) };
        match self.write_and_order(unwritten, Durability::Synced, &mut |_| {}) {
            // What the body did not take was taken back.
            Ok(()) | Err(AdvanceError::Body(_)) => Ok(()),
            Err(AdvanceError::Journal(error)) => Err(error),
        }
    }

    fn write_and_order(
        &mut self,
        unwritten: Unwritten,
        durability: Durability,
        mark: &mut Mark<'_>,
    ) -> Result<(), AdvanceError> {
        let Unwritten { entry, orders } = unwritten;
        if let Err(error) = self.journal.append(vec![entry.clone()], durability) {
            self.unwritten = Some(Unwritten { entry, orders });
            return Err(error.into());
        }
        mark(Phase::Write);
        if !orders.is_empty()
            && let Err(error) = self.body.carry_out(&orders)
        {
            self.ledger.take_back(&orders);
            let entry = Entry::TakenBack(orders.iter().map(in_short).collect());
            let unwritten = Unwritten { entry, orders: Vec::new() };
            self.write_and_order(unwritten, Durability::Written, mark)?;
            return Err(error.into());
        }
        mark(Phase::Order);
        if self.journal.is_checkpoint_due() {
            self.checkpoint()?;
            mark(Phase::Write);
        }
        Ok(())
    }

    /// Writes down everything that is known, so that the next program begins there.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn checkpoint(&mut self) -> Result<(), JournalError> {
        // The ledger knows of it already: written after the checkpoint it would be read twice.
        if self.unwritten.is_some() {
            self.write_again()?;
        }
        self.journal.write_checkpoint(self.ledger.image(), self.asked.clone())
    }

    /// The generation of the latest orders.
    #[must_use]
    pub fn generation(&self) -> Generation {
        self.ledger.generation()
    }
}

/// Whether nothing was seen to have happened: no order was answered, and no run has ended.
fn is_empty(observation: &Observation) -> bool {
    let runs = |sight: &RunSight| matches!(sight.state, RunState::Running(_));
    observation.receipts.is_empty() && observation.runs.iter().all(runs)
}
