//! What is in force, and what it is expected to lead to: the policy, the time line, the front.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Context as _;
use controller::{Ledger, policy_file};
use fleet::policy::Objective;
use fleet::{Job, NodeId, Placement, Policy, Snapshot, Span, Time};
use planner::inquiry::timeline;
use planner::{Effort, Scratch};
use serde_json::Value;
use server::api::{
    BarView, Denial, EventKind, EventView, FrontView, Kind, LaneView, PolicyView, TierView,
    TimelineView, WeightView,
};
use sim::front::{self, Question};
use sim::report;
use sim::scenario::{self, Options};
use sim::{Inventory, Workload};

use super::answers::done;
use super::aside::Work;
use super::history::History;
use super::{Daemon, views};
use crate::render;

/// The most bars of one time line, of each kind.
const BARS_MAX: usize = 2_000;

/// At so many moments ahead a plan is made for a time line.
const MOMENTS_MAX: u32 = 64;

/// The most jobs that a front is made of, the first of the queue, and how many outcomes it has.
const FRONT_JOBS_MAX: usize = 200;
const FRONT_POINTS: usize = 16;

/// What a front of jobs that wait trades.
const TRADED: [Objective; 2] = [Objective::Completion, Objective::Utilisation];

impl Daemon {
    pub(super) fn policy_view(&self) -> anyhow::Result<Value> {
        let policy = self.policy();
        let tier = |tier: &fleet::explanation::TierInForce| {
            let weights = Objective::ALL.into_iter().zip(tier.weights);
            let weights = weights.filter(|(_, weight)| !weight.is_zero());
            let view = |(objective, weight): (Objective, fleet::Milli)| WeightView {
                objective: policy.objective_name(objective),
                weight: f64::from(weight.0) / 1e3,
            };
            TierView { weights: weights.map(view).collect() }
        };
        let tiers = self.controller.explanation().tiers.iter().map(tier).collect();
        done(PolicyView { name: policy.name.clone(), text: policy_file::text(policy), tiers })
    }

    /// Tells those who listen which policy is in force.
    pub(super) fn tell_of_policy(&self) {
        let at = self.controller.ledger().at().0;
        self.server.happened().tell(|| {
            let text = Some(self.policy().name.clone());
            Some(EventView { text, ..EventView::new(EventKind::Policy, at) })
        });
    }

    pub(super) fn timeline(&mut self, since: Option<u64>) -> Work {
        let snapshot = self.controller.snapshot();
        let ledger = self.controller.ledger();
        let mut bars = Bars { lanes: BTreeMap::new(), is_cut: false };
        bars.add_ended(&self.history, Time(since.unwrap_or(0)));
        bars.add_running(ledger);
        let nodes: Vec<_> = ledger.nodes().map(|entry| entry.node.name.clone()).collect();
        let (policy, now) = (self.policy().clone(), ledger.at());
        Box::new(move || {
            bars.add_expected(&snapshot, &policy);
            let lane = |(node, mut bars): (NodeId, Vec<BarView>)| {
                bars.sort_by_key(|bar| (bar.from, bar.job, bar.task));
                LaneView { node: nodes.get(node.index()).cloned().unwrap_or_default(), bars }
            };
            let Bars { lanes, is_cut } = bars;
            let lanes = lanes.into_iter().map(lane).collect();
            done(TimelineView { now: now.0, lanes, is_cut })
        })
    }

    /// What other weights would make of the jobs that wait.
    pub(super) fn front(&mut self) -> anyhow::Result<Work> {
        let snapshot = self.controller.snapshot();
        let waiting: Vec<_> = snapshot.backlog.values().map(|one| Arc::clone(&one.job)).collect();
        let (inventory, policy) = (self.inventory(), self.policy().clone());
        let backlog = Backlog { inventory, waiting, policy };
        Ok(Box::new(move || backlog.front().and_then(done)))
    }
}

/// Bars by node.
struct Bars {
    lanes: BTreeMap<NodeId, Vec<BarView>>,
    is_cut: bool,
}

impl Bars {
    fn add(&mut self, node: NodeId, bar: BarView) {
        self.lanes.entry(node).or_default().push(bar);
    }

