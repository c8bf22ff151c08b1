//! The protocol: arrivals one at a time, through the controller's own turn.
//!
//! Each arrival is one observation and one turn. A pod that was not placed is
//! withdrawn by a request of the next turn, so that nothing is tried twice.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use controller::{Ledger, Planning, Request, Turn, turn};
use fleet::{Extent, Job, JobId, Node, NodeId, NodeSight, Observation, Policy, Time};
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
    /// How long all turns took.
    pub turns: Duration,
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
        let mut withdrawn = None;
        let (mut turns, mut steps) = (Duration::ZERO, 0);
        for (number, pod) in (0_u64..).zip(self.order) {
            observation.at = Time::seconds(number);
            let job = self.job(number, *pod);
            let mut requests: Vec<Request> =
                withdrawn.take().map(Request::Cancel).into_iter().collect();
            requests.push(Request::Submit(Arc::clone(&job)));
            let start = Instant::now();
            let turn = turn(&mut ledger, &observation, requests, policy, Effort::DEFAULT, planning);
            turns += start.elapsed();
            steps += turn.decision.explanation.steps;
            withdrawn = enter(&mut account, &job, &turn)
                .with_context(|| format!("place pod {} of seed {}", job.name, self.seed))?;
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

/// Enters what a turn came to, and returns the job where it is to be withdrawn.
fn enter(account: &mut Account, job: &Job, turn: &Turn) -> anyhow::Result<Option<JobId>> {
    if let Some(fault) = turn.faults.first() {
        bail!("keep the law: {fault}");
    }
    let pod = &job.alternatives[0];
    match turn.decision.plan.placements.as_slice() {
        [] => {
            account.fail(pod);
            Ok(Some(job.id))
        }
        [placement] if placement.run.job == job.id => {
            account.place(pod, placement);
            Ok(None)
        }
        placements => bail!("place one pod: {} were placed", placements.len()),
    }
}
