//! The body of a daemon: its own machine, and the nodes that are only modelled.
//!
//! It splits orders by node, puts what both see into one observation, and waits
//! for whichever has something to tell first. The time is that of the machine.
//! It also notes how long it took from handing an order over until the keeper
//! had started the process.

use std::borrow::Cow;
use std::collections::BTreeMap;

use body_local::{LocalBody, Waker};
use fleet::{
    Action, Body, BodyError, Observation, Order, RunId, RunSight, RunState, Span, Time, Usage,
};
use sim::modelled::{ModelledNodes, Sights, moment};

/// The machine, and the nodes beside it.
pub(super) struct Joint {
    local: LocalBody,
    modelled: ModelledNodes,
    starts: Starts,
}

/// When starts were ordered, and how long they took.
#[derive(Default)]
struct Starts {
    ordered: BTreeMap<RunId, Time>,
    took: Vec<Span>,
}

impl Joint {
    pub(super) fn new(local: LocalBody, modelled: ModelledNodes) -> Self {
        Self { local, modelled, starts: Starts::default() }
    }

    /// The time as observations tell it.
    pub(super) fn now(&mut self) -> Time {
        self.local.now()
    }

    /// What ends the waiting of this body.
    pub(super) fn waker(&self) -> Waker {
        self.local.waker()
    }

    /// What a run that runs was seen to have used; nothing where it is only modelled.
    pub(super) fn usage(&self, run: RunId) -> Option<Usage> {
        self.local.usage(run)
    }

    /// What the keeper cannot do on this machine, in words.
    pub(super) fn notes(&self) -> &[String] {
        self.local.notes()
    }

    /// Ends the keeper and what it keeps.
    pub(super) fn end_keeper(&mut self) -> Result<(), BodyError> {
        self.local.end_keeper()
    }

    /// How long it took from an order until a process of this machine ran, since this was asked
    /// last.
    pub(super) fn starts(&mut self) -> Vec<Span> {
        std::mem::take(&mut self.starts.took)
    }
}

impl Body for Joint {
    fn observe(&mut self) -> Result<Observation, BodyError> {
        let seen = self.local.observe()?;
        self.starts.see(&seen);
        self.modelled.pass(seen.at);
        let beside = self.modelled.observe(seen.extent);
        Ok(join(seen, beside))
    }

    fn carry_out(&mut self, orders: &[Order]) -> Result<(), BodyError> {
        let (ours, theirs) = split(orders, &self.modelled);
        let now = self.local.now();
        if !ours.is_empty() {
            self.local.carry_out(&ours)?;
            self.starts.order(&ours, now);
        }
        // Where the one has failed the other has done nothing, and this one cannot fail.
        self.modelled.pass(now);
        theirs.into_iter().for_each(|order| self.modelled.carry_out(order));
        Ok(())
    }

    fn wait(&mut self, until: Option<Time>) -> Result<(), BodyError> {
        let until = until.into_iter().chain(self.modelled.due()).min();
        self.local.wait(until)
    }
}

/// Orders for the machine, and those for modelled nodes.
fn split<'a>(orders: &'a [Order], modelled: &ModelledNodes) -> (Cow<'a, [Order]>, Vec<&'a Order>) {
    let (theirs, ours): (Vec<_>, Vec<_>) =
        orders.iter().partition(|order| modelled.is_theirs(order));
    match theirs.is_empty() {
        true => (Cow::Borrowed(orders), theirs),
        false => (ours.into_iter().cloned().collect(), theirs),
    }
}

/// What is seen of the machine and of the nodes beside it, which is as full.
fn join(mut seen: Observation, beside: Sights) -> Observation {
    let Sights { nodes, runs, receipts } = beside;
    seen.nodes.extend(nodes);
    if !runs.is_empty() {
        seen.runs.extend(runs);
        seen.runs.sort_by_key(moment);
    }
    seen.receipts.extend(receipts);
    seen
}

impl Starts {
    fn order(&mut self, orders: &[Order], at: Time) {
        let starts = orders.iter().filter(|order| matches!(order.action, Action::Start { .. }));
        self.ordered.extend(starts.map(|order| (order.run, at)));
    }