    /// Runs that ended at that time or later, the latest ones.
    fn add_ended(&mut self, history: &History, since: Time) {
        let ended: Vec<_> = history.ended().filter(|ended| ended.at >= since).collect();
        self.is_cut |= ended.len() > BARS_MAX;
        for ended in ended.iter().rev().take(BARS_MAX) {
            let placement = &ended.run.placement;
            let bar = bar(placement, (&ended.name, ended.first), "ended");
            let (from, to) = (ended.run.since.0, Some(ended.at.0));
            self.add(placement.node, BarView { from, to, ..bar });
        }
    }

    fn add_running(&mut self, ledger: &Ledger) {
        self.is_cut |= ledger.runs().count() > BARS_MAX;
        for run in ledger.runs().take(BARS_MAX) {
            let job = ledger.standing(run.id().job).map(|standing| Arc::clone(standing.job));
            let bar = bar(&run.placement, called(job.as_deref()), "running");
            let (from, to) = (run.since.0, end(run.since, run.placement.duration));
            self.add(run.placement.node, BarView { from, to, ..bar });
        }
    }

    fn add_expected(&mut self, snapshot: &Snapshot, policy: &Policy) {
        let decision = planner::plan(snapshot, policy, Effort::DEFAULT, &mut Scratch::default());
        let ahead = (MOMENTS_MAX, BARS_MAX);
        let of = (policy, Effort::DEFAULT);
        let expected = timeline::outlook((snapshot, &decision), of, ahead);
        self.is_cut |= expected.len() >= BARS_MAX;
        for (at, placement) in &expected {
            let waiting = snapshot.backlog.get(&placement.run.job);
            let job = waiting.map(|waiting| &*waiting.job);
            let bar = bar(placement, called(job), "expected");
            let (from, to) = (at.0, end(*at, placement.duration));
            self.add(placement.node, BarView { from, to, ..bar });
        }
    }
}

/// The name of a job, and the number of its first task.
fn called(job: Option<&Job>) -> (&str, u32) {
    let first = job.and_then(|job| job.program.as_deref()).map_or(0, |program| program.first);
    (job.map_or("", |job| &job.name), first)
}

fn bar(placement: &Placement, (name, first): (&str, u32), state: &str) -> BarView {
    BarView {
        job: placement.run.job.0,
        name: name.to_owned(),
        task: placement.run.task.0.saturating_add(first),
        state: state.to_owned(),
        from: 0,
        to: None,
        devices: placement.grant.devices.iter().map(|held| held.device.0).collect(),
        cores: views::cores(placement.grant.cores),
    }
}

fn end(from: Time, span: Option<Span>) -> Option<u64> {
    span.map(|span| from.after(span).0)
}

/// The jobs that wait, and what they wait for.
struct Backlog {
    inventory: Arc<Inventory>,
    waiting: Vec<Arc<Job>>,
    policy: Policy,
}

impl Backlog {
    fn front(self) -> anyhow::Result<FrontView> {
        let Self { inventory, waiting, policy } = self;
        let ends = |job: &&Arc<Job>| job.work.is_some();
        let (known, all) = (waiting.iter().filter(ends).count(), waiting.len());
        if known == 0 {
            let why = "no job waits of which it is known how long it takes: nothing to trade";
            return Err(Denial::new(Kind::Conflict, why).into());
        }
        let mut notes = vec![
            "of the jobs that wait, all of them there at once on an otherwise empty fleet"
                .to_owned(),
        ];
        if known < all {
            let unknown = all - known;
            notes.push(format!(
                "without {unknown} jobs of which it is not known how long they take"
            ));
        }
        if known > FRONT_JOBS_MAX {
            notes.push(format!("of the first {FRONT_JOBS_MAX} of {known} jobs"));
        }
        let at = |job: &Arc<Job>| {
            let mut job = Job::clone(job);
            (job.arrival, job.program, job.after) = (Time::ZERO, None, Vec::new());
            Arc::new(job)
        };
        let jobs: Vec<_> = waiting.iter().filter(ends).take(FRONT_JOBS_MAX).map(at).collect();
        let count = jobs.len();
        let workload = Workload { jobs, ..Workload::default() };
        let question = Question { base: &policy, objectives: &TRADED, points: FRONT_POINTS };
        let found = front::explore(question, &mut |policy| {
            let options = Options::default();
            let mut planner = scenario::motley();
            let outcome = scenario::run(&inventory, &workload, policy, options, &mut planner);
            anyhow::Ok(report::summarise(&inventory, &workload, &outcome))
        })
        .context("work out the front")?;
        Ok(render::front::live(&found, &policy.name, (count, notes)))
    }
}
