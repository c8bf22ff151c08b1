//! The protocol: arrivals one at a time, through the controller's own turn.
//!
//! Each arrival is one observation and one turn, or each batch where the policy
//! has batches. A pod that was not placed is withdrawn by a request of the next
//! turn, so that nothing is tried twice.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use controller::{Ledger, Planning, Request, Turn, turn};
use fleet::{
    Decision, Extent, Job, JobId, Node, NodeId, NodeSight, Observation, Placement, Policy, Reason,
    Time,
};
use planner::Effort;

use super::account::{Account, Curves, Failures};
use super::trace::Trace;
use crate::args::Knowledge;
use crate::crew::processor_seconds;
use crate::reference::typical::TypicalPod;

/// Which node gets which id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Numbering {
    /// The seed's own order, so that "the lowest id wins a tie" is the published rule.
    Published,
    /// The order of the list.
    Csv,
}

/// One order of arrival on one numbering of the nodes.
pub struct Trial<'a> {
    /// The trace.
    pub trace: &'a Trace,
    /// The seed of the order.
    pub seed: u64,
    /// The nodes, ascending by id.
    pub nodes: Vec<Arc<Node>>,
    /// The arriving pods, by their position in the list.
    pub order: &'a [usize],
}

/// What one run came to.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What was measured after each arrival.
    pub curves: Curves,
    /// What found no room.
    pub failures: Failures,
    /// The load at the first failure, in percent.
    pub first_failure: Option<f64>,
    /// The load at the first failure of a pod with eight GPUs, in percent.
    pub first_failure_of_eight: Option<f64>,
    /// How many pods arrived.
    pub arrivals: usize,
    /// How long each turn took.
    pub turns: Vec<Duration>,
    /// Processor time of the run with its bookkeeping, where the system tells.
    pub processor_seconds: Option<f64>,
    /// Steps that the planner counted.
    pub steps: u64,
}

impl<'a> Trial<'a> {
    /// The trial of a seed.
    ///
    /// # Errors
    /// If the trace has no order of this seed.
    pub fn new(trace: &'a Trace, seed: u64, numbering: Numbering) -> anyhow::Result<Self> {
        let order = trace.orders.get(&seed).with_context(|| {
            let known: Vec<String> = trace.orders.keys().map(u64::to_string).collect();
            format!("find an order of seed {seed}: there are {}", known.join(", "))
        })?;
        let ranks = trace.nodes.iter().zip(&order.node_priority);
        let numbered = |(node, rank): (&Node, &u32)| {
            let id = match numbering {
                Numbering::Published => NodeId(*rank),
                Numbering::Csv => node.id,
            };
            Arc::new(Node { id, ..node.clone() })
        };
        let mut nodes: Vec<Arc<Node>> = ranks.map(numbered).collect();
        nodes.sort_by_key(|node| node.id);
        Ok(Self { trace, seed, nodes, order: &order.order })
    }

    /// Lets every pod arrive and be planned for.
    ///
    /// # Errors
    /// If a plan breaks the law.
    pub fn run(
        &self,
        policy: &Policy,
        mix: Knowledge,
        planning: &mut Planning<'_>,
    ) -> anyhow::Result<Outcome> {
        let began = processor_seconds();
        let typical = Arc::clone(&self.trace.typical);
        let mut account = Account::new(&self.nodes, &self.trace.classes, typical);
        let mut ledger = Ledger::new();
        if mix == Knowledge::Typical {
            ledger.declare_mix(self.trace.typical.pods.iter().map(TypicalPod::shape));
        }
        let mut observation = self.first_sight();
        let mut withdrawn: Vec<JobId> = Vec::new();
        let (mut turns, mut steps) = (Vec::new(), 0);
        let arrivals: Vec<(u64, usize)> = (0..).zip(self.order.iter().copied()).collect();
        let together = policy.batch.map_or(1, |batch| batch.max_jobs as usize);
        for batch in arrivals.chunks(together) {
            let jobs: Vec<Arc<Job>> =
                batch.iter().map(|(number, pod)| self.job(*number, *pod)).collect();
            observation.at = when(policy, &jobs);
            let cancel = withdrawn.drain(..).map(Request::Cancel);
            let submit = jobs.iter().map(|job| Request::Submit(Arc::clone(job)));
            let requests = cancel.chain(submit).collect();
            let start = Instant::now();
            let turn = turn(&mut ledger, &observation, requests, policy, Effort::DEFAULT, planning);
            turns.push(start.elapsed());
            steps += turn.decision.explanation.steps;
            withdrawn = enter(&mut account, &jobs, &turn)
                .with_context(|| format!("place pods of seed {}", self.seed))?;
            observation.extent = Extent::Changes;
            observation.nodes.clear();
        }
        let used = processor_seconds().zip(began).map(|(now, began)| now - began);
        Ok(Outcome {
            curves: account.curves,
            failures: account.failures,
            first_failure: account.first_failure,
            first_failure_of_eight: account.first_failure_of_eight,
            arrivals: self.order.len(),
            turns,
            processor_seconds: used,
            steps,
        })
    }

    fn first_sight(&self) -> Observation {
        Observation {
            at: Time::ZERO,
            extent: Extent::Full,
            classes: Arc::clone(&self.trace.classes),
            nodes: self.nodes.iter().map(|node| NodeSight::Up(Arc::clone(node))).collect(),
            runs: Vec::new(),
            receipts: Vec::new(),
        }
    }

    /// The pod as a job of its own: some arrive more than once.
    fn job(&self, number: u64, pod: usize) -> Arc<Job> {
        let pod = &self.trace.pods[pod];
        Arc::new(Job { id: JobId(number), arrival: Time::seconds(number), ..Job::clone(pod) })
    }
}

/// When the jobs of a batch are planned: when the last arrives, or when the first has waited as
/// long as the policy lets it.
fn when(policy: &Policy, jobs: &[Arc<Job>]) -> Time {
    let last = jobs.last().map_or(Time::ZERO, |job| job.arrival);
    match policy.batch {
        Some(batch) if jobs.len() < batch.max_jobs as usize => {
            last.max(jobs[0].arrival.after(batch.max_delay))
        }
        _ => last,
    }
}

/// Enters what a turn came to, and returns the jobs that are to be withdrawn: each found no room.
fn enter(account: &mut Account, jobs: &[Arc<Job>], turn: &Turn) -> anyhow::Result<Vec<JobId>> {
    if let Some(fault) = turn.faults.first() {
        bail!("keep the law: {fault}");
    }
    let Decision { plan, explanation } = &turn.decision;
    let placed: BTreeMap<JobId, &Placement> =
        plan.placements.iter().map(|placement| (placement.run.job, placement)).collect();
    let mut withdrawn = Vec::new();
    for job in jobs {
        let pod = &job.alternatives[0];
        match placed.get(&job.id) {
            Some(placement) => account.place(pod, placement),
            None => {
                account.fail(pod);
                withdrawn.push(job.id);
            }
        }
    }
    let placed_all = placed.len() + withdrawn.len() == jobs.len();
    ensure!(placed_all, "place {} pods: {} were placed", jobs.len(), placed.len());
    for waiting in &explanation.waiting {
        let has_no_room = matches!(*waiting.reason, Reason::NoRoom(_));
        ensure!(has_no_room, "place every pod that fits: {} waits", waiting.job);
    }
    // Whatever came of a batch is known when it is planned, not before.
    jobs.iter().for_each(|_| account.sample());
    Ok(withdrawn)
}