    fn see(&mut self, seen: &Observation) {
        for RunSight { run, state, .. } in &seen.runs {
            let ordered = self.ordered.remove(run);
            if let (Some(ordered), RunState::Running(since)) = (ordered, state) {
                self.took.push(since.since(ordered));
            }
        }
        // What was accepted and is not seen to run has ended before anybody looked.
        for receipt in &seen.receipts {
            self.ordered.remove(&receipt.run);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::sync::Arc;

    use fleet::{
        Attempt, Classes, Extent, Generation, JobId, NodeId, NodeSight, Outcome, Receipt, Refusal,
        StopCause, TaskIndex, sketch,
    };

    /// A machine, and two nodes beside it.
    const SKETCH: &str = "
        class epyc cpu
        node machine cores=4 mem=8Gi
        node beside cores=4 mem=8Gi x2
        job train work=100 cores=1
    ";

    fn modelled() -> ModelledNodes {
        let parts = sketch::parts(SKETCH).unwrap();
        let nodes = parts.nodes.into_iter().skip(1).map(|(node, _)| Arc::new(node));
        ModelledNodes::new(nodes, &parts.classes)
    }

    fn run(id: u64) -> RunId {
        RunId { job: JobId(id), task: TaskIndex(0), attempt: Attempt(0) }
    }

    fn start(id: u64, node: u32) -> Order {
        let parts = sketch::parts(SKETCH).unwrap();
        let snapshot = sketch::snapshot(SKETCH).unwrap();
        let effort = planner::Effort::DEFAULT;
        let policy = crate::command::policy::find("default").unwrap();
        let decision = planner::plan(&snapshot, &policy, effort, &mut planner::Scratch::default());
        let mut placement = decision.plan.placements[0].clone();
        (placement.run, placement.node) = (run(id), NodeId(node));
        let job = Arc::clone(&parts.backlog[0].job);
        Order { run: run(id), generation: Generation(1), action: Action::Start { job, placement } }
    }

    fn stop(id: u64) -> Order {
        let action = Action::Stop(StopCause::Cancelled);
        Order { run: run(id), generation: Generation(2), action }
    }

    /// What the machine shows, 100 seconds in.
    fn seen(extent: Extent, runs: &[(u64, RunState)]) -> Observation {
        let parts = sketch::parts(SKETCH).unwrap();
        let sight = |(id, state): &(u64, RunState)| RunSight {
            run: run(*id),
            node: NodeId(0),
            grant: fleet::Grant::default(),
            state: *state,
            usage: Usage::default(),
            done: None,
        };
        let nodes = match extent {
            Extent::Full => vec![NodeSight::Up(Arc::new(parts.nodes[0].0.clone()))],
            Extent::Changes => Vec::new(),
        };
        let runs = runs.iter().map(sight).collect();
        let (at, classes) = (Time::seconds(100), Arc::<Classes>::default());
        Observation { at, extent, classes, nodes, runs, receipts: Vec::new() }
    }

    fn runs(orders: &[&Order]) -> Vec<u64> {
        orders.iter().map(|order| order.run.job.0).collect()
    }

    #[test]
    fn orders_go_to_where_they_are_for() {
        let mut modelled = modelled();
        modelled.carry_out(&start(9, 1));
        let orders = [start(1, 0), start(2, 2), stop(3), stop(9)];
        let (ours, theirs) = split(&orders, &modelled);
        assert_eq!(runs(&ours.iter().collect::<Vec<_>>()), [1, 3]);
        assert_eq!(runs(&theirs), [2, 9]);
        assert!(matches!(split(&orders[..1], &modelled).0, Cow::Borrowed(_)), "none is copied");
    }

    #[test]
    fn both_are_seen_at_once_in_the_order_of_what_happened() {
        let mut modelled = modelled();
        modelled.pass(Time::seconds(50));
        modelled.carry_out(&start(2, 1));
        let machine =
            [(1, RunState::Running(Time::seconds(40))), (3, RunState::Running(Time::seconds(60)))];
        let both = join(seen(Extent::Full, &machine), modelled.observe(Extent::Full));
        let order: Vec<_> = both.runs.iter().map(|sight| sight.run.job.0).collect();
        let nodes: Vec<_> = both.nodes.iter().map(|sight| sight.id().0).collect();
        assert_eq!((order, nodes, both.receipts.len()), (vec![1, 2, 3], vec![0, 1, 2], 1));
        let changes = join(seen(Extent::Changes, &[]), modelled.observe(Extent::Changes));
        assert_eq!((changes.nodes.len(), changes.runs.len()), (0, 0));
    }

    #[test]
    fn a_start_takes_from_its_order_until_the_process_ran() {
        let mut starts = Starts::default();
        starts.order(&[start(1, 0), start(2, 0), start(3, 0), stop(4)], Time::seconds(99));
        let running = RunState::Running(Time(99_400_000));
        let mut first = seen(Extent::Changes, &[(1, running), (5, running)]);
        let (generation, outcome) = (Generation(1), Outcome::Refused(Refusal::NoRoom));
        first.receipts.push(Receipt { run: run(2), generation, outcome });
        starts.see(&first);
        assert_eq!((starts.took.as_slice(), starts.ordered.len()), (&[Span(400_000)][..], 1));
        starts.see(&seen(Extent::Changes, &[(3, RunState::Done(Time::seconds(100)))]));
        assert_eq!((starts.took.len(), starts.ordered.len()), (1, 0), "nobody saw it begin");
    }
}
