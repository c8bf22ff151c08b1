//! What is in force, and what it is expected to lead to: the policy, the time line, the front.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Context as _;
use controller::policy_file;
use fleet::policy::Objective;
use fleet::{Job, Placement, Policy, Span, Time};
use planner::Effort;
use planner::inquiry::timeline;
use serde_json::Value;
use server::Reply;
use server::api::{
    BarView, EventKind, EventView, FrontView, Kind, LaneView, PolicyView, Refusal, TierView,
    TimelineView, WeightView,
};
use sim::front::{self, Question};
use sim::report;
use sim::scenario::{self, Options};
use sim::{Inventory, Workload};

use super::answers::{answer_of, done};
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

/// Whether a front is being made: one at a time, since it takes a core for a while.
static BUSY: AtomicBool = AtomicBool::new(false);

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

    pub(super) fn timeline(&mut self, since: Option<u64>) -> anyhow::Result<Value> {
        let snapshot = self.controller.snapshot();
        let decision = self.controller.plan(&snapshot);
        let ahead = (MOMENTS_MAX, BARS_MAX);
        let of = (self.policy(), Effort::DEFAULT);
        let expected = timeline::outlook((&snapshot, &decision), of, ahead);
        let ledger = self.controller.ledger();
        let mut bars = Bars { lanes: BTreeMap::new(), is_cut: false };
        let since = Time(since.unwrap_or(0));
        let ended: Vec<_> = self.history.ended().filter(|ended| ended.at >= since).collect();
        bars.is_cut |= ended.len() > BARS_MAX;
        for ended in ended.iter().rev().take(BARS_MAX) {
            let bar = bar(&ended.run.placement, &ended.name, "ended");
            let (from, to) = (ended.run.since.0, Some(ended.at.0));
            bars.add(ended.run.placement.node, BarView { from, to, ..bar });
        }
        let name = |placement: &Placement| {
            let standing = ledger.standing(placement.run.job);
            let first = standing.as_ref().and_then(|it| it.job.program.as_deref());
            let first = first.map_or(0, |program| program.first);
            let name = standing.map_or(String::new(), |standing| standing.job.name.clone());
            (name, first)
        };
        bars.is_cut |= ledger.runs().count() > BARS_MAX;
        for run in ledger.runs().take(BARS_MAX) {
            let (name, first) = name(&run.placement);
            let bar = bar(&run.placement, &name, "running");
            let task = bar.task.saturating_add(first);
            let (from, to) = (run.since.0, end(run.since, run.placement.duration));
            bars.add(run.placement.node, BarView { from, to, task, ..bar });
        }
        bars.is_cut |= expected.len() >= BARS_MAX;
        for (at, placement) in &expected {
            let (name, first) = name(placement);
            let bar = bar(placement, &name, "expected");
            let task = bar.task.saturating_add(first);
            let (from, to) = (at.0, end(*at, placement.duration));
            bars.add(placement.node, BarView { from, to, task, ..bar });
        }
        let nodes: Vec<_> = ledger.nodes().map(|entry| entry.node.name.clone()).collect();
        let lane = |(node, mut bars): (fleet::NodeId, Vec<BarView>)| {
            bars.sort_by_key(|bar| (bar.from, bar.job, bar.task));
            LaneView { node: nodes.get(node.index()).cloned().unwrap_or_default(), bars }
        };
        let Bars { lanes, is_cut } = bars;
        let lanes = lanes.into_iter().map(lane).collect();
        done(TimelineView { now: ledger.at().0, lanes, is_cut })
    }

    /// What other weights would make of the jobs that wait, worked out beside the loop.
    pub(super) fn front(&mut self, reply: Reply) {
        if BUSY.swap(true, Ordering::SeqCst) {
            let why = "a front is being worked out already; ask again in a moment";
            reply.send(answer_of(Err(Refusal::new(Kind::Unavailable, why).into())));
            return;
        }
        let snapshot = self.controller.snapshot();
        let waiting: Vec<_> = snapshot.backlog.values().map(|one| Arc::clone(&one.job)).collect();
        let backlog =
            Backlog { inventory: self.inventory(), waiting, policy: self.policy().clone() };
        let work = move || {
            let found = backlog.front().and_then(done);
            BUSY.store(false, Ordering::SeqCst);
            reply.send(answer_of(found));
        };
        if thread::Builder::new().name("front".to_owned()).spawn(work).is_err() {
            BUSY.store(false, Ordering::SeqCst);
        }
    }
}

/// Bars by node.
struct Bars {
    lanes: BTreeMap<fleet::NodeId, Vec<BarView>>,
    is_cut: bool,
}

impl Bars {
    fn add(&mut self, node: fleet::NodeId, bar: BarView) {
        self.lanes.entry(node).or_default().push(bar);
    }
}

fn bar(placement: &Placement, name: &str, state: &str) -> BarView {
    BarView {
        job: placement.run.job.0,
        name: name.to_owned(),
        task: placement.run.task.0,
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
            return Err(Refusal::new(Kind::Conflict, why).into());
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
