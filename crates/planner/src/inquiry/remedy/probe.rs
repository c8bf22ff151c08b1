//! A probe: asks the planner whether one more task would start with a remedy.
//!
//! All its plans share one scratch. The snapshots differ in a job or in one
//! node only, which they name as changes, so that a plan costs what is
//! otherwise and not the size of the fleet.

use std::ops::Range;

use fleet::{Changes, Milli, NodeId, Snapshot};

use super::{PLANS_MAX, Remedy};
use crate::inquiry::{Inquiry, starts, suppose};
use crate::{Scratch, plan};

/// Asks about one job at one moment.
pub(super) struct Probe<'a> {
    inquiry: &'a Inquiry<'a>,
    /// How many tasks start without a remedy.
    started: usize,
    scratch: Scratch,
    /// Whether the scratch knows this moment.
    is_warm: bool,
    /// The node on which the last remedy gave something back.
    touched: Option<NodeId>,
    /// Plans made so far.
    pub(super) plans: u32,
    /// Whether a question was left open because there were too many.
    pub(super) is_spent: bool,
}

impl<'a> Probe<'a> {
    pub(super) fn new(inquiry: &'a Inquiry<'a>) -> Self {
        Self {
            inquiry,
            started: inquiry.started(),
            scratch: Scratch::default(),
            is_warm: false,
            touched: None,
            plans: 0,
            is_spent: false,
        }
    }

    /// What is asked about.
    pub(super) fn snapshot(&self) -> &'a Snapshot {
        self.inquiry.snapshot
    }

    /// How much of a channel may be held.
    pub(super) fn oversubscribe(&self) -> Milli {
        self.inquiry.policy.oversubscribe
    }

    /// The moment once its plan is carried out.
    pub(super) fn after(&self) -> Snapshot {
        let mut after = self.snapshot().clone();
        suppose::carry_out(&mut after, &self.inquiry.decision.plan);
        after
    }

    /// Whether one more task would start. Not, where there are no plans left to ask.
    pub(super) fn helps(&mut self, remedy: &Remedy) -> bool {
        if self.plans >= PLANS_MAX {
            self.is_spent = true;
            return false;
        }
        self.plans += 1;
        let Inquiry { snapshot, policy, effort, job, .. } = *self.inquiry;
        let mut changed = remedy.apply(snapshot, job);
        let touched = match remedy {
            Remedy::Eviction { run, .. } => snapshot.runs.get(run).map(|run| run.placement.node),
            _ => None,
        };
        if self.is_warm {
            let mut nodes: Vec<NodeId> = self.touched.into_iter().chain(touched).collect();
            nodes.sort_unstable();
            nodes.dedup();
            changed.changes = Changes { since: Some(snapshot.serial), nodes };
        }
        (self.is_warm, self.touched) = (true, touched);
        starts(&plan(&changed, policy, effort, &mut self.scratch), job) > self.started
    }

    /// The largest amount in the range with which one more task starts, such that with one more it
    /// does not; found by halving. None where the least of them does not help. What is asked is at
    /// the end of the range, and does not start.
    pub(super) fn largest(
        &mut self,
        range: Range<u64>,
        remedy: impl Fn(u64) -> Remedy,
    ) -> Option<Remedy> {
        if range.is_empty() || !self.helps(&remedy(range.start)) {
            return None;
        }
        let Range { start: mut helps, end: mut fails } = range;
        while fails - helps > 1 {
            let middle = helps + (fails - helps) / 2;
            if self.helps(&remedy(middle)) {
                helps = middle;
            } else {
                fails = middle;
            }
        }
        // An answer that ran out of plans is no answer.
        (!self.is_spent).then(|| remedy(helps))
    }
}
